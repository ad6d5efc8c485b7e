/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a node to a primitive (costmodel/backend.h): what a backend measures. Small tables over
 * operator types, as conventions have them; what has no row is not measured, and said so.
 */
#ifndef OPS_LOWERING_H
#define OPS_LOWERING_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct rule;
struct window;

struct lowering_row {
    const char *op; /* operator type, of the default domain; NULL ends the table */
    /* Fills *ret, which is zero but for `kind`, but not its work. False: this node has no
     * primitive. */
    bool (*lower)(const struct rule *rule, int32_t which, struct cm_primitive *ret);
    int32_t kind;  /* enum cm_primitive_kind */
    int32_t which; /* for `lower`: an algorithm or a function */
};

extern const struct lowering_row lowering_products[];
extern const struct lowering_row lowering_layers[];
extern const struct lowering_row lowering_elements[];

/* The row of an operator; NULL: there is none. */
const struct lowering_row *lowering_find(const char *domain, const char *type);

/*
 * The primitive of a node whose types are known: everything but flops and bytes. False: there
 * is none, and *ret_why says why (static text).
 */
bool lowering_apply(const struct rule *rule, struct cm_primitive *ret, const char **ret_why);

/* What the rows share: operand `slot` (output) as a packed tensor; false: not known, too many
 * dims, or an element that no primitive has. */
bool lowering_input(const struct rule *rule, size_t slot, struct cm_tensor *ret);
bool lowering_output(const struct rule *rule, size_t slot, struct cm_tensor *ret);
/* Adds it to the operands (the results). */
bool lowering_take(const struct rule *rule, size_t slot, struct cm_primitive *ret);
bool lowering_give(const struct rule *rule, size_t slot, struct cm_primitive *ret);
/*
 * One axis of a window of which `steps` positions stand over `size` elements. Pads are those of
 * the file where they give that many, else as many at the end as it takes (SAME, ceil_mode).
 */
void lowering_window(const struct window *window, int i, int64_t size, int64_t steps,
                     struct cm_window *ret);
/* Row-major strides for its dims. */
void lowering_pack(struct cm_tensor *tensor);
/* -rank <= axis < rank, made non-negative; false otherwise. */
bool lowering_axis(int64_t axis, int rank, int *ret);

#endif
