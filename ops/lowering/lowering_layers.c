/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of pools, norms, softmax, reductions and resizing. */
#include "ops/lowering/lowering.h"

#include "ops/op_context.h"
#include "ops/window.h"
#include "support/text.h"

bool lower_pool(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct window window;
    const struct cm_tensor *x = &ret->inputs[0];
    if (!lowering_unary(context, ret)) return false;
    const int n = x->rank - 2;
    if (n < 1 || n > CM_MAX_SPATIAL || window_read(context, n, NULL, &window) < 0) return false;
    ret->window.n_spatial = n;
    for (int i = 0; i < n; i++)
        if (!lowering_window(&window, i, x->dims[2 + i], ret->outputs[0].dims[2 + i],
                             &ret->window))
            return false;
    ret->algorithm = which;
    if (which == CM_POOL_AVERAGE && op_attr_int(context, "count_include_pad") != 0)
        ret->algorithm = CM_POOL_AVERAGE_PADDING;
    return true;
}

/* A window as large as the image. */
bool lower_global_pool(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    const struct cm_tensor *x = &ret->inputs[0];
    if (!lowering_unary(context, ret)) return false;
    const int n = x->rank - 2;
    if (n < 1 || n > CM_MAX_SPATIAL) return false;
    ret->algorithm = which;
    ret->window.n_spatial = n;
    for (int i = 0; i < n; i++) {
        ret->window.kernel[i] = x->dims[2 + i];
        ret->window.strides[i] = 1;
        ret->window.dilations[i] = 1;
    }
    return true;
}

bool lower_norm(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    for (size_t slot = 0; slot < context->n_inputs; slot++)
        if (op_has_input(context, slot) && !lowering_add_input(context, slot, ret))
            return false;
    if (!lowering_add_output(context, 0, ret)) return false;
    ret->algorithm = which;
    ret->epsilon = op_attr_float(context, "epsilon");
    if (which == CM_NORM_BATCH && context->training) ret->algorithm = CM_NORM_BATCH_TRAINING;
    if (which == CM_NORM_GROUP) ret->groups = op_attr_int(context, "num_groups");
    if (which == CM_NORM_LAYER || which == CM_NORM_RMS)
        return lowering_attr_axis(context, ret->inputs[0].rank, &ret->axis);
    return true;
}

/* Merges the axes before `axis` into one and the remaining axes into another, as Softmax does
 * before opset 13: [2,3,4,5] with axis 2 becomes [6,20]. */
static void merge_axes_from(struct cm_tensor *tensor, int axis) {
    int64_t dims[2] = {1, 1};
    for (int i = 0; i < tensor->rank; i++)
        dims[i >= axis] = checked_mul(dims[i >= axis], tensor->dims[i]);
    for (int i = 0; i < CM_MAX_RANK; i++) tensor->dims[i] = tensor->strides[i] = 0;
    tensor->rank = 2;
    tensor->dims[0] = dims[0];
    tensor->dims[1] = dims[1];
    lowering_pack(tensor);
}

bool lower_softmax(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!lowering_unary(context, ret)) return false;
    if (!lowering_attr_axis(context, ret->inputs[0].rank, &ret->axis)) return false;
    ret->algorithm = which;
    if (context->op->since >= 13) return true;
    merge_axes_from(&ret->inputs[0], ret->axis);
    merge_axes_from(&ret->outputs[0], ret->axis);
    ret->axis = 1;
    return true;
}

/* The result is operand 0 with size 1 along `axes`; ignores keepdims, since the bytes are the
 * same. */
static void reduce_along(unsigned axes, int32_t algorithm, struct cm_primitive *ret) {
    struct cm_tensor *y = &ret->outputs[0];
    const int32_t element = y->element;
    *y = ret->inputs[0];
    y->element = element;
    for (int i = 0; i < y->rank; i++)
        if ((axes >> i & 1U) != 0) y->dims[i] = 1;
    lowering_pack(y);
    ret->algorithm = algorithm;
}

bool lower_reduce(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct op_context own = *context; /* op_int_list_any requires a mutable context */
    struct int_list list;
    unsigned axes = 0;
    if (!lowering_unary(context, ret)) return false;
    if (op_int_list_any(&own, "axes", 1, &list) < 0 || (list.given && !list.known))
        return false;
    for (size_t i = 0; i < list.n; i++) {
        int axis = 0;
        if (!shape_axis(list.values[i], ret->inputs[0].rank, &axis)) return false;
        axes |= 1U << axis;
    }
    if (list.n == 0 && op_attr_int(context, "noop_with_empty_axes") == 0) axes = ~0U;
    reduce_along(axes, which, ret);
    return true;
}

bool lower_arg(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    int axis = 0;
    if (!lowering_unary(context, ret)) return false;
    if (!lowering_attr_axis(context, ret->inputs[0].rank, &axis)) return false;
    reduce_along(1U << axis, which, ret);
    return true;
}

bool lower_lrn(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!lowering_unary(context, ret) || ret->inputs[0].rank < 3) return false;
    ret->algorithm = which;
    ret->window.n_spatial = 1;
    ret->window.kernel[0] = op_attr_int(context, "size");
    ret->window.strides[0] = ret->window.dilations[0] = 1;
    return true;
}

/* Without `axes`, MeanVarianceNormalization normalizes over all axes but the channels, as
 * BatchNormalization does in training. */
bool lower_mean_variance(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    ret->algorithm = which;
    return !op_has_attr(context, "axes") && lowering_unary(context, ret) &&
           ret->inputs[0].rank == 4;
}

/* Ignores the coordinate transformation: it changes which elements are read, not how many. */
bool lower_resample(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const char *mode = op_attr_string(context, "mode");
    const struct cm_tensor *x = &ret->inputs[0];
    const struct cm_tensor *y = &ret->outputs[0];
    const bool linear = text_equal(mode, "linear") || text_equal(mode, "bilinear");
    (void)which;
    if (!lowering_unary(context, ret) || x->rank < 3 || x->rank > 2 + CM_MAX_SPATIAL)
        return false;
    if (x->rank != y->rank || x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1])
        return false;
    if ((!linear && !text_equal(mode, "nearest")) || op_attr_int(context, "antialias") != 0)
        return false;
    ret->algorithm = linear ? CM_RESAMPLE_LINEAR : CM_RESAMPLE_NEAREST;
    return true;
}
