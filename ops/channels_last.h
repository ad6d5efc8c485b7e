/* SPDX-License-Identifier: Apache-2.0 */
/* Shape inference of channels-last operators ([N, spatial…, C]) by the functions for
 * channels-first operands ([N, C, spatial…]). */
#ifndef OPS_CHANNELS_LAST_H
#define OPS_CHANNELS_LAST_H

#include <stddef.h>

struct op_context;

/* Calls `infer` with operand x transposed to channels first, and transposes output 0 back. */
int channels_last_infer(struct op_context *context, size_t x,
                        int (*infer)(struct op_context *context))
    __attribute__((warn_unused_result));

#endif
