/* SPDX-License-Identifier: Apache-2.0 */
/* Imports TensorProto as a constant. Contents that skim skipped stay in the file. */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

#define DATA_LOCATION_EXTERNAL 1

/* Fields of TensorProto that hold elements. */
enum {
    FIELD_FLOAT = 4,
    FIELD_INT32 = 5,
    FIELD_INT64 = 7,
    FIELD_RAW = 9,
    FIELD_DOUBLE = 10,
    FIELD_UINT64 = 11
};

/* Returns the name of the tensor, for messages. */
static const char *label(struct importer *importer, const Onnx__TensorProto *proto) {
    const char *name =
        proto->name.len == 0
            ? ""
            : arena_strndup(importer->scratch, (const char *)proto->name.data, proto->name.len);
    return name ? name : "";
}

/* Output in the layout of raw_data, for small typed lists, which skim keeps. */
struct raw_writer {
    uint8_t *bytes;
    size_t at;
    size_t width; /* bytes of a unit: an element, or a byte of packed elements */
};

static void put_unit(struct raw_writer *writer, uint64_t bits) {
    for (size_t i = 0; i < writer->width; i++)
        writer->bytes[writer->at++] = (uint8_t)(bits >> (8 * i));
}

static void put_typed(struct raw_writer *writer, const Onnx__TensorProto *proto) {
    for (size_t i = 0; i < proto->n_float_data; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &proto->float_data[i], sizeof(bits));
        put_unit(writer, bits);
    }
    for (size_t i = 0; i < proto->n_double_data; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &proto->double_data[i], sizeof(bits));
        put_unit(writer, bits);
    }
    for (size_t i = 0; i < proto->n_int32_data; i++)
        put_unit(writer, (uint64_t)(int64_t)proto->int32_data[i]);
    for (size_t i = 0; i < proto->n_int64_data; i++)
        put_unit(writer, (uint64_t)proto->int64_data[i]);
    for (size_t i = 0; i < proto->n_uint64_data; i++) put_unit(writer, proto->uint64_data[i]);
}

static size_t n_typed(const Onnx__TensorProto *proto) {
    return proto->n_float_data + proto->n_double_data + proto->n_int32_data +
           proto->n_int64_data + proto->n_uint64_data;
}

/* Returns the number of elements in the field that belongs to the dtype. */
static size_t n_of_type(const Onnx__TensorProto *proto, enum dtype dtype) {
    switch (dtype) {
    case DTYPE_FLOAT:
    case DTYPE_COMPLEX64:
        return proto->n_float_data;
    case DTYPE_DOUBLE:
    case DTYPE_COMPLEX128:
        return proto->n_double_data;
    case DTYPE_INT64:
        return proto->n_int64_data;
    case DTYPE_UINT32:
    case DTYPE_UINT64:
        return proto->n_uint64_data;
    default:
        return proto->n_int32_data;
    }
}

static int typed_contents(struct importer *importer, const Onnx__TensorProto *proto,
                          struct constant *constant) {
    const int bits = dtype_bits(constant->dtype);
    struct raw_writer writer = {.width = bits <= 8 ? 1 : (size_t)bits / 8};
    if (proto->n_float_data)
        writer.width = sizeof(float);
    else if (proto->n_double_data)
        writer.width = sizeof(double);
    if (n_of_type(proto, constant->dtype) != n_typed(proto))
        return diag_error(importer->diag, DIAG_VALUE,
                          "tensor '%s' of type %s stores its data in the field of another type",
                          label(importer, proto), dtype_name(constant->dtype));
    writer.bytes = arena_array(importer->arena, n_typed(proto), writer.width);
    if (!writer.bytes) return diag_no_memory(importer->diag);
    put_typed(&writer, proto);
    constant->place = CONSTANT_RAW;
    constant->is_typed = true;
    constant->raw = writer.bytes;
    constant->length = writer.at;
    return CM_OK;
}

static int string_contents(struct importer *importer, const Onnx__TensorProto *proto,
                           struct constant *constant) {
    const char **texts = arena_array(importer->arena, proto->n_string_data, sizeof(*texts));
    if (!texts) return diag_no_memory(importer->diag);
    if ((int64_t)proto->n_string_data != constant->n_elements) return CM_OK; /* absent */
    for (size_t i = 0; i < proto->n_string_data; i++) {
        texts[i] = import_bytes(importer, &proto->string_data[i]);
        if (!texts[i]) return diag_no_memory(importer->diag);
    }
    constant->place = CONSTANT_IN_MEMORY;
    constant->texts = texts;
    return CM_OK;
}

static void skipped_contents(const Onnx__TensorProto *proto, struct constant *constant) {
    static const enum constant_encoding encodings[] = {
        [FIELD_FLOAT] = ENCODING_PACKED_FIXED4,  [FIELD_INT32] = ENCODING_PACKED_VARINT,
        [FIELD_INT64] = ENCODING_PACKED_VARINT,  [FIELD_RAW] = ENCODING_RAW,
        [FIELD_DOUBLE] = ENCODING_PACKED_FIXED8, [FIELD_UINT64] = ENCODING_PACKED_VARINT,
    };
    uint32_t field = proto->skipped_field;
    if (proto->skipped_length == 0 || field > FIELD_UINT64 || field < FIELD_FLOAT ||
        field == 6 || field == 8)
        return; /* absent */
    constant->place = CONSTANT_IN_FILE;
    constant->encoding = encodings[field];
    constant->is_typed = encodings[field] != ENCODING_RAW;
    constant->offset = proto->skipped_offset;
    constant->length = proto->skipped_length;
}

/* Parses a decimal number of external_data. */
static int external_number(struct importer *importer, const Onnx__TensorProto *proto,
                           const struct entry *entry, uint64_t *ret) {
    const char *text = (const char *)entry->value.at;
    size_t length = span_size(entry->value);
    int64_t value = 0;
    if (!text_to_int64(text, length, &value) || value < 0)
        return diag_error(importer->diag, DIAG_VALUE,
                          "external data of tensor '%s': %.*s must be a number, got '%.*s'",
                          label(importer, proto), (int)span_size(entry->key),
                          (const char *)entry->key.at, (int)length, text);
    *ret = (uint64_t)value;
    return CM_OK;
}

static int external_contents(struct importer *importer, const Onnx__TensorProto *proto,
                             struct constant *constant) {
    constant->place = CONSTANT_EXTERNAL;
    for (size_t i = 0; i < proto->n_external_data; i++) {
        struct entry entry;
        int status = CM_OK;
        if (!message_entry(import_span_of_bytes(&proto->external_data[i]), &entry)) continue;
        if (span_equal(entry.key, "offset"))
            status = external_number(importer, proto, &entry, &constant->offset);
        if (span_equal(entry.key, "length"))
            status = external_number(importer, proto, &entry, &constant->length);
        if (status < 0) return status;
        if (!span_equal(entry.key, "location")) continue;
        if (memchr(entry.value.at, '\0', span_size(entry.value)))
            return diag_error(
                importer->diag, DIAG_VALUE,
                "external data of tensor '%s': location must not contain a NUL byte",
                label(importer, proto));
        constant->location = import_shared(importer, entry.value);
        if (!constant->location) return diag_no_memory(importer->diag);
    }
    if (constant->location) return CM_OK;
    return diag_error(importer->diag, DIAG_VALUE,
                      "external data of tensor '%s' has no location", label(importer, proto));
}

static int contents(struct importer *importer, const Onnx__TensorProto *proto,
                    struct constant *constant) {
    if (proto->data_location == DATA_LOCATION_EXTERNAL)
        return external_contents(importer, proto, constant);
    if (proto->has_skipped_field) {
        skipped_contents(proto, constant);
        return CM_OK;
    }
    if (constant->n_elements == 0) {
        constant->place = CONSTANT_IN_MEMORY;
        return CM_OK;
    }
    if (proto->has_raw_data) {
        constant->place = CONSTANT_RAW;
        constant->length = proto->raw_data.len;
        constant->raw = arena_copy(importer->arena, proto->raw_data.data, proto->raw_data.len);
        return constant->raw ? CM_OK : diag_no_memory(importer->diag);
    }
    if (proto->n_string_data) return string_contents(importer, proto, constant);
    return n_typed(proto) ? typed_contents(importer, proto, constant) : CM_OK;
}

/* Makes a constant without contents, with the type of `proto` and n dims; checks both. */
static int new_constant(struct importer *importer, const Onnx__TensorProto *proto,
                        const int64_t *dims, size_t n, struct constant **ret) {
    const enum dtype dtype = dtype_from_onnx(proto->data_type);
    struct shape shape;
    if (dtype == DTYPE_UNDEFINED)
        return diag_error(importer->diag, DIAG_TYPE,
                          "tensor '%s' has data type %d, which does not exist",
                          label(importer, proto), proto->data_type);
    if (n > SHAPE_MAX_RANK)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "tensor '%s' must have at most %d dims, got %zu",
                          label(importer, proto), SHAPE_MAX_RANK, n);
    for (size_t i = 0; i < n; i++)
        if (dims[i] < 0)
            return diag_error(importer->diag, DIAG_VALUE,
                              "dim %zu of tensor '%s' must be >= 0, got %lld", i,
                              label(importer, proto), (long long)dims[i]);
    if (shape_make(importer->arena, (int)n, dims, &shape) < 0)
        return diag_no_memory(importer->diag);
    if (!is_known(shape_elements(&shape)))
        return diag_error(importer->diag, DIAG_OVERFLOW,
                          "the number of elements of tensor '%s' exceeds 2^63",
                          label(importer, proto));
    *ret = constant_new(importer->arena, dtype, &shape);
    if (!*ret) return diag_no_memory(importer->diag);
    (*ret)->place = CONSTANT_ABSENT;
    return CM_OK;
}

int import_tensor(struct importer *importer, const Onnx__TensorProto *proto,
                  const struct constant **ret) {
    struct constant *constant = NULL;
    int status = new_constant(importer, proto, proto->dims, proto->n_dims, &constant);
    if (status == CM_OK) status = contents(importer, proto, constant);
    if (status == CM_OK) *ret = constant;
    return status;
}

/* Checks indices, [NNZ] of the flattened tensor or [NNZ, rank], against the dims. */
static int check_indices(struct importer *importer, const Onnx__SparseTensorProto *proto,
                         const struct shape *dense, const struct constant *indices) {
    const struct shape *shape = &indices->shape;
    const bool is_flat = shape->rank == 1;
    const int64_t n_values = proto->values->n_dims == 1 ? proto->values->dims[0] : DIM_UNKNOWN;
    const char *name = label(importer, proto->values);
    if ((!is_flat && (shape->rank != 2 || shape->dims[1] != dense->rank)) ||
        shape->dims[0] != n_values)
        return diag_error(importer->diag, DIAG_SHAPE,
                          "sparse tensor '%s' must have one index per value", name);
    if (!constant_has_ints(indices))
        return diag_error(importer->diag, DIAG_TYPE,
                          "indices of sparse tensor '%s' must be integers, got %s", name,
                          dtype_name(indices->dtype));
    for (int64_t i = 0; i < indices->n_elements; i++) {
        const int64_t index = constant_int_at(indices, i);
        const int64_t end = is_flat ? shape_elements(dense) : dense->dims[i % dense->rank];
        if (index < 0 || index >= end)
            return diag_error(importer->diag, DIAG_VALUE,
                              "indices of sparse tensor '%s' must be in [0, %lld), got %lld",
                              name, (long long)end, (long long)index);
    }
    return CM_OK;
}

int import_sparse(struct importer *importer, const Onnx__SparseTensorProto *proto,
                  const struct constant **ret) {
    struct constant *constant = NULL;
    const struct constant *indices = NULL;
    if (!proto->values)
        return diag_error(importer->diag, DIAG_FORMAT, "a sparse tensor has no values");
    int status = new_constant(importer, proto->values, proto->dims, proto->n_dims, &constant);
    if (status < 0) return status;
    if (proto->indices) status = import_tensor(importer, proto->indices, &indices);
    if (status == CM_OK && indices) /* NULL if they are too large to be in memory */
        status = constant_load(indices, NULL, importer->scratch, importer->diag, &indices);
    if (status == CM_OK && indices)
        status = check_indices(importer, proto, &constant->shape, indices);
    if (status == CM_OK) *ret = constant;
    return status;
}
