/* SPDX-License-Identifier: Apache-2.0 */
/* Shape inference of pools, shared with quantized and channels-last pools. */
#ifndef OPS_ONNX_POOL_H
#define OPS_ONNX_POOL_H

struct op_context;

/* Sets output 0 to the result of a window over the spatial axes of [N, C, spatial…]. Output 1,
 * if present, has the indices and the same shape. */
int pool_infer(struct op_context *context) __attribute__((warn_unused_result));
/* Sets output 0 to the shape of input 0 with all spatial dims 1. */
int pool_infer_global(struct op_context *context) __attribute__((warn_unused_result));

#endif
