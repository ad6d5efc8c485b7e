/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the convention `exact` counts beside MACs of signals, losses, optimizers, classical
 * models, and of what ONNX Runtime fuses: see convention_exact.c, whose table names them.
 */
#include "ops/convention_tables.h"

#include "ops/ml.h"
#include "ops/rule.h"
#include "ops/transformer.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* 4 products and 6 sums a butterfly, of which 4 are in its MACs. */
int64_t exact_butterflies(const struct rule *rule, int64_t macs) {
    (void)rule;
    return checked_div_floor(macs, 2);
}

/* Each frame times the window besides. */
int64_t exact_frames(const struct rule *rule, int64_t macs) {
    const struct shape *out = rule_output_shape(rule, 0);
    const int64_t sums = checked_div_floor(macs, 2);
    if (!rule_has_input(rule, 2)) return sums;
    const int64_t frames = out->rank == 4 ? shape_product(out, 0, 2) : DIM_UNKNOWN;
    return checked_add(sums, checked_mul(frames, rule_elements(rule, 2)));
}

/* An elimination of m columns: (m - 1) m / 2 quotients; m - 1 products of the diagonal. */
int64_t exact_determinant(const struct rule *rule, int64_t macs) {
    (void)macs;
    const int rank = rule_rank(rule, 0);
    if (rank < 2) return DIM_UNKNOWN;
    const int64_t m = rule_dim(rule, 0, rank - 1);
    if (m == 0) return 0;
    const int64_t quotients = checked_div_floor(checked_mul(m, checked_sub(m, 1)), 2);
    const int64_t each = checked_add(quotients, checked_sub(m, 1));
    return checked_mul(each, rule_output_elements(rule, 0));
}

/* The sign of each target's score, its weight, and what puts them together. */
int64_t exact_likelihood(const struct rule *rule, int64_t macs) {
    (void)macs;
    const int64_t n = rule_elements(rule, 1);
    int64_t each = rule_has_input(rule, 2) ? 2 : 1;
    if (!text_equal(rule_attr_string(rule, "reduction"), "none")) each++;
    return checked_mul(each, n);
}

/* Logarithms of a softmax, 5 a score and the logarithm less 2 a row, and their likelihood. */
int64_t exact_cross_entropy(const struct rule *rule, int64_t macs) {
    const int64_t logs = checked_mul(5, rule_elements(rule, 0));
    return checked_add(checked_sub(logs, rule_elements(rule, 1)), exact_likelihood(rule, macs));
}

int64_t exact_rotary(const struct rule *rule, int64_t macs) {
    (void)macs;
    return checked_mul(3, transformer_rotated(rule));
}

int64_t exact_linear_attention(const struct rule *rule, int64_t macs) {
    (void)macs;
    return transformer_linear_extra(rule);
}

/* Biases, and 5 of a SiLU. */
int64_t exact_causal_convolution(const struct rule *rule, int64_t macs) {
    (void)macs;
    const bool plain = text_equal(rule_attr_string(rule, "activation"), "none");
    const int64_t each = (rule_has_input(rule, 2) ? 1 : 0) + (plain ? 0 : 5);
    return checked_mul(each, rule_output_elements(rule, 0));
}

/* Numbers that an optimizer moves: its outputs are these and `states` more of each. */
static int64_t moved(const struct rule *rule, size_t states, int64_t each) {
    const size_t n = rule->n_inputs > 2 ? (rule->n_inputs - 2) / (states + 2) : 0;
    int64_t elements = 0;
    for (size_t i = 0; i < n; i++) elements = checked_add(elements, rule_elements(rule, 2 + i));
    return checked_mul(each, elements);
}

/* Regularized gradient 2, squares 2, root and epsilon 2, step 3. */
int64_t exact_adagrad(const struct rule *rule, int64_t macs) {
    (void)macs;
    return moved(rule, 1, 9);
}

/* Regularized gradient 2, its mean 3, that of squares 4, root and epsilon 2, step 3. */
int64_t exact_adam(const struct rule *rule, int64_t macs) {
    (void)macs;
    return moved(rule, 2, rule_attr_float(rule, "norm_coefficient_post") != 0 ? 15 : 14);
}

/* Regularized gradient 2, its mean 3, step 2; Nesterov looks ahead by 2. */
int64_t exact_momentum(const struct rule *rule, int64_t macs) {
    (void)macs;
    return moved(rule, 1, text_equal(rule_attr_string(rule, "mode"), "nesterov") ? 9 : 7);
}

int64_t exact_tree_votes(const struct rule *rule, int64_t macs) {
    (void)macs;
    return ml_tree_votes(rule);
}

/* One intercept a score, which is the last output. */
int64_t exact_intercepts(const struct rule *rule, int64_t macs) {
    (void)macs;
    if (!rule_has_attr(rule, "intercepts")) return 0;
    return rule_output_elements(rule, rule->n_outputs - 1);
}

static int64_t rows_of(const struct shape *shape) {
    return shape->rank < 1 ? DIM_UNKNOWN : shape_product(shape, 0, shape->rank - 1);
}

/* A sum for each of skip and bias, then a norm by scale, with a shift or without. */
int64_t exact_skip_norm(const struct rule *rule, int64_t macs) {
    (void)macs;
    const bool simple = text_equal(rule->op->type, "SkipSimplifiedLayerNormalization");
    const size_t bias = simple ? 3 : 4;
    const int64_t norm = simple ? 4 : 6 + rule_has_input(rule, 3);
    const int64_t each = 1 + rule_has_input(rule, bias) + norm;
    const int64_t rows = rows_of(rule_shape(rule, 0));
    return checked_add(checked_mul(each, rule_elements(rule, 0)), checked_mul(2, rows));
}

/* The sums of two or three embeddings, then a norm. */
int64_t exact_embedding_norm(const struct rule *rule, int64_t macs) {
    (void)macs;
    const struct shape *out = rule_output_shape(rule, 0);
    const int64_t each = 8 + rule_has_input(rule, 4);
    return checked_add(checked_mul(each, rule_output_elements(rule, 0)),
                       checked_mul(2, rows_of(out)));
}

/* Groups of a picture, with a skip and its bias where there are some, and a SiLU. */
int64_t exact_vendor_group_norm(const struct rule *rule, int64_t macs) {
    (void)macs;
    if (rule_rank(rule, 0) < 1) return DIM_UNKNOWN;
    const int64_t rows = checked_mul(rule_dim(rule, 0, 0), rule_attr_int(rule, "groups"));
    const int64_t each = 7 + (rule_attr_int(rule, "activation") != 0 ? 5 : 0) +
                         rule_has_input(rule, 3) + rule_has_input(rule, 4);
    return checked_add(checked_mul(each, rule_elements(rule, 0)), checked_mul(2, rows));
}

/* By tanh, behind a bias where there is one. */
int64_t exact_fast_gelu(const struct rule *rule, int64_t macs) {
    (void)macs;
    return checked_mul(8 + rule_has_input(rule, 1), rule_output_elements(rule, 0));
}

/* A bias, what is added, and an activation, however many operations that takes: one. */
int64_t exact_fused(const struct rule *rule, int64_t macs) {
    (void)macs;
    const int64_t each = rule_has_input(rule, 2) + rule_has_input(rule, 3) +
                         (rule_has_attr(rule, "activation") ? 1 : 0);
    return checked_mul(each, rule_output_elements(rule, 0));
}

/* The whole kernel, of packed weights as of others: bias at the last operand. */
int64_t exact_last_bias(const struct rule *rule, int64_t macs) {
    (void)macs;
    const size_t slot = (size_t)rule->op->max_inputs - 1;
    return rule_has_input(rule, slot) ? rule_output_elements(rule, 0) : 0;
}
