/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that a user describes (docs/op-costs.md): each is read into a row like those that
 * are built in, with callbacks that evaluate what the description says. Rows are made once and
 * never changed.
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

#define CUSTOM_OP_MOST       1024 /* descriptions in one file */
#define CUSTOM_OP_MOST_ITEMS 64   /* inputs, outputs, and each other list of a description */
#define CUSTOM_OP_MOST_DIMS  16   /* of one operand */
#define CUSTOM_OP_MOST_NAMES 128  /* of one description, elements of its operands aside */
#define CUSTOM_OP_MOST_STEPS                                                                   \
    2048 /* of all its expressions: each node of the operator takes them */

/* What a name stands for. Its place in the list is its slot. */
enum custom_op_kind {
    CUSTOM_OP_ATTRIBUTE,
    CUSTOM_OP_DIM,    /* bound by the dims of inputs */
    CUSTOM_OP_WHERE,  /* an expression over what comes before it */
    CUSTOM_OP_INPUT,  /* elements of an input: "in0" */
    CUSTOM_OP_OUTPUT, /* of an output: "out0" */
};

struct custom_op_name {
    const char *name;
    enum custom_op_kind kind;
    size_t index;          /* of the operand, or of the element of an attribute */
    const char *attribute; /* its name without an index; of attributes, as the next two */
    bool is_element;       /* of a list: "strides[0]" */
    int64_t otherwise;     /* where the node has none; DIM_UNKNOWN: it must have it */
    struct expression is;  /* of CUSTOM_OP_WHERE */
};

enum custom_op_dim_kind {
    DIM_ANY,      /* "?": of an output, one that nobody knows */
    DIM_REST,     /* "...": any number of them */
    DIM_NAMED,    /* binds the name in `slot` where nothing did before */
    DIM_COMPUTED, /* `is` */
};

struct custom_op_dim {
    enum custom_op_dim_kind kind;
    size_t slot;
    struct expression is;
};

/* The dims of an operand. Of outputs none is DIM_NAMED. */
struct custom_op_dims {
    const char *text; /* as it was written */
    size_t n;
    const struct custom_op_dim *items;
    bool has_rest;
};

struct custom_op_output {
    enum dtype dtype; /* DTYPE_UNDEFINED: that of input `from` */
    size_t from;
    struct custom_op_dims dims;
};

struct custom {
    struct op op; /* first: from it the callbacks find the rest */
    const char *domain;
    const char *type;
    int64_t since;         /* DIM_UNKNOWN: every opset */
    bool replaces;         /* an operator that is built in */
    const char *digest;    /* of what it gives and costs */
    const struct op *like; /* whose shape rule it has; NULL: `outputs` say it */
    size_t n_names;
    const struct custom_op_name *names;
    size_t n_inputs;
    const struct custom_op_dims *inputs;
    size_t n_outputs;
    const struct custom_op_output *outputs;
    bool has_costs; /* the next two; else they are those of `like` */
    struct expression macs;
    struct expression other_flops;
};

struct cm_op_costs {
    struct arena *arena; /* that it lives in */
    size_t n;
    const struct custom *items;
};

/*
 * Fills *ret with a row for each, and none twice; they live in `arena`, and do not point into
 * `from`. CM_OK, CM_REFUSED (told), CM_NO_MEMORY.
 */
int custom_op_read(const struct cm_op_description *from, size_t n, struct arena *arena,
                   struct cm_diagnostics *diag, struct cm_op_costs *ret) CM_MUST_CHECK;

/* The row that holds for the operator at this opset, of what was given last first; NULL: nobody
 * describes it. */
const struct op *custom_op_find(const struct cm_op_costs *const *costs, size_t n,
                                const char *domain, const char *type, int64_t opset);

/* Whether the row was made from a description. */
bool custom_op_is(const struct op *op);

/* Of such a row, the description that it was made from. */
const struct custom *custom_op_of_op(const struct op *op);

/* A text that differs where descriptions differ in what they give or cost; NULL: no memory. */
const char *custom_op_digest_of(const struct cm_op_description *from, struct arena *arena);

/* Whether its costs are what the description says, and not those of another operator. */
bool custom_op_has_costs(const struct op *op);

/* The callbacks of such rows: see struct op. */
int custom_op_infer(struct op_context *context) CM_MUST_CHECK;
void custom_op_macs(const struct op_context *context, struct product *ret);
int64_t custom_op_other_flops(const struct op_context *context);

#endif
