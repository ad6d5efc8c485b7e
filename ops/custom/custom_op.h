/* SPDX-License-Identifier: Apache-2.0 */
/* Operators described by the user (docs/op-costs.md). Each description becomes a row like those
 * of built-in operators, with callbacks that evaluate its texts at a node. Rows are const. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/op_costs.h"
#include "ops/op.h"

struct arena;

#define CUSTOM_OP_MAX       1024 /* descriptions in one file */
#define CUSTOM_OP_MAX_ITEMS 64   /* in each list of a description: inputs, outputs, ... */
#define CUSTOM_OP_MAX_DIMS  16   /* of one operand */
#define CUSTOM_OP_MAX_NAMES 128  /* of one description, without "in0", "out0", ... */
#define CUSTOM_OP_MAX_STEPS 2048 /* of all expressions of a description */

struct custom {
    struct op op; /* must be first: the callbacks cast it to struct custom */
    struct cm_op_description is;
    bool replaces;         /* replaces a built-in operator */
    const char *digest;    /* hash of its outputs and costs, in hexadecimal */
    const struct op *like; /* operator that it behaves as; NULL if `outputs` describe it */
    int32_t max_inputs, max_outputs;    /* expressions may name "in0" to "in<max_inputs - 1>" */
    const char *macs_text, *flops_text; /* "by 'out0 * C'"; NULL: the costs of `like` */
    struct custom_op_dims {
        size_t n; /* number of dims, with "..." */
        bool has_rest;
    } * inputs;
};

struct cm_op_costs {
    struct arena *arena; /* owns all of this */
    size_t n;
    const struct custom *items;
};

/* Reads descriptions into rows, which are allocated in `arena` and do not point into `from`.
 * Returns CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int custom_op_read(const struct cm_op_description *from, size_t n, struct arena *arena,
                   struct cm_diagnostics *diag, struct cm_op_costs *ret) CM_MUST_CHECK;

/* Checks the texts of the description `place` ("operators[0]"), as far as no node is needed.
 * Sets inputs, max_outputs and the texts of the costs; requires the other members. */
int custom_op_check(struct custom *custom, const char *place, struct arena *arena,
                    struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Returns the row of the operator at this opset, or NULL; later `costs` override earlier. */
const struct op *custom_op_find(const struct cm_op_costs *const *costs, size_t n,
                                const char *domain, const char *type, int64_t opset);

/* Returns true if the row was made from a description. */
bool custom_op_is(const struct op *op);

/* Returns the description of a row for which custom_op_is is true. */
const struct custom *custom_op_of_op(const struct op *op);

/* Returns "operators[0].inputs[2]", or without the index if it is CM_NO_INDEX; "" if memory ran
 * out, which the arena remembers. */
const char *custom_op_place(struct arena *arena, const char *place, const char *key,
                            size_t index);

/* The callbacks of these rows (struct op): infer, cost.macs, and `extra` of its FLOPs. */
int custom_op_infer(struct op_context *context) CM_MUST_CHECK;
void custom_op_macs(const struct op_context *context, struct product *ret);
int64_t custom_op_other_flops(const struct op_context *context);
