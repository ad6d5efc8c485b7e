/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators described by the user (docs/op-costs.md). Each description is read into a row like
 * those of built-in operators, with callbacks that evaluate the description. Rows are
 * immutable.
 */
#ifndef OPS_CUSTOM_CUSTOM_OP_H
#define OPS_CUSTOM_CUSTOM_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/op_costs.h"
#include "ir/dtype.h"
#include "ops/custom/expression.h"
#include "ops/op.h"

struct arena;

#define CUSTOM_OP_MAX       1024 /* descriptions in one file */
#define CUSTOM_OP_MAX_ITEMS 64   /* in each list of a description: inputs, outputs, ... */
#define CUSTOM_OP_MAX_DIMS  16   /* of one operand */
#define CUSTOM_OP_MAX_NAMES 128  /* of one description, without "in0", "out0", ... */
#define CUSTOM_OP_MAX_STEPS 2048 /* of all expressions of a description */

/* Meaning of a name. Its index in the list is its slot. */
enum custom_op_kind {
    CUSTOM_OP_ATTRIBUTE,
    CUSTOM_OP_DIM,    /* bound by the dims of inputs */
    CUSTOM_OP_WHERE,  /* an expression over earlier names */
    CUSTOM_OP_INPUT,  /* number of elements of an input: "in0" */
    CUSTOM_OP_OUTPUT, /* number of elements of an output: "out0" */
};

struct custom_op_name {
    const char *name;
    enum custom_op_kind kind;
    size_t index;          /* of the operand, or of the element of an attribute */
    const char *attribute; /* with the next two, if CUSTOM_OP_ATTRIBUTE: name without index */
    bool is_element;       /* an element of a list: "strides[0]" */
    int64_t otherwise;     /* default; DIM_UNKNOWN if the attribute is required */
    struct expression is;  /* if CUSTOM_OP_WHERE */
};

enum custom_op_dim_kind {
    DIM_ANY,      /* "?": in an output, an unknown dim */
    DIM_REST,     /* "...": any number of dims */
    DIM_NAMED,    /* binds the name in `slot` if it is not bound */
    DIM_COMPUTED, /* the value of `is` */
};

struct custom_op_dim {
    enum custom_op_dim_kind kind;
    size_t slot;
    struct expression is;
};

/* The dims of an operand. Outputs have no DIM_NAMED. */
struct custom_op_dims {
    const char *text; /* as written in the description */
    size_t n;
    const struct custom_op_dim *items;
    bool has_rest;
};

struct custom_op_output {
    enum dtype dtype; /* DTYPE_UNDEFINED if it is that of input `from` */
    size_t from;
    struct custom_op_dims dims;
};

struct custom {
    struct op op; /* must be first: the callbacks cast it to struct custom */
    const char *domain;
    const char *type;
    int64_t since;         /* DIM_UNKNOWN if it is valid for every opset */
    bool replaces;         /* replaces a built-in operator */
    const char *digest;    /* hash of its outputs and costs, in hexadecimal */
    const struct op *like; /* operator that it behaves as; NULL if `outputs` describe it */
    size_t n_names;
    const struct custom_op_name *names;
    size_t n_inputs;
    const struct custom_op_dims *inputs;
    size_t n_outputs;
    const struct custom_op_output *outputs;
    bool has_costs; /* false if its costs are those of `like` */
    struct expression macs;
    struct expression other_flops;
};

struct cm_op_costs {
    struct arena *arena; /* owns all of this */
    size_t n;
    const struct custom *items;
};

/*
 * Reads descriptions into rows, which are allocated in `arena` and do not point into `from`.
 * Returns CM_OK, CM_REFUSED or CM_NO_MEMORY.
 */
int custom_op_read(const struct cm_op_description *from, size_t n, struct arena *arena,
                   struct cm_diagnostics *diag, struct cm_op_costs *ret) CM_MUST_CHECK;

/* Returns the row of the operator at this opset, or NULL; later `costs` override earlier. */
const struct op *custom_op_find(const struct cm_op_costs *const *costs, size_t n,
                                const char *domain, const char *type, int64_t opset);

/* Returns true if the row was made from a description. */
bool custom_op_is(const struct op *op);

/* Returns the description of a row for which custom_op_is is true. */
const struct custom *custom_op_of_op(const struct op *op);

/* The callbacks of these rows (struct op): infer, cost.macs, and `extra` of
 * its FLOPs. */
int custom_op_infer(struct op_context *context) CM_MUST_CHECK;
void custom_op_macs(const struct op_context *context, struct product *ret);
int64_t custom_op_other_flops(const struct op_context *context);

#endif
