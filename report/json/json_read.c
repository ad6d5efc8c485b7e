/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a result back by the schema. The text may come from anywhere: every key is checked for
 * presence, kind and range before it is used. Keys that are not in the schema are passed over,
 * so that a later program may add some.
 */
#include "costmodel/costmodel.h"

#include <limits.h>
#include <string.h>

#include "report/json/json_check.h"
#include "report/json/json_document.h"
#include "report/json/json_reader.h"
#include "report/json/json_schema.h"
#include "report/names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_value.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_KEYS 64 /* of one object of the schema; bounds the search */

/* An optional value that is missing or null reads as unknown, "", NULL or false. */
static int read_scalar(struct json_reader *reader, const struct json_field *field,
                       const struct json_place *place, const struct json_value *item,
                       char *base) {
    const bool is_null = json_is_null(item);
    int64_t value = CM_UNKNOWN;
    size_t index = CM_NO_INDEX;
    const char *text = NULL;
    bool flag = false;
    int depth = 0;
    int status = CM_OK;
    switch (field->kind) {
    case JSON_COUNT:
        status = reader_count(reader, place, item, &value);
        STORE(base, field->offset, value);
        return status;
    case JSON_RATIO:
        if (!is_null) status = reader_ratio(reader, place, item, &value);
        STORE(base, field->offset, value);
        return status;
    case JSON_INDEX:
        if (!is_null) status = reader_index(reader, place, item, &index);
        STORE(base, field->offset, index);
        return status;
    case JSON_DEPTH:
        status = reader_integer(reader, place, item, &value);
        if (status != CM_OK) return status;
        if (value < 0 || value >= INT_MAX)
            return reader_wrong_kind(reader, place, "a depth", item);
        depth = (int)value;
        STORE(base, field->offset, depth);
        return CM_OK;
    case JSON_FLAG:
        if (!(field->optional && is_null) && !json_to_bool(item, &flag))
            return reader_wrong_kind(reader, place, "true or false", item);
        STORE(base, field->offset, flag);
        return CM_OK;
    case JSON_TEXT:
        text = "";
        if (!(field->optional && is_null)) status = reader_string(reader, place, item, &text);
        STORE(base, field->offset, text);
        return status;
    case JSON_NULLABLE:
        if (!is_null) status = reader_string(reader, place, item, &text);
        STORE(base, field->offset, text);
        return status;
    default:
        BUG("not a scalar");
    }
}

static int read_triple(struct json_reader *reader, const struct json_field *field,
                       const struct json_place *outer, const struct json_value *item,
                       char *base) {
    struct json_place place = {outer, NULL, 0};
    if (!json_is_array(item) || json_count(item) != 3)
        return reader_wrong_kind(reader, outer, "an array of three", item);
    json_each(element, item) {
        int64_t value = 0;
        int status = reader_count(reader, &place, element, &value);
        if (status != CM_OK) return status;
        STORE(base, field->offset + place.index++ * sizeof(value), value);
    }
    return CM_OK;
}

static int read_severity(struct json_reader *reader, const struct json_field *field,
                         const struct json_place *place, const struct json_value *item,
                         char *base) {
    for (size_t i = 0; i < json_n_severities; i++) {
        enum cm_severity severity = (enum cm_severity)i;
        if (!text_equal(json_string(item), json_severities[i])) continue;
        STORE(base, field->offset, severity);
        return CM_OK;
    }
    return reader_wrong_kind(reader, place, "\"note\", \"warning\" or \"error\"", item);
}

static int index_modules(struct json_reader *reader) {
    const struct cm_result *result = reader->result;
    if (reader->modules.n_entries > 0) return CM_OK;
    if (result->n_modules >= MAP_NONE)
        return diag_error(reader->diag, DIAG_LIMIT, "at most %u modules are supported, got %zu",
                          MAP_NONE - 1, result->n_modules);
    for (size_t i = 0; i < result->n_modules; i++) {
        uint32_t existing = MAP_NONE;
        if (map_add(&reader->modules, result->modules[i].path, (uint32_t)i, &existing) != CM_OK)
            return diag_no_memory(reader->diag);
    }
    return CM_OK;
}

static int read_module(struct json_reader *reader, const struct json_field *field,
                       const struct json_place *place, const struct json_value *item,
                       char *base) {
    size_t index = CM_NO_INDEX;
    if (!json_is_null(item)) {
        if (json_string(item) == NULL)
            return reader_wrong_kind(reader, place, "a string", item);
        int status = index_modules(reader);
        if (status != CM_OK) return status;
        uint32_t found = map_get(&reader->modules, json_string(item));
        if (found == MAP_NONE)
            return reader_fault(reader, place, "a module's path", json_string(item));
        index = found;
    }
    STORE(base, field->offset, index);
    return CM_OK;
}

static int read_object(struct json_reader *reader, const struct json_field *field,
                       const struct json_place *place, const struct json_value *item,
                       char *base) {
    return reader_record(reader, field->record, place, item, base + field->offset);
}

static int read_part(struct json_reader *reader, const struct json_field *field,
                     const struct json_place *place, const struct json_value *item,
                     char *base) {
    const bool present = !json_is_null(item);
    STORE(base, field->count_offset, present);
    return present ? read_object(reader, field, place, item, base) : CM_OK;
}

static int read_pointer(struct json_reader *reader, const struct json_field *field,
                        const struct json_place *place, const struct json_value *item,
                        char *base) {
    if (field->optional && json_is_null(item)) return CM_OK;
    char *record = arena_alloc(reader->arena, field->record->size);
    if (record == NULL) return diag_no_memory(reader->diag);
    STORE(base, field->offset, record);
    return reader_record(reader, field->record, place, item, record);
}

/* Room for the elements of an array, or for the keys of an object. */
static int make_room(struct json_reader *reader, const struct json_value *item, size_t size,
                     char **ret) {
    *ret = arena_array(reader->arena, json_count(item), size);
    return *ret == NULL ? diag_no_memory(reader->diag) : CM_OK;
}

static void store_many(const struct json_field *field, char *base, size_t n, char *elements) {
    STORE(base, field->count_offset, n);
    STORE(base, field->offset, elements);
}

typedef int read_element(struct json_reader *reader, const struct json_field *field,
                         const struct json_place *place, const struct json_value *item,
                         char *element);

static int read_array(struct json_reader *reader, const struct json_field *field,
                      const struct json_place *outer, const struct json_value *item, char *base,
                      size_t element_size, read_element *read) {
    char *elements = NULL;
    struct json_place place = {outer, NULL, 0};
    if (!json_is_array(item)) return reader_wrong_kind(reader, outer, "an array", item);
    int status = make_room(reader, item, element_size, &elements);
    if (status != CM_OK) return status;
    json_each(element, item) {
        status = read(reader, field, &place, element, elements + place.index * element_size);
        if (status != CM_OK) return status;
        place.index++;
    }
    store_many(field, base, place.index, elements);
    return CM_OK;
}

static int read_record_element(struct json_reader *reader, const struct json_field *field,
                               const struct json_place *place, const struct json_value *item,
                               char *element) {
    return reader_record(reader, field->record, place, item, element);
}

static int read_list(struct json_reader *reader, const struct json_field *field,
                     const struct json_place *place, const struct json_value *item,
                     char *base) {
    if (field->optional && json_is_null(item)) return CM_OK;
    return read_array(reader, field, place, item, base, field->record->size,
                      read_record_element);
}

static int read_text_element(struct json_reader *reader, const struct json_field *field,
                             const struct json_place *place, const struct json_value *item,
                             char *element) {
    const char *text = NULL;
    (void)field;
    int status = reader_string(reader, place, item, &text);
    STORE(element, 0, text);
    return status;
}

static int read_texts(struct json_reader *reader, const struct json_field *field,
                      const struct json_place *place, const struct json_value *item,
                      char *base) {
    if (field->optional && json_is_null(item)) return CM_OK;
    return read_array(reader, field, place, item, base, sizeof(const char *),
                      read_text_element);
}

static int read_index_element(struct json_reader *reader, const struct json_field *field,
                              const struct json_place *place, const struct json_value *item,
                              char *element) {
    size_t index = 0;
    (void)field;
    int status = reader_index(reader, place, item, &index);
    STORE(element, 0, index);
    return status;
}

static int read_indices(struct json_reader *reader, const struct json_field *field,
                        const struct json_place *place, const struct json_value *item,
                        char *base) {
    if (field->optional && json_is_null(item)) return CM_OK;
    return read_array(reader, field, place, item, base, sizeof(size_t), read_index_element);
}

static int read_size(struct json_reader *reader, const struct json_field *field,
                     const struct json_place *place, const struct json_value *item, char *row) {
    const char *name = "";
    int64_t size = CM_UNKNOWN;
    bool nameless =
        field->kind == JSON_OPSETS && strcmp(json_key(item), JSON_DEFAULT_DOMAIN) == 0;
    int status = nameless ? CM_OK : reader_copy(reader, json_key(item), &name);
    if (status == CM_OK) status = reader_count(reader, place, item, &size);
    STORE(row, offsetof(struct cm_named_size, name), name);
    STORE(row, offsetof(struct cm_named_size, size), size);
    return status;
}

static int read_sizes(struct json_reader *reader, const struct json_field *field,
                      const struct json_place *outer, const struct json_value *item,
                      char *base) {
    char *rows = NULL;
    size_t n = 0;
    if (field->optional && json_is_null(item)) return CM_OK;
    if (!json_is_object(item)) return reader_wrong_kind(reader, outer, "an object", item);
    int status = make_room(reader, item, sizeof(struct cm_named_size), &rows);
    if (status != CM_OK) return status;
    json_each(row, item) {
        const struct json_place place = {outer, json_key(row), 0};
        status =
            read_size(reader, field, &place, row, rows + n++ * sizeof(struct cm_named_size));
        if (status != CM_OK) return status;
    }
    store_many(field, base, n, rows);
    return CM_OK;
}

static uint32_t bit_of(const char *key) {
    for (size_t i = 0; i < n_columns; i++)
        if (text_equal(columns[i].key, key)) return column_bit(&columns[i]);
    return 0;
}

static int read_bounds(struct json_reader *reader, const struct json_field *field,
                       const struct json_place *outer, const struct json_value *item,
                       char *base) {
    struct json_place place = {outer, NULL, 0};
    uint32_t bits = 0;
    if (json_is_null(item)) return CM_OK;
    if (!json_is_array(item)) return reader_wrong_kind(reader, outer, "an array", item);
    json_each(key, item) {
        const uint32_t bit = bit_of(json_string(key));
        if (bit == 0)
            return reader_fault(reader, &place, "the key of a figure", "another value");
        bits |= bit;
        place.index++;
    }
    STORE(base, field->offset, bits);
    return CM_OK;
}

/* JSON_GIVEN and JSON_KEYED have none: no document that is read has such rows. */
static read_kind *const readers[JSON_N_KINDS] = {
    [JSON_COUNT] = read_scalar,      [JSON_INDEX] = read_scalar,
    [JSON_DEPTH] = read_scalar,      [JSON_FLAG] = read_scalar,
    [JSON_TEXT] = read_scalar,       [JSON_NULLABLE] = read_scalar,
    [JSON_SEVERITY] = read_severity, [JSON_DTYPE] = json_read_dtype,
    [JSON_SHAPE] = json_read_shape,  [JSON_MODULE] = read_module,
    [JSON_OBJECT] = read_object,     [JSON_POINTER] = read_pointer,
    [JSON_LIST] = read_list,         [JSON_TEXTS] = read_texts,
    [JSON_INDICES] = read_indices,   [JSON_SIZES] = read_sizes,
    [JSON_OPSETS] = read_sizes,      [JSON_PART] = read_part,
    [JSON_MOST] = json_read_most,    [JSON_BOUNDS] = read_bounds,
    [JSON_RATIO] = read_scalar,      [JSON_TRIPLE] = read_triple,
};

static int check_keys(struct json_reader *reader, const struct json_place *place,
                      const struct json_value *object) {
    size_t n = 0;
    if (!json_is_object(object)) return reader_wrong_kind(reader, place, "an object", object);
    json_each(item, object) {
        const struct json_place key = {place, json_key(item), 0};
        if (++n > MAX_KEYS) return reader_fault(reader, place, "few keys", "more than 64");
        if (!json_is_first_of_key(object, item))
            return reader_fault(reader, &key, "one value", "two");
    }
    return CM_OK;
}

/* Keys of a document that are not in its record. */
static const char *const head_keys[] = {"schema", "$schema", "tool"};

static bool is_head_key(const char *key) {
    for (size_t i = 0; i < sizeof(head_keys) / sizeof(head_keys[0]); i++)
        if (strcmp(key, head_keys[i]) == 0) return true;
    return false;
}

static bool is_key_of(const struct json_record *record, const char *key) {
    for (size_t i = 0; i < record->n_fields; i++)
        if (strcmp(key, record->fields[i].key) == 0) return true;
    return false;
}

static int check_closed(struct json_reader *reader, const struct json_record *record,
                        const struct json_place *place, const struct json_value *object) {
    json_each(item, object) {
        const struct json_place key = {place, json_key(item), 0};
        if (is_key_of(record, json_key(item)) || (place == NULL && is_head_key(json_key(item))))
            continue;
        return reader_fault(reader, &key, "a key of the schema", "another");
    }
    return CM_OK;
}

/* Sets *ret to the value of a key or of its former name; NULL if an optional one is missing. */
static int find_key(struct json_reader *reader, const struct json_place *place,
                    const struct json_value *object, bool optional,
                    const struct json_value **ret) {
    const struct json_value *item = json_get(object, place->key);
    const char *old = NULL;
    for (size_t i = 0; item == NULL && (old = old_name(place->key, i)) != NULL; i++)
        item = json_get(object, old);
    if (item == NULL && !optional) return reader_fault(reader, place, "a value", "no such key");
    *ret = item;
    return CM_OK;
}

static int read_columns(struct json_reader *reader, const struct json_field *field,
                        const struct json_place *outer, const struct json_value *object,
                        char *base) {
    const struct column *column = NULL;
    for (size_t i = 0; (column = json_column(field, i)) != NULL; i++) {
        const struct json_place place = {outer, column->key, 0};
        const struct json_value *item = NULL;
        int64_t value = 0;
        const bool optional = field->optional || column->timed || column->part;
        int status = find_key(reader, &place, object, optional, &item);
        if (status == CM_OK) status = reader_count(reader, &place, item, &value);
        if (status != CM_OK) return status;
        STORE(base + field->offset, column->offset, value);
    }
    return CM_OK;
}

static int read_field(struct json_reader *reader, const struct json_field *field,
                      const struct json_place *outer, const struct json_value *object,
                      char *base) {
    const struct json_place place = {outer, field->key, 0};
    const struct json_value *item = NULL;
    if (field->key == NULL) return read_columns(reader, field, outer, object, base);
    int status = find_key(reader, &place, object, field->optional, &item);
    if (status != CM_OK) return status;
    return readers[field->kind](reader, field, &place, item, base);
}

int reader_record(struct json_reader *reader, const struct json_record *record,
                  const struct json_place *place, const struct json_value *item, char *base) {
    int status = check_keys(reader, place, item);
    if (status == CM_OK && record->closed) status = check_closed(reader, record, place, item);
    for (size_t i = 0; i < record->n_fields && status == CM_OK; i++)
        status = read_field(reader, &record->fields[i], place, item, base);
    return status;
}

static int check_schema(const struct json_document *document, struct cm_diagnostics *diag,
                        const struct json_value *root) {
    const struct json_value *schema = json_get(root, "schema");
    if (!json_is_object(root) || json_string(schema) == NULL)
        return diag_error(diag, DIAG_FORMAT, "schema must be \"%s\", got none",
                          document->schema);
    if (text_equal(json_string(schema), document->schema) ||
        (document->old_schema && text_equal(json_string(schema), document->old_schema)))
        return CM_OK;
    return diag_error(diag, DIAG_FORMAT, "schema is \"%.60s\", this program reads \"%s\"",
                      json_string(schema), document->schema);
}

/* The struct of the document's record, in `arena`. */
static int read_document(const struct json_document *document, struct arena *arena,
                         const struct json_value *root, struct cm_diagnostics *diag,
                         void **ret) {
    struct json_reader reader = {.diag = diag, .arena = arena};
    void *base = arena_alloc(arena, document->record->size);
    if (base == NULL) return diag_no_memory(diag);
    if (document->record == &json_result) reader.result = base;
    map_init(&reader.modules, arena);
    int status = check_schema(document, diag, root);
    if (status == CM_OK) status = reader_record(&reader, document->record, NULL, root, base);
    if (status == CM_OK && reader.result) status = json_check(reader.result, arena, diag);
    if (arena_failed(arena)) return diag_no_memory(diag);
    if (status == CM_OK) *ret = base;
    return status;
}

/* On CM_OK *ret owns the arena that it lives in. */
static int read_root(const struct json_document *document, const struct json_text *text,
                     struct cm_diagnostics *diag, void **ret) {
    struct json_value *root = NULL;
    if (text->size > FILE_MOST_JSON)
        return diag_error(diag, DIAG_LIMIT, "%zu bytes of JSON, at most %zu are read",
                          text->size, FILE_MOST_JSON);
    int status = json_parse(text->text, text->size, diag, &root);
    if (status != CM_OK) return status;
    struct arena *arena = arena_new("result", 0);
    status =
        arena == NULL ? diag_no_memory(diag) : read_document(document, arena, root, diag, ret);
    json_free(root);
    if (status == CM_OK)
        STORE((char *)*ret, document->arena_offset, arena);
    else
        arena_free(arena);
    return status;
}

int json_document_read(const struct json_document *document, const struct json_text *text,
                       struct cm_diagnostics *diag, void **ret) {
    struct diag_frame frame = {.label = "in", .what = text->name};
    diag_push(diag, &frame);
    const int status = read_root(document, text, diag, ret);
    diag_pop(diag, &frame);
    return status;
}

int cm_result_read_json(const char *text, size_t size, const char *name,
                        struct cm_diagnostics *diagnostics, struct cm_result **ret_result) {
    const struct json_text from = {text, size, name};
    void *result = NULL;
    const int status = json_document_read(&json_profile, &from, diagnostics, &result);
    if (status == CM_OK) *ret_result = result;
    return status;
}

int cm_sweep_read_json(const char *text, size_t size, const char *name,
                       struct cm_diagnostics *diagnostics, struct cm_sweep **ret_sweep) {
    const struct json_text from = {text, size, name};
    void *sweep = NULL;
    const int status = json_document_read(&json_sweep, &from, diagnostics, &sweep);
    if (status == CM_OK) *ret_sweep = sweep;
    return status;
}
