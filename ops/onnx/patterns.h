/* SPDX-License-Identifier: Apache-2.0 */
/* Fused patterns (operations of a framework that exporters decompose into several nodes) and
 * foldable patterns (a BatchNormalization after a convolution or linear layer). Each row has a
 * pattern: the arithmetic of the nodes as text. passes/fusion/pattern_parse.c parses patterns,
 * passes/fusion/match.h matches them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ops/op.h"

/* The axes of the reductions in a pattern; all reductions of a match have the same axes. */
enum pattern_axes {
    AXES_NONE,     /* the pattern has no reduction */
    AXES_TRAILING, /* one or more last axes */
    AXES_LAST,     /* the last axis */
    AXES_ONE,      /* any single axis */
    AXES_GROUPS,   /* no reduction; value `g` is `x` with its channels split into groups */
};

/* Syntax of a pattern:
 *     a + b - c, a * b / c, a ^ 2, sqrt(a)     arithmetic; matches any order and bracketing
 *     Erf(a), Clip(a, 0, 6)                    an operator
 *     [+ a], [* a], f(a, [b])                  an optional term, factor or argument
 *     g:f(a)                                   binds the name g to the value f(a)
 *     0.5                                      a number; multiples of 0.5 match exactly, others
 *                                              with a relative tolerance of 0.4 %
 * Other names are inputs of the pattern. A name is the same value at each occurrence:
 *     eps                a number in (0, 0.1]
 *     constant_…         a tensor that does not depend on the model's inputs
 *     factor, factor_…   a tensor of one element
 *     scale, shift       constants with one element per normalized element or per channel, both
 *                        along the same axes
 *     keys               a tensor, but not a constant matrix: that is the weight of a linear
 *                        layer
 *     _                  any value, which may differ between occurrences
 *     others             any tensor
 * Casts between float types, Identity and Dropout may occur anywhere. If the pattern has an `x`
 * and is not foldable, the result must have the shape of `x`. A call with one argument may
 * match the nodes of another pattern: Softplus in Mish = x * Tanh(Softplus(x)) may be one node
 * or Log(1 + Exp(x)). The outermost call of a pattern matches only a node of its type. A
 * pattern is skipped if the model lacks one of its required operators. */
struct pattern_row {
    const char *name;     /* framework class: "LayerNorm" */
    const char *op;       /* equivalent ONNX operator; "": none, see `row` */
    const struct op *row; /* operator row if there is no ONNX operator; else NULL */
    const char *operands; /* names in the pattern, in the order of the operator's inputs */
    /* Attributes of the operation: "epsilon=eps axis=axis approximate='tanh' num_groups=g.1"
     * sets epsilon to the number that `eps` matches, axis to the reduction axis, approximate to
     * a text, num_groups to dim 1 of `g`. "*": the attributes of the matched node of type
     * `op`. */
    const char *attributes;
    enum pattern_axes axes;
    bool views;     /* views (Reshape) between the nodes are allowed */
    bool untrained; /* no node of the pattern is in training mode */
    bool foldable;  /* Conv+BN: two operations in the framework, which a runtime may fold into
                       one; listed, but counted as two */
    const char *pattern;
};

/* Operator rows of operations without an ONNX operator. */
extern const struct op activation_relu6; /* ops/onnx/activation.c */
/* ops/onnx/attention.c: softmax(Q @ K + mask + bias) @ V with operands Q [..., n, d], K [...,
 * d, m] (already transposed), V [..., m, v], mask, bias. */
extern const struct op attention_decomposed, attention_exported;

size_t patterns_count(void);
const struct pattern_row *patterns_at(size_t index);

/* A pattern writes some attributes as arguments: argument 1 of Clip(x, 0, 6) is `min`. Returns
 * the name of the attribute for argument `slot`; NULL if it is never an attribute. */
const char *patterns_operand_attr(const char *type, size_t slot);

/* Returns the constant that the operand is, or is an Identity of (PyTorch's exporter writes
 * equal tensors once); NULL if it is none or omitted. */
const struct constant *patterns_constant(const struct model *model, const struct node *node,
                                         size_t slot);

/* Returns the output channels of the convolution or linear layer into which exporters fold a
 * norm. Returns 0 if the node is not one, or if the dims of its weight do not fit. */
int64_t patterns_foldable_channels(const struct node *node, const struct shape *weight);
