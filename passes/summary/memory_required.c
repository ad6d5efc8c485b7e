/* SPDX-License-Identifier: Apache-2.0 */
/* Pass memory_required: computes the memory that the model requires on a device: weights, by
 * dtype and storage, plus the arena; with an optimizer, the device memory of its process. A
 * tensor that several nodes or names share counts once. */
#include "passes/summary/memory_required.h"

#include <string.h>

#include "passes/device/device_memory.h"
#include "passes/memory/arena_plan.h"
#include "passes/params/params.h"
#include "passes/pass.h"
#include "passes/precision/precision.h"
#include "passes/public_figures.h"
#include "passes/training/training.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Storage of the elements of a weight. */
enum weight_storage {
    WEIGHT_RAW,      /* raw_data of the file: little-endian, 4-bit elements packed */
    WEIGHT_TYPED,    /* a list in the file: float_data and the like */
    WEIGHT_EXTERNAL, /* another file */
    WEIGHT_COMPUTED, /* by a node that depends on no model input: ConstantOfShape */
    WEIGHT_INPUT,    /* fed as an input */
    WEIGHT_ABSENT,   /* sparse, or left out of the file */
    WEIGHT_CAST,     /* a copy in the dtype of autocast, which it caches */
    N_WEIGHT_STORAGES
};

static const char *const storage_names[] = {
    [WEIGHT_RAW] = "raw",           [WEIGHT_TYPED] = "typed", [WEIGHT_EXTERNAL] = "external",
    [WEIGHT_COMPUTED] = "computed", [WEIGHT_INPUT] = "input", [WEIGHT_ABSENT] = "absent",
    [WEIGHT_CAST] = "cast",
};

/* Returns the value that owns the bytes of `value`, which may be a view: exporters merge equal
 * initializers and add an Identity for every further name. */
static uint32_t stored_value(const struct analysis *analysis, uint32_t value) {
    for (;;) {
        const uint32_t id = analysis->model->values[value].node;
        if (id == ID_NONE || analysis->bind->ops[id]->memory != MEMORY_VIEW) return value;
        const struct node *node = &analysis->model->nodes[id];
        if (node->n_inputs == 0 || node->inputs[0] == ID_NONE) return value;
        value = node->inputs[0];
    }
}

static enum weight_storage storage_of(const struct model *model, uint32_t id) {
    const struct value *value = &model->values[id];
    const struct constant *constant = value->constant;
    if (!constant && value->node != ID_NONE) { /* a Constant node? */
        const struct node *node = &model->nodes[value->node];
        for (size_t i = 0; i < node->n_attrs && !constant; i++)
            if (node->n_inputs == 0 && node->attrs[i].kind == ATTR_TENSOR)
                constant = node->attrs[i].tensors[0];
    }
    if (!constant) return value->node == ID_NONE ? WEIGHT_INPUT : WEIGHT_COMPUTED;
    if (constant->place == CONSTANT_EXTERNAL) return WEIGHT_EXTERNAL;
    if (constant->place == CONSTANT_ABSENT) return WEIGHT_ABSENT;
    return constant->is_typed ? WEIGHT_TYPED : WEIGHT_RAW;
}

/* Adds a weight to its group. weight_bytes excludes weights fed as inputs: in the arena. */
static void add_weight(const struct value_info *info, enum dtype dtype,
                       enum weight_storage storage, struct memory_required_table *table) {
    const struct cm_weights group = {.dtype = dtype_name(dtype),
                                     .storage = storage_names[storage]};
    const int64_t bytes = dtype_bytes(dtype, shape_elements(&info->shape));
    size_t at = 0;
    if (bytes == DIM_UNKNOWN) return; /* strings; unknown shapes */
    while (at < table->n_weights && (table->weights[at].dtype != group.dtype ||
                                     table->weights[at].storage != group.storage))
        at++;
    if (at == table->n_weights) table->weights[table->n_weights++] = group;
    struct cm_weights *sum = &table->weights[at];
    sum->tensors++;
    checked_add_to(&sum->elements, shape_elements(&info->shape));
    checked_add_to(&sum->bytes, bytes);
    if (storage != WEIGHT_INPUT) checked_add_to(&table->weight_bytes, bytes);
}

/* Adds the copies of params that autocast caches for the products that read them. */
static void add_copies(const struct analysis *analysis, bool *seen,
                       struct memory_required_table *table) {
    const struct params_table *params = analysis->params;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
        for (size_t i = 0; i < params->n_used[id]; i++) {
            const uint32_t value = params->params[params->used[id][i]].value;
            const struct value_info *info = &analysis->infer->infos[value];
            const enum dtype cast =
                precision_cast(analysis, analysis->bind->ops[id], 0, info->dtype);
            if (cast == info->dtype || seen[value]) continue;
            seen[value] = true;
            add_weight(info, cast, WEIGHT_CAST, table);
        }
}

/* Parameters and buffers count, including those that a node computes or that are model inputs,
 * and all other tensors of the file that are read or are graph outputs. */
int pass_memory_required(const struct analysis *analysis, void *own) {
    struct memory_required_table *table = own;
    const size_t n_values = analysis->model->n_values;
    bool *seen = arena_array(analysis->scratch, n_values, sizeof *seen);
    table->weights = arena_array(analysis->result_arena, (size_t)DTYPE_N * N_WEIGHT_STORAGES,
                                 sizeof *table->weights);
    if (!seen || !table->weights) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_values; id++) {
        const struct value *value = &analysis->model->values[id];
        const bool is_read = value->n_uses > 0 || value->is_graph_output;
        if (analysis->params->of_value[id] == ID_NONE &&
            !(analysis->infer->infos[id].is_weight && is_read))
            continue;
        const uint32_t stored = stored_value(analysis, id);
        if (seen[stored]) continue;
        seen[stored] = true;
        const struct value_info *info = &analysis->infer->infos[stored];
        add_weight(info, info->dtype, storage_of(analysis->model, stored), table);
    }
    memset(seen, 0, n_values * sizeof(*seen));
    if (analysis->options->precision == CM_PRECISION_AMP) add_copies(analysis, seen, table);
    for (size_t i = 0; i < table->n_weights; i++) {
        table->weights[i].elements = public_count(table->weights[i].elements);
        table->weights[i].bytes = public_count(table->weights[i].bytes);
    }
    table->required_bytes =
        analysis->training->optimizer
            ? analysis->device_memory->estimate.bytes
            : checked_add(table->weight_bytes, analysis->arena_plan->arena_bytes);
    return CM_OK;
}
