/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tensors that hold images: N, C and one to three spatial dims. Convolutions, pools,
 * resizes and norms over channels read and write images; elementwise nodes, Concat, Slice, Pad
 * and reductions propagate them. MatMul, Transpose, Softmax and Reshape do not: they read and
 * write row-major, and the conversion is not timed, since a runtime can fold it into the node.
 * Constants do not propagate either: an image and a matrix may share one.
 */
#include "passes/latency/layout.h"

#include "costmodel/backend.h"
#include "ops/lowering/lowering.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

#define MIN_RANK 3
#define MAX_RANK (2 + CM_MAX_SPATIAL)

/* Sets of values with the same layout (union-find). */
struct classes {
    const struct analysis *analysis;
    uint32_t *parent; /* by value */
    bool *image;      /* by root of a set: its values are images */
};

static enum op_images images_of(const struct analysis *analysis, uint32_t id) {
    const struct op *op = analysis->bind.ops[id];
    return op->facets ? op->facets->lowering.images : IMAGES_NONE;
}

static uint32_t find(const struct classes *classes, uint32_t value) {
    while (classes->parent[value] != value) {
        classes->parent[value] = classes->parent[classes->parent[value]];
        value = classes->parent[value];
    }
    return value;
}

static void join(const struct classes *classes, uint32_t a, uint32_t b) {
    const uint32_t keep = find(classes, a);
    const uint32_t gone = find(classes, b);
    classes->parent[gone] = keep;
    classes->image[keep] = classes->image[keep] || classes->image[gone];
}

/* Returns the rank of a value that may be an image, else 0. */
static int rank_of(const struct classes *classes, uint32_t value) {
    if (value == ID_NONE) return 0;
    const struct value_info *info = &classes->analysis->infer.infos[value];
    const bool fits = info->kind == CM_TYPE_TENSOR && !info->is_constant &&
                      info->shape.rank >= MIN_RANK && info->shape.rank <= MAX_RANK;
    return fits ? info->shape.rank : 0;
}

/* Returns the value that decides whether the node works on images; ID_NONE: it does not. */
static uint32_t main_value(const struct classes *classes, const struct node *node) {
    const uint32_t x = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    const uint32_t y = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    const int of_x = rank_of(classes, x);
    const int of_y = rank_of(classes, y);
    if (of_x == 0 && of_y == 0) return ID_NONE;
    return of_y >= of_x ? y : x;
}

/* Joins the values of the node that have the same layout. */
static void connect(const struct classes *classes, uint32_t id) {
    const struct analysis *analysis = classes->analysis;
    const struct value_info *infos = analysis->infer.infos;
    const struct node *node = &analysis->model->nodes[id];
    const enum op_images images = images_of(analysis, id);
    const uint32_t x = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    const uint32_t y = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    if (images == IMAGES_HERE) {
        if (rank_of(classes, x) != 0) classes->image[find(classes, x)] = true;
        if (rank_of(classes, y) != 0) classes->image[find(classes, y)] = true;
        return;
    }
    const uint32_t main = main_value(classes, node);
    if (images == IMAGES_FOLLOW && main != ID_NONE) {
        const int rank = rank_of(classes, main);
        for (size_t i = 0; i < node->n_inputs; i++)
            if (rank_of(classes, node->inputs[i]) == rank) join(classes, main, node->inputs[i]);
        for (size_t i = 0; i < node->n_outputs; i++)
            if (rank_of(classes, node->outputs[i]) == rank)
                join(classes, main, node->outputs[i]);
    }
    if (x != ID_NONE && y != ID_NONE && analysis->liveness.storage[y] == STORAGE_VIEW &&
        shape_equal(&infos[x].shape, &infos[y].shape))
        join(classes, x, y);
}

int layout_find(const struct analysis *analysis, const bool **ret) {
    const struct model *model = analysis->model;
    struct arena *arena = analysis->arena;
    struct classes classes = {analysis,
                              arena_array(arena, model->n_values, sizeof(*classes.parent)),
                              arena_array(arena, model->n_values, sizeof(*classes.image))};
    bool *images = arena_array(arena, model->n_nodes, sizeof(*images));
    if (!classes.parent || !classes.image || !images) return diag_no_memory(analysis->diag);
    for (uint32_t value = 0; value < model->n_values; value++) classes.parent[value] = value;
    for (uint32_t id = 0; id < model->n_nodes; id++) connect(&classes, id);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const uint32_t main = main_value(&classes, &model->nodes[id]);
        images[id] = images_of(analysis, id) != IMAGES_NONE && main != ID_NONE &&
                     classes.image[find(&classes, main)];
    }
    *ret = images;
    return CM_OK;
}

/*
 * Changes row-major strides to channels-last ones. A tensor may be part of a larger one, whose
 * dims follow from the row-major strides: dim[i] = stride[i - 1] / stride[i].
 * An empty tensor is unchanged.
 */
static void set_channels_last(struct cm_tensor *tensor) {
    int64_t whole[CM_MAX_RANK] = {0};
    for (int32_t i = 1; i < tensor->rank; i++) {
        if (tensor->strides[i] == 0) return;
        whole[i] = tensor->strides[i - 1] / tensor->strides[i];
    }
    int64_t stride = whole[1];
    for (int32_t i = tensor->rank - 1; i >= 2; i--) {
        tensor->strides[i] = stride;
        stride *= whole[i]; /* at most the old strides[0], so it does not overflow */
    }
    tensor->strides[0] = stride;
    tensor->strides[1] = 1;
}

void layout_apply(struct cm_primitive *primitive) {
    const int32_t of_x = primitive->inputs[0].rank;
    const int32_t of_y = primitive->outputs[0].rank;
    const int32_t rank = of_x > of_y ? of_x : of_y;
    if (rank < MIN_RANK || rank > MAX_RANK) return;
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        if (primitive->inputs[i].rank == rank) set_channels_last(&primitive->inputs[i]);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        if (primitive->outputs[i].rank == rank) set_channels_last(&primitive->outputs[i]);
}
