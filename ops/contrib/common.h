/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by the com.microsoft operators. */
#pragma once

#include "ops/common.h"

/* Returns the number of rows of input 0: the product of all dims but the last. */
int64_t contrib_rows(const struct op_context *context);

/* Sets output i to `dtype` and the shape of input 0, with the last dim replaced by n. */
int contrib_output_last(struct op_context *context, size_t i, enum dtype dtype, int64_t n);

/* Returns true if input i is a constant whose first element is an integer other than 0. */
bool contrib_flag(const struct op_context *context, size_t i);

/* Checks that the number of query heads is a multiple of the number of key heads. */
int contrib_check_heads(const struct op_context *context, int64_t heads, int64_t kv_heads);

/* Infers a channels-last operator, [N, spatial…, C], by the function for channels first: calls
 * `infer` with operand x transposed to [N, C, spatial…], and transposes output 0 back. */
int contrib_infer_channels_last(struct op_context *context, size_t x,
                                int (*infer)(struct op_context *context))
    __attribute__((warn_unused_result));
