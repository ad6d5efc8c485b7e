/* SPDX-License-Identifier: Apache-2.0 */
/* Types from JSON: {"dtype": "float", "shape": [1, null]} and what wraps such a type. */
#include "report/json/json_reader.h"

#include <limits.h>

#include "report/json/json_schema.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_value.h"
#include "support/text.h"

#include "support/banned.h"

static enum cm_type_kind kind_of_wrapper(const struct json_value *wrapper) {
    const struct json_value *inner = json_first(wrapper);
    if (json_count(wrapper) != 1) return CM_TYPE_UNKNOWN;
    for (int kind = CM_TYPE_SPARSE_TENSOR; kind <= CM_TYPE_MAP; kind++)
        if (text_equal(json_key(inner), json_type_wrapper((enum cm_type_kind)kind)))
            return (enum cm_type_kind)kind;
    return CM_TYPE_UNKNOWN;
}

/* {"map": {"key": "int64", "dtype": "float", "shape": [1]}}; a sparse tensor has no element,
 * its own type is inside. */
static int read_wrapped_type(struct json_reader *reader, const struct json_place *outer,
                             const struct json_value *wrapper, struct cm_type *type) {
    const enum cm_type_kind kind = kind_of_wrapper(wrapper);
    const struct json_value *item = json_first(wrapper);
    if (kind == CM_TYPE_UNKNOWN)
        return reader_fault(reader, outer, "one of sequence, optional, map, sparse_tensor",
                            "an object without it");
    if (reader->type_depth == TYPE_MAX_DEPTH)
        return reader_fault(reader, outer, "a type of few levels", "a deeper one");
    struct cm_type *inner = arena_alloc(reader->arena, sizeof(*inner));
    if (inner == NULL) return diag_no_memory(reader->diag);
    const struct json_place place = {outer, json_type_wrapper(kind), 0};
    reader->type_depth++;
    const int status = reader_record(reader, &json_type, &place, item, (char *)inner);
    reader->type_depth--;
    if (status != CM_OK) return status;
    if (kind == CM_TYPE_SPARSE_TENSOR)
        *type = *inner;
    else
        type->element = inner;
    type->kind = kind;
    const struct json_value *key = kind == CM_TYPE_MAP ? json_get(item, "key") : NULL;
    const struct json_place key_place = {&place, "key", 0};
    return json_is_null(key) ? CM_OK : reader_string(reader, &key_place, key, &type->dtype);
}

int json_read_dtype(struct json_reader *reader, const struct json_field *field,
                    const struct json_place *place, const struct json_value *item, char *base) {
    struct cm_type type = {.kind = CM_TYPE_UNKNOWN, .rank = -1};
    int status = CM_OK;
    if (json_is_object(item)) {
        status = read_wrapped_type(reader, place, item, &type);
    } else if (!json_is_null(item)) {
        type.kind = CM_TYPE_TENSOR;
        status = reader_string(reader, place, item, &type.dtype);
    }
    STORE(base, field->offset, type);
    return status;
}

static int read_dims(struct json_reader *reader, const struct json_place *outer,
                     const struct json_value *item, struct cm_type *type) {
    size_t n = json_count(item);
    if (n > INT_MAX) return reader_fault(reader, outer, "a shape", "too many dims");
    int64_t *dims = arena_array(reader->arena, n, sizeof(*dims));
    if (dims == NULL) return diag_no_memory(reader->diag);
    struct json_place place = {outer, NULL, 0};
    json_each(dim, item) {
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
                   const struct json_place *place, const struct json_value *item, char *base) {
    struct cm_type type;
    struct cm_type most = {.rank = -1};
    if (json_is_null(item)) return CM_OK;
    if (!json_is_array(item)) return reader_wrong_kind(reader, place, "an array", item);
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
                    const struct json_place *place, const struct json_value *item, char *base) {
    struct cm_type type;
    if (json_is_null(item)) return CM_OK;
    if (!json_is_array(item)) return reader_wrong_kind(reader, place, "an array or null", item);
    memcpy(&type, base + field->offset, sizeof(type));
    if (json_type_wrapper(type.kind) != NULL)
        return reader_wrong_kind(reader, place, "null beside such a dtype", item);
    int status = read_dims(reader, place, item, &type);
    type.kind = CM_TYPE_TENSOR;
    STORE(base, field->offset, type);
    return status;
}
