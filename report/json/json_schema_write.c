/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the schema tables as JSON Schema (draft 2020-12). Records that costmodel writes allow
 * unknown keys, because later versions may add keys. */

#include "costmodel/costmodel.h"
#include "report/json/json_schema.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#define INTEGER     "\"type\": [\"integer\", \"null\"]"
#define TEXT        "\"type\": [\"string\", \"null\"]"
#define LIST(items) "\"type\": \"array\", \"items\": {" items "}"
#define INTEGERS    "\"type\": \"object\", \"additionalProperties\": {" INTEGER "}"

/* put_field handles kinds with a record. */
static const char *const kinds[JSON_N_KINDS] = {
    [JSON_COUNT] = INTEGER,
    [JSON_GIVEN] = INTEGER,
    [JSON_RATIO] = "\"type\": [\"number\", \"null\"]",
    [JSON_TRIPLE] = LIST(INTEGER) ", \"minItems\": 3, \"maxItems\": 3",
    [JSON_INDEX] = INTEGER ", \"minimum\": 0",
    [JSON_DEPTH] = "\"type\": \"integer\", \"minimum\": 0",
    [JSON_FLAG] = "\"type\": \"boolean\"",
    [JSON_TEXT] = "\"type\": \"string\"",
    [JSON_NULLABLE] = TEXT,
    [JSON_PRESENT] = TEXT,
    [JSON_SEVERITY] = "\"enum\": [\"note\", \"warning\", \"error\"]",
    [JSON_DTYPE] = "\"$ref\": \"#/$defs/dtype\"",
    [JSON_SHAPE] = "\"type\": [\"array\", \"null\"], \"items\": {" INTEGER "}",
    [JSON_UPPER_BOUNDS] = LIST(INTEGER),
    [JSON_BOUNDS] = LIST("\"type\": \"string\""),
    [JSON_MODULE] = TEXT,
    [JSON_TEXTS] = LIST("\"type\": \"string\""),
    [JSON_INDICES] = LIST("\"type\": \"integer\", \"minimum\": 0"),
    [JSON_SIZES] = INTEGERS,
    [JSON_OPSETS] = INTEGERS,
};

/* A wrapper contains the element type; "sparse_tensor" the tensor's dtype and shape. */
static const char dtype_schema[] =
    "    \"dtype\": {\"anyOf\": [\n"
    "      {\"type\": [\"string\", \"null\"]},\n"
    "      {\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 1, "
    "\"additionalProperties\": false, \"properties\": {\n"
    "        \"sequence\": {\"$ref\": \"#/$defs/type\"},\n"
    "        \"optional\": {\"$ref\": \"#/$defs/type\"},\n"
    "        \"map\": {\"$ref\": \"#/$defs/type\"},\n"
    "        \"sparse_tensor\": {\"$ref\": \"#/$defs/type\"}\n"
    "      }}\n"
    "    ]}";

#define MAX_RECORDS 128

/* Distinct records of documents, outermost first. */
struct records {
    size_t n;
    const struct json_record *items[MAX_RECORDS];
};

static bool is_listed(const struct records *records, const struct json_record *record) {
    for (size_t i = 0; i < records->n; i++)
        if (records->items[i] == record) return true;
    return false;
}

static void add_record(struct records *records, const struct json_record *record) {
    if (record == NULL || is_listed(records, record)) return;
    BUG_ON(records->n == MAX_RECORDS);
    records->items[records->n++] = record;
}

/* Appends records not listed yet, breadth-first, while iterating. A dtype may contain types. */
static void list_records(const struct json_document *document, struct records *ret) {
    size_t i = ret->n;
    for (add_record(ret, document->record); i < ret->n; i++)
        for (size_t k = 0; k < ret->items[i]->n_fields; k++) {
            const struct json_field *field = &ret->items[i]->fields[k];
            add_record(ret, field->record);
            if (field->kind == JSON_DTYPE) add_record(ret, &json_type);
        }
}

/* Writes a string of this program, which contains no control characters to escape. */
static void put_string(const char *text, FILE *out) {
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static bool is_columns(const struct json_field *field) {
    return field->kind == JSON_FIRST || field->kind == JSON_OTHERS;
}

/* Writes a key, after a comma unless it is the first of its object. */
static void put_key(const char *key, const char *indent, bool *is_first, FILE *out) {
    fprintf(out, "%s\n%s", *is_first ? "" : ",", indent);
    *is_first = false;
    put_string(key, out);
    fputs(": ", out);
}

static void put_field(const struct json_field *field, const char *indent, bool *is_first,
                      FILE *out) {
    const struct column *column = NULL;
    for (size_t i = 0; is_columns(field) && (column = json_column(field, i)) != NULL; i++) {
        put_key(column->key, indent, is_first, out);
        fprintf(out, "{%s, \"description\": ", kinds[JSON_COUNT]);
        put_string(column->about, out);
        fputc('}', out);
    }
    if (is_columns(field)) return;
    put_key(field->key, indent, is_first, out);
    if (field->record == NULL)
        fprintf(out, "{%s", kinds[field->kind]);
    else
        fprintf(out, "{%s\"$ref\": \"#/$defs/%s\"%s",
                field->kind == JSON_LIST ? "\"type\": \"array\", \"items\": {"
                : field->kind == JSON_KEYED
                    ? "\"type\": \"object\", \"additionalProperties\": {"
                    : "",
                field->record->name,
                field->kind == JSON_LIST || field->kind == JSON_KEYED ? "}" : "");
    fputs(", \"description\": ", out);
    put_string(field->about, out);
    fputc('}', out);
}

/* Lists the required keys, including the columns that every document has. */
static void put_required(const struct json_record *record, bool *is_first, FILE *out) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct json_field *field = &record->fields[i];
        const struct column *column = NULL;
        if (field->optional) continue;
        if (!is_columns(field)) {
            fprintf(out, "%s\"%s\"", *is_first ? "" : ", ", field->key);
            *is_first = false;
            continue;
        }
        for (size_t k = 0; (column = json_column(field, k)) != NULL; k++) {
            if (!json_column_is_required(field, column)) continue;
            fprintf(out, "%s\"%s\"", *is_first ? "" : ", ", column->key);
            *is_first = false;
        }
    }
}

static void put_record(const struct json_record *record, FILE *out) {
    bool is_first = true;
    fprintf(out, "    \"%s\": {\n      \"description\": ", record->name);
    put_string(record->about, out);
    fputs(",\n      \"type\": \"object\",\n", out);
    if (record->closed) fputs("      \"additionalProperties\": false,\n", out);
    fputs("      \"required\": [", out);
    put_required(record, &is_first, out);
    fputs("],\n      \"properties\": {", out);
    is_first = true;
    for (size_t i = 0; i < record->n_fields; i++)
        put_field(&record->fields[i], "        ", &is_first, out);
    fputs("\n      }\n    }", out);
}

static void put_schema(const struct json_document *document, FILE *out) {
    const bool closed = document->record->closed;
    struct records records = {.n = 0};
    bool is_first = false;
    list_records(document, &records);
    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"title\": ",
          out);
    put_string(document->schema, out);
    fputs(",\n  \"description\": ", out);
    put_string(document->record->about, out);
    fprintf(out, ",\n  \"type\": \"object\",\n%s  \"required\": [\"schema\"%s",
            closed ? "  \"additionalProperties\": false,\n" : "", closed ? "" : ", \"tool\"");
    put_required(document->record, &is_first, out);
    fputs("],\n  \"properties\": {\n    \"schema\": {\"const\": ", out);
    put_string(document->schema, out);
    fputs("},\n    \"tool\": {\"description\": \"program that wrote the file\", \"type\": "
          "\"object\", \"required\": [\"name\", \"version\"], \"properties\": "
          "{\"name\": {\"type\": \"string\"}, \"version\": {\"type\": \"string\"}}}",
          out);
    if (closed)
        fputs(",\n    \"$schema\": {\"description\": \"for editors\", \"type\": \"string\"}",
              out);
    for (size_t i = 0; i < document->record->n_fields; i++)
        put_field(&document->record->fields[i], "    ", &is_first, out);
    fputs("\n  },\n  \"$defs\": {\n", out);
    for (size_t i = 1; i < records.n; i++) {
        if (i > 1) fputs(",\n", out);
        put_record(records.items[i], out);
    }
    if (is_listed(&records, &json_type)) fprintf(out, ",\n%s", dtype_schema);
    fputs("\n  }\n}\n", out);
}

const char *cm_schema_at(size_t index) {
    for (size_t i = 0; json_documents[i] != NULL; i++)
        if (i == index) return json_documents[i]->what;
    return NULL;
}

int cm_schema_write(const char *name, FILE *out) {
    if (out == NULL || name == NULL) return CM_USAGE;
    for (size_t i = 0; json_documents[i] != NULL; i++) {
        if (!text_equal(json_documents[i]->what, name)) continue;
        put_schema(json_documents[i], out);
        return output_flush(out);
    }
    return CM_USAGE;
}
