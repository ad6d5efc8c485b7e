/* SPDX-License-Identifier: Apache-2.0 */
/* Reads documents back by their schema tables. The text may come from anywhere: every key is
 * checked for presence, kind and range before it is used. Messages name the location:
 * "modules[3].outputs[0].shape[1]: expected an integer, got a string". Unknown keys are
 * skipped, so that later versions may add keys; closed records reject them. */
#include "costmodel/costmodel.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "report/names.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_value.h"
#include "support/map.h"
#include "support/text.h"

#define MAX_KEYS 64 /* of one record; bounds the search for duplicates */

struct reader {
    struct cm_diagnostics *diag;
    struct arena *arena;      /* owns the struct that is read */
    struct cm_result *result; /* NULL: the document is not a profile */
    struct map modules;       /* path -> index; filled for the first node */
    int type_depth;
    bool is_line; /* reads a line of a shard: counts must be >= 0 */
};

/* A location in the file: a member or an element of `outer`. NULL is the whole file. */
struct place {
    const struct place *outer;
    const char *key; /* NULL: an element */
    size_t index;
};

/* A value to read, and where to store it. */
struct slot {
    struct reader *reader;
    const struct json_field *field;
    const struct place *place;
    const struct json_value *item; /* NULL: the key is missing, and optional */
    char *base;                    /* struct of the record */
    char *at;                      /* member or element */
};

typedef int read_kind(const struct slot *slot);

#define STORE(at, value) memcpy(at, &(value), sizeof(value))

static int read_record(struct reader *reader, const struct json_record *record,
                       const struct place *place, const struct json_value *item, char *base);

/* Recurses at most as deep as the schema is nested, including types (TYPE_MAX_DEPTH). */
static void append_place(struct text *text, const struct place *place) {
    if (place->outer != NULL) append_place(text, place->outer);
    if (place->key == NULL)
        text_printf(text, "[%zu]", place->index);
    else
        text_printf(text, "%s%s", place->outer == NULL ? "" : ".", place->key);
}

/* Reports what was expected at a place, and what it has. Returns CM_REFUSED. */
static int reader_fault(struct reader *reader, const struct place *place, const char *expected,
                        const char *have) {
    struct text where = {.arena = reader->arena};
    if (place == NULL)
        text_append(&where, "the file");
    else
        append_place(&where, place);
    return diag_error(reader->diag, DIAG_FORMAT, "%s: expected %s, got %.80s",
                      text_string(&where), expected, have);
}

static int wrong_kind(const struct slot *slot, const char *expected) {
    return reader_fault(slot->reader, slot->place, expected, json_describe(slot->item));
}

static bool is_left_out(const struct slot *slot) {
    return slot->field->optional && json_is_null(slot->item);
}

static int to_integer(const struct slot *slot, int64_t *ret) {
    if (json_digits(slot->item) == NULL) return wrong_kind(slot, "an integer");
    return json_to_int64(slot->item, ret) ? CM_OK : wrong_kind(slot, "an integer below 2^63");
}

static int read_count(const struct slot *slot) {
    int64_t value = CM_UNKNOWN;
    const int status = json_is_null(slot->item) ? CM_OK : to_integer(slot, &value);
    if (status == CM_OK && slot->reader->is_line && json_digits(slot->item) && value < 0)
        return reader_fault(slot->reader, slot->place, "an integer >= 0",
                            json_digits(slot->item));
    STORE(slot->at, value);
    return status;
}

/* Reads the elements of an array, or members of an object, to `elements`, each `size` bytes. */
static int read_each(const struct slot *outer, const struct json_value *items, read_kind *read,
                     char *elements, size_t size) {
    struct place place = {outer->place, NULL, 0};
    struct slot slot = *outer;
    slot.place = &place;
    json_each(item, items) {
        slot.item = item;
        slot.at = elements + place.index * size;
        if (json_is_object(items)) place.key = json_key(item);
        const int status = read(&slot);
        if (status < 0) return status;
        place.index++;
    }
    return CM_OK;
}

static int read_triple(const struct slot *slot) {
    if (!json_is_array(slot->item) || json_count(slot->item) != 3)
        return wrong_kind(slot, "an array of three");
    return read_each(slot, slot->item, read_count, slot->at, sizeof(int64_t));
}

/* Reads a decimal as an integer in millionths: "12.5" as 12500000, "6.7e-05" as 67. */
static int read_ratio(const struct slot *slot) {
    char digits[32];
    size_t n = 0;
    int64_t n_places = 0;
    int64_t exponent = 0;
    int64_t value = CM_UNKNOWN;
    const char *text = json_digits(slot->item);
    bool is_valid = text != NULL;
    const char *point = is_valid ? strchr(text, '.') : NULL;
    const char *power = is_valid ? strpbrk(text, "eE") : NULL;
    for (; is_valid && *text != '\0' && text != power; text++) {
        if (text == point) continue;
        is_valid = n + 1 < sizeof(digits) && (text_is_digit(*text) || (*text == '-' && n == 0));
        digits[n++] = *text;
        n_places += point != NULL && text > point;
    }
    if (power != NULL) {
        power += power[1] == '+' ? 2 : 1;
        is_valid = is_valid && text_to_int64(power, strlen(power), &exponent) &&
                   exponent >= -99 && exponent <= 99;
        n_places -= exponent;
    }
    is_valid = is_valid && n_places <= JSON_RATIO_PLACES;
    for (; is_valid && n_places < JSON_RATIO_PLACES; n_places++) {
        is_valid = n + 1 < sizeof(digits);
        digits[n++] = '0';
    }
    if (!json_is_null(slot->item) &&
        !(is_valid && text_to_int64(digits, n, &value) && is_known(value)))
        return wrong_kind(slot, "a decimal of at most six places");
    STORE(slot->at, value);
    return CM_OK;
}

/* Reads an element of a list of indices, which must not be null. */
static int read_position(const struct slot *slot) {
    int64_t value = 0;
    const int status = to_integer(slot, &value);
    if (status < 0) return status;
    if (value < 0 || (uint64_t)value >= CM_NO_INDEX) return wrong_kind(slot, "an index");
    const size_t index = (size_t)value;
    STORE(slot->at, index);
    return CM_OK;
}

static int read_index(const struct slot *slot) {
    const size_t none = CM_NO_INDEX;
    if (!json_is_null(slot->item)) return read_position(slot);
    STORE(slot->at, none);
    return CM_OK;
}

static int read_depth(const struct slot *slot) {
    int64_t value = 0;
    const int status = to_integer(slot, &value);
    if (status < 0) return status;
    if (value < 0 || value >= INT_MAX) return wrong_kind(slot, "a depth");
    const int depth = (int)value;
    STORE(slot->at, depth);
    return CM_OK;
}

static int read_flag(const struct slot *slot) {
    bool flag = false;
    if (!is_left_out(slot) && !json_to_bool(slot->item, &flag))
        return wrong_kind(slot, "true or false");
    STORE(slot->at, flag);
    return CM_OK;
}

static int copy_text(struct reader *reader, const char *text, char *at) {
    const char *copy = arena_strdup(reader->arena, text);
    STORE(at, copy);
    return copy == NULL ? diag_no_memory(reader->diag) : CM_OK;
}

static int read_string(const struct slot *slot) {
    const char *text = json_string(slot->item);
    return text == NULL ? wrong_kind(slot, "a string")
                        : copy_text(slot->reader, text, slot->at);
}

static int read_text(const struct slot *slot) {
    const char *empty = "";
    if (!is_left_out(slot)) return read_string(slot);
    STORE(slot->at, empty);
    return CM_OK;
}

static int read_nullable(const struct slot *slot) {
    return json_is_null(slot->item) ? CM_OK : read_string(slot);
}

static int read_severity(const struct slot *slot) {
    for (size_t i = 0; json_severities[i] != NULL; i++) {
        const enum cm_severity severity = (enum cm_severity)i;
        if (!text_equal(json_string(slot->item), json_severities[i])) continue;
        STORE(slot->at, severity);
        return CM_OK;
    }
    return wrong_kind(slot, "\"note\", \"warning\" or \"error\"");
}

static int read_module(const struct slot *slot) {
    struct reader *reader = slot->reader;
    const struct cm_result *result = reader->result;
    const char *path = json_string(slot->item);
    size_t index = CM_NO_INDEX;
    if (!json_is_null(slot->item)) {
        if (path == NULL) return wrong_kind(slot, "a string");
        if (result->n_modules >= MAP_NONE)
            return diag_error(reader->diag, DIAG_LIMIT,
                              "at most %u modules are supported, got %zu", MAP_NONE - 1,
                              result->n_modules);
        const bool is_first = reader->modules.n_entries == 0;
        for (size_t i = 0; is_first && i < result->n_modules; i++) {
            uint32_t existing = MAP_NONE;
            if (map_add(&reader->modules, result->modules[i].path, (uint32_t)i, &existing) < 0)
                return diag_no_memory(reader->diag);
        }
        const uint32_t found = map_get(&reader->modules, path);
        if (found == MAP_NONE)
            return reader_fault(reader, slot->place, "a module's path", path);
        index = found;
    }
    STORE(slot->at, index);
    return CM_OK;
}

static int read_object(const struct slot *slot) {
    return read_record(slot->reader, slot->field->record, slot->place, slot->item, slot->at);
}

static int read_part(const struct slot *slot) {
    const bool present = !json_is_null(slot->item);
    STORE(slot->base + slot->field->count_offset, present);
    return present ? read_object(slot) : CM_OK;
}

static int read_pointer(const struct slot *slot) {
    const struct json_record *record = slot->field->record;
    if (is_left_out(slot)) return CM_OK;
    char *base = arena_alloc(slot->reader->arena, record->size);
    if (base == NULL) return diag_no_memory(slot->reader->diag);
    STORE(slot->at, base);
    return read_record(slot->reader, record, slot->place, slot->item, base);
}

/* Reads the elements into a new array; stores the array and its length. */
static int read_many(const struct slot *slot, read_kind *read, size_t size) {
    const size_t n = json_count(slot->item);
    char *elements = arena_array(slot->reader->arena, n, size);
    if (elements == NULL) return diag_no_memory(slot->reader->diag);
    const int status = read_each(slot, slot->item, read, elements, size);
    STORE(slot->base + slot->field->count_offset, n);
    STORE(slot->at, elements);
    return status;
}

static int read_list(const struct slot *slot) {
    if (is_left_out(slot)) return CM_OK;
    if (!json_is_array(slot->item)) return wrong_kind(slot, "an array");
    if (slot->field->kind == JSON_TEXTS)
        return read_many(slot, read_string, sizeof(const char *));
    if (slot->field->kind == JSON_INDICES)
        return read_many(slot, read_position, sizeof(size_t));
    return read_many(slot, read_object, slot->field->record->size);
}

static int read_size(const struct slot *slot) {
    const bool is_default = slot->field->kind == JSON_OPSETS &&
                            text_equal(json_key(slot->item), JSON_DEFAULT_DOMAIN);
    struct slot size = *slot;
    size.at = slot->at + offsetof(struct cm_named_size, size);
    const int status = copy_text(slot->reader, is_default ? "" : json_key(slot->item),
                                 slot->at + offsetof(struct cm_named_size, name));
    return status < 0 ? status : read_count(&size);
}

static int read_sizes(const struct slot *slot) {
    if (is_left_out(slot)) return CM_OK;
    if (!json_is_object(slot->item)) return wrong_kind(slot, "an object");
    return read_many(slot, read_size, sizeof(struct cm_named_size));
}

/* Adds the bit of the column with this key to the set at `at`. */
static int read_bound(const struct slot *slot) {
    uint32_t bits = 0;
    memcpy(&bits, slot->at, sizeof(bits));
    for (size_t i = 0; i < n_columns; i++) {
        if (!text_equal(columns[i].key, json_string(slot->item))) continue;
        bits |= column_bit(&columns[i]);
        STORE(slot->at, bits);
        return CM_OK;
    }
    return reader_fault(slot->reader, slot->place, "the key of a figure", "another value");
}

static int read_bounds(const struct slot *slot) {
    if (json_is_null(slot->item)) return CM_OK;
    if (!json_is_array(slot->item)) return wrong_kind(slot, "an array");
    return read_each(slot, slot->item, read_bound, slot->at, 0);
}

/* Reads {"map": {"key": "int64", "dtype": "float", "shape": [1]}}. The inner object is the
 * element type; for a sparse tensor, the dtype and shape of the tensor itself. */
static int read_wrapped_type(const struct slot *slot, struct cm_type *type) {
    struct reader *reader = slot->reader;
    const struct json_value *item = json_first(slot->item);
    enum cm_type_kind kind = CM_TYPE_MAP;
    while (kind > CM_TYPE_TENSOR && (json_count(slot->item) != 1 ||
                                     !text_equal(json_key(item), json_type_wrappers[kind])))
        kind--;
    if (kind == CM_TYPE_TENSOR)
        return reader_fault(reader, slot->place,
                            "one of sequence, optional, map, sparse_tensor",
                            "an object without it");
    if (reader->type_depth == TYPE_MAX_DEPTH)
        return reader_fault(reader, slot->place, "a type of few levels", "a deeper one");
    struct cm_type *inner = arena_alloc(reader->arena, sizeof(*inner));
    if (inner == NULL) return diag_no_memory(reader->diag);
    const struct place place = {slot->place, json_type_wrappers[kind], 0};
    reader->type_depth++;
    const int status = read_record(reader, &json_type, &place, item, (char *)inner);
    reader->type_depth--;
    if (status < 0) return status;
    if (kind == CM_TYPE_SPARSE_TENSOR)
        *type = *inner;
    else
        type->element = inner;
    type->kind = kind;
    const struct json_value *key = kind == CM_TYPE_MAP ? json_get(item, "key") : NULL;
    const struct place key_place = {&place, "key", 0};
    const struct slot of_key = {
        .reader = reader, .place = &key_place, .item = key, .at = (char *)&type->dtype};
    return json_is_null(key) ? CM_OK : read_string(&of_key);
}

static int read_dtype(const struct slot *slot) {
    struct cm_type type = {.kind = CM_TYPE_UNKNOWN, .rank = -1};
    struct slot dtype = *slot;
    dtype.at = (char *)&type.dtype;
    int status = CM_OK;
    if (json_is_object(slot->item)) {
        status = read_wrapped_type(slot, &type);
    } else if (!json_is_null(slot->item)) {
        type.kind = CM_TYPE_TENSOR;
        status = read_string(&dtype);
    }
    STORE(slot->at, type);
    return status;
}

static int read_dims(const struct slot *slot, const int64_t **ret) {
    const size_t n = json_count(slot->item);
    if (n > INT_MAX) return reader_fault(slot->reader, slot->place, "a shape", "too many dims");
    int64_t *dims = arena_array(slot->reader->arena, n, sizeof(*dims));
    if (dims == NULL) return diag_no_memory(slot->reader->diag);
    *ret = dims;
    return read_each(slot, slot->item, read_count, (char *)dims, sizeof(*dims));
}

/* Sets kind, rank and dims of a type that read_dtype has started. */
static int read_shape(const struct slot *slot) {
    struct cm_type type;
    if (json_is_null(slot->item)) return CM_OK;
    if (!json_is_array(slot->item)) return wrong_kind(slot, "an array or null");
    memcpy(&type, slot->at, sizeof(type));
    if (json_type_wrappers[type.kind] != NULL)
        return wrong_kind(slot, "null beside such a dtype");
    const int status = read_dims(slot, &type.dims);
    if (status < 0) return status;
    type.kind = CM_TYPE_TENSOR;
    type.rank = (int)json_count(slot->item);
    STORE(slot->at, type);
    return CM_OK;
}

/* Sets the upper bounds of the dims that read_shape has set; requires one for each dim. */
static int read_upper_bounds(const struct slot *slot) {
    struct cm_type type;
    if (json_is_null(slot->item)) return CM_OK;
    if (!json_is_array(slot->item)) return wrong_kind(slot, "an array");
    memcpy(&type, slot->at, sizeof(type));
    const int status = read_dims(slot, &type.dims_upper_bound);
    if (status < 0) return status;
    if (type.rank < 0 || json_count(slot->item) != (size_t)type.rank)
        return reader_fault(slot->reader, slot->place, "as many dims as the shape has",
                            "another number");
    STORE(slot->at, type);
    return CM_OK;
}

/* JSON_GIVEN and JSON_KEYED have no function: only documents that are never read have them. */
static read_kind *const readers[JSON_N_KINDS] = {
    [JSON_COUNT] = read_count,      [JSON_INDEX] = read_index,
    [JSON_DEPTH] = read_depth,      [JSON_FLAG] = read_flag,
    [JSON_TEXT] = read_text,        [JSON_NULLABLE] = read_nullable,
    [JSON_PRESENT] = read_nullable, [JSON_SEVERITY] = read_severity,
    [JSON_DTYPE] = read_dtype,      [JSON_SHAPE] = read_shape,
    [JSON_MODULE] = read_module,    [JSON_OBJECT] = read_object,
    [JSON_POINTER] = read_pointer,  [JSON_LIST] = read_list,
    [JSON_TEXTS] = read_list,       [JSON_INDICES] = read_list,
    [JSON_SIZES] = read_sizes,      [JSON_OPSETS] = read_sizes,
    [JSON_PART] = read_part,        [JSON_UPPER_BOUNDS] = read_upper_bounds,
    [JSON_BOUNDS] = read_bounds,    [JSON_RATIO] = read_ratio,
    [JSON_TRIPLE] = read_triple,
};

/* Returns true for a key of the record, or of the head of a document. */
static bool is_key_of(const struct json_record *record, bool is_document, const char *key) {
    if (is_document &&
        (text_equal(key, "schema") || text_equal(key, "$schema") || text_equal(key, "tool")))
        return true;
    for (size_t i = 0; i < record->n_fields; i++)
        if (text_equal(key, record->fields[i].key)) return true;
    return false;
}

static int check_keys(struct reader *reader, const struct json_record *record,
                      const struct place *place, const struct json_value *object) {
    size_t n = 0;
    if (!json_is_object(object))
        return reader_fault(reader, place, "an object", json_describe(object));
    json_each(item, object) {
        const struct place key = {place, json_key(item), 0};
        if (++n > MAX_KEYS) return reader_fault(reader, place, "few keys", "more than 64");
        if (!json_is_first_of_key(object, item))
            return reader_fault(reader, &key, "one value", "two");
    }
    json_each(item, object) {
        const struct place key = {place, json_key(item), 0};
        if (record->closed && !is_key_of(record, place == NULL, json_key(item)))
            return reader_fault(reader, &key, "a key of the schema", "another");
    }
    return CM_OK;
}

/* Reads the value of a key, or of one of its former names. */
static int read_key(struct slot *slot, const struct json_value *object, const char *key,
                    bool optional, read_kind *read) {
    const struct place place = {slot->place, key, 0};
    struct slot member = *slot;
    const char *old = NULL;
    member.place = &place;
    member.item = json_get(object, key);
    for (size_t i = 0; member.item == NULL && (old = names_former(key, i)) != NULL; i++)
        member.item = json_get(object, old);
    if (member.item == NULL && !optional)
        return reader_fault(slot->reader, &place, "a value", "none");
    return read(&member);
}

static int read_record(struct reader *reader, const struct json_record *record,
                       const struct place *place, const struct json_value *item, char *base) {
    int status = check_keys(reader, record, place, item);
    for (size_t i = 0; i < record->n_fields && status == CM_OK; i++) {
        const struct json_field *field = &record->fields[i];
        const struct column *column = NULL;
        struct slot slot = {.reader = reader,
                            .field = field,
                            .place = place,
                            .base = base,
                            .at = base + field->offset};
        if (field->key != NULL) {
            status = read_key(&slot, item, field->key, field->optional, readers[field->kind]);
            continue;
        }
        for (size_t k = 0; status == CM_OK && (column = json_column(field, k)) != NULL; k++) {
            slot.at = base + field->offset + column->offset;
            status = read_key(&slot, item, column->key, !json_column_is_required(field, column),
                              read_count);
        }
    }
    return status;
}

static int check_schema(const struct json_document *document, struct cm_diagnostics *diag,
                        const struct json_value *root) {
    const char *schema = json_string(json_get(root, "schema"));
    if (!json_is_object(root) || schema == NULL)
        return diag_error(diag, DIAG_FORMAT, "schema must be \"%s\", got none",
                          document->schema);
    if (text_equal(schema, document->schema) ||
        (document->old_schema && text_equal(schema, document->old_schema)))
        return CM_OK;
    return diag_error(diag, DIAG_FORMAT, "schema is \"%.60s\", this program reads \"%s\"",
                      schema, document->schema);
}

static int parse_document(const struct json_document *document, const char *text, size_t size,
                          struct cm_diagnostics *diag, void *ret) {
    struct json_value *root = NULL;
    if (size > FILE_MAX_JSON)
        return diag_error(diag, DIAG_LIMIT, "%zu bytes of JSON, at most %zu are read", size,
                          FILE_MAX_JSON);
    int status = json_parse(text, size, diag, &root);
    if (status < 0) return status;
    struct arena *arena = arena_new("result", 0);
    void *base = arena == NULL ? NULL : arena_alloc(arena, document->record->size);
    if (base != NULL) {
        struct reader reader = {.diag = diag, .arena = arena};
        if (document->record == &json_result) reader.result = base;
        map_init(&reader.modules, arena);
        status = check_schema(document, diag, root);
        if (status == CM_OK) status = read_record(&reader, document->record, NULL, root, base);
        if (status == CM_OK && reader.result) status = json_check(reader.result, arena, diag);
    }
    json_free(root);
    if (base == NULL || arena_failed(arena)) status = diag_no_memory(diag);
    if (status < 0) {
        arena_free(arena);
        return status;
    }
    STORE((char *)base + document->arena_offset, arena);
    memcpy(ret, &base, sizeof(base));
    return CM_OK;
}

/* Calls parse_document; its messages name the text. */
static int parse_as(const char *name, const struct json_document *document, const char *text,
                    size_t size, struct cm_diagnostics *diag, void *ret) {
    struct diag_frame frame = {.label = "in", .what = name};
    diag_push(diag, &frame);
    const int status = parse_document(document, text, size, diag, ret);
    diag_pop(diag, &frame);
    return status;
}

int json_document_read(const struct json_document *document, const char *text, size_t size,
                       const char *name, struct cm_diagnostics *diag, void *ret) {
    if (text == NULL || name == NULL || ret == NULL) return diag_null(diag);
    return parse_as(name, document, text, size, diag, ret);
}

/* Returns the first occurrence of a tag, which begins with '<'; NULL: none. */
static const char *find_tag(const char *text, size_t size, const char *tag) {
    const size_t length = strlen(tag);
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        if ((size_t)(end - at) >= length && memcmp(at, tag, length) == 0) return at;
    return NULL;
}

/* Reads the profile of a page by the tags that report/html/ writes; HTML is not parsed. The
 * data do not contain '<', so the next end tag ends them. Messages name the line where the JSON
 * begins. */
static int read_page(const char *text, size_t size, struct cm_diagnostics *diag,
                     struct cm_result **ret) {
    static const char begin[] = JSON_PAGE_BEGIN JSON_PAGE_PROFILE JSON_PAGE_OPEN;
    static const char next[] = JSON_PAGE_BEGIN JSON_PAGE_PROFILE "-"; /* other variants */
    const char *tag = find_tag(text, size, begin);
    if (tag == NULL) {
        const int status = diag_error(diag, DIAG_FORMAT, "the page has no script element '%s'",
                                      JSON_PAGE_PROFILE);
        diag_hint(diag, "pages of --format html have one; those of diff and of a failed "
                        "download have none");
        return status;
    }
    const char *data = tag + strlen(begin);
    const char *end = find_tag(data, size - (size_t)(data - text), JSON_PAGE_END);
    size_t line = 1;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(tag - at))) != NULL; at++)
        line++;
    if (end == NULL)
        return diag_error(diag, DIAG_FORMAT,
                          "the page ends inside script element '%s' of line %zu",
                          JSON_PAGE_PROFILE, line);
    char place[64];
    (void)snprintf(place, sizeof place, JSON_PAGE_PROFILE ", from line %zu", line);
    const int status = parse_as(place, &json_profile, data, (size_t)(end - data), diag, ret);
    if (status < 0) return status;
    size_t n = 1;
    for (const char *at = end; at != NULL;
         at = find_tag(at + 1, size - (size_t)(at + 1 - text), next))
        n += at != end;
    if (n > 1)
        diag_warn(diag, DIAG_FORMAT, "the page has %zu profiles, only the first is read", n);
    return CM_OK;
}

int json_line_read(const struct json_record *record, const char *text, size_t size,
                   struct arena *arena, struct cm_diagnostics *diag, void *ret) {
    struct reader reader = {.diag = diag, .arena = arena, .is_line = true};
    struct json_value *root = NULL;
    int status = json_parse(text, size, diag, &root);
    if (status < 0) return status;
    status = read_record(&reader, record, NULL, root, ret);
    json_free(root);
    return arena_failed(arena) ? diag_no_memory(diag) : status;
}

int cm_result_read_json(const char *text, size_t size, const char *name,
                        struct cm_diagnostics *diagnostics, struct cm_result **ret_result) {
    if (text == NULL || name == NULL || ret_result == NULL) return diag_null(diagnostics);
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    size_t i = 0;
    while (i < size && memchr(blanks, text[i], sizeof blanks) != NULL) i++;
    if (i == size || text[i] != '<') /* not HTML: neither JSON nor ONNX begins with '<' */
        return json_document_read(&json_profile, text, size, name, diagnostics, ret_result);
    struct diag_frame frame = {.label = "in", .what = name};
    diag_push(diagnostics, &frame);
    const int status = read_page(text, size, diagnostics, ret_result);
    diag_pop(diagnostics, &frame);
    return status;
}

int cm_sweep_read_json(const char *text, size_t size, const char *name,
                       struct cm_diagnostics *diagnostics, struct cm_sweep **ret_sweep) {
    return json_document_read(&json_sweep, text, size, name, diagnostics, ret_sweep);
}
