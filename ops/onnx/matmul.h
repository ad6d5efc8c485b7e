/* SPDX-License-Identifier: Apache-2.0 */
/* numpy.matmul of operand 0 and operand `weight` of the row: shared by MatMul and the quantized
 * operators. */
#ifndef OPS_ONNX_MATMUL_H
#define OPS_ONNX_MATMUL_H

#include "ir/dtype.h"

struct product;
struct op_context;
struct shape;

/* Sets output 0 to the dtype and the shape of input 0 @ weight. */
int matmul_infer(struct op_context *context, enum dtype dtype)
    __attribute__((warn_unused_result));
/* The same for operands with these shapes. */
int matmul_infer_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, enum dtype dtype)
    __attribute__((warn_unused_result));
/* Adds the factors of the MACs: output elements * last dim of input 0. */
void matmul_macs(const struct op_context *context, struct product *ret);

#endif
