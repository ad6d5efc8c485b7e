/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool would count of a node, in that tool's own unit. A convention is a small table
 * over operator types; `deepspeed`, the default, has none: it is what the operator rows say
 * themselves (struct op_cost). docs/conventions.md explains every row.
 */
#ifndef OPS_FLOPS_CONVENTIONS_H
#define OPS_FLOPS_CONVENTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/op.h"

struct integers;
struct op_context;

/* Values of struct convention's `table` besides those of enum flops_table. */
enum { FLOPS_OWN = FLOPS_N, FLOPS_MACS };

struct convention {
    const char *name; /* defined in ops/flops/names/convention_names.c */
    int64_t per_mac;  /* of operators without a row, which cost nothing else */
    int64_t backward; /* times the FLOPs of forward; 0: per_mac times the MACs of backward */
    /* enum flops_table: by `flops` of the operator's facets; FLOPS_OWN: by `cost` of its row;
     * FLOPS_MACS: MACs only. */
    int table;
    bool sees_nodes; /* counts ONNX nodes, not the framework operations they came from */
    bool counts_all; /* counts all arithmetic, also other_flops of custom operators */
};

/* By name; NULL: there is none. */
const struct convention *convention_find(const char *name);

/* `factor` for each of `count`: a term of the sum above. */
struct convention_term {
    int64_t factor;
    const char *of;   /* "MACs", "input elements"; outlives the analysis */
    int64_t count;    /* unknown and overflown figures pass */
    bool of_integers; /* it is no FLOPs */
};
#define CONVENTION_TERMS 8
/*
 * Writes the terms of one run of the node whose factor is not 0, and returns their number.
 * `integers` holds the MACs, split into integer and other ones. Terms of integer operations
 * follow the FLOPs of `convention` and are those of the convention `exact`.
 */
size_t convention_terms(const struct convention *convention, const struct op_context *context,
                        const struct integers *integers,
                        struct convention_term terms[CONVENTION_TERMS]);
/* The sum of those that are on integers, or of those that are not. */
int64_t convention_sum(const struct convention_term *terms, size_t n, bool of_integers);
/* All that the convention counts of the node, run once, whatever its numbers are. */
int64_t convention_operations(const struct convention *convention,
                              const struct op_context *context, int64_t macs);

/* Returns the FLOPs that one MAC of that operator counts. */
int64_t convention_per_mac(const struct convention *convention, const struct op *op);

#endif
