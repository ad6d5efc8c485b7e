/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark is the byte 0xFF: it is in no UTF-8 text, and no escape of JSON makes it, so nothing
 * that a file holds can pose as a number.
 */
#include "report/json/json_numbers.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define MARK       '\xFF'
#define MARK_EXTRA 3 /* two quotes and the mark */

/* What stands at a place of the text. Anything that is neither is left to cJSON, bytewise. */
enum token { TOKEN_STRING, TOKEN_NUMBER, TOKEN_OTHER, TOKEN_BROKEN };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t count_digits(const char *at, const char *end) {
    const char *start = at;
    while (at < end && is_digit(*at)) at++;
    return (size_t)(at - start);
}

/* RFC 8259, section 6: [-] int [frac] [exp]; 0: no number. */
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

/* RFC 8259, section 7, quotes included; 0: it has no end, or a byte that needs an escape. */
static size_t string_length(const char *start, const char *end) {
    const char *at = start + 1;
    for (; at < end && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return 0;
        if (*at != '\\') continue;
        if (end - at > 5 && memcmp(at + 1, "u0000", 5) == 0) return 0; /* would end the text */
        at++;
    }
    return at < end ? (size_t)(at + 1 - start) : 0;
}

/* {1: 2} is no JSON, but would be once its number is a string. */
static bool is_key(const char *after, const char *end) {
    while (after < end && (*after == ' ' || *after == '\t' || *after == '\r' || *after == '\n'))
        after++;
    return after < end && *after == ':';
}

static enum token next_token(const char *at, const char *end, size_t *ret_length) {
    enum token token = TOKEN_OTHER;
    *ret_length = 1;
    if (*at == '"') {
        token = TOKEN_STRING;
        *ret_length = string_length(at, end);
    } else if (is_digit(*at) || *at == '-') {
        token = TOKEN_NUMBER;
        *ret_length = number_length(at, end);
        if (is_key(at + *ret_length, end)) return TOKEN_BROKEN;
    }
    return *ret_length == 0 ? TOKEN_BROKEN : token;
}

size_t line_number(const char *text, const char *at) {
    size_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

static int count_numbers(const char *text, size_t size, struct cm_diagnostics *diag,
                         size_t *ret_n) {
    const char *end = text + size;
    size_t n = 0;
    size_t length = 0;
    for (const char *at = text; at < end; at += length) {
        enum token token = next_token(at, end, &length);
        if (token == TOKEN_BROKEN)
            return diag_error(diag, DIAG_FORMAT, "not JSON: a broken %s in line %zu",
                              *at == '"' ? "string" : "number", line_number(text, at));
        n += token == TOKEN_NUMBER;
    }
    *ret_n = n;
    return CM_OK;
}

/* Copies the text with each number marked; where the copy ends. */
static char *copy_marked(char *to, const char *text, size_t size) {
    const char *end = text + size;
    size_t length = 0;
    for (const char *at = text; at < end; at += length) {
        bool number = next_token(at, end, &length) == TOKEN_NUMBER;
        if (number) *to++ = '"';
        if (number) *to++ = MARK;
        memcpy(to, at, length);
        to += length;
        if (number) *to++ = '"';
    }
    return to;
}

int numbers_mark(const char *text, size_t size, struct arena *arena,
                 struct cm_diagnostics *diag, char **ret_text, size_t *ret_size) {
    size_t n = 0;
    if (!text_is_utf8(text, size)) return diag_error(diag, DIAG_FORMAT, "not UTF-8 text");
    int status = count_numbers(text, size, diag, &n);
    if (status != CM_OK) return status;
    if (n > (SIZE_MAX - size - 1) / MARK_EXTRA) return diag_no_memory(diag);
    char *marked = arena_alloc(arena, size + n * MARK_EXTRA + 1);
    if (marked == NULL) return diag_no_memory(diag);
    *ret_size = (size_t)(copy_marked(marked, text, size) - marked);
    *ret_text = marked;
    return CM_OK;
}

const char *number_digits(const cJSON *item) {
    return cJSON_IsString(item) && item->valuestring[0] == MARK ? item->valuestring + 1 : NULL;
}

bool is_string(const cJSON *item) {
    return cJSON_IsString(item) && item->valuestring[0] != MARK;
}
