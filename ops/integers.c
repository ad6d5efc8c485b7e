/* SPDX-License-Identifier: Apache-2.0 */
/* Most operators compute on integers if and only if their first input and first output are
 * integers. The facets of an operator (ops/op.h) state the exceptions. */
#include "ops/integers.h"

#include "ops/op_context.h"
#include "support/checked.h"

static enum op_integers rule_of(const struct op *op) {
    return op->facets ? op->facets->integers : INTEGERS_BY_TYPES;
}

static bool is_integer(enum dtype dtype) {
    return dtype_is_integer(dtype) || dtype == DTYPE_BOOL;
}

struct integers integers_all(int64_t macs, bool rest) {
    return (struct integers){.macs = macs, .other_macs = 0, .rest = rest};
}

int64_t integers_total(const struct integers *integers) {
    return checked_add(integers->macs, integers->other_macs);
}

static struct integers split_macs(int64_t macs, int64_t all) {
    return (struct integers){.macs = macs, .other_macs = checked_sub(all, macs)};
}

struct integers integers_of(const struct op_context *context, int64_t macs) {
    /* fast path for most nodes: no exception applies to them */
    if (macs == 0 && !is_integer(op_dtype(context, 0))) return split_macs(0, 0);
    const struct op_facets *facets = context->op->facets;
    const enum op_integers rule = rule_of(context->op);
    if (rule == INTEGERS_ALL) return integers_all(macs, true);
    if (rule == INTEGERS_PRODUCTS)
        return facets->integer_macs ? split_macs(facets->integer_macs(context), macs)
                                    : integers_all(macs, false);
    if (rule != INTEGERS_BY_TYPES) return split_macs(0, macs);
    const enum dtype in = op_dtype(context, 0);
    const enum dtype out = context->n_outputs > 0 ? context->outputs[0].dtype : DTYPE_UNDEFINED;
    if (is_integer(in) && is_integer(out)) return integers_all(macs, true);
    const bool untyped = in == DTYPE_UNDEFINED || out == DTYPE_UNDEFINED;
    /* MACs that are unknown may be integer MACs if a dtype is unknown */
    return split_macs(macs == DIM_UNKNOWN && untyped ? macs : 0, macs);
}

const char *integers_words(const struct op *op) {
    static const char *const words[] = {
        [INTEGERS_BY_TYPES] = NULL,
        [INTEGERS_NONE] = "never on integers",
        [INTEGERS_SCALED] = "never on integers",
        [INTEGERS_SCALES] = "never on integers",
        [INTEGERS_PRODUCTS] = "MACs on integers",
        [INTEGERS_ALL] = "on integers",
    };
    const bool partly = op->facets && op->facets->integer_macs;
    return partly ? "MACs of the projection on integers" : words[rule_of(op)];
}

bool integers_are_scaled(const struct op *op) {
    return rule_of(op) == INTEGERS_SCALED;
}

bool integers_computes_scale(const struct op *op) {
    return rule_of(op) == INTEGERS_SCALES;
}
