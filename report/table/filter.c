/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and evaluates conditions. Compares as integers if the figure and the value of the
 * condition are integers. */
#include "report/table/filter.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "report/names.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/suggest.h"
#include "support/text.h"

int filter_find_field(const char *key, size_t length, enum rows rows, struct arena *arena,
                      struct cm_diagnostics *diag, struct field *ret) {
    struct suggestion suggestion;
    struct field field;
    struct text known = {.arena = arena};
    for (size_t i = 0; field_at(rows, i, arena, &field); i++)
        if (names_match(field.key, key, length)) {
            *ret = field;
            return CM_OK;
        }
    suggest_init(&suggestion, key, length);
    for (size_t i = 0; field_at(rows, i, arena, &field); i++) {
        suggest_offer(&suggestion, field.key);
        text_printf(&known, "%s%s", i > 0 ? ", " : "", field.key);
    }
    if (field.key == NULL || known.failed) return diag_no_memory(diag);
    const char *best = suggestion.best;
    const int status = diag_error(
        diag, DIAG_USAGE, "%s have no column '%.*s'%s%s%s", rows_names[rows], (int)length, key,
        best ? ", did you mean '" : "", best ? best : "", best ? "'?" : "");
    diag_hint(diag, "columns of %s: %s", rows_names[rows], text_string(&known));
    return status;
}

/* Longer signs precede their prefixes. */
static const struct {
    const char *sign;
    struct comparison comparison;
} signs[] = {
    {">=", {false, true, true}}, {"<=", {true, true, false}}, {"!=", {true, false, true}},
    {"=", {false, true, false}}, {"<", {true, false, false}}, {">", {false, false, true}},
};

/* Returns true for = and !=. */
static bool is_equation(struct comparison comparison) {
    return comparison.if_less == comparison.if_more;
}

/* A suffix of a number. `times` lists those of times, `prefixes` those of all other figures. */
struct suffix {
    const char *name;
    int64_t factor; /* for a time: picoseconds per unit */
};

static const struct suffix prefixes[] = {
    {"", 1},
    {"k", 1000},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", 1000000000000},
    {"P", 1000000000000000},
    {"E", 1000000000000000000},
    {"Ki", INT64_C(1) << 10},
    {"Mi", INT64_C(1) << 20},
    {"Gi", INT64_C(1) << 30},
    {"Ti", INT64_C(1) << 40},
    {"Pi", INT64_C(1) << 50},
    {"Ei", INT64_C(1) << 60},
    {NULL, 0},
};

static const struct suffix times[] = {
    {"", 1},         {"ps", 1},          {"ns", 1000},
    {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000},
    {NULL, 0},
};

static enum number_unit unit_of(const struct field *field) {
    return field->column != NULL ? field->column->unit : field->unit;
}

/* Sets *ret to the factor of a suffix; returns false if it is invalid. Only bytes have the unit
 * B: in other figures, 7B may mean 7 or 7 billion. */
static bool suffix_factor(const struct field *field, const char *suffix, int64_t *ret) {
    const enum number_unit unit = unit_of(field);
    size_t length = strlen(suffix);
    if (unit == NUMBER_BYTES && length > 0 && suffix[length - 1] == 'B') length--;
    const struct suffix *row = unit == NUMBER_TIME ? times : prefixes;
    while (row->name != NULL &&
           (strlen(row->name) != length || memcmp(row->name, suffix, length) != 0))
        row++;
    *ret = row->factor;
    return row->name != NULL;
}

/* Reads "1.5M", "16MiB" or "2%"; returns false if `text` is not a number. */
static bool read_number(const char *text, struct arena *arena, struct filter *ret) {
    const size_t length = strspn(text, "0123456789.");
    const char *digits = arena_strndup(arena, text, length);
    const char *suffix = text + length;
    double real = 0;
    int64_t factor = 1;
    if (digits == NULL || length == 0 || !text_to_real(digits, &real)) return false;
    if (ret->field.is_share && text_equal(suffix, "%")) {
        ret->real = real / 100;
        return true;
    }
    if (!suffix_factor(&ret->field, suffix, &factor)) return false;
    ret->real = real * (double)factor;
    if (!text_to_int64(digits, length, &ret->integer)) return true;
    ret->integer = checked_mul(ret->integer, factor);
    ret->is_exact = is_known(ret->integer);
    return true;
}

static int read_value(const char *text, const char *value, struct arena *arena,
                      struct cm_diagnostics *diag, struct filter *ret) {
    if (ret->field.is_text && !is_equation(ret->comparison))
        return diag_error(diag, DIAG_USAGE, "filter '%s': texts support only = and !=", text);
    if (ret->field.is_text) {
        ret->pattern = value;
        return CM_OK;
    }
    ret->is_unknown = text_equal(value, "?");
    if (ret->is_unknown && is_equation(ret->comparison)) return CM_OK;
    if (!ret->is_unknown && read_number(value, arena, ret)) return CM_OK;
    const enum number_unit unit = unit_of(&ret->field);
    return diag_error(diag, DIAG_USAGE,
                      "filter '%s': the value must be a number like %s, got '%s'", text,
                      ret->field.is_share    ? "0.02 or 2%"
                      : unit == NUMBER_TIME  ? "100 or 10us"
                      : unit == NUMBER_BYTES ? "100, 1.5M or 16MiB"
                                             : "100 or 1.5M",
                      value);
}

int filter_parse(const char *text, enum rows rows, struct arena *arena,
                 struct cm_diagnostics *diag, struct filter *ret) {
    const size_t length = strcspn(text, "=!<>");
    const char *sign = text + length;
    size_t i = 0;
    while (i < sizeof(signs) / sizeof(signs[0]) && !text_starts_with(sign, signs[i].sign)) i++;
    if (length == 0 || i == sizeof(signs) / sizeof(signs[0]))
        return diag_error(diag, DIAG_USAGE,
                          "filter must be COLUMN, one of = != < <= > >=, and a value, got '%s'",
                          text);
    *ret = (struct filter){.comparison = signs[i].comparison};
    const int status = filter_find_field(text, length, rows, arena, diag, &ret->field);
    if (status != CM_OK) return status;
    return read_value(text, sign + strlen(signs[i].sign), arena, diag, ret);
}

static bool order_holds(struct comparison comparison, int order) {
    return order < 0    ? comparison.if_less
           : order == 0 ? comparison.if_equal
                        : comparison.if_more;
}

bool filter_holds(const struct filter *filter, const struct cell *cell) {
    const struct comparison comparison = filter->comparison;
    if (cell->kind == CELL_TEXT)
        return glob_matches(filter->pattern, text_string(cell->words)) == comparison.if_equal;
    if (!cell_is_known(cell) || filter->is_unknown) { /* only "?" is equal to "?" */
        const bool is_equal = !cell_is_known(cell) && filter->is_unknown;
        return is_equation(comparison) && comparison.if_equal == is_equal;
    }
    if (filter->is_exact && cell->kind != CELL_SHARE && cell->kind != CELL_REAL)
        return order_holds(comparison,
                           (cell->value > filter->integer) - (cell->value < filter->integer));
    const double value = cell_real(cell);
    return order_holds(comparison, (value > filter->real) - (value < filter->real));
}
