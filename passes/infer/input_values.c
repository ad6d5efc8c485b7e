/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of inputs, from texts: see values.h. */
#include "passes/infer/input_values.h"

#include <string.h>

#include "ops/fold.h"
#include "passes/infer/shape_messages.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* A note that lists more elements says nothing to a reader. */
#define MAX_LISTED 12

const struct cm_value_option *values_option(const struct analysis *analysis, const char *name) {
    const struct cm_options *options = analysis->options;
    for (size_t i = 0; i < options->n_values; i++)
        if (text_equal(options->values[i].name, name)) return &options->values[i];
    return NULL;
}

static const struct value *find_input(const struct analysis *analysis, const char *name) {
    const struct graph *graph = &analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct value *value = &analysis->model->values[graph->inputs[i]];
        if (text_equal(value->name, name)) return value;
    }
    return NULL;
}

int values_check(const struct analysis *analysis) {
    const struct cm_options *options = analysis->options;
    for (size_t i = 0; i < options->n_values; i++) {
        const char *name = options->values[i].name;
        const struct value *input = find_input(analysis, name);
        if (!input) return shapes_unknown_input(analysis, name);
        if (!input->constant) continue;
        return diag_error(analysis->diag, DIAG_USAGE,
                          "--value names '%s', whose contents stand in the file", name);
    }
    return CM_OK;
}

static bool read_bool(const char *text, int64_t *ret) {
    const bool is_true = text_equal(text, "true") || text_equal(text, "1");
    *ret = is_true;
    return is_true || text_equal(text, "false") || text_equal(text, "0");
}

/* False where the type has no such element. */
static bool read_element(enum dtype dtype, const char *text, struct number *ret) {
    *ret = (struct number){.given = true, .real = dtype_is_float(dtype)};
    bool is_read = false;
    if (ret->real)
        is_read = text_to_real(text, &ret->r);
    else if (dtype == DTYPE_BOOL)
        is_read = read_bool(text, &ret->i);
    else
        is_read = text_to_int64(text, strlen(text), &ret->i);
    return is_read && fold_store(dtype, ret);
}

static int refuse_element(const struct analysis *analysis, const struct value *input,
                          const char *element) {
    return diag_error(analysis->diag, DIAG_USAGE, "--value gives '%s' '%s', which is no %s",
                      input->name, element, dtype_name(input->type->dtype));
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
            return refuse_element(analysis, input, option->elements[i]);
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
    for (size_t i = 0; i < option->n; i++) {
        texts[i] = arena_strdup(analysis->arena, option->elements[i]);
        if (!texts[i]) return diag_no_memory(analysis->diag);
    }
    constant->texts = texts;
    info->value = constant;
    return CM_OK;
}

static int tell(const struct analysis *analysis, const struct value *input,
                const struct cm_value_option *option) {
    struct text list;
    text_init(&list, analysis->arena);
    for (size_t i = 0; i < option->n && i < MAX_LISTED; i++) {
        if (i > 0) text_append(&list, ",");
        text_append_name(&list, option->elements[i]);
    }
    if (option->n > MAX_LISTED) text_append(&list, ",...");
    if (list.failed) return diag_no_memory(analysis->diag);
    diag_note(analysis->diag, DIAG_ASSUMPTION, "input '%s' is taken to hold %s", input->name,
              option->n > 0 ? text_string(&list) : "nothing");
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

int values_give(const struct analysis *analysis, const struct value *input,
                const struct cm_value_option *option, struct value_info *info) {
    static const char *const empty[] = {""};
    const struct cm_value_option one = {option->name, 1, empty};
    const int64_t elements = shape_elements(&info->shape);
    if (info->kind != CM_TYPE_TENSOR || !has_values(info->dtype))
        return diag_error(analysis->diag, DIAG_USAGE,
                          "--value names '%s', of which no contents are read", input->name);
    /* nothing is also a text */
    if (elements == 1 && option->n == 0 && info->dtype == DTYPE_STRING) option = &one;
    if (elements != (int64_t)option->n)
        return diag_error(analysis->diag, DIAG_USAGE,
                          "--value gives '%s' %s %zu elements, %lld wanted", input->name,
                          shapes_text(analysis, &info->shape), option->n, (long long)elements);
    if (elements > CONSTANT_MAX_ELEMENTS)
        return diag_error(analysis->diag, DIAG_LIMIT,
                          "--value gives '%s' %zu elements, at most %d are read", input->name,
                          option->n, CONSTANT_MAX_ELEMENTS);
    int status = info->dtype == DTYPE_STRING ? make_texts(analysis, option, info)
                                             : make_numbers(analysis, input, option, info);
    return status < 0 ? status : tell(analysis, input, option);
}
