/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an operator on a node that is written in a table row, without a model file:
 *
 *     {"Conv-11", "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]!",
 *      "float[1,64,112,112]", .macs = 118013952}
 *
 *     op       type-opset, or domain:type-opset
 *     attrs    name=value; the spelling decides the kind: 7 int, 0.5 float, SAME_UPPER string,
 *              [1,2] ints, [] no ints, [1.5] floats, [Tanh] strings, int64[2]={3,4} tensor
 *     inputs   float[2,3]; [2,?] has an unknown dim, [*] an unknown rank; `?` has an unknown
 *              type, `-` is omitted. ={1,2} gives the elements, =*7 makes every element 7, a
 *              trailing `!` is an initializer (is_weight)
 *     outputs  the same, as expected after infer and fold; `-` is an omitted output. Contents
 *              that are not written are not compared; =? requires them to be unknown
 *     error    part of the message; then only the number of outputs is compared
 *
 * tests/ops/onnx/FAMILY.c and tests/ops/contrib/FAMILY.c have the rows of a family, which
 * test_families.c runs. A row with only a title begins a test.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ops/op_context.h"

struct op_count {
    const char *convention;
    int64_t flops;
};

struct op_case {
    const char *op; /* NULL: a title, or the end */
    const char *title;
    const char *attrs; /* NULL: none */
    const char *inputs;
    const char *outputs;
    const char *error; /* NULL: success is expected */
    int64_t macs;      /* 0: not compared; OP_NO_MACS: must be 0 */
    int64_t flops;     /* 0: not compared; OP_NO_FLOPS: must be 0 */
    const char *describe;
    struct op_count by[9]; /* FLOPs by conventions; ends with a NULL convention */
    const char *primitive; /* text that identifies it; "": none; NULL: not compared */
    const char *unlowered; /* why it has no primitive; NULL: not compared */
};

#define OP_NO_MACS  (-1)
#define OP_NO_FLOPS (-1)

/* Rows without costs. */
#define GIVES(op_, attrs_, inputs_, outputs_)                                                  \
    { .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_ }
#define REFUSES(op_, attrs_, inputs_, outputs_, error_)                                        \
    { .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_, .error = error_ }

/* Rows with costs, or with the extra_repr of the module. */
#define COSTS(op_, attrs_, inputs_, outputs_, macs_, flops_)                                   \
    {                                                                                          \
        .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_, .macs = macs_,     \
        .flops = flops_                                                                        \
    }
#define PRINTS(op_, attrs_, inputs_, outputs_, describe_)                                      \
    {                                                                                          \
        .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_,                    \
        .describe = describe_                                                                  \
    }

/* Rows with FLOPs by conventions: COUNTS(..., {"exact", 288}, {"thop", 96}). */
#define COUNTS(op_, attrs_, inputs_, outputs_, ...)                                            \
    {                                                                                          \
        .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_, .by = {            \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }
/* Rows with the primitive, or with the reason why there is none. */
#define LOWERS(op_, attrs_, inputs_, outputs_, primitive_)                                     \
    {                                                                                          \
        .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_,                    \
        .primitive = primitive_                                                                \
    }
#define UNLOWERED(op_, attrs_, inputs_, outputs_, why)                                         \
    {                                                                                          \
        .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_, .primitive = "",   \
        .unlowered = why                                                                       \
    }
#define TITLE(text)                                                                            \
    { .title = text }

/* A row after infer and fold, for tests that check more than the columns of a row. */
struct op_bench {
    struct arena *arena;
    struct cm_diagnostics diag;
    struct model model;
    struct node node;
    struct op_context context;
    int status; /* of infer and fold */
};

/* Parses the row, binds it (asserts that there is such an operator), infers and folds. */
struct op_bench *op_bench_open(const struct op_case *row);
void op_bench_close(struct op_bench *bench);
int64_t op_bench_macs(const struct op_bench *bench);
/* Returns the last message; "" if there is none. */
const char *op_bench_message(const struct op_bench *bench);

/* Runs the rows up to a row without `op` and compares all that they state; a failure names its
 * row. */
void op_cases_run(const struct op_case *rows);
