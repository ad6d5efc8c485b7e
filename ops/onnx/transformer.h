/* SPDX-License-Identifier: Apache-2.0 */
/* What the convention `exact` counts of transformer.c's operators besides their MACs. */
#ifndef OPS_ONNX_TRANSFORMER_H
#define OPS_ONNX_TRANSFORMER_H

#include <stdint.h>

struct op_context;

/* Elements that a rotary embedding turns; the rest of each head it passes through. */
int64_t transformer_rotated(const struct op_context *context);
/* Operations of linear attention that are in none of its MACs. */
int64_t transformer_linear_extra(const struct op_context *context);

#endif
