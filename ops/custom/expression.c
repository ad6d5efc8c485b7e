/* SPDX-License-Identifier: Apache-2.0 */
/* See expression.h. Recursive descent, at most EXPRESSION_DEEPEST levels. */
#include "ops/custom/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

enum step_kind {
    STEP_NUMBER, /* pushes `value` */
    STEP_NAME,   /* pushes the value in slot `value` */
    STEP_ADD,    /* this and the following steps pop two values and push one */
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_DIVIDE_UP,
    STEP_MIN,
    STEP_MAX,
};

struct expression_step {
    enum step_kind kind;
    int64_t value;
};

struct reading {
    struct expression_cursor *cursor;
    const struct expression_names *names;
    size_t n;
    int depth;
    struct expression_step steps[EXPRESSION_MAX_STEPS];
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

static int add_step(struct reading *reading, enum step_kind kind, int64_t value) {
    if (reading->n == EXPRESSION_MAX_STEPS)
        return expression_fault(reading->cursor, "more than %d numbers, names and signs",
                                EXPRESSION_MAX_STEPS);
    reading->steps[reading->n++] = (struct expression_step){kind, value};
    return CM_OK;
}

static int read_sum(struct reading *reading);

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
    enum step_kind kind; /* step that combines the result so far with the next value */
    size_t min_arguments, max_arguments; /* number of values */
};

static const struct function functions[] = {
    {"min", STEP_MIN, 2, EXPRESSION_MAX_STEPS},
    {"max", STEP_MAX, 2, EXPRESSION_MAX_STEPS},
    {"ceildiv", STEP_DIVIDE_UP, 2, 2},
};

static const struct function *find_function(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return NULL;
}

bool expression_is_function(const char *name, size_t length) {
    return find_function(name, length) != NULL;
}

/* Reads the arguments after the opening parenthesis. */
static int read_arguments(struct reading *reading, const struct function *function) {
    size_t n = 0;
    do {
        if (n == function->max_arguments)
            return expression_fault(reading->cursor, "%s takes %zu values", function->name,
                                    function->max_arguments);
        int status = read_sum(reading);
        if (status == CM_OK && ++n > 1) status = add_step(reading, function->kind, 0);
        if (status != CM_OK) return status;
    } while (expression_take(reading->cursor, ","));
    if (n < function->min_arguments)
        return expression_fault(reading->cursor, "%s takes at least %zu values", function->name,
                                function->min_arguments);
    return expect_sign(reading, ")");
}

/* Reads a name or a function call. */
static int read_name(struct reading *reading, const char *name, size_t length) {
    const struct function *function = find_function(name, length);
    if (function) {
        reading->cursor->at += length;
        int status = enter(reading);
        if (status == CM_OK) status = expect_sign(reading, "(");
        if (status == CM_OK) status = read_arguments(reading, function);
        reading->depth--;
        return status;
    }
    const int slot = reading->names->find(reading->names->context, name, length);
    if (slot < 0)
        return expression_fault(reading->cursor, "undefined name '%.*s'",
                                (int)(length < AROUND ? length : AROUND), name);
    reading->cursor->at += length;
    return add_step(reading, STEP_NAME, slot);
}

static int read_factor(struct reading *reading) {
    struct expression_cursor *cursor = reading->cursor;
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    if (length > 0) return read_name(reading, name, length);
    if (text_is_digit(*cursor->at)) {
        size_t n = 0;
        int64_t value = 0;
        while (text_is_digit(cursor->at[n])) n++;
        if (!text_to_int64(cursor->at, n, &value))
            return expression_fault(cursor, "the number must be < 2^63");
        cursor->at += n;
        return add_step(reading, STEP_NUMBER, value);
    }
    const bool is_negative = expression_take(cursor, "-"); /* compiled as 0 - factor */
    if (!is_negative && !expression_take(cursor, "("))
        return expression_fault(cursor, "expected a number, a name or '('");
    int status = enter(reading);
    if (status == CM_OK && is_negative) status = add_step(reading, STEP_NUMBER, 0);
    if (status == CM_OK) status = is_negative ? read_factor(reading) : read_sum(reading);
    reading->depth--;
    if (status != CM_OK) return status;
    return is_negative ? add_step(reading, STEP_SUBTRACT, 0) : expect_sign(reading, ")");
}

static int read_product(struct reading *reading) {
    int status = read_factor(reading);
    while (status == CM_OK) {
        enum step_kind kind = STEP_MULTIPLY;
        if (expression_take(reading->cursor, "/"))
            kind = STEP_DIVIDE;
        else if (!expression_take(reading->cursor, "*"))
            break;
        status = read_factor(reading);
        if (status == CM_OK) status = add_step(reading, kind, 0);
    }
    return status;
}

static int read_sum(struct reading *reading) {
    int status = read_product(reading);
    while (status == CM_OK) {
        enum step_kind kind = STEP_ADD;
        if (expression_take(reading->cursor, "-"))
            kind = STEP_SUBTRACT;
        else if (!expression_take(reading->cursor, "+"))
            break;
        status = read_product(reading);
        if (status == CM_OK) status = add_step(reading, kind, 0);
    }
    return status;
}

int expression_read(struct expression_cursor *cursor, const struct expression_names *names,
                    struct arena *arena, struct expression *ret) {
    struct reading reading = {.cursor = cursor, .names = names};
    skip_blanks(cursor);
    const char *from = cursor->at;
    const int status = read_sum(&reading);
    if (status != CM_OK) return status;
    const struct expression expression = {
        .text = arena_strndup(arena, from, (size_t)(cursor->at - from)),
        .n = reading.n,
        .steps = arena_copy(arena, reading.steps, reading.n * sizeof(reading.steps[0])),
    };
    if (!expression.text || !expression.steps) return diag_no_memory(cursor->diag);
    *ret = expression;
    return CM_OK;
}

static int64_t apply(enum step_kind kind, int64_t a, int64_t b, bool *by_zero) {
    if (kind == STEP_ADD) return checked_add(a, b);
    if (kind == STEP_SUBTRACT) return checked_sub(a, b);
    if (kind == STEP_MULTIPLY) return checked_mul(a, b);
    if (kind == STEP_MIN || kind == STEP_MAX) {
        if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
        return (a < b) == (kind == STEP_MIN) ? a : b;
    }
    if (b != 0) return kind == STEP_DIVIDE ? checked_div_floor(a, b) : checked_div_ceil(a, b);
    *by_zero = true;
    return DIM_UNKNOWN;
}

int64_t expression_value(const struct expression *expression, const int64_t *values,
                         bool *by_zero) {
    int64_t stack[EXPRESSION_MAX_STEPS] = {DIM_UNKNOWN};
    size_t n = 0;
    for (size_t i = 0; i < expression->n; i++) {
        const struct expression_step *step = &expression->steps[i];
        if (step->kind == STEP_NUMBER || step->kind == STEP_NAME) {
            stack[n++] = step->kind == STEP_NAME ? values[step->value] : step->value;
            continue;
        }
        BUG_ON(n < 2); /* the compiler emits two values before each such step */
        n--;
        stack[n - 1] = apply(step->kind, stack[n - 1], stack[n], by_zero);
    }
    BUG_ON(n != 1);
    return stack[0];
}
