/* SPDX-License-Identifier: Apache-2.0 */
/* The reason why an operator costs no FLOPs. */
#ifndef OPS_DECISION_H
#define OPS_DECISION_H

struct op;
struct op_family;

/*
 * Returns NULL if the operator costs FLOPs by the default convention, else the reason why not,
 * in a few words: it is a view, shape arithmetic or control flow; only the convention `exact`
 * counts its arithmetic; or it does no arithmetic (text of op_family.free). Returns "" if the
 * row gives no reason, which a test reports as an error.
 */
const char *decision_free(const struct op_family *family, const struct op *op);

#endif
