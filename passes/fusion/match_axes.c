/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a match's nodes, and the axes that all of its reductions go along. */
#include <math.h>
#include <string.h>

#include "ir/constant.h"
#include "passes/fusion/match_inner.h"
#include "support/text.h"

#include "support/banned.h"

/* The number that attribute `name` holds, or its default. */
bool match_attr_number(const struct match *match, uint32_t node, const char *name,
                       double *ret) {
    const struct attr *attr = name ? node_attr(match_node(match, node), name) : NULL;
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

/* Axes from the attribute, or from input 1; false where they are not known. */
static bool axes_of(const struct match *match, uint32_t node, int64_t *axes, size_t *ret_n) {
    const struct attr *attr = node_attr(match_node(match, node), "axes");
    const uint32_t operand = match_input(match, node, 1);
    const struct constant *list = operand == ID_NONE ? NULL : match_fact(match, operand)->value;
    if (attr && attr->kind == ATTR_INTS && attr->n <= SHAPE_MAX_RANK) {
        *ret_n = attr->n;
        if (attr->n > 0) memcpy(axes, attr->ints, attr->n * sizeof *axes);
        return true;
    }
    if (!list || list->n_elements > SHAPE_MAX_RANK) return false;
    list = match_loaded(match, list);
    if (!list || !constant_has_ints(list)) return false;
    *ret_n = (size_t)list->n_elements;
    for (size_t i = 0; i < *ret_n; i++) axes[i] = constant_int_at(list, (int64_t)i);
    return true;
}

/* All reductions of a formula go along the same axes. */
static bool note_axes(struct match *match, size_t n, const int64_t *axes, int rank) {
    bool seen[SHAPE_MAX_RANK] = {false};
    int sorted[SHAPE_MAX_RANK];
    size_t n_sorted = 0;
    if (rank < 0) return false;
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

bool match_axes(struct match *match, uint32_t node) {
    double axis = 0;
    double keeps = 1;
    size_t n = 1;
    uint32_t operand = match_input(match, node, 0);
    int rank = operand == ID_NONE ? RANK_UNKNOWN : match_fact(match, operand)->shape.rank;
    if (match->pattern->row->axes == AXES_NONE) return true;
    if (match_algebra(match, node) == ALGEBRA_REDUCTION) {
        int64_t axes[SHAPE_MAX_RANK];
        bool kept = match_attr_number(match, node, "keepdims", &keeps) && keeps != 0;
        return kept && axes_of(match, node, axes, &n) && note_axes(match, n, axes, rank);
    }
    if (!match_attr_number(match, node, "axis", &axis)) return true;
    if (!(fabs(axis) <= SHAPE_MAX_RANK)) return false;
    const int64_t one = (int64_t)axis;
    return note_axes(match, n, &one, rank);
}
