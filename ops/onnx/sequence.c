/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences and optionals. A sequence has a common info that holds for every element. If the
 * number and order of the elements are known, it also has one info per element, which
 * SequenceAt returns for a known index. */
#include "ops/common.h"
#include "ops/merge.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

static int check_sequence(const struct op_context *context) {
    const enum cm_type_kind kind = op_input(context, 0)->kind;
    if (kind == CM_TYPE_SEQUENCE || kind == CM_TYPE_UNKNOWN) return 0;
    return op_fail(context, DIAG_TYPE, "input 0 is not of kind sequence");
}

static int output_sequence(struct op_context *context, const struct value_info *element) {
    struct value_info sequence;
    int status = merge_container(context, CM_TYPE_SEQUENCE, element, &sequence);
    return status ? status : op_output_info(context, 0, &sequence);
}

static int output_items(struct op_context *context, size_t n, const struct value_info *items,
                        const struct value_info *none) {
    struct value_info sequence;
    int status = merge_sequence(context, n, items, none, &sequence);
    return status ? status : op_output_info(context, 0, &sequence);
}

static int infer_sequence_construct(struct op_context *context) {
    const struct value_info none = value_info_unknown();
    struct value_info *items = arena_array(context->arena, context->n_inputs, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (size_t i = 0; i < context->n_inputs; i++) items[i] = *op_input(context, i);
    return output_items(context, context->n_inputs, items, &none);
}

static int infer_sequence_empty(struct op_context *context) {
    enum dtype dtype = op_has_attr(context, "dtype")
                           ? dtype_from_onnx(op_attr_int(context, "dtype"))
                           : DTYPE_FLOAT;
    if (dtype == DTYPE_UNDEFINED)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute 'dtype' must be an element type");
    const struct value_info element = value_info_tensor(dtype, shape_unknown());
    return output_items(context, 0, NULL, &element);
}

/* Reads operand `slot` as an index into `n` elements; `otherwise` if it is omitted. Negative
 * indices count from the end. Sets *ret_known to false if the index is unknown. An index out of
 * range is an error. */
static int read_index(const struct op_context *context, size_t slot, int64_t n,
                      int64_t otherwise, bool *ret_known, size_t *ret) {
    const bool given = op_has_input(context, slot);
    int64_t place = given ? common_integer(context, slot) : otherwise;
    *ret_known = is_known(place);
    if (!*ret_known) return 0;
    if (place < -n || place >= n)
        return op_fail(context, DIAG_VALUE, "position %lld is out of range, there are %lld",
                       (long long)place, (long long)n);
    *ret = (size_t)(place < 0 ? place + n : place);
    return 0;
}

/* Inserts operand 1 before element `at`, or at the end if `at` is the number of elements. */
static int infer_sequence_insert(struct op_context *context) {
    const struct value_info *sequence = op_input(context, 0);
    const size_t n = sequence->n_items;
    struct value_info element = merge_element(sequence);
    bool known = false;
    size_t at = 0;
    int status = check_sequence(context);
    if (!status && sequence->items)
        status = read_index(context, 2, (int64_t)n + 1, (int64_t)n, &known, &at);
    if (!status && !known)
        status = merge_infos(context, &element, op_input(context, 1), &element);
    if (status) return status;
    if (!known) return output_sequence(context, &element);
    struct value_info *items = arena_array(context->arena, n + 1, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (size_t i = 0; i < n; i++) items[i < at ? i : i + 1] = sequence->items[i];
    items[at] = *op_input(context, 1);
    return output_items(context, n + 1, items, &element);
}

/* The parts of SplitToSequence along an axis. */
struct parts {
    struct int_list split;
    bool scalar;    /* split is one length for all parts; the last may be shorter */
    int64_t dim;    /* size of the axis */
    int64_t n;      /* number of parts; DIM_UNKNOWN */
    int64_t common; /* length of each part; DIM_UNKNOWN if they differ */
};

/* Reads operand 1: one length for all parts, or a list. Without it, the length is 1. */
static int read_parts(struct op_context *context, int64_t dim, struct parts *ret) {
    struct parts parts = {.scalar = op_rank(context, 1) == 0, .dim = dim, .n = DIM_UNKNOWN};
    int status = op_int_list(context, 1, &parts.split);
    if (status) return status;
    const struct int_list *split = &parts.split;
    parts.common = split->given ? DIM_UNKNOWN : 1;
    if (!split->given) parts.n = dim;
    for (size_t i = 0; split->known && i < split->n; i++)
        if (split->values[i] < (parts.scalar ? 1 : 0))
            return op_fail(context, DIAG_VALUE, "part %zu of split is %lld", i,
                           (long long)split->values[i]);
    if (split->known && split->n > 0) {
        const int64_t part = split->values[0];
        parts.n = parts.scalar ? checked_div_ceil(dim, part) : (int64_t)split->n;
        const bool even = parts.scalar ? is_known(dim) && dim % part == 0
                                       : describe_all_equal(split->n, split->values, part);
        if (even) parts.common = part;
        if (!even && parts.scalar && is_known(dim) && dim < part) parts.common = dim;
    }
    *ret = parts;
    return 0;
}

/* Sets output 0 to the sequence of the parts. `axis` -1: the parts do not have the axis. */
static int output_parts(struct op_context *context, const struct parts *parts,
                        const struct value_info *element, int axis) {
    struct value_info *items = arena_array(context->arena, (size_t)parts->n, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < parts->n; i++) {
        items[i] = *element;
        if (axis < 0) continue;
        if (shape_make(context->arena, element->shape.rank, element->shape.dims,
                       &items[i].shape) < 0)
            return diag_no_memory(context->diag);
        int64_t length = 1;
        if (parts->split.given) length = parts->split.values[parts->scalar ? 0 : i];
        if (parts->scalar && parts->split.given)
            length = common_smaller(length, parts->dim - i * length);
        items[i].shape.dims[axis] = length;
    }
    return output_items(context, (size_t)parts->n, items, element);
}

/* Sequences with more parts keep only the common info. */
#define MAX_PARTS 4096

static int infer_split_to_sequence(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct shape shape = {0, dims};
    struct parts parts = {.n = DIM_UNKNOWN};
    int axis = 0;
    if (!shape_has_rank(input)) {
        const struct value_info element = value_info_tensor(op_dtype(context, 0), *input);
        return output_sequence(context, &element);
    }
    int status = op_axis(context, input->rank, &axis);
    if (status) return status;
    /* keepdims applies only if there is no operand 1: each part is then one slice */
    bool drops = !op_has_input(context, 1) && op_attr_int(context, "keepdims") == 0;
    for (int i = 0; i < input->rank; i++)
        if (i != axis || !drops) dims[shape.rank++] = input->dims[i];
    status = read_parts(context, input->dims[axis], &parts);
    if (status) return status;
    if (!drops) dims[axis] = parts.common;
    struct value_info element = value_info_tensor(op_dtype(context, 0), shape_unknown());
    if (shape_make(context->arena, shape.rank, dims, &element.shape) < 0)
        return diag_no_memory(context->diag);
    if (is_known(parts.n) && parts.n <= MAX_PARTS)
        return output_parts(context, &parts, &element, drops ? -1 : axis);
    return output_sequence(context, &element);
}

static int infer_sequence_at(struct op_context *context) {
    const struct value_info *sequence = op_input(context, 0);
    struct value_info element = merge_element(sequence);
    bool known = false;
    size_t at = 0;
    int status = check_sequence(context);
    if (!status && sequence->items)
        status = read_index(context, 1, (int64_t)sequence->n_items, 0, &known, &at);
    if (!status && known) element = sequence->items[at];
    return status ? status : op_output_info(context, 0, &element);
}

static int infer_sequence_erase(struct op_context *context) {
    const struct value_info *sequence = op_input(context, 0);
    const size_t n = sequence->n_items;
    const struct value_info element = merge_element(sequence);
    bool known = false;
    size_t at = 0;
    int status = check_sequence(context);
    if (!status && sequence->items)
        status = read_index(context, 1, (int64_t)n, (int64_t)n - 1, &known, &at);
    if (status) return status;
    if (!known) return output_sequence(context, &element);
    struct value_info *items = arena_array(context->arena, n, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (size_t i = 0; i + 1 < n; i++) items[i] = sequence->items[i < at ? i : i + 1];
    return output_items(context, n - 1, items, &element);
}

static int infer_sequence_length(struct op_context *context) {
    int status = check_sequence(context);
    return status ? status : op_output_dims(context, 0, DTYPE_INT64, 0, NULL);
}

static int fold_sequence_length(struct op_context *context) {
    const struct value_info *sequence = op_input(context, 0);
    const int64_t n = (int64_t)sequence->n_items;
    if (!sequence->items) return 0;
    return op_set_value(
        context, 0,
        constant_ints(context->arena, DTYPE_INT64, op_output_shape(context, 0), &n));
}

static int infer_concat_from_sequence(struct op_context *context) {
    const struct value_info *sequence = op_input(context, 0);
    const struct value_info element = merge_element(sequence);
    const bool new_axis = op_attr_int(context, "new_axis") != 0;
    int64_t dims[SHAPE_MAX_RANK + 1];
    int axis = 0;
    int status = check_sequence(context);
    if (status) return status;
    if (!shape_has_rank(&element.shape))
        return op_output_dims(context, 0, element.dtype, RANK_UNKNOWN, NULL);
    const int rank = element.shape.rank + new_axis;
    status = op_axis(context, rank, &axis);
    if (status) return status;
    for (int i = 0, from = 0; i < rank; i++)
        if (i != axis || !new_axis) dims[i] = element.shape.dims[from++];
    dims[axis] = sequence->items ? 0 : DIM_UNKNOWN;
    for (size_t i = 0; sequence->items && i < sequence->n_items; i++) {
        const struct shape *shape = &sequence->items[i].shape;
        const int64_t length = axis < shape->rank ? shape->dims[axis] : DIM_UNKNOWN;
        checked_add_to(&dims[axis], new_axis ? 1 : length);
    }
    return op_output_dims(context, 0, element.dtype, rank, dims);
}

static int infer_optional(struct op_context *context) {
    struct value_info optional;
    int status = merge_container(context, CM_TYPE_OPTIONAL, op_input(context, 0), &optional);
    return status ? status : op_output_info(context, 0, &optional);
}

/* Since opset 18, an input that is not an optional is itself the output. */
static int infer_optional_get_element(struct op_context *context) {
    const struct value_info *input = op_input(context, 0);
    const struct value_info element = merge_element(input);
    if (input->kind != CM_TYPE_OPTIONAL && context->op->since >= 18)
        return op_output_like(context, 0, 0);
    if (input->kind != CM_TYPE_OPTIONAL && input->kind != CM_TYPE_UNKNOWN)
        return op_fail(context, DIAG_TYPE, "input 0 is not of kind optional");
    return op_output_info(context, 0, &element);
}

static int infer_optional_has_element(struct op_context *context) {
    return op_output_dims(context, 0, DTYPE_BOOL, 0, NULL);
}

/* clang-format off */
#define ROW(name, from, infer_fn, letters, keeps, monotone)                                    \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, NO_PRIMITIVE(NO_SEQUENCE), BOUNDS(monotone)),              \
        .infer = infer_fn, .param_roles = letters, .backward.saved_for_backward = keeps        \
    }

static const struct op rows[] = {
    ROW(SequenceConstruct, 11, infer_sequence_construct, "p",   "",    "d"),
    ROW(SequenceEmpty, 11,     infer_sequence_empty,     "x",   "-",   "-"),
    ROW(SequenceInsert, 11,    infer_sequence_insert,    "ppi", ",,-", "dd-"),
    ROW(SequenceAt, 11,        infer_sequence_at,        "pi",  ",-",  "d-"),
    ROW(SequenceErase, 11,     infer_sequence_erase,     "pi",  ",-",  "d-"),
    {SIGNATURE(ONNX, SequenceLength, 11, BOUNDS("d")), .infer = infer_sequence_length, .fold = fold_sequence_length,
     .fold_partial = true, .memory = MEMORY_SHAPE_ONLY, .param_roles = "i", .backward.saved_for_backward = "-"},
    ROW(SplitToSequence, 11,                infer_split_to_sequence,    "pi", ",-", "-"),
    ROW(ConcatFromSequence, 11,             infer_concat_from_sequence, "p",  "",   "d"),
    ROW(Optional, 15,                       infer_optional,             "p",  "",   "d"),
    SINCE2(ROW, OptionalGetElement, 15, 18, infer_optional_get_element, "p",  "",   "d"),
    SINCE2(ROW, OptionalHasElement, 15, 18, infer_optional_has_element, "i",  "-",  "d"),
};
/* clang-format on */

OP_FAMILY(sequence, .why_free = "puts tensors together", .declines = FACETS_RARE | FACET_EXACT);
