/* SPDX-License-Identifier: Apache-2.0 */
/* All operator rows. registry.c lists the families. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ops/op.h"

/* Returns the domain as in the rows: "" for "ai.onnx", else `domain`. */
const char *registry_domain(const char *domain);

/* Returns the operator's row of the opset: the largest `since` <= opset. NULL: unknown. */
const struct op *registry_find(const char *domain, const char *type, int64_t opset);

size_t registry_n_families(void);
const struct op_family *registry_family(size_t index);

/* Returns NULL if the operator costs FLOPs by the default convention, else the reason why not,
 * in a few words: it is a view, shape arithmetic or control flow; only the convention `exact`
 * counts its arithmetic; or it does no arithmetic (text of op_family.why_free). Returns "" if
 * the row gives no reason, which a test reports as an error. */
const char *registry_free(const struct op_family *family, const struct op *op);
