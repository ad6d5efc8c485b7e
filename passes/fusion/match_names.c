/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, and what the names of a formula may stand for (ops/onnx/patterns.h). */
#include <math.h>

#include "ir/constant.h"
#include "passes/fusion/match_inner.h"
#include "support/text.h"

#include "support/banned.h"

/* Half floats have three digits. */
#define TOLERANCE       4e-3
#define LARGEST_EPS     0.1
#define MAX_SAME        4    /* casts in a row */
#define LONGEST_UNIFORM 1024 /* elements that are compared one by one */

static bool element(const struct constant *constant, int64_t i, double *ret) {
    if (constant_has_reals(constant))
        *ret = constant_real_at(constant, i);
    else if (constant_has_ints(constant))
        *ret = (double)constant_int_at(constant, i);
    else
        return false;
    return true;
}

/* With its elements in memory; NULL where they cannot be had. */
const struct constant *match_loaded(const struct match *match,
                                    const struct constant *constant) {
    const struct op_source *source = match->source;
    return constant_loaded(constant, &source->model->reader, source->arena);
}

bool match_number(const struct match *match, uint32_t value, double *ret) {
    const struct constant *constant = value == ID_NONE ? NULL : match_fact(match, value)->value;
    if (!constant || constant->n_elements < 1) return false;
    constant = match_loaded(match, constant);
    if (!constant || !element(constant, 0, ret)) return false;
    if (constant->place == CONSTANT_SPLAT) return true;
    if (constant->n_elements > LONGEST_UNIFORM) return false;
    for (int64_t i = 1; i < constant->n_elements; i++) {
        double other = 0;
        if (!element(constant, i, &other) || other != *ret) return false;
    }
    return true;
}

bool match_is_close(double have, double want) {
    return fabs(have - want) <= TOLERANCE * fabs(want);
}

bool match_is_number(double have, double want) {
    return want * 2 == floor(want * 2) ? have == want : match_is_close(have, want);
}

const struct match_name *match_name(const struct match *match, const char *name) {
    for (size_t i = match->first_name; i < match->n_names; i++)
        if (text_equal(match->names[i].name, name)) return &match->names[i];
    return NULL;
}

bool match_note(struct match *match, const char *name, uint32_t value, double number) {
    if (match->n_names == MATCH_MAX_NAMES) return false;
    match->names[match->n_names++] = (struct match_name){name, value, number};
    return true;
}

static bool may_be(const struct match *match, enum pattern_role role, uint32_t value,
                   double *number) {
    const struct value_info *info = match_fact(match, value);
    *number = 0;
    switch (role) {
    case ROLE_EPSILON:
        return match_number(match, value, number) && *number > 0 && *number <= LARGEST_EPS;
    case ROLE_FACTOR:
        return value_info_is_complete(info) && shape_elements(&info->shape) == 1;
    case ROLE_PARAMETER:
        return match_may_be_parameter(match, info);
    case ROLE_CONSTANT:
        return info->kind == CM_TYPE_TENSOR && info->is_constant;
    case ROLE_KEYS:
        return info->kind == CM_TYPE_TENSOR && !(info->is_constant && info->shape.rank == 2);
    default:
        return info->kind == CM_TYPE_TENSOR;
    }
}

/* A name is one value everywhere, be it cast in between. */
static bool match_same(struct match *match, uint32_t known, uint32_t value) {
    for (int i = 0; i < MAX_SAME && value != known; i++) {
        uint32_t earlier = match_before(match, value);
        if (earlier == value) return false;
        value = earlier;
    }
    return value == known;
}

bool match_bind(struct match *match, const struct pattern *formula, uint32_t value) {
    double number = 0;
    if (formula->role == ROLE_IGNORED) return true;
    if (value == ID_NONE) return false;
    const struct match_name *known = match_name(match, formula->name);
    if (known) return match_same(match, known->value, value);
    return may_be(match, formula->role, value, &number) &&
           match_note(match, formula->name, value, number);
}
