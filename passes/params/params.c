/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass params: which constants are learned, which are buffers, and which nodes use them.
 *
 * ONNX does not say what was learned. It is told from what a constant is used for (the `roles`
 * of operator rows), looked for through views, slices and casts, and where the use alone leaves
 * it open, from who named it: docs/counting.md has the rules and the traps.
 */
#include "ops/packed.h"
#include "passes/infer/context.h"
#include "passes/memory/liveness.h"
#include "passes/params/names.h"
#include "passes/params/param_uses.h"
#include "passes/params/uses.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* Whether several axes have more than one place, as those of a mask and of a table of angles
 * do; what is learned beside activations is a vector along channels, under whatever name. */
static bool is_table(const struct shape *shape) {
    int n = 0;
    for (int axis = 0; axis < shape->rank; axis++) n += shape->dims[axis] != 1;
    return n > 1;
}

static bool is_learned_initializer(const struct param_study *study, uint32_t value,
                                   unsigned purposes) {
    const char *name = value_name(study->model, value);
    const struct value_info *info = &study->analysis->infer.facts[value];
    if (purposes & (FOR_WEIGHT | FOR_FACTOR | FOR_TABLE)) return true;
    if ((purposes & FOR_ELEMENT) && names_traced(name) && is_table(&info->shape)) return false;
    if (purposes & FOR_ELEMENT)
        return !names_generated(name) || shape_elements(&info->shape) != 1;
    return (purposes & FOR_DATA) && names_parameter(name);
}

static bool is_learned_node(const struct param_study *study, uint32_t value,
                            unsigned purposes) {
    if (purposes & (FOR_WEIGHT | FOR_FACTOR)) return true;
    return (purposes & (FOR_TABLE | FOR_ELEMENT)) &&
           !names_generated(value_name(study->model, value));
}

/* An input may be an activation: only a weight's own place, or a parameter's name, tells. */
static bool is_learned_input(const struct param_study *study, uint32_t value,
                             unsigned purposes) {
    if (purposes & FOR_WEIGHT) return true;
    return (purposes & (FOR_FACTOR | FOR_TABLE | FOR_ELEMENT)) &&
           names_parameter(value_name(study->model, value));
}

/* Integers of a few bits, as quantized models have them. */
static bool is_narrow(enum dtype dtype) {
    return dtype_is_integer(dtype) && dtype_bits(dtype) <= 8;
}

/*
 * Whether an integer may be what a weight was quantized to. Most integers spell shapes and
 * indices, and those are of 64 bits; a single one that joins elements is a scale's offset.
 */
static bool may_be_quantized(const struct param_study *study, uint32_t value) {
    const struct value_info *info = &study->analysis->infer.facts[value];
    const unsigned purposes = study->purposes[value];
    if (!dtype_is_integer(info->dtype)) return false;
    if (purposes & FOR_WEIGHT) return true;
    if ((purposes & FOR_REAL) == 0 && !is_narrow(info->dtype)) return false;
    return (purposes & (FOR_FACTOR | FOR_TABLE)) || shape_elements(&info->shape) != 1;
}

static bool is_learned(const struct param_study *study, uint32_t value) {
    unsigned purposes = study->purposes[value];
    if (!dtype_is_float(study->analysis->infer.facts[value].dtype) &&
        !may_be_quantized(study, value))
        return false;
    switch ((enum param_source)study->sources[value]) {
    case SOURCE_INITIALIZER:
    case SOURCE_RENAMED:
        return is_learned_initializer(study, value, purposes);
    case SOURCE_NODE:
        return is_learned_node(study, value, purposes);
    case SOURCE_INPUT:
        return is_learned_input(study, value, purposes);
    default:
        return false;
    }
}

/* Statistics, masks and tables of indices that a person named; not the constants of shapes. */
static bool is_buffer(const struct param_study *study, uint32_t value) {
    unsigned purposes = study->purposes[value];
    const char *name = value_name(study->model, value);
    bool stored =
        study->sources[value] == SOURCE_INITIALIZER || study->sources[value] == SOURCE_RENAMED;
    const enum dtype dtype = study->analysis->infer.facts[value].dtype;
    bool is_float = dtype_is_float(dtype);
    if (purposes == 0) return false;
    if (purposes & FOR_STAT) return is_float;
    return stored && (names_parameter(name) ||
                      ((is_float || is_narrow(dtype)) && !names_generated(name)));
}

static enum param_kind kind_of(const struct param_study *study, uint32_t value) {
    if (study->sources[value] == SOURCE_NONE) return PARAM_NONE;
    if (is_learned(study, value)) return PARAM_LEARNED;
    return is_buffer(study, value) ? PARAM_BUFFER : PARAM_NONE;
}

/* The numbers that it holds, of which a use may unpack several from an element. */
static int count_numbers(const struct param_study *study, uint32_t id, int64_t *ret) {
    const struct op_source source = context_source(study->analysis);
    const struct value *value = &study->model->values[id];
    const struct value_info *info = &study->analysis->infer.facts[id];
    *ret = shape_elements(&info->shape);
    if (!is_narrow(info->dtype)) return CM_OK;
    for (size_t i = 0; i < value->n_uses; i++) {
        const struct arena_mark mark = arena_save(study->analysis->arena);
        const struct use *use = &value->uses[i];
        struct op_context context;
        const int64_t before = *ret;
        const int status = context_make_inferred(&source, use->node, &context);
        if (status < 0) return status;
        *ret = packed_numbers(&context, use->slot);
        arena_restore(study->analysis->arena, mark);
        if (*ret != before) break;
    }
    return CM_OK;
}

static int fill_params(const struct param_study *study, const uint8_t *kinds,
                       struct params_table *table) {
    for (uint32_t value = 0; value < study->model->n_values; value++) {
        const struct value_info *info = &study->analysis->infer.facts[value];
        table->of_value[value] = ID_NONE;
        if (kinds[value] == PARAM_NONE) continue;
        int64_t numbers = 0;
        const int status = count_numbers(study, value, &numbers);
        if (status < 0) return status;
        table->of_value[value] = (uint32_t)table->n_params;
        table->params[table->n_params++] = (struct param){
            .value = value,
            .kind = (enum param_kind)kinds[value],
            .name = value_name(study->model, value),
            .elements = numbers,
            .bytes = liveness_bytes(info),
        };
    }
    return CM_OK;
}

static int list_params(const struct param_study *study, struct params_table *table) {
    size_t n_values = study->model->n_values;
    struct arena *arena = study->analysis->arena;
    uint8_t *kinds = arena_array_raw(study->analysis->scratch, n_values, sizeof *kinds);
    size_t n = 0;
    if (!kinds) return diag_no_memory(study->analysis->diag);
    for (uint32_t value = 0; value < n_values; value++) {
        kinds[value] = (uint8_t)kind_of(study, value);
        n += kinds[value] != PARAM_NONE;
    }
    table->of_value = arena_array_raw(arena, n_values, sizeof *table->of_value);
    table->params = arena_array_raw(arena, n, sizeof *table->params);
    if (!table->of_value || !table->params) return diag_no_memory(study->analysis->diag);
    return fill_params(study, kinds, table);
}

int pass_params(const struct analysis *analysis, void *own) {
    struct params_table *table = own;
    struct param_study study = {0};
    int status = param_uses_find(analysis, &study);
    if (status == CM_OK) status = list_params(&study, table);
    if (status < 0) return status;
    const struct use_walk walk = {.model = analysis->model,
                                  .ops = analysis->bind.ops,
                                  .carries = study.carries,
                                  .arena = analysis->arena,
                                  .scratch = analysis->scratch,
                                  .diag = analysis->diag};
    return uses_find(&walk, table);
}
