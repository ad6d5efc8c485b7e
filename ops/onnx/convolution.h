/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions whose row states the operands `weight` and `bias`: shared by Conv and the
 * quantized operators. */
#ifndef OPS_ONNX_CONVOLUTION_H
#define OPS_ONNX_CONVOLUTION_H

#include "ir/dtype.h"
#include "ops/op.h"

struct product;
struct op_context;

/* Attributes of Conv and of its quantized twins. */
extern const struct op_attr convolution_attrs[];

/* Output 0 = conv(input 0, weight [+ bias]) of that dtype. */
int convolution_infer(struct op_context *context, enum dtype dtype)
    __attribute__((warn_unused_result));
/* out * prod(weight.shape[1:]) */
void convolution_macs(const struct op_context *context, struct product *ret);

#endif
