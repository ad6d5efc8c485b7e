/* SPDX-License-Identifier: Apache-2.0 */
/* Writes documents by their schema tables. Each top-level value, each module and each node is
 * one line, so that two files can be compared with diff. */
#include "report/report.h"

#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "report/types.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_writer.h"

struct writer {
    const struct cm_result *result; /* NULL: the document is not a profile */
    struct json_writer json;
    int type_depth;
};

static void write_record(struct writer *writer, const struct json_record *record,
                         const char *base);

static void write_dims(struct json_writer *json, const int64_t *dims, int rank) {
    json_begin(json, '[');
    for (int i = 0; i < rank; i++) json_write_integer(json, dims[i]);
    json_end(json, ']');
}

/* Writes "float" or {"sequence": {"dtype": "float", "shape": [1, 2]}}; a map also has "key". */
static void write_dtype(struct writer *writer, const struct cm_type *type) {
    static const struct cm_type unknown = {.kind = CM_TYPE_UNKNOWN, .rank = -1};
    struct json_writer *json = &writer->json;
    if (json_type_wrappers[type->kind] == NULL) {
        json_write_string(json, type->kind == CM_TYPE_TENSOR ? type->dtype : NULL);
        return;
    }
    if (writer->type_depth == TYPE_MAX_DEPTH) {
        json_write_null(json);
        return;
    }
    struct cm_type inner = type->element ? *type->element : unknown;
    if (type->kind == CM_TYPE_SPARSE_TENSOR) {
        inner = *type;
        inner.kind = CM_TYPE_TENSOR;
    }
    writer->type_depth++;
    json_begin(json, '{');
    json_open(json, json_type_wrappers[type->kind], '{');
    write_record(writer, &json_type, (const char *)&inner);
    if (type->kind == CM_TYPE_MAP) json_key_string(json, "key", type->dtype);
    json_end(json, '}');
    json_end(json, '}');
    writer->type_depth--;
}

static void write_object(struct writer *writer, const struct json_record *record,
                         const char *base) {
    json_begin(&writer->json, '{');
    write_record(writer, record, base);
    json_end(&writer->json, '}');
}

/* Writes a list, or an object of sizes or records. `by_line`: each record starts a line. */
static void write_many(struct writer *writer, const struct json_field *field, const char *base,
                       bool by_line) {
    const size_t n = *(const size_t *)(const void *)(base + field->count_offset);
    const void *elements = *(const void *const *)(const void *)(base + field->offset);
    const bool is_array =
        field->kind == JSON_LIST || field->kind == JSON_TEXTS || field->kind == JSON_INDICES;
    json_begin(&writer->json, is_array ? '[' : '{');
    for (size_t i = 0; i < n; i++) {
        if (by_line && field->record) json_break_line(&writer->json, 4, false);
        struct json_writer *json = &writer->json;
        if (field->kind == JSON_TEXTS) {
            json_write_string(json, ((const char *const *)elements)[i]);
        } else if (field->kind == JSON_INDICES) {
            json_write_index(json, ((const size_t *)elements)[i]);
        } else if (field->kind == JSON_SIZES || field->kind == JSON_OPSETS) {
            const struct cm_named_size *row = (const struct cm_named_size *)elements + i;
            const bool is_default = field->kind == JSON_OPSETS && row->name[0] == '\0';
            json_key_integer(json, is_default ? JSON_DEFAULT_DOMAIN : row->name, row->size);
        } else {
            const void *element = (const char *)elements + i * field->record->size;
            if (field->kind == JSON_KEYED) json_write_key(json, *(const char *const *)element);
            write_object(writer, field->record, element);
        }
    }
    if (by_line && field->record && n > 0) json_break_line(&writer->json, 2, true);
    json_end(&writer->json, is_array ? ']' : '}');
}

/* Writes a value of a kind that write_value does not handle itself. */
static void write_scalar(struct json_writer *json, const struct json_field *field,
                         const void *at) {
    const struct cm_type *type = at;
    switch (field->kind) {
    case JSON_COUNT:
    case JSON_GIVEN:
        json_write_integer(json, *(const int64_t *)at);
        return;
    case JSON_RATIO:
        json_write_decimal(json, *(const int64_t *)at, JSON_RATIO_PLACES);
        return;
    case JSON_TRIPLE:
        write_dims(json, at, 3);
        return;
    case JSON_INDEX:
        json_write_index(json, *(const size_t *)at);
        return;
    case JSON_DEPTH:
        json_write_integer(json, *(const int *)at);
        return;
    case JSON_FLAG:
        json_write_bool(json, *(const bool *)at);
        return;
    case JSON_TEXT:
    case JSON_PRESENT:
    case JSON_NULLABLE: {
        const char *text = *(const char *const *)at;
        json_write_string(json, text == NULL && field->kind == JSON_TEXT ? "" : text);
        return;
    }
    case JSON_SEVERITY:
        json_write_string(json, json_severities[*(const enum cm_severity *)at]);
        return;
    case JSON_BOUNDS: /* the keys of the columns whose bits are set */
        json_begin(json, '[');
        for (size_t i = 0; i < n_columns; i++)
            if ((*(const uint32_t *)at & column_bit(&columns[i])) != 0)
                json_write_string(json, columns[i].key);
        json_end(json, ']');
        return;
    case JSON_SHAPE:
        if (type->kind != CM_TYPE_TENSOR || type->rank < 0)
            json_write_null(json);
        else
            write_dims(json, type->dims, type->rank);
        return;
    case JSON_UPPER_BOUNDS:
        write_dims(json, type->dims_upper_bound, type->rank);
        return;
    default:
        BUG("not the kind of one value");
    }
}

static void write_value(struct writer *writer, const struct json_field *field, const char *base,
                        bool by_line) {
    const struct cm_result *result = writer->result;
    const void *at = base + field->offset;
    switch (field->kind) {
    case JSON_MODULE: {
        const size_t module = *(const size_t *)at;
        json_write_string(&writer->json,
                          module < result->n_modules ? result->modules[module].path : NULL);
        return;
    }
    case JSON_POINTER:
        write_object(writer, field->record, *(const char *const *)at);
        return;
    case JSON_OBJECT:
    case JSON_PART:
        write_object(writer, field->record, at);
        return;
    case JSON_DTYPE:
        write_dtype(writer, at);
        return;
    case JSON_LIST:
    case JSON_KEYED:
    case JSON_TEXTS:
    case JSON_INDICES:
    case JSON_SIZES:
    case JSON_OPSETS:
        write_many(writer, field, base, by_line);
        return;
    default:
        write_scalar(&writer->json, field, at);
    }
}

/* Returns true if the column is written. A column that the row selects (count_offset) is always
 * written, unless it is modelled. Any other column is written if the result has it or, without
 * a result, if it is known or neither timed nor recent. */
static bool is_there(const struct writer *writer, const struct json_field *field,
                     const struct column *column, const struct cm_costs *costs) {
    if (field->count_offset > 0 && !column->modelled) return true;
    if (writer->result != NULL) return column_is_there(column, writer->result);
    return !(column->timed || column->recent) || is_known(column_get(column, costs));
}

/* Returns true for an optional field without content: empty list, false flag, absent part. */
static bool is_left_out(const struct json_field *field, const char *base) {
    const void *at = base + field->offset;
    const void *count = base + field->count_offset;
    if (!field->optional) return false;
    switch (field->kind) {
    case JSON_PART:
    case JSON_GIVEN:
        return !*(const bool *)count;
    case JSON_FLAG:
        return !*(const bool *)at;
    case JSON_POINTER:
    case JSON_NULLABLE:
        return *(const void *const *)at == NULL;
    case JSON_BOUNDS:
        return *(const uint32_t *)at == 0;
    case JSON_INDEX:
        return *(const size_t *)at == CM_NO_INDEX;
    case JSON_UPPER_BOUNDS:
        return ((const struct cm_type *)at)->kind != CM_TYPE_TENSOR ||
               ((const struct cm_type *)at)->dims_upper_bound == NULL;
    case JSON_LIST:
    case JSON_SIZES:
    case JSON_INDICES:
        return *(const size_t *)count == 0;
    case JSON_RATIO:
        return *(const int64_t *)at == CM_UNKNOWN;
    default:
        return false;
    }
}

static void write_record(struct writer *writer, const struct json_record *record,
                         const char *base) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct json_field *field = &record->fields[i];
        if (is_left_out(field, base)) continue;
        if (field->key != NULL) {
            json_write_key(&writer->json, field->key);
            write_value(writer, field, base, false);
            continue;
        }
        const void *costs = base + field->offset;
        const struct column *column = NULL;
        for (size_t k = 0; (column = json_column(field, k)) != NULL; k++)
            if (is_there(writer, field, column, costs))
                json_key_integer(&writer->json, column->key, column_get(column, costs));
    }
}

int json_document_write(const struct json_document *document, const void *base, bool in_html,
                        FILE *out) {
    if (base == NULL || out == NULL) return CM_USAGE;
    struct writer writer = {.result = document == &json_profile ? base : NULL,
                            .json = {.out = out, .in_html = in_html}};
    struct json_writer *json = &writer.json;
    json_begin(json, '{');
    json_break_line(json, 2, false);
    json_key_string(json, "schema", document->schema);
    json_break_line(json, 2, false);
    json_open(json, "tool", '{');
    json_key_string(json, "name", "costmodel");
    json_key_string(json, "version", cm_version());
    json_end(json, '}');
    for (size_t i = 0; i < document->record->n_fields; i++) {
        const struct json_field *field = &document->record->fields[i];
        if (is_left_out(field, base)) continue;
        json_break_line(json, 2, false);
        json_write_key(json, field->key);
        write_value(&writer, field, base, true);
    }
    json_break_line(json, 0, true);
    json_end(json, '}');
    fputc('\n', out);
    return output_flush(out);
}

int json_line_write(const struct json_record *record, const void *base, FILE *out) {
    struct writer writer = {.json = {.out = out}};
    write_object(&writer, record, base);
    fputc('\n', out);
    return output_flush(out);
}

int report_write_json(const struct report *report) {
    if (report->result == NULL)
        return json_document_write(&json_sweep, report->sweep, false, report->out);
    return json_document_write(&json_profile, report->result, false, report->out);
}
