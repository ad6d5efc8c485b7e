/* SPDX-License-Identifier: Apache-2.0 */
/* See toml.h. tests/support/test_toml compares it with tomllib of Python. */
#include "support/toml.h"

#include <stdio.h>
#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

struct reader {
    const char *start;
    const char *at; /* the text ends in NUL, which is nowhere else in it */
    const char *name;
    struct arena *arena;
    struct cm_diagnostics *diag;
    const char *counted; /* the place of `line` and `column` */
    size_t line;
    size_t column;
    size_t n_values;
    int depth;
};

/* Returns "FILE:LINE:COLUMN"; columns are characters. Counts on from the last place. */
static const char *locate(struct reader *reader, const char *at) {
    if (at < reader->counted) {
        reader->counted = reader->start;
        reader->line = reader->column = 1;
    }
    for (; reader->counted < at; reader->counted++) {
        const bool ends = *reader->counted == '\n';
        const bool begins = ((unsigned char)*reader->counted & 0xC0U) != 0x80U;
        reader->column = ends ? 1 : reader->column + begins;
        reader->line += ends;
    }
    return arena_printf(reader->arena, "%s:%zu:%zu", text_label(reader->arena, reader->name),
                        reader->line, reader->column);
}

static int toml_fault(struct reader *reader, const char *at, const char *what) {
    const char *place = locate(reader, at);
    if (place == NULL) return diag_no_memory(reader->diag);
    return diag_error(reader->diag, DIAG_FORMAT, "%s: %s", place, what);
}

static void skip_blanks(struct reader *reader) {
    reader->at += strspn(reader->at, " \t");
}

/* Skips blanks and a comment, then a newline if there is one. */
static int skip_rest(struct reader *reader) {
    skip_blanks(reader);
    if (*reader->at == '#')
        while (*reader->at == '\t' || ((unsigned char)*reader->at >= ' ' && *reader->at != 127))
            reader->at++;
    if (reader->at[0] == '\r' && reader->at[1] == '\n') reader->at++;
    if (*reader->at == '\n') {
        reader->at++;
        return CM_OK;
    }
    const bool is_control = (unsigned char)*reader->at < ' ' && *reader->at != '\0';
    return is_control || *reader->at == 127
               ? toml_fault(reader, reader->at, "control characters are not allowed")
               : CM_OK;
}

/* Skips blanks, newlines and comments. */
static int skip_lines(struct reader *reader) {
    const char *before = NULL;
    while (before != reader->at) {
        before = reader->at;
        const int status = skip_rest(reader);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int end_line(struct reader *reader) {
    const char *before = reader->at;
    const int status = skip_rest(reader);
    if (status < 0 || *reader->at == '\0') return status;
    if (reader->at > before && reader->at[-1] == '\n') return CM_OK;
    return toml_fault(reader, reader->at, "expected the end of the line");
}

/* Reads "..." with escapes, or '...' without. */
static int read_string(struct reader *reader, const char **ret) {
    static const char letters[] = "btnfr\"\\";
    static const char meant[] = "\b\t\n\f\r\"\\";
    const char quote = *reader->at;
    struct text text = {.arena = reader->arena};
    if (reader->at[1] == quote && reader->at[2] == quote)
        return toml_fault(reader, reader->at, "strings of several lines are not supported");
    for (reader->at++; *reader->at != quote; reader->at++) {
        const char c = *reader->at;
        if (((unsigned char)c < ' ' && c != '\t') || c == 127)
            return toml_fault(reader, reader->at, "expected the closing quote of the string");
        if (c != '\\' || quote == '\'') {
            text_append_n(&text, &c, 1);
            continue;
        }
        const char escape = *++reader->at;
        const char *letter = escape == '\0' ? NULL : strchr(letters, escape);
        if (letter == NULL)
            return toml_fault(reader, reader->at - 1,
                              "only the escapes \\b \\t \\n \\f \\r \\\" \\\\ are supported");
        text_append_n(&text, &meant[letter - letters], 1);
    }
    reader->at++;
    *ret = text_string(&text);
    return text.failed ? diag_no_memory(reader->diag) : CM_OK;
}

static bool is_bare(char c) {
    return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
}

static int read_key(struct reader *reader, const char **ret) {
    const char *start = reader->at;
    if (*start == '"' || *start == '\'') {
        const int status = read_string(reader, ret);
        if (status < 0) return status;
    } else {
        while (is_bare(*reader->at)) reader->at++;
        if (reader->at == start) return toml_fault(reader, start, "expected a key");
        *ret = arena_strndup(reader->arena, start, (size_t)(reader->at - start));
        if (*ret == NULL) return diag_no_memory(reader->diag);
    }
    skip_blanks(reader);
    return *reader->at == '.' ? toml_fault(reader, reader->at, "dotted keys are not supported")
                              : CM_OK;
}

/* Makes a value and appends it to its parent (NULL: the root). */
static struct toml_value *add_value(struct reader *reader, struct toml_value *parent,
                                    const char *key, const char *at, int *ret_status) {
    struct toml_value *value = arena_alloc(reader->arena, sizeof(*value));
    const char *place = locate(reader, at);
    if (value == NULL || place == NULL) {
        *ret_status = diag_no_memory(reader->diag);
        return NULL;
    }
    *ret_status = CM_OK;
    if (parent != NULL && key != NULL && toml_get(parent, key) != NULL)
        *ret_status = toml_fault(reader, at, "this key is defined twice");
    else if (++reader->n_values > TOML_MAX_VALUES)
        *ret_status = toml_fault(reader, at, "too many values");
    if (*ret_status < 0) return NULL;
    *value = (struct toml_value){.kind = TOML_TABLE, .key = key, .at = place};
    if (parent != NULL) {
        struct toml_value **end = &parent->first;
        while (*end != NULL) end = &(*end)->next;
        *end = value;
    }
    return value;
}

static bool is_date(const char *text, size_t length) {
    static const int n_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    if (length != 10 || text[4] != '-' || text[7] != '-') return false;
    for (size_t i = 0; i < length; i++)
        if (i != 4 && i != 7 && !text_is_digit(text[i])) return false;
    if (!text_to_int64(text, 4, &year) || !text_to_int64(text + 5, 2, &month) ||
        !text_to_int64(text + 8, 2, &day) || year < 1 || month < 1 || month > 12)
        return false;
    const bool leaps = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= n_days[month - 1] + leaps;
}

/* Reads a boolean, an integer or a date. */
static int read_word(struct reader *reader, struct toml_value *ret) {
    const char *start = reader->at;
    while (is_bare(*reader->at) || strchr("+.:", *reader->at) != NULL) {
        if (*reader->at == '\0') break;
        reader->at++;
    }
    const size_t length = (size_t)(reader->at - start);
    struct text digits = {.arena = reader->arena};
    ret->text = arena_strndup(reader->arena, start, length);
    if (ret->text == NULL) return diag_no_memory(reader->diag);
    ret->kind = TOML_BOOL;
    ret->flag = text_equal(ret->text, "true");
    if (ret->flag || text_equal(ret->text, "false")) return CM_OK;
    ret->kind = TOML_DATE;
    if (is_date(ret->text, length))
        return reader->at[0] == ' ' && text_is_digit(reader->at[1])
                   ? toml_fault(reader, reader->at, "times are not supported, only dates")
                   : CM_OK;
    ret->kind = TOML_INTEGER;
    const char *first = start + (*start == '+' || *start == '-');
    for (const char *c = first; c < reader->at; c++) {
        const bool joins = c > first && c + 1 < reader->at && c[-1] != '_' && c[1] != '_';
        if (*c == '_' && joins) continue;
        if (!text_is_digit(*c))
            return toml_fault(
                reader, start,
                length == 0 ? "expected a value"
                : text_is_digit(*first)
                    ? "not a decimal integer or a date; floats, times and other bases are not "
                      "supported"
                    : "expected a value: a string needs quotes, floats are not supported");
        text_append_n(&digits, c, 1);
    }
    if (digits.length > 1 && *first == '0')
        return toml_fault(reader, start, "an integer does not begin with 0");
    const char *value =
        arena_printf(reader->arena, "%s%s", *start == '-' ? "-" : "", text_string(&digits));
    if (value == NULL || digits.failed) return diag_no_memory(reader->diag);
    if (!text_to_int64(value, strlen(value), &ret->integer))
        return toml_fault(reader, start,
                          length == 0 ? "expected a value" : "not an integer of 64 bits");
    ret->text = arena_printf(reader->arena, "%lld", (long long)ret->integer);
    return ret->text == NULL ? diag_no_memory(reader->diag) : CM_OK;
}

static int read_value(struct reader *reader, struct toml_value *ret);

/* Reads `key = value` into the table. */
static int read_member(struct reader *reader, struct toml_value *table) {
    const char *key = NULL;
    const char *start = reader->at;
    int status = read_key(reader, &key);
    if (status < 0) return status;
    if (*reader->at != '=') return toml_fault(reader, reader->at, "expected '=' after the key");
    reader->at++;
    skip_blanks(reader);
    struct toml_value *value = add_value(reader, table, key, start, &status);
    return value == NULL ? status : read_value(reader, value);
}

/* Reads the elements of an array, or the members of an inline table, which has one line and no
 * comma at the end. */
static int read_list(struct reader *reader, struct toml_value *ret, char close) {
    const bool is_array = close == ']';
    bool after_value = false;
    for (reader->at++;;) {
        int status = CM_OK;
        if (is_array)
            status = skip_lines(reader);
        else
            skip_blanks(reader);
        if (status < 0) return status;
        if (*reader->at == close && (is_array || after_value || ret->first == NULL)) break;
        if (after_value) {
            if (*reader->at != ',')
                return toml_fault(reader, reader->at,
                                  is_array ? "expected ',' or ']'" : "expected ',' or '}'");
            reader->at++;
            after_value = false;
            continue;
        }
        if (is_array) {
            struct toml_value *value = add_value(reader, ret, NULL, reader->at, &status);
            if (value != NULL) status = read_value(reader, value);
        } else {
            status = read_member(reader, ret);
        }
        if (status < 0) return status;
        after_value = true;
    }
    reader->at++;
    return CM_OK;
}

static int read_value(struct reader *reader, struct toml_value *ret) {
    const char c = *reader->at;
    if (c == '"' || c == '\'') {
        ret->kind = TOML_STRING;
        return read_string(reader, &ret->text);
    }
    if (c != '[' && c != '{') return read_word(reader, ret);
    if (reader->depth == TOML_MAX_DEPTH) return toml_fault(reader, reader->at, "too deep");
    ret->kind = c == '[' ? TOML_ARRAY : TOML_TABLE;
    reader->depth++;
    const int status = read_list(reader, ret, c == '[' ? ']' : '}');
    reader->depth--;
    return status;
}

/* Reads [key] or [[key]]; sets *ret to the table that the next lines belong to. */
static int read_header(struct reader *reader, struct toml_value *root,
                       struct toml_value **ret) {
    const bool is_array = reader->at[1] == '[';
    const char *key = NULL;
    const char *start = reader->at;
    reader->at += is_array ? 2 : 1;
    skip_blanks(reader);
    int status = read_key(reader, &key);
    if (status < 0) return status;
    if (*reader->at != ']' || (is_array && reader->at[1] != ']'))
        return toml_fault(reader, reader->at, is_array ? "expected ']]'" : "expected ']'");
    reader->at += is_array ? 2 : 1;
    struct toml_value *list = toml_get(root, key);
    if (!is_array || list == NULL || list->kind != TOML_TABLES)
        list = add_value(reader, root, key, start, &status);
    if (list != NULL && is_array) {
        list->kind = TOML_TABLES;
        list = add_value(reader, list, NULL, start, &status);
    }
    *ret = list;
    return list == NULL ? status : end_line(reader);
}

int toml_parse(const char *text, size_t size, const char *name, struct arena *arena,
               struct cm_diagnostics *diag, const struct toml_value **ret) {
    struct reader reader = {text, text, name, arena, diag, text, 1, 1, 0, 0};
    int status = CM_OK;
    if (!text_is_utf8(text, size)) return toml_fault(&reader, text, "not UTF-8 text");
    struct toml_value *root = add_value(&reader, NULL, NULL, text, &status);
    struct toml_value *table = root;
    while (status == CM_OK) {
        status = skip_lines(&reader);
        if (status < 0 || *reader.at == '\0') break;
        if (*reader.at == '[') {
            status = read_header(&reader, root, &table);
        } else {
            status = read_member(&reader, table);
            if (status == CM_OK) status = end_line(&reader);
        }
    }
    *ret = root;
    return status;
}

struct toml_value *toml_get(const struct toml_value *table, const char *key) {
    struct toml_value *value = table->first;
    while (value != NULL && !text_equal(value->key, key)) value = value->next;
    return value;
}
