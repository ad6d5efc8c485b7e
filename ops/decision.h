/* SPDX-License-Identifier: Apache-2.0 */
/* Why an operator costs nothing, which is a decision like any other. */
#ifndef OPS_DECISION_H
#define OPS_DECISION_H

struct op;
struct op_family;

/*
 * NULL: the row costs something by the default convention. Else why it does not, in a few
 * words: it is a view, shape arithmetic or control flow; it is arithmetic that this convention
 * does not see, but `exact` does; or it computes no number, and its family says what it does
 * instead. "" where nothing is said, which is a fault of the row.
 */
const char *decision_free(const struct op_family *family, const struct op *op);

#endif
