/* SPDX-License-Identifier: Apache-2.0 */
/* Builds pools, resampling, softmax, reductions and norms. oneDNN has group and instance norms
 * since 3.3; in older versions, and for RMS norms, the proxy is a layer norm of the same rows,
 * which reads and writes the same bytes. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

/* Returns true if one window covers the whole input: a reduction is then faster than a pool. */
static bool is_global(const struct cm_primitive *primitive) {
    const struct cm_window *window = &primitive->window;
    for (int i = 0; i < window->n_spatial; i++)
        if (window->kernel[i] != primitive->inputs[0].dims[2 + i] ||
            primitive->outputs[0].dims[2 + i] != 1 || window->pads_begin[i] != 0 ||
            window->pads_end[i] != 0)
            return false;
    return window->n_spatial > 0;
}

struct reduction {
    dnnl_alg_kind_t algorithm;
    float p;                /* exponent of a norm, else 0 */
    const char *proxy_note; /* NULL if exact */
    bool own_result;        /* the plan allocates the result, with the input's element type */
};

static dnnl_status_t reduce(struct building *building, const struct reduction *reduction) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    const struct cm_tensor *const both[] = {x, y};
    struct coalesced coalesced;
    if (!coalesce_dims(both, 2, x, &coalesced)) return dnnl_unimplemented;
    /* Every reduced axis has one element: copy. */
    if (memcmp(coalesced.operand_dims[0], coalesced.operand_dims[1],
               sizeof(coalesced.operand_dims[0])) == 0)
        return build_copy(building);
    onednn_desc from =
        build_coalesced(building, DNNL_ARG_SRC, &coalesced, 0, x->element, BUILT_INPUT);
    onednn_desc to = build_coalesced(building, DNNL_ARG_DST, &coalesced, 1,
                                     reduction->own_result ? x->element : y->element,
                                     reduction->own_result ? BUILT_OWN : BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_reduction(building->lib, reduction->algorithm, from, to, reduction->p,
                           &build_part(building)->primitive);
}

dnnl_status_t build_pool(struct building *building) {
    static const struct {
        dnnl_alg_kind_t pool;
        struct reduction reduction;
    } rows[CM_N_ALGORITHMS] = {
        [CM_POOL_MAX] = {dnnl_pooling_max, {dnnl_reduction_max, 0, NULL, false}},
        [CM_POOL_AVERAGE] = {dnnl_pooling_avg_exclude_padding,
                             {dnnl_reduction_mean, 0, NULL, false}},
        [CM_POOL_AVERAGE_PADDING] = {dnnl_pooling_avg_include_padding,
                                     {dnnl_reduction_mean, 0, NULL, false}},
    };
    const struct cm_primitive *primitive = building->primitive;
    const struct onednn_window window = build_window(&primitive->window);
    if (is_global(primitive) &&
        reduce(building, &rows[primitive->algorithm].reduction) == dnnl_success &&
        !build_is_reference(building))
        return dnnl_success;
    build_start_over(building);
    onednn_desc x = build_operand(building, DNNL_ARG_SRC, &primitive->inputs[0], BUILT_INPUT);
    onednn_desc y = build_operand(building, DNNL_ARG_DST, &primitive->outputs[0], BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_pool(building->lib, rows[primitive->algorithm].pool, x, y, &window,
                      &build_part(building)->primitive);
}

dnnl_status_t build_resample(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const dnnl_alg_kind_t algorithm = primitive->algorithm == CM_RESAMPLE_NEAREST
                                          ? dnnl_resampling_nearest
                                          : dnnl_resampling_linear;
    onednn_desc x = build_operand(building, DNNL_ARG_SRC, &primitive->inputs[0], BUILT_INPUT);
    onednn_desc y = build_operand(building, DNNL_ARG_DST, &primitive->outputs[0], BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_resampling(building->lib, algorithm, x, y, &build_part(building)->primitive);
}

static dnnl_status_t softmax_along(struct building *building, const struct cm_tensor *tensor,
                                   int axis) {
    onednn_desc desc = build_in_place(building, tensor);
    if (building->status != dnnl_success) return building->status;
    return calls_softmax(building->lib, building->primitive->algorithm == CM_SOFTMAX_LOG, desc,
                         axis, &build_part(building)->primitive);
}

/* Coalesces the axes before and after the softmax axis: [2,3,4,5,6], axis 2, is [6,4,30]. */
dnnl_status_t build_softmax(struct building *building) {
    const struct cm_tensor *x = &building->primitive->inputs[0];
    const int32_t axis = building->primitive->axis;
    if (axis < 0 || axis >= x->rank) return dnnl_unimplemented;
    if (!primitive_is_packed(x)) return softmax_along(building, x, axis);
    const int64_t inner = primitive_elements_of(x, axis + 1, x->rank);
    const int64_t size = x->dims[axis];
    const struct cm_tensor coalesced = {
        .element = x->element,
        .rank = inner > 1 ? 3 : 2,
        .dims = {primitive_elements(x) / (size * inner), size, inner},
        .strides = {size * inner, inner, 1}};
    return softmax_along(building, &coalesced, 1);
}

dnnl_status_t build_softmax_rows(struct building *building) {
    const struct cm_tensor *x = &building->primitive->inputs[0];
    const int64_t size = x->dims[building->primitive->axis];
    const struct cm_tensor rows = {.element = x->element,
                                   .rank = 2,
                                   .dims = {primitive_elements(x) / size, size},
                                   .strides = {size, 1}};
    build_set_proxy(building, "ran a softmax along the last axis instead");
    return softmax_along(building, &rows, 1);
}

static const char a_sum[] = "ran a sum instead";

dnnl_status_t build_reduce(struct building *building) {
    static const struct reduction reductions[CM_N_ALGORITHMS] = {
        [CM_REDUCE_SUM] = {dnnl_reduction_sum, 0, NULL, false},
        [CM_REDUCE_MEAN] = {dnnl_reduction_mean, 0, NULL, false},
        [CM_REDUCE_MAX] = {dnnl_reduction_max, 0, NULL, false},
        [CM_REDUCE_MIN] = {dnnl_reduction_min, 0, NULL, false},
        [CM_REDUCE_PRODUCT] = {dnnl_reduction_mul, 0, NULL, false},
        [CM_REDUCE_L1] = {dnnl_reduction_norm_lp_power_p_sum, 1, NULL, false},
        [CM_REDUCE_L2] = {dnnl_reduction_norm_lp_sum, 2, NULL, false},
        [CM_REDUCE_SUM_SQUARE] = {dnnl_reduction_norm_lp_power_p_sum, 2, NULL, false},
        [CM_REDUCE_LOG_SUM] = {dnnl_reduction_sum, 0, a_sum, false},
        [CM_REDUCE_LOG_SUM_EXP] = {dnnl_reduction_sum, 0, a_sum, false},
        [CM_REDUCE_ARG_MAX] = {dnnl_reduction_max, 0, "ran a maximum instead", true},
        [CM_REDUCE_ARG_MIN] = {dnnl_reduction_min, 0, "ran a minimum instead", true},
    };
    const struct reduction *reduction = &reductions[building->primitive->algorithm];
    if (reduction->algorithm == dnnl_alg_kind_undef) return dnnl_unimplemented;
    if (reduction->proxy_note != NULL) build_set_proxy(building, reduction->proxy_note);
    return reduce(building, reduction);
}

dnnl_status_t build_sum(struct building *building) {
    static const struct reduction sum = {dnnl_reduction_sum, 0, a_sum, true};
    build_set_proxy(building, a_sum);
    return reduce(building, &sum);
}

/* Adds two fp32 vectors of `size` elements, inputs[first] and inputs[first + 1]. The plan
 * allocates both if `first` is 0, and a vector that the model lacks or stores in another size
 * or type: oneDNN requires fp32 scales, shifts and statistics. */
static void add_vectors(struct building *building, const int ids[2], int64_t size, int first) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor vector = {
        .element = CM_F32, .rank = 1, .dims = {size}, .strides = {1}};
    for (int i = 0; i < 2; i++) {
        const struct cm_tensor *input = &primitive->inputs[first + i];
        const bool is_given = first > 0 && first + i < primitive->n_inputs &&
                              input->element == CM_F32 && primitive_elements(input) == size;
        (void)build_operand(building, ids[i], &vector,
                            is_given ? BUILT_INPUT + first + i : BUILT_OWN);
    }
}

/* Returns [N,C,W] as [N,C,1,W], other ranks unchanged: oneDNN's fast code for plain layout
 * requires two or more spatial dims, or none. */
static struct cm_tensor as_image(const struct cm_tensor *x) {
    struct cm_tensor image = *x;
    if (x->rank != 3) return image;
    image.rank = 4;
    image.dims[2] = 1;
    image.dims[3] = x->dims[2];
    image.strides[2] = x->strides[2] * x->dims[2];
    image.strides[3] = x->strides[2];
    return image;
}

static dnnl_status_t build_batch_norm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor x = as_image(&primitive->inputs[0]);
    const bool training = primitive->algorithm == CM_NORM_BATCH_TRAINING;
    unsigned flags = dnnl_use_scale | dnnl_use_shift;
    if (x.rank < 2) return dnnl_unimplemented;
    if (!training) flags |= dnnl_use_global_stats;
    onednn_desc desc = build_in_place(building, &x);
    add_vectors(building, ids, x.dims[1], 1);
    /* In training the batch statistics are outputs. */
    add_vectors(building, &ids[2], x.dims[1], training ? 0 : 3);
    if (building->status != dnnl_success) return building->status;
    return calls_batch_norm(building->lib, training, desc, (float)primitive->epsilon, flags,
                            &build_part(building)->primitive);
}

/* Builds a layer norm of rows of `size` elements, with scale and shift if `affine`. */
static dnnl_status_t build_rows(struct building *building, int64_t size, bool affine) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    const int64_t n = primitive_elements(tensor);
    if (size <= 0 || n % size != 0) return dnnl_unimplemented;
    const struct cm_tensor rows = {
        .element = tensor->element, .rank = 2, .dims = {n / size, size}, .strides = {size, 1}};
    const struct cm_tensor one = {
        .element = CM_F32, .rank = 1, .dims = {n / size}, .strides = {1}};
    onednn_desc x = build_in_place(building, &rows);
    onednn_desc stat = build_desc(building, &one, false);
    if (affine) add_vectors(building, ids, size, 1);
    if (building->status != dnnl_success) return building->status;
    return calls_layer_norm(building->lib, x, stat, (float)primitive->epsilon,
                            affine ? dnnl_use_scale | dnnl_use_shift : 0U,
                            &build_part(building)->primitive);
}

/* Builds a group norm; if oneDNN has no fast one, the proxy. */
static dnnl_status_t build_groups(struct building *building, int64_t groups) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    const struct cm_tensor x = as_image(tensor);
    if (groups <= 0 || x.rank < 2 || x.dims[1] % groups != 0) return dnnl_unimplemented;
    onednn_desc desc = build_in_place(building, &x);
    add_vectors(building, ids, x.dims[1], 1);
    if (building->status == dnnl_success &&
        calls_group_norm(building->lib, desc, groups, (float)primitive->epsilon,
                         dnnl_use_scale | dnnl_use_shift,
                         &build_part(building)->primitive) == dnnl_success &&
        !build_is_reference(building))
        return dnnl_success;
    build_start_over(building);
    build_set_proxy(building, "ran a layer norm of the same elements instead");
    return build_rows(building, primitive_elements_of(tensor, 1, tensor->rank) / groups, false);
}

dnnl_status_t build_norm(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    switch (primitive->algorithm) {
    case CM_NORM_BATCH:
    case CM_NORM_BATCH_TRAINING:
        return build_batch_norm(building);
    case CM_NORM_LAYER:
        return build_rows(building, primitive_elements_of(x, primitive->axis, x->rank), true);
    case CM_NORM_RMS:
        build_set_proxy(building, "ran a layer norm of the same rows instead");
        return build_rows(building, primitive_elements_of(x, primitive->axis, x->rank), true);
    case CM_NORM_INSTANCE:
        return build_groups(building, x->rank > 1 ? x->dims[1] : 0);
    case CM_NORM_GROUP:
        return build_groups(building, primitive->groups);
    default:
        return dnnl_unimplemented;
    }
}
