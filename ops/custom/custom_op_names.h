/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a description while it is read: each must be known before it is used. */
#ifndef OPS_CUSTOM_CUSTOM_OP_NAMES_H
#define OPS_CUSTOM_CUSTOM_OP_NAMES_H

#include "ops/custom/custom_op.h"

struct custom_op_names {
    struct arena *arena;
    size_t most_inputs;  /* "in0" up to this may be used */
    size_t most_outputs; /* "out0" likewise: 0 before the outputs were read */
    bool failed;         /* memory was short */
    size_t n_steps;      /* of the expressions so far */
    size_t n;
    size_t n_operands; /* of these: elements of operands, added when they are first used */
    struct custom_op_name items[CUSTOM_OP_MOST_NAMES + 2 * CUSTOM_OP_MOST_ITEMS];
};

/* The slot of the name; -1: there is none of that name. */
int custom_op_slot(const struct custom_op_names *names, const char *name, size_t length);

/* Names of the description, elements of its operands aside. */
static inline size_t custom_op_n_own(const struct custom_op_names *names) {
    return names->n - names->n_operands;
}

/* Adds the name that the cursor is at, and takes it; its slot is the last. CM_OK, CM_REFUSED
 * (told: it is no name, or one that has a meaning), CM_NO_MEMORY. */
int custom_op_add(struct custom_op_names *names, struct expression_cursor *cursor,
                  struct custom_op_name is) CM_MUST_CHECK;

/* A sum over these names: see expression_read. */
int custom_op_expression(struct custom_op_names *names, struct expression_cursor *cursor,
                         struct expression *ret) CM_MUST_CHECK;

/*
 * dims = [ dim { "," dim } ], dim = "..." | "?" | sum, up to the end. `binds`: of an input,
 * where a name that stands alone is what the dim is called. CM_OK, CM_REFUSED (told),
 * CM_NO_MEMORY.
 */
int custom_op_dims(struct custom_op_names *names, struct expression_cursor *cursor, bool binds,
                   struct custom_op_dims *ret) CM_MUST_CHECK;

#endif
