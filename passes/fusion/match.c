/* SPDX-License-Identifier: Apache-2.0 */
/* Matches patterns by backtracking: see match.h. A failed attempt at a term undoes its
 * bindings. A term that matched is not matched with the same nodes in another way when a later
 * term fails, which keeps the search small. The recursion is as deep as patterns nest: a few
 * levels. */
#include "passes/fusion/match.h"

#include <math.h>
#include <string.h>

#include "ir/constant.h"
#include "support/text.h"

#define MAX_STEPS            2000 /* of one attempt */
#define MAX_TERMS            8
#define MAX_CASTS            4    /* in a row */
#define TOLERANCE            4e-3 /* relative; half floats have three digits */
#define MAX_EPSILON          0.1
#define MAX_UNIFORM_ELEMENTS 1024 /* compared one by one */

/* --- Nodes and values. --- */

static const struct node *node_of(const struct match *match, uint32_t node) {
    return &match->source->model->nodes[node];
}

static const struct value_info *info_of(const struct match *match, uint32_t value) {
    return &match->source->infos[value];
}

/* Returns the node whose first output is the value; ID_NONE if the match cannot contain it. */
static uint32_t producer(const struct match *match, uint32_t value) {
    if (value == ID_NONE) return ID_NONE;
    const struct value *at = &match->source->model->values[value];
    bool fits = at->origin == VALUE_OUTPUT && at->slot == 0 && at->node != ID_NONE &&
                node_of(match, at->node)->graph == match->graph &&
                match->taken[at->node] == ID_NONE;
    return fits ? at->node : ID_NONE;
}

static enum op_algebra algebra_of(const struct match *match, uint32_t node) {
    return node == ID_NONE ? ALGEBRA_NONE : match->source->ops[node]->algebra;
}

static bool is_inside(const struct match *match, uint32_t node) {
    for (size_t i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node) return true;
    return false;
}

/* Makes the node part of the match. Returns false past MATCH_MAX_NODES. */
static bool add_node(struct match *match, uint32_t node) {
    if (is_inside(match, node)) return true;
    if (match->n_nodes == MATCH_MAX_NODES) return false;
    match->nodes[match->n_nodes++] = node;
    return true;
}

/* Returns operand `slot`, ID_NONE if it is omitted. */
static uint32_t input(const struct match *match, uint32_t node, size_t slot) {
    const struct node *at = node_of(match, node);
    return slot < at->n_inputs ? at->inputs[slot] : ID_NONE;
}

/* Returns dim i from the back; 1 if there are fewer dims. */
static int64_t dim_from_back(const struct shape *shape, int i) {
    return i < shape->rank ? shape->dims[shape->rank - 1 - i] : 1;
}

static bool may_be_equal(int64_t a, int64_t b) {
    return a == b || !is_known(a) || !is_known(b);
}

/* Returns true if the node keeps the elements (a cast between floats, Identity, Dropout), or is
 * a view that keeps the last dim in a pattern that allows views. */
static bool is_transparent(const struct match *match, uint32_t node) {
    if (node == ID_NONE || input(match, node, 0) == ID_NONE) return false;
    const struct op *op = match->source->ops[node];
    const struct value_info *from = info_of(match, input(match, node, 0));
    const struct value_info *to = info_of(match, node_of(match, node)->outputs[0]);
    if (op->algebra == ALGEBRA_IDENTITY) /* a cast to integers and back rounds */
        return from->dtype == to->dtype ||
               (dtype_is_float(from->dtype) && dtype_is_float(to->dtype));
    if (!match->pattern->row->views || op->memory != MEMORY_VIEW) return false;
    if (from->shape.rank < 1 || to->shape.rank < 1)
        return from->shape.rank != 0 && to->shape.rank != 0;
    return may_be_equal(dim_from_back(&from->shape, 0), dim_from_back(&to->shape, 0));
}

/* If the value's producer is transparent, adds it to the match and returns its operand; else
 * returns the value. */
static uint32_t skip_transparent(struct match *match, uint32_t value) {
    uint32_t node = producer(match, value);
    if (!is_transparent(match, node) || !add_node(match, node)) return value;
    return input(match, node, 0);
}

/* Returns true if no node outside the match reads an inner value. */
static bool is_closed(const struct match *match, uint32_t result) {
    const struct model *model = match->source->model;
    for (size_t i = 0; i < match->n_nodes; i++) {
        const struct node *node = node_of(match, match->nodes[i]);
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

/* --- Numbers and attributes. --- */

/* Returns the constant with its elements in memory, or NULL if they are not available. */
static const struct constant *loaded(const struct match *match,
                                     const struct constant *constant) {
    const struct op_source *source = match->source;
    return constant_loaded(constant, &source->model->reader, source->arena);
}

static double element(const struct constant *constant, int64_t i) {
    const struct number number = constant_number_at(constant, i);
    return number.real ? number.r : (double)number.i;
}

/* If all elements of a constant are one number, sets *ret to it and returns true. */
static bool number_of(const struct match *match, uint32_t value, double *ret) {
    const struct constant *constant = value == ID_NONE ? NULL : info_of(match, value)->value;
    if (!constant || constant->n_elements < 1) return false;
    constant = loaded(match, constant);
    if (!constant || !constant_has_numbers(constant)) return false;
    *ret = element(constant, 0);
    if (constant->place == CONSTANT_SPLAT) return true;
    if (constant->n_elements > MAX_UNIFORM_ELEMENTS) return false;
    for (int64_t i = 1; i < constant->n_elements; i++)
        if (element(constant, i) != *ret) return false;
    return true;
}

static bool is_close(double have, double want) {
    return fabs(have - want) <= TOLERANCE * fabs(want);
}

/* Compares integers and multiples of 0.5 exactly, because float types represent those of
 * patterns; other numbers may be rounded. */
static bool is_number(double have, double want) {
    return want * 2 == floor(want * 2) ? have == want : is_close(have, want);
}

/* Sets *ret to attribute `name` or its default. Returns false if that is not a number. */
static bool attr_number(const struct match *match, uint32_t node, const char *name,
                        double *ret) {
    const struct attr *attr = name ? node_attr(node_of(match, node), name) : NULL;
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

/* --- Reduction axes. --- */

/* Records the axes of the first reduction. Returns false if a later one has other axes. */
static bool record_axes(struct match *match, size_t n, const int64_t *axes, int rank) {
    bool seen[SHAPE_MAX_RANK] = {false};
    int sorted[SHAPE_MAX_RANK];
    size_t n_sorted = 0;
    if (rank < 0) return false;
    for (size_t i = 0; i < n; i++) {
        int axis = 0;
        if (!shape_axis(axes[i], rank, &axis) || seen[axis]) return false;
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

/* Records the axes of a reduction (from its attribute or input 1), or the axis of a softmax. */
static bool match_axes(struct match *match, uint32_t node) {
    double axis = 0;
    double keeps = 1;
    uint32_t operand = input(match, node, 0);
    int rank = operand == ID_NONE ? RANK_UNKNOWN : info_of(match, operand)->shape.rank;
    if (match->pattern->row->axes == AXES_NONE) return true;
    if (algebra_of(match, node) != ALGEBRA_REDUCTION) {
        if (!attr_number(match, node, "axis", &axis)) return true;
        if (!(fabs(axis) <= SHAPE_MAX_RANK)) return false;
        const int64_t one = (int64_t)axis;
        return record_axes(match, 1, &one, rank);
    }
    const bool keeps_dims = attr_number(match, node, "keepdims", &keeps) && keeps != 0;
    if (!keeps_dims) return false;
    const struct attr *attr = node_attr(node_of(match, node), "axes");
    if (attr && attr->kind == ATTR_INTS && attr->n <= SHAPE_MAX_RANK)
        return record_axes(match, attr->n, attr->ints, rank);
    operand = input(match, node, 1);
    const struct constant *list = operand == ID_NONE ? NULL : info_of(match, operand)->value;
    if (!list || list->n_elements > SHAPE_MAX_RANK) return false;
    list = loaded(match, list);
    if (!list || !constant_has_ints(list)) return false;
    int64_t axes[SHAPE_MAX_RANK];
    for (int64_t i = 0; i < list->n_elements; i++) axes[i] = constant_int_at(list, i);
    return record_axes(match, (size_t)list->n_elements, axes, rank);
}

/* --- Names. --- */

const struct match_name *match_name(const struct match *match, const char *name) {
    for (size_t i = match->first_name; i < match->n_names; i++)
        if (text_equal(match->names[i].name, name)) return &match->names[i];
    return NULL;
}

/* Adds a binding. Returns false past MATCH_MAX_NAMES. */
static bool add_name(struct match *match, const char *name, uint32_t value, double number) {
    if (match->n_names == MATCH_MAX_NAMES) return false;
    match->names[match->n_names++] = (struct match_name){name, value, number};
    return true;
}

/* Returns true if the value is a constant with the dims of x on the reduced axes (the channels
 * if the pattern has no reductions), and 1 on all others. Also true if x is not bound yet:
 * parameters_fit checks again at the end. */
static bool may_be_parameter(const struct match *match, const struct value_info *info) {
    const struct match_name *name = match_name(match, "x");
    if (info->kind != CM_TYPE_TENSOR || !info->is_constant) return false;
    if (!name) return true;
    const struct shape *x = &info_of(match, name->value)->shape;
    if (x->rank < 1 || !shape_has_rank(&info->shape) || info->shape.rank > x->rank)
        return false;
    for (int i = 0; i < x->rank; i++) {
        const int axis = x->rank - 1 - i;
        bool is_scaled = match->n_axes == 0 && axis == 1;
        for (size_t k = 0; k < match->n_axes; k++)
            is_scaled = is_scaled || match->axes[k] == axis;
        const int64_t want = is_scaled ? x->dims[axis] : 1;
        if (!is_known(want) || dim_from_back(&info->shape, i) != want) return false;
    }
    return true;
}

static bool may_have_role(const struct match *match, enum pattern_role role, uint32_t value,
                          double *number) {
    const struct value_info *info = info_of(match, value);
    *number = 0;
    switch (role) {
    case ROLE_EPSILON:
        return number_of(match, value, number) && *number > 0 && *number <= MAX_EPSILON;
    case ROLE_FACTOR:
        return value_info_is_complete(info) && shape_elements(&info->shape) == 1;
    case ROLE_PARAMETER:
        return may_be_parameter(match, info);
    case ROLE_CONSTANT:
        return info->kind == CM_TYPE_TENSOR && info->is_constant;
    case ROLE_KEYS:
        return info->kind == CM_TYPE_TENSOR && !(info->is_constant && info->shape.rank == 2);
    default:
        return info->kind == CM_TYPE_TENSOR;
    }
}

/* Binds the name to the value, or checks that an earlier occurrence of the name is bound to the
 * same value, behind transparent nodes (is_transparent). */
static bool match_bind(struct match *match, const struct pattern *pattern, uint32_t value) {
    double number = 0;
    if (pattern->role == ROLE_IGNORED) return true;
    if (value == ID_NONE) return false;
    const struct match_name *known = match_name(match, pattern->name);
    if (!known)
        return may_have_role(match, pattern->role, value, &number) &&
               add_name(match, pattern->name, value, number);
    for (int i = 0; i < MAX_CASTS && value != known->value; i++)
        value = skip_transparent(match, value);
    return value == known->value;
}

/* --- Sums, products and powers. --- */

/* A term of a sum or a factor of a product in the graph. */
struct item {
    uint32_t value;
    bool inverse;
};

struct items {
    enum pattern_kind kind; /* PATTERN_SUM or PATTERN_PRODUCT */
    size_t n;
    struct item at[MAX_TERMS];
};

/* State of a match, to which a failed attempt returns. */
struct mark {
    size_t n_names;
    size_t n_nodes;
    size_t n_axes;
};

static struct mark save(const struct match *match) {
    return (struct mark){match->n_names, match->n_nodes, match->n_axes};
}

static bool restore(struct match *match, struct mark mark) {
    match->n_names = mark.n_names;
    match->n_nodes = mark.n_nodes;
    match->n_axes = mark.n_axes;
    return false;
}

static bool match_pattern(struct match *match, const struct pattern *pattern, uint32_t value);
static bool match_term(struct match *match, enum pattern_kind kind,
                       const struct pattern_term *term, const struct item *item);

/* Matches terms[i..] in any order with the items whose bits are not set in `used`. */
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

/* Replaces item i by the two operands of its sum or product. Returns false if it is neither. */
static bool split(struct match *match, struct items *items, size_t i) {
    struct item item = items->at[i];
    uint32_t node = producer(match, item.value);
    for (int casts = 0; casts < MAX_CASTS && is_transparent(match, node); casts++) {
        item.value = skip_transparent(match, item.value);
        node = producer(match, item.value);
    }
    enum op_algebra algebra = algebra_of(match, node);
    const bool sum = items->kind == PATTERN_SUM;
    enum op_algebra plain = sum ? ALGEBRA_SUM : ALGEBRA_PRODUCT;
    enum op_algebra inverted = sum ? ALGEBRA_DIFFERENCE : ALGEBRA_QUOTIENT;
    if ((algebra != plain && algebra != inverted) || items->n == MAX_TERMS) return false;
    if (match->strict && item.value != match->result &&
        match->source->model->values[item.value].n_uses != 1)
        return false;
    if (node_of(match, node)->n_inputs != 2 || !add_node(match, node)) return false;
    items->at[i] = (struct item){input(match, node, 0), item.inverse};
    items->at[items->n++] =
        (struct item){input(match, node, 1), item.inverse != (algebra == inverted)};
    return true;
}

/* Splits items that are nested sums (or products) until there are as many items as terms, then
 * matches them. Tries every choice of items to split. Does not split items before `from`, so
 * that the same splits are not tried in several orders. */
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

static bool match_all_terms(struct match *match, enum pattern_kind kind,
                            const struct pattern_term *const *terms, size_t n, uint32_t value) {
    struct items items = {.kind = kind, .n = 1, .at = {{value, false}}};
    if (n == 1) return match_term(match, kind, terms[0], &items.at[0]);
    return match_items(match, terms, n, &items, 0);
}

/* Matches a sum or product with as many of its optional terms as possible. */
static bool match_terms(struct match *match, const struct pattern *pattern, uint32_t value) {
    const struct pattern_term *terms[MAX_TERMS];
    const struct mark mark = save(match);
    unsigned optional = 0;
    for (size_t i = 0; i < pattern->n; i++)
        optional |= (unsigned)pattern->terms[i].optional << i;
    for (int n_out = 0; n_out <= __builtin_popcount(optional); n_out++)
        for (unsigned left_out = 0; left_out < 1U << pattern->n; left_out++) {
            size_t n = 0;
            if ((left_out & ~optional) != 0 || __builtin_popcount(left_out) != n_out) continue;
            for (size_t i = 0; i < pattern->n; i++)
                if ((left_out & 1U << i) == 0) terms[n++] = &pattern->terms[i];
            if (n > 0 && match_all_terms(match, pattern->kind, terms, n, value)) return true;
            restore(match, mark);
        }
    return false;
}

/* Matches value = base ^ exponent: a Pow, a Sqrt, or a product of 2 or 3 equal factors. */
static bool match_power(struct match *match, const struct pattern *base, double exponent,
                        uint32_t value) {
    uint32_t node = producer(match, value);
    enum op_algebra algebra = algebra_of(match, node);
    double have = 0;
    if (algebra == ALGEBRA_POWER)
        return number_of(match, input(match, node, 1), &have) && is_number(have, exponent) &&
               add_node(match, node) && match_pattern(match, base, input(match, node, 0));
    if (algebra == ALGEBRA_ROOT && exponent == 0.5)
        return add_node(match, node) && match_pattern(match, base, input(match, node, 0));
    if (exponent != 2 && exponent != 3) return false;
    const struct pattern_term one = {.of = base};
    const struct pattern_term *const terms[] = {&one, &one, &one};
    return match_all_terms(match, PATTERN_PRODUCT, terms, (size_t)exponent, value);
}

/* Returns `a` if the value is Neg(a) in a sum, or Reciprocal(a) or 1 / a in a product; else
 * ID_NONE. */
static uint32_t inverse_operand(struct match *match, enum pattern_kind kind, uint32_t value) {
    uint32_t node = producer(match, value);
    enum op_algebra algebra = algebra_of(match, node);
    double one = 0;
    if (algebra == (kind == PATTERN_SUM ? ALGEBRA_NEGATIVE : ALGEBRA_RECIPROCAL))
        return add_node(match, node) ? input(match, node, 0) : ID_NONE;
    if (kind == PATTERN_SUM || algebra != ALGEBRA_QUOTIENT) return ID_NONE;
    if (!number_of(match, input(match, node, 0), &one) || one != 1) return ID_NONE;
    return add_node(match, node) ? input(match, node, 1) : ID_NONE;
}

/* Matches the pattern with the negative or reciprocal of the value: x - (-3) is x + 3, and
 * x * 0.7071 is x / 1.4142. A ROLE_FACTOR matches both forms. */
static bool match_inverse(struct match *match, enum pattern_kind kind,
                          const struct pattern *pattern, uint32_t value) {
    struct mark mark = save(match);
    if (pattern->kind == PATTERN_NUMBER) {
        double have = 0;
        if (!number_of(match, value, &have)) return false;
        return kind == PATTERN_SUM ? is_number(-have, pattern->number)
                                   : is_close(have * pattern->number, 1);
    }
    if (pattern->role == ROLE_FACTOR) return match_bind(match, pattern, value);
    if (kind == PATTERN_PRODUCT && pattern->kind == PATTERN_POWER &&
        match_power(match, pattern->terms[0].of, -pattern->number, value))
        return true;
    restore(match, mark);
    uint32_t operand = inverse_operand(match, kind, value);
    return operand != ID_NONE && match_pattern(match, pattern, operand);
}

static bool match_term(struct match *match, enum pattern_kind kind,
                       const struct pattern_term *term, const struct item *item) {
    struct mark mark = save(match);
    bool found = term->inverse == item->inverse
                     ? match_pattern(match, term->of, item->value)
                     : match_inverse(match, kind, term->of, item->value);
    return found || restore(match, mark);
}

/* --- Operators. --- */

/* Matches an argument that is an attribute in this opset: min of Clip before opset 11. */
static bool match_attr(struct match *match, const struct pattern *pattern, uint32_t node,
                       size_t slot) {
    double have = 0;
    const char *name = patterns_operand_attr(node_of(match, node)->type, slot);
    if (!attr_number(match, node, name, &have)) return false;
    if (pattern->kind == PATTERN_NUMBER) return is_number(have, pattern->number);
    return pattern->role == ROLE_EPSILON && add_name(match, pattern->name, ID_NONE, have);
}

static bool match_arguments(struct match *match, const struct pattern *pattern, uint32_t node) {
    if (!add_node(match, node) || !match_axes(match, node)) return false;
    for (size_t i = 0; i < pattern->n; i++) {
        const struct pattern_term *term = &pattern->terms[i];
        uint32_t value = input(match, node, i);
        if (value != ID_NONE ? !match_pattern(match, term->of, value)
                             : !match_attr(match, term->of, node, i) && !term->optional)
            return false;
    }
    return true;
}

/* Matches a call with one argument, for example Softplus(x), if the graph has no such node but
 * nodes that match another pattern of the operator. */
static bool match_nested(struct match *match, const struct pattern *pattern, uint32_t value) {
    const size_t first_name = match->first_name;
    if (match->nested == MATCH_MAX_NESTED || pattern->n != 1) return false;
    for (size_t i = 0; i < match->patterns->n; i++) {
        const struct match_pattern *inner = &match->patterns->items[i];
        struct mark mark = save(match);
        if (!text_equal(inner->row->op, pattern->name)) continue;
        match->nested++;
        match->first_name = match->n_names;
        bool found = match_pattern(match, inner->tree, value);
        const struct match_name *operand = match_name(match, inner->row->operands);
        uint32_t from = found && operand ? operand->value : ID_NONE;
        match->first_name = first_name;
        match->n_names = mark.n_names;
        match->nested--;
        if (from != ID_NONE && match_pattern(match, pattern->terms[0].of, from)) return true;
        restore(match, mark);
    }
    return false;
}

/* Matches the pattern with the value's producer. Except for sums and products, casts before it
 * are not skipped. */
static bool match_producer(struct match *match, const struct pattern *pattern, uint32_t value) {
    if (pattern->kind == PATTERN_POWER)
        return match_power(match, pattern->terms[0].of, pattern->number, value);
    if (pattern->kind != PATTERN_CALL) return match_terms(match, pattern, value);
    uint32_t node = producer(match, value);
    const struct op *op = node == ID_NONE ? NULL : match->source->ops[node];
    if (op && op->infer && op->domain[0] == '\0' && text_equal(op->type, pattern->name))
        return match_arguments(match, pattern, node);
    return match_nested(match, pattern, value);
}

static bool match_pattern(struct match *match, const struct pattern *pattern, uint32_t value) {
    double have = 0;
    if (match->steps == 0) return false;
    match->steps--;
    switch (pattern->kind) {
    case PATTERN_NUMBER:
        return number_of(match, value, &have) && is_number(have, pattern->number);
    case PATTERN_NAME:
        return match_bind(match, pattern, value);
    case PATTERN_LABEL:
        return match_pattern(match, pattern->terms[0].of, value) &&
               add_name(match, pattern->name, value, 0);
    default:
        break;
    }
    for (int i = 0; i <= MAX_CASTS; i++) {
        struct mark mark = save(match);
        if (match_producer(match, pattern, value)) return true;
        restore(match, mark);
        uint32_t earlier = skip_transparent(match, value);
        if (earlier == value) return false;
        value = earlier;
    }
    return false;
}

/* --- Checks of a whole match. --- */

static const struct shape *named_shape(const struct match *match, const char *name) {
    const struct match_name *found = match_name(match, name);
    return found && found->value != ID_NONE ? &info_of(match, found->value)->shape : NULL;
}

/* Returns true if "g" may be "x" with its channels split into equal groups. */
static bool groups_fit(const struct match *match) {
    const struct shape *x = named_shape(match, "x");
    const struct shape *g = named_shape(match, "g");
    if (!x || !g || x->rank < 2 || g->rank < 3) return false;
    if (!may_be_equal(x->dims[0], g->dims[0])) return false;
    if (!is_known(x->dims[1]) || !is_known(g->dims[1])) return true;
    return g->dims[1] > 0 && x->dims[1] % g->dims[1] == 0;
}

static bool axes_fit(const struct match *match) {
    switch (match->pattern->row->axes) {
    case AXES_TRAILING:
        return match->n_axes > 0 && match->axes[0] == match->rank - (int)match->n_axes;
    case AXES_LAST:
        return match->n_axes == 1 && match->axes[0] == match->rank - 1;
    case AXES_ONE:
        return match->n_axes == 1;
    case AXES_GROUPS:
        return groups_fit(match);
    default:
        return true;
    }
}

static bool parameters_fit(const struct match *match) {
    const struct match_name *scale = match_name(match, "scale");
    const struct match_name *shift = match_name(match, "shift");
    return (!scale || may_be_parameter(match, info_of(match, scale->value))) &&
           (!shift || may_be_parameter(match, info_of(match, shift->value)));
}

/* Returns false if the result is larger than "x", because an operand broadcasts "x". */
static bool result_fits(const struct match *match) {
    const struct shape *x = named_shape(match, "x");
    const struct shape *result = &info_of(match, match->result)->shape;
    if (!x || match->pattern->row->foldable) return true;
    if (x->rank == RANK_UNKNOWN || result->rank == RANK_UNKNOWN) return true;
    for (int i = 0; i < x->rank || i < result->rank; i++)
        if (!may_be_equal(dim_from_back(x, i), dim_from_back(result, i))) return false;
    return true;
}

static bool match_once(struct match *match, uint32_t value, bool strict) {
    match->n_names = match->n_nodes = match->n_axes = 0;
    match->first_name = match->nested = 0;
    match->strict = strict;
    match->steps = MAX_STEPS;
    return match_pattern(match, match->pattern->tree, value) && axes_fit(match) &&
           parameters_fit(match) && result_fits(match);
}

bool match_value(struct match *match, const struct match_pattern *pattern, uint32_t value) {
    const struct model *model = match->source->model;
    match->pattern = pattern;
    match->result = value;
    match->graph = model->nodes[model->values[value].node].graph;
    if (!match_once(match, value, false)) return false;
    if (is_closed(match, value)) return true;
    /* an inner value is read outside: try again without splitting shared sums and products */
    return match_once(match, value, true) && is_closed(match, value);
}
