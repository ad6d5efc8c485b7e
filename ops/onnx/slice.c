/* SPDX-License-Identifier: Apache-2.0 */
/* Slice and Split: parts of a tensor. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

/* Source coordinate = begin + step * output coordinate, per axis. */
struct walk {
    int64_t begin[SHAPE_MAX_RANK], step[SHAPE_MAX_RANK];
};

struct slice {
    struct int_list starts, ends, axes, steps;
    size_t n; /* number of sliced axes */
};

static int read_slice(struct op_context *context, struct slice *slice) {
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    struct int_list *const lists[] = {&slice->starts, &slice->ends, &slice->axes,
                                      &slice->steps};
    int status = 0;
    for (int i = 0; i < 4 && !status; i++)
        status = op_int_list_any(context, names[i], i + 1, lists[i]);
    if (status) return status;
    slice->n = slice->axes.n;
    if (slice->ends.known) slice->n = slice->ends.n;
    if (slice->starts.known) slice->n = slice->starts.n;
    for (int i = 0; i < 4; i++)
        if (lists[i]->known && lists[i]->n != slice->n)
            return op_fail(context, DIAG_SHAPE, "%s has %zu entries, starts has %zu", names[i],
                           lists[i]->n, slice->n);
    return 0;
}

/* Returns the length of a slice by the rules of Slice-13; sets *ret_begin to its first
 * coordinate. dim is added to a negative start or end. Then both are clamped: to [0, dim] for
 * step > 0; start to [0, dim - 1] and end to [-1, dim - 1] for step < 0. Sums cannot overflow,
 * since dim >= 0. (Unlike ONNX, ONNX Runtime reads the end INT64_MAX with a negative step as
 * "to the front".) */
static int64_t slice_count(int64_t dim, int64_t start, int64_t end, int64_t step,
                           int64_t *ret_begin) {
    *ret_begin = 0;
    if (dim == 0) return 0;
    if (start < 0) start += dim;
    if (end < 0) end += dim;
    if (step > 0) {
        start = common_clamp(start, 0, dim);
        end = common_clamp(end, 0, dim);
        *ret_begin = start;
        return end > start ? (end - start - 1) / step + 1 : 0;
    }
    start = common_clamp(start, 0, dim - 1);
    end = common_clamp(end, -1, dim - 1);
    *ret_begin = start;
    return start > end ? (start - end - 1) / -common_clamp(step, -INT64_MAX, -1) + 1 : 0;
}

/* Returns an upper bound of the slice length; DIM_UNKNOWN if there is none. `dim` and the end
 * may be upper bounds (`dim` DIM_UNKNOWN: any size). The length at both is an upper bound,
 * except if the start is negative and the end is not: x[-3:5] has at most min(3, 5)
 * elements. */
static int64_t slice_upper_bound(const struct op_context *context, const struct slice *slice,
                                 size_t i, int64_t dim, int64_t step) {
    int64_t begin = 0;
    const struct constant *lower_bound = op_input(context, 2)->lower_bound;
    if (!slice->starts.known || !slice->ends.known || step < 0) return dim;
    if (lower_bound && constant_has_ints(lower_bound) &&
        constant_int_at(lower_bound, (int64_t)i) < 0)
        return dim; /* the end may count from either side */
    const int64_t start = slice->starts.values[i];
    const int64_t end = slice->ends.values[i];
    if (start < 0 && end >= 0)
        return common_smaller(dim, common_smaller(checked_sub(0, start), end));
    if (start >= 0 && end >= 0) dim = common_smaller(dim, end);
    return is_known(dim) ? slice_count(dim, start, end, step, &begin) : dim;
}

static int apply_entry(const struct op_context *context, const struct slice *slice, size_t i,
                       int axis, int64_t *dims, struct walk *walk) {
    int64_t dim = dims[axis];
    int64_t step = slice->steps.known ? slice->steps.values[i] : 1;
    dims[axis] = DIM_UNKNOWN;
    if (step == 0) return op_fail(context, DIAG_VALUE, "the step of axis %d is 0", axis);
    if (context->bound == OP_UPPER_BOUND) {
        const bool stepped = slice->steps.given && !slice->steps.known;
        dims[axis] = stepped ? dim : slice_upper_bound(context, slice, i, dim, step);
        return 0;
    }
    if (slice->steps.given && !slice->steps.known) return 0;
    if (!is_known(dim) || !slice->starts.known || !slice->ends.known) return 0;
    dims[axis] = slice_count(dim, slice->starts.values[i], slice->ends.values[i], step,
                             &walk->begin[axis]);
    walk->step[axis] = common_clamp(step, -dim, dim);
    return 0;
}

/* Applies all entries to `dims`, the dims of operand 0, and to the walk. */
static int apply_entries(struct op_context *context, int rank, int64_t *dims,
                         struct walk *walk) {
    struct slice slice;
    uint64_t seen = 0;
    int status = read_slice(context, &slice);
    if (status) return status;
    for (int axis = 0; axis < rank; axis++) {
        walk->begin[axis] = 0;
        walk->step[axis] = 1;
    }
    const bool known =
        slice.axes.given ? slice.axes.known : slice.starts.known || slice.ends.known;
    if (!known) { /* the sliced axes are unknown */
        for (int axis = 0; axis < rank; axis++)
            dims[axis] = op_data_dependent_dim(context, DIM_UNKNOWN, dims[axis]);
        return 0;
    }
    for (size_t i = 0; i < slice.n; i++) {
        int axis = 0;
        status = common_next_axis(context, &slice.axes, i, rank, "sliced", &seen, &axis);
        if (!status) status = apply_entry(context, &slice, i, axis, dims, walk);
        if (status) return status;
    }
    return 0;
}

static int infer_slice(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct walk walk;
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    for (int axis = 0; axis < input->rank; axis++) dims[axis] = input->dims[axis];
    int status = apply_entries(context, input->rank, dims, &walk);
    return status ? status : common_output(context, input->rank, dims);
}

static int fold_slice(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK];
    struct walk walk;
    struct remap remap = {0};
    struct op_context cut = *context; /* contents need exact lengths, not upper bounds */
    int status = op_value(context, 0, &remap.from);
    if (status || !remap.from || !shape_is_known(op_output_shape(context, 0))) return status;
    const struct shape *from = &remap.from->shape;
    for (int axis = 0; axis < from->rank; axis++) dims[axis] = from->dims[axis];
    cut.bound = OP_EXACT;
    status = apply_entries(&cut, from->rank, dims, &walk);
    const struct shape sliced = {from->rank, dims};
    if (status || !shape_is_known(&sliced)) return status;
    remap_strides(from, remap.strides);
    for (int axis = 0; axis < from->rank; axis++) {
        const int64_t begin = checked_mul(walk.begin[axis], remap.strides[axis]);
        checked_add_to(&remap.offset, begin);
        remap.strides[axis] = checked_mul(remap.strides[axis], walk.step[axis]);
    }
    return remap_fold(context, 0, &remap);
}

/* Sets the axis and the lengths of the parts (in the context's arena): as listed in `split`,
 * else equal. Since Split-18 the last part may be smaller than the others; before, the dim must
 * be divisible by the number of outputs. */
static int plan_split(struct op_context *context, int *ret_axis, int64_t **ret_parts) {
    const int64_t n = (int64_t)context->n_outputs;
    const bool counted = op_has_attr(context, "num_outputs");
    const int64_t asked = op_attr_int(context, "num_outputs");
    const bool bounded = op_has_bounds(context, 0);
    struct int_list list;
    int status = op_axis(context, op_rank(context, 0), ret_axis);
    if (status) return status;
    int64_t *parts = arena_array(context->arena, context->n_outputs, sizeof *parts);
    if (!parts) return diag_no_memory(context->diag);
    *ret_parts = parts;
    const int64_t dim = op_dim(context, 0, *ret_axis);
    status = op_int_list_any(context, "split", 1, &list);
    if (status) return status;
    if (counted && list.given)
        return op_fail(context, DIAG_ATTRIBUTE, "both split and num_outputs are given");
    if (counted && asked != n)
        return op_fail(context, DIAG_ATTRIBUTE, "num_outputs is %lld, the node has %zu outputs",
                       (long long)asked, context->n_outputs);
    if (!list.given) {
        const int64_t part = checked_div_ceil(dim, n);
        const int64_t last = checked_sub(dim, checked_mul(part, n - 1));
        if (is_known(dim) && !bounded &&
            (last < 0 || (context->op->since < 18 && last != part)))
            return op_fail(context, DIAG_SHAPE,
                           "an axis of %lld does not split into %lld equal parts",
                           (long long)dim, (long long)n);
        /* with a smaller dim, the last part may be as long as the others */
        for (int64_t i = 0; i < n; i++) parts[i] = i == n - 1 && !bounded ? last : part;
        return 0;
    }
    int64_t sum = 0;
    if (list.n != context->n_outputs && (list.known || list.n > 0))
        return op_fail(context, DIAG_SHAPE, "split has %zu entries, the node has %zu outputs",
                       list.n, context->n_outputs);
    for (size_t i = 0; i < context->n_outputs; i++) {
        parts[i] = list.known ? list.values[i] : DIM_UNKNOWN;
        if (list.known && parts[i] < 0)
            return op_fail(context, DIAG_VALUE, "part %zu of split is %lld, less than 0", i,
                           (long long)parts[i]);
        checked_add_to(&sum, parts[i]);
    }
    if (list.known && is_known(dim) && sum != dim)
        return op_fail(context, DIAG_SHAPE, "split adds up to %s, the axis has %lld",
                       shape_dim_text(context->arena, sum), (long long)dim);
    return 0;
}

static int infer_split(struct op_context *context) {
    int64_t *parts = NULL;
    int axis = 0, status = 0;
    if (op_rank(context, 0) != RANK_UNKNOWN) status = plan_split(context, &axis, &parts);
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = common_output_resized(context, i, op_dtype(context, 0), axis,
                                       parts ? parts[i] : DIM_UNKNOWN);
    return status;
}

static int fold_split(struct op_context *context) {
    struct remap remap = {0};
    int64_t *parts = NULL;
    int axis = 0;
    int status = op_value(context, 0, &remap.from);
    if (status || !remap.from) return status;
    status = plan_split(context, &axis, &parts);
    remap_strides(&remap.from->shape, remap.strides);
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        if (!is_known(parts[i])) return 0;
        status = remap_fold(context, i, &remap);
        checked_add_to(&remap.offset, checked_mul(parts[i], remap.strides[axis]));
    }
    return status;
}

/* clang-format off */
#define SLICE(from, letters)                                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, Slice, from, BOUNDS("v-v-"), PART(0, 0), MOVES(scale_unchanged),       \
                  LOWER(lower_slice, CM_COPY, COPY_STRIDED, IMAGES_FOLLOW, NULL)),             \
        .infer = infer_slice, .fold = fold_slice, .param_roles = letters,                      \
        .backward.saved_for_backward = ",-", .backward.view = common_view_part                 \
    }
#define SPLIT(name, from, letters)                                                             \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, LOWER(lower_copy, CM_COPY, COPY_STRIDED, IMAGES_FOLLOW, NULL), \
                  BOUNDS("v-"), MOVES(scale_unchanged, .all_outputs = true)),                  \
        .infer = infer_split, .fold = fold_split, .param_roles = letters,                      \
        .backward.saved_for_backward = ",-", .backward.view = common_view_part                 \
    }

static const struct op rows[] = {
    SLICE(1, "p"), SLICE(10, "piiii"), SPLIT(Split, 1, "pi"), SPLIT(Split, 2, "p"), SINCE2(SPLIT, Split, 13, 18, "pi"),
};
/* clang-format on */

OP_FAMILY(slice, .why_free = "moves elements",
          .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
