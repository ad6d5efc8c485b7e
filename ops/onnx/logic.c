/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, logic, bits, and the choice by them. MACs 0, FLOPs 0. A constant here is a mask
 * or a bound, never learned.
 */
#include <math.h>

#include "ops/common.h"
#include "ops/families.h"
#include "ops/fold.h"
#include "support/text.h"

#include "support/banned.h"

static bool number_equal(const struct rule *rule, size_t n, const struct number *x,
                         struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].real ? x[0].r == x[1].r : x[0].i == x[1].i;
    return true;
}

static bool number_less(const struct rule *rule, size_t n, const struct number *x,
                        struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].real ? x[0].r < x[1].r : x[0].i < x[1].i;
    return true;
}

static bool number_less_equal(const struct rule *rule, size_t n, const struct number *x,
                              struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].real ? x[0].r <= x[1].r : x[0].i <= x[1].i;
    return true;
}

static bool number_greater(const struct rule *rule, size_t n, const struct number *x,
                           struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].real ? x[0].r > x[1].r : x[0].i > x[1].i;
    return true;
}

static bool number_greater_equal(const struct rule *rule, size_t n, const struct number *x,
                                 struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].real ? x[0].r >= x[1].r : x[0].i >= x[1].i;
    return true;
}

static bool number_not(const struct rule *rule, size_t n, const struct number *x,
                       struct number *ret) {
    (void)rule, (void)n;
    ret->i = !x[0].i;
    return true;
}

static bool number_and(const struct rule *rule, size_t n, const struct number *x,
                       struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].i && x[1].i;
    return true;
}

static bool number_or(const struct rule *rule, size_t n, const struct number *x,
                      struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].i || x[1].i;
    return true;
}

static bool number_xor(const struct rule *rule, size_t n, const struct number *x,
                       struct number *ret) {
    (void)rule, (void)n;
    ret->i = !x[0].i != !x[1].i;
    return true;
}

/* Of a choice that is not known: the larger or the smaller. */
static bool number_either(const struct rule *rule, size_t n, const struct number *x,
                          struct number *ret) {
    (void)n;
    const bool first = x[1].real ? x[1].r > x[2].r : x[1].i > x[2].i;
    *ret = first == (rule->end == RULE_MOST) ? x[1] : x[2];
    return true;
}

static bool number_where(const struct rule *rule, size_t n, const struct number *x,
                         struct number *ret) {
    (void)rule, (void)n;
    ret->i = x[0].i ? x[1].i : x[2].i;
    ret->r = x[0].i ? x[1].r : x[2].r;
    return true;
}

static bool number_is_nan(const struct rule *rule, size_t n, const struct number *x,
                          struct number *ret) {
    (void)rule, (void)n;
    ret->i = isnan(x[0].r) != 0;
    return true;
}

#define FOLD(name)                                                                             \
    static int fold_##name(struct rule *rule) {                                                \
        return fold_elements(rule, number_##name);                                             \
    }
FOLD(equal)
FOLD(less)
FOLD(less_equal)
FOLD(greater)
FOLD(greater_equal)
FOLD(not )
FOLD(and)
FOLD(or)
FOLD(xor)
FOLD(is_nan)
#undef FOLD

static int fold_where(struct rule *rule) {
    const struct fact *const choices[] = {NULL, rule_input(rule, 1), rule_input(rule, 2)};
    struct rule either = *rule;
    if (!rule_input(rule, 1)->value || !rule_input(rule, 2)->value) return CM_OK;
    if (rule_input(rule, 0)->value) return fold_elements(rule, number_where);
    either.inputs = choices;
    return rule->end == RULE_EXACT ? CM_OK : fold_elements(&either, number_either);
}

static int infer_compare(struct rule *rule) {
    return common_broadcast_to(rule, 0, DTYPE_BOOL);
}

static int infer_compare_legacy(struct rule *rule) {
    return common_infer_legacy_broadcast(rule, DTYPE_BOOL);
}

static int infer_test(struct rule *rule) {
    return common_infer_same_shape(rule, DTYPE_BOOL);
}

static int check_bool(const struct rule *rule, size_t i) {
    enum dtype dtype = rule_dtype(rule, i);
    if (dtype == DTYPE_UNDEFINED || dtype == DTYPE_BOOL) return CM_OK;
    return rule_fail(rule, DIAG_TYPE, "input %zu is of type %s, bool is wanted", i,
                     dtype_name(dtype));
}

static int infer_not(struct rule *rule) {
    int status = check_bool(rule, 0);
    return status < 0 ? status : infer_test(rule);
}

static int infer_where(struct rule *rule) {
    int status = check_bool(rule, 0);
    return status < 0 ? status : common_broadcast_to(rule, 1, common_dtype(rule, 1));
}

static int infer_bit_shift(struct rule *rule) {
    const char *direction = rule_attr_string(rule, "direction");
    if (!text_equal(direction, "LEFT") && !text_equal(direction, "RIGHT"))
        return rule_fail(rule, DIAG_ATTRIBUTE, "direction is neither LEFT nor RIGHT");
    return common_infer_broadcast(rule);
}

static const struct op_attr broadcast_1[] = {
    OPTIONAL_ATTR("axis", ATTR_INT), INT_ATTR("broadcast", 0), {0}};
static const struct op_attr is_inf_10[] = {
    INT_ATTR("detect_negative", 1), INT_ATTR("detect_positive", 1), {0}};
static const struct op_attr bit_shift_11[] = {REQUIRED_ATTR("direction", ATTR_STRING), {0}};

#define LOGIC(...)                                                                             \
    { ROW(__VA_ARGS__) }
#define ROW(name, from, n, attributes, rule, folds, keeps)                                     \
    .domain = "", .type = name, .since = from, .min_inputs = n, .max_inputs = n,               \
    .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule, .fold = folds,     \
    .memory = MEMORY_IN_PLACE, .roles = "m", .backward.gradients = keeps

/* clang-format off */
static const struct op rows[] = {
    /*     type            since in attributes    rule                    fold                              gradients */
    LOGIC("Equal",           1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("Equal",           7,  2, NULL,         infer_compare,          fold_equal,                 "-"),
    LOGIC("Less",            1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("Less",            7,  2, NULL,         infer_compare,          fold_less,                   "-"),
    LOGIC("LessOrEqual",    12,  2, NULL,         infer_compare,          fold_less_equal,       "-"),
    LOGIC("Greater",         1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("Greater",         7,  2, NULL,         infer_compare,          fold_greater,             "-"),
    LOGIC("GreaterOrEqual", 12,  2, NULL,         infer_compare,          fold_greater_equal, "-"),
    LOGIC("And",             1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("And",             7,  2, NULL,         infer_compare,          fold_and,                     "-"),
    LOGIC("Or",              1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("Or",              7,  2, NULL,         infer_compare,          fold_or,                       "-"),
    LOGIC("Xor",             1,  2, broadcast_1,  infer_compare_legacy,   NULL,                             "-"),
    LOGIC("Xor",             7,  2, NULL,         infer_compare,          fold_xor,                     "-"),
    LOGIC("Not",             1,  1, NULL,         infer_not,              fold_not,                     "-"),
    LOGIC("IsNaN",           9,  1, NULL,         infer_test,             fold_is_nan,               "-"),
    LOGIC("IsInf",          10,  1, is_inf_10,    infer_test,             NULL,                             "-"),
    {ROW("Where",            9,  3, NULL,         infer_where,            fold_where,                 "-,0,0"), .fold_partial = true},
    LOGIC("BitShift",       11,  2, bit_shift_11, infer_bit_shift,        NULL,                             "-"),
    LOGIC("BitwiseAnd",     18,  2, NULL,         common_infer_broadcast, NULL,                             "-"),
    LOGIC("BitwiseOr",      18,  2, NULL,         common_infer_broadcast, NULL,                             "-"),
    LOGIC("BitwiseXor",     18,  2, NULL,         common_infer_broadcast, NULL,                             "-"),
    LOGIC("BitwiseNot",     18,  1, NULL,         common_infer_same,      NULL,                             "-"),
};
/* clang-format on */

const struct op_family family_logic = {"logic", rows, sizeof(rows) / sizeof(rows[0]),
                                       "logic, bits and comparisons"};
