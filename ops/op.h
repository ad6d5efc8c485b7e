/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator row. An operator is a row of struct op for each opset that changed it, and one
 * struct op_facets, both in the file of its family next to its functions. No other file names
 * it. Readers of the fields: bind (identity, signature), infer (shape, value, bounds), fusion
 * (algebra), cost (cost, flops, integers), memory (memory), training (backward), params (roles,
 * qdq), modules (module, describe), latency (lowering).
 */
#ifndef OPS_OP_H
#define OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/attr.h"

struct cm_primitive;
struct op_context;
struct product;
struct text;

#define VARIADIC INT32_MAX

struct op_attr {
    const char *name;
    enum attr_kind kind;
    bool required;
    bool has_default; /* i, f or s below */
    int64_t i;
    double f;
    const char *s;
};

/*
 * FLOPs by the `deepspeed` convention (docs/counting.md):
 *     flops = 2 * MACs + per_input * n + per_output * out + extra(rule)
 * n = elements of the first input, out = elements of the first output. A row that leaves all of
 * it zero costs no FLOPs by that convention, which is then a decision, not an omission.
 */
struct op_cost {
    /* Adds the factors whose product they are (ops/product.h). NULL: none. */
    void (*macs)(const struct op_context *context, struct product *ret);
    const char *macs_formula; /* that product, for people; set with it */
    int64_t per_input;
    int64_t per_output;
    int64_t (*extra)(const struct op_context *context); /* NULL: none */
    const char *extra_description; /* what `extra` counts, for people; set with it */
};

enum op_memory {
    MEMORY_FRESH,      /* every output is new bytes */
    MEMORY_VIEW,       /* output 0 is input 0 under another shape: no bytes of its own */
    MEMORY_IN_PLACE,   /* fresh, but may be written over an input of the same size that dies */
    MEMORY_SHAPE_ONLY, /* shape arithmetic by nature: Shape, Size; no device bytes */
    MEMORY_VIEW_UNLESS_TRAINING,     /* Dropout */
    MEMORY_IN_PLACE_UNLESS_TRAINING, /* BatchNormalization, whose gradient wants its input */
    MEMORY_CONTROL,                  /* the bytes belong to the body's nodes: If, Loop, Scan */
};

/*
 * Whether operand 1 spells out sizes of the output, into which an exporter may have baked the
 * batch of its example input. The batch pass knows how to put another batch there.
 */
enum op_target {
    TARGET_NONE,
    TARGET_DIMS, /* Reshape: the dims of the output, same elements in row-major order */
};

/* Algebraic meaning of the operator in a fused pattern (ops/onnx/patterns.h). */
enum op_algebra {
    ALGEBRA_NONE,
    ALGEBRA_SUM,
    ALGEBRA_DIFFERENCE,
    ALGEBRA_NEGATIVE,
    ALGEBRA_PRODUCT,
    ALGEBRA_QUOTIENT,
    ALGEBRA_RECIPROCAL,
    ALGEBRA_POWER,
    ALGEBRA_ROOT,
    ALGEBRA_REDUCTION, /* over the attribute `axes`, or over input 1 */
    ALGEBRA_IDENTITY,  /* output 0 is input 0, possibly of another dtype */
};

/* Whether a framework lets the outputs share the bytes of operand 0, and how they lie in them.
 */
enum op_view {
    VIEW_NONE,
    VIEW_SAME,    /* as the operand does */
    VIEW_SHAPED,  /* in row-major order: of an operand that does not lie so, a copy */
    VIEW_STRIDED, /* transposed, or with gaps */
};

/* clang-format off */
/*
 * Activations saved for backward, and the cost of the gradients (docs/training.md).
 * `saved_for_backward` has one cell per operand, separated by ',', the last one repeated. A cell
 * lists what the gradient of that operand is computed from, besides the gradient of the output:
 *     0-9  that operand
 *     a    all operands
 *     y z  output 0, output 1
 *     e    bytes that are not a value of the graph: `extra`
 *     -    alone: no gradient passes to it
 * An empty cell needs nothing. Operands whose gradients PyTorch computes in one kernel have the same
 * cell: the union of what they need. Example: "1,0" (Mul) saves b for the gradient of a, and a for
 * that of b.
 */
/* clang-format on */
struct op_backward {
    const char *saved_for_backward; /* NULL: of unknown operators, and of what keeps what its
                                       parts do */
    /* The cells in place of `gradients` where an attribute decides (Pad). NULL: none does. */
    const char *(*saved_for_backward_of)(const struct op_context *context);
    int64_t (*extra)(
        const struct op_context *context); /* NULL: none. DIM_UNKNOWN, DIM_OVERFLOW pass */
    /*
     * Operands 0 .. factors - 1 are multiplied with each other: the gradient of each costs the
     * MACs of the product again, at most twice them together.
     */
    int factors;
    /* MACs where that is not so: of all gradients, operand i wanted where bit i is set. */
    int64_t (*macs)(const struct op_context *context, uint32_t wanted);
    /* View kind of every output; NULL: from `memory`, MEMORY_VIEW being VIEW_SAME. */
    enum op_view (*view)(const struct op_context *context);
};

/* The conventions that count by operator (ops/flops/conventions.h). */
enum flops_table {
    FLOPS_EXACT,
    FLOPS_TORCH,
    FLOPS_FVCORE,
    FLOPS_PTFLOPS,
    FLOPS_PTFLOPS_ATEN,
    FLOPS_THOP,
    FLOPS_ONNX_TOOL,
    FLOPS_N,
};

/*
 * FLOPs by one of these conventions:
 *     flops = per_mac * MACs + per_input * n + per_output * out + extra(context)
 * n = elements of the first input, out = elements of the first output.
 */
struct op_flops {
    int64_t per_mac;
    int64_t per_input;
    int64_t per_output;
    int64_t (*extra)(const struct op_context *context); /* NULL: none */
    const char *extra_description; /* what `extra` counts, for people; set with it */
};

/* Whether tensors of three to five dims are images, N C S..: what --layout changes. */
enum op_images {
    IMAGES_NONE,
    IMAGES_HERE,   /* the first operand and the result are */
    IMAGES_FOLLOW, /* those of the result's rank are if one of them is */
};

/* The primitive of a backend that measures the operator (ops/lowering/lowering.h). */
struct op_lowering {
    /* Fills *ret, which is zero except for `kind`; not its work. Returns false if this node has
     * no primitive. NULL: no node of this operator has one. */
    bool (*lower)(const struct op_context *context, int32_t which, struct cm_primitive *ret);
    int32_t kind;  /* enum cm_primitive_kind */
    int32_t which; /* for `lower`: an algorithm or a function */
    enum op_images images;
    const char *why; /* the nodes without a primitive, for people; NULL: every node has one */
};

/* Which arithmetic of the operator is on integers (ops/integers.h). */
enum op_integers {
    INTEGERS_BY_TYPES, /* all of it if its input and its output are integers, else none */
    INTEGERS_NONE,     /* none: it scales integers, or weighs them by fractions */
    INTEGERS_SCALED,   /* none, and output 0 is its integers, shifted and scaled */
    INTEGERS_PRODUCTS, /* its MACs, or those that `integer_macs` returns */
    INTEGERS_ALL,      /* all of it, although its output is scaled */
    INTEGERS_SCALES,   /* none, and output 1 is the scale that it computes at run time */
};

/* How scales of dequantized operands pass through the operator (ops/qdq_propagation.h). A set
 * of axes is a bit mask. Zero: they do not pass. */
struct op_qdq {
    /* An operator that moves elements of operand 0: the axes of output 0 along which the scale
     * changes if it changes along `axes` of operand 0. */
    uint64_t (*moves)(const struct op_context *context, uint64_t axes);
    bool all_outputs; /* every output is a part of operand 0, not output 0 alone */
    bool joins;       /* output 0 has parts of all operands along the attribute `axis` */
    bool (*is_lost)(const struct op_context *context); /* NULL: never */
    /* A product: the axes of an operand that it sums over. */
    uint64_t (*sums)(const struct op_context *context, size_t operand);
    size_t factors; /* operands that are multiplied, from the first on; 0: all */
    bool (*is_none)(const struct op_context *context);   /* no product after all; NULL: never */
    bool (*does_more)(const struct op_context *context); /* more than a sum; NULL: never */
};

/* The facets that hold for an operator at every opset. Each is the zero value if the operator
 * does not have it. */
struct op_facets {
    /* NULL: the convention counts its MACs only. */
    const struct op_flops *flops[FLOPS_N];
    struct op_lowering
        lowering;       /* no `lower`, no `why`: the operator does no work on a device */
    const char *bounds; /* a letter for each operand, the last one repeated (ops/op.h) */
    enum op_integers integers;
    int64_t (*integer_macs)(const struct op_context *context); /* NULL: all MACs */
    struct op_qdq qdq;
};

/*
 * SIGNATURE(ONNX, Relu, 6) initializes the fields of struct op from `domain` to `attrs`. It
 * expands to a macro of ops/signatures.gen.h, which tools/make_signatures writes from ONNX's
 * schemas.
 */
#define OP_SIGNATURE(domain_, type_, since_, in_least, in_most, out_least, out_most, attrs_)   \
    .domain = domain_, .type = type_, .since = since_, .min_inputs = in_least,                 \
    .max_inputs = in_most, .min_outputs = out_least, .max_outputs = out_most, .attrs = attrs_
#define SIGNATURE(prefix, type_, since_)                                                       \
    prefix##_##type_##_##since_, .facets = &facets_##prefix##_##type_

struct op {
    const char *domain; /* "" is ai.onnx */
    const char *type;
    int32_t since; /* holds from this opset of its domain on, until the next row of that name */
    int32_t min_inputs, max_inputs;
    int32_t min_outputs, max_outputs;
    const struct op_attr *attrs;    /* ends with a NULL name; NULL: none */
    const struct op_facets *facets; /* NULL: none */

    /* Sets the type of every output (op_output); NULL only for rows of unknown operators. */
    int (*infer)(struct op_context *context);
    /*
     * Sets the contents of outputs (op_set_value). Called after infer, when every input that
     * is present has its value known. NULL: never folded.
     */
    int (*fold)(struct op_context *context);
    /* Folds although not every input's value is known (Shape, Size, ConstantOfShape). */
    bool fold_partial;

    /* Operands of a convolution or matrix product; `bias` 0: none. */
    uint8_t weight, bias;
    struct op_cost cost;
    struct op_backward backward;
    enum op_memory memory;
    enum op_target target;
    enum op_algebra algebra;
    /*
     * Returns true if the node's attributes select training mode: BatchNormalization, Dropout.
     * NULL: the operator has no training mode. op_context.training is this or --mode.
     */
    bool (*trains)(const struct op_context *context);

    /*
     * Role of a constant in each input, one letter per input, the last one repeated:
     *   W  always learned (weight of Conv)
     *   w  learned when it is a constant (either side of MatMul)
     *   n  scale, shift or table: learned unless a nameless Constant node
     *   e  elementwise partner: learned when it is an initializer or bears a name
     *   s  running statistic: a buffer
     *   p  passes through: the same tensor under another shape or part of it
     *   m  mask or comparison: not learned
     *   i  indices, shapes, scales, states: not learned
     *   x  data
     *   c  state of a Loop: the operands of its copies in the body, if it never changes; else x
     */
    const char *param_roles;

    /*
     * How a framework would print a module of which this is the main node: "Conv{n}d" ({n}:
     * spatial dims of input 0, rank - 2, at least 1), "Linear", "ReLU". NULL: the node makes no
     * module.
     */
    const char *module;
    /* Prints its extra_repr: "3, 64, kernel_size=(1,), stride=(1,)". NULL: none. */
    int (*describe)(const struct op_context *context, struct text *out);
};

/* The letter of `roles` for input `slot`. */
static inline char op_role(const struct op *op, size_t slot) {
    const char *role = op->param_roles && op->param_roles[0] ? op->param_roles : "x";
    while (slot-- > 0 && role[1]) role++;
    return *role;
}

/* Returns the cell of `gradients` for operand `slot`; it ends at a ',' or NUL. NULL `gradients`
 * (unknown operator) gives an empty cell: a gradient passes and needs nothing. */
static inline const char *op_gradient(const char *gradients, size_t slot) {
    const char *cell = gradients ? gradients : "";
    for (const char *next = cell; *next && slot > 0; next++)
        if (*next == ',') {
            cell = next + 1;
            slot--;
        }
    return cell;
}

/* Whether a gradient passes to operand `slot`. */
static inline bool op_has_gradient(const char *gradients, size_t slot) {
    return *op_gradient(gradients, slot) != '-';
}

/*
 * Monotonicity of outputs in operands: if an operator is monotone, upper bounds of its operands
 * give upper bounds of its outputs (passes/infer/walk.h). An operator without an entry is
 * treated as not monotone, which is safe. Applies to shapes and contents; costs grow with both.
 */
enum monotone {
    MONOTONE_NOT = '-',
    MONOTONE_DIMS = 'd',     /* no dim of an output is smaller where a dim of it is larger */
    MONOTONE_RISING = 'v',   /* and no dim or element of them where one of its elements is */
    MONOTONE_POSITIVE = 'p', /* the same, among operands without negative elements */
    MONOTONE_FALLING = 'f', /* no element of an output is larger where one of its elements is */
};

/* Returns one of these for operand `slot`, from `bounds` of the operator's facets. */
static inline char monotone_letter(const struct op *op, size_t slot) {
    const char *letter = op->facets && op->facets->bounds ? op->facets->bounds : "-";
    while (slot-- > 0 && letter[1]) letter++;
    return *letter;
}

/* Facets that an operator may lack. */
enum op_facet {
    FACET_FOLD = 1,    /* constant folding: `fold` */
    FACET_ALGEBRA = 2, /* a term of fused patterns: `algebra` */
    FACET_MODULE = 4,  /* a module of a framework: `module` */
    FACET_EXACT = 8,   /* arithmetic that the convention `exact` counts besides MACs */
    FACET_BOUNDS = 16, /* outputs grow with operands: `bounds` of the facets */
    FACET_QDQ = 32,    /* scales pass: `qdq` of the facets */
};

/* A family's rows, in the order of its file. */
struct op_family {
    const char *name; /* that of its file */
    const struct op *rows;
    size_t n_rows;
    /* Why its operators without arithmetic cost no FLOPs: "moves elements". NULL: it has none,
     * or only views (ops/registry.h). */
    const char *free;
    unsigned
        declines; /* bits of enum op_facet: its operators lack them unless they state them */
};

/* Defines the family whose rows are the array `rows`: OP_FAMILY(pool, .declines = FACET_FOLD).
 */
#define OP_FAMILY(name_, ...)                                                                  \
    const struct op_family family_##name_ = {                                                  \
        .name = #name_, .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]), __VA_ARGS__}

#endif
