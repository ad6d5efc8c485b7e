/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors whose contents stand in the file. Dims and dtype are always known; the elements are
 * not read until a fold asks (constant_elements), and then only small ones: a weight is never
 * read.
 */
#ifndef IR_CONSTANT_H
#define IR_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct cm_diagnostics;

/* Folds look at no tensor of more elements than this, and make none. Splats may be of any size.
 */
#define CONSTANT_MAX_ELEMENTS 65536

enum constant_place {
    CONSTANT_IN_MEMORY, /* ints, reals or texts are set (or n_elements is 0) */
    CONSTANT_SPLAT,     /* every element is ints[0], reals[0] or texts[0] */
    CONSTANT_RAW,       /* `raw`: little-endian bytes as ONNX's raw_data holds them */
    CONSTANT_IN_FILE,   /* at `offset` of the model file, `length` bytes, laid out as `encoding`
                           says */
    CONSTANT_EXTERNAL,  /* at `offset` of the file `location` */
    CONSTANT_ABSENT, /* sparse tensors and what the file does not hold: dims alone are known */
};

/* How the bytes of CONSTANT_IN_FILE are laid out. */
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
    bool is_typed;       /* stood in a list of its type (float_data, …), not in raw_data */
    const int64_t *ints; /* integer and bool dtypes (uint64 as the same 64 bits) */
    const double *reals; /* float dtypes, widened */
    const char *const *texts; /* strings */
    const uint8_t *raw;
    uint64_t offset;
    uint64_t length;      /* external: 0 where the file does not say */
    const char *location; /* external: relative to the model's folder */
};

/*
 * Reads what CONSTANT_IN_FILE and CONSTANT_EXTERNAL point to: exactly `size` bytes from
 * `offset` on. The frontend fills it in; ir and ops never see a file. CM_OK, or a status with a
 * message (the pipe has passed, the external file is missing or outside the model's folder).
 */
struct constant_reader {
    int (*read)(void *context, const struct constant *constant, void *buffer, size_t size,
                struct cm_diagnostics *diag);
    void *context;
};

/*
 * The elements in memory: `constant` itself when it already is so (or is a splat), else a new
 * constant in `arena`, IN_MEMORY. *ret NULL with CM_OK: more than CONSTANT_MAX_ELEMENTS,
 * absent, or of a dtype that is not folded (complex). Failure: CM_REFUSED, CM_IO, CM_NO_MEMORY;
 * the arena has failed then too (support/arena.h), and who runs the passes will see it,
 * whatever the caller makes of the status.
 */
int constant_load(const struct constant *constant, const struct constant_reader *reader,
                  struct arena *arena, struct cm_diagnostics *diag, const struct constant **ret)
    __attribute__((warn_unused_result));

/* The same without a message; NULL where the elements cannot be had, for whatever reason. */
const struct constant *constant_loaded(const struct constant *constant,
                                       const struct constant_reader *reader,
                                       struct arena *arena);

/* New constants. shape.dims is borrowed; values are copied. NULL: no memory. That of
 * constant_new is IN_MEMORY, its elements left to the caller. */
struct constant *constant_new(struct arena *arena, enum dtype dtype, const struct shape *shape);
struct constant *constant_ints(struct arena *arena, enum dtype dtype, const struct shape *shape,
                               const int64_t *values);
struct constant *constant_reals(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, const double *values);
struct constant *constant_splat_int(struct arena *arena, enum dtype dtype,
                                    const struct shape *shape, int64_t value);
struct constant *constant_splat_real(struct arena *arena, enum dtype dtype,
                                     const struct shape *shape, double value);

/* Element i of one whose elements are in memory or a splat. Integers and bools / floats. */
int64_t constant_int_at(const struct constant *constant, int64_t i);
double constant_real_at(const struct constant *constant, int64_t i);
/* Whether the elements can be asked for (in memory or a splat) as ints / as reals. */
bool constant_has_ints(const struct constant *constant);
bool constant_has_reals(const struct constant *constant);

/* IEEE half, bfloat16 and the float8 kinds, widened. */
double constant_widen(enum dtype dtype, uint64_t bits);

#endif
