/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors and accessors of constants, and conversion of small floats. */
#include "ir/constant.h"

#include <math.h>
#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

struct constant *constant_new(struct arena *arena, enum dtype dtype,
                              const struct shape *shape) {
    struct constant *constant = arena_alloc(arena, sizeof *constant);
    if (constant == NULL) return NULL;
    constant->dtype = dtype;
    constant->shape = *shape;
    constant->n_elements = shape_elements(shape);
    constant->place = CONSTANT_IN_MEMORY;
    return constant;
}

/* Copies n elements of `size` bytes; returns NULL if n is unknown or memory ran out. */
static void *copy_elements(struct arena *arena, const void *values, int64_t n, size_t size) {
    size_t bytes = 0;
    if (!is_known(n) || n < 0 || __builtin_mul_overflow((uint64_t)n, size, &bytes)) return NULL;
    return arena_copy(arena, values, bytes);
}

struct constant *constant_ints(struct arena *arena, enum dtype dtype, const struct shape *shape,
                               const int64_t *values) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (!constant) return NULL;
    constant->ints = copy_elements(arena, values, constant->n_elements, sizeof *values);
    return constant->ints ? constant : NULL;
}

struct constant *constant_reals(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, const double *values) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (!constant) return NULL;
    constant->reals = copy_elements(arena, values, constant->n_elements, sizeof *values);
    return constant->reals ? constant : NULL;
}

struct constant *constant_splat_int(struct arena *arena, enum dtype dtype,
                                    const struct shape *shape, int64_t value) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (!constant) return NULL;
    constant->place = CONSTANT_SPLAT;
    constant->ints = arena_copy(arena, &value, sizeof value);
    return constant->ints ? constant : NULL;
}

struct constant *constant_splat_real(struct arena *arena, enum dtype dtype,
                                     const struct shape *shape, double value) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (!constant) return NULL;
    constant->place = CONSTANT_SPLAT;
    constant->reals = arena_copy(arena, &value, sizeof value);
    return constant->reals ? constant : NULL;
}

static bool elements_are_here(const struct constant *constant) {
    return constant->place == CONSTANT_IN_MEMORY || constant->place == CONSTANT_SPLAT;
}

bool constant_has_ints(const struct constant *constant) {
    const enum dtype_class class = dtype_class(constant->dtype);
    return elements_are_here(constant) &&
           (class == DTYPE_CLASS_INT || class == DTYPE_CLASS_BOOL) &&
           (constant->ints != NULL || constant->n_elements == 0);
}

bool constant_has_reals(const struct constant *constant) {
    return elements_are_here(constant) && dtype_is_float(constant->dtype) &&
           (constant->reals != NULL || constant->n_elements == 0);
}

int64_t constant_int_at(const struct constant *constant, int64_t i) {
    BUG_ON(!constant_has_ints(constant) || i < 0 || i >= constant->n_elements);
    return constant->ints[constant->place == CONSTANT_SPLAT ? 0 : i];
}

double constant_real_at(const struct constant *constant, int64_t i) {
    BUG_ON(!constant_has_reals(constant) || i < 0 || i >= constant->n_elements);
    return constant->reals[constant->place == CONSTANT_SPLAT ? 0 : i];
}

/* Layout of a small float: sign, exponent and mantissa from the top bit. */
struct float_format {
    enum dtype dtype;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    enum { SPECIAL_IEEE, SPECIAL_NAN_ONES, SPECIAL_NAN_MINUS_ZERO, SPECIAL_NONE } special;
};

/* IEEE 754-2019 3.4; "FP8 Formats for Deep Learning" (arXiv 2209.05433) for E4M3FN and E5M2;
 * arXiv 2206.02915 for the FNUZ kinds; OCP Microscaling v1.0 for E2M1. */
static const struct float_format float_formats[] = {
    {DTYPE_FLOAT16, 5, 10, 15, SPECIAL_IEEE},
    {DTYPE_BFLOAT16, 8, 7, 127, SPECIAL_IEEE},
    {DTYPE_FLOAT8E4M3FN, 4, 3, 7, SPECIAL_NAN_ONES},
    {DTYPE_FLOAT8E4M3FNUZ, 4, 3, 8, SPECIAL_NAN_MINUS_ZERO},
    {DTYPE_FLOAT8E5M2, 5, 2, 15, SPECIAL_IEEE},
    {DTYPE_FLOAT8E5M2FNUZ, 5, 2, 16, SPECIAL_NAN_MINUS_ZERO},
    {DTYPE_FLOAT4E2M1, 2, 1, 1, SPECIAL_NONE},
};

static double widen_small(const struct float_format *format, uint64_t bits) {
    const int m = format->mantissa_bits;
    const uint64_t ones = ((uint64_t)1 << format->exponent_bits) - 1;
    const uint64_t fraction_ones = ((uint64_t)1 << m) - 1;
    const uint64_t fraction = bits & fraction_ones;
    const uint64_t exponent = bits >> m & ones;
    const bool negative = bits >> (m + format->exponent_bits) & 1;

    double value = exponent == 0 ? ldexp((double)fraction, 1 - format->bias - m)
                                 : ldexp((double)(fraction + fraction_ones + 1),
                                         (int)exponent - format->bias - m);
    if (format->special == SPECIAL_IEEE && exponent == ones)
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    if (format->special == SPECIAL_NAN_ONES && exponent == ones && fraction == fraction_ones)
        value = (double)NAN;
    if (format->special == SPECIAL_NAN_MINUS_ZERO && negative && exponent == 0 && fraction == 0)
        value = (double)NAN;
    return negative ? -value : value;
}

double constant_widen(enum dtype dtype, uint64_t bits) {
    if (dtype == DTYPE_FLOAT) {
        const uint32_t word = (uint32_t)bits;
        float value = 0;
        memcpy(&value, &word, sizeof value);
        return (double)value;
    }
    if (dtype == DTYPE_DOUBLE) {
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (dtype == DTYPE_FLOAT8E8M0) /* an exponent only: OCP Microscaling v1.0, 5.4.1 */
        return bits == 0xFF ? (double)NAN : ldexp(1.0, (int)(bits & 0xFF) - 127);
    for (size_t i = 0; i < sizeof float_formats / sizeof float_formats[0]; i++)
        if (float_formats[i].dtype == dtype) return widen_small(&float_formats[i], bits);
    return (double)NAN;
}
