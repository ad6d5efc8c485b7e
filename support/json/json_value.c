/* SPDX-License-Identifier: Apache-2.0 */
/* Parses with cJSON, which converts every number to a double and so loses integers past 2^53.
 * Therefore each number of the text is first replaced by a string that begins with the byte
 * 0xFF: {"a": 12} becomes {"a": "\xFF12"}. The byte 0xFF is not UTF-8 and no escape of JSON
 * produces it, so no string of the file can be mistaken for a number. */
#include "support/json/json_value.h"

#include <errno.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#define MARK       '\xFF'
#define MARK_EXTRA 3 /* two quotes and the mark */

/* TOKEN_OTHER: one byte that is part of neither a string nor a number; cJSON checks it. */
enum token { TOKEN_STRING, TOKEN_NUMBER, TOKEN_OTHER, TOKEN_INVALID };

static size_t count_digits(const char *at, const char *end) {
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return (size_t)(at - start);
}

/* Returns the length of a number (RFC 8259, section 6: [-] int [frac] [exp]); 0 if invalid. */
static size_t number_length(const char *start, const char *end) {
    const char *at = start;
    if (at < end && *at == '-') at++;
    size_t n = count_digits(at, end);
    if (n == 0 || (n > 1 && *at == '0')) return 0;
    at += n;
    if (at < end && *at == '.') {
        n = count_digits(++at, end);
        if (n == 0) return 0;
        at += n;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        n = count_digits(at, end);
        if (n == 0) return 0;
        at += n;
    }
    return (size_t)(at - start);
}

/* Returns the length of a string (RFC 8259, section 7), quotes included; 0 if it is invalid or
 * has \u0000, which would end the text. */
static size_t string_length(const char *start, const char *end) {
    const char *at = start + 1;
    for (; at < end && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return 0;
        if (*at != '\\') continue;
        if (end - at > 5 && memcmp(at + 1, "u0000", 5) == 0) return 0;
        at++;
    }
    return at < end ? (size_t)(at + 1 - start) : 0;
}

static enum token next_token(const char *at, const char *end, size_t *ret_length) {
    enum token token = TOKEN_OTHER;
    *ret_length = 1;
    if (*at == '"') {
        token = TOKEN_STRING;
        *ret_length = string_length(at, end);
    } else if ((*at >= '0' && *at <= '9') || *at == '-') {
        token = TOKEN_NUMBER;
        *ret_length = number_length(at, end);
        /* A number before a colon is a key, as in {1: 2}, which is not JSON but would be
         * accepted once the number is a string. */
        const char *after = at + *ret_length;
        while (after < end && strchr(" \t\r\n", *after) != NULL) after++;
        if (after < end && *after == ':') return TOKEN_INVALID;
    }
    return *ret_length == 0 ? TOKEN_INVALID : token;
}

/* Returns the 1-based line of `at`. */
static size_t line_number(const char *text, const char *at) {
    size_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* Sets *ret to a NUL-terminated copy of the text with each number marked. */
static int mark_numbers(const char *text, size_t size, struct arena *arena,
                        struct cm_diagnostics *diag, char **ret, size_t *ret_size) {
    const char *end = text + size;
    size_t n = 0;
    size_t n_values = 1; /* upper bound: 1 + number of ',', '[' and '{' */
    size_t length = 0;
    if (!text_is_utf8(text, size)) return diag_error(diag, DIAG_FORMAT, "not UTF-8 text");
    for (const char *at = text; at < end; at += length) {
        const enum token token = next_token(at, end, &length);
        if (token == TOKEN_INVALID)
            return diag_error(diag, DIAG_FORMAT, "not JSON: invalid %s in line %zu",
                              *at == '"' ? "string" : "number", line_number(text, at));
        n += token == TOKEN_NUMBER;
        n_values += token == TOKEN_OTHER && (*at == ',' || *at == '[' || *at == '{');
        if (n_values > JSON_MAX_VALUES)
            return diag_error(diag, DIAG_LIMIT,
                              "at most %zu JSON values are read, line %zu has more",
                              JSON_MAX_VALUES, line_number(text, at));
    }
    if (n > (SIZE_MAX - size - 1) / MARK_EXTRA) return diag_no_memory(diag);
    char *to = arena_alloc(arena, size + n * MARK_EXTRA + 1);
    if (to == NULL) return diag_no_memory(diag);
    *ret = to;
    for (const char *at = text; at < end; at += length) {
        const bool is_number = next_token(at, end, &length) == TOKEN_NUMBER;
        if (is_number) *to++ = '"';
        if (is_number) *to++ = MARK;
        memcpy(to, at, length);
        to += length;
        if (is_number) *to++ = '"';
    }
    *ret_size = (size_t)(to - *ret);
    return CM_OK;
}

int json_parse(const char *text, size_t size, struct cm_diagnostics *diag,
               struct json_value **ret) {
    struct arena *arena = arena_new("json text", 0);
    char *marked = NULL;
    size_t marked_size = 0;
    if (arena == NULL) return diag_no_memory(diag);
    int status = mark_numbers(text, size, arena, diag, &marked, &marked_size);
    if (status == CM_OK) {
        const char *end = marked;
        errno =
            0; /* cJSON reports out of memory as a syntax error; malloc sets ENOMEM (POSIX) */
        cJSON *root = cJSON_ParseWithLengthOpts(marked, marked_size + 1, &end, true);
        if (root != NULL)
            *ret = (struct json_value *)root;
        else if (errno == ENOMEM)
            status = diag_no_memory(diag);
        else
            status = diag_error(diag, DIAG_FORMAT, "not JSON: syntax error in line %zu",
                                line_number(marked, end));
    }
    arena_free(arena);
    return status;
}

void json_free(struct json_value *root) {
    cJSON_Delete((cJSON *)root);
}

static const cJSON *node_of(const struct json_value *value) {
    return (const cJSON *)value;
}

static const struct json_value *value_of(const cJSON *node) {
    return (const struct json_value *)node;
}

bool json_is_null(const struct json_value *value) {
    return value == NULL || cJSON_IsNull(node_of(value));
}

bool json_is_array(const struct json_value *value) {
    return cJSON_IsArray(node_of(value));
}

bool json_is_object(const struct json_value *value) {
    return cJSON_IsObject(node_of(value));
}

bool json_to_bool(const struct json_value *value, bool *ret) {
    if (!cJSON_IsBool(node_of(value))) return false;
    *ret = cJSON_IsTrue(node_of(value));
    return true;
}

bool json_to_int64(const struct json_value *value, int64_t *ret) {
    const char *digits = json_digits(value);
    int64_t integer = 0;
    if (digits == NULL || !text_to_int64(digits, strlen(digits), &integer)) return false;
    if (!is_known(integer)) return false;
    *ret = integer;
    return true;
}

bool json_to_double(const struct json_value *value, double *ret) {
    const char *digits = json_digits(value);
    return digits != NULL && text_to_real(digits, ret);
}

const char *json_digits(const struct json_value *value) {
    const cJSON *node = node_of(value);
    return cJSON_IsString(node) && node->valuestring[0] == MARK ? node->valuestring + 1 : NULL;
}

const char *json_string(const struct json_value *value) {
    const cJSON *node = node_of(value);
    return cJSON_IsString(node) && node->valuestring[0] != MARK ? node->valuestring : NULL;
}

const char *json_describe(const struct json_value *value) {
    bool flag = false;
    if (json_digits(value) != NULL) return json_digits(value);
    if (json_string(value) != NULL) return "a string";
    if (json_is_array(value)) return "an array";
    if (json_is_object(value)) return "an object";
    return json_to_bool(value, &flag) ? "true or false" : "null";
}

size_t json_count(const struct json_value *value) {
    size_t n = 0;
    json_each(item, value) n++;
    return n;
}

const struct json_value *json_first(const struct json_value *value) {
    return value == NULL ? NULL : value_of(node_of(value)->child);
}

const struct json_value *json_next(const struct json_value *element) {
    return value_of(node_of(element)->next);
}

const char *json_key(const struct json_value *member) {
    return node_of(member)->string;
}

const struct json_value *json_get(const struct json_value *object, const char *key) {
    return value_of(cJSON_GetObjectItemCaseSensitive(node_of(object), key));
}

bool json_is_first_of_key(const struct json_value *object, const struct json_value *member) {
    return json_get(object, json_key(member)) == member;
}
