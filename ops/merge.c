/* SPDX-License-Identifier: Apache-2.0 */
/* Merges infos of values: see merge.h. */
#include "ops/merge.h"

#include "ops/common.h"
#include "support/arena.h"

/* Maximum nesting of sequences and optionals; deeper elements are unknown. */
#define MAX_NESTING 4

static const char *const kind_names[] = {
    [CM_TYPE_UNKNOWN] = "an unknown value",      [CM_TYPE_TENSOR] = "a tensor",
    [CM_TYPE_SPARSE_TENSOR] = "a sparse tensor", [CM_TYPE_SEQUENCE] = "a sequence",
    [CM_TYPE_OPTIONAL] = "an optional",          [CM_TYPE_MAP] = "a map",
};

static int merge_tensors(struct op_context *context, const struct value_info *a,
                         const struct value_info *b, struct value_info *ret) {
    const bool known = a->dtype != DTYPE_UNDEFINED && b->dtype != DTYPE_UNDEFINED;
    struct shape shape = shape_unknown();
    if (known && a->dtype != b->dtype)
        return op_fail(context, DIAG_TYPE, "the same value is %s and %s", dtype_name(a->dtype),
                       dtype_name(b->dtype));
    if (shape_has_rank(&a->shape) && a->shape.rank == b->shape.rank) {
        if (shape_make(context->arena, a->shape.rank, a->shape.dims, &shape) < 0)
            return diag_no_memory(context->diag);
        for (int axis = 0; axis < shape.rank; axis++) {
            const int64_t dim = a->shape.dims[axis], other = b->shape.dims[axis];
            if (dim != other) shape.dims[axis] = DIM_UNKNOWN;
            if (context->bound == OP_UPPER_BOUND && common_differ(dim, other))
                shape.dims[axis] = dim > other ? dim : other;
        }
    }
    struct value_info merged = value_info_tensor(known ? a->dtype : DTYPE_UNDEFINED, shape);
    merged.kind = a->kind;
    merged.is_upper_bound = context->bound == OP_UPPER_BOUND;
    *ret = merged;
    return 0;
}

static int merge_at(struct op_context *context, const struct value_info *a,
                    const struct value_info *b, int nesting, struct value_info *ret) {
    const bool differ = a->kind != b->kind;
    /* a Loop-16 may take an optional as state and return its element */
    const bool optional = a->kind == CM_TYPE_OPTIONAL || b->kind == CM_TYPE_OPTIONAL;
    const bool unknown =
        a->kind == CM_TYPE_UNKNOWN || b->kind == CM_TYPE_UNKNOWN || (differ && optional);
    if (differ && !unknown)
        return op_fail(context, DIAG_TYPE, "the same value is %s and %s", kind_names[a->kind],
                       kind_names[b->kind]);
    if (!unknown && (a->kind == CM_TYPE_TENSOR || a->kind == CM_TYPE_SPARSE_TENSOR))
        return merge_tensors(context, a, b, ret);
    if (unknown || a->kind == CM_TYPE_MAP || nesting >= MAX_NESTING) {
        *ret = value_info_unknown();
        return 0;
    }
    struct value_info left = merge_element(a), right = merge_element(b), element;
    if (a->items && b->items && a->n_items == b->n_items) {
        struct value_info *items = arena_array(context->arena, a->n_items, sizeof *items);
        if (!items) return diag_no_memory(context->diag);
        for (size_t i = 0; i < a->n_items; i++) {
            int status = merge_at(context, &a->items[i], &b->items[i], nesting + 1, &items[i]);
            if (status) return status;
        }
        return merge_sequence(context, a->n_items, items, &left, ret);
    }
    /* an empty sequence does not constrain its elements */
    if (a->items && a->n_items == 0) left = right;
    if (b->items && b->n_items == 0) right = left;
    int status = merge_at(context, &left, &right, nesting + 1, &element);
    return status ? status : merge_container(context, a->kind, &element, ret);
}

int merge_infos(struct op_context *context, const struct value_info *a,
                const struct value_info *b, struct value_info *ret) {
    return merge_at(context, a, b, 0, ret);
}

bool merge_is_same(const struct value_info *a, const struct value_info *b) {
    if (!a->items != !b->items || (a->items && a->n_items != b->n_items)) return false;
    for (size_t i = 0; a->items && i < a->n_items; i++)
        if (a->items[i].kind != CM_TYPE_TENSOR || b->items[i].kind != CM_TYPE_TENSOR ||
            a->items[i].dtype != b->items[i].dtype ||
            !shape_equal(&a->items[i].shape, &b->items[i].shape))
            return false;
    for (int nesting = 0; nesting <= MAX_NESTING; nesting++) {
        if (a->kind != b->kind || a->dtype != b->dtype) return false;
        if (!shape_equal(&a->shape, &b->shape)) return false;
        if (!a->element || !b->element) return a->element == b->element;
        a = a->element;
        b = b->element;
    }
    return true;
}

int merge_container(struct op_context *context, enum cm_type_kind kind,
                    const struct value_info *element, struct value_info *ret) {
    struct value_info content = op_without_contents(element);
    int nesting = 0;
    for (const struct value_info *at = element; at->element && nesting <= MAX_NESTING;
         at = at->element)
        nesting++;
    if (nesting > MAX_NESTING) content.element = NULL;
    content.items = NULL;
    struct value_info container = value_info_unknown();
    container.kind = kind;
    container.element = arena_copy(context->arena, &content, sizeof content);
    if (!container.element) return diag_no_memory(context->diag);
    *ret = container;
    return 0;
}

int merge_sequence(struct op_context *context, size_t n, const struct value_info *items,
                   const struct value_info *none, struct value_info *ret) {
    struct value_info element = n > 0 ? items[0] : *none;
    for (size_t i = 1; i < n; i++) {
        int status = merge_infos(context, &element, &items[i], &element);
        if (status) return status;
    }
    int status = merge_container(context, CM_TYPE_SEQUENCE, &element, ret);
    if (status || !op_use_budget(context, (int64_t)n)) return status;
    struct value_info *copies = arena_array(context->arena, n + 1, sizeof *copies);
    if (!copies) return diag_no_memory(context->diag);
    for (size_t i = 0; i < n; i++) {
        copies[i] = items[i];
        copies[i].is_constant = false;
        copies[i].is_weight = false;
        if (copies[i].kind != CM_TYPE_TENSOR) copies[i].items = NULL;
    }
    ret->items = copies;
    ret->n_items = n;
    return 0;
}

struct value_info merge_element(const struct value_info *container) {
    bool holds = container->kind == CM_TYPE_SEQUENCE || container->kind == CM_TYPE_OPTIONAL;
    return holds && container->element ? *container->element : value_info_unknown();
}
