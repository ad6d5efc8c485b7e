/* SPDX-License-Identifier: Apache-2.0 */
/* Integer expressions over named sizes, as users write them in a file:
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/") factor }
 *     factor  = number | name | "-" factor | "(" sum ")" | function "(" sum { "," sum } ")"
 * "/" rounds down; functions are min, max and ceildiv. A name is letters, digits and "_",
 * optionally with an index: "strides[0]". An expression is evaluated while it is read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cm_diagnostics;

#define EXPRESSION_LONGEST   1000 /* bytes */
#define EXPRESSION_MAX_STEPS 256
#define EXPRESSION_DEEPEST   32 /* levels of nested parentheses, calls and signs */

/* A position in a text. */
struct expression_cursor {
    const char *text; /* at most EXPRESSION_LONGEST bytes */
    const char *at;
    const char *place; /* key of the text in its file, for messages: "operators[0].macs" */
    struct cm_diagnostics *diag;
};

/* Resolves names. */
struct expression_names {
    /* Sets *ret to the value of the name; returns false if the name is not defined. */
    bool (*find)(void *context, const char *name, size_t length, int64_t *ret);
    void *context;
};

struct expression {
    const char *text; /* in the text of the cursor */
    int length;
    size_t n_steps; /* numbers, names, signs and calls */
    int64_t value;  /* DIM_UNKNOWN and DIM_OVERFLOW propagate as in support/checked.h */
    bool by_zero;   /* it divides by 0; the quotient is DIM_UNKNOWN */
};

/* Sets *ret to the start of the text. Returns CM_OK, or CM_REFUSED if the text is too long. */
int expression_begin(const char *text, const char *place, struct cm_diagnostics *diag,
                     struct expression_cursor *ret) __attribute__((warn_unused_result));
/* Skips `sign` if it comes next; returns false if it does not. */
bool expression_take(struct expression_cursor *cursor, const char *sign);
/* Returns the name that comes next without skipping it; *ret_length is 0 if there is none. */
const char *expression_peek_name(struct expression_cursor *cursor, size_t *ret_length);
/* Returns true for "min", "max" and "ceildiv". */
bool expression_is_function(const char *name, size_t length);
/* Returns true if only blanks are left. */
bool expression_at_end(struct expression_cursor *cursor);
/* Reports an error with the place, the column and the text around it; returns CM_REFUSED. */
int expression_fault(const struct expression_cursor *cursor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Evaluates a sum and leaves the cursor after it. Returns CM_OK or CM_REFUSED. */
int expression_read(struct expression_cursor *cursor, const struct expression_names *names,
                    struct expression *ret) __attribute__((warn_unused_result));
