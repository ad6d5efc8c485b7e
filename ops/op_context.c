/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule sees of its node and sets on its outputs: see rule.h. Every getter copes with an
 * operand that is omitted or of which nothing is known, so that no rule has to.
 */
#include "ops/op_context.h"

#include <math.h>

#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

static const struct fact omitted = {
    .kind = CM_TYPE_UNKNOWN, .dtype = DTYPE_UNDEFINED, .shape = {RANK_UNKNOWN, NULL}};

bool rule_has_input(const struct rule *rule, size_t i) {
    return i < rule->n_inputs && rule->inputs[i];
}

const struct fact *rule_input(const struct rule *rule, size_t i) {
    return rule_has_input(rule, i) ? rule->inputs[i] : &omitted;
}

const struct shape *rule_shape(const struct rule *rule, size_t i) {
    const struct fact *fact = rule_input(rule, i);
    bool tensor = fact->kind == CM_TYPE_TENSOR || fact->kind == CM_TYPE_SPARSE_TENSOR;
    return tensor ? &fact->shape : &omitted.shape;
}

enum dtype rule_dtype(const struct rule *rule, size_t i) {
    return rule_input(rule, i)->dtype;
}

int rule_rank(const struct rule *rule, size_t i) {
    return rule_shape(rule, i)->rank;
}

static int64_t shape_dim(const struct shape *shape, int axis) {
    if (!shape_has_rank(shape)) return DIM_UNKNOWN;
    BUG_ON(axis < 0 || axis >= shape->rank);
    return shape->dims[axis];
}

int64_t rule_dim(const struct rule *rule, size_t i, int axis) {
    return shape_dim(rule_shape(rule, i), axis);
}

int64_t rule_elements(const struct rule *rule, size_t i) {
    const struct shape *shape = rule_shape(rule, i);
    return shape_has_rank(shape) ? shape_elements(shape) : DIM_UNKNOWN;
}

bool rule_has_output(const struct rule *rule, size_t i) {
    return i < rule->n_outputs && rule->node->outputs[i] != ID_NONE;
}

const struct shape *rule_output_shape(const struct rule *rule, size_t i) {
    if (i >= rule->n_outputs || rule->outputs[i].kind != CM_TYPE_TENSOR) return &omitted.shape;
    return &rule->outputs[i].shape;
}

int64_t rule_output_elements(const struct rule *rule, size_t i) {
    const struct shape *shape = rule_output_shape(rule, i);
    return shape_has_rank(shape) ? shape_elements(shape) : DIM_UNKNOWN;
}

int64_t rule_at_most(const struct rule *rule, int64_t dim, int64_t most) {
    return dim == DIM_UNKNOWN && rule->end == RULE_MOST ? most : dim;
}

bool rule_is_loose(const struct rule *rule, size_t i) {
    return fact_is_loose(rule_input(rule, i));
}

bool rule_affords(const struct rule *rule, int64_t elements) {
    if (!rule->budget) return true;
    int64_t *left =
        elements > LONGEST_SHORT ? &rule->budget->long_left : &rule->budget->short_left;
    if (elements > *left) return false;
    *left -= elements;
    return true;
}

int rule_value(struct rule *rule, size_t i, const struct constant **ret) {
    const struct constant *value = rule_input(rule, i)->value;
    *ret = NULL;
    if (!value) return CM_OK;
    bool is_walked = value->n_elements <= CONSTANT_MAX_ELEMENTS; /* longer ones are not read */
    if (is_walked && !rule_affords(rule, value->n_elements)) return CM_OK;
    return constant_load(value, &rule->model->reader, rule->arena, rule->diag, ret);
}

/* Element i as an integer; false where it is none (2.5, a text). */
static bool integer_at(const struct constant *constant, int64_t i, int64_t *ret) {
    if (constant_has_ints(constant)) {
        *ret = constant_int_at(constant, i);
        return true;
    }
    if (!constant_has_reals(constant)) return false;
    double real = constant_real_at(constant, i);
    if (!(real >= -0x1p62 && real <= 0x1p62) || floor(real) != real) return false;
    *ret = (int64_t)real;
    return true;
}

static int list_of_constant(struct rule *rule, size_t input, const struct constant *constant,
                            struct int_list *list) {
    list->known = true;
    list->values = constant->ints;
    if (constant->place == CONSTANT_IN_MEMORY && constant_has_ints(constant)) return CM_OK;
    int64_t *values = arena_array(rule->arena, list->n, sizeof(*values));
    if (!values) return diag_no_memory(rule->diag);
    for (size_t i = 0; i < list->n; i++)
        if (!integer_at(constant, (int64_t)i, &values[i]))
            return rule_fail(rule, DIAG_VALUE, "input %zu has an element that is no integer",
                             input);
    list->values = values;
    return CM_OK;
}

int rule_int_list(struct rule *rule, size_t i, struct int_list *ret) {
    struct int_list list = {.given = rule_has_input(rule, i)};
    const struct shape *shape = rule_shape(rule, i);
    const struct constant *constant = NULL;
    int status = CM_OK;

    if (shape->rank > 1)
        return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, a list is wanted", i,
                         rule_shape_text(rule, shape));
    enum dtype_class kind = dtype_class(rule_dtype(rule, i));
    if (kind == DTYPE_CLASS_STRING || kind == DTYPE_CLASS_COMPLEX)
        return rule_fail(rule, DIAG_TYPE, "input %zu is of type %s, integers are wanted", i,
                         dtype_name(rule_dtype(rule, i)));
    int64_t length = shape_has_rank(shape) ? shape_elements(shape) : DIM_UNKNOWN;
    if (is_known(length)) list.n = (size_t)length;
    status = rule_value(rule, i, &constant);
    if (status < 0) return status;
    if (constant && constant->n_elements <= CONSTANT_MAX_ELEMENTS) {
        list.n = (size_t)constant->n_elements;
        status = list_of_constant(rule, i, constant, &list);
        if (status < 0) return status;
    }
    *ret = list;
    return CM_OK;
}

int rule_int_list_any(struct rule *rule, const char *name, int i, struct int_list *ret) {
    if (rule_has_attr(rule, name)) {
        struct int_list list = {.given = true, .known = true};
        list.values = rule_attr_ints(rule, name, &list.n);
        *ret = list;
        return CM_OK;
    }
    if (i >= 0) return rule_int_list(rule, (size_t)i, ret);
    *ret = (struct int_list){.given = false};
    return CM_OK;
}

/* The row's word on an attribute: NULL where it has none, or gives no default. */
static const struct op_attr *row_default(const struct rule *rule, const char *name) {
    for (const struct op_attr *row = rule->op->attrs; row && row->name; row++)
        if (text_equal(row->name, name)) return row->has_default ? row : NULL;
    return NULL;
}

static const struct attr *given_attr(const struct rule *rule, const char *name,
                                     enum attr_kind kind) {
    const struct attr *attr = node_attr(rule->node, name);
    return attr && attr->kind == kind ? attr : NULL;
}

bool rule_has_attr(const struct rule *rule, const char *name) {
    return node_attr(rule->node, name);
}

int64_t rule_attr_int(const struct rule *rule, const char *name) {
    const struct attr *attr = given_attr(rule, name, ATTR_INT);
    if (attr) return attr->i;
    const struct op_attr *row = row_default(rule, name);
    return row ? row->i : 0;
}

double rule_attr_float(const struct rule *rule, const char *name) {
    const struct attr *attr = given_attr(rule, name, ATTR_FLOAT);
    if (attr) return attr->f;
    const struct op_attr *row = row_default(rule, name);
    return row ? row->f : 0;
}

const char *rule_attr_string(const struct rule *rule, const char *name) {
    const struct attr *attr = given_attr(rule, name, ATTR_STRING);
    if (attr && attr->s) return attr->s;
    const struct op_attr *row = row_default(rule, name);
    return row && row->s ? row->s : "";
}

const int64_t *rule_attr_ints(const struct rule *rule, const char *name, size_t *ret_n) {
    const struct attr *attr = given_attr(rule, name, ATTR_INTS);
    *ret_n = attr ? attr->n : 0;
    return attr ? attr->ints : NULL;
}

uint32_t rule_attr_graph(const struct rule *rule, const char *name) {
    const struct attr *attr = given_attr(rule, name, ATTR_GRAPH);
    return attr ? attr->graphs[0] : ID_NONE;
}

const struct constant *rule_attr_tensor(const struct rule *rule, const char *name) {
    const struct attr *attr = given_attr(rule, name, ATTR_TENSOR);
    return attr ? attr->tensors[0] : NULL;
}

static int check_dim(const struct rule *rule, size_t i, const struct shape *shape, int axis) {
    const int64_t dim = shape->dims[axis];
    if (is_overflow(dim))
        return rule_fail(rule, DIAG_OVERFLOW, "dim %d of output %zu is past 2^63", axis, i);
    if (is_known(dim) && dim < 0)
        return rule_fail(rule, DIAG_SHAPE, "output %zu would have the shape %s", i,
                         rule_shape_text(rule, shape));
    return CM_OK;
}

static int check_dims(const struct rule *rule, size_t i, const struct shape *shape) {
    int status = CM_OK;
    for (int axis = 0; status == CM_OK && axis < shape->rank; axis++)
        if (shape->dims[axis] < 0) status = check_dim(rule, i, shape, axis);
    return status;
}

int rule_output_shared(struct rule *rule, size_t i, enum dtype dtype,
                       const struct shape *shape) {
    if (!rule_has_output(rule, i)) return CM_OK;
    int status = check_dims(rule, i, shape);
    if (status == CM_OK) rule->outputs[i] = fact_tensor(dtype, *shape);
    return status;
}

int rule_output(struct rule *rule, size_t i, enum dtype dtype, const struct shape *shape) {
    return rule_output_dims(rule, i, dtype, shape->rank, shape->dims);
}

int rule_output_dims(struct rule *rule, size_t i, enum dtype dtype, int rank,
                     const int64_t *dims) {
    struct shape shape = shape_unknown();
    if (!rule_has_output(rule, i)) return CM_OK;
    if (rank > SHAPE_MAX_RANK)
        return rule_fail(rule, DIAG_LIMIT, "output %zu would have %d dims, at most %d are read",
                         i, rank, SHAPE_MAX_RANK);
    if (rank != RANK_UNKNOWN && shape_make(rule->arena, rank, dims, &shape) < 0)
        return diag_no_memory(rule->diag);
    return rule_output_shared(rule, i, dtype, &shape);
}

int rule_output_like(struct rule *rule, size_t i, size_t from) {
    struct fact fact = *rule_input(rule, from);
    fact.value = NULL;
    fact.least = NULL;
    fact.is_constant = false;
    fact.is_weight = false;
    return rule_output_fact(rule, i, &fact);
}

int rule_output_fact(struct rule *rule, size_t i, const struct fact *fact) {
    if (rule_has_output(rule, i)) rule->outputs[i] = *fact;
    return CM_OK;
}

int rule_set_value(struct rule *rule, size_t i, const struct constant *value) {
    if (!value) return diag_no_memory(rule->diag);
    if (!rule_has_output(rule, i)) return CM_OK;
    struct fact *output = &rule->outputs[i];
    if (output->dtype != value->dtype || !shape_equal(&output->shape, &value->shape))
        return rule_fail(rule, DIAG_VALUE, "contents %s %s do not fit the inferred %s %s",
                         dtype_name(value->dtype), rule_shape_text(rule, &value->shape),
                         dtype_name(output->dtype), rule_shape_text(rule, &output->shape));
    output->value = value;
    return CM_OK;
}

int rule_fail(const struct rule *rule, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int status = diag_verror(rule->diag, code, format, args);
    va_end(args);
    return status;
}

int rule_normalize_axis(const struct rule *rule, int64_t axis, int rank, int *ret) {
    if (axis < -(int64_t)rank || axis >= rank)
        return rule_fail(rule, DIAG_ATTRIBUTE, "axis %lld is out of range for rank %d",
                         (long long)axis, rank);
    *ret = (int)(axis < 0 ? axis + rank : axis);
    return CM_OK;
}

/* One dim of two that broadcast; false where they do not. Bounds may differ: the dims behind
 * them are equal, or one of them is 1. */
static bool broadcast_dim(const struct rule *rule, int64_t a, int64_t b, int64_t *ret) {
    if (a == 1 || b == 1)
        *ret = a == 1 ? b : a;
    else if (!is_known(a) || !is_known(b))
        *ret = rule->end == RULE_MOST ? DIM_UNKNOWN : is_known(a) ? a : b;
    else if (a == b || rule->end == RULE_MOST)
        *ret = a > b ? a : b;
    else
        return false;
    return true;
}

/* Whether `from` broadcasts to just `to`, as it mostly does. */
static bool broadcasts_to(const struct shape *from, const struct shape *to) {
    const int skipped = to->rank - from->rank;
    if (skipped < 0) return false;
    for (int axis = 0; axis < from->rank; axis++)
        if (from->dims[axis] != to->dims[skipped + axis] && from->dims[axis] != 1) return false;
    return true;
}

static int broadcast_dims(struct rule *rule, const struct shape *a, const struct shape *b,
                          struct shape *ret) {
    int rank = a->rank > b->rank ? a->rank : b->rank;
    struct shape shape = {rank, NULL};
    if (shape_make(rule->arena, rank, NULL, &shape) < 0) return diag_no_memory(rule->diag);
    for (int axis = 0; axis < rank; axis++) {
        int in_a = axis - (rank - a->rank);
        int in_b = axis - (rank - b->rank);
        int64_t dim_a = in_a < 0 ? 1 : a->dims[in_a];
        int64_t dim_b = in_b < 0 ? 1 : b->dims[in_b];
        if (!broadcast_dim(rule, dim_a, dim_b, &shape.dims[axis]))
            return rule_fail(rule, DIAG_SHAPE, "shapes %s and %s do not broadcast",
                             rule_shape_text(rule, a), rule_shape_text(rule, b));
    }
    *ret = shape;
    return CM_OK;
}

int rule_broadcast(struct rule *rule, const struct shape *a, const struct shape *b,
                   struct shape *ret) {
    if (!shape_has_rank(a) || !shape_has_rank(b)) {
        *ret = shape_unknown();
        return CM_OK;
    }
    if (broadcasts_to(a, b)) {
        *ret = *b;
        return CM_OK;
    }
    if (broadcasts_to(b, a)) {
        *ret = *a;
        return CM_OK;
    }
    return broadcast_dims(rule, a, b, ret);
}

const char *rule_shape_text(const struct rule *rule, const struct shape *shape) {
    struct text text;
    text_init(&text, rule->arena);
    shape_print(shape, &text);
    return text.failed ? "?" : text_string(&text);
}
