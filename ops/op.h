/* SPDX-License-Identifier: Apache-2.0 */
/* The operator row. An operator has one row of struct op for each opset that changed it, and
 * one struct op_facets for all opsets. Both are in the file of its family, next to its
 * functions. Passes do not test for operators; they read the fields of the row: bind (identity,
 * signature), infer (shape, value, bounds), fusion (algebra), cost (cost, flops, integers),
 * memory (memory), training (backward), params (roles, qdq), modules (module, describe),
 * latency (lowering). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/graph.h"

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

/* The MACs of an operator; both NULL: none. */
struct op_cost {
    void (*macs)(const struct op_context *context,
                 struct product *ret); /* adds their factors */
    const char *macs_formula;          /* text for `macs`, for `costmodel ops` */
};

/* Memory of the outputs at run time. */
enum op_memory {
    MEMORY_FRESH,      /* every output owns its bytes */
    MEMORY_VIEW,       /* output 0 shares the bytes of input 0, with another shape */
    MEMORY_IN_PLACE,   /* own bytes, or those of an input of the same size at its last use */
    MEMORY_SHAPE_ONLY, /* shape arithmetic, without device memory: Shape, Size */
    MEMORY_VIEW_UNLESS_TRAINING,     /* Dropout */
    MEMORY_IN_PLACE_UNLESS_TRAINING, /* BatchNormalization, whose gradient reads its input */
    MEMORY_CONTROL,                  /* the nodes of the bodies own the bytes: If, Loop, Scan */
};

/* Meaning of operand 1 if it lists sizes of the output. Such a list may contain the batch of
 * the exporter's example input; pass batch replaces it by the requested batch. */
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

/* How the outputs share the bytes of operand 0 in a framework. */
enum op_view {
    VIEW_NONE,    /* own bytes */
    VIEW_SAME,    /* same strides as the operand */
    VIEW_SHAPED,  /* row-major; a copy if the operand is not row-major */
    VIEW_STRIDED, /* other strides: transposed, or with gaps */
};

/* clang-format off */
/* Activations saved for backward, and the cost of the gradients (docs/training.md).
 * `saved_for_backward` has one cell per operand, separated by ','. Operands beyond the last cell
 * use the last cell. The cell of an operand lists the values from which its gradient is computed,
 * in addition to the output gradient:
 *     0-9  operand 0 to 9
 *     a    all operands
 *     y z  output 0, output 1
 *     e    `extra` bytes that are not a value of the graph
 *     -    (alone) the operand has no gradient
 * Empty: only the output gradient. Example: Mul has "1,0": the gradient of operand 0 is computed
 * from operand 1, and that of operand 1 from operand 0. If PyTorch computes the gradients of several
 * operands in one kernel, their cells are equal and list the values of all of them. */
/* clang-format on */
struct op_backward {
    const char *saved_for_backward; /* NULL: unknown operators, and fused patterns whose nodes
                                      save their own values */
    /* Replaces `saved_for_backward` if the cells depend on the node (Pad). NULL: they do not.
     * May allocate the string in the context's arena. */
    const char *(*saved_for_backward_of)(const struct op_context *context);
    int64_t (*extra)(
        const struct op_context *context); /* bytes, DIM_UNKNOWN or DIM_OVERFLOW; NULL: none */
    /* Operands 0 .. factors - 1 are the factors of the product. The gradient of each factor
     * costs as many MACs as the product; all gradients together at most twice as many. */
    int factors;
    /* Returns the MACs of the gradients of the operands whose bits are set in
     * context->gradients. NULL: computed from `factors`. */
    int64_t (*macs)(const struct op_context *context);
    /* Returns the view kind of the outputs. NULL: VIEW_SAME if MEMORY_VIEW, else VIEW_NONE. */
    enum op_view (*view)(const struct op_context *context);
};

/* The FLOP conventions that have a table of operators (ops/flops/conventions.h). */
enum flops_table {
    FLOPS_DEEPSPEED, /* the default */
    FLOPS_EXACT,
    FLOPS_TORCH,
    FLOPS_FVCORE,
    FLOPS_PTFLOPS,
    FLOPS_PTFLOPS_ATEN,
    FLOPS_THOP,
    FLOPS_ONNX_TOOL,
    FLOPS_N,
};

/* FLOPs by one of these conventions:
 *     flops = per_mac * MACs + per_input * n + per_output * out + extra(context)
 * n = elements of the first input, out = elements of the first output. */
struct op_flops {
    int64_t per_mac;
    int64_t per_input;
    int64_t per_output;
    int64_t (*extra)(const struct op_context *context); /* NULL: none */
    const char *extra_description; /* text for `extra`, for `costmodel ops`; NULL without it */
};

/* Which tensors of rank 3 to 5 are images [N, C, spatial…]; --layout sets their layout. */
enum op_images {
    IMAGES_NONE,
    IMAGES_HERE, /* operand 0 and output 0 */
    /* all operands and outputs with output 0's rank, if one operand or output is an image */
    IMAGES_FOLLOW,
};

/* The primitive of a backend that measures the operator (ops/lowering/lowering.h). */
enum op_copy {
    COPY_RUNS,     /* a kernel writes the output */
    COPY_STRIDED,  /* readers can read the memory of operand 0 with strides: Transpose, Slice */
    COPY_REPEATED, /* readers can do so if a compiler fuses them, else a kernel runs: Tile */
};

struct op_lowering {
    /* Fills *ret, which is zero except for `kind`; the caller sets FLOPs and bytes. Returns
     * false if the node has no primitive. NULL: no node of this operator has one. */
    bool (*lower)(const struct op_context *context, int32_t which, struct cm_primitive *ret);
    int32_t kind;  /* enum cm_primitive_kind; a product that `lower` does not lower is timed by
                      device models as a matrix product (lowering_model_product) */
    int32_t which; /* argument of `lower`: enum cm_algorithm or enum cm_function; copies: enum
                      op_copy */
    enum op_images images;
    const char *why; /* why some or all nodes have no primitive; NULL: every node has one */
};

/* Which operations of the operator are on integers (ops/integers.h). */
enum op_integers {
    INTEGERS_BY_TYPES, /* all if input 0 and output 0 are integers, else none */
    INTEGERS_NONE,     /* none: integers are multiplied by floating-point scales or weights */
    INTEGERS_SCALED,   /* none; output 0 is input 0, shifted and scaled: DequantizeLinear */
    INTEGERS_PRODUCTS, /* the MACs, or the part of them that `integer_macs` returns */
    INTEGERS_ALL,      /* all, also if the output is a float */
    INTEGERS_SCALES, /* none; output 1 is a scale computed at run time: DynamicQuantizeLinear */
};

/* The float dtype in which an operator computes under torch.autocast (the lists of CUDA, in
 * ATen/autocast_mode.h). */
enum op_autocast {
    AUTOCAST_BY_MACS, /* AUTOCAST_HALF if it has MACs; else the widest of its operands */
    AUTOCAST_HALF,    /* operands are cast to 16 bits */
    AUTOCAST_FLOAT,   /* operands are cast to 32 bits */
    AUTOCAST_FILE,    /* results have the dtype of the file */
};

/* Propagation of the scales of dequantized operands through the operator
 * (ops/qdq_propagation.h). Sets of axes are bit masks. All zero: outputs have no scale. */
struct op_qdq {
    /* Data movement: returns the axes of output 0 along which the scale varies if it varies
     * along `axes` of operand 0. NULL: not data movement. */
    uint64_t (*moves)(const struct op_context *context, uint64_t axes);
    bool all_outputs; /* every output is a part of operand 0 (Split), else only output 0 */
    bool joins;       /* output 0 concatenates all operands along the attribute `axis` */
    bool (*is_lost)(const struct op_context *context); /* outputs have no scale; NULL: never */
    /* Product: returns the axes of an operand that are summed over. NULL: not a product. */
    uint64_t (*sums)(const struct op_context *context, size_t operand);
    size_t factors; /* number of leading operands that are multiplied; 0: all */
    bool (*is_none)(const struct op_context *context); /* node is not a product; NULL: never */
    bool (*does_more)(const struct op_context *context); /* more than a product; NULL: never */
};

/* Sizes of the attention of one operator. */
struct op_attention {
    int64_t heads, kv_heads;
    int64_t key_columns, value_columns; /* of a head */
    int64_t window;                     /* keys that a query sees; 0: all */
    int keys, values;                   /* operands; -1: in operand 0, or in that of the keys */
    int mask;                           /* operand that is added to the scores; -1: none */
    bool is_causal;                     /* by an attribute */
};

/* The facets of an operator at every opset; zero for a facet that it lacks. */
struct op_facets {
    /* FLOPs by enum flops_table; NULL: MACs only. */
    const struct op_flops *flops[FLOPS_N];
    struct op_lowering lowering; /* neither `lower` nor `why`: no work on a device */
    const char *bounds; /* enum monotone by operand; the last letter holds for all others */
    /* Bit masks of operands that a node reads in part. Each element of output 0 is read from
     * `lookups` (the table of Gather); at most as many elements as output 0 has are read of
     * `parts` (the data of Slice). Axis 0 of `experts` is the experts, of which each row of
     * output 0 chooses as many as attribute k states. */
    uint32_t lookups, parts, experts;
    /* Caches: `n` outputs from `output` on may be kept in the memory of the operands from
     * `operand` on; the node then writes the new rows only. */
    struct {
        uint8_t output, operand, n;
    } extends;
    /* Fills *ret, whose operands the caller sets to -1. Returns false if sizes are unknown.
     * NULL: not attention. */
    bool (*attends)(const struct op_context *context, struct op_attention *ret);
    bool chooses;  /* output 0 has some of the elements along an axis: TopK */
    bool triangle; /* output 0 is 0 on one side of a diagonal: Trilu */
    enum op_integers integers;
    int64_t (*integer_macs)(const struct op_context *context); /* NULL: all MACs */
    struct op_qdq qdq;
    enum op_autocast autocast;
};

/* SIGNATURE(ONNX, Relu, 6, EXACT(.per_output = 1), BOUNDS("d"), ...) initializes the fields of
 * struct op from `domain` to `facets`, the facets by the words of ops/onnx/facets.h. The others
 * are those of ONNX_Relu_6 in ops/signatures.gen.h, which tools/make_signatures writes from
 * ONNX's schemas. */
#define OP_SIGNATURE(domain_, type_, since_, in_min, in_max, out_min, out_max, attrs_)         \
    .domain = domain_, .type = type_, .since = since_, .min_inputs = in_min,                   \
    .max_inputs = in_max, .min_outputs = out_min, .max_outputs = out_max, .attrs = attrs_
#define SIGNATURE(prefix, type_, since_, ...)                                                  \
    prefix##_##type_##_##since_, .facets = &(const struct op_facets) {                         \
        __VA_ARGS__                                                                            \
    }

struct op {
    const char *domain; /* "" is ai.onnx */
    const char *type;
    int32_t since; /* first opset of the row; the next row of the operator replaces it */
    int32_t min_inputs, max_inputs;
    int32_t min_outputs, max_outputs;
    const struct op_attr *attrs;    /* ends with a NULL name; NULL: none */
    const struct op_facets *facets; /* NULL: none */

    /* Sets the type of every output (op_output); NULL only for rows of unknown operators. */
    int (*infer)(struct op_context *context);
    /* Constant folding: sets the contents of outputs (op_set_value). Called after infer if the
     * contents of all given inputs are known. NULL: never folded. */
    int (*fold)(struct op_context *context);
    /* Also call `fold` if the contents of some inputs are unknown (Shape, Size). */
    bool fold_partial;

    /* Operand indices of a convolution or matrix product; `bias` 0: none. */
    uint8_t weight, bias;
    struct op_cost cost;
    struct op_backward backward;
    enum op_memory memory;
    enum op_target target;
    enum op_algebra algebra;
    /* Returns true if the node's attributes select training mode: BatchNormalization, Dropout.
     * NULL: the operator has no training mode. --mode overrides it (op_context.training). */
    bool (*trains)(const struct op_context *context);

    /* Role of a constant in each input, one letter per input; the last letter holds for all
     * further inputs:
     *   W  always learned (weight of Conv)
     *   w  learned if it is a constant (both operands of MatMul)
     *   n  scale, shift or table: learned, except an unnamed Constant node
     *   e  operand of an elementwise node: learned if it is an initializer or has a name
     *   s  running statistic: a buffer
     *   p  view, slice or cast: role of the output
     *   m  mask or comparison: not learned
     *   i  indices, shapes, scales, states: not learned
     *   x  data
     *   c  Loop-carried state: role of its uses in the body if it never changes, else x */
    const char *param_roles;

    /* Framework class of a module with this main node: "Linear", "Conv{n}d" ({n} is the number
     * of spatial dims of input 0, rank - 2, at least 1). NULL: none. */
    const char *module;
    /* Prints the constructor arguments (extra_repr of torch.nn): "3, 64, kernel_size=(1,)".
     * NULL: none. */
    int (*describe)(const struct op_context *context, struct text *out);
};

/* Returns the letter of `param_roles` for input `slot`. */
static inline char op_role(const struct op *op, size_t slot) {
    const char *role = op->param_roles && op->param_roles[0] ? op->param_roles : "x";
    while (slot-- > 0 && role[1]) role++;
    return *role;
}

/* Returns the kind of primitive that the operator is lowered to (enum cm_primitive_kind); 0,
 * which is CM_PRIMITIVE_NONE, if to none. */
static inline int32_t op_primitive_kind(const struct op *op) {
    return op->facets ? op->facets->lowering.kind : 0;
}

/* Returns true if each element of output 0 is looked up in operand 0: Gather. */
static inline bool op_looks_up(const struct op *op) {
    return op->facets && (op->facets->lookups & 1) != 0;
}

/* Returns the cell of `gradients`, a `saved_for_backward`, for operand `slot`; it ends at a ','
 * or NUL. If `gradients` is NULL (unknown operator), returns an empty cell. */
static inline const char *op_gradient(const char *gradients, size_t slot) {
    const char *cell = gradients ? gradients : "";
    for (const char *next = cell; *next && slot > 0; next++)
        if (*next == ',') {
            cell = next + 1;
            slot--;
        }
    return cell;
}

/* Returns true if operand `slot` has a gradient. */
static inline bool op_has_gradient(const char *gradients, size_t slot) {
    return *op_gradient(gradients, slot) != '-';
}

/* Monotonicity of the outputs in one operand: upper bounds of monotone operands give upper
 * bounds of the outputs (passes/walk/walk.h), and so of the costs, which grow with dims and
 * elements. Operators without `bounds` count as not monotone, which is always valid. */
enum monotone {
    MONOTONE_NOT = '-',
    MONOTONE_DIMS = 'd',   /* output dims never decrease if a dim of the operand increases */
    MONOTONE_RISING = 'v', /* as 'd', and output dims and elements never decrease if an element
                              of the operand increases */
    MONOTONE_POSITIVE = 'p', /* as 'v', if no element of the operands is negative */
    MONOTONE_FALLING = 'f',  /* output elements never increase if an operand's element does */
};

/* Returns the enum monotone of operand `slot`. */
static inline char monotone_letter(const struct op *op, size_t slot) {
    const char *letter = op->facets && op->facets->bounds ? op->facets->bounds : "-";
    while (slot-- > 0 && letter[1]) letter++;
    return *letter;
}

/* Facets that not every operator has. */
enum op_facet {
    FACET_FOLD = 1,    /* constant folding: `fold` */
    FACET_ALGEBRA = 2, /* a term of fused patterns: `algebra` */
    FACET_MODULE = 4,  /* a module of a framework: `module` */
    FACET_EXACT = 8,   /* FLOPs of the convention `exact` other than MACs */
    FACET_BOUNDS = 16, /* monotonicity: `bounds` */
    FACET_QDQ = 32,    /* propagation of scales: `qdq` */
    FACETS_RARE = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_QDQ,
};

/* A family of operators: the rows of one file. */
struct op_family {
    const char *name; /* file name without ".c" */
    const struct op *rows;
    size_t n_rows;
    /* Why its operators without FLOPs have none: "moves elements". NULL: all have FLOPs or are
     * views (ops/registry/registry.h). */
    const char *why_free;
    unsigned declines; /* bits of enum op_facet: facets that rows lack unless they set them */
};

/* Defines the family of the array `rows`: OP_FAMILY(pool, .declines = FACET_FOLD). */
#define OP_FAMILY(name_, ...)                                                                  \
    const struct op_family family_##name_ = {                                                  \
        .name = #name_, .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]), __VA_ARGS__}

/* Returns how many elements a node reads of operand `slot`, whose shape is `in`, if it reads a
 * part; DIM_UNKNOWN if it reads all or an unknown part. `out` is the shape of output 0. More
 * than the operand has if a lookup reads rows of a table repeatedly. */
int64_t op_elements_of_part(const struct op *op, const struct node *node, size_t slot,
                            const struct shape *in, const struct shape *out);
