/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window that slides over the spatial axes: what convolutions and pools share (ONNX, Conv and
 * MaxPool). Attributes kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
 */
#ifndef OPS_WINDOW_H
#define OPS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/shape.h"

struct op_context;

enum window_pad { PAD_EXPLICIT, PAD_SAME, PAD_VALID };

struct window {
    int rank; /* spatial axes */
    enum window_pad pad;
    bool ceil;
    int64_t kernel[SHAPE_MAX_RANK]; /* DIM_UNKNOWN where the weight does not tell */
    int64_t stride[SHAPE_MAX_RANK];
    int64_t dilation[SHAPE_MAX_RANK];
    int64_t begin[SHAPE_MAX_RANK]; /* pads; 0 unless PAD_EXPLICIT */
    int64_t end[SHAPE_MAX_RANK];
};

/*
 * Reads and checks the attributes for `rank` spatial axes. `kernel`: dims of the weight, which
 * kernel_shape must not contradict; NULL: kernel_shape is all there is.
 */
int window_read(const struct op_context *context, int rank, const int64_t *kernel,
                struct window *ret) __attribute__((warn_unused_result));
/* Positions along axis i of an input of that size; refused when the kernel does not fit. */
int window_positions(const struct op_context *context, const struct window *window, int i,
                     int64_t size, int64_t *ret) __attribute__((warn_unused_result));
/* (kernel - 1) * dilation + 1 */
int64_t window_extent(const struct window *window, int i);

#endif
