/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass batch: chooses the shape of every input. --dim, --input and --batch bind symbolic dims;
 * a dim that is neither bound nor determined by the model is an error that names the option.
 * The batch is the leading symbol of the first input, wherever it occurs, and is 1 by default.
 * rebatch.c handles files exported with a fixed batch.
 */
#include "passes/batch/derived_dims.h"
#include "passes/batch/rebatch.h"
#include "passes/infer/input_values.h"
#include "passes/infer/shape_messages.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

#include "support/banned.h"

struct batch_work {
    const struct analysis *analysis;
    struct batch_table *table;
    struct cm_diagnostics *diag;
    struct map *index; /* symbols by name */
    uint32_t first;    /* the input whose leading dim may be the batch, ID_NONE */
};

static const struct graph *main_graph(const struct batch_work *work) {
    return &work->analysis->model->graphs[0];
}

static const struct value *value_of(const struct batch_work *work, uint32_t id) {
    return &work->analysis->model->values[id];
}

/* Returns false for an input with a default value in the file. */
static bool is_free_input(const struct batch_work *work, uint32_t id) {
    return !value_of(work, id)->constant;
}

static const struct cm_input_option *input_option(const struct batch_work *work,
                                                  const char *name) {
    const struct cm_options *options = work->analysis->options;
    for (size_t i = 0; i < options->n_inputs; i++)
        if (text_equal(options->inputs[i].name, name)) return &options->inputs[i];
    return NULL;
}

static int check_input_options(const struct batch_work *work) {
    const struct cm_options *options = work->analysis->options;
    const struct graph *graph = main_graph(work);
    for (size_t k = 0; k < options->n_inputs; k++) {
        bool found = false;
        for (size_t i = 0; i < graph->n_inputs && !found; i++)
            found = text_equal(value_of(work, graph->inputs[i])->name, options->inputs[k].name);
        if (!found) return shapes_unknown_input(work->analysis, options->inputs[k].name);
    }
    return values_check(work->analysis);
}

static const char *symbol_at(const struct value *value, int axis) {
    return value->type->symbols ? value->type->symbols[axis] : NULL;
}

static struct symbol *find_symbol(const struct batch_work *work, const char *name) {
    uint32_t index = name ? map_get(work->index, name) : MAP_NONE;
    return index == MAP_NONE ? NULL : &work->table->symbols[index];
}

/* Collects the symbols of tensor inputs; options do not set the dims of sparse tensors. */
static int collect_symbols(const struct batch_work *work) {
    const struct graph *graph = main_graph(work);
    struct batch_table *table = work->table;
    size_t capacity = 0;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        int rank = value_of(work, graph->inputs[i])->type->shape.rank;
        capacity += rank > 0 ? (size_t)rank : 0;
    }
    table->symbols = arena_array(work->analysis->arena, capacity, sizeof(*table->symbols));
    if (!table->symbols) return diag_no_memory(work->diag);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t id = graph->inputs[i];
        const struct value *value = value_of(work, id);
        if (value->type->kind != CM_TYPE_TENSOR || !is_free_input(work, id)) continue;
        for (int axis = 0; axis < value->type->shape.rank; axis++) {
            const char *name = symbol_at(value, axis);
            if (!name || find_symbol(work, name)) continue;
            uint32_t index = (uint32_t)table->n_symbols++;
            table->symbols[index] =
                (struct symbol){.name = name, .size = DIM_UNKNOWN, .input = id, .axis = axis};
            if (map_set(work->index, name, index) < 0) return diag_no_memory(work->diag);
        }
    }
    return CM_OK;
}

static int bind_symbol(const struct batch_work *work, struct symbol *symbol, int64_t size,
                       const char *option) {
    if (is_known(symbol->size) && symbol->size != size)
        return diag_error(work->diag, DIAG_USAGE,
                          "dim '%s' is bound to %lld, but %s binds it to %lld", symbol->name,
                          (long long)symbol->size, option, (long long)size);
    symbol->size = size;
    return CM_OK;
}

static int bind_dim_options(const struct batch_work *work) {
    const struct cm_options *options = work->analysis->options;
    for (size_t i = 0; i < options->n_dims; i++) {
        struct symbol *symbol = find_symbol(work, options->dims[i].name);
        if (!symbol)
            return shapes_unknown_dim(work->analysis, work->table, options->dims[i].name);
        int status = bind_symbol(work, symbol, options->dims[i].size, "--dim");
        if (status < 0) return status;
    }
    return CM_OK;
}

/* Binds the symbols of inputs whose whole shape --input sets. */
static int bind_input_options(const struct batch_work *work) {
    const struct graph *graph = main_graph(work);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct value *value = value_of(work, graph->inputs[i]);
        const struct cm_input_option *option = input_option(work, value->name);
        const int rank = value->type->shape.rank;
        if (!option) continue;
        if (rank != RANK_UNKNOWN && rank != option->rank)
            return diag_error(work->diag, DIAG_USAGE,
                              "--input for '%s' must have %d dims, got %d", value->name, rank,
                              option->rank);
        for (int axis = 0; axis < rank; axis++) {
            struct symbol *symbol = find_symbol(work, symbol_at(value, axis));
            int status =
                symbol ? bind_symbol(work, symbol, option->dims[axis], "--input") : CM_OK;
            if (status < 0) return status;
        }
    }
    return CM_OK;
}

/* Binds the symbol of a 1-D input to the number of elements that --value lists for it. */
static int bind_value_options(const struct batch_work *work) {
    const struct cm_options *options = work->analysis->options;
    const struct graph *graph = main_graph(work);
    for (size_t i = 0; i < graph->n_inputs && options->n_values > 0; i++) {
        const struct value *value = value_of(work, graph->inputs[i]);
        const struct cm_value_option *option = values_option(work->analysis, value->name);
        const bool has_one = option && value->type->shape.rank == 1;
        struct symbol *symbol = find_symbol(work, has_one ? symbol_at(value, 0) : NULL);
        int status = symbol ? bind_symbol(work, symbol, (int64_t)option->n, "--value") : CM_OK;
        if (status < 0) return status;
    }
    return CM_OK;
}

/* Returns the first free input without --value, assumed to be data; ID_NONE if none. */
static uint32_t first_input(const struct batch_work *work) {
    const struct graph *graph = main_graph(work);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t id = graph->inputs[i];
        if (is_free_input(work, id) && !values_option(work->analysis, value_of(work, id)->name))
            return id;
    }
    return ID_NONE;
}

/* Returns false if the leading dim cannot be a batch: [3,224,224] is one image. */
static bool may_lead_with_batch(const struct shape *shape) {
    const int64_t *dims = shape->dims;
    if (shape->rank < 1) return false;
    if (shape->rank != 3 || !shape_is_known(shape)) return true;
    return !((dims[0] == 3 || dims[0] == 4) && dims[1] >= 16 && dims[2] >= 16);
}

/* Binds the leading symbol of the first input to --batch, or to 1 by default. */
static int bind_batch_symbol(const struct batch_work *work) {
    const struct cm_options *options = work->analysis->options;
    if (work->first == ID_NONE) return CM_OK;
    const struct value *value = value_of(work, work->first);
    const char *name = value->type->shape.rank > 0 ? symbol_at(value, 0) : NULL;
    struct symbol *symbol = find_symbol(work, name);
    if (!symbol) return CM_OK;
    if (options->batch > 0) return bind_symbol(work, symbol, options->batch, "--batch");
    if (!is_known(symbol->size)) symbol->size = 1;
    return CM_OK;
}

/* Reports an unbound dim; a symbol only at the first input that has it. */
static int unbound(const struct batch_work *work, uint32_t id, int axis) {
    const struct value *value = value_of(work, id);
    const struct symbol *symbol = find_symbol(work, symbol_at(value, axis));
    if (symbol && (symbol->input != id || symbol->axis != axis)) return CM_USAGE;
    if (symbol) {
        int status = diag_error(work->diag, DIAG_UNBOUND,
                                "symbolic dim '%s' (input '%s', axis %d) must be bound",
                                symbol->name, value->name, axis);
        diag_hint(work->diag, "give --dim %s=SIZE", symbol->name);
        return status;
    }
    int status = diag_error(work->diag, DIAG_UNBOUND,
                            "unnamed symbolic dim (input '%s', axis %d) must be bound",
                            value->name, axis);
    diag_hint(work->diag, "give the whole shape: --input %s=%s", value->name,
              shapes_example(work->analysis, value, axis));
    return status;
}

static int bound_dim(const struct batch_work *work, uint32_t id, int axis, int64_t *ret) {
    const struct value *value = value_of(work, id);
    const char *name = symbol_at(value, axis);
    int64_t batch = work->analysis->options->batch;
    *ret = value->type->shape.dims[axis];
    if (is_known(*ret)) return CM_OK;
    if (name) *ret = find_symbol(work, name)->size;
    if (!name && id == work->first && axis == 0) *ret = batch > 0 ? batch : 1;
    const struct cm_value_option *contents = values_option(work->analysis, value->name);
    if (!is_known(*ret) && contents && value->type->shape.rank == 1)
        *ret = (int64_t)contents->n;
    return is_known(*ret) ? CM_OK : unbound(work, id, axis);
}

static int make_input(const struct batch_work *work, uint32_t id, struct value_info *info) {
    const struct value *value = value_of(work, id);
    const struct cm_input_option *option = input_option(work, value->name);
    const struct cm_value_option *contents = values_option(work->analysis, value->name);
    struct arena *arena = work->analysis->arena;
    int64_t dims[SHAPE_MAX_RANK];
    int rank = value->type->shape.rank;
    if (value_info_of_type(arena, value->type, info) < 0) return diag_no_memory(work->diag);
    if (value->type->kind == CM_TYPE_SPARSE_TENSOR) info->shape = shape_unknown();
    if (value->type->kind != CM_TYPE_TENSOR) return CM_OK;
    const int64_t *given = option ? option->dims : dims;
    if (option) {
        rank = option->rank;
    } else if (shape_has_rank(&value->type->shape)) {
        int worst = CM_OK;
        for (int axis = 0; axis < rank; axis++) {
            int status = bound_dim(work, id, axis, &dims[axis]);
            if (status < 0) worst = status;
        }
        if (worst < 0) return worst;
    } else if (contents) {
        rank = 1;
        dims[0] = (int64_t)contents->n;
    } else {
        return shapes_no_rank(work->analysis, value);
    }
    return shape_make(arena, rank, given, &info->shape) < 0 ? diag_no_memory(work->diag)
                                                            : CM_OK;
}

static int make_inputs(const struct batch_work *work) {
    const struct graph *graph = main_graph(work);
    int worst = CM_OK;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        uint32_t id = graph->inputs[i];
        if (!is_free_input(work, id)) continue;
        struct value_info *info = arena_alloc(work->analysis->arena, sizeof(*info));
        if (!info) return diag_no_memory(work->diag);
        int status = make_input(work, id, info);
        const struct cm_value_option *contents =
            values_option(work->analysis, value_of(work, id)->name);
        if (status == CM_OK && contents)
            status = values_set(work->analysis, value_of(work, id), contents, info);
        work->table->inputs[id] = info;
        if (status == CM_NO_MEMORY) return status;
        if (status < 0) worst = status;
    }
    return worst;
}

static int bind_derived_symbols(const struct batch_work *work) {
    return derived_dims_bind(work->analysis, work->table, work->index);
}

static int no_batch(const struct batch_work *work) {
    if (work->first == ID_NONE)
        return diag_error(work->diag, DIAG_USAGE, "the model has no input to batch");
    const struct value_info *info = work->table->inputs[work->first];
    int status = diag_error(work->diag, DIAG_USAGE, "input '%s' %s has no batch axis",
                            value_of(work, work->first)->name,
                            shapes_text(work->analysis, &info->shape));
    diag_hint(work->diag, "leave out --batch, or give the shape with --input");
    return status;
}

static bool first_is_symbolic(const struct batch_work *work) {
    const struct value *value = value_of(work, work->first);
    return value->type->shape.rank > 0 && !is_known(value->type->shape.dims[0]);
}

static int settle_batch(const struct batch_work *work) {
    const struct cm_options *options = work->analysis->options;
    const struct value_info *info =
        work->first == ID_NONE ? NULL : work->table->inputs[work->first];
    bool possible = info && info->kind == CM_TYPE_TENSOR &&
                    (first_is_symbolic(work) || may_lead_with_batch(&info->shape));
    work->table->batch = possible ? info->shape.dims[0] : DIM_UNKNOWN;
    if (options->batch == 0) return CM_OK;
    if (!possible) return no_batch(work);
    if (info->shape.dims[0] == options->batch) return CM_OK;
    if (first_is_symbolic(work) || input_option(work, value_of(work, work->first)->name))
        return diag_error(work->diag, DIAG_USAGE,
                          "--batch %lld contradicts --input, which gives '%s' a leading %lld",
                          (long long)options->batch, value_of(work, work->first)->name,
                          (long long)info->shape.dims[0]);
    return rebatch(work->analysis, work->table, work->first, options->batch);
}

int pass_batch(const struct analysis *analysis, void *own) {
    struct map index;
    struct batch_work work = {
        .analysis = analysis, .table = own, .diag = analysis->diag, .index = &index};
    int (*const steps[])(const struct batch_work *) = {
        check_input_options,  collect_symbols,    bind_dim_options,
        bind_input_options,   bind_value_options, bind_batch_symbol,
        bind_derived_symbols, make_inputs,        settle_batch,
    };
    const struct model *model = analysis->model;
    work.table->inputs =
        arena_array(analysis->arena, model->n_values, sizeof(*work.table->inputs));
    if (!work.table->inputs) return diag_no_memory(analysis->diag);
    map_init(&index, analysis->arena);
    work.first = first_input(&work);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        int status = steps[i](&work);
        if (status < 0) return status;
    }
    return CM_OK;
}
