/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the passes over a model that is written in lines, without a file:
 *
 *     in x float[1,3]                 input of the graph; "?" is a free dim of that name:
 * float[?n,3] init fc.weight float[4,3]       initializer; "=7" makes every element 7 const eps
 * float[] =0.5          output of a Constant node without a name node /fc/Gemm Gemm x fc.weight
 * - -> y transB=1 pads=[0,0] call /fc/Linear Linear x fc.weight     nodes up to "end" are
 * inlined from this call end out y
 *
 * A name of "-" is none; a line's words are split at blanks.
 */
#ifndef TESTS_PASSES_MODEL_HARNESS_H
#define TESTS_PASSES_MODEL_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "passes/pass.h"

struct bench {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct cm_options options;
    struct model model;
    struct analysis analysis;
    int status; /* of the passes */
};

/* Parses, builds and runs all passes at opset 13. A line that does not parse fails the test. */
struct bench *bench_open(const char *lines);
void bench_close(struct bench *bench);

/* The module of that path, or NULL. */
const struct module *bench_module(const struct bench *bench, const char *path);
/* The kind of the value of that name as params sees it. */
enum param_kind bench_kind(const struct bench *bench, const char *name);
/* Path of the module in which the node of that name stands. */
const char *bench_node_module(const struct bench *bench, const char *name);
/* "fc.weight fc.bias": what the node of that name uses. */
const char *bench_used(const struct bench *bench, const char *name);
/* All paths in order, separated by blanks; the root is "()". */
const char *bench_paths(const struct bench *bench);
/* Names of the values that leave a module, separated by blanks. */
const char *bench_outputs(const struct bench *bench, const char *path);

#endif
