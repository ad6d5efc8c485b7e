/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding windows: see window.h. Number of positions, with e = (kernel - 1) * dilation + 1:
 *     explicit, VALID:  floor((in + begin + end - e) / stride) + 1
 *     with ceil_mode:   ceil instead of floor; 1 less if the last window starts in the end pad
 *     SAME_*:           ceil(in / stride)
 */
#include "ops/window.h"

#include "ops/op_context.h"
#include "support/text.h"

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

int window_read(const struct op_context *context, int rank, const int64_t *kernel,
                struct window *ret) {
    const char *auto_pad = op_attr_string(context, "auto_pad");
    int64_t pads[2 * SHAPE_MAX_RANK];
    ret->rank = rank;
    ret->ceil = op_attr_int(context, "ceil_mode") != 0;
    int status = read_list(context, "kernel_shape", rank, 1, DIM_UNKNOWN, ret->kernel);
    for (int i = 0; i < rank && kernel && status == CM_OK; i++) {
        if (ret->kernel[i] == DIM_UNKNOWN) ret->kernel[i] = kernel[i];
        if (is_known(kernel[i]) && ret->kernel[i] != kernel[i])
            return op_fail(context, DIAG_SHAPE,
                           "kernel_shape has %lld on spatial axis %d, the weight has %lld",
                           (long long)ret->kernel[i], i, (long long)kernel[i]);
        if (ret->kernel[i] == 0)
            return op_fail(context, DIAG_SHAPE, "the kernel is empty on spatial axis %d", i);
    }
    if (status == CM_OK) status = read_list(context, "strides", rank, 1, 1, ret->stride);
    if (status == CM_OK) status = read_list(context, "dilations", rank, 1, 1, ret->dilation);
    if (status < 0) return status;
    ret->pad = PAD_EXPLICIT;
    if (text_equal(auto_pad, "SAME_UPPER") || text_equal(auto_pad, "SAME_LOWER"))
        ret->pad = PAD_SAME;
    else if (text_equal(auto_pad, "VALID"))
        ret->pad = PAD_VALID;
    else if (auto_pad[0] && !text_equal(auto_pad, "NOTSET"))
        return op_fail(context, DIAG_ATTRIBUTE,
                       "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
    status = read_list(context, "pads", 2 * rank, 0, 0, pads);
    for (int i = 0; i < rank && status == CM_OK; i++) {
        ret->begin[i] = ret->pad == PAD_EXPLICIT ? pads[i] : 0;
        ret->end[i] = ret->pad == PAD_EXPLICIT ? pads[rank + i] : 0;
    }
    return status;
}

int64_t window_extent(const struct window *window, int i) {
    int64_t steps = checked_sub(window->kernel[i], 1);
    return checked_add(checked_mul(steps, window->dilation[i]), 1);
}

int window_positions(const struct op_context *context, const struct window *window, int i,
                     int64_t size, int64_t *ret) {
    const int64_t stride = window->stride[i];
    if (window->pad == PAD_SAME) {
        *ret = checked_div_ceil(size, stride);
        return CM_OK;
    }
    const int64_t end_padding = checked_add(size, window->begin[i]); /* its first position */
    const int64_t padded = checked_add(end_padding, window->end[i]);
    const int64_t room = checked_sub(padded, window_extent(window, i));
    if (is_known(room) && room < 0 && size != 0)
        return op_fail(context, DIAG_SHAPE,
                       "a kernel that spans %lld does not fit %lld (with padding) on spatial "
                       "axis %d",
                       (long long)window_extent(window, i), (long long)padded, i);
    int64_t steps =
        window->ceil ? checked_div_ceil(room, stride) : checked_div_floor(room, stride);
    const int64_t start = checked_mul(steps, stride);
    if (window->ceil && is_known(start) && is_known(end_padding) && start >= end_padding)
        steps--; /* the last window starts in the padding at the end */
    *ret = is_known(room) && room < 0 ? 0 : checked_add(steps, 1);
    return CM_OK;
}
