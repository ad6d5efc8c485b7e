/* SPDX-License-Identifier: Apache-2.0 */
/* The dims of an operand as a description writes them: "N, C, ..., 2 * W". */
#include "ops/custom/custom_op_names.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* A name, and behind it the end of the dim. Of the cursor nothing is taken. */
static bool is_name_alone(struct expression_cursor cursor, size_t *ret_length) {
    const char *name = expression_peek_name(&cursor, ret_length);
    cursor.at = name + *ret_length;
    return *ret_length > 0 && !expression_is_function(name, *ret_length) &&
           (expression_at_end(&cursor) || *cursor.at == ',');
}

/* One that is no dim, as an attribute, is compared like any expression. */
static int read_named(struct custom_op_names *names, struct expression_cursor *cursor,
                      struct custom_op_dim *ret) {
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    const int slot = custom_op_slot(names, name, length);
    ret->kind = DIM_NAMED;
    ret->slot = slot < 0 ? names->n : (size_t)slot;
    if (slot < 0)
        return custom_op_add(names, cursor, (struct custom_op_name){.kind = CUSTOM_OP_DIM});
    if (names->items[slot].kind == CUSTOM_OP_DIM) {
        cursor->at += length;
        return CM_OK;
    }
    ret->kind = DIM_COMPUTED;
    return custom_op_expression(names, cursor, &ret->is);
}

static int read_dim(struct custom_op_names *names, struct expression_cursor *cursor, bool binds,
                    struct custom_op_dim *ret) {
    size_t length = 0;
    *ret = (struct custom_op_dim){.kind = DIM_REST};
    if (expression_take(cursor, "...")) return CM_OK;
    ret->kind = DIM_ANY;
    if (expression_take(cursor, "?")) return CM_OK;
    if (binds && is_name_alone(*cursor, &length)) return read_named(names, cursor, ret);
    ret->kind = DIM_COMPUTED;
    return custom_op_expression(names, cursor, &ret->is);
}

/* The ',' that parts one dim from the next, if there is a next. */
static int read_comma(struct expression_cursor *cursor) {
    if (expression_at_end(cursor)) return CM_OK;
    if (!expression_take(cursor, ",")) return expression_fault(cursor, "want ','");
    return expression_at_end(cursor) ? expression_fault(cursor, "want a dim behind ','")
                                     : CM_OK;
}

static int read_next(struct custom_op_names *names, struct expression_cursor *cursor,
                     bool binds, struct custom_op_dim *items, struct custom_op_dims *dims) {
    if (dims->n == CUSTOM_OP_MOST_DIMS)
        return expression_fault(cursor, "more than %d dims", CUSTOM_OP_MOST_DIMS);
    struct custom_op_dim *dim = &items[dims->n++];
    const int status = read_dim(names, cursor, binds, dim);
    if (status != CM_OK) return status;
    if (dim->kind == DIM_REST && dims->has_rest)
        return expression_fault(cursor, "a second '...'");
    dims->has_rest = dims->has_rest || dim->kind == DIM_REST;
    return read_comma(cursor);
}

int custom_op_dims(struct custom_op_names *names, struct expression_cursor *cursor, bool binds,
                   struct custom_op_dims *ret) {
    struct custom_op_dim items[CUSTOM_OP_MOST_DIMS];
    struct custom_op_dims dims = {.text = arena_strdup(names->arena, cursor->text)};
    int status = dims.text ? CM_OK : diag_no_memory(cursor->diag);
    while (status == CM_OK && !expression_at_end(cursor))
        status = read_next(names, cursor, binds, items, &dims);
    if (status != CM_OK) return status;
    dims.items = arena_copy(names->arena, items, dims.n * sizeof(items[0]));
    if (!dims.items) return diag_no_memory(cursor->diag);
    *ret = dims;
    return CM_OK;
}
