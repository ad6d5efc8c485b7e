/* SPDX-License-Identifier: Apache-2.0 */
/* Shape inference of pools, shared with quantized and channels-last pools. */
#ifndef OPS_ONNX_POOL_H
#define OPS_ONNX_POOL_H

struct op_context;

/* Sets output 0 for a window over the spatial axes of [N, C, spatial…], and output 1, if
 * present, to the indices.
 */
int pool_infer(struct op_context *context) __attribute__((warn_unused_result));
/* Sets output 0 to the shape of input 0 with all spatial dims 1. */
int pool_infer_global(struct op_context *context) __attribute__((warn_unused_result));

#endif
