/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is searched from its start: descriptions are short. */
#include "ops/custom/custom_op_names.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define NOT_FOUND (-1)

int custom_op_slot(const struct custom_op_names *names, const char *name, size_t length) {
    for (size_t i = 0; i < names->n; i++)
        if (strlen(names->items[i].name) == length &&
            memcmp(names->items[i].name, name, length) == 0)
            return (int)i;
    return NOT_FOUND;
}

/* "in0", "out12": elements of which operand. One spelling each, so that they have an end. */
static bool is_operand(const char *name, size_t length, enum custom_op_kind *ret_kind,
                       size_t *ret_index) {
    const bool is_input = length > 2 && memcmp(name, "in", 2) == 0;
    const bool is_output = length > 3 && memcmp(name, "out", 3) == 0;
    const size_t prefix = is_input ? 2 : 3;
    int64_t index = 0;
    if (!is_input && !is_output) return false;
    if (name[prefix] == '-' || (name[prefix] == '0' && length - prefix > 1)) return false;
    if (!text_to_int64(name + prefix, length - prefix, &index)) return false;
    *ret_kind = is_input ? CUSTOM_OP_INPUT : CUSTOM_OP_OUTPUT;
    *ret_index = (size_t)index;
    return true;
}

static int append(struct custom_op_names *names, const char *name, size_t length,
                  struct custom_op_name is) {
    BUG_ON(names->n == sizeof(names->items) / sizeof(names->items[0]));
    is.name = arena_strndup(names->arena, name, length);
    names->failed = names->failed || !is.name;
    if (!is.name) return NOT_FOUND;
    names->items[names->n] = is;
    return (int)names->n++;
}

static size_t most_operands(const struct custom_op_names *names, enum custom_op_kind kind) {
    const size_t most = kind == CUSTOM_OP_INPUT ? names->most_inputs : names->most_outputs;
    return most < CUSTOM_OP_MOST_ITEMS ? most : CUSTOM_OP_MOST_ITEMS;
}

static int find_or_add(void *context, const char *name, size_t length) {
    struct custom_op_names *names = context;
    struct custom_op_name is = {.kind = CUSTOM_OP_INPUT};
    const int found = custom_op_slot(names, name, length);
    if (found != NOT_FOUND) return found;
    if (!is_operand(name, length, &is.kind, &is.index)) return NOT_FOUND;
    if (is.index >= most_operands(names, is.kind)) return NOT_FOUND;
    names->n_operands++;
    return append(names, name, length, is);
}

int custom_op_expression(struct custom_op_names *names, struct expression_cursor *cursor,
                         struct expression *ret) {
    const struct expression_names lookup = {find_or_add, names};
    const int status = expression_read(cursor, &lookup, names->arena, ret);
    if (status != CM_OK) return status;
    names->n_steps += ret->n;
    if (names->n_steps <= CUSTOM_OP_MOST_STEPS) return CM_OK;
    return expression_fault(cursor, "more than %d steps in one description",
                            CUSTOM_OP_MOST_STEPS);
}

static bool is_taken(const char *name, size_t length) {
    enum custom_op_kind kind = CUSTOM_OP_INPUT;
    size_t index = 0;
    return is_operand(name, length, &kind, &index) || expression_is_function(name, length);
}

int custom_op_add(struct custom_op_names *names, struct expression_cursor *cursor,
                  struct custom_op_name is) {
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    if (length == 0) return expression_fault(cursor, "want a name");
    if (is_taken(name, length)) return expression_fault(cursor, "the name has a meaning");
    if (custom_op_slot(names, name, length) != NOT_FOUND)
        return expression_fault(cursor, "the name is given twice");
    if (custom_op_n_own(names) == CUSTOM_OP_MOST_NAMES)
        return expression_fault(cursor, "more than %d names", CUSTOM_OP_MOST_NAMES);
    if (append(names, name, length, is) == NOT_FOUND) return diag_no_memory(cursor->diag);
    cursor->at += length;
    return CM_OK;
}
