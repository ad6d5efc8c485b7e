/* SPDX-License-Identifier: Apache-2.0 */
/* Converts figures to those of the public result, for passes that fill its rows. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "costmodel/result.h"
#include "support/checked.h"

/* Returns a count, or CM_UNKNOWN if it is unknown or overflowed. */
static inline int64_t public_count(int64_t value) {
    return is_known(value) ? value : CM_UNKNOWN;
}

/* Returns the value rounded; CM_UNKNOWN if it is negative, not a number or past 2^63. */
static inline int64_t public_rounded(double value) {
    return value >= 0 && value < 9.2e18 ? (int64_t)round(value) : CM_UNKNOWN;
}

/* Returns a ratio in millionths; CM_UNKNOWN if it is negative or too large. */
static inline int64_t public_ratio(double value) {
    return public_rounded(value * CM_RATIO_ONE);
}
