/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of inputs from --value: see input_values.h. */
#include "passes/infer/input_values.h"

#include <string.h>

#include "ops/fold.h"
#include "passes/infer/shape_messages.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Elements listed in a note. */
#define MAX_LISTED 12

const struct cm_value_option *values_option(const struct analysis *analysis, const char *name) {
    const struct cm_options *options = analysis->options;
    for (size_t i = 0; i < options->n_values; i++)
        if (text_equal(options->values[i].name, name)) return &options->values[i];
    return NULL;
}

int values_check(const struct analysis *analysis) {
    const struct cm_options *options = analysis->options;
    const struct graph *graph = &analysis->model->graphs[0];
    for (size_t k = 0; k < options->n_values; k++) {
        const char *name = options->values[k].name;
        const struct value *input = NULL;
        for (size_t i = 0; i < graph->n_inputs && !input; i++)
            if (text_equal(analysis->model->values[graph->inputs[i]].name, name))
                input = &analysis->model->values[graph->inputs[i]];
        if (!input) return shapes_unknown_input(analysis, name);
        if (input->constant)
            return diag_error(analysis->diag, DIAG_USAGE,
                              "--value names '%s', whose contents are stored in the file",
                              name);
    }
    return CM_OK;
}

/* Returns false if the text is not an element of the type. */
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

static int make_numbers(const struct analysis *analysis, const struct value *input,
                        const struct cm_value_option *option, struct value_info *info) {
    const enum dtype dtype = info->dtype;
    int64_t *ints = arena_array(analysis->arena, option->n, sizeof *ints);
    double *reals = arena_array(analysis->arena, option->n, sizeof *reals);
    if (!ints || !reals) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < option->n; i++) {
        struct number number;
        if (!read_element(dtype, option->elements[i], &number))
            return diag_error(analysis->diag, DIAG_USAGE,
                              "--value for '%s' must have elements of type %s, got '%s'",
                              input->name, dtype_name(input->type->dtype), option->elements[i]);
        ints[i] = number.i;
        reals[i] = number.r;
    }
    info->value = dtype_is_float(dtype)
                      ? constant_reals(analysis->arena, dtype, &info->shape, reals)
                      : constant_ints(analysis->arena, dtype, &info->shape, ints);
    return info->value ? CM_OK : diag_no_memory(analysis->diag);
}

static int make_texts(const struct analysis *analysis, const struct cm_value_option *option,
                      struct value_info *info) {
    struct constant *constant = constant_new(analysis->arena, DTYPE_STRING, &info->shape);
    const char **texts = arena_array(analysis->arena, option->n, sizeof *texts);
    if (!constant || !texts) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < option->n; i++)
        texts[i] = arena_strdup(analysis->arena, option->elements[i]);
    constant->texts = texts;
    info->value = constant;
    return arena_failed(analysis->arena) ? diag_no_memory(analysis->diag) : CM_OK;
}

static int note_assumption(const struct analysis *analysis, const struct value *input,
                           const struct cm_value_option *option) {
    struct text list;
    text_init(&list, analysis->arena);
    for (size_t i = 0; i < option->n && i < MAX_LISTED; i++) {
        if (i > 0) text_append(&list, ",");
        text_append_name(&list, option->elements[i]);
    }
    if (option->n > MAX_LISTED) text_append(&list, ",...");
    if (list.failed) return diag_no_memory(analysis->diag);
    diag_note(analysis->diag, DIAG_ASSUMPTION, "assuming that input '%s' holds %s", input->name,
              option->n > 0 ? text_string(&list) : "no elements");
    return CM_OK;
}

static bool has_values(enum dtype dtype) {
    switch (dtype) {
    case DTYPE_BOOL:
    case DTYPE_STRING:
    case DTYPE_FLOAT:
    case DTYPE_DOUBLE:
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
        return true;
    default:
        return dtype_is_integer(dtype);
    }
}

int values_set(const struct analysis *analysis, const struct value *input,
               const struct cm_value_option *option, struct value_info *info) {
    static const char *const empty[] = {""};
    const struct cm_value_option one = {option->name, 1, empty};
    const int64_t elements = shape_elements(&info->shape);
    if (info->kind != CM_TYPE_TENSOR || !has_values(info->dtype))
        return diag_error(analysis->diag, DIAG_USAGE,
                          "--value for '%s' requires a tensor of a supported dtype",
                          input->name);
    /* an empty --value is one empty string */
    if (elements == 1 && option->n == 0 && info->dtype == DTYPE_STRING) option = &one;
    if (elements != (int64_t)option->n)
        return diag_error(analysis->diag, DIAG_USAGE,
                          "--value for '%s' %s must have %lld elements, got %zu", input->name,
                          shapes_text(analysis, &info->shape), (long long)elements, option->n);
    if (elements > CONSTANT_MAX_ELEMENTS)
        return diag_error(analysis->diag, DIAG_LIMIT,
                          "--value for '%s' must have at most %d elements, got %zu",
                          input->name, CONSTANT_MAX_ELEMENTS, option->n);
    int status = info->dtype == DTYPE_STRING ? make_texts(analysis, option, info)
                                             : make_numbers(analysis, input, option, info);
    return status < 0 ? status : note_assumption(analysis, input, option);
}
