/* SPDX-License-Identifier: Apache-2.0 */
/* Generates operands. They are random because a GPU draws less power and runs faster on zeros.
 * Floats are uniform in -1/2 .. 1/2 with magnitudes of at least 2^-6, so that sums of thousands
 * of products do not overflow 16-bit floats, and no element is denormal or NaN. */
#include "backends/cuda/fill.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backends/primitive.h"

#define SMALL_INTEGERS 8

/* Bits of exponent and mantissa of each float type; 0 for other types. */
static const struct {
    int exponent;
    int mantissa;
} formats[CM_N_ELEMENTS] = {
    [CM_F64] = {11, 52}, [CM_F32] = {8, 23},   [CM_F16] = {5, 10},
    [CM_BF16] = {8, 7},  [CM_F8E4M3] = {4, 3}, [CM_F8E5M2] = {5, 2},
};

/* splitmix64 */
static uint64_t next(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15U;
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31);
}

/* Returns the bits of a float with a magnitude in 2^-6 .. 1/2: normal in all formats. */
static uint64_t random_float(int32_t element, bool positive, uint64_t *state) {
    const int n_exponent = formats[element].exponent;
    const int n_mantissa = formats[element].mantissa;
    const double uniform = 0x1p-6 + (double)(next(state) >> 11) * 0x1p-53 * (0.5 - 0x1p-6);
    int exponent = 0;
    const double fraction = frexp(uniform, &exponent); /* 1/2 .. 1 */
    const uint64_t biased = (uint64_t)(exponent - 1 + (1 << (n_exponent - 1)) - 1);
    const uint64_t mantissa = (uint64_t)ldexp(2 * fraction - 1, n_mantissa);
    const uint64_t sign = positive ? 0 : next(state) & 1;
    return (sign << (n_exponent + n_mantissa)) | (biased << n_mantissa) | mantissa;
}

static uint64_t random_element(const struct fill *fill, size_t index, uint64_t *state) {
    if (formats[fill->element].exponent > 0)
        return random_float(fill->element, fill->positive, state);
    if (fill->element == CM_BOOL) return next(state) & 1;
    if (fill->indices.n > 0)
        return next(state) % (uint64_t)fill->indices.ranges[index % (size_t)fill->indices.n];
    if (fill->element == CM_I8 || fill->element == CM_U8) return next(state) & 0xFF;
    return next(state) % SMALL_INTEGERS;
}

void fill_pattern(const struct fill *fill, void *ret, size_t size) {
    const size_t step = (size_t)primitive_element_size(fill->element);
    uint64_t state = 1;
    for (size_t at = 0; at + step <= size; at += step) {
        const uint64_t bits = random_element(fill, at / step, &state);
        memcpy((char *)ret + at, &bits, step); /* GPUs and their hosts are little-endian */
    }
}

struct fill fill_for(const struct cm_primitive *primitive, int32_t index) {
    struct fill fill = {.element = primitive->inputs[index].element};
    fill.positive = primitive->kind == CM_ELTWISE || (primitive->kind == CM_NORM && index > 0);
    if (index == 1) fill.indices = indices_of(primitive);
    for (int32_t i = 0; i < fill.indices.n; i++)
        if (fill.indices.ranges[i] < 1) fill.indices.n = 0;
    return fill;
}
