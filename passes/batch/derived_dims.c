/* SPDX-License-Identifier: Apache-2.0 */
/* See derived_dims.h. */
#include "passes/batch/derived_dims.h"

#include "passes/infer/walk.h"
#include "support/arena.h"
#include "support/map.h"

#include "support/banned.h"

/* At most this many symbols are tried; each takes two walks. */
#define MAX_TRIED 8

struct derivation {
    const struct analysis *analysis;
    const struct batch_table *table;
    const struct map *index;
};

static struct symbol *symbol_named(const struct derivation *derivation, const char *name) {
    const uint32_t i = name ? map_get(derivation->index, name) : MAP_NONE;
    return i == MAP_NONE ? NULL : &derivation->table->symbols[i];
}

/* Returns the type of an input with the sizes bound so far, and other dims unknown. */
static const struct value_info *input_of(const struct derivation *derivation,
                                         struct arena *arena, const struct value *value) {
    struct value_info *info = arena_alloc(arena, sizeof *info);
    if (!info || value_info_of_type(arena, value->type, info) < 0) return NULL;
    if (value->type->kind != CM_TYPE_TENSOR || !shape_has_rank(&info->shape)) return info;
    if (shape_make(arena, info->shape.rank, info->shape.dims, &info->shape) < 0) return NULL;
    for (int axis = 0; axis < info->shape.rank && value->type->symbols; axis++) {
        const struct symbol *symbol = symbol_named(derivation, value->type->symbols[axis]);
        if (symbol) info->shape.dims[axis] = symbol->size;
    }
    return info;
}

/* Infers the model into *table, in `arena`. Returns the status of the walk. */
static int infer_model(const struct derivation *derivation, struct arena *arena,
                       struct infer_table *table) {
    const struct analysis *analysis = derivation->analysis;
    const struct model *model = analysis->model;
    const struct graph *graph = &model->graphs[0];
    const struct value_info **inputs = arena_array(arena, model->n_values, sizeof *inputs);
    if (!inputs) return CM_NO_MEMORY;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct value *value = &model->values[graph->inputs[i]];
        if (value->constant) continue;
        inputs[graph->inputs[i]] = input_of(derivation, arena, value);
        if (!inputs[graph->inputs[i]]) return CM_NO_MEMORY;
    }
    struct walk walk = {.model = model,
                        .ops = analysis->bind.ops,
                        .inputs = inputs,
                        .trips = analysis->bind.trips,
                        .mode = analysis->options->mode,
                        .pass = "batch",
                        .arena = arena,
                        .scratch = analysis->scratch,
                        .table = table};
    const int status = walk_start(&walk);
    return status < 0 ? status : walk_graph(&walk, 0);
}

/* Sets *ret to true if the model is valid with the symbol at `size`. */
static int is_valid(const struct derivation *derivation, struct symbol *symbol, int64_t size,
                    bool *ret) {
    struct infer_table table = {0};
    struct arena *arena = arena_new("derived dims", 0);
    if (!arena) return CM_NO_MEMORY;
    symbol->size = size;
    const int status = infer_model(derivation, arena, &table);
    symbol->size = DIM_UNKNOWN;
    arena_free(arena);
    *ret = status == CM_OK;
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* Binds the symbol to `size` if no other size is valid. */
static int bind_if_determined(const struct derivation *derivation, struct symbol *symbol,
                              int64_t size) {
    bool fits = false;
    bool larger_fits = true;
    int status = is_valid(derivation, symbol, size, &fits);
    if (status == CM_OK && fits)
        status = is_valid(derivation, symbol, checked_add(size, 1), &larger_fits);
    if (status == CM_OK && fits && !larger_fits) symbol->size = size;
    return status;
}

/* Tries the sizes of output dims that have the name of an unbound symbol. */
static int bind_from_outputs(const struct derivation *derivation,
                             const struct infer_table *table) {
    const struct model *model = derivation->analysis->model;
    const struct graph *graph = &model->graphs[0];
    int n_tried = 0;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct type *type = model->values[graph->outputs[i]].type;
        const struct shape *shape = &table->infos[graph->outputs[i]].shape;
        if (type->shape.rank != shape->rank || !type->symbols) continue;
        for (int axis = 0; axis < shape->rank && n_tried < MAX_TRIED; axis++) {
            struct symbol *symbol = symbol_named(derivation, type->symbols[axis]);
            if (!symbol || is_known(symbol->size) || !is_known(shape->dims[axis])) continue;
            n_tried++;
            const int status = bind_if_determined(derivation, symbol, shape->dims[axis]);
            if (status < 0) return status;
        }
    }
    return CM_OK;
}

int derived_dims_bind(const struct analysis *analysis, struct batch_table *table,
                      const struct map *index) {
    const struct derivation derivation = {analysis, table, index};
    struct infer_table infos = {0};
    bool has_unbound = false;
    for (size_t i = 0; i < table->n_symbols; i++)
        has_unbound = has_unbound || !is_known(table->symbols[i].size);
    if (!has_unbound) return CM_OK;
    struct arena *arena = arena_new("derived dims", 0);
    int status = arena ? infer_model(&derivation, arena, &infos) : CM_NO_MEMORY;
    if (status == CM_OK) status = bind_from_outputs(&derivation, &infos);
    arena_free(arena);
    return status == CM_NO_MEMORY ? diag_no_memory(analysis->diag) : CM_OK;
}
