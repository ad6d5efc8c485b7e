/* SPDX-License-Identifier: Apache-2.0 */
/* What conventions count of attention as ONNX Runtime writes it. */
#ifndef OPS_CONTRIB_ATTENTION_H
#define OPS_CONTRIB_ATTENTION_H

#include <stdint.h>

struct op_context;

/* Batch * heads * queries, and these times keys. */
int64_t contrib_attention_rows(const struct op_context *context);
int64_t contrib_attention_scores(const struct op_context *context);
/* MACs that make queries, keys and values of the input; 0 where they are given. */
int64_t contrib_attention_projection(const struct op_context *context);
/* How many masks and biases each score has, a causal one included. */
int contrib_attention_masks(const struct op_context *context);

#endif
