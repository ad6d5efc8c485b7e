/* SPDX-License-Identifier: Apache-2.0 */
/* numpy's matmul of operand 0 and the row's `weight`: shared by MatMul and the quantized
 * operators. */
#ifndef OPS_ONNX_MATMUL_H
#define OPS_ONNX_MATMUL_H

#include "ir/dtype.h"

struct product;
struct op_context;
struct shape;

/* Output 0 = input 0 @ weight of that dtype; 1-D operands as numpy treats them. */
int matmul_infer(struct op_context *context, enum dtype dtype)
    __attribute__((warn_unused_result));
/* The same of operands with these shapes. */
int matmul_infer_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, enum dtype dtype)
    __attribute__((warn_unused_result));
/* out * K, K the last axis of input 0 */
void matmul_macs(const struct op_context *context, struct product *ret);

#endif
