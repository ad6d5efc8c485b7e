/* SPDX-License-Identifier: Apache-2.0 */
/* Which table is which convention's, and the one formula over their rows. */
#include "ops/flops/conventions.h"

#include "ops/custom/custom_op.h"
#include "ops/flops/names/convention_names.h"
#include "ops/integers.h"
#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* The convention whose FLOPs have no integers among them. */
static const char telling[] = "exact";

static const struct convention conventions[] = {
    /* name, per MAC, backward, table, sees nodes, counts all */
    {"deepspeed", 2, 2, FLOPS_OWN, false, true},
    {"exact", 2, 0, FLOPS_EXACT, false, true},
    {"macs", 1, 0, FLOPS_MACS, false, false},
    {"torch", 2, 0, FLOPS_TORCH, false, false},
    {"fvcore", 1, 0, FLOPS_FVCORE, false, false},
    {"ptflops", 1, 0, FLOPS_PTFLOPS, false, false},
    {"ptflops-aten", 1, 0, FLOPS_PTFLOPS_ATEN, false, false},
    {"thop", 1, 0, FLOPS_THOP, false, false},
    {"onnx-tool", 1, 0, FLOPS_ONNX_TOOL, true, false},
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

/* The sum under construction. A factor of 0 hides an unknown size: what is not counted need not
 * be known. */
struct sum {
    struct convention_term *terms;
    size_t n;
    const struct integers *integers; /* the MACs, and what is on integers */
    bool tells;                      /* `integers` is reported separately */
};

static void add_term(struct sum *sum, int64_t factor, const char *of, int64_t count,
                     bool of_integers) {
    if (factor != 0)
        sum->terms[sum->n++] = (struct convention_term){factor, of, count, of_integers};
}

static void add_macs(struct sum *sum, int64_t factor) {
    const int64_t macs = sum->tells ? sum->integers->macs : 0;
    const int64_t others =
        sum->tells ? sum->integers->other_macs : integers_total(sum->integers);
    if (others != 0 || macs == 0) add_term(sum, factor, "MACs", others, false);
    if (macs != 0) add_term(sum, factor, "MACs", macs, true);
}

/* Adds the FLOPs that are not MACs. */
static void add_rest(struct sum *sum, int64_t factor, const char *of, int64_t count) {
    add_term(sum, factor, of, count, sum->tells && sum->integers->rest);
}

/* A row's own rule may find nothing to add: a convolution without a bias. */
static void add_extra(struct sum *sum, const char *is, int64_t count) {
    add_rest(sum, count == 0 ? 0 : 1, is, count);
}

static void add_elements(struct sum *sum, const struct op_context *context, int64_t per_input,
                         int64_t per_output) {
    if (per_input != 0) add_rest(sum, per_input, "input elements", op_elements(context, 0));
    if (per_output != 0)
        add_rest(sum, per_output, "output elements", op_output_elements(context, 0));
}

/* flops = 2 * MACs + per_input * n + per_output * out + extra        (ops/op.h) */
static void add_own(struct sum *sum, const struct op_context *context) {
    const struct op_cost *cost = &context->op->cost;
    add_macs(sum, cost->macs ? 2 : 0);
    add_elements(sum, context, cost->per_input, cost->per_output);
    if (cost->extra) add_extra(sum, cost->extra_description, cost->extra(context));
}

static void add_by_table(struct sum *sum, const struct convention *convention,
                         const struct op_context *context) {
    const bool multiplies = context->op->cost.macs != NULL;
    const struct op_flops *row = find_row(convention, context->op);
    add_macs(sum, multiplies ? row ? row->per_mac : convention->per_mac : 0);
    if (!row) return;
    add_elements(sum, context, row->per_input, row->per_output);
    if (!row->extra) return;
    struct op_context costed = *context;
    costed.macs = integers_total(sum->integers);
    add_extra(sum, row->extra_description, row->extra(&costed));
}

static void add_all(struct sum *sum, const struct convention *convention,
                    const struct op_context *context) {
    if (convention->table == FLOPS_OWN ||
        (convention->counts_all && custom_op_has_costs(context->op)))
        add_own(sum, context);
    else
        add_by_table(sum, convention, context);
}

/* Conventions of tools ignore dtypes: their FLOPs stay whole, and integer operations are
 * reported as separate terms. */
static void add_integers(struct sum *sum, const struct op_context *context) {
    struct convention_term exact[CONVENTION_TERMS];
    struct sum all = {.terms = exact, .integers = sum->integers, .tells = true};
    add_all(&all, convention_find(telling), context);
    for (size_t i = 0; i < all.n; i++)
        if (exact[i].of_integers) sum->terms[sum->n++] = exact[i];
}

size_t convention_terms(const struct convention *convention, const struct op_context *context,
                        const struct integers *integers,
                        struct convention_term terms[CONVENTION_TERMS]) {
    const bool has_integers = integers->macs != 0 || integers->rest;
    struct sum sum = {.terms = terms,
                      .integers = integers,
                      .tells = has_integers &&
                               conventions_find(convention->name)->separates_integers};
    add_all(&sum, convention, context);
    if (has_integers && !sum.tells) add_integers(&sum, context);
    return sum.n;
}

int64_t convention_sum(const struct convention_term *terms, size_t n, bool of_integers) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (terms[i].of_integers == of_integers)
            sum = checked_add(sum, checked_mul(terms[i].factor, terms[i].count));
    return sum;
}

int64_t convention_operations(const struct convention *convention,
                              const struct op_context *context, int64_t macs) {
    struct convention_term terms[CONVENTION_TERMS];
    const struct integers none = {.macs = 0, .other_macs = macs, .rest = false};
    return convention_sum(terms, convention_terms(convention, context, &none, terms), false);
}

int64_t convention_per_mac(const struct convention *convention, const struct op *op) {
    const struct op_flops *row = find_row(convention, op);
    return row ? row->per_mac : convention->per_mac;
}
