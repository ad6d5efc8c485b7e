/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches formulas by backtracking: see match.h. A failed attempt at one term takes back what
 * it noted; a term that was matched is not tried another way when a later one fails, so that
 * the search stays small. Formulas nest a few levels deep, and so does the recursion.
 */
#include "passes/fusion/match_inner.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_STEPS 2000 /* of one attempt */
#define MAX_TERMS 8
#define MAX_SAME  4 /* casts in a row */

/* A term of a sum or a factor of a product as the file has it. */
struct item {
    uint32_t value;
    bool inverse;
};

struct items {
    enum pattern_kind kind; /* of a sum or of a product */
    size_t n;
    struct item at[MAX_TERMS];
};

/* How far a match has come. */
struct mark {
    size_t n_names;
    size_t n_nodes;
    size_t n_axes;
};

static bool match_formula(struct match *match, const struct pattern *formula, uint32_t value);

static struct mark save(const struct match *match) {
    return (struct mark){match->n_names, match->n_nodes, match->n_axes};
}

static bool restore(struct match *match, struct mark mark) {
    match->n_names = mark.n_names;
    match->n_nodes = mark.n_nodes;
    match->n_axes = mark.n_axes;
    return false;
}

/* One item against one term of the formula. */
static bool match_term(struct match *match, enum pattern_kind kind,
                       const struct pattern_term *term, const struct item *item);

static bool match_any_order(struct match *match, const struct pattern_term *const *terms,
                            const struct items *items, size_t i, unsigned used) {
    if (i == items->n) return true;
    for (size_t k = 0; k < items->n; k++) {
        struct mark mark = save(match);
        if (used & 1U << k) continue;
        if (match_term(match, items->kind, terms[i], &items->at[k]) &&
            match_any_order(match, terms, items, i + 1, used | 1U << k))
            return true;
        restore(match, mark);
    }
    return false;
}

static bool is_sole_reader(const struct match *match, uint32_t value) {
    return match->source->model->values[value].n_uses == 1;
}

/* The two operands of a sum or product in place of item i; false where it is none. */
static bool split(struct match *match, struct items *items, size_t i) {
    struct item item = items->at[i];
    uint32_t node = match_producer(match, item.value);
    for (int same = 0; same < MAX_SAME && match_hands_on(match, node); same++) {
        item.value = match_before(match, item.value);
        node = match_producer(match, item.value);
    }
    enum op_algebra algebra = match_algebra(match, node);
    const bool sum = items->kind == PATTERN_SUM;
    enum op_algebra plain = sum ? ALGEBRA_SUM : ALGEBRA_PRODUCT;
    enum op_algebra turned = sum ? ALGEBRA_DIFFERENCE : ALGEBRA_QUOTIENT;
    if ((algebra != plain && algebra != turned) || items->n == MAX_TERMS) return false;
    if (match->strict && item.value != match->result && !is_sole_reader(match, item.value))
        return false;
    if (match_node(match, node)->n_inputs != 2 || !match_take(match, node)) return false;
    items->at[i] = (struct item){match_input(match, node, 0), item.inverse};
    items->at[items->n++] =
        (struct item){match_input(match, node, 1), item.inverse != (algebra == turned)};
    return true;
}

/*
 * Takes sums of sums apart until there are as many items as terms, in every way. Items in front
 * of `from` stay whole: halves are put behind, so that each way is gone once, not in every
 * order of its steps.
 */
static bool match_items(struct match *match, const struct pattern_term *const *terms, size_t n,
                        const struct items *items, size_t from) {
    if (match->steps == 0) return false;
    match->steps--;
    if (items->n == n) return match_any_order(match, terms, items, 0, 0);
    for (size_t i = from; i < items->n; i++) {
        struct mark mark = save(match);
        struct items more = *items;
        if (split(match, &more, i) && match_items(match, terms, n, &more, i)) return true;
        restore(match, mark);
    }
    return false;
}

static bool match_terms_alone(struct match *match, enum pattern_kind kind,
                              const struct pattern_term *const *terms, size_t n,
                              uint32_t value) {
    struct items items = {.kind = kind, .n = 1, .at = {{value, false}}};
    if (n == 1) return match_term(match, kind, terms[0], &items.at[0]);
    return match_items(match, terms, n, &items, 0);
}

/* Bit i of `left_out`: the optional term i is not there. */
static bool match_without(struct match *match, const struct pattern *formula, uint32_t value,
                          unsigned left_out) {
    const struct pattern_term *terms[MAX_TERMS];
    size_t n = 0;
    for (size_t i = 0; i < formula->n; i++) {
        bool out = (left_out & 1U << i) != 0;
        if (out && !formula->terms[i].optional) return false;
        if (!out) terms[n++] = &formula->terms[i];
    }
    struct mark mark = save(match);
    return (n > 0 && match_terms_alone(match, formula->kind, terms, n, value)) ||
           restore(match, mark);
}

static size_t n_bits(unsigned bits) {
    size_t n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

/* As many of its terms as can be found. */
static bool match_terms(struct match *match, const struct pattern *formula, uint32_t value) {
    size_t n_optional = 0;
    for (size_t i = 0; i < formula->n; i++) n_optional += formula->terms[i].optional;
    for (size_t out = 0; out <= n_optional; out++)
        for (unsigned left_out = 0; left_out < 1U << formula->n; left_out++)
            if (n_bits(left_out) == out && match_without(match, formula, value, left_out))
                return true;
    return false;
}

/* value = a ^ exponent for the formula a. */
static bool match_power(struct match *match, const struct pattern *base, double exponent,
                        uint32_t value) {
    uint32_t node = match_producer(match, value);
    enum op_algebra algebra = match_algebra(match, node);
    double have = 0;
    if (algebra == ALGEBRA_POWER)
        return match_number(match, match_input(match, node, 1), &have) &&
               match_is_number(have, exponent) && match_take(match, node) &&
               match_formula(match, base, match_input(match, node, 0));
    if (algebra == ALGEBRA_ROOT && exponent == 0.5)
        return match_take(match, node) &&
               match_formula(match, base, match_input(match, node, 0));
    if (exponent == 2 || exponent == 3) {
        const struct pattern_term one = {.of = base};
        const struct pattern_term *const terms[] = {&one, &one, &one};
        return match_terms_alone(match, PATTERN_PRODUCT, terms, (size_t)exponent, value);
    }
    return false;
}

/* The operand where the value is - operand in a sum, 1 / operand in a product, as a node of its
 * own says. */
static uint32_t undone(struct match *match, enum pattern_kind kind, uint32_t value) {
    uint32_t node = match_producer(match, value);
    enum op_algebra algebra = match_algebra(match, node);
    double one = 0;
    if (algebra == (kind == PATTERN_SUM ? ALGEBRA_NEGATIVE : ALGEBRA_RECIPROCAL))
        return match_take(match, node) ? match_input(match, node, 0) : ID_NONE;
    if (kind == PATTERN_SUM || algebra != ALGEBRA_QUOTIENT) return ID_NONE;
    if (!match_number(match, match_input(match, node, 0), &one) || one != 1) return ID_NONE;
    return match_take(match, node) ? match_input(match, node, 1) : ID_NONE;
}

/* x - (-3) is x + 3, and x * 0.7071 is x / 1.4142. */
static bool match_turned_number(const struct match *match, enum pattern_kind kind, double want,
                                uint32_t value) {
    double have = 0;
    if (!match_number(match, value, &have)) return false;
    return kind == PATTERN_SUM ? match_is_number(-have, want) : match_is_close(have * want, 1);
}

/* A factor may stand on either side; else a node must turn it round. */
static bool match_turned(struct match *match, enum pattern_kind kind,
                         const struct pattern *formula, uint32_t value) {
    struct mark mark = save(match);
    if (formula->kind == PATTERN_NUMBER)
        return match_turned_number(match, kind, formula->number, value);
    if (formula->role == ROLE_FACTOR) return match_bind(match, formula, value);
    if (kind == PATTERN_PRODUCT && formula->kind == PATTERN_POWER &&
        match_power(match, formula->terms[0].of, -formula->number, value))
        return true;
    restore(match, mark);
    uint32_t operand = undone(match, kind, value);
    return operand != ID_NONE && match_formula(match, formula, operand);
}

static bool match_term(struct match *match, enum pattern_kind kind,
                       const struct pattern_term *term, const struct item *item) {
    struct mark mark = save(match);
    bool found = term->inverse == item->inverse
                     ? match_formula(match, term->of, item->value)
                     : match_turned(match, kind, term->of, item->value);
    return found || restore(match, mark);
}

/* An argument that an attribute holds. */
static bool match_attr(struct match *match, const struct pattern *formula, uint32_t node,
                       size_t slot) {
    double have = 0;
    const char *name = patterns_operand_attr(match_node(match, node)->type, slot);
    if (!match_attr_number(match, node, name, &have)) return false;
    if (formula->kind == PATTERN_NUMBER) return match_is_number(have, formula->number);
    return formula->role == ROLE_EPSILON && match_note(match, formula->name, ID_NONE, have);
}

static bool match_argument(struct match *match, const struct pattern_term *term, uint32_t node,
                           size_t slot) {
    uint32_t value = match_input(match, node, slot);
    struct mark mark = save(match);
    if (value == ID_NONE) return match_attr(match, term->of, node, slot) || term->optional;
    return match_formula(match, term->of, value) || restore(match, mark);
}

static bool match_arguments(struct match *match, const struct pattern *formula, uint32_t node) {
    if (!match_take(match, node) || !match_axes(match, node)) return false;
    for (size_t i = 0; i < formula->n; i++)
        if (!match_argument(match, &formula->terms[i], node, i)) return false;
    return true;
}

/* What an operator of one operand was taken apart into may stand for it. */
static bool match_nested(struct match *match, const struct pattern *formula, uint32_t value) {
    const size_t first_name = match->first_name;
    if (match->nested == MATCH_DEEPEST_NEST || formula->n != 1) return false;
    for (size_t i = 0; i < match->patterns->n; i++) {
        const struct match_pattern *inner = &match->patterns->items[i];
        struct mark mark = save(match);
        if (!text_equal(inner->row->op, formula->name)) continue;
        match->nested++;
        match->first_name = match->n_names;
        bool found = match_formula(match, inner->formula, value);
        const struct match_name *operand = match_name(match, inner->row->operands);
        uint32_t from = found && operand ? operand->value : ID_NONE;
        match->first_name = first_name;
        match->n_names = mark.n_names;
        match->nested--;
        if (from != ID_NONE && match_formula(match, formula->terms[0].of, from)) return true;
        restore(match, mark);
    }
    return false;
}

static bool match_call(struct match *match, const struct pattern *formula, uint32_t value) {
    uint32_t node = match_producer(match, value);
    const struct op *op = node == ID_NONE ? NULL : match->source->ops[node];
    if (op && op->infer && op->domain[0] == '\0' && text_equal(op->type, formula->name))
        return match_arguments(match, formula, node);
    return match_nested(match, formula, value);
}

static bool match_here(struct match *match, const struct pattern *formula, uint32_t value) {
    switch (formula->kind) {
    case PATTERN_CALL:
        return match_call(match, formula, value);
    case PATTERN_POWER:
        return match_power(match, formula->terms[0].of, formula->number, value);
    default:
        return match_terms(match, formula, value);
    }
}

static bool match_number_at(const struct match *match, const struct pattern *formula,
                            uint32_t value) {
    double have = 0;
    return match_number(match, value, &have) && match_is_number(have, formula->number);
}

static bool match_formula(struct match *match, const struct pattern *formula, uint32_t value) {
    if (match->steps == 0) return false;
    match->steps--;
    switch (formula->kind) {
    case PATTERN_NUMBER:
        return match_number_at(match, formula, value);
    case PATTERN_NAME:
        return match_bind(match, formula, value);
    case PATTERN_LABEL:
        return match_formula(match, formula->terms[0].of, value) &&
               match_note(match, formula->name, value, 0);
    default:
        break;
    }
    for (int i = 0; i <= MAX_SAME; i++) {
        struct mark mark = save(match);
        if (match_here(match, formula, value)) return true;
        restore(match, mark);
        uint32_t earlier = match_before(match, value);
        if (earlier == value) return false;
        value = earlier;
    }
    return false;
}

static bool match_once(struct match *match, uint32_t value, bool strict) {
    match->n_names = match->n_nodes = match->n_axes = 0;
    match->first_name = match->nested = 0;
    match->strict = strict;
    match->steps = MAX_STEPS;
    return match_formula(match, match->pattern->formula, value) && match_axes_fit(match) &&
           match_parameters_fit(match) && match_result_fits(match);
}

bool match_value(struct match *match, const struct match_pattern *pattern, uint32_t value) {
    const struct model *model = match->source->model;
    match->pattern = pattern;
    match->result = value;
    match->graph = model->nodes[model->values[value].node].graph;
    if (!match_once(match, value, false)) return false;
    if (match_is_closed(match, value)) return true;
    return match_once(match, value, true) && match_is_closed(match, value);
}
