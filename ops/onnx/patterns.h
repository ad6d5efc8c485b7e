/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused patterns: operations of a framework that exporters decompose into several nodes. Each
 * row has a pattern, the arithmetic of these nodes. passes/fusion/pattern_parse.h parses it,
 * passes/fusion/match.h matches it.
 */
#ifndef OPS_ONNX_PATTERNS_H
#define OPS_ONNX_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/op.h"

/* The axes of the reductions in a pattern; all reductions of a match have the same axes. */
enum pattern_axes {
    AXES_NONE,     /* the pattern has no reduction */
    AXES_TRAILING, /* one or more last axes */
    AXES_LAST,     /* the last axis */
    AXES_ONE,      /* any single axis */
    AXES_GROUPS,   /* no reduction; `g` is `x` with its channels split into groups */
};

/*
 * Syntax of a pattern:
 *     a + b - c, a * b / c, a ^ 2, sqrt(a)     arithmetic; operands and bracketing in any order
 *     Erf(a), Clip(a, 0, 6)                    an operator
 *     [+ a], [* a], f(a, [b])                  an optional term, factor or argument
 *     g:f(a)                                   binds the name g to the value f(a)
 *     0.5                                      a number; inexact ones match to three digits
 * Other names bind to the inputs of the pattern. A name is the same value at each occurrence:
 *     eps                a number in (0, 0.1]
 *     constant_…         a tensor that does not depend on the model's inputs
 *     factor, factor_…   a tensor of one element
 *     scale, shift       constants with one element per normalized element or per channel, both
 *                        along the same axes
 *     keys               a tensor other than a constant matrix (the weight of a linear layer)
 *     _                  any value, not bound
 *     others             any tensor
 * Casts to floats, Identity and Dropout may occur anywhere. If the pattern has an `x`, the
 * result has the shape of `x`. A unary operator may itself be a match of a fused pattern, as
 * Softplus in Mish = x * Tanh(Softplus(x)), except for the first operator of the pattern. A
 * pattern is skipped if the model lacks one of its required operators.
 */
struct pattern_row {
    const char *name;     /* framework class: "LayerNorm" */
    const char *op;       /* ONNX operator that it is equivalent to; "": see `row` */
    const struct op *row; /* row of an operation without an ONNX operator; else NULL */
    const char *operands; /* names in the pattern, in the order of the operator's inputs */
    /*
     * Attributes of the operation: "epsilon=eps axis=axis approximate='tanh' num_groups=g.1"
     * sets epsilon to the number bound to `eps`, axis to the reduction axis, approximate to a
     * text, num_groups to dim 1 of `g`. "*": the attributes of the node of type `op` in the
     * match.
     */
    const char *attributes;
    enum pattern_axes axes;
    bool views;    /* views (Reshape) between the nodes are allowed */
    bool foldable; /* several operations in the framework that a runtime may fold into one
                      (Conv+BN) */
    const char *pattern;
};

/* Rows of operations without an ONNX operator. */
extern const struct op activation_relu6; /* ops/onnx/activation.c */
/* softmax(Q @ K + mask + bias) @ V with operands Q [..., n, d], K [..., d, m] (already
 * transposed), V [..., m, v], mask, bias: ops/onnx/attention.c. */
extern const struct op attention_decomposed;

size_t patterns_count(void);
const struct pattern_row *patterns_at(size_t index);

/* Returns the attribute that a pattern writes as argument `slot` of this operator: "min" for 1
 * of Clip(x, 0, 6); NULL if that argument is an operand only. */
const char *patterns_operand_attr(const char *type, size_t slot);

#endif
