/* SPDX-License-Identifier: Apache-2.0 */
/* Which table is which convention's, and the one formula over their rows. */
#include "ops/conventions.h"

#include "ops/convention_tables.h"
#include "ops/rule.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

static const struct convention_row nothing_else[] = {{.op = NULL}};

static const struct convention conventions[] = {
    /* name, per MAC, rows, sees nodes */
    {"deepspeed", 2, NULL, false},
    {"exact", 2, convention_exact, false},
    {"macs", 1, nothing_else, false},
    {"torch", 2, convention_torch, false},
    {"fvcore", 1, convention_fvcore, false},
    {"ptflops", 1, convention_ptflops, false},
    {"ptflops-aten", 1, convention_ptflops_aten, false},
    {"thop", 1, convention_thop, false},
    {"onnx-tool", 1, convention_onnx_tool, true},
};

const struct convention *convention_find(const char *name) {
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++)
        if (text_equal(conventions[i].name, name)) return &conventions[i];
    return NULL;
}

/* A factor of 0 hides an unknown size: what is not counted need not be known. */
static int64_t times(int64_t factor, int64_t elements) {
    return factor == 0 ? 0 : checked_mul(factor, elements);
}

/* flops = 2 * MACs + per_input * n + per_output * out + extra        (ops/op.h) */
static int64_t own_flops(const struct rule *rule, int64_t macs) {
    const struct op_cost *cost = &rule->op->cost;
    int64_t flops = checked_mul(2, macs);
    flops = checked_add(flops, times(cost->per_input, rule_elements(rule, 0)));
    flops = checked_add(flops, times(cost->per_output, rule_output_elements(rule, 0)));
    return cost->extra ? checked_add(flops, cost->extra(rule)) : flops;
}

static const struct convention_row *find_row(const struct convention *convention,
                                             const char *op) {
    for (const struct convention_row *row = convention->rows; row->op; row++)
        if (text_equal(row->op, op)) return row;
    return NULL;
}

int64_t convention_flops(const struct convention *convention, const struct rule *rule,
                         int64_t macs) {
    if (!convention->rows) return own_flops(rule, macs);
    const bool known = rule->op->infer != NULL; /* else a row of that name is not its own */
    const struct convention_row *row = known ? find_row(convention, rule->op->type) : NULL;
    if (!row) return times(convention->per_mac, macs);
    int64_t flops = times(row->per_mac, macs);
    flops = checked_add(flops, times(row->per_input, rule_elements(rule, 0)));
    flops = checked_add(flops, times(row->per_output, rule_output_elements(rule, 0)));
    return row->extra ? checked_add(flops, row->extra(rule, macs)) : flops;
}
