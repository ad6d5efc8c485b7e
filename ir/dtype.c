/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of element types, one row each. */
#include "ir/dtype.h"

#include <string.h>

#include "support/checked.h"

struct dtype_row {
    const char *name;
    const char *short_name;
    int bits;
    enum dtype_class class;
};

/* clang-format off */
static const struct dtype_row rows[DTYPE_N] = {
    /* dtype                    name              short      bits  class */
    [DTYPE_UNDEFINED]       = {"undefined",      "?",         0,   DTYPE_CLASS_NONE},
    [DTYPE_FLOAT]           = {"float",          "f32",       32,  DTYPE_CLASS_FLOAT},
    [DTYPE_UINT8]           = {"uint8",          "u8",        8,   DTYPE_CLASS_INT},
    [DTYPE_INT8]            = {"int8",           "i8",        8,   DTYPE_CLASS_INT},
    [DTYPE_UINT16]          = {"uint16",         "u16",       16,  DTYPE_CLASS_INT},
    [DTYPE_INT16]           = {"int16",          "i16",       16,  DTYPE_CLASS_INT},
    [DTYPE_INT32]           = {"int32",          "i32",       32,  DTYPE_CLASS_INT},
    [DTYPE_INT64]           = {"int64",          "i64",       64,  DTYPE_CLASS_INT},
    [DTYPE_STRING]          = {"string",         "str",       0,   DTYPE_CLASS_STRING},
    [DTYPE_BOOL]            = {"bool",           "b1",        8,   DTYPE_CLASS_BOOL},
    [DTYPE_FLOAT16]         = {"float16",        "f16",       16,  DTYPE_CLASS_FLOAT},
    [DTYPE_DOUBLE]          = {"double",         "f64",       64,  DTYPE_CLASS_FLOAT},
    [DTYPE_UINT32]          = {"uint32",         "u32",       32,  DTYPE_CLASS_INT},
    [DTYPE_UINT64]          = {"uint64",         "u64",       64,  DTYPE_CLASS_INT},
    [DTYPE_COMPLEX64]       = {"complex64",      "c64",       64,  DTYPE_CLASS_COMPLEX},
    [DTYPE_COMPLEX128]      = {"complex128",     "c128",      128, DTYPE_CLASS_COMPLEX},
    [DTYPE_BFLOAT16]        = {"bfloat16",       "bf16",      16,  DTYPE_CLASS_FLOAT},
    [DTYPE_FLOAT8E4M3FN]    = {"float8e4m3fn",   "f8e4m3",    8,   DTYPE_CLASS_FLOAT},
    [DTYPE_FLOAT8E4M3FNUZ]  = {"float8e4m3fnuz", "f8e4m3uz",  8,   DTYPE_CLASS_FLOAT},
    [DTYPE_FLOAT8E5M2]      = {"float8e5m2",     "f8e5m2",    8,   DTYPE_CLASS_FLOAT},
    [DTYPE_FLOAT8E5M2FNUZ]  = {"float8e5m2fnuz", "f8e5m2uz",  8,   DTYPE_CLASS_FLOAT},
    [DTYPE_UINT4]           = {"uint4",          "u4",        4,   DTYPE_CLASS_INT},
    [DTYPE_INT4]            = {"int4",           "i4",        4,   DTYPE_CLASS_INT},
    [DTYPE_FLOAT4E2M1]      = {"float4e2m1",     "f4e2m1",    4,   DTYPE_CLASS_FLOAT},
    [DTYPE_FLOAT8E8M0]      = {"float8e8m0",     "f8e8m0",    8,   DTYPE_CLASS_FLOAT},
    [DTYPE_UINT2]           = {"uint2",          "u2",        2,   DTYPE_CLASS_INT},
    [DTYPE_INT2]            = {"int2",           "i2",        2,   DTYPE_CLASS_INT},
};
/* clang-format on */

static const struct dtype_row *dtype_row(enum dtype dtype) {
    return &rows[(unsigned)dtype < DTYPE_N ? dtype : DTYPE_UNDEFINED];
}

const char *dtype_name(enum dtype dtype) {
    return dtype_row(dtype)->name;
}

const char *dtype_short_name(enum dtype dtype) {
    return dtype_row(dtype)->short_name;
}

enum dtype dtype_from_name(const char *name) {
    for (int i = 0; i < DTYPE_N; i++) {
        if (strcmp(rows[i].name, name) == 0) return (enum dtype)i;
    }
    return DTYPE_UNDEFINED;
}

enum dtype dtype_from_onnx(int64_t number) {
    return number > 0 && number < DTYPE_N ? (enum dtype)number : DTYPE_UNDEFINED;
}

int dtype_bits(enum dtype dtype) {
    return dtype_row(dtype)->bits;
}

enum dtype_class dtype_class(enum dtype dtype) {
    return dtype_row(dtype)->class;
}

bool dtype_is_float(enum dtype dtype) {
    return dtype_class(dtype) == DTYPE_CLASS_FLOAT;
}

bool dtype_is_integer(enum dtype dtype) {
    return dtype_class(dtype) == DTYPE_CLASS_INT;
}

int64_t dtype_bytes(enum dtype dtype, int64_t n_elements) {
    const int bits = dtype_bits(dtype);
    if (is_overflow(n_elements)) return DIM_OVERFLOW;
    if (bits == 0) return DIM_UNKNOWN;
    return bits < 8 ? checked_div_ceil(n_elements, 8 / bits)
                    : checked_mul(n_elements, bits / 8);
}
