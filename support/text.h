/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text in an arena. If an allocation fails, later appends do nothing and `failed` is
 * set (sticky), so that callers check it once, at the end. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

struct text {
    struct arena *arena;
    char *data; /* NUL-terminated once something was appended; NULL before */
    size_t length;
    size_t capacity;
    bool failed;
};

void text_init(struct text *text, struct arena *arena);
void text_append(struct text *text, const char *string);
void text_append_n(struct text *text, const char *string, size_t length);
void text_printf(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Empties the text; keeps its capacity. */
void text_clear(struct text *text);
/* Returns the text, "" if it is empty. Borrowed from the arena. */
const char *text_string(const struct text *text);

/* Appends a name from a file. The bytes of controls, bidi and other format characters,
 * invisible, private and unassigned characters (unsafe_points.gen.h) and invalid UTF-8 become
 * \xNN, so that no name can control a terminal or fake a line. The first byte of a CI command
 * is escaped in the same way:
 * "##[error]" and "##vso[" anywhere; "::error::" at the start of the name, also if only blanks
 * and non-ASCII characters precede it. */
void text_append_name(struct text *text, const char *name);
/* Returns true if the n bytes are printable ASCII without '#' and text_append_name appends them
 * unchanged. */
bool text_is_plain(const char *string, size_t n);
/* Returns the offset of the first unsafe character or CI command ("##[", or "##" and a letter).
 * Sets *ret_point to the code point there and *ret_length to its number of bytes; to
 * TEXT_BROKEN and 1 if it is not valid UTF-8. If there is none, returns n and sets nothing. */
#define TEXT_BROKEN UINT32_MAX
size_t text_find_unsafe(const char *string, size_t n, uint32_t *ret_point, size_t *ret_length);
/* As text_append_name, but cuts a name longer than TEXT_LONGEST_LABEL bytes and appends "...".
 * For locations in messages. */
#define TEXT_LONGEST_LABEL 256
void text_append_label(struct text *text, const char *name);
/* Return what text_append_name and text_append_label append; "" if out of memory, and the arena
 * has failed. */
const char *text_name(struct arena *arena, const char *name);
const char *text_label(struct arena *arena, const char *name);
/* Returns the length of the longest prefix of at most `max` bytes that does not split a UTF-8
 * character. */
size_t text_cut_length(const char *string, size_t max);

/* Returns the plural suffix for n: "" for 1, else "s". */
static inline const char *text_plural(int64_t n) {
    return n == 1 ? "" : "s";
}

/* Returns true if the strings are equal, or both NULL. */
static inline bool text_equal(const char *a, const char *b) {
    if (a == b) return true;
    return a && b && *a == *b && strcmp(a, b) == 0;
}
bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);
/* Returns true for '0' to '9', independent of the locale. */
static inline bool text_is_digit(char c) {
    return c >= '0' && c <= '9';
}
/* Returns true for one or more decimal digits: "0", "12" (the index of a module in a list). */
bool text_is_digits(const char *string);
/* Parses a decimal int64_t; returns false if the text is anything else or out of range. */
bool text_to_int64(const char *string, size_t length, int64_t *ret_value);
#define UTC_SIZE 32 /* bytes, with NUL */
#define UTC_DAY  10 /* bytes of the day at the start */
/* Writes seconds since 1970 as "2026-12-31T23:59:59Z"; "" and false if it has no date. */
bool text_utc(int64_t seconds, char ret[UTC_SIZE]);
/* Parses a decimal number ("-1.5e-3"), "inf" or "nan", independent of the locale. The result is
 * correctly rounded for up to 15 digits if the exponent of the last digit is from -22 to 22,
 * else within one unit in the last place. */
bool text_to_real(const char *string, double *ret_value);
/* Parses a size in bytes: "17179869184", "16GiB", "1.5GB", rounded down. The prefixes k, M,
 * G, T are powers of 1000; Ki, Mi, Gi, Ti are powers of 1024. The unit ends in B. Returns false
 * for other text ("16G", "1.5") and if the size exceeds int64_t. */
bool text_to_bytes(const char *string, int64_t *ret_value);
/* Returns true if the bytes are well-formed UTF-8 without NUL. */
bool text_is_utf8(const char *string, size_t length);
