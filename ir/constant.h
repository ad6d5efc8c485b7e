/* SPDX-License-Identifier: Apache-2.0 */
/* Constant tensors. Dims and dtype are always known. Elements are read only when constant
 * folding needs them (constant_load), and only of small tensors: weights are never read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct cm_diagnostics;

/* Largest tensor that constant folding reads or makes, in elements; a splat may be larger. */
#define CONSTANT_MAX_ELEMENTS 65536

enum constant_place {
    CONSTANT_IN_MEMORY, /* ints, reals or texts are set, or n_elements is 0 */
    CONSTANT_SPLAT,     /* every element is ints[0], reals[0] or texts[0] */
    CONSTANT_RAW,       /* `raw`: little-endian bytes, laid out as ONNX's raw_data */
    CONSTANT_IN_FILE,   /* `length` bytes at `offset` of the model file, see `encoding` */
    CONSTANT_EXTERNAL,  /* at `offset` of the file `location` */
    CONSTANT_ABSENT,    /* sparse tensors and missing contents: only the dims are known */
};

/* Layout of the bytes of CONSTANT_IN_FILE. */
enum constant_encoding {
    ENCODING_RAW,           /* raw_data: little-endian elements */
    ENCODING_PACKED_FIXED4, /* packed float_data */
    ENCODING_PACKED_FIXED8, /* packed double_data */
    ENCODING_PACKED_VARINT, /* packed int32_data, int64_data, uint64_data */
};

struct constant {
    enum dtype dtype;
    struct shape shape; /* every dim known */
    int64_t n_elements;
    enum constant_place place;
    enum constant_encoding encoding;
    bool is_typed;            /* stored in a typed list (float_data, …), not in raw_data */
    const int64_t *ints;      /* integer and bool dtypes (uint64 as the same 64 bits) */
    const double *reals;      /* float dtypes, widened */
    const char *const *texts; /* strings */
    const uint8_t *raw;
    uint64_t offset;
    uint64_t length;      /* bytes; 0 if an external tensor does not declare it */
    const char *location; /* of an external file, relative to the model's folder */
};

/* One element of a tensor. */
struct number {
    bool given; /* false: the operand is omitted */
    bool real;  /* true: `r` is set (float types); false: `i` (integers and bools) */
    int64_t i;
    double r;
};

/* `read` reads exactly `size` bytes at the `offset` of a CONSTANT_IN_FILE or CONSTANT_EXTERNAL.
 * The frontend sets it; ir and ops do not access files. If the bytes are out of reach (the
 * external file is missing or outside the model's folder, the model is a pipe), sets
 * *ret_reason to a clause for a message ("was not found") and returns CM_OK. Returns another
 * status, after a message, if reading fails, for example because the file is too short. If
 * `size` is 0, only checks whether the bytes are in reach. */
struct constant_reader {
    int (*read)(void *context, const struct constant *constant, void *buffer, size_t size,
                struct cm_diagnostics *diag, const char **ret_reason);
    void *context;
};

/* Returns why the bytes of the constant are out of reach, as `read` above; NULL if they are in
 * reach. Does not read them. */
const char *constant_unreadable(const struct constant *constant,
                                const struct constant_reader *reader);

/* Loads the elements. *ret is `constant` if it is in memory or a splat, else a new constant in
 * `arena`. *ret is NULL if `constant` has more than CONSTANT_MAX_ELEMENTS elements (unless it
 * is a splat), is absent or out of reach, or has a dtype that is not folded (complex, string).
 * Returns CM_OK, CM_REFUSED, CM_IO or CM_NO_MEMORY, which also marks the arena as failed, for
 * callers that ignore the status. */
int constant_load(const struct constant *constant, const struct constant_reader *reader,
                  struct arena *arena, struct cm_diagnostics *diag, const struct constant **ret)
    __attribute__((warn_unused_result));

/* The same without a message; returns NULL if the elements cannot be loaded. */
const struct constant *constant_loaded(const struct constant *constant,
                                       const struct constant_reader *reader,
                                       struct arena *arena);

/* Return a new constant in memory or a splat; NULL if out of memory. shape.dims is borrowed,
 * values are copied. The caller sets the elements of constant_new. */
struct constant *constant_new(struct arena *arena, enum dtype dtype, const struct shape *shape);
struct constant *constant_ints(struct arena *arena, enum dtype dtype, const struct shape *shape,
                               const int64_t *values);
struct constant *constant_reals(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, const double *values);
struct constant *constant_splat(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, struct number value);

/* Return element i; constant_has_ints, _reals or _numbers must be true. */
int64_t constant_int_at(const struct constant *constant, int64_t i);
double constant_real_at(const struct constant *constant, int64_t i);
struct number constant_number_at(const struct constant *constant, int64_t i);
/* Return true if the elements are in memory or a splat, and are integers or bools (ints),
 * floats (reals), or either (numbers). */
bool constant_has_ints(const struct constant *constant);
bool constant_has_reals(const struct constant *constant);
bool constant_has_numbers(const struct constant *constant);
/* Returns < 0, 0 or > 0, as strcmp does, for two elements of one dtype; 0 if one is NaN. */
int number_compare(struct number a, struct number b);

/* Returns true if `a` is `b`, or if the dtypes and the loaded elements are equal; the dims may
 * differ. Returns false for different constants of more than CONSTANT_MAX_ELEMENTS elements. */
bool constant_equal(const struct constant *a, const struct constant *b);

/* Converts the bits of a float dtype to double. */
double constant_widen(enum dtype dtype, uint64_t bits);
