/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches formulas by backtracking: see match.h. A failed attempt at one term takes back what
 * it noted; a term that was matched is not tried another way when a later one fails, so that
 * the search stays small. Formulas nest a few levels deep, and so does the recursion.
 */
#include "passes/match.h"

#include <math.h>
#include <string.h>

#include "ir/constant.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Half floats have three digits. */
#define TOLERANCE    4e-3
#define LARGEST_EPS  0.1
#define MAX_STEPS    2000 /* of one attempt */
#define MAX_TERMS    8
#define MAX_SAME     4 /* casts in a row */
#define DEEPEST_NEST 2

/* A term of a sum or a factor of a product as the file has it. */
struct item {
    uint32_t value;
    bool inverse;
};

struct items {
    size_t n;
    struct item at[MAX_TERMS];
};

/* How far a match has come. */
struct mark {
    size_t n_names;
    size_t n_nodes;
    size_t n_axes;
};

static bool match_formula(struct match *match, const struct formula *formula, uint32_t value);

static struct mark save(const struct match *match) {
    return (struct mark){match->n_names, match->n_nodes, match->n_axes};
}

static bool restore(struct match *match, struct mark mark) {
    match->n_names = mark.n_names;
    match->n_nodes = mark.n_nodes;
    match->n_axes = mark.n_axes;
    return false;
}

static const struct node *node_at(const struct match *match, uint32_t node) {
    return &match->source->model->nodes[node];
}

static const struct fact *fact_of(const struct match *match, uint32_t value) {
    return &match->source->facts[value];
}

/* The node that makes the value as its first output, and that a match may take; or ID_NONE. */
static uint32_t producer(const struct match *match, uint32_t value) {
    if (value == ID_NONE) return ID_NONE;
    const struct value *at = &match->source->model->values[value];
    bool fits = at->origin == VALUE_OUTPUT && at->slot == 0 && at->node != ID_NONE &&
                node_at(match, at->node)->graph == match->graph &&
                match->taken[at->node] == ID_NONE;
    return fits ? at->node : ID_NONE;
}

static enum op_algebra algebra_of(const struct match *match, uint32_t node) {
    return node == ID_NONE ? ALGEBRA_NONE : match->source->ops[node]->algebra;
}

static bool take(struct match *match, uint32_t node) {
    for (size_t i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node) return true;
    if (match->n_nodes == MATCH_MAX_NODES) return false;
    match->nodes[match->n_nodes++] = node;
    return true;
}

static uint32_t input(const struct match *match, uint32_t node, size_t slot) {
    const struct node *at = node_at(match, node);
    return slot < at->n_inputs ? at->inputs[slot] : ID_NONE;
}

/* Whether the node hands its first operand on as it is. */
static bool hands_on(const struct match *match, uint32_t node) {
    if (node == ID_NONE) return false;
    const struct op *op = match->source->ops[node];
    bool view = match->pattern->row->views && op->memory == MEMORY_VIEW;
    return op->algebra == ALGEBRA_SAME || view;
}

/* What the value is before its casts, which become part of the match; itself where it has none.
 */
static uint32_t before(struct match *match, uint32_t value) {
    uint32_t node = producer(match, value);
    if (!hands_on(match, node) || !take(match, node)) return value;
    return input(match, node, 0);
}

bool match_number(const struct match *match, uint32_t value, double *ret) {
    const struct constant *constant = value == ID_NONE ? NULL : fact_of(match, value)->value;
    const struct rule_source *source = match->source;
    if (!constant || constant->n_elements != 1) return false;
    bool loaded = constant_has_reals(constant) || constant_has_ints(constant);
    if (!loaded &&
        constant_load(constant, &source->model->reader, source->arena, NULL, &constant) < 0)
        return false;
    if (!constant) return false;
    if (constant_has_reals(constant))
        *ret = constant_real_at(constant, 0);
    else if (constant_has_ints(constant))
        *ret = (double)constant_int_at(constant, 0);
    else
        return false;
    return true;
}

static bool is_close(double have, double want) {
    return fabs(have - want) <= TOLERANCE * fabs(want);
}

const struct match_name *match_name(const struct match *match, const char *name) {
    for (size_t i = match->first_name; i < match->n_names; i++)
        if (text_equal(match->names[i].name, name)) return &match->names[i];
    return NULL;
}

static bool note(struct match *match, const char *name, uint32_t value, double number) {
    if (match->n_names == MATCH_MAX_NAMES) return false;
    match->names[match->n_names++] = (struct match_name){name, value, number};
    return true;
}

static bool may_be(const struct match *match, enum formula_role role, uint32_t value,
                   double *number) {
    const struct fact *fact = fact_of(match, value);
    *number = 0;
    switch (role) {
    case ROLE_EPSILON:
        return match_number(match, value, number) && *number > 0 && *number <= LARGEST_EPS;
    case ROLE_FACTOR:
        return fact_is_complete(fact) && shape_elements(&fact->shape) == 1;
    case ROLE_PARAMETER:
        return fact->kind == CM_TYPE_TENSOR && fact->is_constant;
    default:
        return fact->kind == CM_TYPE_TENSOR;
    }
}

/* A name is one value everywhere, be it cast in between. */
static bool match_same(struct match *match, uint32_t known, uint32_t value) {
    for (int i = 0; i < MAX_SAME && value != known; i++) {
        uint32_t earlier = before(match, value);
        if (earlier == value) return false;
        value = earlier;
    }
    return value == known;
}

static bool match_name_at(struct match *match, const struct formula *formula, uint32_t value) {
    double number = 0;
    if (formula->role == ROLE_IGNORED) return true;
    if (value == ID_NONE) return false;
    const struct match_name *known = match_name(match, formula->name);
    if (known) return match_same(match, known->value, value);
    return may_be(match, formula->role, value, &number) &&
           note(match, formula->name, value, number);
}

/* One item against one term of the formula. */
static bool match_term(struct match *match, const struct formula_term *term,
                       const struct item *item);

static bool match_any_order(struct match *match, const struct formula_term *const *terms,
                            const struct items *items, size_t i, unsigned used) {
    if (i == items->n) return true;
    for (size_t k = 0; k < items->n; k++) {
        struct mark mark = save(match);
        if (used & 1U << k) continue;
        if (match_term(match, terms[i], &items->at[k]) &&
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
static bool split(struct match *match, enum formula_kind kind, struct items *items, size_t i) {
    struct item item = items->at[i];
    uint32_t node = producer(match, item.value);
    for (int same = 0; same < MAX_SAME && hands_on(match, node); same++) {
        item.value = before(match, item.value);
        node = producer(match, item.value);
    }
    enum op_algebra algebra = algebra_of(match, node);
    enum op_algebra plain = kind == FORMULA_SUM ? ALGEBRA_SUM : ALGEBRA_PRODUCT;
    enum op_algebra turned = kind == FORMULA_SUM ? ALGEBRA_DIFFERENCE : ALGEBRA_QUOTIENT;
    if ((algebra != plain && algebra != turned) || items->n == MAX_TERMS) return false;
    if (items->n > 1 && match->strict && !is_sole_reader(match, item.value)) return false;
    if (node_at(match, node)->n_inputs != 2 || !take(match, node)) return false;
    items->at[i] = (struct item){input(match, node, 0), item.inverse};
    items->at[items->n++] =
        (struct item){input(match, node, 1), item.inverse != (algebra == turned)};
    return true;
}

/* Takes sums of sums apart until there are as many items as terms, in every way. */
static bool match_items(struct match *match, enum formula_kind kind,
                        const struct formula_term *const *terms, size_t n,
                        const struct items *items) {
    if (match->steps == 0) return false;
    match->steps--;
    if (items->n == n) return match_any_order(match, terms, items, 0, 0);
    for (size_t i = 0; i < items->n; i++) {
        struct mark mark = save(match);
        struct items more = *items;
        if (split(match, kind, &more, i) && match_items(match, kind, terms, n, &more))
            return true;
        restore(match, mark);
    }
    return false;
}

static bool match_terms_alone(struct match *match, enum formula_kind kind,
                              const struct formula_term *const *terms, size_t n,
                              uint32_t value) {
    struct items items = {.n = 1, .at = {{value, false}}};
    if (n == 1) return match_term(match, terms[0], &items.at[0]);
    return match_items(match, kind, terms, n, &items);
}

/* Bit i of `left_out`: the optional term i is not there. */
static bool match_without(struct match *match, const struct formula *formula, uint32_t value,
                          unsigned left_out) {
    const struct formula_term *terms[MAX_TERMS];
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
static bool match_terms(struct match *match, const struct formula *formula, uint32_t value) {
    size_t n_optional = 0;
    for (size_t i = 0; i < formula->n; i++) n_optional += formula->terms[i].optional;
    for (size_t out = 0; out <= n_optional; out++)
        for (unsigned left_out = 0; left_out < 1U << formula->n; left_out++)
            if (n_bits(left_out) == out && match_without(match, formula, value, left_out))
                return true;
    return false;
}

/* value = a ^ exponent for the formula a. */
static bool match_power(struct match *match, const struct formula *base, double exponent,
                        uint32_t value) {
    uint32_t node = producer(match, value);
    enum op_algebra algebra = algebra_of(match, node);
    double have = 0;
    if (algebra == ALGEBRA_POWER)
        return match_number(match, input(match, node, 1), &have) && is_close(have, exponent) &&
               take(match, node) && match_formula(match, base, input(match, node, 0));
    if (algebra == ALGEBRA_ROOT && exponent == 0.5)
        return take(match, node) && match_formula(match, base, input(match, node, 0));
    if (exponent == 2 || exponent == 3) {
        const struct formula_term one = {.of = base};
        const struct formula_term *const terms[] = {&one, &one, &one};
        return match_terms_alone(match, FORMULA_PRODUCT, terms, (size_t)exponent, value);
    }
    return false;
}

/* The operand where the item is 1 / operand or - operand, as a node of its own says. */
static uint32_t undone(struct match *match, const struct item *item) {
    uint32_t node = producer(match, item->value);
    double one = 0;
    switch (algebra_of(match, node)) {
    case ALGEBRA_RECIPROCAL:
    case ALGEBRA_NEGATIVE:
        return take(match, node) ? input(match, node, 0) : ID_NONE;
    case ALGEBRA_QUOTIENT:
        if (!match_number(match, input(match, node, 0), &one) || one != 1) return ID_NONE;
        return take(match, node) ? input(match, node, 1) : ID_NONE;
    default:
        return ID_NONE;
    }
}

/* 1 / 1.4142 is 0.7071, and a factor may stand on either side; else a node must turn it round.
 */
static bool match_turned(struct match *match, const struct formula *formula,
                         const struct item *item) {
    double have = 0;
    struct mark mark = save(match);
    if (formula->kind == FORMULA_NUMBER)
        return match_number(match, item->value, &have) &&
               (is_close(have * formula->number, 1) || is_close(-have, formula->number));
    if (formula->role == ROLE_FACTOR) return match_name_at(match, formula, item->value);
    if (formula->kind == FORMULA_POWER &&
        match_power(match, formula->terms[0].of, -formula->number, item->value))
        return true;
    restore(match, mark);
    uint32_t value = undone(match, item);
    return value != ID_NONE && match_formula(match, formula, value);
}

static bool match_term(struct match *match, const struct formula_term *term,
                       const struct item *item) {
    struct mark mark = save(match);
    bool found = term->inverse == item->inverse ? match_formula(match, term->of, item->value)
                                                : match_turned(match, term->of, item);
    return found || restore(match, mark);
}

/* The number that attribute `name` holds, or its default. */
static bool attr_number(const struct match *match, uint32_t node, const char *name,
                        double *ret) {
    const struct attr *attr = name ? node_attr(node_at(match, node), name) : NULL;
    const struct op_attr *row = name ? match->source->ops[node]->attrs : NULL;
    if (attr) {
        *ret = attr->kind == ATTR_FLOAT ? attr->f : (double)attr->i;
        return attr->kind == ATTR_FLOAT || attr->kind == ATTR_INT;
    }
    while (row && row->name && !text_equal(row->name, name)) row++;
    if (!row || !row->name || !row->has_default) return false;
    *ret = row->kind == ATTR_FLOAT ? row->f : (double)row->i;
    return row->kind == ATTR_FLOAT || row->kind == ATTR_INT;
}

/* An argument that an attribute holds. */
static bool match_attr(struct match *match, const struct formula *formula, uint32_t node,
                       size_t slot) {
    double have = 0;
    const char *name = composite_operand_attr(node_at(match, node)->type, slot);
    if (!attr_number(match, node, name, &have)) return false;
    if (formula->kind == FORMULA_NUMBER)
        return formula->number == 0 ? have == 0 : is_close(have, formula->number);
    return formula->role == ROLE_EPSILON && note(match, formula->name, ID_NONE, have);
}

static bool match_argument(struct match *match, const struct formula_term *term, uint32_t node,
                           size_t slot) {
    uint32_t value = input(match, node, slot);
    struct mark mark = save(match);
    if (value == ID_NONE) return match_attr(match, term->of, node, slot) || term->optional;
    return match_formula(match, term->of, value) || restore(match, mark);
}

/* Axes from the attribute, or from input 1; NULL where they are not known. */
static const int64_t *axes_of(const struct match *match, uint32_t node, size_t *ret_n) {
    const struct attr *attr = node_attr(node_at(match, node), "axes");
    uint32_t operand = input(match, node, 1);
    const struct constant *axes = operand == ID_NONE ? NULL : fact_of(match, operand)->value;
    const struct rule_source *source = match->source;
    if (attr && attr->kind == ATTR_INTS) {
        *ret_n = attr->n;
        return attr->ints;
    }
    if (!axes || axes->n_elements < 1 || axes->n_elements > SHAPE_MAX_RANK) return NULL;
    if (!constant_has_ints(axes) &&
        constant_load(axes, &source->model->reader, source->arena, NULL, &axes) < 0)
        return NULL;
    if (!axes || !constant_has_ints(axes) || axes->place == CONSTANT_SPLAT) return NULL;
    *ret_n = (size_t)axes->n_elements;
    return axes->ints;
}

/* All reductions of a formula go along the same axes. */
static bool note_axes(struct match *match, size_t n, const int64_t *axes, int rank) {
    bool seen[SHAPE_MAX_RANK] = {false};
    int sorted[SHAPE_MAX_RANK];
    size_t n_sorted = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || seen[axis]) return false;
        seen[axis] = true;
    }
    for (int axis = 0; axis < rank; axis++)
        if (seen[axis]) sorted[n_sorted++] = axis;
    if (match->n_axes > 0)
        return match->rank == rank && match->n_axes == n_sorted &&
               memcmp(match->axes, sorted, n_sorted * sizeof *sorted) == 0;
    memcpy(match->axes, sorted, n_sorted * sizeof *sorted);
    match->n_axes = n_sorted;
    match->rank = rank;
    return n_sorted > 0;
}

static bool match_axes(struct match *match, uint32_t node) {
    double axis = 0;
    double keeps = 1;
    size_t n = 1;
    uint32_t operand = input(match, node, 0);
    int rank = operand == ID_NONE ? RANK_UNKNOWN : fact_of(match, operand)->shape.rank;
    if (match->pattern->row->axes == AXES_NONE) return true;
    if (algebra_of(match, node) == ALGEBRA_REDUCTION) {
        const int64_t *axes = axes_of(match, node, &n);
        bool kept = attr_number(match, node, "keepdims", &keeps) && keeps != 0;
        return kept && axes && note_axes(match, n, axes, rank);
    }
    if (!attr_number(match, node, "axis", &axis)) return true;
    const int64_t one = (int64_t)axis;
    return note_axes(match, n, &one, rank);
}

static bool match_arguments(struct match *match, const struct formula *formula, uint32_t node) {
    if (!take(match, node) || !match_axes(match, node)) return false;
    for (size_t i = 0; i < formula->n; i++)
        if (!match_argument(match, &formula->terms[i], node, i)) return false;
    return true;
}

/* What an operator of one operand was taken apart into may stand for it. */
static bool match_nested(struct match *match, const struct formula *formula, uint32_t value) {
    const size_t first_name = match->first_name;
    if (match->nested == DEEPEST_NEST || formula->n != 1) return false;
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

static bool match_call(struct match *match, const struct formula *formula, uint32_t value) {
    uint32_t node = producer(match, value);
    const struct op *op = node == ID_NONE ? NULL : match->source->ops[node];
    if (op && op->infer && op->domain[0] == '\0' && text_equal(op->type, formula->name))
        return match_arguments(match, formula, node);
    return match_nested(match, formula, value);
}

static bool match_here(struct match *match, const struct formula *formula, uint32_t value) {
    switch (formula->kind) {
    case FORMULA_CALL:
        return match_call(match, formula, value);
    case FORMULA_POWER:
        return match_power(match, formula->terms[0].of, formula->number, value);
    default:
        return match_terms(match, formula, value);
    }
}

static bool match_number_at(const struct match *match, const struct formula *formula,
                            uint32_t value) {
    double have = 0;
    if (!match_number(match, value, &have)) return false;
    return formula->number == 0 ? have == 0 : is_close(have, formula->number);
}

static bool match_formula(struct match *match, const struct formula *formula, uint32_t value) {
    if (match->steps == 0) return false;
    match->steps--;
    switch (formula->kind) {
    case FORMULA_NUMBER:
        return match_number_at(match, formula, value);
    case FORMULA_NAME:
        return match_name_at(match, formula, value);
    case FORMULA_LABEL:
        return match_formula(match, formula->terms[0].of, value) &&
               note(match, formula->name, value, 0);
    default:
        break;
    }
    for (int i = 0; i <= MAX_SAME; i++) {
        struct mark mark = save(match);
        if (match_here(match, formula, value)) return true;
        restore(match, mark);
        uint32_t earlier = before(match, value);
        if (earlier == value) return false;
        value = earlier;
    }
    return false;
}

static bool is_inside(const struct match *match, uint32_t node) {
    for (size_t i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node) return true;
    return false;
}

/* Nobody but the match reads what its inner nodes make. */
static bool is_closed(const struct match *match, uint32_t result) {
    const struct model *model = match->source->model;
    for (size_t i = 0; i < match->n_nodes; i++) {
        const struct node *node = node_at(match, match->nodes[i]);
        for (size_t k = 0; k < node->n_outputs; k++) {
            if (node->outputs[k] == ID_NONE || node->outputs[k] == result) continue;
            const struct value *value = &model->values[node->outputs[k]];
            if (value->is_graph_output || value->n_uses > MATCH_MAX_NODES) return false;
            for (uint32_t use = 0; use < value->n_uses; use++)
                if (!is_inside(match, value->uses[use].node)) return false;
        }
    }
    return true;
}

static bool axes_fit(const struct match *match) {
    switch (match->pattern->row->axes) {
    case AXES_TRAILING:
        return match->n_axes > 0 && match->axes[0] == match->rank - (int)match->n_axes;
    case AXES_LAST:
        return match->n_axes == 1 && match->axes[0] == match->rank - 1;
    case AXES_ONE:
        return match->n_axes == 1;
    default:
        return true;
    }
}

/* Elements of a scale: of what is normalized, or of the channels. */
static int64_t n_parameters(const struct match *match, const struct shape *x) {
    int64_t n = 1;
    if (x->rank < 2) return DIM_UNKNOWN;
    if (match->n_axes == 0) return x->dims[1];
    for (size_t i = 0; i < match->n_axes; i++) n = checked_mul(n, x->dims[match->axes[i]]);
    return n;
}

static bool parameters_fit(const struct match *match) {
    static const char *const names[] = {"scale", "shift"};
    const struct match_name *x = match_name(match, "x");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct match_name *found = match_name(match, names[i]);
        if (!found) continue;
        if (!x) return false;
        int64_t want = n_parameters(match, &fact_of(match, x->value)->shape);
        int64_t have = shape_elements(&fact_of(match, found->value)->shape);
        if (!is_known(want) || want != have) return false;
    }
    return true;
}

static bool match_once(struct match *match, uint32_t value, bool strict) {
    match->n_names = match->n_nodes = match->n_axes = 0;
    match->first_name = match->nested = 0;
    match->strict = strict;
    match->steps = MAX_STEPS;
    return match_formula(match, match->pattern->formula, value) && axes_fit(match) &&
           parameters_fit(match);
}

bool match_value(struct match *match, const struct match_pattern *pattern, uint32_t value) {
    const struct model *model = match->source->model;
    match->pattern = pattern;
    match->graph = model->nodes[model->values[value].node].graph;
    if (!match_once(match, value, false)) return false;
    if (is_closed(match, value)) return true;
    return match_once(match, value, true) && is_closed(match, value);
}
