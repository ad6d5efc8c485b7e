/* SPDX-License-Identifier: Apache-2.0 */
/* Types from JSON: {"dtype": "float", "shape": [1, null]} and what wraps such a type. */
#include "report/json/json_reader.h"

#include <limits.h>

#include <cjson/cJSON.h>

#include "report/json/json_numbers.h"
#include "report/json/json_schema.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static enum cm_type_kind kind_of_wrapper(const cJSON *wrapper) {
    for (int kind = CM_TYPE_SPARSE_TENSOR; kind <= CM_TYPE_MAP; kind++) {
        const char *name = json_type_wrapper((enum cm_type_kind)kind);
        if (wrapper->child != NULL && strcmp(wrapper->child->string, name) == 0)
            return (enum cm_type_kind)kind;
    }
    return CM_TYPE_UNKNOWN;
}

static int read_map_key(struct json_reader *reader, const struct json_place *outer,
                        const cJSON *inner, struct cm_type *type) {
    const struct json_place place = {outer, "key", 0};
    const cJSON *key = cJSON_GetObjectItemCaseSensitive(inner, "key");
    if (key == NULL || cJSON_IsNull(key)) return CM_OK;
    return reader_string(reader, &place, key, &type->dtype);
}

/* The type inside: itself without its wrapping for a sparse tensor, else its element. */
static int read_inner_type(struct json_reader *reader, const struct json_place *place,
                           const cJSON *item, enum cm_type_kind kind, struct cm_type *type) {
    struct cm_type *inner = arena_alloc(reader->arena, sizeof(*inner));
    if (inner == NULL) return diag_no_memory(reader->diag);
    int status = reader_record(reader, &json_type, place, item, (char *)inner);
    if (status != CM_OK) return status;
    if (kind == CM_TYPE_SPARSE_TENSOR)
        *type = *inner;
    else
        type->element = inner;
    type->kind = kind;
    return kind == CM_TYPE_MAP ? read_map_key(reader, place, item, type) : CM_OK;
}

static int read_wrapped_type(struct json_reader *reader, const struct json_place *outer,
                             const cJSON *wrapper, struct cm_type *type) {
    enum cm_type_kind kind = kind_of_wrapper(wrapper);
    if (kind == CM_TYPE_UNKNOWN || wrapper->child->next != NULL)
        return reader_fault(reader, outer, "one of sequence, optional, map, sparse_tensor",
                            "an object without it");
    if (reader->type_depth == TYPE_MAX_DEPTH)
        return reader_fault(reader, outer, "a type of few levels", "a deeper one");
    const struct json_place place = {outer, json_type_wrapper(kind), 0};
    reader->type_depth++;
    int status = read_inner_type(reader, &place, wrapper->child, kind, type);
    reader->type_depth--;
    return status;
}

int json_read_dtype(struct json_reader *reader, const struct json_field *field,
                    const struct json_place *place, const cJSON *item, char *base) {
    struct cm_type type = {.kind = CM_TYPE_UNKNOWN, .rank = -1};
    int status = CM_OK;
    if (cJSON_IsObject(item)) {
        status = read_wrapped_type(reader, place, item, &type);
    } else if (!cJSON_IsNull(item)) {
        type.kind = CM_TYPE_TENSOR;
        status = reader_string(reader, place, item, &type.dtype);
    }
    STORE(base, field->offset, type);
    return status;
}

static int read_dims(struct json_reader *reader, const struct json_place *outer,
                     const cJSON *item, struct cm_type *type) {
    size_t n = reader_count_items(item);
    if (n > INT_MAX) return reader_fault(reader, outer, "a shape", "too many dims");
    int64_t *dims = arena_array(reader->arena, n, sizeof(*dims));
    if (dims == NULL) return diag_no_memory(reader->diag);
    struct json_place place = {outer, NULL, 0};
    const cJSON *dim = NULL;
    cJSON_ArrayForEach(dim, item) {
        int status = reader_count(reader, &place, dim, &dims[place.index]);
        if (status != CM_OK) return status;
        place.index++;
    }
    type->rank = (int)n;
    type->dims = dims;
    return CM_OK;
}

/* Comes after the shape, of whose rank it is. */
int json_read_most(struct json_reader *reader, const struct json_field *field,
                   const struct json_place *place, const cJSON *item, char *base) {
    struct cm_type type;
    struct cm_type most = {.rank = -1};
    if (cJSON_IsNull(item)) return CM_OK;
    if (!cJSON_IsArray(item)) return reader_wrong_kind(reader, place, "an array", item);
    memcpy(&type, base + field->offset, sizeof(type));
    int status = read_dims(reader, place, item, &most);
    if (status == CM_OK && most.rank != type.rank)
        return reader_fault(reader, place, "as many dims as the shape has", "another number");
    type.dims_upper_bound = most.dims;
    STORE(base, field->offset, type);
    return status;
}

/* Comes after the dtype, which made the type. */
int json_read_shape(struct json_reader *reader, const struct json_field *field,
                    const struct json_place *place, const cJSON *item, char *base) {
    struct cm_type type;
    if (cJSON_IsNull(item)) return CM_OK;
    if (!cJSON_IsArray(item)) return reader_wrong_kind(reader, place, "an array or null", item);
    memcpy(&type, base + field->offset, sizeof(type));
    if (json_type_wrapper(type.kind) != NULL)
        return reader_wrong_kind(reader, place, "null beside such a dtype", item);
    int status = read_dims(reader, place, item, &type);
    type.kind = CM_TYPE_TENSOR;
    STORE(base, field->offset, type);
    return status;
}
