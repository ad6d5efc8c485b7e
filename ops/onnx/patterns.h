/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exporters make of one operation of a framework: a row each, whose formula is the
 * arithmetic that they write out. passes/fusion/match.h reads the formulas,
 * passes/fusion/fuse_patterns.c finds them.
 */
#ifndef OPS_ONNX_PATTERNS_H
#define OPS_ONNX_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/op.h"

/* Along which axes the reductions of a formula may go; all of them along the same. */
enum pattern_axes {
    AXES_NONE,     /* it has none */
    AXES_TRAILING, /* the last ones */
    AXES_LAST,     /* the last one alone */
    AXES_ONE,      /* any one */
    AXES_GROUPS,   /* none, but `g` is `x` with its channels in groups */
};

/*
 * A formula is made of
 *     a + b - c, a * b / c, a ^ 2, sqrt(a)     in whatever order and form a file has them
 *     Erf(a), Clip(a, 0, 6)                    operators, by their types
 *     [+ a], [* a], f(a, [b])                  what may be missing
 *     g:f(a)                                   gives f(a) a name
 *     0.5                                      that number; to three digits where it is rounded
 * and of names for what stands outside, each of which is one value wherever it occurs:
 *     eps                a number above 0 and of at most 0.1
 *     constant_…         a tensor that does not depend on the model's input
 *     factor, factor_…   a tensor of one element
 *     scale, shift       constants, of an element for each normalized one, or for each channel,
 *                        along the same axes
 *     keys               a tensor, but no constant matrix: that is the weight of a linear layer
 *     _                  whatever it is
 *     others             any tensor
 * Casts to floats, Identity and Dropout may stand anywhere in it. What has an x gives a tensor
 * of its shape. An operator of one operand may also be a composite itself: Mish = x *
 * Tanh(Softplus(x)), but that which a formula names first must be there as such. Where a model
 * has none of an operator that must, the row is passed over.
 */
struct pattern_row {
    const char *name;     /* as a framework prints the class */
    const char *op;       /* type of the operator that it is; "": `row` */
    const struct op *row; /* of an operation that ONNX has no operator for */
    const char *operands; /* names of the formula, in the order of the operator's inputs */
    /*
     * "epsilon=eps axis=axis approximate='tanh' num_groups=g.1", attributes of the operation:
     * the number that a name stands for, the axis of the reductions, a text, a dim of what
     * bears the name. "*": those of the node of type `op` that is part of it.
     */
    const char *attributes;
    enum pattern_axes axes;
    bool views;    /* tensors may also be given other shapes on the way */
    bool foldable; /* a runtime may make one operator of it, but it was not one when exported */
    const char *pattern;
};

/* Rows of operations that ONNX has no operator for. */
extern const struct op activation_relu6; /* ops/onnx/activation.c */
/* softmax(Q @ K + mask + bias) @ V with operands Q [..., n, d], K [..., d, m] (as the product
 * has it), V [..., m, v], mask, bias: ops/onnx/attention.c. */
extern const struct op attention_taken_apart;

size_t patterns_count(void);
const struct pattern_row *patterns_at(size_t index);

/* The attribute that was operand `slot` before or after some opset: "min" of Clip; or NULL. */
const char *patterns_operand_attr(const char *type, size_t slot);

#endif
