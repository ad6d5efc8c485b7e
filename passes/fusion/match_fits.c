/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the sizes and axes of a match are those of its operation. */
#include "passes/fusion/match_inner.h"

#include "support/banned.h"

/* Dim i from the back, 1 in front of the first. */
static int64_t dim_from_back(const struct shape *shape, int i) {
    return i < shape->rank ? shape->dims[shape->rank - 1 - i] : 1;
}

static bool may_be_equal(int64_t a, int64_t b) {
    return a == b || !is_known(a) || !is_known(b);
}

bool match_keeps_last_dim(const struct shape *from, const struct shape *to) {
    if (from->rank < 1 || to->rank < 1) return from->rank != 0 && to->rank != 0;
    return may_be_equal(dim_from_back(from, 0), dim_from_back(to, 0));
}

/* Whether a scale has elements for that axis of what is normalized; without reductions it is
 * the channels that it has them for. */
static bool is_scaled(const struct match *match, int axis) {
    if (match->n_axes == 0) return axis == 1;
    for (size_t i = 0; i < match->n_axes; i++)
        if (match->axes[i] == axis) return true;
    return false;
}

/* Whether it holds an element for each scaled one of x, and lies along the same axes. */
static bool lies_along(const struct match *match, const struct shape *x,
                       const struct shape *scale) {
    if (x->rank < 1 || !shape_has_rank(scale) || scale->rank > x->rank) return false;
    for (int i = 0; i < x->rank; i++) {
        const int axis = x->rank - 1 - i;
        const int64_t want = is_scaled(match, axis) ? x->dims[axis] : 1;
        if (!is_known(want) || dim_from_back(scale, i) != want) return false;
    }
    return true;
}

bool match_may_be_parameter(const struct match *match, const struct value_info *info) {
    const struct match_name *x = match_name(match, "x");
    if (info->kind != CM_TYPE_TENSOR || !info->is_constant) return false;
    if (!x) return true;
    return lies_along(match, &match_fact(match, x->value)->shape, &info->shape);
}

bool match_parameters_fit(const struct match *match) {
    static const char *const names[] = {"scale", "shift"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct match_name *found = match_name(match, names[i]);
        if (found && !match_may_be_parameter(match, match_fact(match, found->value)))
            return false;
    }
    return true;
}

static const struct shape *named_shape(const struct match *match, const char *name) {
    const struct match_name *found = match_name(match, name);
    return found && found->value != ID_NONE ? &match_fact(match, found->value)->shape : NULL;
}

/* "g" is "x" with its channels in groups of whole ones. */
static bool groups_fit(const struct match *match) {
    const struct shape *x = named_shape(match, "x");
    const struct shape *g = named_shape(match, "g");
    if (!x || !g || x->rank < 2 || g->rank < 3) return false;
    if (!may_be_equal(x->dims[0], g->dims[0])) return false;
    if (!is_known(x->dims[1]) || !is_known(g->dims[1])) return true;
    return g->dims[1] > 0 && x->dims[1] % g->dims[1] == 0;
}

bool match_axes_fit(const struct match *match) {
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

bool match_result_fits(const struct match *match) {
    const struct shape *x = named_shape(match, "x");
    const struct shape *result = &match_fact(match, match->result)->shape;
    if (!x || match->pattern->row->foldable) return true;
    if (x->rank == RANK_UNKNOWN || result->rank == RANK_UNKNOWN) return true;
    for (int i = 0; i < x->rank || i < result->rank; i++)
        if (!may_be_equal(dim_from_back(x, i), dim_from_back(result, i))) return false;
    return true;
}
