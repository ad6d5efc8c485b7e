/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules and MACs of convolutions, matrix products and pools that the quantized operators
 * and those of com.microsoft share. */
#pragma once

#include "costmodel/status.h"
#include "ir/dtype.h"

struct op_context;
struct product;
struct shape;

/* Convolutions and products have the operands `weight` and `bias` of the operator row. */

/* Sets output 0 to the dtype and the shape of conv(input 0, weight). */
int convolution_infer(struct op_context *context, enum dtype dtype) CM_MUST_CHECK;
/* Adds the factors of the MACs: output elements * prod(weight.shape[1:]). */
void convolution_macs(const struct op_context *context, struct product *ret);

/* Sets output 0 to the dtype and the shape of input 0 @ weight. */
int matmul_infer(struct op_context *context, enum dtype dtype) CM_MUST_CHECK;
/* The same for operands with these shapes. */
int matmul_infer_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, enum dtype dtype) CM_MUST_CHECK;
/* Adds the factors of the MACs: output elements * last dim of input 0. */
void matmul_macs(const struct op_context *context, struct product *ret);

/* Sets output 0 to the result of a window over the spatial axes of [N, C, spatial…]. Output 1,
 * if present, has the indices and the same shape. */
int pool_infer(struct op_context *context) CM_MUST_CHECK;
/* Sets output 0 to the shape of input 0 with all spatial dims 1. */
int pool_infer_global(struct op_context *context) CM_MUST_CHECK;
