/* SPDX-License-Identifier: Apache-2.0 */
/* The table of conventions, and the FLOPs of a node by a convention. */
#include "ops/flops/conventions.h"

#include "ops/flops/names/convention_names.h"
#include "ops/integers.h"
#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

/* The convention that defines the integer operations reported by all conventions. */
static const char integer_convention[] = "exact";

static const struct convention conventions[] = {
    /* name, per_mac, backward, table, sees_nodes */
    {"deepspeed", 2, 2, FLOPS_DEEPSPEED, false},
    {"exact", 2, 0, FLOPS_EXACT, false},
    {"macs", 1, 0, FLOPS_MACS, false},
    {"torch", 2, 0, FLOPS_TORCH, false},
    {"fvcore", 1, 0, FLOPS_FVCORE, false},
    {"ptflops", 1, 0, FLOPS_PTFLOPS, false},
    {"ptflops-aten", 1, 0, FLOPS_PTFLOPS_ATEN, false},
    {"thop", 1, 0, FLOPS_THOP, false},
    {"onnx-tool", 1, 0, FLOPS_ONNX_TOOL, true},
};

const struct convention *convention_find(const char *name) {
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++)
        if (text_equal(conventions[i].name, name)) return &conventions[i];
    return NULL;
}

static const struct op_flops *find_row(const struct convention *convention,
                                       const struct op *op) {
    return op->facets && convention->table < FLOPS_N ? op->facets->flops[convention->table]
                                                     : NULL;
}

/* The terms of a node while they are collected. Terms with factor 0 are dropped, so their count
 * may be unknown. */
struct sum {
    struct convention_term *terms;
    size_t n;
    const struct integers *integers; /* the MACs, split into integer and other ones */
    bool separates_integers;         /* integer operations are separate terms (of_integers) */
};

static void add_term(struct sum *sum, int64_t factor, const char *of, int64_t count,
                     bool of_integers) {
    if (factor != 0)
        sum->terms[sum->n++] = (struct convention_term){factor, of, count, of_integers};
}

static void add_macs(struct sum *sum, int64_t factor) {
    const int64_t macs = sum->separates_integers ? sum->integers->macs : 0;
    const int64_t others =
        sum->separates_integers ? sum->integers->other_macs : integers_total(sum->integers);
    if (others != 0 || macs == 0) add_term(sum, factor, "MACs", others, false);
    if (macs != 0) add_term(sum, factor, "MACs", macs, true);
}

/* Adds the FLOPs that are not MACs. */
static void add_other_flops(struct sum *sum, int64_t factor, const char *of, int64_t count) {
    add_term(sum, factor, of, count, sum->separates_integers && sum->integers->rest);
}

/* Adds the terms of an operator by the convention's table (struct op_flops). */
static void add_all(struct sum *sum, const struct convention *convention,
                    const struct op_context *context) {
    const struct op_flops *row = find_row(convention, context->op);
    const int64_t per_mac = row ? row->per_mac : convention->per_mac;
    add_macs(sum, context->op->cost.macs ? per_mac : 0);
    if (row && row->per_input != 0)
        add_other_flops(sum, row->per_input, "input elements", op_elements(context, 0));
    if (row && row->per_output != 0)
        add_other_flops(sum, row->per_output, "output elements",
                        op_output_elements(context, 0));
    if (!row || !row->extra) return;
    struct op_context costed = *context;
    costed.macs = integers_total(sum->integers);
    const int64_t extra = row->extra(&costed); /* 0: a convolution without a bias */
    if (extra != 0) add_other_flops(sum, 1, row->extra_description, extra);
}

size_t convention_terms(const struct convention *convention, const struct op_context *context,
                        const struct integers *integers,
                        struct convention_term terms[CONVENTION_TERMS]) {
    const bool has_integers = integers->macs != 0 || integers->rest;
    struct sum sum = {.terms = terms,
                      .integers = integers,
                      .separates_integers =
                          has_integers &&
                          conventions_find(convention->name)->separates_integers};
    add_all(&sum, convention, context);
    if (!has_integers || sum.separates_integers) return sum.n;
    /* FLOPs of a tool's convention include integers, since the tools ignore dtypes */
    struct convention_term exact[CONVENTION_TERMS];
    struct sum all = {.terms = exact, .integers = integers, .separates_integers = true};
    add_all(&all, convention_find(integer_convention), context);
    for (size_t i = 0; i < all.n; i++)
        if (exact[i].of_integers) terms[sum.n++] = exact[i];
    return sum.n;
}

int64_t convention_sum(const struct convention_term *terms, size_t n, bool of_integers) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (terms[i].of_integers == of_integers)
            checked_add_to(&sum, checked_mul(terms[i].factor, terms[i].count));
    return sum;
}

int64_t convention_all_operations(const struct convention *convention,
                                  const struct op_context *context, int64_t macs) {
    struct convention_term terms[CONVENTION_TERMS];
    const struct integers none = {.macs = 0, .other_macs = macs, .rest = false};
    return convention_sum(terms, convention_terms(convention, context, &none, terms), false);
}

int64_t convention_per_mac(const struct convention *convention, const struct op *op) {
    const struct op_flops *row = find_row(convention, op);
    return row ? row->per_mac : convention->per_mac;
}
