/* SPDX-License-Identifier: Apache-2.0 */
/* numpy's matmul on operands at any place: what the quantized ones share with MatMul. */
#ifndef OPS_ONNX_MATMUL_H
#define OPS_ONNX_MATMUL_H

#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"

struct product;
struct op_context;
struct shape;

/* Output 0 = input a @ input b of that dtype; 1-D operands as numpy treats them. */
int matmul_infer(struct op_context *context, size_t a, size_t b, enum dtype dtype)
    __attribute__((warn_unused_result));
/* The same of operands 0 and 1 seen with these shapes. */
int matmul_infer_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, enum dtype dtype)
    __attribute__((warn_unused_result));
/* out * K, K the last axis of a */
void matmul_macs(const struct op_context *context, size_t a, size_t b, struct product *ret);

#endif
