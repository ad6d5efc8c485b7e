/* SPDX-License-Identifier: Apache-2.0 */
/* See json_writer.h. */
#include "support/json/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/result.h"
#include "support/checked.h"
#include "support/text.h"

static void separate(struct json_writer *json) {
    if (json->needs_comma) fputs(json->spaced ? ", " : ",", json->out);
    json->needs_comma = true;
}

void json_begin(struct json_writer *json, char bracket) {
    separate(json);
    fputc(bracket, json->out);
    json->needs_comma = false;
}

void json_end(struct json_writer *json, char bracket) {
    fputc(bracket, json->out);
    json->needs_comma = true;
}

void json_break_line(struct json_writer *json, int n_spaces, bool is_last) {
    if (json->needs_comma && !is_last) fputc(',', json->out);
    json->needs_comma = false;
    fprintf(json->out, "\n%*s", n_spaces, "");
}

enum { ESCAPED = 1, ESCAPED_IN_HTML = 2 };

/* ESCAPED: written after a backslash. ESCAPED_IN_HTML: written as \uXXXX if in_html. */
static const unsigned char escapes[256] = {
    ['"'] = ESCAPED,         ['\\'] = ESCAPED,        ['<'] = ESCAPED_IN_HTML,
    ['>'] = ESCAPED_IN_HTML, ['&'] = ESCAPED_IN_HTML,
};

static void write_escaped(const struct json_writer *json, const char *text, size_t n) {
    const unsigned mask = json->in_html ? ESCAPED | ESCAPED_IN_HTML : ESCAPED;
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned escape = escapes[(unsigned char)text[i]] & mask;
        if (escape == 0) continue;
        fwrite(text + written, 1, i - written, json->out);
        written = i;
        if (escape == ESCAPED)
            fputc('\\', json->out);
        else
            fprintf(json->out, "\\u%04x", (unsigned)text[written++]);
    }
    fwrite(text + written, 1, n - written, json->out);
}

/* Letters of the escapes \b to \r of the characters 0x08 to 0x0d; JSON has none for 0x0b. */
static const char short_escapes[] = "btn\0fr";

static void write_quoted(const struct json_writer *json, const char *text) {
    FILE *out = json->out;
    const size_t n = strlen(text);
    const bool is_utf8 = text_is_utf8(text, n);
    fputc('"', out);
    for (size_t i = 0; i < n;) {
        uint32_t point = 0;
        size_t length = 0;
        const size_t safe = text_find_unsafe(text + i, n - i, &point, &length);
        write_escaped(json, text + i, safe);
        i += safe;
        if (is_utf8 && length > 0) {
            if (point >= 0x08 && point <= 0x0d && point != 0x0b)
                fprintf(out, "\\%c", short_escapes[point - 0x08]);
            else if (point <= 0xFFFF)
                fprintf(out, "\\u%04" PRIx32, point);
            else /* two surrogates, of 10 bits each */
                fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD7C0 + (point >> 10),
                        0xDC00 + (point & 0x3FF));
        }
        for (size_t k = 0; !is_utf8 && k < length; k++)
            fprintf(out, "\\\\x%02x", (unsigned char)text[i + k]);
        i += length;
    }
    fputc('"', out);
}

void json_write_key(struct json_writer *json, const char *key) {
    separate(json);
    write_quoted(json, key);
    fputs(json->spaced ? ": " : ":", json->out);
    json->needs_comma = false;
}

void json_write_string(struct json_writer *json, const char *text) {
    separate(json);
    if (text != NULL)
        write_quoted(json, text);
    else
        fputs("null", json->out);
}

void json_write_integer(struct json_writer *json, int64_t value) {
    separate(json);
    if (is_known(value))
        fprintf(json->out, "%" PRId64, value);
    else
        fputs("null", json->out);
}

void json_write_index(struct json_writer *json, size_t index) {
    separate(json);
    if (index != CM_NO_INDEX)
        fprintf(json->out, "%zu", index);
    else
        fputs("null", json->out);
}

void json_write_bool(struct json_writer *json, bool value) {
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void json_write_null(struct json_writer *json) {
    separate(json);
    fputs("null", json->out);
}

void json_write_decimal(struct json_writer *json, int64_t value, int places) {
    char digits[48];
    uint64_t unit = 1;
    if (!is_known(value)) {
        json_write_null(json);
        return;
    }
    for (int i = 0; i < places; i++) unit *= 10;
    const uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int n = snprintf(digits, sizeof(digits), "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "",
                     size / unit, places, size % unit);
    while (digits[n - 1] == '0' && digits[n - 2] != '.') digits[--n] = '\0';
    separate(json);
    fputs(digits, json->out);
}

void json_write_double(struct json_writer *json, double value, int digits) {
    separate(json);
    fprintf(json->out, "%.*g", digits, value);
}

void json_open(struct json_writer *json, const char *key, char bracket) {
    json_write_key(json, key);
    json_begin(json, bracket);
}

void json_key_string(struct json_writer *json, const char *key, const char *text) {
    json_write_key(json, key);
    json_write_string(json, text);
}

void json_key_integer(struct json_writer *json, const char *key, int64_t value) {
    json_write_key(json, key);
    json_write_integer(json, value);
}

void json_key_bool(struct json_writer *json, const char *key, bool value) {
    json_write_key(json, key);
    json_write_bool(json, value);
}
