/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of elements by value: TopK, NonZero, Compress, Unique, NonMaxSuppression. Output
 * dims are data-dependent: known only if the values are. */
#include <math.h>
#include <stdlib.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"
#include "support/sort.h"

/* k is an attribute (TopK-1) or operand 1. */
static int infer_top_k(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    struct int_list list;
    int axis = 0;
    int status = op_has_attr(context, "k") ? 0 : op_int_list(context, 1, &list);
    if (status) return status;
    int64_t k = op_attr_int(context, "k");
    if (!op_has_attr(context, "k")) {
        if (list.known && list.n != 1)
            return op_fail(context, DIAG_SHAPE, "k has %zu elements, expected 1", list.n);
        k = list.known ? list.values[0] : DIM_UNKNOWN;
    }
    if (is_known(k) && k < 0)
        return op_fail(context, DIAG_VALUE, "k is %lld, less than 0", (long long)k);
    if (shape_has_rank(input)) {
        status = op_axis(context, input->rank, &axis);
        if (status) return status;
        const int64_t dim = input->dims[axis];
        const bool loose = op_has_bounds(context, 0) || op_has_bounds(context, 1);
        const bool exceeds = is_known(k) && is_known(dim) && k > dim;
        if (exceeds && !loose)
            return op_fail(context, DIAG_VALUE, "k is %lld, axis %d of %s has fewer elements",
                           (long long)k, axis, op_shape_text(context, input));
        k = exceeds ? dim : op_data_dependent_dim(context, k, dim);
    }
    status = common_output_resized(context, 0, op_dtype(context, 0), axis, k);
    return status ? status : common_output_resized(context, 1, DTYPE_INT64, axis, k);
}

/* Returns true if the elements are in memory as numbers. */
static bool is_visible(const struct constant *value) {
    return value && constant_has_numbers(value);
}

static bool is_nonzero(const struct constant *value, int64_t i) {
    return constant_has_ints(value) ? constant_int_at(value, i) != 0
                                    : constant_real_at(value, i) != 0;
}

static int64_t count_nonzero(const struct constant *value) {
    int64_t n = 0;
    if (value->place == CONSTANT_SPLAT)
        return value->n_elements > 0 && is_nonzero(value, 0) ? value->n_elements : 0;
    for (int64_t i = 0; i < value->n_elements; i++) n += is_nonzero(value, i);
    return n;
}

static int infer_non_zero(struct op_context *context) {
    const struct constant *value = NULL;
    int rank = op_rank(context, 0);
    int64_t dims[2] = {rank == RANK_UNKNOWN ? DIM_UNKNOWN : rank, DIM_UNKNOWN};
    int status = op_value(context, 0, &value);
    if (status) return status;
    if (is_visible(value)) dims[1] = count_nonzero(value);
    dims[1] = op_data_dependent_dim(context, dims[1], op_elements(context, 0));
    return op_output_dims(context, 0, DTYPE_INT64, 2, dims);
}

/* Column j of the result has the coordinates of the j-th non-zero element. */
static int fold_non_zero(struct op_context *context) {
    const struct shape *output = op_output_shape(context, 0);
    int64_t coords[SHAPE_MAX_RANK] = {0};
    const struct constant *value = NULL;
    int status = op_value(context, 0, &value);
    if (status || !is_visible(value) || !shape_is_known(output)) return status;
    int64_t n = output->dims[1], found = 0;
    int64_t size = shape_elements(output);
    if (!is_known(size) || size > CONSTANT_MAX_ELEMENTS) return 0;
    if (n > 0 && value->n_elements > CONSTANT_MAX_ELEMENTS) return 0;
    int64_t *list = arena_array(context->arena, (size_t)size, sizeof *list);
    if (!list) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < value->n_elements && found < n; i++) {
        if (is_nonzero(value, i)) {
            for (int axis = 0; axis < value->shape.rank; axis++)
                list[axis * n + found] = coords[axis];
            found++;
        }
        remap_advance(&value->shape, coords);
    }
    return op_set_value(context, 0, constant_ints(context->arena, DTYPE_INT64, output, list));
}

/* Sets *ret_extent to the number of positions that the condition selects from: the dim at
 * attribute `axis`, to which *ret_axis is set, or all elements if the attribute is absent. */
static int compress_extent(const struct op_context *context, int *ret_axis,
                           int64_t *ret_extent) {
    int rank = op_rank(context, 0);
    *ret_extent = DIM_UNKNOWN;
    if (!op_has_attr(context, "axis")) {
        *ret_extent = op_elements(context, 0);
        return 0;
    }
    if (rank == RANK_UNKNOWN) return 0;
    int status = op_axis(context, rank, ret_axis);
    if (!status) *ret_extent = op_dim(context, 0, *ret_axis);
    return status;
}

static int infer_compress(struct op_context *context) {
    const struct constant *condition = NULL;
    int64_t extent = 0;
    int axis = 0;
    int status = compress_extent(context, &axis, &extent);
    if (!status) status = op_value(context, 1, &condition);
    if (status) return status;
    /* elements past the end of the condition are not selected */
    int64_t chosen = is_visible(condition) ? count_nonzero(condition) : DIM_UNKNOWN;
    chosen =
        op_data_dependent_dim(context, chosen, common_smaller(extent, op_elements(context, 1)));
    if (is_visible(condition) && is_known(extent) && condition->n_elements > extent)
        return op_fail(context, DIAG_SHAPE, "the condition has %lld elements for %lld",
                       (long long)condition->n_elements, (long long)extent);
    if (!op_has_attr(context, "axis")) return common_output(context, 1, &chosen);
    return common_output_resized(context, 0, op_dtype(context, 0), axis, chosen);
}

/* The data as [outer, extent, inner]; chosen: indices into the extent. */
struct compress {
    const int64_t *chosen;
    int64_t n_chosen, extent, inner;
    const struct shape *output;
};

static int64_t compress_source(const void *context, const int64_t *coords) {
    const struct compress *compress = context;
    int64_t flat = 0;
    for (int axis = 0; axis < compress->output->rank; axis++)
        flat = flat * compress->output->dims[axis] + coords[axis];
    int64_t inner = flat % compress->inner;
    int64_t which = flat / compress->inner % compress->n_chosen;
    int64_t outer = flat / compress->inner / compress->n_chosen;
    return (outer * compress->extent + compress->chosen[which]) * compress->inner + inner;
}

static int fold_compress(struct op_context *context) {
    struct compress compress = {.inner = 1, .output = op_output_shape(context, 0)};
    const struct constant *data = NULL, *condition = NULL;
    int64_t found = 0;
    int axis = 0;
    int status = op_value(context, 0, &data);
    if (!status) status = op_value(context, 1, &condition);
    if (status || !is_visible(data) || !is_visible(condition)) return status;
    if (condition->n_elements > CONSTANT_MAX_ELEMENTS) return 0;
    status = compress_extent(context, &axis, &compress.extent);
    if (status) return status;
    compress.n_chosen = count_nonzero(condition);
    int64_t *list = arena_array(context->arena, (size_t)compress.n_chosen, sizeof *list);
    if (!list) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < condition->n_elements; i++)
        if (is_nonzero(condition, i)) list[found++] = i;
    compress.chosen = list;
    if (op_has_attr(context, "axis"))
        compress.inner = shape_product(&data->shape, axis + 1, data->shape.rank);
    const struct remap remap = {.from = data, .source = compress_source, .context = &compress};
    return remap_fold(context, 0, &remap);
}

/* A slice along an axis: `outer` runs of `inner` elements, run i at first + i * step. */
struct slice {
    const struct constant *value;
    int64_t first, inner, outer, step;
};

static int compare_slices(const void *left, const void *right) {
    const struct slice *a = left;
    const struct slice *b = right;
    for (int64_t i = 0; i < a->outer; i++)
        for (int64_t at = i * a->step; at < i * a->step + a->inner; at++) {
            const int order = number_compare(constant_number_at(a->value, a->first + at),
                                             constant_number_at(a->value, b->first + at));
            if (order != 0) return order;
        }
    return 0;
}

/* Sets *ret to the number of distinct elements (axis -1) or of distinct slices along `axis`;
 * leaves *ret unchanged if the number is unknown. */
static int count_distinct(struct op_context *context, int axis, int64_t *ret) {
    const struct constant *value = NULL;
    int status = op_value(context, 0, &value);
    if (status || !is_visible(value)) return status;
    const struct shape *shape = &value->shape;
    const int64_t n = axis < 0 ? value->n_elements : shape->dims[axis];
    if (value->place == CONSTANT_SPLAT) {
        *ret = n > 0;
        return 0;
    }
    for (int64_t i = 0; constant_has_reals(value) && i < value->n_elements; i++)
        if (isnan(constant_real_at(value, i)))
            return 0;                    /* runtimes differ: is NaN equal to NaN? */
    if (n > value->n_elements) return 0; /* empty slices: runtimes differ */
    const int64_t inner = axis < 0 ? 1 : shape_product(shape, axis + 1, shape->rank);
    const int64_t outer = axis < 0 ? 1 : shape_product(shape, 0, axis);
    struct slice *slices = arena_array(context->arena, (size_t)n, sizeof *slices);
    if (!slices) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < n; i++)
        slices[i] = (struct slice){value, i * inner, inner, outer, n * inner};
    sort_stable(slices, (size_t)n, sizeof *slices, compare_slices);
    *ret = 0;
    for (int64_t i = 0; i < n; i++)
        *ret += i == 0 || compare_slices(&slices[i - 1], &slices[i]) != 0;
    return 0;
}

/* Outputs: the distinct elements, or slices along `axis`; the position of each in the input;
 * the position of each input element among the distinct ones; the number of occurrences. */
static int infer_unique(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    const bool flat = !op_has_attr(context, "axis") || input->rank == 1;
    int64_t dims[SHAPE_MAX_RANK];
    int64_t distinct = DIM_UNKNOWN, positions = DIM_UNKNOWN;
    int rank = flat ? 1 : input->rank;
    int axis = 0, status = 0;
    if (!flat && shape_has_rank(input)) status = op_axis(context, rank, &axis);
    if (!status && (flat || shape_has_rank(input)))
        status = count_distinct(context, flat ? -1 : axis, &distinct);
    if (status) return status;
    for (int i = 0; !flat && i < rank; i++) dims[i] = input->dims[i];
    if (flat || shape_has_rank(input)) {
        positions = flat ? op_elements(context, 0) : input->dims[axis];
        distinct = op_data_dependent_dim(context, distinct, positions);
        dims[axis] = distinct;
    }
    status = common_output(context, rank, dims);
    if (!status) status = op_output_dims(context, 1, DTYPE_INT64, 1, &distinct);
    if (!status) status = op_output_dims(context, 2, DTYPE_INT64, 1, &positions);
    return status ? status : op_output_dims(context, 3, DTYPE_INT64, 1, &distinct);
}

/* Unique of com.microsoft. Outputs: the distinct elements; the position of each input element
 * among them; the number of occurrences. */
static int infer_contrib_unique(struct op_context *context) {
    const int64_t n = op_elements(context, 0);
    int64_t distinct = DIM_UNKNOWN;
    int status = count_distinct(context, -1, &distinct);
    if (!status) status = common_output(context, 1, &distinct);
    if (!status) status = op_output_dims(context, 1, DTYPE_INT64, 1, &n);
    return status ? status : op_output_dims(context, 2, DTYPE_INT64, 1, &distinct);
}

/* Infers [boxes, 3]: rows of (batch, class, box). No boxes if max_output_boxes_per_class is 0
 * or absent, at most batch * classes * min(boxes, max_output_boxes_per_class). */
static int infer_non_max_suppression(struct op_context *context) {
    const struct shape *scores = op_shape(context, 1);
    struct int_list max_per_class;
    int64_t dims[2] = {DIM_UNKNOWN, 3};
    int64_t taken = DIM_UNKNOWN, most = DIM_UNKNOWN;
    int status = op_int_list(context, 2, &max_per_class);
    if (status) return status;
    if (max_per_class.known && max_per_class.n == 1) taken = max_per_class.values[0];
    if (!max_per_class.given || taken == 0) dims[0] = 0;
    if (is_known(taken) && taken < 0) taken = DIM_UNKNOWN;
    if (scores->rank == 3)
        most = checked_mul(checked_mul(scores->dims[0], scores->dims[1]),
                           common_smaller(scores->dims[2], taken));
    dims[0] = op_data_dependent_dim(context, dims[0], most);
    return op_output_dims(context, 0, DTYPE_INT64, 2, dims);
}

/* clang-format off */
#define ROW(of, name, from, infer_fn, folds, letters, keeps, ...)                              \
    {                                                                                          \
        SIGNATURE(of, name, from, NO_PRIMITIVE(NO_SORT), __VA_ARGS__), .infer = infer_fn,      \
        .fold = folds, .param_roles = letters, .backward.saved_for_backward = keeps            \
    }

static const struct op rows[] = {
    /*  domain   type               since shape rule                 fold           roles saved for backward */
    ROW(ONNX,    TopK,                 1, infer_top_k,               NULL,          "x",  "z,-", BOUNDS("dv"), CHOOSES),
    ROW(ONNX,    TopK,                10, infer_top_k,               NULL,          "xi", "z,-", BOUNDS("dv"), CHOOSES),
    ROW(ONNX,    TopK,                11, infer_top_k,               NULL,          "xi", "z,-", BOUNDS("dv"), CHOOSES),
    ROW(ONNX,    NonZero,              9, infer_non_zero,            fold_non_zero, "i",  "-",
        BOUNDS("d"), ONNX_TOOL(.per_output = 1)),
    ROW(ONNX,    Compress,             9, infer_compress,            fold_compress, "pi", "1,-", BOUNDS("d"), PART(0, 0)),
    ROW(ONNX,    Unique,              11, infer_unique,              NULL,          "i",  "-",   BOUNDS("d")),
    ROW(CONTRIB, Unique,               1, infer_contrib_unique,      NULL,          "i",  "-",   NO_BOUNDS),
    ROW(ONNX,    NonMaxSuppression,   10, infer_non_max_suppression, NULL,          "i",  "-",   BOUNDS("ddvd")),
};
/* clang-format on */

OP_FAMILY(select, .why_free = "compares and picks", .declines = FACETS_RARE | FACET_EXACT);
