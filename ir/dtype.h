/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, with the numbers of TensorProto.DataType (IR version 14). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dtype {
    DTYPE_UNDEFINED = 0,
    DTYPE_FLOAT = 1,
    DTYPE_UINT8 = 2,
    DTYPE_INT8 = 3,
    DTYPE_UINT16 = 4,
    DTYPE_INT16 = 5,
    DTYPE_INT32 = 6,
    DTYPE_INT64 = 7,
    DTYPE_STRING = 8,
    DTYPE_BOOL = 9,
    DTYPE_FLOAT16 = 10,
    DTYPE_DOUBLE = 11,
    DTYPE_UINT32 = 12,
    DTYPE_UINT64 = 13,
    DTYPE_COMPLEX64 = 14,
    DTYPE_COMPLEX128 = 15,
    DTYPE_BFLOAT16 = 16,
    DTYPE_FLOAT8E4M3FN = 17,
    DTYPE_FLOAT8E4M3FNUZ = 18,
    DTYPE_FLOAT8E5M2 = 19,
    DTYPE_FLOAT8E5M2FNUZ = 20,
    DTYPE_UINT4 = 21,
    DTYPE_INT4 = 22,
    DTYPE_FLOAT4E2M1 = 23,
    DTYPE_FLOAT8E8M0 = 24,
    DTYPE_UINT2 = 25,
    DTYPE_INT2 = 26,
    DTYPE_N
};

enum dtype_class {
    DTYPE_CLASS_NONE,
    DTYPE_CLASS_FLOAT,
    DTYPE_CLASS_INT,
    DTYPE_CLASS_BOOL,
    DTYPE_CLASS_STRING,
    DTYPE_CLASS_COMPLEX,
};

/* Returns ONNX's lower-case name, "float", "int64" or "undefined", as static text. */
const char *dtype_name(enum dtype dtype);
/* Returns the short name for dumps: "f32", "i64", "b1"; "?" for undefined. */
const char *dtype_short_name(enum dtype dtype);
/* Returns the dtype with this dtype_name; DTYPE_UNDEFINED if there is none. */
enum dtype dtype_from_name(const char *name);
/* Returns the dtype of a number in the file; DTYPE_UNDEFINED if the number is invalid. */
enum dtype dtype_from_onnx(int64_t number);
/* Returns the bits of one element as stored; 0 for string and undefined. */
int dtype_bits(enum dtype dtype);
enum dtype_class dtype_class(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);
bool dtype_is_integer(enum dtype dtype); /* signed or unsigned; not bool */
/* Returns the bytes of n elements, rounded up for dtypes of less than 8 bits; DIM_UNKNOWN for
 * strings and undefined. DIM_UNKNOWN and DIM_OVERFLOW propagate. */
int64_t dtype_bytes(enum dtype dtype, int64_t n_elements);
