/* SPDX-License-Identifier: Apache-2.0 */
/* The facets in the signature of a row, one macro for each that the operator has:
 *     SIGNATURE(ONNX, PRelu, 7, EXACT(.per_output = 2), LOWER_BINARY(CM_PRELU), BOUNDS("d"))
 * `declines` of a family lists the facets that an operator lacks if its row does not set
 * them. */
#pragma once

#include "ops/flops/terms.h"
#include "ops/lowering/lowering.h"
#include "ops/op.h"
#include "ops/qdq_propagation.h"
#include "ops/signatures.gen.h"

/* FLOPs by a convention; arguments are fields of struct op_flops. */
#define FLOPS_BY(table, ...)                                                                   \
    .flops[table] = &(const struct op_flops) {                                                 \
        __VA_ARGS__                                                                            \
    }
/* These two count all operations: 2 for each MAC. */
#define DEEPSPEED(...)    FLOPS_BY(FLOPS_DEEPSPEED, .per_mac = 2, __VA_ARGS__)
#define EXACT(...)        FLOPS_BY(FLOPS_EXACT, .per_mac = 2, __VA_ARGS__)
#define TORCH(...)        FLOPS_BY(FLOPS_TORCH, __VA_ARGS__)
#define FVCORE(...)       FLOPS_BY(FLOPS_FVCORE, __VA_ARGS__)
#define PTFLOPS(...)      FLOPS_BY(FLOPS_PTFLOPS, __VA_ARGS__)
#define PTFLOPS_ATEN(...) FLOPS_BY(FLOPS_PTFLOPS_ATEN, __VA_ARGS__)
#define THOP(...)         FLOPS_BY(FLOPS_THOP, __VA_ARGS__)
#define ONNX_TOOL(...)    FLOPS_BY(FLOPS_ONNX_TOOL, __VA_ARGS__)
/* For operators whose MACs tools of PyTorch do not count: torch.fft, stft and linalg. */
#define UNKNOWN_TO_TORCH_TOOLS                                                                 \
    TORCH(.per_mac = 0), FVCORE(.per_mac = 0), PTFLOPS(.per_mac = 0),                          \
        PTFLOPS_ATEN(.per_mac = 0), THOP(.per_mac = 0)

/* Lowering to a primitive; arguments are the fields of struct op_lowering. */
#define LOWER(lower_, kind_, which_, images_, why_)                                            \
    .lowering = {lower_, kind_, which_, images_, why_}
#define LOWER_ELTWISE(lower_, function, why_)                                                  \
    LOWER(lower_, CM_ELTWISE, function, IMAGES_FOLLOW, why_)
#define LOWER_UNARY(function)  LOWER_ELTWISE(lower_unary, function, NULL)
#define LOWER_BINARY(function) LOWER_ELTWISE(lower_binary, function, NULL)
#define NO_PRIMITIVE(why_)     .lowering = {.why = why_}
/* Backends cannot run the product; device models time a matrix product of the same size. */
#define MODELLED_PRODUCT(why_) .lowering = {.kind = CM_GEMM, .why = why_}

/* Monotonicity by operand (enum monotone): "vd". */
#define BOUNDS(letters) .bounds = letters
#define NO_BOUNDS       BOUNDS("-")

/* Operands from `first` to `last` that are read in part (op_facets.lookups). */
#define SLOTS(first, last)      ((2U << (last)) - (1U << (first)))
#define LOOKUP(first, last)     .lookups = SLOTS(first, last)
#define PART(first, last)       .parts = SLOTS(first, last)
#define EXPERTS_OF(first, last) .experts = SLOTS(first, last)
#define EXTENDS(output_, operand_, n_)                                                         \
    .extends = {.output = output_, .operand = operand_, .n = n_}

#define ATTENDS(read) .attends = read
#define CHOOSES       .chooses = true
#define TRIANGLE      .triangle = true

/* The dtype under autocast (enum op_autocast), if not AUTOCAST_BY_MACS: AUTOCAST(FLOAT). */
#define AUTOCAST(type) .autocast = AUTOCAST_##type

/* Integer operations, if they do not follow from the dtypes (enum op_integers). */
#define INTEGERS(which)   .integers = which
#define INTEGERS_OF(macs) .integers = INTEGERS_PRODUCTS, .integer_macs = macs

/* Propagation of quantization scales (struct op_qdq): data movement; products. */
#define MOVES(...)                .qdq = {.moves = __VA_ARGS__}
#define MULTIPLIES(factors_, ...) .qdq = {.factors = factors_, .sums = __VA_ARGS__}

/* Rows that differ only in the opset: SINCE2(POOL, LpPool, 1, 2, ...). */
#define SINCE2(row, type, a, b, ...) row(type, a, __VA_ARGS__), row(type, b, __VA_ARGS__)
#define SINCE3(row, type, a, b, c, ...)                                                        \
    row(type, a, __VA_ARGS__), SINCE2(row, type, b, c, __VA_ARGS__)
#define SINCE4(row, type, a, b, c, d, ...)                                                     \
    row(type, a, __VA_ARGS__), SINCE3(row, type, b, c, d, __VA_ARGS__)
#define SINCE5(row, type, a, b, c, d, e, ...)                                                  \
    row(type, a, __VA_ARGS__), SINCE4(row, type, b, c, d, e, __VA_ARGS__)
