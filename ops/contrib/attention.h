/* SPDX-License-Identifier: Apache-2.0 */
/* What conventions count of attention as ONNX Runtime writes it. */
#ifndef OPS_CONTRIB_ATTENTION_H
#define OPS_CONTRIB_ATTENTION_H

#include <stdint.h>

struct rule;

/* Batch * heads * queries, and these times keys. */
int64_t vendor_attention_rows(const struct rule *rule);
int64_t vendor_attention_scores(const struct rule *rule);
/* MACs that make queries, keys and values of the input; 0 where they are given. */
int64_t vendor_attention_projection(const struct rule *rule);
/* How many masks and biases each score has, a causal one included. */
int vendor_attention_masks(const struct rule *rule);

#endif
