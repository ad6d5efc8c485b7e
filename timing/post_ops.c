/* SPDX-License-Identifier: Apache-2.0 */
/* See post_ops.h. */
#include "timing/post_ops.h"

#include <string.h>

#include "backends/primitive.h"
#include "passes/memory/liveness.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/primitives.h"

/* A group under construction: a product and the chain of nodes fused into it. */
struct fusing {
    const struct timing *timing;
    const struct primitives_table *table;
    struct cm_primitive fused;
    uint32_t product; /* node of the convolution or matrix product */
    uint32_t value;   /* result of the last node in the group */
};

/* Returns true if `next`, the result of an elementwise node, has the elements of `have` in the
 * same order. Their dims may differ: if all batches of a matrix product share the second
 * operand, its primitive has two dims, for example 8x16 if its reader has 2x4x16. */
static bool is_same_result(const struct cm_tensor *have, const struct cm_tensor *next) {
    if (have->element != next->element) return false;
    if (have->rank == next->rank)
        return memcmp(have->dims, next->dims, sizeof(have->dims)) == 0;
    return have->rank == 2 && next->rank > 2 && have->dims[1] == next->dims[next->rank - 1] &&
           primitive_is_packed(have) && primitive_is_packed(next) &&
           primitive_elements(have) == primitive_elements(next);
}

/* Appends an operand and returns its index; -1 if there are CM_MAX_INPUTS already. */
static int32_t add_operand(struct fusing *fusing, const struct cm_tensor *tensor) {
    struct cm_primitive *fused = &fusing->fused;
    if (fused->n_inputs == CM_MAX_INPUTS) return -1;
    fused->inputs[fused->n_inputs] = *tensor;
    checked_add_to(&fused->bytes_read, primitive_bytes(tensor));
    return fused->n_inputs++;
}

/* Folds a BatchNormalization into the weights and the bias of a convolution, and adds a bias if
 * there is none. Returns false if it cannot be folded. */
static bool fold_norm(struct fusing *fusing, const struct cm_primitive *norm) {
    const struct cm_primitive *fused = &fusing->fused;
    struct cm_tensor bias = {.element = norm->outputs[0].element, .rank = 1};
    if (norm->kind != CM_NORM || norm->algorithm != CM_NORM_BATCH || fused->kind == CM_GEMM ||
        fused->n_steps > 0)
        return false;
    bias.dims[0] = fused->outputs[0].dims[1];
    primitive_pack(&bias);
    return fused->n_inputs > 2 || add_operand(fusing, &bias) >= 0;
}

/* Returns the operand of a binary node that is not the group's result x; NULL if the node
 * cannot be fused (x + x, or c - x: a step computes x - c only). */
static const struct cm_tensor *other_operand(const struct fusing *fusing,
                                             const struct node *node,
                                             const struct cm_primitive *step) {
    const int32_t function = step->steps[0].function;
    const bool commutes = function == CM_ADD || function == CM_MULTIPLY ||
                          function == CM_MAXIMUM || function == CM_MINIMUM;
    if (node->n_inputs != 2 || step->n_inputs != 2 || node->inputs[0] == node->inputs[1])
        return NULL;
    if (node->inputs[0] == fusing->value) return &step->inputs[1];
    return commutes ? &step->inputs[0] : NULL;
}

/* Adapts the dims of an operand to the group's result, whose rank may differ from the rank of
 * the node's `result`. Example: if the results are 8x16 and 2x4x16, operand 2x4x16 becomes 8x16
 * and 1x1x16 becomes 16. Returns false for 2x1x16, which cannot be broadcast to 8x16. */
static bool take_dims(const struct fusing *fusing, const struct cm_tensor *result,
                      struct cm_tensor *operand) {
    const struct cm_tensor *have = &fusing->fused.outputs[0];
    const int64_t n = primitive_elements(operand);
    const bool is_vector = operand->rank == 0 || operand->dims[operand->rank - 1] == n;
    struct cm_tensor ret = {.element = operand->element, .rank = is_vector ? 1 : 2};
    if (result->rank == have->rank) return true;
    if (!primitive_is_packed(operand) || (!is_vector && n != primitive_elements(have)))
        return false;
    ret.dims[0] = is_vector ? n : have->dims[0];
    ret.dims[1] = is_vector ? 0 : have->dims[1];
    primitive_pack(&ret);
    *operand = ret;
    return true;
}

/* Returns true if the operand can be the bias of a matrix product: a constant vector with one
 * element per column, and the product has neither a bias nor steps. */
static bool is_bias(const struct fusing *fusing, const struct node *node,
                    const struct cm_tensor *other) {
    const struct cm_primitive *fused = &fusing->fused;
    const uint32_t value = node->inputs[node->inputs[0] == fusing->value];
    const enum storage storage = fusing->timing->core.liveness->storage[value];
    return fused->kind == CM_GEMM && fused->n_inputs == 2 && fused->n_steps == 0 &&
           other->rank == 1 && (storage == STORAGE_WEIGHT || storage == STORAGE_CONSTANT) &&
           other->dims[0] == fused->outputs[0].dims[fused->outputs[0].rank - 1];
}

static bool fuse_step(struct fusing *fusing, const struct node *node,
                      const struct cm_primitive *step) {
    struct cm_primitive *fused = &fusing->fused;
    struct cm_eltwise copy = step->steps[0];
    if (step->kind != CM_ELTWISE || step->n_steps != 1 || fused->n_steps == CM_MAX_STEPS)
        return false;
    if (copy.function >= CM_FIRST_BINARY) {
        const struct cm_tensor *from = other_operand(fusing, node, step);
        if (from == NULL) return false;
        struct cm_tensor other = *from;
        if (!take_dims(fusing, &step->outputs[0], &other)) return false;
        const bool bias = copy.function == CM_ADD && is_bias(fusing, node, &other);
        copy.operand = add_operand(fusing, &other);
        if (copy.operand < 0) return false;
        if (bias) return true;
    } else if (node->inputs[0] != fusing->value) {
        return false;
    }
    fused->steps[fused->n_steps++] = copy;
    return true;
}

/* Fuses the only node that reads the group's result into the group. Returns false if there is
 * none, or if it is in another graph or cannot be fused. */
static bool fuse_reader(struct fusing *fusing, uint32_t *group) {
    const struct model *model = fusing->timing->core.model;
    const struct value *value = &model->values[fusing->value];
    if (value->n_uses != 1 || value->is_graph_output) return false;
    const uint32_t reader = value->uses[0].node;
    const struct node *node = &model->nodes[reader];
    if (fusing->table->lowered[reader] != LOWERED_PRIMITIVE || node->n_outputs != 1 ||
        node->graph != model->nodes[fusing->product].graph)
        return false;
    const struct cm_primitive *primitive =
        &fusing->table->items[fusing->table->of_node[reader]];
    if (!is_same_result(&fusing->fused.outputs[0], &primitive->outputs[0])) return false;
    if (!fold_norm(fusing, primitive) && !fuse_step(fusing, node, primitive)) return false;
    checked_add_to(&fusing->fused.flops, primitive->flops);
    fusing->value = node->outputs[0];
    group[reader] = group[fusing->product] = fusing->product;
    return true;
}

int post_ops_find(const struct timing *timing, struct primitives_table *table,
                  struct primitive_index *index) {
    const uint32_t n = (uint32_t)timing->core.model->n_nodes;
    table->group = arena_array(timing->core.arena, n, sizeof(*table->group));
    table->fused = arena_array(timing->core.arena, n, sizeof(*table->fused));
    if (!table->group || !table->fused) return diag_no_memory(timing->core.diag);
    for (uint32_t id = 0; id < n; id++) table->group[id] = table->fused[id] = ID_NONE;
    for (uint32_t id = 0; id < n; id++) {
        const struct node *node = &timing->core.model->nodes[id];
        if (table->lowered[id] != LOWERED_PRIMITIVE || node->n_outputs != 1) continue;
        const struct cm_primitive *product = &table->items[table->of_node[id]];
        if (product->kind != CM_CONV && product->kind != CM_DECONV && product->kind != CM_GEMM)
            continue;
        struct fusing fusing = {.timing = timing,
                                .table = table,
                                .fused = *product,
                                .product = id,
                                .value = node->outputs[0]};
        while (fuse_reader(&fusing, table->group)) {}
        if (table->group[id] != ID_NONE)
            table->fused[id] = primitive_index_add(index, &fusing.fused);
    }
    return CM_OK;
}
