/* SPDX-License-Identifier: Apache-2.0 */
/* Values out of a JSON text that may hold anything. */
#include "report/json/json_reader.h"

#include "costmodel/result.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/json/json_value.h"
#include "support/text.h"

#include "support/banned.h"

/* Recursion as deep as the schema, types included (TYPE_MAX_DEPTH). */
static void append_place(struct text *text, const struct json_place *place) {
    if (place->outer != NULL) append_place(text, place->outer);
    if (place->key == NULL)
        text_printf(text, "[%zu]", place->index);
    else
        text_printf(text, "%s%s", place->outer == NULL ? "" : ".", place->key);
}

int reader_fault(struct json_reader *reader, const struct json_place *place,
                 const char *expected, const char *have) {
    struct text where;
    text_init(&where, reader->arena);
    if (place == NULL)
        text_append(&where, "the file");
    else
        append_place(&where, place);
    return diag_error(reader->diag, DIAG_FORMAT, "%s: expected %s, have %.80s",
                      text_string(&where), expected, have);
}

int reader_wrong_kind(struct json_reader *reader, const struct json_place *place,
                      const char *expected, const struct json_value *item) {
    return reader_fault(reader, place, expected, json_describe(item));
}

int reader_integer(struct json_reader *reader, const struct json_place *place,
                   const struct json_value *item, int64_t *ret) {
    if (json_digits(item) == NULL) return reader_wrong_kind(reader, place, "an integer", item);
    if (!json_to_int64(item, ret))
        return reader_wrong_kind(reader, place, "an integer below 2^63", item);
    return CM_OK;
}

int reader_count(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, int64_t *ret) {
    if (!json_is_null(item)) return reader_integer(reader, place, item, ret);
    *ret = CM_UNKNOWN;
    return CM_OK;
}

/* "12.5" as "12500000". */
static bool ratio_digits(const char *text, char *ret, size_t size) {
    size_t n = 0;
    size_t n_places = 0;
    bool is_fraction = false;
    for (; *text != '\0'; text++) {
        if (*text == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        const bool is_sign = *text == '-' && n == 0;
        if ((!is_sign && (*text < '0' || *text > '9')) || n + 1 == size) return false;
        ret[n++] = *text;
        n_places += is_fraction;
    }
    if (n_places > JSON_RATIO_PLACES) return false;
    for (; n_places < JSON_RATIO_PLACES && n + 1 < size; n_places++) ret[n++] = '0';
    ret[n] = '\0';
    return n_places == JSON_RATIO_PLACES;
}

int reader_ratio(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, int64_t *ret) {
    char digits[32];
    int64_t value = 0;
    const char *text = json_digits(item);
    if (text == NULL || !ratio_digits(text, digits, sizeof(digits)) ||
        !text_to_int64(digits, strlen(digits), &value) || !is_known(value))
        return reader_wrong_kind(reader, place, "a decimal of at most six places", item);
    *ret = value;
    return CM_OK;
}

int reader_index(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, size_t *ret) {
    int64_t value = 0;
    int status = reader_integer(reader, place, item, &value);
    if (status != CM_OK) return status;
    if (value < 0 || (uint64_t)value >= CM_NO_INDEX)
        return reader_wrong_kind(reader, place, "an index", item);
    *ret = (size_t)value;
    return CM_OK;
}

int reader_copy(struct json_reader *reader, const char *text, const char **ret) {
    *ret = arena_strdup(reader->arena, text);
    return *ret == NULL ? diag_no_memory(reader->diag) : CM_OK;
}

int reader_string(struct json_reader *reader, const struct json_place *place,
                  const struct json_value *item, const char **ret) {
    if (json_string(item) == NULL) return reader_wrong_kind(reader, place, "a string", item);
    return reader_copy(reader, json_string(item), ret);
}
