/* SPDX-License-Identifier: Apache-2.0 */
/* Growing texts, UTF-8 validation, escaping for terminals, and parsing of numbers. */
#include "support/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/arena.h"
#include "support/unsafe_points.gen.h"

#define FIRST_CAPACITY ((size_t)64)

void text_init(struct text *text, struct arena *arena) {
    memset(text, 0, sizeof *text);
    text->arena = arena;
}

/* Marks the text and its arena as failed. Returns false. */
static bool set_failed(struct text *text) {
    text->failed = true;
    arena_set_failed(text->arena);
    return false;
}

static bool text_reserve(struct text *text, size_t more) {
    if (text->failed) return false;
    if (text->data != NULL && more < text->capacity - text->length) return true;
    size_t capacity = text->capacity == 0 ? FIRST_CAPACITY : text->capacity;
    while (capacity <= SIZE_MAX / 2 && capacity - text->length <= more) capacity *= 2;
    char *data = capacity - text->length > more ? arena_alloc(text->arena, capacity) : NULL;
    if (data == NULL) return set_failed(text);
    if (text->length > 0) memcpy(data, text->data, text->length);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_append(struct text *text, const char *string) {
    text_append_n(text, string, strlen(string));
}

void text_append_n(struct text *text, const char *string, size_t length) {
    if (!text_reserve(text, length)) return;
    if (length > 0) memcpy(text->data + text->length, string, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_printf(struct text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

void text_vprintf(struct text *text, const char *format, va_list args) {
    va_list copy;
    va_copy(copy, args);
    /* usually the text fits into the capacity, and one call suffices */
    const size_t room = text->data == NULL ? 0 : text->capacity - text->length;
    char *end = room == 0 ? NULL : text->data + text->length;
    const int length = vsnprintf(end, room, format, args);
    bool written = length >= 0 && (size_t)length < room;
    if (length < 0) (void)set_failed(text);
    if (!written && length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, copy);
        written = true;
    }
    va_end(copy);
    if (written) text->length += (size_t)length;
    if (!written && end != NULL) *end = '\0';
}

void text_clear(struct text *text) {
    text->length = 0;
    if (text->data != NULL) text->data[0] = '\0';
}

const char *text_string(const struct text *text) {
    return text->data == NULL ? "" : text->data;
}

/* Decodes the code point at `bytes` (Unicode 15, table 3-7). Returns its length; 0 if it is not
 * well-formed. */
static size_t utf8_decode(const unsigned char *bytes, size_t n, uint32_t *ret_point) {
    /* by length: the smallest code point, and the payload bits of the lead byte */
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char lead_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char lead = bytes[0];
    size_t length = 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        length = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
        length = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
        length = 4;
    else if (lead >= 0x80)
        return 0;
    if (length > n) return 0;
    uint32_t point = lead & lead_mask[length];
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (bytes[i] & 0x3Fu);
    }
    if (point < smallest[length] || point > 0x10FFFF) return 0;
    if (point >= 0xD800 && point <= 0xDFFF) return 0;
    *ret_point = point;
    return length;
}

static size_t count_digits(const char *string) {
    return strspn(string, "0123456789");
}

bool text_to_bytes(const char *string, int64_t *ret_value) {
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1000},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
        {"KiB", INT64_C(1) << 10},
        {"MiB", INT64_C(1) << 20},
        {"GiB", INT64_C(1) << 30},
        {"TiB", INT64_C(1) << 40},
    };
    const size_t n_whole = count_digits(string);
    const bool has_point = string[n_whole] == '.';
    const char *digits = string + n_whole + has_point;
    const size_t n_digits = has_point ? count_digits(digits) : 0;
    int64_t unit = 0;
    int64_t whole = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_equal(units[i].name, digits + n_digits)) unit = units[i].bytes;
    if (!text_to_int64(string, n_whole, &whole) || unit == 0) return false;
    if (has_point && (n_digits == 0 || unit == 1)) return false;
    if (__builtin_mul_overflow(whole, unit, &whole)) return false;
    /* unit * 0.digits, rounded down, by Horner's rule from the last digit:
     * 0.25 = (2 + 5 / 10) / 10 */
    int64_t part = 0;
    for (size_t i = n_digits; i-- > 0;) part = (unit * (digits[i] - '0') + part) / 10;
    return !__builtin_add_overflow(whole, part, ret_value);
}

static bool point_is_safe(uint32_t point) {
    size_t low = 0; /* number of ranges that begin at or before the point */
    for (size_t high = sizeof unsafe_points / sizeof *unsafe_points; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (unsafe_points[middle][0] <= point)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 || point > unsafe_points[low - 1][1];
}

/* Returns the length of the longest prefix that is printable ASCII without '#'. */
static size_t plain_length(const char *string, size_t n) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t eight = 0;
        memcpy(&eight, string + i, sizeof eight);
        const uint64_t low = eight - 0x20 * ones;     /* borrows where a byte is below 0x20 */
        const uint64_t high = eight | (eight + ones); /* 0x7F and above */
        const uint64_t other = eight ^ '#' * ones;    /* 0 if the byte is # */
        if (((low | high | (other - ones)) & 0x80 * ones) != 0) break;
    }
    while (i < n && string[i] >= 0x20 && string[i] < 0x7F && string[i] != '#') i++;
    return i;
}

bool text_is_utf8(const char *string, size_t length) {
    const unsigned char *bytes = (const unsigned char *)string;
    for (size_t i = 0; i < length;) {
        i += plain_length(string + i, length - i);
        if (i == length) break;
        uint32_t point = 0;
        const size_t step = utf8_decode(bytes + i, length - i, &point);
        if (step == 0 || point == 0) return false;
        i += step;
    }
    return true;
}

/* Returns true if the string starts like "::error::" (`sign` ':'), "##[error]" or "##vso["
 * ('#'), commands in the log of GitHub Actions and Azure Pipelines. */
static bool is_command(const char *string, size_t n, char sign) {
    if (n < 3 || string[0] != sign || string[1] != sign) return false;
    const char lower = (char)(string[2] | 0x20);
    return (lower >= 'a' && lower <= 'z') || (sign == '#' && string[2] == '[');
}

size_t text_find_unsafe(const char *string, size_t n, uint32_t *ret_point, size_t *ret_length) {
    const unsigned char *bytes = (const unsigned char *)string;
    for (size_t i = plain_length(string, n); i < n;) {
        uint32_t point = 0;
        const size_t length = utf8_decode(bytes + i, n - i, &point);
        const bool is_unsafe = !point_is_safe(point) || is_command(string + i, n - i, '#');
        if (length == 0 || is_unsafe) {
            *ret_point = length == 0 ? TEXT_BROKEN : point;
            *ret_length = length == 0 ? 1 : length;
            return i;
        }
        i += length;
        i += plain_length(string + i, n - i);
    }
    return n;
}

/* Returns the offset of a command "::error" at the start; n if there is none. Blanks and
 * non-ASCII characters, some of which are blanks, may precede the command. */
static size_t find_command(const char *string, size_t n) {
    size_t i = 0;
    while (i < n && (string[i] == ' ' || (unsigned char)string[i] >= 0x80)) i++;
    return is_command(string + i, n - i, ':') ? i : n;
}

bool text_is_plain(const char *string, size_t n) {
    return plain_length(string, n) == n && find_command(string, n) == n;
}

/* Appends n bytes of a name, escaped as text_append_name describes. */
static void append_safe(struct text *text, const char *name, size_t n) {
    size_t command = find_command(name, n);
    for (size_t i = 0; i < n;) {
        uint32_t point = 0;
        size_t length = 0;
        size_t shown = text_find_unsafe(name + i, n - i, &point, &length);
        if (command < i + shown) { /* escapes the first byte of the command */
            shown = command - i;
            length = 1;
            command = n;
        }
        text_append_n(text, name + i, shown);
        i += shown;
        for (size_t end = i + length; i < end; i++)
            text_printf(text, "\\x%02x", (unsigned char)name[i]);
    }
}

void text_append_name(struct text *text, const char *name) {
    append_safe(text, name, strlen(name));
}

size_t text_cut_length(const char *string, size_t max) {
    size_t n = strlen(string);
    if (n <= max) return n;
    n = max;
    while (n > 0 && ((unsigned char)string[n] & 0xC0) == 0x80) n--;
    return n;
}

void text_append_label(struct text *text, const char *name) {
    const size_t n = text_cut_length(name, TEXT_LONGEST_LABEL);
    append_safe(text, name, n);
    if (name[n] != '\0') text_append(text, "...");
}

const char *text_name(struct arena *arena, const char *name) {
    struct text text = {.arena = arena};
    text_append_name(&text, name);
    return text_string(&text);
}

const char *text_label(struct arena *arena, const char *name) {
    struct text text = {.arena = arena};
    text_append_label(&text, name);
    return text_string(&text);
}

bool text_starts_with(const char *string, const char *prefix) {
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *string, const char *suffix) {
    const size_t length = strlen(string);
    const size_t tail = strlen(suffix);
    return length >= tail && memcmp(string + length - tail, suffix, tail) == 0;
}

/* Reads a mantissa as *ret_value * 10^*exponent: "1.25" is 125 * 10^-2. Digits after the 19th
 * exceed the precision of a double and count as 0. Returns the end of the mantissa. */
static const char *read_mantissa(const char *at, uint64_t *ret_value, int *exponent) {
    const char *start = at;
    bool fraction = false;
    size_t n_digits = 0;
    for (; text_is_digit(*at) || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        n_digits++;
        if (*ret_value <= (UINT64_MAX - 9) / 10)
            *ret_value = *ret_value * 10 + (uint64_t)(*at - '0');
        else
            (*exponent)++;
        if (fraction) (*exponent)--;
    }
    return n_digits > 0 ? at : start;
}

bool text_to_real(const char *string, double *ret_value) {
    const double sign = string[0] == '-' ? -1 : 1;
    const char *digits = string[0] == '-' ? string + 1 : string;
    uint64_t value = 0;
    int exponent = 0;
    if (text_equal(digits, "inf") || text_equal(digits, "nan")) {
        *ret_value = digits[0] == 'n' ? (double)NAN : sign * (double)INFINITY;
        return true;
    }
    const char *rest = read_mantissa(digits, &value, &exponent);
    if (rest == digits) return false;
    if (*rest != '\0') {
        int64_t given = 0;
        if (*rest != 'e' && *rest != 'E') return false;
        rest += rest[1] == '+' ? 2 : 1;
        if (!text_to_int64(rest, strlen(rest), &given) || given < -9999 || given > 9999)
            return false;
        exponent += (int)given;
    }
    /* one operation with an exact power of ten rounds once */
    const double number = sign * (double)value;
    *ret_value = exponent < 0 ? number / pow(10, -exponent) : number * pow(10, exponent);
    return true;
}

bool text_is_digits(const char *string) {
    const size_t n = count_digits(string);
    return n > 0 && string[n] == '\0';
}

bool text_to_int64(const char *string, size_t length, int64_t *ret_value) {
    const bool negative = length > 0 && string[0] == '-';
    const size_t first = negative ? 1 : 0;
    int64_t value = 0; /* kept negative, because -INT64_MIN overflows */
    if (length == first) return false;
    for (size_t i = first; i < length; i++) {
        if (!text_is_digit(string[i])) return false;
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_sub_overflow(value, string[i] - '0', &value)) return false;
    }
    if (!negative && value == INT64_MIN) return false;
    *ret_value = negative ? value : -value;
    return true;
}

bool text_utc(int64_t seconds, char ret[UTC_SIZE]) {
    struct tm parts;
    const time_t when = (time_t)seconds;
    ret[0] = '\0';
    return gmtime_r(&when, &parts) != NULL &&
           strftime(ret, UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0;
}
