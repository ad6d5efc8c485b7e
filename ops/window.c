/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding windows: see window.h. Number of positions, with e = (kernel - 1) * dilation + 1:
 *     explicit, VALID:  floor((in + begin + end - e) / stride) + 1
 *     with ceil_mode:   ceil instead of floor; 1 less if the last window starts in the end pad
 *     SAME_*:           ceil(in / stride)
 */
#include "ops/window.h"

#include "ops/op_context.h"
#include "support/text.h"

#include "support/banned.h"

/* Reads an attribute of n values, each >= `min`; all are `otherwise` if it is absent. */
static int read_list(const struct op_context *context, const char *name, int n, int64_t min,
                     int64_t otherwise, int64_t *ret) {
    size_t n_given = 0;
    const int64_t *given = op_attr_ints(context, name, &n_given);
    bool absent = n_given == 0;
    if (!absent && n_given != (size_t)n)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' must have %d entries, got %zu",
                       name, n, n_given);
    for (int i = 0; i < n; i++) {
        ret[i] = absent ? otherwise : given[i];
        if (!absent && given[i] < min)
            return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' has %lld, less than %lld",
                           name, (long long)given[i], (long long)min);
    }
    return CM_OK;
}

static int check_kernel(const struct op_context *context, int rank, const int64_t *weight,
                        struct window *window) {
    for (int i = 0; i < rank; i++) {
        if (window->kernel[i] == DIM_UNKNOWN) window->kernel[i] = weight[i];
        if (is_known(weight[i]) && window->kernel[i] != weight[i])
            return op_fail(context, DIAG_SHAPE,
                           "kernel_shape has %lld on spatial axis %d, the weight has %lld",
                           (long long)window->kernel[i], i, (long long)weight[i]);
        if (window->kernel[i] == 0)
            return op_fail(context, DIAG_SHAPE, "the kernel is empty on spatial axis %d", i);
    }
    return CM_OK;
}

static int read_auto_pad(const struct op_context *context, struct window *window) {
    const char *name = op_attr_string(context, "auto_pad");
    window->pad = PAD_EXPLICIT;
    if (text_equal(name, "SAME_UPPER") || text_equal(name, "SAME_LOWER"))
        window->pad = PAD_SAME;
    else if (text_equal(name, "VALID"))
        window->pad = PAD_VALID;
    else if (name[0] && !text_equal(name, "NOTSET"))
        return op_fail(context, DIAG_ATTRIBUTE,
                       "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
    return CM_OK;
}

static int read_pads(const struct op_context *context, struct window *window) {
    int64_t pads[2 * SHAPE_MAX_RANK];
    int rank = window->rank;
    int status = read_auto_pad(context, window);
    if (status < 0) return status;
    status = read_list(context, "pads", 2 * rank, 0, 0, pads);
    if (status < 0) return status;
    for (int i = 0; i < rank; i++) {
        bool counts = window->pad == PAD_EXPLICIT;
        window->begin[i] = counts ? pads[i] : 0;
        window->end[i] = counts ? pads[rank + i] : 0;
    }
    return CM_OK;
}

int window_read(const struct op_context *context, int rank, const int64_t *kernel,
                struct window *ret) {
    int status = CM_OK;
    ret->rank = rank;
    ret->ceil = op_attr_int(context, "ceil_mode") != 0;
    status = read_list(context, "kernel_shape", rank, 1, DIM_UNKNOWN, ret->kernel);
    if (status == CM_OK && kernel) status = check_kernel(context, rank, kernel, ret);
    if (status == CM_OK) status = read_list(context, "strides", rank, 1, 1, ret->stride);
    if (status == CM_OK) status = read_list(context, "dilations", rank, 1, 1, ret->dilation);
    return status < 0 ? status : read_pads(context, ret);
}

int64_t window_extent(const struct window *window, int i) {
    int64_t steps = checked_sub(window->kernel[i], 1);
    return checked_add(checked_mul(steps, window->dilation[i]), 1);
}

/* Returns true if the window at position `last` starts in the padding at the end. */
static bool starts_in_end_padding(const struct window *window, int i, int64_t size,
                                  int64_t last) {
    int64_t start = checked_mul(last, window->stride[i]);
    int64_t end = checked_add(size, window->begin[i]);
    return is_known(start) && is_known(end) && start >= end;
}

int window_positions(const struct op_context *context, const struct window *window, int i,
                     int64_t size, int64_t *ret) {
    int64_t stride = window->stride[i];
    if (window->pad == PAD_SAME) {
        *ret = checked_div_ceil(size, stride);
        return CM_OK;
    }
    int64_t padded = checked_add(checked_add(size, window->begin[i]), window->end[i]);
    int64_t room = checked_sub(padded, window_extent(window, i));
    if (is_known(room) && room < 0 && size != 0)
        return op_fail(context, DIAG_SHAPE,
                       "a kernel that spans %lld does not fit %lld (with padding) on spatial "
                       "axis %d",
                       (long long)window_extent(window, i), (long long)padded, i);
    int64_t steps =
        window->ceil ? checked_div_ceil(room, stride) : checked_div_floor(room, stride);
    if (window->ceil && is_known(steps) && starts_in_end_padding(window, i, size, steps))
        steps--;
    *ret = is_known(room) && room < 0 ? 0 : checked_add(steps, 1);
    return CM_OK;
}
