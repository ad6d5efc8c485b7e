/* SPDX-License-Identifier: Apache-2.0 */
/* Builds attention as several parts: scale q, scores = q k^T, add the mask, softmax over
 * the keys, weights times v. The scale is applied to q because q is smaller than the scores.
 * Heads that share keys become rows of one product. */
#include "backends/onednn/build.h"

#include <math.h>

#include "backends/primitive.h"

enum temporary { SCALED, SCORES, WEIGHTS };

/* Sizes of the operands: `heads` counts the heads of q, `groups` those of k and v; `depth` is
 * the width of q and k, `values` the width of v. */
struct heads {
    int64_t batch, heads, groups, queries, keys, depth, values;
    int32_t element;
};

/* Describes a tensor [batch, groups, rows, columns]; `transposed`: its matrices are. */
static onednn_desc describe(struct building *building, const struct heads *sizes, int64_t rows,
                            int64_t columns, bool transposed) {
    const int64_t size = rows * columns;
    const struct cm_tensor tensor = {.element = sizes->element,
                                     .rank = 4,
                                     .dims = {sizes->batch, sizes->groups, rows, columns},
                                     .strides = {sizes->groups * size, size,
                                                 transposed ? 1 : columns,
                                                 transposed ? rows : 1}};
    return build_desc(building, &tensor, false);
}

/* Adds a part that computes y = a b. */
static void multiply(struct building *building, int32_t element, onednn_desc a, int role_a,
                     onednn_desc b, int role_b, onednn_desc y, int role_y) {
    build_next_part(building);
    build_arg(building, DNNL_ARG_SRC, a, element, role_a);
    build_arg(building, DNNL_ARG_WEIGHTS, b, element, role_b);
    build_arg(building, DNNL_ARG_DST, y, element, role_y);
    if (building->status == dnnl_success)
        building->status =
            calls_matmul(building->lib, a, b, NULL, y, NULL, &build_part(building)->primitive);
}

/* Adds a part that adds the mask to the scores. The plan allocates a mask [queries, keys] if
 * the attention is only causal, or if the model's mask has rank > 4 or another element type
 * than the scores. */
static void add_mask(struct building *building, const struct heads *sizes) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *given = &primitive->inputs[3];
    const int64_t size = sizes->queries * sizes->keys;
    struct heads whole = *sizes;
    struct cm_tensor mask = {.element = sizes->element,
                             .rank = 4,
                             .dims = {1, 1, sizes->queries, sizes->keys},
                             .strides = {size, size, sizes->keys, 1}};
    int role = BUILT_OWN;
    if (primitive->n_inputs > 3 && given->element == sizes->element && given->rank <= 4) {
        const int more = 4 - given->rank;
        role = BUILT_INPUT + 3;
        for (int i = 0; i < 4; i++) {
            mask.dims[i] = i < more ? 1 : given->dims[i - more];
            mask.strides[i] = i < more ? primitive_elements(given) : given->strides[i - more];
        }
    }
    whole.groups = sizes->heads;
    build_next_part(building);
    onednn_desc scores = describe(building, &whole, sizes->queries, sizes->keys, false);
    build_arg(building, DNNL_ARG_SRC_0, scores, sizes->element, BUILT_TEMPORARY + SCORES);
    onednn_desc added = build_operand(building, DNNL_ARG_SRC_1, &mask, role);
    build_arg(building, DNNL_ARG_DST, scores, sizes->element, BUILT_TEMPORARY + SCORES);
    if (building->status == dnnl_success)
        building->status = calls_binary(building->lib, dnnl_binary_add, scores, added, scores,
                                        &build_part(building)->primitive);
}

dnnl_status_t build_attention(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *q = &primitive->inputs[0];
    const struct cm_tensor *k = &primitive->inputs[1];
    const struct cm_tensor *v = &primitive->inputs[2];
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dims[1] <= 0 ||
        q->dims[1] % k->dims[1] != 0 || !primitive_is_packed(q) || !primitive_is_packed(k) ||
        !primitive_is_packed(v))
        return dnnl_unimplemented;
    const struct heads sizes = {q->dims[0], q->dims[1], k->dims[1], q->dims[2],
                                k->dims[2], q->dims[3], v->dims[3], q->element};
    /* the queries of all heads that share keys */
    const int64_t rows = sizes.heads / sizes.groups * sizes.queries;
    const double scale =
        primitive->scale != 0 ? primitive->scale : 1 / sqrt((double)sizes.depth);
    onednn_desc queries = describe(building, &sizes, rows, sizes.depth, false);
    onednn_desc keys = describe(building, &sizes, sizes.depth, sizes.keys, true);
    onednn_desc values = describe(building, &sizes, sizes.keys, sizes.values, false);
    onednn_desc scores = describe(building, &sizes, rows, sizes.keys, false);
    onednn_desc y = describe(building, &sizes, rows, sizes.values, false);

    build_arg(building, DNNL_ARG_SRC, queries, q->element, BUILT_INPUT);
    build_arg(building, DNNL_ARG_DST, queries, q->element, BUILT_TEMPORARY + SCALED);
    if (building->status == dnnl_success)
        building->status = calls_eltwise(building->lib, dnnl_eltwise_linear, queries, queries,
                                         (float)scale, 0, &build_part(building)->primitive);
    multiply(building, q->element, queries, BUILT_TEMPORARY + SCALED, keys, BUILT_INPUT + 1,
             scores, BUILT_TEMPORARY + SCORES);
    if (primitive->n_inputs > 3 || primitive->causal != 0) add_mask(building, &sizes);

    build_next_part(building);
    build_arg(building, DNNL_ARG_SRC, scores, q->element, BUILT_TEMPORARY + SCORES);
    build_arg(building, DNNL_ARG_DST, scores, q->element, BUILT_TEMPORARY + WEIGHTS);
    if (building->status == dnnl_success)
        building->status =
            calls_softmax(building->lib, false, scores, 3, &build_part(building)->primitive);
    multiply(building, q->element, scores, BUILT_TEMPORARY + WEIGHTS, values, BUILT_INPUT + 2,
             y, BUILT_OUTPUT);
    building->built->algorithm = "two matmuls and a softmax";
    return building->status;
}
