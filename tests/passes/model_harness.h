/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * Runs the passes over a model that is written in lines, without a file:
 *
 *     opset 17                        of the nodes that follow; 13 before the first such line
 *     in x float[?n,3]                input of the graph; "?n" is a free dim of that name, "?" one
 *                                     without
 *     in y float                      one without a shape; a trailing "=7" is its default
 *     init fc.weight float[4,3]       initializer; "=7" makes every element 7, a list of int64s is
 *                                     bytes that are read when they are wanted
 *     const s int64[3] =128,-1,32     output of a Constant node without a name
 *     node /fc/Gemm Gemm x fc.weight - -> y transB=1 pads=[0,0] mode=linear
 *     node - com.me::Odd y -> z       of another domain
 *     type z float[1,3]               what the file declares of a value
 *     at :Net layer1:Block            modules around the nodes that follow, as an exporter notes
 *                                     them; "fused" for "at": nodes that it made of several; "at"
 *                                     alone: nothing is noted
 *     call /fc/Linear Linear x fc.weight     nodes up to "end" are inlined from this call
 *     end
 *     body then_branch                a graph that is that attribute of the next node; its
 *     close                           lines are as the graph's own, names are the model's
 *     out y
 *
 * A name of "-" is none; a line's words are split at blanks, "~" in a node's name is one.
 */
/* clang-format on */
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

/* Parses, builds and runs all passes. A line that does not parse fails the test. */
struct bench *bench_open(const char *lines);
/* The same with those options (a convention of NULL is the default one), borrowed. */
struct bench *bench_open_with(const char *lines, const struct cm_options *options);
void bench_close(struct bench *bench);

/* Ids of the value and of the node of that name; none of that name fails the test. */
uint32_t bench_value(const struct bench *bench, const char *name);
uint32_t bench_node(const struct bench *bench, const char *name);
/* "f32[1,?]": what infer found out about the value of that name. */
const char *bench_type(const struct bench *bench, const char *name);
const struct cm_costs *bench_costs(const struct bench *bench, const char *node);
/*
 * All messages, a line each, without the last newline:
 *     error[unbound] at r1: unnamed symbolic dim (input 'x', axis 1) must be bound; hint: give
 * ...
 */
const char *bench_messages(const struct bench *bench);
/* "r1 target[1] of t: 8 -> 64", a line each, without the last newline. */
const char *bench_rebatched(const struct bench *bench);

/* The module of that path, or NULL. */
const struct cm_module *bench_module(const struct bench *bench, const char *path);
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
