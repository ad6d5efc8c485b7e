/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a result by the schema. Each top-level value, each module and each node is one line,
 * built as a small cJSON tree and freed again: memory does not grow with the model, and two
 * files can be compared with diff. Integers are written raw, because cJSON keeps doubles.
 */
#include "costmodel/costmodel.h"

#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "report/json/json_document.h"
#include "report/json/json_print.h"
#include "report/json/json_schema.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

struct json_writer {
    const struct cm_result *result;
    struct arena *arena; /* of the line being built */
    FILE *out;
    int type_depth;
};

static void write_record(struct json_writer *writer, cJSON *object,
                         const struct json_record *record, const char *base);

static void add_to_array(struct json_writer *writer, cJSON *array, cJSON *item) {
    if (item != NULL && cJSON_AddItemToArray(array, item)) return;
    cJSON_Delete(item);
    arena_set_failed(writer->arena);
}

/* The key must outlive the item. */
static void add_to_object(struct json_writer *writer, cJSON *object, const char *key,
                          cJSON *item) {
    if (item != NULL && cJSON_AddItemToObjectCS(object, key, item)) return;
    cJSON_Delete(item);
    arena_set_failed(writer->arena);
}

static cJSON *integer_item(int64_t value) {
    char digits[32];
    if (!is_known(value)) return cJSON_CreateNull();
    snprintf(digits, sizeof(digits), "%" PRId64, value);
    return cJSON_CreateRaw(digits);
}

static cJSON *index_item(size_t index) {
    char digits[32];
    if (index == CM_NO_INDEX) return cJSON_CreateNull();
    snprintf(digits, sizeof(digits), "%zu", index);
    return cJSON_CreateRaw(digits);
}

/* JSON is UTF-8: a name that is not stands as text reports print it, its bytes as \xNN. */
static const char *utf8(struct json_writer *writer, const char *string) {
    struct text safe;
    if (text_is_utf8(string, strlen(string))) return string;
    text_init(&safe, writer->arena);
    text_append_name(&safe, string);
    return text_string(&safe);
}

static cJSON *text_item(struct json_writer *writer, const char *string) {
    if (string == NULL) return cJSON_CreateNull();
    return cJSON_CreateStringReference(utf8(writer, string));
}

/* A scalar or pointer that stands at an offset. */
#define LOAD(type, name, base, offset)                                                         \
    type name;                                                                                 \
    memcpy(&name, (base) + (offset), sizeof(name))

typedef cJSON *write_kind(struct json_writer *writer, const struct json_field *field,
                          const char *base);

static cJSON *write_count(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    (void)writer;
    LOAD(int64_t, value, base, field->offset);
    return integer_item(value);
}

/* All digits that there are, and one after the point: 0.25, 12.0. */
static cJSON *write_ratio(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    char digits[40];
    (void)writer;
    LOAD(int64_t, value, base, field->offset);
    if (!is_known(value)) return cJSON_CreateNull();
    const uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int n = snprintf(digits, sizeof(digits), "%s%" PRIu64 ".%06" PRIu64, value < 0 ? "-" : "",
                     size / CM_RATIO_ONE, size % CM_RATIO_ONE);
    while (digits[n - 1] == '0' && digits[n - 2] != '.') digits[--n] = '\0';
    return cJSON_CreateRaw(digits);
}

static cJSON *write_triple(struct json_writer *writer, const struct json_field *field,
                           const char *base) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < 3; i++) {
        LOAD(int64_t, value, base, field->offset + i * sizeof(value));
        add_to_array(writer, array, integer_item(value));
    }
    return array;
}

static cJSON *write_index(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    (void)writer;
    LOAD(size_t, index, base, field->offset);
    return index_item(index);
}

static cJSON *write_depth(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    (void)writer;
    LOAD(int, depth, base, field->offset);
    return integer_item(depth);
}

static cJSON *write_flag(struct json_writer *writer, const struct json_field *field,
                         const char *base) {
    (void)writer;
    LOAD(bool, flag, base, field->offset);
    return cJSON_CreateBool(flag);
}

static cJSON *write_text(struct json_writer *writer, const struct json_field *field,
                         const char *base) {
    LOAD(const char *, string, base, field->offset);
    return text_item(writer, string == NULL ? "" : string);
}

static cJSON *write_nullable(struct json_writer *writer, const struct json_field *field,
                             const char *base) {
    LOAD(const char *, string, base, field->offset);
    return text_item(writer, string);
}

static cJSON *write_severity(struct json_writer *writer, const struct json_field *field,
                             const char *base) {
    LOAD(enum cm_severity, severity, base, field->offset);
    return text_item(writer, json_severities[severity]);
}

static const struct cm_type unknown_type = {.kind = CM_TYPE_UNKNOWN, .rank = -1};

static cJSON *type_object(struct json_writer *writer, const struct cm_type *type) {
    cJSON *object = cJSON_CreateObject();
    if (type == NULL) type = &unknown_type;
    write_record(writer, object, &json_type, (const char *)type);
    return object;
}

/* {"sequence": {"dtype": "float", "shape": [1, 2]}}; a map has its "key" beside them. */
static cJSON *wrapped_type(struct json_writer *writer, const struct cm_type *type) {
    if (writer->type_depth == TYPE_MAX_DEPTH) return cJSON_CreateNull();
    cJSON *wrapper = cJSON_CreateObject();
    cJSON *inner = NULL;
    writer->type_depth++;
    if (type->kind == CM_TYPE_SPARSE_TENSOR) {
        struct cm_type dense = *type;
        dense.kind = CM_TYPE_TENSOR;
        inner = type_object(writer, &dense);
    } else {
        inner = type_object(writer, type->element);
    }
    if (type->kind == CM_TYPE_MAP)
        add_to_object(writer, inner, "key", text_item(writer, type->dtype));
    add_to_object(writer, wrapper, json_type_wrapper(type->kind), inner);
    writer->type_depth--;
    return wrapper;
}

static cJSON *write_dtype(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    LOAD(struct cm_type, type, base, field->offset);
    if (json_type_wrapper(type.kind) != NULL) return wrapped_type(writer, &type);
    return text_item(writer, type.kind == CM_TYPE_TENSOR ? type.dtype : NULL);
}

static cJSON *write_shape(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    LOAD(struct cm_type, type, base, field->offset);
    if (type.kind != CM_TYPE_TENSOR || type.rank < 0) return cJSON_CreateNull();
    cJSON *shape = cJSON_CreateArray();
    for (int i = 0; i < type.rank; i++) add_to_array(writer, shape, integer_item(type.dims[i]));
    return shape;
}

static cJSON *write_most(struct json_writer *writer, const struct json_field *field,
                         const char *base) {
    LOAD(struct cm_type, type, base, field->offset);
    cJSON *shape = cJSON_CreateArray();
    for (int i = 0; i < type.rank; i++)
        add_to_array(writer, shape, integer_item(type.dims_upper_bound[i]));
    return shape;
}

static cJSON *write_bounds(struct json_writer *writer, const struct json_field *field,
                           const char *base) {
    LOAD(uint32_t, bits, base, field->offset);
    cJSON *keys = cJSON_CreateArray();
    for (size_t i = 0; i < n_columns; i++)
        if ((bits & column_bit(&columns[i])) != 0)
            add_to_array(writer, keys, cJSON_CreateStringReference(columns[i].key));
    return keys;
}

static cJSON *write_module(struct json_writer *writer, const struct json_field *field,
                           const char *base) {
    LOAD(size_t, index, base, field->offset);
    if (index >= writer->result->n_modules) return cJSON_CreateNull();
    return text_item(writer, writer->result->modules[index].path);
}

static cJSON *record_item(struct json_writer *writer, const struct json_record *record,
                          const char *base) {
    cJSON *object = cJSON_CreateObject();
    write_record(writer, object, record, base);
    return object;
}

static cJSON *write_object(struct json_writer *writer, const struct json_field *field,
                           const char *base) {
    return record_item(writer, field->record, base + field->offset);
}

static cJSON *write_pointer(struct json_writer *writer, const struct json_field *field,
                            const char *base) {
    LOAD(const char *, record, base, field->offset);
    return record_item(writer, field->record, record);
}

static cJSON *write_list(struct json_writer *writer, const struct json_field *field,
                         const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const char *, elements, base, field->offset);
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        add_to_array(writer, array,
                     record_item(writer, field->record, elements + i * field->record->size));
    return array;
}

static cJSON *write_keyed(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const char *, elements, base, field->offset);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) {
        const char *element = elements + i * field->record->size;
        LOAD(const char *, key, element, 0);
        add_to_object(writer, object, key, record_item(writer, field->record, element));
    }
    return object;
}

static cJSON *write_texts(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const char *const *, texts, base, field->offset);
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) add_to_array(writer, array, text_item(writer, texts[i]));
    return array;
}

static cJSON *write_indices(struct json_writer *writer, const struct json_field *field,
                            const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const size_t *, indices, base, field->offset);
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) add_to_array(writer, array, index_item(indices[i]));
    return array;
}

static cJSON *write_sizes(struct json_writer *writer, const struct json_field *field,
                          const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const char *, rows, base, field->offset);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) {
        const char *row = rows + i * sizeof(struct cm_named_size);
        LOAD(const char *, name, row, offsetof(struct cm_named_size, name));
        LOAD(int64_t, size, row, offsetof(struct cm_named_size, size));
        if (field->kind == JSON_OPSETS && *name == '\0') name = JSON_DEFAULT_DOMAIN;
        add_to_object(writer, object, utf8(writer, name), integer_item(size));
    }
    return object;
}

static write_kind *const writers[JSON_N_KINDS] = {
    [JSON_COUNT] = write_count,       [JSON_INDEX] = write_index,
    [JSON_DEPTH] = write_depth,       [JSON_FLAG] = write_flag,
    [JSON_TEXT] = write_text,         [JSON_NULLABLE] = write_nullable,
    [JSON_SEVERITY] = write_severity, [JSON_DTYPE] = write_dtype,
    [JSON_SHAPE] = write_shape,       [JSON_MODULE] = write_module,
    [JSON_OBJECT] = write_object,     [JSON_POINTER] = write_pointer,
    [JSON_LIST] = write_list,         [JSON_TEXTS] = write_texts,
    [JSON_INDICES] = write_indices,   [JSON_SIZES] = write_sizes,
    [JSON_OPSETS] = write_sizes,      [JSON_PART] = write_object,
    [JSON_MOST] = write_most,         [JSON_BOUNDS] = write_bounds,
    [JSON_RATIO] = write_ratio,       [JSON_TRIPLE] = write_triple,
    [JSON_GIVEN] = write_count,       [JSON_KEYED] = write_keyed,
};

/* Without a result at hand what may be missing is there where it is known. */
static bool is_there(const struct json_writer *writer, const struct column *column,
                     const struct cm_costs *costs) {
    if (writer->result != NULL) return column_is_there(column, writer->result);
    return !(column->timed || column->part) || is_known(column_get(column, costs));
}

static void write_columns(struct json_writer *writer, cJSON *object,
                          const struct json_field *field, const char *base) {
    LOAD(struct cm_costs, costs, base, field->offset);
    const struct column *column = NULL;
    for (size_t i = 0; (column = json_column(field, i)) != NULL; i++)
        if (is_there(writer, column, &costs))
            add_to_object(writer, object, column->key,
                          integer_item(column_get(column, &costs)));
}

/* What may be missing is, where it says nothing: an empty list, a flag that is not set, a part
 * that was not asked for. */
static bool is_left_out(const struct json_field *field, const char *base) {
    if (!field->optional) return false;
    if (field->kind == JSON_PART || field->kind == JSON_GIVEN) {
        LOAD(bool, present, base, field->count_offset);
        return !present;
    }
    if (field->kind == JSON_FLAG) {
        LOAD(bool, flag, base, field->offset);
        return !flag;
    }
    if (field->kind == JSON_POINTER || field->kind == JSON_NULLABLE) {
        LOAD(const char *, pointer, base, field->offset);
        return pointer == NULL;
    }
    if (field->kind == JSON_BOUNDS) {
        LOAD(uint32_t, bits, base, field->offset);
        return bits == 0;
    }
    if (field->kind == JSON_MOST) {
        LOAD(struct cm_type, type, base, field->offset);
        return type.kind != CM_TYPE_TENSOR || type.dims_upper_bound == NULL;
    }
    if (field->kind != JSON_LIST && field->kind != JSON_SIZES && field->kind != JSON_INDICES)
        return false;
    LOAD(size_t, n, base, field->count_offset);
    return n == 0;
}

static void write_record(struct json_writer *writer, cJSON *object,
                         const struct json_record *record, const char *base) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct json_field *field = &record->fields[i];
        if (is_left_out(field, base)) continue;
        if (field->key == NULL)
            write_columns(writer, object, field, base);
        else
            add_to_object(writer, object, field->key,
                          writers[field->kind](writer, field, base));
    }
}

static void print_item(struct json_writer *writer, cJSON *item) {
    if (arena_failed(writer->arena))
        cJSON_Delete(item);
    else if (!json_print(item, writer->out))
        arena_set_failed(writer->arena);
}

/* One of our own words. */
static void print_key(const struct json_writer *writer, const char *element) {
    LOAD(const char *, key, element, 0);
    fprintf(writer->out, "\"%s\":", key);
}

/* An element a line; a keyed one behind its key. */
static void print_list(struct json_writer *writer, const struct json_field *field,
                       const char *base) {
    LOAD(size_t, n, base, field->count_offset);
    LOAD(const char *, elements, base, field->offset);
    const bool is_keyed = field->kind == JSON_KEYED;
    fputs(is_keyed ? "{" : "[", writer->out);
    for (size_t i = 0; i < n && !arena_failed(writer->arena); i++) {
        const struct arena_mark mark = arena_save(writer->arena);
        const char *element = elements + i * field->record->size;
        fputs(i == 0 ? "\n    " : ",\n    ", writer->out);
        if (is_keyed) print_key(writer, element);
        print_item(writer, record_item(writer, field->record, element));
        arena_restore(writer->arena, mark);
    }
    if (n > 0) fputs("\n  ", writer->out);
    fputs(is_keyed ? "}" : "]", writer->out);
}

static void print_document(struct json_writer *writer, const struct json_document *document,
                           const char *base) {
    fprintf(writer->out, "{\n  \"schema\":\"%s\",\n", document->schema);
    fprintf(writer->out, "  \"tool\":{\"name\":\"costmodel\",\"version\":\"%s\"}",
            CM_VERSION_STRING);
    for (size_t i = 0; i < document->record->n_fields && !arena_failed(writer->arena); i++) {
        const struct json_field *field = &document->record->fields[i];
        if (is_left_out(field, base)) continue;
        fprintf(writer->out, ",\n  \"%s\":", field->key);
        if (field->kind == JSON_LIST || field->kind == JSON_KEYED)
            print_list(writer, field, base);
        else
            print_item(writer, writers[field->kind](writer, field, base));
    }
    fputs("\n}\n", writer->out);
}

static int write_document(struct json_writer *writer, const struct json_document *document,
                          const void *base) {
    writer->arena = arena_new("json line", 0);
    if (writer->arena == NULL) return CM_NO_MEMORY;
    print_document(writer, document, base);
    return arena_end(writer->arena, output_flush(writer->out));
}

int json_document_write(const struct json_document *document, const void *base, FILE *out) {
    struct json_writer writer = {.out = out};
    return write_document(&writer, document, base);
}

int cm_result_write_json(const struct cm_result *result, FILE *out) {
    struct json_writer writer = {.result = result, .out = out};
    return write_document(&writer, &json_profile, result);
}

int cm_sweep_write_json(const struct cm_sweep *sweep, FILE *out) {
    return json_document_write(&json_sweep, sweep, out);
}
