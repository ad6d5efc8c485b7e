/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over windows: what those of other layouts and types share. */
#ifndef OPS_ONNX_POOL_H
#define OPS_ONNX_POOL_H

struct op_context;

/* Output 0 of a window over the spatial axes of [N, C, spatial...]; output 1, if any, indices.
 */
int pool_infer(struct op_context *context) __attribute__((warn_unused_result));
/* Output 0 is input 0 with all spatial axes of size 1. */
int pool_infer_global(struct op_context *context) __attribute__((warn_unused_result));

#endif
