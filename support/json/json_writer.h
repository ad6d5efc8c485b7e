/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON to a stream, value by value; the writer adds commas.
 *
 *     struct json_writer json = {.out = stdout};
 *     json_begin(&json, '{');
 *     json_key_integer(&json, "macs", 4096);
 *     json_open(&json, "shape", '[');
 *     json_write_integer(&json, 1);
 *     json_end(&json, ']');
 *     json_end(&json, '}');
 *
 * writes {"macs":4096,"shape":[1]}. Errors of the stream are found when it is flushed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
    FILE *out;
    bool spaced;      /* a space follows each comma and colon */
    bool needs_comma; /* a value precedes in the same array or object */
    bool in_html;     /* escapes < > and & too, for a script element of a page */
};

void json_begin(struct json_writer *json, char bracket);
void json_end(struct json_writer *json, char bracket);
/* Starts a line, indented by n_spaces, before the next element or, if is_last, before the
 * closing bracket. */
void json_break_line(struct json_writer *json, int n_spaces, bool is_last);

/* Strings are escaped so that none can control a terminal: unsafe characters and the first
 * character of CI commands (text_find_unsafe) become \uXXXX. In a string that is not UTF-8, the
 * bytes of such characters and invalid bytes become "\\xNN". */
void json_write_key(struct json_writer *json, const char *key);
void json_write_string(struct json_writer *json, const char *text); /* NULL: null */
void json_write_integer(struct json_writer *json, int64_t value);   /* CM_UNKNOWN: null */
void json_write_index(struct json_writer *json, size_t index);      /* CM_NO_INDEX: null */
void json_write_bool(struct json_writer *json, bool value);
void json_write_null(struct json_writer *json);
/* Writes value / 10^places as an exact decimal without trailing zeros: 0.25, but 12.0. */
void json_write_decimal(struct json_writer *json, int64_t value, int places);
/* Writes a double with `digits` significant digits. */
void json_write_double(struct json_writer *json, double value, int digits);

/* Writes a key and the opening bracket, '[' or '{', of its value. */
void json_open(struct json_writer *json, const char *key, char bracket);
/* Write a key and its value. */
void json_key_string(struct json_writer *json, const char *key, const char *text);
void json_key_integer(struct json_writer *json, const char *key, int64_t value);
void json_key_bool(struct json_writer *json, const char *key, bool value);
