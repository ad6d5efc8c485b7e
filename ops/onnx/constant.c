/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of shape arithmetic, computed from attributes, shapes and scalars: Constant,
 * ConstantOfShape, Shape, Size, Range. */
#include <math.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

static const char *const constant_forms[] = {"value",         "value_int",    "value_ints",
                                             "value_float",   "value_floats", "value_string",
                                             "value_strings", "sparse_value"};

/* Sets *ret to the attribute with the contents; exactly one must be present. */
static int constant_form(const struct op_context *context, const struct attr **ret) {
    const struct attr *found = NULL;
    for (size_t i = 0; i < sizeof constant_forms / sizeof *constant_forms; i++) {
        const struct attr *attr = node_attr(context->node, constant_forms[i]);
        if (attr && found)
            return op_fail(context, DIAG_ATTRIBUTE, "both %s and %s are given", found->name,
                           attr->name);
        if (attr) found = attr;
    }
    if (!found)
        return op_fail(context, DIAG_ATTRIBUTE,
                       "none of value, value_int, value_ints, value_float ... is given");
    *ret = found;
    return 0;
}

static enum dtype form_dtype(enum attr_kind kind) {
    if (kind == ATTR_INT || kind == ATTR_INTS) return DTYPE_INT64;
    if (kind == ATTR_FLOAT || kind == ATTR_FLOATS) return DTYPE_FLOAT;
    if (kind == ATTR_STRING || kind == ATTR_STRINGS) return DTYPE_STRING;
    return DTYPE_UNDEFINED;
}

static int infer_constant(struct op_context *context) {
    const struct attr *form = NULL;
    int status = constant_form(context, &form);
    if (status) return status;
    if (form->kind == ATTR_TENSOR)
        return op_output(context, 0, form->tensors[0]->dtype, &form->tensors[0]->shape);
    int64_t length = (int64_t)form->n;
    if (form->kind == ATTR_INTS || form->kind == ATTR_FLOATS || form->kind == ATTR_STRINGS)
        return op_output_dims(context, 0, form_dtype(form->kind), 1, &length);
    bool scalar = form_dtype(form->kind) != DTYPE_UNDEFINED; /* a sparse tensor is not read */
    return op_output_dims(context, 0, form_dtype(form->kind), scalar ? 0 : RANK_UNKNOWN, NULL);
}

static int set_texts(struct op_context *context, const char *const *texts, size_t n) {
    struct constant *value =
        constant_new(context->arena, DTYPE_STRING, op_output_shape(context, 0));
    if (value) value->place = CONSTANT_IN_MEMORY;
    if (value) value->texts = arena_copy(context->arena, texts, n * sizeof *texts);
    if (value && !value->texts) return diag_no_memory(context->diag);
    return op_set_value(context, 0, value);
}

/* Contents of a tensor attribute stay in the file until op_value loads them. */
static int fold_constant(struct op_context *context) {
    const struct shape *shape = op_output_shape(context, 0);
    const struct attr *form = NULL;
    int status = constant_form(context, &form);
    if (status || form->n > CONSTANT_MAX_ELEMENTS) return status;
    switch (form->kind) {
    case ATTR_TENSOR:
        return op_set_value(context, 0, form->tensors[0]);
    case ATTR_INT:
    case ATTR_INTS:
        return op_set_value(context, 0,
                            constant_ints(context->arena, DTYPE_INT64, shape,
                                          form->kind == ATTR_INT ? &form->i : form->ints));
    case ATTR_FLOAT:
    case ATTR_FLOATS:
        return op_set_value(context, 0,
                            constant_reals(context->arena, DTYPE_FLOAT, shape,
                                           form->kind == ATTR_FLOAT ? &form->f : form->floats));
    case ATTR_STRING:
        return set_texts(context, &form->s, 1);
    case ATTR_STRINGS:
        return set_texts(context, form->strings, form->n);
    default:
        return 0; /* sparse */
    }
}

static int infer_constant_of_shape(struct op_context *context) {
    const struct constant *fill = op_attr_tensor(context, "value");
    enum dtype dtype = fill ? fill->dtype : DTYPE_FLOAT;
    struct int_list list;
    int status = op_int_list(context, 0, &list);
    if (status) return status;
    if (fill && fill->n_elements != 1)
        return op_fail(context, DIAG_ATTRIBUTE,
                       "attribute 'value' has %lld elements, expected 1",
                       (long long)fill->n_elements);
    status = common_check_n_axes(context, list.n);
    if (status < 0) return status;
    if (!list.known)
        return op_output_dims(context, 0, dtype, list.n ? (int)list.n : RANK_UNKNOWN, NULL);
    for (size_t i = 0; i < list.n; i++)
        if (list.values[i] < 0)
            return op_fail(context, DIAG_VALUE, "dim %zu is %lld, less than 0", i,
                           (long long)list.values[i]);
    return op_output_dims(context, 0, dtype, (int)list.n, list.values);
}

static int fold_constant_of_shape(struct op_context *context) {
    const struct shape *shape = op_output_shape(context, 0);
    const struct constant *fill = op_attr_tensor(context, "value");
    if (!shape_is_known(shape) || !is_known(shape_elements(shape))) return 0;
    if (!fill)
        return op_set_value(
            context, 0,
            constant_splat(context->arena, DTYPE_FLOAT, shape, (struct number){.real = true}));
    int status =
        constant_load(fill, &context->model->reader, context->arena, context->diag, &fill);
    return status || !fill ? status : remap_splat(context, 0, fill);
}

/* Shape-15: axes [start, end), both clamped to [0, rank]. */
static void shape_range(const struct op_context *context, int rank, int *ret_from,
                        int *ret_to) {
    int64_t from = op_attr_int(context, "start");
    int64_t to = op_has_attr(context, "end") ? op_attr_int(context, "end") : rank;
    if (from < 0) from += rank;
    if (to < 0) to += rank;
    *ret_from = (int)common_clamp(from, 0, rank);
    *ret_to = (int)common_clamp(to, *ret_from, rank);
}

static int infer_shape(struct op_context *context) {
    const int rank = op_rank(context, 0);
    int from = 0, to = 0;
    if (rank != RANK_UNKNOWN) shape_range(context, rank, &from, &to);
    const int64_t length = rank == RANK_UNKNOWN ? DIM_UNKNOWN : to - from;
    return op_output_dims(context, 0, DTYPE_INT64, 1, &length);
}

static int fold_shape(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int from = 0, to = 0;
    if (!shape_has_rank(input)) return 0;
    shape_range(context, input->rank, &from, &to);
    for (int axis = from; axis < to; axis++)
        if (!is_known(input->dims[axis])) return 0;
    const int64_t none = 0;
    const int64_t *dims = from < to ? &input->dims[from] : &none;
    return op_set_value(
        context, 0,
        constant_ints(context->arena, DTYPE_INT64, op_output_shape(context, 0), dims));
}

static int infer_size(struct op_context *context) {
    return op_output_dims(context, 0, DTYPE_INT64, 0, NULL);
}

static int fold_size(struct op_context *context) {
    int64_t elements = op_elements(context, 0);
    if (is_overflow(elements))
        return op_fail(context, DIAG_OVERFLOW, "%s has more than 2^63 elements",
                       op_shape_text(context, op_shape(context, 0)));
    if (!is_known(elements)) return 0;
    return op_set_value(
        context, 0,
        constant_ints(context->arena, DTYPE_INT64, op_output_shape(context, 0), &elements));
}

struct range {
    const struct constant *start, *limit, *delta; /* one element each */
    int64_t n;  /* number of elements; if too many: DIM_OVERFLOW, for floats DIM_UNKNOWN */
    bool falls; /* delta < 0 */
};

static int read_scalar(struct op_context *context, size_t i, const struct constant **ret) {
    int64_t elements = op_elements(context, i);
    if (is_known(elements) && elements != 1)
        return op_fail(context, DIAG_SHAPE, "input %zu %s has %lld elements, expected 1", i,
                       op_shape_text(context, op_shape(context, i)), (long long)elements);
    int status = op_value(context, i, ret);
    if (status || !*ret) return status;
    if (!constant_has_numbers(*ret)) *ret = NULL;
    if (*ret && (*ret)->dtype != op_dtype(context, 0))
        return op_fail(context, DIAG_TYPE, "input %zu is %s, start is %s", i,
                       dtype_name((*ret)->dtype), dtype_name(op_dtype(context, 0)));
    return 0;
}

/* Reads the operands; n = max(ceil((limit - start) / delta), 0). Sets *ret_known to false if
 * the contents of one are unknown. Range of com.microsoft may omit delta, which is then 1. */
static int read_range(struct op_context *context, struct range *range, bool *ret_known) {
    static const struct shape scalar = {0, NULL};
    int status = read_scalar(context, 0, &range->start);
    if (!status) status = read_scalar(context, 1, &range->limit);
    if (!status && op_has_input(context, 2)) {
        status = read_scalar(context, 2, &range->delta);
    } else if (!status && range->start) {
        const struct number one = {.real = constant_has_reals(range->start), .i = 1, .r = 1};
        range->delta = constant_splat(context->arena, range->start->dtype, &scalar, one);
        if (!range->delta) status = diag_no_memory(context->diag);
    }
    *ret_known = !status && range->start && range->limit && range->delta;
    if (!*ret_known) return status;
    const struct number start = constant_number_at(range->start, 0);
    const struct number limit = constant_number_at(range->limit, 0);
    const struct number delta = constant_number_at(range->delta, 0);
    if (delta.real ? delta.r == 0 : delta.i == 0)
        return op_fail(context, DIAG_VALUE, "delta is 0");
    range->falls = delta.real ? delta.r < 0 : delta.i < 0;
    if (!delta.real) {
        range->n = checked_div_ceil(checked_sub(limit.i, start.i), delta.i);
    } else {
        const bool single = range->start->dtype == DTYPE_FLOAT;
        const double steps =
            (single ? (double)((float)limit.r - (float)start.r) : limit.r - start.r) / delta.r;
        range->n = steps > -0x1p62 && steps < 0x1p62 ? (int64_t)ceil(steps) : DIM_UNKNOWN;
    }
    if (is_known(range->n) && range->n < 0) range->n = 0;
    return 0;
}

static int infer_range(struct op_context *context) {
    struct range range = {.n = DIM_UNKNOWN};
    bool known = false;
    int status = read_range(context, &range, &known);
    if (status) return status;
    const bool loose = op_has_bounds(context, 0) || op_has_bounds(context, 1);
    if (known && loose && range.falls)
        range.n = DIM_UNKNOWN; /* an upper bound of limit is not an upper bound of n */
    return common_output(context, 1, &range.n);
}

/* Sets element i to start + i * delta. Returns false if the dtype is not folded, or if rounding
 * gives another value than repeated addition of delta, which some runtimes use. */
static bool range_element(const struct range *range, int64_t i, struct elements *elements) {
    if (elements->ints) {
        elements->ints[i] =
            constant_int_at(range->start, 0) + i * constant_int_at(range->delta, 0);
        return true;
    }
    double start = constant_real_at(range->start, 0);
    double delta = constant_real_at(range->delta, 0);
    struct number product = {.real = true, .r = start + (double)i * delta};
    struct number sum = {.real = true, .r = i == 0 ? start : elements->reals[i - 1] + delta};
    if (!fold_store(elements->dtype, &product) || !fold_store(elements->dtype, &sum))
        return false;
    elements->reals[i] = product.r;
    return !(product.r < sum.r || product.r > sum.r);
}

static int fold_range(struct op_context *context) {
    struct range range = {.n = DIM_UNKNOWN};
    struct elements elements;
    bool known = false, possible = false;
    int status = read_range(context, &range, &known);
    if (status || !known || !is_known(range.n)) return status;
    status = elements_new(context, range.start, range.n, &elements, &possible);
    if (status || !possible) return status;
    for (int64_t i = 0; i < range.n; i++)
        if (!range_element(&range, i, &elements)) return 0;
    return elements_set(context, 0, &elements);
}

/* clang-format off */
#define FILL(of, name, from, infer_fn, folds, letters)                                         \
    {                                                                                          \
        SIGNATURE(of, name, from, NO_PRIMITIVE(NO_FILL), BOUNDS(letters)), .infer = infer_fn,  \
        .fold = folds, .param_roles = "i", .backward.saved_for_backward = "-"                  \
    }
#define SHAPE(name, from, infer_fn, folds)                                                     \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS("d")), .infer = infer_fn, .fold = folds,            \
        .fold_partial = true, .memory = MEMORY_SHAPE_ONLY, .param_roles = "i",                 \
        .backward.saved_for_backward = "-"                                                     \
    }

static const struct op rows[] = {
    /*   domain   type             since shape rule               fold                    bounds */
    FILL(ONNX,    Constant,           1, infer_constant,          fold_constant,          "-"),
    FILL(ONNX,    Constant,          11, infer_constant,          fold_constant,          "-"),
    FILL(ONNX,    Constant,          12, infer_constant,          fold_constant,          "-"),
    FILL(ONNX,    ConstantOfShape,    9, infer_constant_of_shape, fold_constant_of_shape, "v"),
    SINCE2(SHAPE, Shape, 1, 15, infer_shape, fold_shape),
    SHAPE(Size, 1,              infer_size,  fold_size),
    FILL(ONNX,    Range,             11, infer_range,             fold_range,             "-v-"),
    FILL(ONNX,    Range,             27, infer_range,             fold_range,             "-v-"),
    FILL(CONTRIB, Range,              1, infer_range,             fold_range,             "-"),
};
/* clang-format on */

OP_FAMILY(constant, .why_free = "writes what is known",
          .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT | FACET_QDQ);
