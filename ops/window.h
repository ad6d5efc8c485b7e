/* SPDX-License-Identifier: Apache-2.0 */
/* A sliding window over the spatial axes, for convolutions and pools: the attributes
 * kernel_shape, strides, dilations, pads, auto_pad and ceil_mode. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/status.h"
#include "ir/shape.h"

struct op_context;

enum window_pad { PAD_EXPLICIT, PAD_SAME, PAD_VALID };

struct window {
    int rank; /* spatial axes */
    enum window_pad pad;
    bool ceil;
    int64_t kernel[SHAPE_MAX_RANK]; /* DIM_UNKNOWN if the shape of the weight is unknown */
    int64_t stride[SHAPE_MAX_RANK];
    int64_t dilation[SHAPE_MAX_RANK];
    int64_t begin[SHAPE_MAX_RANK]; /* pads; 0 unless PAD_EXPLICIT */
    int64_t end[SHAPE_MAX_RANK];
};

/* Reads and checks the attributes for `rank` spatial axes. `kernel`: spatial dims of the
 * weight, which must match kernel_shape; NULL if the operator has no weight. */
int window_read(const struct op_context *context, int rank, const int64_t *kernel,
                struct window *ret) CM_MUST_CHECK;
/* Computes the number of window positions along axis i of an input of that size. Returns an
 * error if the window does not fit. */
int window_positions(const struct op_context *context, const struct window *window, int i,
                     int64_t size, int64_t *ret) CM_MUST_CHECK;
/* Returns (kernel - 1) * dilation + 1. */
int64_t window_extent(const struct window *window, int i);
