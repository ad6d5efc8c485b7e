/* SPDX-License-Identifier: Apache-2.0 */
/* Checked int64 arithmetic on values from a model. An unknown operand gives DIM_UNKNOWN; a
 * result that exceeds int64_t gives DIM_OVERFLOW; an operand that is DIM_OVERFLOW always gives
 * DIM_OVERFLOW. So a caller checks only the result of a formula. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DIM_UNKNOWN  INT64_MIN /* equals CM_UNKNOWN */
#define DIM_OVERFLOW (INT64_MIN + 1)

static inline bool is_known(int64_t value) {
    return value > DIM_OVERFLOW;
}

static inline bool is_overflow(int64_t value) {
    return value == DIM_OVERFLOW;
}

/* Returns DIM_OVERFLOW if an operand is DIM_OVERFLOW, else DIM_UNKNOWN. Call it only if one of
 * them is DIM_OVERFLOW or DIM_UNKNOWN. */
static inline int64_t checked_worse(int64_t a, int64_t b) {
    return is_overflow(a) || is_overflow(b) ? DIM_OVERFLOW : DIM_UNKNOWN;
}

static inline int64_t checked_result(bool overflowed, int64_t value) {
    return overflowed || !is_known(value) ? DIM_OVERFLOW : value;
}

static inline int64_t checked_add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
    bool overflows = __builtin_add_overflow(a, b, &sum);
    return checked_result(overflows, sum);
}

/* Returns sum + addend. An unknown addend counts as 0; an unknown sum stays unknown. */
static inline int64_t checked_add_known(int64_t sum, int64_t addend) {
    return addend == DIM_UNKNOWN ? sum : checked_add(sum, addend);
}

/* Add to *sum. */
static inline void checked_add_to(int64_t *sum, int64_t addend) {
    *sum = checked_add(*sum, addend);
}
static inline void checked_add_known_to(int64_t *sum, int64_t addend) {
    *sum = checked_add_known(*sum, addend);
}

static inline int64_t checked_sub(int64_t a, int64_t b) {
    int64_t difference = 0;
    if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
    bool overflows = __builtin_sub_overflow(a, b, &difference);
    return checked_result(overflows, difference);
}

/* 0 * unknown is 0: a tensor with an empty axis is empty. */
static inline int64_t checked_mul(int64_t a, int64_t b) {
    int64_t product = 0;
    if (a == 0 && !is_overflow(b)) return 0;
    if (b == 0 && !is_overflow(a)) return 0;
    if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
    bool overflows = __builtin_mul_overflow(a, b, &product);
    return checked_result(overflows, product);
}

/* Rounds towards minus infinity; b == 0 gives DIM_OVERFLOW. */
static inline int64_t checked_div_floor(int64_t a, int64_t b) {
    if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
    if (b == 0) return DIM_OVERFLOW;
    if (b == -1) return checked_sub(0, a);
    int64_t quotient = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* Rounds towards plus infinity; b == 0 gives DIM_OVERFLOW. */
static inline int64_t checked_div_ceil(int64_t a, int64_t b) {
    if (!is_known(a) || !is_known(b)) return checked_worse(a, b);
    if (b == 0) return DIM_OVERFLOW;
    if (b == -1) return checked_sub(0, a);
    int64_t quotient = a / b;
    return a % b != 0 && (a % b < 0) == (b < 0) ? quotient + 1 : quotient;
}
