/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention as several oneDNN primitives: scale q, scores = q k^T, add the mask, softmax over
 * the keys, weights times v. The scale is applied to q because q is smaller than the scores.
 * Heads that share keys become rows of one product.
 */
#include "backends/onednn/build.h"

#include <math.h>
#include <string.h>

#include "backends/primitive.h"

#include "support/banned.h"

enum temporary { SCALED, SCORES, WEIGHTS };

/* `groups` is the number of key heads, `depth` the width of q and k, `values` that of v. */
struct heads {
    int64_t batch, heads, groups, queries, keys, depth, values;
    int32_t element;
};

static bool read_heads(const struct cm_primitive *primitive, struct heads *ret) {
    const struct cm_tensor *q = &primitive->inputs[0];
    const struct cm_tensor *k = &primitive->inputs[1];
    const struct cm_tensor *v = &primitive->inputs[2];
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dims[1] <= 0) return false;
    *ret = (struct heads){q->dims[0], q->dims[1], k->dims[1], q->dims[2],
                          k->dims[2], q->dims[3], v->dims[3], q->element};
    return q->dims[1] % k->dims[1] == 0 && primitive_is_packed(q) && primitive_is_packed(k) &&
           primitive_is_packed(v);
}

/* Describes a tensor [batch, groups, rows, columns]; its matrices are transposed if
 * `transposed`. */
static dnnl_status_t describe(struct building *building, const struct heads *sizes,
                              int64_t rows, int64_t columns, bool transposed,
                              onednn_desc *ret) {
    const int64_t size = rows * columns;
    const struct cm_tensor tensor = {.element = sizes->element,
                                     .rank = 4,
                                     .dims = {sizes->batch, sizes->groups, rows, columns},
                                     .strides = {sizes->groups * size, size,
                                                 transposed ? 1 : columns,
                                                 transposed ? rows : 1}};
    return build_desc(building, &tensor, ret);
}

/* Adds `n` arguments to the part: one or two operands, then the result. */
static void add_args(struct building *building, const struct heads *sizes, const int *roles,
                     const onednn_desc *descs, int n) {
    static const int ids[] = {DNNL_ARG_SRC_0, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    for (int i = 0; i < n; i++)
        build_arg(building, i == n - 1 ? DNNL_ARG_DST : ids[i], descs[i], sizes->element,
                  roles[i]);
}

static dnnl_status_t scale_queries(struct building *building, const struct heads *sizes,
                                   onednn_desc q) {
    const int roles[] = {BUILT_INPUT, BUILT_TEMPORARY + SCALED};
    const onednn_desc descs[] = {q, q};
    const double scale = building->primitive->scale;
    add_args(building, sizes, roles, descs, 2);
    return calls_eltwise(building->lib, dnnl_eltwise_linear, q, q,
                         (float)(scale != 0 ? scale : 1 / sqrt((double)sizes->depth)), 0,
                         &build_part(building)->primitive);
}

static dnnl_status_t multiply(struct building *building, const struct heads *sizes,
                              const int *roles, const onednn_desc *descs) {
    build_next_part(building);
    add_args(building, sizes, roles, descs, 3);
    return calls_matmul(building->lib, descs[0], descs[1], NULL, descs[2], NULL,
                        &build_part(building)->primitive);
}

/* Describes the mask that is added to the scores: the model's mask, or [queries, keys]
 * allocated by the plan if the mask is causal or has another element type than the scores. */
static dnnl_status_t describe_mask(struct building *building, const struct heads *sizes,
                                   onednn_desc *ret, int *ret_role) {
    const struct cm_primitive *primitive = building->primitive;
    struct cm_tensor mask = {.element = sizes->element,
                             .rank = 4,
                             .dims = {1, 1, sizes->queries, sizes->keys},
                             .strides = {sizes->queries * sizes->keys,
                                         sizes->queries * sizes->keys, sizes->keys, 1}};
    const struct cm_tensor *given = &primitive->inputs[3];
    *ret_role = BUILT_OWN;
    if (primitive->n_inputs > 3 && given->element == sizes->element && given->rank <= 4) {
        const int more = 4 - given->rank;
        const int64_t size = primitive_elements(given);
        *ret_role = BUILT_INPUT + 3;
        for (int i = 0; i < 4; i++) mask.dims[i] = i < more ? 1 : given->dims[i - more];
        for (int i = 3; i >= 0; i--)
            mask.strides[i] = i < more ? size : given->strides[i - more];
    }
    return build_desc(building, &mask, ret);
}

static dnnl_status_t add_mask(struct building *building, const struct heads *sizes) {
    const struct heads whole = {sizes->batch, sizes->heads, sizes->heads,  sizes->queries,
                                sizes->keys,  sizes->depth, sizes->values, sizes->element};
    int roles[] = {BUILT_TEMPORARY + SCORES, BUILT_OWN, BUILT_TEMPORARY + SCORES};
    onednn_desc descs[3] = {NULL, NULL, NULL};
    build_next_part(building);
    dnnl_status_t status =
        describe(building, &whole, sizes->queries, sizes->keys, false, &descs[0]);
    descs[2] = descs[0];
    if (status == dnnl_success) status = describe_mask(building, sizes, &descs[1], &roles[1]);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC_0, descs[0], sizes->element, roles[0]);
    build_arg(building, DNNL_ARG_SRC_1, descs[1], sizes->element, roles[1]);
    build_arg(building, DNNL_ARG_DST, descs[2], sizes->element, roles[2]);
    return calls_binary(building->lib, dnnl_binary_add, descs[0], descs[1], descs[2],
                        &build_part(building)->primitive);
}

static dnnl_status_t take_softmax(struct building *building, const struct heads *sizes,
                                  onednn_desc scores) {
    const int roles[] = {BUILT_TEMPORARY + SCORES, BUILT_TEMPORARY + WEIGHTS};
    const onednn_desc descs[] = {scores, scores};
    build_next_part(building);
    add_args(building, sizes, roles, descs, 2);
    return calls_softmax(building->lib, false, scores, 3, &build_part(building)->primitive);
}

struct shapes {
    onednn_desc q, k, v, scores, y;
};

static dnnl_status_t describe_all(struct building *building, const struct heads *sizes,
                                  struct shapes *ret) {
    const int64_t rows = sizes->heads / sizes->groups * sizes->queries;
    dnnl_status_t status = describe(building, sizes, rows, sizes->depth, false, &ret->q);
    if (status == dnnl_success)
        status = describe(building, sizes, sizes->depth, sizes->keys, true, &ret->k);
    if (status == dnnl_success)
        status = describe(building, sizes, sizes->keys, sizes->values, false, &ret->v);
    if (status == dnnl_success)
        status = describe(building, sizes, rows, sizes->keys, false, &ret->scores);
    if (status == dnnl_success)
        status = describe(building, sizes, rows, sizes->values, false, &ret->y);
    return status;
}

dnnl_status_t build_attention(struct building *building) {
    static const int first[] = {BUILT_TEMPORARY + SCALED, BUILT_INPUT + 1,
                                BUILT_TEMPORARY + SCORES};
    static const int second[] = {BUILT_TEMPORARY + WEIGHTS, BUILT_INPUT + 2, BUILT_OUTPUT};
    const struct cm_primitive *primitive = building->primitive;
    struct heads heads;
    struct shapes shapes;
    if (!read_heads(primitive, &heads)) return dnnl_unimplemented;
    dnnl_status_t status = describe_all(building, &heads, &shapes);
    if (status == dnnl_success) status = scale_queries(building, &heads, shapes.q);
    if (status == dnnl_success)
        status = multiply(building, &heads, first,
                          (const onednn_desc[]){shapes.q, shapes.k, shapes.scores});
    if (status == dnnl_success && (primitive->n_inputs > 3 || primitive->causal != 0))
        status = add_mask(building, &heads);
    if (status == dnnl_success) status = take_softmax(building, &heads, shapes.scores);
    if (status == dnnl_success)
        status = multiply(building, &heads, second,
                          (const onednn_desc[]){shapes.scores, shapes.v, shapes.y});
    building->built->algorithm = "two matmuls and a softmax";
    return status;
}
