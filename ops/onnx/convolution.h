/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions with the operands `weight` and `bias` of the operator row: shared by Conv and
 * the quantized operators. */
#ifndef OPS_ONNX_CONVOLUTION_H
#define OPS_ONNX_CONVOLUTION_H

#include "ir/dtype.h"
#include "ops/op.h"

struct product;
struct op_context;

/* Sets output 0 to the dtype and the shape of conv(input 0, weight). */
int convolution_infer(struct op_context *context, enum dtype dtype)
    __attribute__((warn_unused_result));
/* Adds the factors of the MACs: output elements * prod(weight.shape[1:]). */
void convolution_macs(const struct op_context *context, struct product *ret);

#endif
