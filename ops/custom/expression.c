/* SPDX-License-Identifier: Apache-2.0 */
/* See expression.h. Recursive descent, at most EXPRESSION_DEEPEST levels. */
#include "ops/custom/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

struct reading {
    struct expression_cursor *cursor;
    const struct expression_names *names;
    struct expression *ret;
    int depth;
};

int expression_begin(const char *text, const char *place, struct cm_diagnostics *diag,
                     struct expression_cursor *ret) {
    *ret = (struct expression_cursor){text, text, place, diag};
    if (strlen(text) <= EXPRESSION_LONGEST) return CM_OK;
    return diag_error(diag, DIAG_LIMIT, "%s must be at most %d bytes, got %zu", place,
                      EXPRESSION_LONGEST, strlen(text));
}

#define AROUND 24 /* bytes of the text that a message shows before and after the column */

int expression_fault(const struct expression_cursor *cursor, const char *format, ...) {
    char around[2 * AROUND + 1];
    char said[160];
    const size_t before = (size_t)(cursor->at - cursor->text);
    const size_t left = before < AROUND ? before : AROUND;
    const size_t behind = strlen(cursor->at);
    const size_t shown = left + (behind < AROUND ? behind : AROUND);
    for (size_t i = 0; i < shown; i++) {
        const char c = (cursor->at - left)[i];
        around[i] = c >= ' ' && c <= '~' ? c : '?'; /* unprintable */
    }
    around[shown] = '\0';
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof(said), format, args);
    va_end(args);
    return diag_error(cursor->diag, DIAG_FORMAT, "%s: column %zu of '%s%s%s': %s",
                      cursor->place, before + 1, left < before ? "..." : "", around,
                      behind > AROUND ? "..." : "", said);
}

static void skip_blanks(struct expression_cursor *cursor) {
    while (*cursor->at == ' ' || *cursor->at == '\t') cursor->at++;
}

bool expression_take(struct expression_cursor *cursor, const char *sign) {
    skip_blanks(cursor);
    if (!text_starts_with(cursor->at, sign)) return false;
    cursor->at += strlen(sign);
    return true;
}

bool expression_at_end(struct expression_cursor *cursor) {
    skip_blanks(cursor);
    return *cursor->at == '\0';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

const char *expression_peek_name(struct expression_cursor *cursor, size_t *ret_length) {
    size_t n = 0;
    skip_blanks(cursor);
    if (is_letter(cursor->at[0]))
        while (is_letter(cursor->at[n]) || text_is_digit(cursor->at[n])) n++;
    *ret_length = n;
    if (n == 0 || cursor->at[n] != '[') return cursor->at;
    size_t end = n + 1; /* of an index "[0]" */
    while (text_is_digit(cursor->at[end])) end++;
    if (end > n + 1 && cursor->at[end] == ']') *ret_length = end + 1;
    return cursor->at;
}

static int count_step(struct reading *reading) {
    if (reading->ret->n_steps++ < EXPRESSION_MAX_STEPS) return CM_OK;
    return expression_fault(reading->cursor, "more than %d numbers, names and signs",
                            EXPRESSION_MAX_STEPS);
}

enum operation { ADD = '+', SUBTRACT = '-', MULTIPLY = '*', DIVIDE = '/', DIVIDE_UP, MIN, MAX };

/* Sets *a to the result of the operation on *a and b. */
static int apply(struct reading *reading, enum operation operation, int64_t *a, int64_t b) {
    const bool is_known_pair = is_known(*a) && is_known(b);
    if (operation == ADD)
        checked_add_to(a, b);
    else if (operation == SUBTRACT)
        *a = checked_sub(*a, b);
    else if (operation == MULTIPLY)
        *a = checked_mul(*a, b);
    else if (operation == MIN || operation == MAX)
        *a = !is_known_pair ? checked_worse(*a, b) : (*a < b) == (operation == MIN) ? *a : b;
    else if (b == 0)
        *a = DIM_UNKNOWN;
    else
        *a = operation == DIVIDE ? checked_div_floor(*a, b) : checked_div_ceil(*a, b);
    if (b == 0 && (operation == DIVIDE || operation == DIVIDE_UP)) reading->ret->by_zero = true;
    return count_step(reading);
}

static int read_terms(struct reading *reading, const char *signs, int64_t *ret);
#define PRODUCTS "+-" /* the signs between the terms of a sum */
#define FACTORS  "*/"

/* Enters a level of the recursion; fails beyond EXPRESSION_DEEPEST levels. */
static int enter(struct reading *reading) {
    if (reading->depth++ < EXPRESSION_DEEPEST) return CM_OK;
    return expression_fault(reading->cursor, "nested deeper than %d", EXPRESSION_DEEPEST);
}

static int expect_sign(struct reading *reading, const char *sign) {
    if (expression_take(reading->cursor, sign)) return CM_OK;
    return expression_fault(reading->cursor, "expected '%s'", sign);
}

struct function {
    const char *name;
    enum operation operation; /* combines the result so far with the next value */
    size_t max_arguments;
};

static const struct function *find_function(const char *name, size_t length) {
    static const struct function functions[] = {
        {"min", MIN, EXPRESSION_MAX_STEPS},
        {"max", MAX, EXPRESSION_MAX_STEPS},
        {"ceildiv", DIVIDE_UP, 2},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return NULL;
}

bool expression_is_function(const char *name, size_t length) {
    return find_function(name, length) != NULL;
}

/* Reads the arguments after the opening parenthesis. */
static int read_arguments(struct reading *reading, const struct function *function,
                          int64_t *ret) {
    size_t n = 0;
    do {
        int64_t next = 0;
        if (n == function->max_arguments)
            return expression_fault(reading->cursor, "%s takes %zu values", function->name,
                                    function->max_arguments);
        int status = read_terms(reading, PRODUCTS, n == 0 ? ret : &next);
        if (status == CM_OK && ++n > 1) status = apply(reading, function->operation, ret, next);
        if (status != CM_OK) return status;
    } while (expression_take(reading->cursor, ","));
    if (n < 2)
        return expression_fault(reading->cursor, "%s takes at least 2 values", function->name);
    return expect_sign(reading, ")");
}

/* Reads a name or a function call. */
static int read_name(struct reading *reading, const char *name, size_t length, int64_t *ret) {
    const struct function *function = find_function(name, length);
    if (function) {
        reading->cursor->at += length;
        int status = enter(reading);
        if (status == CM_OK) status = expect_sign(reading, "(");
        if (status == CM_OK) status = read_arguments(reading, function, ret);
        reading->depth--;
        return status;
    }
    if (!reading->names->find(reading->names->context, name, length, ret))
        return expression_fault(reading->cursor, "undefined name '%.*s'",
                                (int)(length < AROUND ? length : AROUND), name);
    reading->cursor->at += length;
    return count_step(reading);
}

static int read_factor(struct reading *reading, int64_t *ret) {
    struct expression_cursor *cursor = reading->cursor;
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    if (length > 0) return read_name(reading, name, length, ret);
    if (text_is_digit(*cursor->at)) {
        size_t n = 0;
        while (text_is_digit(cursor->at[n])) n++;
        if (!text_to_int64(cursor->at, n, ret))
            return expression_fault(cursor, "the number must be < 2^63");
        cursor->at += n;
        return count_step(reading);
    }
    const bool is_negative = expression_take(cursor, "-"); /* 0 - factor */
    int64_t value = 0;
    if (!is_negative && !expression_take(cursor, "("))
        return expression_fault(cursor, "expected a number, a name or '('");
    int status = enter(reading);
    if (status == CM_OK && is_negative) status = count_step(reading);
    if (status == CM_OK)
        status =
            is_negative ? read_factor(reading, &value) : read_terms(reading, PRODUCTS, ret);
    reading->depth--;
    if (status != CM_OK) return status;
    *ret = is_negative ? 0 : *ret;
    return is_negative ? apply(reading, SUBTRACT, ret, value) : expect_sign(reading, ")");
}

/* Reads terms with these signs between them: a sum of products, a product of factors. */
static int read_terms(struct reading *reading, const char *signs, int64_t *ret) {
    const bool is_sum = signs[0] == ADD;
    enum operation operation = ADD;
    int64_t next = 0;
    int status = is_sum ? read_terms(reading, FACTORS, ret) : read_factor(reading, ret);
    while (status == CM_OK && !expression_at_end(reading->cursor) &&
           strchr(signs, *reading->cursor->at)) {
        operation = (enum operation) * reading->cursor->at++;
        status = is_sum ? read_terms(reading, FACTORS, &next) : read_factor(reading, &next);
        if (status == CM_OK) status = apply(reading, operation, ret, next);
    }
    return status;
}

int expression_read(struct expression_cursor *cursor, const struct expression_names *names,
                    struct expression *ret) {
    struct reading reading = {.cursor = cursor, .names = names, .ret = ret};
    skip_blanks(cursor);
    *ret = (struct expression){.text = cursor->at};
    const int status = read_terms(&reading, PRODUCTS, &ret->value);
    ret->length = (int)(cursor->at - ret->text);
    return status;
}
