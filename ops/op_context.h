/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of an operator's functions (infer, fold, cost): access to the attributes,
 * operands and outputs of a node. Functions report an error with op_fail; diagnostic frames add
 * its location.
 *
 * Functions that return int return 0, or a negative status after a message (except op_rank).
 * Returned pointers are borrowed. */
#pragma once

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

/* Callbacks of the infer pass for control-flow operators: infer a body, report its runs. */
struct op_walker {
    /* Infers the body. `inputs` are infos of its declared inputs; *ret_outputs gets an array
     * of infos, one for each body output, in the context's arena. May be called again with
     * other inputs. */
    int (*walk)(void *context, uint32_t graph, size_t n_inputs, const struct value_info *inputs,
                const struct value_info **ret_outputs);
    /* Reports that the body runs `times` times (DIM_UNKNOWN: 1 is assumed; 0: a branch that is
     * not taken). `assumption`: the note for the user if `times` is unknown, or if it is 1 for
     * both branches of an If; else NULL. */
    int (*runs)(void *context, uint32_t graph, int64_t times, const char *assumption);
    void *context;
    /* Returns true if a body may be walked again in search of infos that hold in every
     * iteration; NULL: always. */
    bool (*may_search)(void *context);
    /* Returns the trip count of a Loop: `exact`, the inferred one, or if it is DIM_UNKNOWN
     * (data-dependent) that of --trip-count, if requested. `upper` is the upper bound of the
     * trip count. NULL callback: none is requested. */
    int64_t (*trips)(void *context, uint32_t node, int64_t exact, int64_t upper);
    /* Returns the info of a value from the last walk of its body. NULL: not available. */
    const struct value_info *(*info)(void *context, uint32_t value);
    /* Execution of a Loop iteration by iteration; NULL: not available. `begin` returns true if
     * `trips` iterations are within the limits, and either `needed` is set or the last walk
     * left dims or trip counts unknown. `iterate` is `walk` for one more iteration; it sets
     * *ret_outputs to NULL if the budget is exhausted. `end` discards the iterations if
     * `is_done` is false. */
    bool (*begin)(void *context, uint32_t graph, int64_t trips, bool needed);
    int (*iterate)(void *context, uint32_t graph, size_t n_inputs,
                   const struct value_info *inputs, const struct value_info **ret_outputs);
    void (*end)(void *context, uint32_t graph, int64_t trips, bool is_done);
};

/* Numbers of elements that constant folding may still read or produce. Long values (tables)
 * have a separate budget, so they cannot exhaust the budget of shape arithmetic. */
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
    const struct value_info *const *inputs; /* an omitted one is NULL */
    size_t n_outputs;
    struct value_info *outputs; /* set by infer and fold; unused for omitted outputs */
    bool training;              /* training mode, by --mode or else the node's attributes */
    struct arena *arena;
    struct cm_diagnostics *diag;
    const struct op_walker *walker;
    struct op_budget *budget; /* NULL: unlimited */
    enum op_bound bound;
    int64_t macs;       /* MACs of one run; set only for `extra` of struct op_flops */
    uint32_t gradients; /* operands that require a gradient, as bits; set only for `extra` and
                           `macs` of struct op_backward */
};

bool op_has_input(const struct op_context *context, size_t i);
/* Returns the info of operand i; an unknown one (static storage) if it is omitted. */
const struct value_info *op_input(const struct op_context *context, size_t i);
const struct shape *op_shape(const struct op_context *context, size_t i);
enum dtype op_dtype(const struct op_context *context, size_t i);
int op_rank(const struct op_context *context, size_t i); /* RANK_UNKNOWN if unknown */
/* Returns dim `axis` (>= 0) of operand i; DIM_UNKNOWN if its rank is unknown. BUG if axis >=
 * rank. */
int64_t op_dim(const struct op_context *context, size_t i, int axis);
int64_t op_elements(const struct op_context *context, size_t i);
const struct shape *op_output_shape(const struct op_context *context, size_t i);
int64_t op_output_elements(const struct op_context *context, size_t i);
bool op_has_output(const struct op_context *context, size_t i);

/* Returns a data-dependent dim: `dim` if known; else `upper` in an upper-bound walk
 * (OP_UPPER_BOUND), DIM_UNKNOWN otherwise. */
int64_t op_data_dependent_dim(const struct op_context *context, int64_t dim, int64_t upper);
/* Returns true if dims or contents of operand i are only bounds. */
bool op_has_bounds(const struct op_context *context, size_t i);

/* Values with more elements are long (struct op_budget). Two numbers per axis are short. */
#define LONGEST_SHORT (2 * SHAPE_MAX_RANK)

/* Subtracts the elements from the budget. Returns false if it is exhausted. */
bool op_use_budget(const struct op_context *context, int64_t elements);
/* Loads the elements of operand i. Sets *ret to NULL and returns 0 if the operand is omitted or
 * unknown, or if the budget is exhausted, which may happen at any call. Output dims that depend
 * on it are then DIM_UNKNOWN. */
int op_value(struct op_context *context, size_t i, const struct constant **ret) CM_MUST_CHECK;

/* A list of integers, from an operand or an attribute. */
struct int_list {
    bool given; /* the operand or attribute is present */
    bool known; /* given, and its elements are known */
    size_t n;   /* number of elements, which may be known even if they are not; 0 if unknown */
    const int64_t *values; /* n values; NULL unless known */
};
/* Reads operand i, a scalar or 1-D list of integers or integral floats. A higher rank or
 * another type is an error. */
int op_int_list(struct op_context *context, size_t i, struct int_list *ret) CM_MUST_CHECK;
/* Reads the attribute `name` if the node has it, else operand i (axes, split and pads are
 * operands in later opsets). i < 0: attribute only. */
int op_int_list_any(struct op_context *context, const char *name, int i,
                    struct int_list *ret) CM_MUST_CHECK;

bool op_has_attr(const struct op_context *context, const char *name);
/* Return the attribute, else the default of the row, else 0. */
int64_t op_attr_int(const struct op_context *context, const char *name);
double op_attr_float(const struct op_context *context, const char *name);
/* Returns the attribute, else the default of the row, else "". */
const char *op_attr_string(const struct op_context *context, const char *name);
/* Returns the values; NULL with *ret_n 0 if the attribute is absent. */
const int64_t *op_attr_ints(const struct op_context *context, const char *name, size_t *ret_n);
/* Returns ID_NONE if the attribute is absent. */
uint32_t op_attr_graph(const struct op_context *context, const char *name);
const struct constant *op_attr_tensor(const struct op_context *context, const char *name);

/* Sets output i to a tensor of this dtype and shape. Copies the dims; DIM_OVERFLOW is an error.
 * Does nothing if the output is omitted. */
int op_output(struct op_context *context, size_t i, enum dtype dtype,
              const struct shape *shape) CM_MUST_CHECK;
/* As op_output, but borrows the dims: those of an operand, or in the context's arena. */
int op_output_shared(struct op_context *context, size_t i, enum dtype dtype,
                     const struct shape *shape) CM_MUST_CHECK;
/* As op_output, for a shape given by rank and dims (NULL: unknown dims). */
int op_output_dims(struct op_context *context, size_t i, enum dtype dtype, int rank,
                   const int64_t *dims) CM_MUST_CHECK;
/* Returns a copy of the info without contents, which is neither constant nor a weight. */
struct value_info op_without_contents(const struct value_info *info);
/* Sets output i to the type of operand `from`, which may be a sequence or optional. */
int op_output_like(struct op_context *context, size_t i, size_t from) CM_MUST_CHECK;
/* Sets output i to any info: sequences, optionals, outputs of bodies. */
int op_output_info(struct op_context *context, size_t i,
                   const struct value_info *info) CM_MUST_CHECK;
/* Sets the contents of output i, of the dtype and shape that infer set. NULL: CM_NO_MEMORY. */
int op_set_value(struct op_context *context, size_t i,
                 const struct constant *value) CM_MUST_CHECK;

int op_fail(const struct op_context *context, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets *ret to the axis, plus the rank if negative. Fails for an axis outside [-rank, rank). */
int op_normalize_axis(const struct op_context *context, int64_t axis, int rank,
                      int *ret) CM_MUST_CHECK;
/* As op_normalize_axis, for the attribute `axis`. */
int op_axis(const struct op_context *context, int rank, int *ret) CM_MUST_CHECK;
/* Broadcasts a and b as NumPy does. ret->dims are those of one of them, or in the context's
 * arena. An unknown dim "?" and 5 give 5, in an upper-bound walk "?"; "?" and 1, or "?" and
 * "?", give "?". */
int op_broadcast(struct op_context *context, const struct shape *a, const struct shape *b,
                 struct shape *ret) CM_MUST_CHECK;
/* Returns "[1,3,?]" for messages, in the context's arena; "?" if out of memory. */
const char *op_shape_text(const struct op_context *context, const struct shape *shape);
