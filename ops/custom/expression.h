/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-number formulas over named sizes, as people write them into a file:
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/") factor }
 *     factor  = number | name | "-" factor | "(" sum ")" | function "(" sum { "," sum } ")"
 * "/" rounds down; functions are min, max and ceildiv. A name is letters, digits and "_",
 * perhaps with a number in brackets: "strides[0]". Read once into steps of a stack machine, so
 * that evaluating neither recurses nor allocates.
 */
#ifndef OPS_CUSTOM_EXPRESSION_H
#define OPS_CUSTOM_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_diagnostics;

#define EXPRESSION_LONGEST    1000 /* bytes */
#define EXPRESSION_MOST_STEPS 256
#define EXPRESSION_DEEPEST    32 /* parentheses, calls and signs around each other */

/* Where the next word of a text is. */
struct expression_cursor {
    const char *text; /* at most EXPRESSION_LONGEST bytes */
    const char *at;
    const char *place; /* of the text in its file, for messages: "operators[0].macs" */
    struct cm_diagnostics *diag;
};

/* Which names there are. */
struct expression_names {
    /* The slot that holds the value of the name; -1: there is none of that name. */
    int (*find)(void *context, const char *name, size_t length);
    void *context;
};

struct expression_step;

struct expression {
    const char *text; /* as it was written; in the arena */
    size_t n;
    const struct expression_step *steps;
};

/* CM_OK, or CM_REFUSED with a message: the text is too long. */
int expression_begin(const char *text, const char *place, struct cm_diagnostics *diag,
                     struct expression_cursor *ret) __attribute__((warn_unused_result));
/* Whether `sign` comes next, which is then taken. */
bool expression_take(struct expression_cursor *cursor, const char *sign);
/* The name that comes next, *ret_length bytes of it, which is not taken; 0: none does. */
const char *expression_peek_name(struct expression_cursor *cursor, size_t *ret_length);
/* Whether it is "min", "max" or "ceildiv". */
bool expression_is_function(const char *name, size_t length);
/* Nothing is left but blanks. */
bool expression_at_end(struct expression_cursor *cursor);
/* CM_REFUSED, with the place, the column and the text around what is said. */
int expression_fault(const struct expression_cursor *cursor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A sum, as far as it goes: what follows is left to the caller. CM_OK, CM_REFUSED (told),
 * CM_NO_MEMORY. */
int expression_read(struct expression_cursor *cursor, const struct expression_names *names,
                    struct arena *arena, struct expression *ret)
    __attribute__((warn_unused_result));

/*
 * Over the values by slot: DIM_UNKNOWN and DIM_OVERFLOW pass, as in support/checked.h. *by_zero
 * is set, and never cleared, where something is divided by 0; the value is then DIM_UNKNOWN.
 */
int64_t expression_value(const struct expression *expression, const int64_t *values,
                         bool *by_zero);

#endif
