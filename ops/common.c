/* SPDX-License-Identifier: Apache-2.0 */
/* What several families share: see common.h. */
#include "ops/common.h"

#include "support/banned.h"

int common_infer_same_shape(struct rule *rule, enum dtype dtype) {
    return rule_output_shared(rule, 0, dtype, rule_shape(rule, 0));
}

int common_infer_same(struct rule *rule) {
    return common_infer_same_shape(rule, rule_dtype(rule, 0));
}

int common_infer_unknown_rank(struct rule *rule) {
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), RANK_UNKNOWN, NULL);
}

enum dtype common_dtype(const struct rule *rule, size_t first) {
    for (size_t i = first; i < rule->n_inputs; i++)
        if (rule_dtype(rule, i) != DTYPE_UNDEFINED) return rule_dtype(rule, i);
    return DTYPE_UNDEFINED;
}

int common_check_same_type(const struct rule *rule, size_t first) {
    enum dtype want = common_dtype(rule, first);
    for (size_t i = first; i < rule->n_inputs; i++) {
        enum dtype have = rule_dtype(rule, i);
        if (have != DTYPE_UNDEFINED && have != want)
            return rule_fail(rule, DIAG_TYPE, "input %zu is of type %s, %s is wanted", i,
                             dtype_name(have), dtype_name(want));
    }
    return CM_OK;
}

int common_check_broadcasts(struct rule *rule, const char *what) {
    const struct shape *to = rule_shape(rule, 0);
    const struct shape *from = rule_shape(rule, 1);
    struct shape both;
    int status = common_check_same_type(rule, 0);
    if (status == CM_OK) status = rule_broadcast(rule, to, from, &both);
    if (status < 0) return status;
    if (shape_is_known(to) && shape_is_known(&both) && !shape_equal(to, &both))
        return rule_fail(rule, DIAG_SHAPE, "%s %s does not broadcast to input %s", what,
                         rule_shape_text(rule, from), rule_shape_text(rule, to));
    return CM_OK;
}

int common_broadcast_to(struct rule *rule, size_t first, enum dtype dtype) {
    struct shape shape = {0, NULL}; /* a scalar, which broadcasts to anything */
    int status = common_check_same_type(rule, first);
    if (status < 0) return status;
    for (size_t i = 0; i < rule->n_inputs; i++) {
        status = rule_broadcast(rule, &shape, rule_shape(rule, i), &shape);
        if (status < 0) return status;
    }
    return rule_output_shared(rule, 0, dtype, &shape);
}

int common_infer_broadcast(struct rule *rule) {
    return common_broadcast_to(rule, 0, common_dtype(rule, 0));
}

static bool dims_agree(int64_t a, int64_t b) {
    return !is_known(a) || !is_known(b) || a == b;
}

/* Input 1 against the axes of input 0 from `axis` on. */
static int check_legacy_dims(const struct rule *rule, int axis) {
    const struct shape *a = rule_shape(rule, 0);
    const struct shape *b = rule_shape(rule, 1);
    for (int i = 0; i < b->rank; i++) {
        if (b->dims[i] == 1 || dims_agree(a->dims[axis + i], b->dims[i])) continue;
        return rule_fail(rule, DIAG_SHAPE, "shape %s does not fit axes %d.. of %s",
                         rule_shape_text(rule, b), axis, rule_shape_text(rule, a));
    }
    return CM_OK;
}

int common_infer_legacy_broadcast(struct rule *rule, enum dtype dtype) {
    int rank_a = rule_rank(rule, 0);
    int rank_b = rule_rank(rule, 1);
    int status = common_check_same_type(rule, 0);
    if (status < 0) return status;
    if (rank_a == RANK_UNKNOWN || rank_b == RANK_UNKNOWN)
        return common_infer_same_shape(rule, dtype);
    bool broadcast = rule_attr_int(rule, "broadcast") != 0;
    if (rank_b > rank_a || (!broadcast && rank_b != rank_a))
        return rule_fail(rule, DIAG_SHAPE, "shapes %s and %s do not fit, broadcast is %d",
                         rule_shape_text(rule, rule_shape(rule, 0)),
                         rule_shape_text(rule, rule_shape(rule, 1)), broadcast);
    int axis = rank_a - rank_b;
    if (broadcast && rule_has_attr(rule, "axis") && rank_b > 0) {
        status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), rank_a, &axis);
        if (status < 0) return status;
        if (axis + rank_b > rank_a)
            return rule_fail(rule, DIAG_ATTRIBUTE, "axis %d leaves no room for rank %d in %d",
                             axis, rank_b, rank_a);
    }
    status = check_legacy_dims(rule, axis);
    return status < 0 ? status : common_infer_same_shape(rule, dtype);
}

int common_check_rank(const struct rule *rule, size_t i, int least) {
    int rank = rule_rank(rule, i);
    if (rank == RANK_UNKNOWN || rank >= least) return CM_OK;
    return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, rank %d or more is wanted",
                     i, rule_shape_text(rule, rule_shape(rule, i)), least);
}

int common_check_length(const struct rule *rule, size_t i, int64_t n) {
    const struct shape *shape = rule_shape(rule, i);
    if (!shape_has_rank(shape)) return CM_OK;
    if (shape->rank == 1 && dims_agree(shape->dims[0], n)) return CM_OK;
    if (!is_known(n))
        return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, rank 1 is wanted", i,
                         rule_shape_text(rule, shape));
    return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, [%lld] is wanted", i,
                     rule_shape_text(rule, shape), (long long)n);
}

int64_t common_dim(const struct rule *rule, size_t i, int rank, int axis) {
    return rule_rank(rule, i) == rank ? rule_dim(rule, i, axis) : DIM_UNKNOWN;
}

int64_t common_divide(int64_t a, int64_t b) {
    return b == 0 ? DIM_UNKNOWN : checked_div_floor(a, b);
}

const struct constant *common_contents(const struct rule *rule, size_t i) {
    const struct constant *value = rule_input(rule, i)->value;
    const struct constant *loaded = NULL;
    if (!value || value->n_elements > LONGEST_SHORT) return NULL;
    int status = constant_load(value, &rule->model->reader, rule->arena, rule->diag, &loaded);
    return status < 0 ? NULL : loaded;
}

int64_t common_integer(const struct rule *rule, size_t i) {
    const struct constant *value = common_contents(rule, i);
    bool readable = value && value->n_elements == 1 && constant_has_ints(value);
    return readable ? constant_int_at(value, 0) : DIM_UNKNOWN;
}

int64_t common_length(const struct rule *rule, size_t i) {
    const int64_t length = common_integer(rule, i);
    return is_known(length) && length < 0 ? DIM_UNKNOWN : length;
}

int common_dtype_attr(const struct rule *rule, const char *name, enum dtype *ret) {
    int64_t number = rule_attr_int(rule, name);
    *ret = dtype_from_onnx(number);
    if (*ret != DTYPE_UNDEFINED) return CM_OK;
    return rule_fail(rule, DIAG_ATTRIBUTE, "attribute '%s' is %lld, which is no element type",
                     name, (long long)number);
}

enum op_view common_view_strided(const struct rule *rule) {
    (void)rule;
    return VIEW_STRIDED;
}

/* A part is dense where only its first axis longer than 1 was cut. */
enum op_view common_view_part(const struct rule *rule) {
    const struct shape *whole = rule_shape(rule, 0);
    const struct shape *part = rule_output_shape(rule, 0);
    int first = 0;
    if (!shape_has_rank(whole) || whole->rank != part->rank) return VIEW_STRIDED;
    while (first < whole->rank && part->dims[first] == 1) first++;
    for (int axis = first + 1; axis < whole->rank; axis++)
        if (part->dims[axis] != whole->dims[axis]) return VIEW_STRIDED;
    return VIEW_SAME;
}

int64_t common_clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}
