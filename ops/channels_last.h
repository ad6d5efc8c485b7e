/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose data has its channels behind the spatial axes, by the rules of those that
 * have them in front. */
#ifndef OPS_CHANNELS_LAST_H
#define OPS_CHANNELS_LAST_H

#include <stddef.h>

struct op_context;

/* Output 0 as `infer` gives it for operand x with its channels in front, put behind again. */
int channels_last_infer(struct op_context *context, size_t x,
                        int (*infer)(struct op_context *context))
    __attribute__((warn_unused_result));

#endif
