/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its kin: one shape in and out. MACs 0; FLOPs by the default convention: Softmax n
 * (elements of the input), LogSoftmax and Hardmax 0. Before opset 13 the axes from `axis`
 * (default 1) on are taken as one, from 13 on `axis` (default -1) alone: no size depends on it.
 */
#include "ops/common.h"
#include "ops/families.h"

#include "support/banned.h"

static int infer_softmax(struct rule *rule) {
    int64_t axis = rule_attr_int(rule, "axis");
    int rank = rule_rank(rule, 0);
    int ignored = 0;
    /* the coercion to a matrix allows axis == rank: no columns, but the same shape */
    if (rank == RANK_UNKNOWN || (rule->op->since < 13 && axis == rank))
        return common_infer_same(rule);
    int status = rule_normalize_axis(rule, axis, rank, &ignored);
    return status < 0 ? status : common_infer_same(rule);
}

static int describe_softmax(const struct rule *rule, struct text *out) {
    text_append(out, "dim=");
    describe_int(out, rule_attr_int(rule, "axis"));
    return CM_OK;
}

static const struct op_attr from_1[] = {INT_ATTR("axis", 1), {0}};
static const struct op_attr from_13[] = {INT_ATTR("axis", -1), {0}};

#define SOFTMAX(name, from, attributes, flops, class, print, keeps)                            \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = 1, .max_inputs = 1,           \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = infer_softmax,       \
        .cost = {.per_input = flops}, .memory = MEMORY_IN_PLACE, .roles = "x",                 \
        .module = class, .describe = print, .backward.gradients = keeps                        \
    }

/* clang-format off */
static const struct op rows[] = {
    /*       type    since  attributes n  module        brackets         gradients */
    SOFTMAX("Softmax",    1, from_1,  1, "Softmax",    describe_softmax, "y"),
    SOFTMAX("Softmax",   13, from_13, 1, "Softmax",    describe_softmax, "y"),
    SOFTMAX("LogSoftmax", 1, from_1,  0, "LogSoftmax", describe_softmax, "y"),
    SOFTMAX("LogSoftmax",13, from_13, 0, "LogSoftmax", describe_softmax, "y"),
    SOFTMAX("Hardmax",    1, from_1,  0, NULL,         NULL,                         "-"),
    SOFTMAX("Hardmax",   13, from_13, 0, NULL,         NULL,                         "-"),
};
/* clang-format on */

const struct op_family family_softmax = {"softmax", rows, sizeof(rows) / sizeof(rows[0]), NULL};
