/* SPDX-License-Identifier: Apache-2.0 */
/* See op_context.h. Every getter accepts omitted and unknown operands. */
#include "ops/op_context.h"

#include <math.h>

#include "support/arena.h"
#include "support/text.h"

static const struct value_info omitted = {
    .kind = CM_TYPE_UNKNOWN, .dtype = DTYPE_UNDEFINED, .shape = {RANK_UNKNOWN, NULL}};

bool op_has_input(const struct op_context *context, size_t i) {
    return i < context->n_inputs && context->inputs[i];
}

const struct value_info *op_input(const struct op_context *context, size_t i) {
    return op_has_input(context, i) ? context->inputs[i] : &omitted;
}

const struct shape *op_shape(const struct op_context *context, size_t i) {
    const struct value_info *info = op_input(context, i);
    bool tensor = info->kind == CM_TYPE_TENSOR || info->kind == CM_TYPE_SPARSE_TENSOR;
    return tensor ? &info->shape : &omitted.shape;
}

enum dtype op_dtype(const struct op_context *context, size_t i) {
    return op_input(context, i)->dtype;
}

int op_rank(const struct op_context *context, size_t i) {
    return op_shape(context, i)->rank;
}

int64_t op_dim(const struct op_context *context, size_t i, int axis) {
    const struct shape *shape = op_shape(context, i);
    if (!shape_has_rank(shape)) return DIM_UNKNOWN;
    BUG_ON(axis < 0 || axis >= shape->rank);
    return shape->dims[axis];
}

int64_t op_elements(const struct op_context *context, size_t i) {
    const struct shape *shape = op_shape(context, i);
    return shape_has_rank(shape) ? shape_elements(shape) : DIM_UNKNOWN;
}

bool op_has_output(const struct op_context *context, size_t i) {
    return i < context->n_outputs && context->node->outputs[i] != ID_NONE;
}

const struct shape *op_output_shape(const struct op_context *context, size_t i) {
    if (i >= context->n_outputs || context->outputs[i].kind != CM_TYPE_TENSOR)
        return &omitted.shape;
    return &context->outputs[i].shape;
}

int64_t op_output_elements(const struct op_context *context, size_t i) {
    const struct shape *shape = op_output_shape(context, i);
    return shape_has_rank(shape) ? shape_elements(shape) : DIM_UNKNOWN;
}

int64_t op_data_dependent_dim(const struct op_context *context, int64_t dim,
                              int64_t upper_bound) {
    return dim == DIM_UNKNOWN && context->bound == OP_UPPER_BOUND ? upper_bound : dim;
}

bool op_has_bounds(const struct op_context *context, size_t i) {
    const struct value_info *info = op_input(context, i);
    return info->is_upper_bound || info->lower_bound; /* of dims, of contents */
}

bool op_use_budget(const struct op_context *context, int64_t elements) {
    if (!context->budget) return true;
    int64_t *left =
        elements > LONGEST_SHORT ? &context->budget->long_left : &context->budget->short_left;
    if (elements > *left) return false;
    *left -= elements;
    return true;
}

int op_value(struct op_context *context, size_t i, const struct constant **ret) {
    const struct constant *value = op_input(context, i)->value;
    *ret = NULL;
    if (!value) return CM_OK;
    bool is_walked = value->n_elements <= CONSTANT_MAX_ELEMENTS; /* longer: splat or not read */
    if (is_walked && !op_use_budget(context, value->n_elements)) return CM_OK;
    return constant_load(value, &context->model->reader, context->arena, context->diag, ret);
}

/* Sets *ret to element i. Returns false if it is not an integer (2.5, a string). */
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

int op_int_list(struct op_context *context, size_t i, struct int_list *ret) {
    struct int_list list = {.given = op_has_input(context, i)};
    const struct shape *shape = op_shape(context, i);
    const struct constant *constant = NULL;
    if (shape->rank > 1)
        return op_fail(context, DIAG_SHAPE, "input %zu must be a list, got shape %s", i,
                       op_shape_text(context, shape));
    const enum dtype_class kind = dtype_class(op_dtype(context, i));
    if (kind == DTYPE_CLASS_STRING || kind == DTYPE_CLASS_COMPLEX)
        return op_fail(context, DIAG_TYPE, "input %zu must hold integers, got type %s", i,
                       dtype_name(op_dtype(context, i)));
    const int64_t length = op_elements(context, i);
    if (is_known(length)) list.n = (size_t)length;
    int status = op_value(context, i, &constant);
    if (status < 0) return status;
    if (constant && constant->n_elements <= CONSTANT_MAX_ELEMENTS) {
        list.known = true;
        list.n = (size_t)constant->n_elements;
        list.values = constant->ints;
        if (constant->place != CONSTANT_IN_MEMORY || !constant_has_ints(constant)) {
            int64_t *values = arena_array(context->arena, list.n, sizeof(*values));
            if (!values) return diag_no_memory(context->diag);
            for (size_t k = 0; k < list.n; k++)
                if (!integer_at(constant, (int64_t)k, &values[k]))
                    return op_fail(context, DIAG_VALUE,
                                   "input %zu must hold integers, got a fraction", i);
            list.values = values;
        }
    }
    *ret = list;
    return CM_OK;
}

int op_int_list_any(struct op_context *context, const char *name, int i, struct int_list *ret) {
    const bool given = op_has_attr(context, name);
    if (!given && i >= 0) return op_int_list(context, (size_t)i, ret);
    *ret = (struct int_list){.given = given, .known = given};
    if (given) ret->values = op_attr_ints(context, name, &ret->n);
    return CM_OK;
}

static const struct op_attr *row_default(const struct op_context *context, const char *name) {
    for (const struct op_attr *row = context->op->attrs; row && row->name; row++)
        if (text_equal(row->name, name)) return row->has_default ? row : NULL;
    return NULL;
}

static const struct attr *given_attr(const struct op_context *context, const char *name,
                                     enum attr_kind kind) {
    const struct attr *attr = node_attr(context->node, name);
    return attr && attr->kind == kind ? attr : NULL;
}

bool op_has_attr(const struct op_context *context, const char *name) {
    return node_attr(context->node, name);
}

int64_t op_attr_int(const struct op_context *context, const char *name) {
    const struct attr *attr = given_attr(context, name, ATTR_INT);
    if (attr) return attr->i;
    const struct op_attr *row = row_default(context, name);
    return row ? row->i : 0;
}

double op_attr_float(const struct op_context *context, const char *name) {
    const struct attr *attr = given_attr(context, name, ATTR_FLOAT);
    if (attr) return attr->f;
    const struct op_attr *row = row_default(context, name);
    return row ? row->f : 0;
}

const char *op_attr_string(const struct op_context *context, const char *name) {
    const struct attr *attr = given_attr(context, name, ATTR_STRING);
    if (attr && attr->s) return attr->s;
    const struct op_attr *row = row_default(context, name);
    return row && row->s ? row->s : "";
}

const int64_t *op_attr_ints(const struct op_context *context, const char *name, size_t *ret_n) {
    const struct attr *attr = given_attr(context, name, ATTR_INTS);
    *ret_n = attr ? attr->n : 0;
    return attr ? attr->ints : NULL;
}

uint32_t op_attr_graph(const struct op_context *context, const char *name) {
    const struct attr *attr = given_attr(context, name, ATTR_GRAPH);
    return attr ? attr->graphs[0] : ID_NONE;
}

const struct constant *op_attr_tensor(const struct op_context *context, const char *name) {
    const struct attr *attr = given_attr(context, name, ATTR_TENSOR);
    return attr ? attr->tensors[0] : NULL;
}

int op_output_shared(struct op_context *context, size_t i, enum dtype dtype,
                     const struct shape *shape) {
    if (!op_has_output(context, i)) return CM_OK;
    for (int axis = 0; axis < shape->rank; axis++) {
        const int64_t dim = shape->dims[axis];
        if (dim >= 0) continue;
        if (is_overflow(dim))
            return op_fail(context, DIAG_OVERFLOW, "dim %d of output %zu is past 2^63", axis,
                           i);
        if (is_known(dim))
            return op_fail(context, DIAG_SHAPE, "output %zu would have the shape %s", i,
                           op_shape_text(context, shape));
    }
    context->outputs[i] = value_info_tensor(dtype, *shape);
    return CM_OK;
}

int op_output(struct op_context *context, size_t i, enum dtype dtype,
              const struct shape *shape) {
    return op_output_dims(context, i, dtype, shape->rank, shape->dims);
}

int op_output_dims(struct op_context *context, size_t i, enum dtype dtype, int rank,
                   const int64_t *dims) {
    struct shape shape = shape_unknown();
    if (!op_has_output(context, i)) return CM_OK;
    if (rank > SHAPE_MAX_RANK)
        return op_fail(context, DIAG_LIMIT,
                       "output %zu would have %d dims, at most %d are read", i, rank,
                       SHAPE_MAX_RANK);
    if (rank != RANK_UNKNOWN && shape_make(context->arena, rank, dims, &shape) < 0)
        return diag_no_memory(context->diag);
    return op_output_shared(context, i, dtype, &shape);
}

struct value_info op_without_contents(const struct value_info *info) {
    struct value_info copy = *info;
    copy.value = NULL;
    copy.lower_bound = NULL;
    copy.is_constant = false;
    copy.is_weight = false;
    return copy;
}

int op_output_like(struct op_context *context, size_t i, size_t from) {
    const struct value_info info = op_without_contents(op_input(context, from));
    return op_output_info(context, i, &info);
}

int op_output_info(struct op_context *context, size_t i, const struct value_info *info) {
    if (op_has_output(context, i)) context->outputs[i] = *info;
    return CM_OK;
}

int op_set_value(struct op_context *context, size_t i, const struct constant *value) {
    if (!value) return diag_no_memory(context->diag);
    if (!op_has_output(context, i)) return CM_OK;
    struct value_info *output = &context->outputs[i];
    if (output->dtype != value->dtype || !shape_equal(&output->shape, &value->shape))
        return op_fail(context, DIAG_VALUE, "contents %s %s do not fit the inferred %s %s",
                       dtype_name(value->dtype), op_shape_text(context, &value->shape),
                       dtype_name(output->dtype), op_shape_text(context, &output->shape));
    output->value = value;
    return CM_OK;
}

int op_fail(const struct op_context *context, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int status = diag_verror(context->diag, code, format, args);
    va_end(args);
    return status;
}

int op_normalize_axis(const struct op_context *context, int64_t axis, int rank, int *ret) {
    if (shape_axis(axis, rank, ret)) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "axis %lld is out of range for rank %d",
                   (long long)axis, rank);
}

int op_axis(const struct op_context *context, int rank, int *ret) {
    return op_normalize_axis(context, op_attr_int(context, "axis"), rank, ret);
}

/* Broadcasts two dims. Returns false if they differ and neither is 1. Upper bounds may differ:
 * the actual dims are equal, or one of them is 1. */
static bool broadcast_dim(const struct op_context *context, int64_t a, int64_t b,
                          int64_t *ret) {
    if (a == 1 || b == 1)
        *ret = a == 1 ? b : a;
    else if (!is_known(a) || !is_known(b))
        *ret = context->bound == OP_UPPER_BOUND ? DIM_UNKNOWN : is_known(a) ? a : b;
    else if (a == b || context->bound == OP_UPPER_BOUND)
        *ret = a > b ? a : b;
    else
        return false;
    return true;
}

/* Fast path: returns true if broadcasting `from` and `to` gives `to`. */
static bool broadcasts_to(const struct shape *from, const struct shape *to) {
    const int skipped = to->rank - from->rank;
    if (skipped < 0) return false;
    for (int axis = 0; axis < from->rank; axis++)
        if (from->dims[axis] != to->dims[skipped + axis] && from->dims[axis] != 1) return false;
    return true;
}

int op_broadcast(struct op_context *context, const struct shape *a, const struct shape *b,
                 struct shape *ret) {
    if (!shape_has_rank(a) || !shape_has_rank(b)) {
        *ret = shape_unknown();
        return CM_OK;
    }
    const bool to_b = broadcasts_to(a, b);
    if (to_b || broadcasts_to(b, a)) {
        *ret = to_b ? *b : *a;
        return CM_OK;
    }
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    struct shape shape = {rank, NULL};
    if (shape_make(context->arena, rank, NULL, &shape) < 0)
        return diag_no_memory(context->diag);
    for (int axis = 0; axis < rank; axis++) {
        const int in_a = axis - (rank - a->rank);
        const int in_b = axis - (rank - b->rank);
        const int64_t dim_a = in_a < 0 ? 1 : a->dims[in_a];
        const int64_t dim_b = in_b < 0 ? 1 : b->dims[in_b];
        if (!broadcast_dim(context, dim_a, dim_b, &shape.dims[axis]))
            return op_fail(context, DIAG_SHAPE, "shapes %s and %s do not broadcast",
                           op_shape_text(context, a), op_shape_text(context, b));
    }
    *ret = shape;
    return CM_OK;
}

const char *op_shape_text(const struct op_context *context, const struct shape *shape) {
    return shape_text(context->arena, shape);
}

int64_t op_elements_of_part(const struct op *op, const struct node *node, size_t slot,
                            const struct shape *in, const struct shape *out) {
    const uint32_t bit = op->facets && slot < 32 ? UINT32_C(1) << slot : 0;
    int64_t read = DIM_UNKNOWN;
    if (!bit || !((op->facets->lookups | op->facets->parts | op->facets->experts) & bit))
        return DIM_UNKNOWN;
    const int64_t all = shape_elements(in);
    if (!is_known(all)) return DIM_UNKNOWN;
    if (op->facets->lookups & bit) return shape_elements(out);
    if (op->facets->parts & bit) read = shape_elements(out);
    if (op->facets->experts & bit && in->rank > 0 && out->rank > 0) {
        const struct attr *k = node_attr(node, "k");
        const int64_t rows = shape_product(out, 0, out->rank - 1);
        const int64_t chosen = checked_mul(rows, k && k->kind == ATTR_INT ? k->i : 1);
        read = checked_mul(chosen, shape_product(in, 1, in->rank));
    }
    return is_known(read) && read < all ? read : DIM_UNKNOWN;
}
