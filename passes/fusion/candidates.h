/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which formulas (ops/onnx/patterns.h) are worth the work of the matcher, and at which nodes,
 * as far as the operators alone tell. What is told of a node here is that a formula may end
 * there; where it is not told, it cannot.
 */
#ifndef PASSES_FUSION_CANDIDATES_H
#define PASSES_FUSION_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"
#include "passes/fusion/match.h"

struct analysis;

/* Of patterns, the i-th in bit i modulo 64: those that share a bit are told together. */
typedef uint64_t pattern_set;

struct candidates {
    struct match_patterns patterns; /* that may occur, of the analysis' arena */
    const pattern_set *ends_at;     /* by node, in scratch: whose result it may make */
};

int candidates_find(const struct analysis *analysis, struct candidates *ret) CM_MUST_CHECK;

static inline pattern_set pattern_bit(size_t pattern) {
    return UINT64_C(1) << pattern % 64;
}

#endif
