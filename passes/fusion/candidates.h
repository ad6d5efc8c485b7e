/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which patterns (ops/onnx/patterns.h) may match, and at which nodes, from the operators
 * alone: a cheap filter before the matcher. It never drops a match.
 */
#ifndef PASSES_FUSION_CANDIDATES_H
#define PASSES_FUSION_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"
#include "passes/fusion/match.h"

struct analysis;

/* Set of patterns: pattern i is bit i modulo 64, so patterns may share a bit. */
typedef uint64_t pattern_set;

struct candidates {
    struct match_patterns patterns; /* that may occur, in the analysis' arena */
    const pattern_set *ends_at; /* by node, in scratch: patterns whose result it may produce */
};

int candidates_find(const struct analysis *analysis, struct candidates *ret) CM_MUST_CHECK;

static inline pattern_set pattern_bit(size_t pattern) {
    return UINT64_C(1) << pattern % 64;
}

#endif
