/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule of an operator row may see and do: the node's attributes and operands, and its
 * outputs. A rule states a fault (op_fail) without its place: the frames around it know that.
 *
 * Statuses: 0, or negative after a message. Getters borrow.
 */
#ifndef OPS_OP_CONTEXT_H
#define OPS_OP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "ir/value_info.h"
#include "ops/op.h"
#include "support/checked.h"
#include "support/diag.h"

struct arena;

/*
 * Callbacks of the infer pass for control-flow operators: infer a body, report its trip count.
 */
struct op_walker {
    /*
     * Infers the body. `inputs` are infos of its declared inputs; *ret_outputs gets an array
     * of infos, one for each body output, in the rule's arena. May be called again with other
     * inputs.
     */
    int (*walk)(void *context, uint32_t graph, size_t n_inputs, const struct value_info *inputs,
                const struct value_info **ret_outputs);
    /*
     * Reports that the body runs `times` times (DIM_UNKNOWN: assumes 1 and adds a note; 0: a
     * branch not taken). `assumption`: a note for the user if `times` is a guess, else NULL.
     */
    int (*runs)(void *context, uint32_t graph, int64_t times, const char *assumption);
    void *context;
    /* Returns true if a body may be walked again in search of infos that hold in every
     * iteration; NULL: always. */
    bool (*may_search)(void *context);
    /* Returns the requested trip count of a Loop (--trip-count), DIM_UNKNOWN if none. `exact`
     * is DIM_UNKNOWN if data-dependent, `upper` its upper bound. NULL: none is requested. */
    int64_t (*trips)(void *context, uint32_t node, int64_t exact, int64_t upper);
    /* Returns the info of a value from the last walk of its body. NULL callback: not
     * available. */
    const struct value_info *(*info)(void *context, uint32_t value);
    /*
     * Execution of a Loop iteration by iteration; NULL: not available. `begin` returns true if
     * so many iterations are within the limits and `needed` is set or dims are open.
     * `iterate` is `walk` for one more iteration; *ret_outputs is NULL if the budget is
     * exhausted. `end` discards the iterations if `is_done` is false.
     */
    bool (*begin)(void *context, uint32_t graph, int64_t trips, bool needed);
    int (*iterate)(void *context, uint32_t graph, size_t n_inputs,
                   const struct value_info *inputs, const struct value_info **ret_outputs);
    void (*end)(void *context, uint32_t graph, int64_t trips, bool is_done);
};

/*
 * Elements of values that rules may still get or give. Those of long values are counted apart,
 * so that tables never use up what shape arithmetic needs.
 */
struct op_budget {
    int64_t long_left;
    int64_t short_left;
};

/* Data-dependent operands are unknown (OP_EXACT), or at their lower or upper bound. */
enum op_bound { OP_EXACT, OP_LOWER_BOUND, OP_UPPER_BOUND };

struct op_context {
    const struct model *model;
    const struct node *node;
    uint32_t node_id;
    const struct op *op;
    size_t n_inputs;
    const struct value_info *const *inputs; /* NULL where omitted */
    size_t n_outputs;
    struct value_info *outputs; /* to set; entries of omitted outputs are scratch */
    bool training;              /* the node trains: its own attributes, overridden by --mode */
    struct arena *arena;
    struct cm_diagnostics *diag;
    const struct op_walker *walker;
    struct op_budget *budget; /* NULL: unlimited */
    enum op_bound bound;
    int64_t macs; /* MACs of one run; set only for `extra` of struct op_flops */
};

bool op_has_input(const struct op_context *context, size_t i);
/* The operand's fact; an unknown one (static storage) where it is omitted. */
const struct value_info *op_input(const struct op_context *context, size_t i);
const struct shape *op_shape(const struct op_context *context, size_t i);
enum dtype op_dtype(const struct op_context *context, size_t i);
int op_rank(const struct op_context *context, size_t i); /* RANK_UNKNOWN */
/* Dim `axis` (>= 0) of operand i, DIM_UNKNOWN where the rank is unknown; BUG past a known rank.
 */
int64_t op_dim(const struct op_context *context, size_t i, int axis);
int64_t op_elements(const struct op_context *context, size_t i);
const struct shape *op_output_shape(const struct op_context *context, size_t i);
int64_t op_output_elements(const struct op_context *context, size_t i);
bool op_has_output(const struct op_context *context, size_t i);

/*
 * A dim that data decide: `dim` where it is known all the same, `most` where the largest is
 * asked for, else DIM_UNKNOWN.
 */
int64_t op_at_most(const struct op_context *context, int64_t dim, int64_t most);
/* Whether dims or contents of operand i are only bounds. */
bool op_is_loose(const struct op_context *context, size_t i);

/* A value of more elements is long: a table, no list of two numbers an axis. */
#define LONGEST_SHORT (2 * SHAPE_MAX_RANK)
/* Takes so many elements from the budget; false where it does not suffice. */
bool op_affords(const struct op_context *context, int64_t elements);
/*
 * The elements of operand i, loaded. *ret NULL with 0: omitted, unknown (then the output dims
 * that depend on it are DIM_UNKNOWN), or more than the budget allows: a second call may give
 * NULL even if the first did not.
 */
int op_value(struct op_context *context, size_t i, const struct constant **ret)
    __attribute__((warn_unused_result));

/* A list of integers, from an operand or an attribute. */
struct int_list {
    bool given;            /* the operand or attribute is there */
    bool known;            /* given, and its elements are known */
    size_t n;              /* elements; also set when only the length is known; 0 otherwise */
    const int64_t *values; /* n values, NULL unless known */
};
/* Operand i (scalar or 1-D; integers, or floats that are integral). Refused: a higher rank or
 * another type. */
int op_int_list(struct op_context *context, size_t i, struct int_list *ret)
    __attribute__((warn_unused_result));
/* The attribute `name` where the node has it, else operand i: as axes, split, pads … moved
 * between opsets. i < 0: attribute only. */
int op_int_list_any(struct op_context *context, const char *name, int i, struct int_list *ret)
    __attribute__((warn_unused_result));

bool op_has_attr(const struct op_context *context, const char *name);
int64_t op_attr_int(const struct op_context *context, const char *name);
double op_attr_float(const struct op_context *context, const char *name);
/* The text, the row's default, or "". */
const char *op_attr_string(const struct op_context *context, const char *name);
/* n values, or NULL with *ret_n 0 when absent. */
const int64_t *op_attr_ints(const struct op_context *context, const char *name, size_t *ret_n);
/* ID_NONE when absent. */
uint32_t op_attr_graph(const struct op_context *context, const char *name);
const struct constant *op_attr_tensor(const struct op_context *context, const char *name);

/* Output i is a tensor of that dtype and shape (dims are copied; DIM_OVERFLOW in a dim is
 * refused). An omitted output is ignored. */
int op_output(struct op_context *context, size_t i, enum dtype dtype, const struct shape *shape)
    __attribute__((warn_unused_result));
/* The same, without a copy of dims that stay: an operand's, or of the rule's arena. */
int op_output_shared(struct op_context *context, size_t i, enum dtype dtype,
                     const struct shape *shape) __attribute__((warn_unused_result));
int op_output_dims(struct op_context *context, size_t i, enum dtype dtype, int rank,
                   const int64_t *dims) __attribute__((warn_unused_result));
/* Output i has the type of operand `from` (a sequence or optional too). */
int op_output_like(struct op_context *context, size_t i, size_t from)
    __attribute__((warn_unused_result));
/* Any fact, for sequences, optionals and bodies. */
int op_output_info(struct op_context *context, size_t i, const struct value_info *info)
    __attribute__((warn_unused_result));
/* The contents of output i; its dtype and shape must be those that infer gave. NULL `value`: no
 * memory. */
int op_set_value(struct op_context *context, size_t i, const struct constant *value)
    __attribute__((warn_unused_result));

int op_fail(const struct op_context *context, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -rank <= axis < rank, made non-negative; refused otherwise ("axis 4 is out of range for rank
 * 3"). */
int op_normalize_axis(const struct op_context *context, int64_t axis, int rank, int *ret)
    __attribute__((warn_unused_result));
/* The same of the attribute `axis`. */
int op_axis(const struct op_context *context, int rank, int *ret)
    __attribute__((warn_unused_result));
/* Numpy broadcasting of a and b; dims those of one of them, or in the rule's arena. An unknown
 * dim against n > 1 gives n, against 1 or unknown: unknown. */
int op_broadcast(struct op_context *context, const struct shape *a, const struct shape *b,
                 struct shape *ret) __attribute__((warn_unused_result));
/* "[1,3,?]" for messages; in the rule's arena, "?" when memory is out. */
const char *op_shape_text(const struct op_context *context, const struct shape *shape);

#endif
