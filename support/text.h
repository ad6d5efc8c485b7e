/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing text in an arena. Appending after memory ran out does nothing and is remembered
 * (`failed`), so that a writer looks once, at the end.
 */
#ifndef SUPPORT_TEXT_H
#define SUPPORT_TEXT_H

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
/* Forgets the text, keeps its memory. */
void text_clear(struct text *text);
/* The text so far, never NULL ("" when empty). Borrowed from the arena. */
const char *text_string(const struct text *text);

/*
 * A name from a file as a person may see it: control bytes, DEL, C1 controls, bidi overrides
 * and broken UTF-8 become \xNN, so that no name can drive a terminal or forge a line.
 */
void text_append_name(struct text *text, const char *name);
/* How many bytes from the first on are ASCII that may be shown. */
size_t text_plain_length(const char *text, size_t n);
/*
 * The bytes before the first character that is not shown so, of n; n where there is none.
 * *ret_point: that character, TEXT_BROKEN for a byte that is no UTF-8, and its bytes.
 */
#define TEXT_BROKEN UINT32_MAX
size_t text_find_unsafe(const char *text, size_t n, uint32_t *ret_point, size_t *ret_length);
/* As text_append_name, of a place in a message, which a long name would drown: cut, with "…"
 * behind it. */
#define TEXT_LONGEST_LABEL 256
void text_append_label(struct text *text, const char *name);
/* How much of the text to show in at most so many bytes: whole characters. */
size_t text_cut(const char *text, size_t most);

/* NULL equals only NULL. Names that are looked for differ in their first letter, mostly. */
/* What a noun ends on behind that number: "s", or "" behind 1. */
static inline const char *text_plural(int64_t n) {
    return n == 1 ? "" : "s";
}

static inline bool text_equal(const char *a, const char *b) {
    if (a == b) return true;
    return a && b && *a == *b && strcmp(a, b) == 0;
}
bool text_starts_with(const char *text, const char *prefix);
bool text_ends_with(const char *text, const char *suffix);
/* A whole decimal int64, nothing before or after; false otherwise. */
bool text_to_int64(const char *text, size_t length, int64_t *ret_value);
/* A whole decimal number, "-1.5e-3", "inf" or "nan", whatever the locale; exact up to 15 digits
 * and 22 powers of ten, else to within its last place. False otherwise. */
bool text_to_real(const char *text, double *ret_value);
/*
 * A size in bytes: "17179869184", "16GiB", "1.5GB", rounded down; k, M, G, T before "B" are
 * powers of 1000, Ki, Mi, Gi, Ti of 1024. False for anything else, and past 2^63.
 */
bool text_to_bytes(const char *text, int64_t *ret_value);
/* Whether these bytes are well-formed UTF-8 without NUL. */
bool text_is_utf8(const char *text, size_t length);

#endif
