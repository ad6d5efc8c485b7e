/* SPDX-License-Identifier: Apache-2.0 */
/* Pass batch: chooses the shape of every input. --dim, --input and --batch bind symbolic dims;
 * a dim that is neither bound nor determined by the model is an error that names the option.
 * --value sets the contents of inputs, so that shapes that depend on them (a Reshape's shape, a
 * Resize's scales) are known.
 * --batch binds the leading symbol of the first input, wherever it occurs, by default to 1.
 * rebatch.c handles files exported with a fixed batch. */
#include "passes/batch/batch.h"

#include <string.h>

#include "ops/fold.h"
#include "passes/batch/rebatch.h"
#include "passes/pass.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

#define MAX_LISTED 12 /* names or elements in a message */

/* Maximum number of sizes tried for symbols that no option binds; each takes 1 or 2 walks. */
#define MAX_TRIED 8

struct batch_work {
    const struct analysis *analysis;
    const struct cm_options *options;
    const struct value *values; /* of the model */
    const struct graph *graph;  /* the main graph */
    struct arena *arena;
    struct batch_table *table;
    struct cm_diagnostics *diag;
    struct map *index;         /* symbols by name */
    struct map *input_options; /* indices of options->inputs by name */
    struct map *value_options; /* indices of options->values by name */
    uint32_t first; /* the input whose leading dim may be the batch; ID_NONE if none */
};

static const struct cm_input_option *input_option(const struct batch_work *work,
                                                  const char *name) {
    const uint32_t index = map_get(work->input_options, name);
    return index == MAP_NONE ? NULL : &work->options->inputs[index];
}

static const struct cm_value_option *value_option(const struct batch_work *work,
                                                  const char *name) {
    const uint32_t index = map_get(work->value_options, name);
    return index == MAP_NONE ? NULL : &work->options->values[index];
}

static void list_name(struct text *text, size_t index, const char *name) {
    if (index == MAX_LISTED) text_append(text, ", ...");
    if (index >= MAX_LISTED) return;
    if (index > 0) text_append(text, ", ");
    text_append_name(text, name);
}

/* Adds the name of option `n` to `options`. Refuses a name that no input has. */
static int add_option(const struct batch_work *work, const struct map *inputs, const char *name,
                      struct map *options, size_t n) {
    struct text names;
    uint32_t existing = MAP_NONE;
    if (map_get(inputs, name) != MAP_NONE)
        return map_add(options, name, (uint32_t)n, &existing) < 0 ? diag_no_memory(work->diag)
                                                                  : CM_OK;
    text_init(&names, work->arena);
    for (size_t i = 0; i < work->graph->n_inputs; i++)
        list_name(&names, i, work->values[work->graph->inputs[i]].name);
    int status = diag_error(work->diag, DIAG_USAGE, "the model has no input named '%s'", name);
    diag_hint(work->diag, "its inputs are: %s", text_string(&names));
    return status;
}

/* Refuses options for inputs that the model lacks, and --value for stored contents. */
static int check_options(const struct batch_work *work) {
    const struct cm_options *options = work->options;
    struct map inputs;
    int status = CM_OK;
    map_init(&inputs, work->arena);
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        const uint32_t id = work->graph->inputs[i];
        if (map_set(&inputs, work->values[id].name, id) < 0) return diag_no_memory(work->diag);
    }
    for (size_t i = 0; i < options->n_inputs && status == CM_OK; i++)
        status = add_option(work, &inputs, options->inputs[i].name, work->input_options, i);
    for (size_t i = 0; i < options->n_values && status == CM_OK; i++) {
        const char *name = options->values[i].name;
        status = add_option(work, &inputs, name, work->value_options, i);
        if (status == CM_OK && work->values[map_get(&inputs, name)].constant)
            status =
                diag_error(work->diag, DIAG_USAGE,
                           "--value names '%s', whose contents are stored in the file", name);
    }
    return status;
}

/* --- Symbols. --- */

static const char *symbol_at(const struct value *value, int axis) {
    return value->type->symbols ? value->type->symbols[axis] : NULL;
}

static struct symbol *find_symbol(const struct batch_work *work, const char *name) {
    uint32_t index = name ? map_get(work->index, name) : MAP_NONE;
    return index == MAP_NONE ? NULL : &work->table->symbols[index];
}

/* Collects the symbols of tensor inputs; options do not set the dims of sparse tensors. */
static int collect_symbols(const struct batch_work *work) {
    struct batch_table *table = work->table;
    size_t capacity = 0;
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        const uint32_t id = work->graph->inputs[i];
        const struct value *value = &work->values[id];
        if (value->type->kind != CM_TYPE_TENSOR || work->values[id].constant) continue;
        for (int axis = 0; axis < value->type->shape.rank; axis++) {
            const char *name = symbol_at(value, axis);
            if (!name || find_symbol(work, name)) continue;
            const struct symbol symbol = {
                .name = name, .size = DIM_UNKNOWN, .input = id, .axis = axis};
            if (map_set(work->index, name, (uint32_t)table->n_symbols) < 0 ||
                !arena_push(work->arena, &table->symbols, &table->n_symbols, &capacity, &symbol,
                            sizeof symbol))
                return diag_no_memory(work->diag);
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
    const struct batch_table *table = work->table;
    for (size_t i = 0; i < work->options->n_dims; i++) {
        const struct cm_dim_option *option = &work->options->dims[i];
        struct symbol *symbol = find_symbol(work, option->name);
        if (symbol) {
            int status = bind_symbol(work, symbol, option->size, "--dim");
            if (status < 0) return status;
            continue;
        }
        struct text names;
        text_init(&names, work->arena);
        for (size_t k = 0; k < table->n_symbols; k++)
            list_name(&names, k, table->symbols[k].name);
        int status =
            diag_error(work->diag, DIAG_USAGE, "no input has a dim named '%s'", option->name);
        if (table->n_symbols)
            diag_hint(work->diag, "the symbolic dims are: %s", text_string(&names));
        else
            diag_hint(work->diag, "no input of this model has a named symbolic dim");
        return status;
    }
    return CM_OK;
}

/* Binds the symbols of inputs whose whole shape --input sets. */
static int bind_input_options(const struct batch_work *work) {
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        const struct value *value = &work->values[work->graph->inputs[i]];
        const struct cm_input_option *option = input_option(work, value->name);
        const int rank = value->type->shape.rank;
        if (!option) continue;
        if (option->n_dims > SHAPE_MAX_RANK)
            return diag_error(work->diag, DIAG_USAGE,
                              "--input for '%s' must have at most %d dims, got %zu",
                              value->name, SHAPE_MAX_RANK, option->n_dims);
        if (rank != RANK_UNKNOWN && (size_t)rank != option->n_dims)
            return diag_error(work->diag, DIAG_USAGE,
                              "--input for '%s' must have %d dims, got %zu", value->name, rank,
                              option->n_dims);
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
    for (size_t i = 0; i < work->graph->n_inputs && work->options->n_values > 0; i++) {
        const struct value *value = &work->values[work->graph->inputs[i]];
        const struct cm_value_option *option = value_option(work, value->name);
        const bool has_one = option && value->type->shape.rank == 1;
        struct symbol *symbol = find_symbol(work, has_one ? symbol_at(value, 0) : NULL);
        int status = symbol ? bind_symbol(work, symbol, (int64_t)option->n, "--value") : CM_OK;
        if (status < 0) return status;
    }
    return CM_OK;
}

/* Returns the first input whose contents neither the file nor --value gives: it is assumed to
 * be data. ID_NONE if none. */
static uint32_t first_input(const struct batch_work *work) {
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        const uint32_t id = work->graph->inputs[i];
        if (!work->values[id].constant && !value_option(work, work->values[id].name)) return id;
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
    const int64_t batch = work->options->batch;
    if (work->first == ID_NONE) return CM_OK;
    const struct value *value = &work->values[work->first];
    struct symbol *symbol =
        find_symbol(work, value->type->shape.rank > 0 ? symbol_at(value, 0) : NULL);
    if (symbol && batch > 0) return bind_symbol(work, symbol, batch, "--batch");
    if (symbol && !is_known(symbol->size)) symbol->size = 1;
    return CM_OK;
}

/* --- Symbols that no option binds, if the model accepts one size only. --- */

/* Returns the type of an input in the file, with the symbols bound so far; other symbolic dims
 * are unknown. NULL: out of memory. */
static const struct value_info *input_of(const struct batch_work *work, struct arena *arena,
                                         const struct value *value) {
    struct value_info *info = arena_alloc(arena, sizeof *info);
    if (!info || value_info_of_type(arena, value->type, info) < 0) return NULL;
    if (value->type->kind != CM_TYPE_TENSOR || !shape_has_rank(&info->shape)) return info;
    if (shape_make(arena, info->shape.rank, info->shape.dims, &info->shape) < 0) return NULL;
    for (int axis = 0; axis < info->shape.rank && value->type->symbols; axis++) {
        const struct symbol *symbol = find_symbol(work, value->type->symbols[axis]);
        if (symbol) info->shape.dims[axis] = symbol->size;
    }
    return info;
}

static int infer_model(const struct batch_work *work, struct arena *arena,
                       struct infer_table *table) {
    const struct analysis *analysis = work->analysis;
    const struct model *model = analysis->model;
    const struct value_info **inputs = arena_array(arena, model->n_values, sizeof *inputs);
    if (!inputs) return CM_NO_MEMORY;
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        const struct value *value = &model->values[work->graph->inputs[i]];
        if (value->constant) continue;
        inputs[work->graph->inputs[i]] = input_of(work, arena, value);
        if (!inputs[work->graph->inputs[i]]) return CM_NO_MEMORY;
    }
    struct walk walk = walk_make(analysis, "batch", arena, inputs, table);
    const int status = walk_start(&walk);
    return status < 0 ? status : walk_graph(&walk, 0);
}

/* Sets *ret to true if the model is valid with the symbol at that size. */
static int is_valid(const struct batch_work *work, struct symbol *symbol, int64_t size,
                    bool *ret) {
    struct infer_table table = {0};
    struct arena *arena = arena_new("derived dims", 0);
    if (!arena) return CM_NO_MEMORY;
    symbol->size = size;
    const int status = infer_model(work, arena, &table);
    symbol->size = DIM_UNKNOWN;
    arena_free(arena);
    *ret = status == CM_OK;
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* Tries the inferred size of each output dim that has the name of an unbound symbol. Binds the
 * symbol if the model is valid with this size, but not with one more. */
static int bind_from_outputs(const struct batch_work *work, const struct infer_table *table) {
    const struct model *model = work->analysis->model;
    int n_tried = 0;
    for (size_t i = 0; i < work->graph->n_outputs; i++) {
        const struct type *type = model->values[work->graph->outputs[i]].type;
        const struct shape *shape = &table->infos[work->graph->outputs[i]].shape;
        if (type->shape.rank != shape->rank || !type->symbols) continue;
        for (int axis = 0; axis < shape->rank && n_tried < MAX_TRIED; axis++) {
            const int64_t size = shape->dims[axis];
            struct symbol *symbol = find_symbol(work, type->symbols[axis]);
            if (!symbol || is_known(symbol->size) || !is_known(size)) continue;
            n_tried++;
            bool fits = false;
            bool larger_fits = true;
            int status = is_valid(work, symbol, size, &fits);
            if (status == CM_OK && fits)
                status = is_valid(work, symbol, checked_add(size, 1), &larger_fits);
            if (status < 0) return status;
            if (!larger_fits) symbol->size = size;
        }
    }
    return CM_OK;
}

/* Binds unbound symbols whose size the model determines. Example: the inputs past.key [B,2,P,D]
 * and the outputs present.key [B,2,T,D] share the unbound symbol D, but present.key is inferred
 * as [B,2,?,32]. If the model is valid for D = 32 and not for D = 33, D is 32. */
static int bind_derived_symbols(const struct batch_work *work) {
    struct infer_table infos = {0};
    bool has_unbound = false;
    for (size_t i = 0; i < work->table->n_symbols; i++)
        has_unbound = has_unbound || !is_known(work->table->symbols[i].size);
    if (!has_unbound) return CM_OK;
    struct arena *arena = arena_new("derived dims", 0);
    int status = arena ? infer_model(work, arena, &infos) : CM_NO_MEMORY;
    if (status == CM_OK) status = bind_from_outputs(work, &infos);
    arena_free(arena);
    return status == CM_NO_MEMORY ? diag_no_memory(work->diag) : CM_OK;
}

/* --- Shapes of inputs. --- */

/* Reports an unbound dim; a symbol only at the first input that has it. */
static int unbound(const struct batch_work *work, uint32_t id, int axis) {
    const struct value *value = &work->values[id];
    const struct symbol *symbol = find_symbol(work, symbol_at(value, axis));
    struct text example; /* 1x3xN */
    int status = CM_USAGE;
    if (symbol) {
        if (symbol->input != id || symbol->axis != axis) return status;
        status = diag_error(work->diag, DIAG_UNBOUND,
                            "symbolic dim '%s' (input '%s', axis %d) must be bound",
                            symbol->name, value->name, axis);
        diag_hint(work->diag, "give --dim %s=SIZE", symbol->name);
        return status;
    }
    status = diag_error(work->diag, DIAG_UNBOUND,
                        "unnamed symbolic dim (input '%s', axis %d) must be bound", value->name,
                        axis);
    text_init(&example, work->arena);
    for (int i = 0; i < value->type->shape.rank; i++) {
        const int64_t dim = value->type->shape.dims[i];
        if (i > 0) text_append(&example, "x");
        if (i == axis || !is_known(dim))
            text_append(&example, "N");
        else
            text_printf(&example, "%lld", (long long)dim);
    }
    diag_hint(work->diag, "give the whole shape: --input %s=%s", value->name,
              text_string(&example));
    return status;
}

/* Sets *ret to the size of a dim of an input; reports an error if the dim is unbound. */
static int bound_dim(const struct batch_work *work, uint32_t id, int axis, int64_t *ret) {
    const struct value *value = &work->values[id];
    const char *name = symbol_at(value, axis);
    int64_t batch = work->options->batch;
    *ret = value->type->shape.dims[axis];
    if (is_known(*ret)) return CM_OK;
    if (name) *ret = find_symbol(work, name)->size;
    if (!name && id == work->first && axis == 0) *ret = batch > 0 ? batch : 1;
    const struct cm_value_option *contents = value_option(work, value->name);
    if (!is_known(*ret) && contents && value->type->shape.rank == 1)
        *ret = (int64_t)contents->n;
    return is_known(*ret) ? CM_OK : unbound(work, id, axis);
}

static int make_input(const struct batch_work *work, uint32_t id, struct value_info *info) {
    const struct value *value = &work->values[id];
    const struct cm_input_option *option = input_option(work, value->name);
    const struct cm_value_option *contents = value_option(work, value->name);
    struct arena *arena = work->arena;
    int64_t dims[SHAPE_MAX_RANK];
    int rank = value->type->shape.rank;
    if (value_info_of_type(arena, value->type, info) < 0) return diag_no_memory(work->diag);
    if (value->type->kind == CM_TYPE_SPARSE_TENSOR) info->shape = shape_unknown();
    if (value->type->kind != CM_TYPE_TENSOR) return CM_OK;
    const int64_t *given = option ? option->dims : dims;
    if (option) {
        rank = (int)option->n_dims;
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
        int status =
            diag_error(work->diag, DIAG_UNBOUND,
                       "input '%s' must declare a shape or get one from --input", value->name);
        diag_hint(work->diag, "for example --input %s=1x3x224x224", value->name);
        return status;
    }
    return shape_make(arena, rank, given, &info->shape) < 0 ? diag_no_memory(work->diag)
                                                            : CM_OK;
}

/* --- Contents of inputs. --- */

/* Parses one element of --value. Returns false if the text is not an element of the dtype. */
static bool read_element(enum dtype dtype, const char *text, struct number *ret) {
    *ret = (struct number){.given = true, .real = dtype_is_float(dtype)};
    if (ret->real) return text_to_real(text, &ret->r) && fold_store(dtype, ret);
    if (dtype != DTYPE_BOOL)
        return text_to_int64(text, strlen(text), &ret->i) && fold_store(dtype, ret);
    const bool is_true = text_equal(text, "true") || text_equal(text, "1");
    ret->i = is_true;
    return (is_true || text_equal(text, "false") || text_equal(text, "0")) &&
           fold_store(dtype, ret);
}

static int set_numbers(const struct batch_work *work, const struct value *input,
                       const struct cm_value_option *option, struct value_info *info) {
    const enum dtype dtype = info->dtype;
    int64_t *ints = arena_array(work->arena, option->n, sizeof *ints);
    double *reals = arena_array(work->arena, option->n, sizeof *reals);
    if (!ints || !reals) return diag_no_memory(work->diag);
    for (size_t i = 0; i < option->n; i++) {
        struct number number;
        if (!read_element(dtype, option->elements[i], &number))
            return diag_error(work->diag, DIAG_USAGE,
                              "--value for '%s' must have elements of type %s, got '%s'",
                              input->name, dtype_name(input->type->dtype), option->elements[i]);
        ints[i] = number.i;
        reals[i] = number.r;
    }
    info->value = dtype_is_float(dtype)
                      ? constant_reals(work->arena, dtype, &info->shape, reals)
                      : constant_ints(work->arena, dtype, &info->shape, ints);
    return info->value ? CM_OK : diag_no_memory(work->diag);
}

static int set_texts(const struct batch_work *work, const struct cm_value_option *option,
                     struct value_info *info) {
    struct arena *arena = work->arena;
    struct constant *constant = constant_new(arena, DTYPE_STRING, &info->shape);
    const char **texts = arena_array(arena, option->n, sizeof *texts);
    if (!constant || !texts) return diag_no_memory(work->diag);
    for (size_t i = 0; i < option->n; i++) texts[i] = arena_strdup(arena, option->elements[i]);
    constant->texts = texts;
    info->value = constant;
    return arena_failed(arena) ? diag_no_memory(work->diag) : CM_OK;
}

/* Sets info->value to the contents that --value lists, and emits a note. The dtype and dims of
 * *info must be known. */
static int set_contents(const struct batch_work *work, const struct value *input,
                        const struct cm_value_option *option, struct value_info *info) {
    static const char *const empty[] = {""};
    const struct cm_value_option one = {option->name, 1, empty};
    const int64_t elements = shape_elements(&info->shape);
    const enum dtype dtype = info->dtype;
    const bool has_values = dtype_is_integer(dtype) || dtype == DTYPE_BOOL ||
                            dtype == DTYPE_STRING || dtype == DTYPE_FLOAT ||
                            dtype == DTYPE_DOUBLE || dtype == DTYPE_FLOAT16 ||
                            dtype == DTYPE_BFLOAT16;
    if (info->kind != CM_TYPE_TENSOR || !has_values)
        return diag_error(work->diag, DIAG_USAGE,
                          "--value for '%s' requires a tensor of a supported dtype",
                          input->name);
    /* an empty --value is one empty string */
    if (elements == 1 && option->n == 0 && dtype == DTYPE_STRING) option = &one;
    if (elements != (int64_t)option->n)
        return diag_error(work->diag, DIAG_USAGE,
                          "--value for '%s' %s must have %s elements, got %zu", input->name,
                          shape_text(work->arena, &info->shape),
                          shape_dim_text(work->arena, elements), option->n);
    if (elements > CONSTANT_MAX_ELEMENTS)
        return diag_error(work->diag, DIAG_LIMIT,
                          "--value for '%s' must have at most %d elements, got %zu",
                          input->name, CONSTANT_MAX_ELEMENTS, option->n);
    int status = dtype == DTYPE_STRING ? set_texts(work, option, info)
                                       : set_numbers(work, input, option, info);
    if (status < 0) return status;
    struct text list;
    text_init(&list, work->arena);
    for (size_t i = 0; i < option->n && i < MAX_LISTED; i++) {
        if (i > 0) text_append(&list, ",");
        text_append_name(&list, option->elements[i]);
    }
    if (option->n > MAX_LISTED) text_append(&list, ",...");
    if (list.failed) return diag_no_memory(work->diag);
    diag_note(work->diag, DIAG_ASSUMPTION, "assuming that input '%s' holds %s", input->name,
              option->n > 0 ? text_string(&list) : "no elements");
    return CM_OK;
}

static int make_inputs(const struct batch_work *work) {
    int worst = CM_OK;
    for (size_t i = 0; i < work->graph->n_inputs; i++) {
        uint32_t id = work->graph->inputs[i];
        if (work->values[id].constant) continue;
        struct value_info *info = arena_alloc(work->arena, sizeof(*info));
        if (!info) return diag_no_memory(work->diag);
        int status = make_input(work, id, info);
        const struct value *value = &work->values[id];
        const struct cm_value_option *contents = value_option(work, value->name);
        if (status == CM_OK && contents) status = set_contents(work, value, contents, info);
        work->table->inputs[id] = info;
        if (status == CM_NO_MEMORY) return status;
        if (status < 0) worst = status;
    }
    return worst;
}

static bool first_is_symbolic(const struct batch_work *work) {
    const struct value *value = &work->values[work->first];
    return value->type->shape.rank > 0 && !is_known(value->type->shape.dims[0]);
}

/* Sets table->batch. Re-batches the model if --batch differs from the file's fixed batch. */
static int settle_batch(const struct batch_work *work) {
    const int64_t batch = work->options->batch;
    const struct value_info *info =
        work->first == ID_NONE ? NULL : work->table->inputs[work->first];
    const char *name = info ? work->values[work->first].name : NULL;
    bool possible = info && info->kind == CM_TYPE_TENSOR &&
                    (first_is_symbolic(work) || may_lead_with_batch(&info->shape));
    work->table->batch = possible ? info->shape.dims[0] : DIM_UNKNOWN;
    if (batch == 0) return CM_OK;
    if (!info) return diag_error(work->diag, DIAG_USAGE, "the model has no input to batch");
    if (!possible) {
        int status = diag_error(work->diag, DIAG_USAGE, "input '%s' %s has no batch axis", name,
                                shape_text(work->arena, &info->shape));
        diag_hint(work->diag, "leave out --batch, or give the shape with --input");
        return status;
    }
    if (info->shape.dims[0] == batch) return CM_OK;
    if (first_is_symbolic(work) || input_option(work, name))
        return diag_error(work->diag, DIAG_USAGE,
                          "--batch %lld contradicts --input, which gives '%s' a leading %lld",
                          (long long)batch, name, (long long)info->shape.dims[0]);
    return rebatch(work->analysis, work->table, work->first, batch);
}

int pass_batch(const struct analysis *analysis, void *own) {
    const struct model *model = analysis->model;
    struct map maps[3];
    struct batch_work work = {
        .analysis = analysis,
        .options = analysis->options,
        .values = model->values,
        .graph = &model->graphs[0],
        .arena = analysis->arena,
        .table = own,
        .diag = analysis->diag,
        .index = &maps[0],
        .input_options = &maps[1],
        .value_options = &maps[2],
    };
    int (*const steps[])(const struct batch_work *) = {
        collect_symbols,   bind_dim_options,     bind_input_options, bind_value_options,
        bind_batch_symbol, bind_derived_symbols, make_inputs,        settle_batch,
    };
    work.table->inputs =
        arena_array(analysis->arena, model->n_values, sizeof(*work.table->inputs));
    if (!work.table->inputs) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        map_init(&maps[i], analysis->arena);
    int status = check_options(&work);
    if (status == CM_OK) work.first = first_input(&work);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && status == CM_OK; i++)
        status = steps[i](&work);
    return status;
}
