/* SPDX-License-Identifier: Apache-2.0 */
/* FLOP-counting conventions: the count of a node by a tool, in the tool's own unit. A
 * convention is a column of the operators' facets (op_facets.flops). docs/conventions.md
 * explains every row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/op.h"

struct integers;
struct op_context;

/* Value of struct convention's `table` besides those of enum flops_table. */
enum { FLOPS_MACS = FLOPS_N };

struct convention {
    const char *name; /* defined in ops/flops/names/convention_names.c */
    int64_t per_mac;  /* FLOPs per MAC of operators that `table` lacks; they have no others */
    int64_t backward; /* FLOPs of backward / FLOPs of forward; 0: per_mac * MACs of backward */
    /* enum flops_table: `flops` of the operator's facets; FLOPS_MACS: MACs only. */
    int table;
    bool sees_nodes; /* counts the nodes of a fused pattern one by one, as tools on ONNX do */
};

/* Returns the convention with this name; NULL if unknown. */
const struct convention *convention_find(const char *name);

/* A summand of the operations of a node: factor * count. */
struct convention_term {
    int64_t factor;
    const char *of;   /* "MACs", "input elements"; outlives the analysis */
    int64_t count;    /* may be DIM_UNKNOWN or DIM_OVERFLOW */
    bool of_integers; /* integer operations, not FLOPs */
};
#define CONVENTION_TERMS 8
/* Writes the terms of one run of the node, except those with factor 0: its FLOPs by
 * `convention`, and its integer operations by the convention `exact`. Returns the number of
 * terms. `integers` holds the MACs, split into integer and other ones. */
size_t convention_terms(const struct convention *convention, const struct op_context *context,
                        const struct integers *integers,
                        struct convention_term terms[CONVENTION_TERMS]);
/* Returns the sum of the integer operations if `of_integers`, else of the FLOPs. */
int64_t convention_sum(const struct convention_term *terms, size_t n, bool of_integers);
/* Returns the operations of one run of the node by the convention, integer or not. */
int64_t convention_all_operations(const struct convention *convention,
                                  const struct op_context *context, int64_t macs);

/* Returns how many FLOPs the convention counts for one MAC of the operator. */
int64_t convention_per_mac(const struct convention *convention, const struct op *op);
