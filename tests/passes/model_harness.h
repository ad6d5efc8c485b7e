/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * Runs the passes over a model that is written in lines, without a file:
 *
 *     opset 17                        of the following nodes; 13 by default
 *     in x float[?n,3]                input of the graph; "?n" is a symbolic dim, "?" an unnamed one
 *     in y float                      without a shape; a trailing "=7" is its default value
 *     init fc.weight float[4,3]       initializer; "=7" sets every element; the bytes of a list of
 *                                     int64 are loaded on demand; "=@" is external
 *                                     data in the file w.data, which is missing
 *     const s int64[3] =128,-1,32     output of an unnamed Constant node
 *     node /fc/Gemm Gemm x fc.weight - -> y transB=1 pads=[0,0] mode=linear
 *     node - com.me::Odd y -> z       of another domain
 *     type z float[1,3]               declared type of a value
 *     params a.weight a.bias          the framework's parameters, as the exporter lists them
 *     derived val_3 a.weight          constant val_3 was computed from parameter a.weight
 *     mark w parameter                record of the exporter: parameter, derived, constant, repeated
 *     at :Net layer1:Block            metadata of the following nodes: the modules around them;
 *                                     "fused" in place of "at": the nodes are fused from several;
 *                                     "at" alone: no metadata
 *     call /fc/Linear Linear x fc.weight     the nodes up to "end" are inlined from this call
 *     end
 *     body then_branch                a graph: this attribute of the next node. Its lines are like
 *     close                           those of the main graph; names are global
 *     out y
 *
 * "-" is an omitted name. Words are split at blanks; "~" in a node's name is a blank.
 */
/* clang-format on */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "passes/params/params.h"
#include "passes/pass.h"

struct bench {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct cm_options options;
    struct model model;
    struct analysis analysis;
    struct timing *timing; /* NULL unless timed_harness.h ran the passes of times */
    int status;            /* of the passes */
};

/* Parses, builds and runs all passes. A line that does not parse fails the test. */
struct bench *bench_open(const char *lines);
/* The same with options, which are borrowed. A convention of NULL means the default. */
struct bench *bench_open_with(const char *lines, const struct cm_options *options);
void bench_close(struct bench *bench);

/* Return the id of the value or node of that name. A missing name fails the test. */
uint32_t bench_value(const struct bench *bench, const char *name);
uint32_t bench_node(const struct bench *bench, const char *name);
/* Returns the inferred type of the value: "f32[1,?]". */
const char *bench_type(const struct bench *bench, const char *name);
const struct cm_costs *bench_costs(const struct bench *bench, const char *node);
/*
 * Returns all messages, one per line, without the last newline:
 *     error[unbound] at r1: unnamed symbolic dim (input 'x', axis 1) must be bound; hint: ...
 */
const char *bench_messages(const struct bench *bench);
/* Returns the list of changes, one per line, without the last newline:
 * "r1 target[1] of t: 8 -> 64". */
const char *bench_rebatched(const struct bench *bench);

/* Returns the module of that path, or NULL. */
const struct cm_module *bench_module(const struct bench *bench, const char *path);
/* Returns the kind of the value by pass params. */
enum param_kind bench_kind(const struct bench *bench, const char *name);
/* Returns the path of the module of the node. */
const char *bench_node_module(const struct bench *bench, const char *name);
/* Returns the parameters that the node uses: "fc.weight fc.bias". */
const char *bench_used(const struct bench *bench, const char *name);
/* Returns all module paths in order, separated by blanks; the root is "()". */
const char *bench_paths(const struct bench *bench);
/* Returns the names of the outputs of a module, separated by blanks. */
const char *bench_outputs(const struct bench *bench, const char *path);
