/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about inputs and their dims: see shape_messages.h. */
#include "passes/infer/shape_messages.h"

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Names listed in a hint. */
#define MAX_LISTED 12

const char *shapes_text(const struct analysis *analysis, const struct shape *shape) {
    struct text text;
    text_init(&text, analysis->arena);
    shape_print(shape, &text);
    return text_string(&text);
}

const char *shapes_example(const struct analysis *analysis, const struct value *value,
                           int axis) {
    struct text text;
    text_init(&text, analysis->arena);
    for (int i = 0; i < value->type->shape.rank; i++) {
        int64_t dim = value->type->shape.dims[i];
        if (i > 0) text_append(&text, "x");
        if (i == axis || !is_known(dim))
            text_append(&text, "N");
        else
            text_printf(&text, "%lld", (long long)dim);
    }
    return text_string(&text);
}

static void list_name(struct text *text, size_t index, const char *name) {
    if (index == MAX_LISTED) text_append(text, ", ...");
    if (index >= MAX_LISTED) return;
    if (index > 0) text_append(text, ", ");
    text_append_name(text, name);
}

int shapes_unknown_input(const struct analysis *analysis, const char *name) {
    const struct graph *graph = &analysis->model->graphs[0];
    struct text names;
    text_init(&names, analysis->arena);
    for (size_t i = 0; i < graph->n_inputs; i++)
        list_name(&names, i, analysis->model->values[graph->inputs[i]].name);
    int status =
        diag_error(analysis->diag, DIAG_USAGE, "the model has no input named '%s'", name);
    diag_hint(analysis->diag, "its inputs are: %s", text_string(&names));
    return status;
}

int shapes_unknown_dim(const struct analysis *analysis, const struct batch_table *table,
                       const char *name) {
    struct text names;
    text_init(&names, analysis->arena);
    for (size_t i = 0; i < table->n_symbols; i++) list_name(&names, i, table->symbols[i].name);
    int status = diag_error(analysis->diag, DIAG_USAGE, "no input has a dim named '%s'", name);
    if (table->n_symbols)
        diag_hint(analysis->diag, "the symbolic dims are: %s", text_string(&names));
    else
        diag_hint(analysis->diag, "no input of this model has a named symbolic dim");
    return status;
}

int shapes_no_rank(const struct analysis *analysis, const struct value *value) {
    int status =
        diag_error(analysis->diag, DIAG_UNBOUND,
                   "input '%s' must declare a shape or get one from --input", value->name);
    diag_hint(analysis->diag, "for example --input %s=1x3x224x224", value->name);
    return status;
}
