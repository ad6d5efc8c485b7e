/* SPDX-License-Identifier: Apache-2.0 */
/* Merges value_infos: see merge.h. */
#include "ops/merge.h"

#include "ops/op_context.h"
#include "support/arena.h"

#include "support/banned.h"

/* Maximum nesting of sequences and optionals; deeper elements are unknown. */
#define MAX_NESTING 4

static const char *const kind_names[] = {
    [CM_TYPE_UNKNOWN] = "an unknown value",      [CM_TYPE_TENSOR] = "a tensor",
    [CM_TYPE_SPARSE_TENSOR] = "a sparse tensor", [CM_TYPE_SEQUENCE] = "a sequence",
    [CM_TYPE_OPTIONAL] = "an optional",          [CM_TYPE_MAP] = "a map",
};

/* Returns the common dim; DIM_UNKNOWN if they differ, or with OP_UPPER_BOUND the larger. */
static int64_t merge_dims(const struct op_context *context, int64_t a, int64_t b) {
    if (a == b) return a;
    if (context->bound != OP_UPPER_BOUND || !is_known(a) || !is_known(b)) return DIM_UNKNOWN;
    return a > b ? a : b;
}

static int merge_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, struct shape *ret) {
    *ret = shape_unknown();
    if (!shape_has_rank(a) || a->rank != b->rank) return 0;
    if (shape_make(context->arena, a->rank, a->dims, ret) < 0)
        return diag_no_memory(context->diag);
    for (int axis = 0; axis < a->rank; axis++)
        ret->dims[axis] = merge_dims(context, a->dims[axis], b->dims[axis]);
    return 0;
}

static int merge_tensors(struct op_context *context, const struct value_info *a,
                         const struct value_info *b, struct value_info *ret) {
    struct shape shape;
    bool known = a->dtype != DTYPE_UNDEFINED && b->dtype != DTYPE_UNDEFINED;
    if (known && a->dtype != b->dtype)
        return op_fail(context, DIAG_TYPE, "the same value is %s and %s", dtype_name(a->dtype),
                       dtype_name(b->dtype));
    int status = merge_shapes(context, &a->shape, &b->shape, &shape);
    if (status) return status;
    struct value_info merged = value_info_tensor(known ? a->dtype : DTYPE_UNDEFINED, shape);
    merged.kind = a->kind;
    merged.is_upper_bound = context->bound == OP_UPPER_BOUND;
    *ret = merged;
    return 0;
}

static bool is_empty(const struct value_info *sequence) {
    return sequence->items && sequence->n_items == 0;
}

static int merge_at(struct op_context *context, const struct value_info *a,
                    const struct value_info *b, int nesting, struct value_info *ret);

/* Merges two sequences of equal length, element by element. */
static int merge_items(struct op_context *context, const struct value_info *a,
                       const struct value_info *b, int nesting, struct value_info *ret) {
    const struct value_info none = merge_element(a);
    struct value_info *items = arena_array(context->arena, a->n_items, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (size_t i = 0; i < a->n_items; i++) {
        int status = merge_at(context, &a->items[i], &b->items[i], nesting + 1, &items[i]);
        if (status) return status;
    }
    return merge_sequence(context, a->n_items, items, &none, ret);
}

static int merge_at(struct op_context *context, const struct value_info *a,
                    const struct value_info *b, int nesting, struct value_info *ret) {
    bool differ = a->kind != b->kind;
    /* a Loop-16 may take an optional as state and return its element */
    bool optional = a->kind == CM_TYPE_OPTIONAL || b->kind == CM_TYPE_OPTIONAL;
    bool unknown =
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
    if (a->items && b->items && a->n_items == b->n_items)
        return merge_items(context, a, b, nesting, ret);
    struct value_info left = merge_element(a), right = merge_element(b), element;
    /* an empty sequence does not constrain its elements */
    if (is_empty(a)) left = right;
    if (is_empty(b)) right = left;
    int status = merge_at(context, &left, &right, nesting + 1, &element);
    return status ? status : merge_container(context, a->kind, &element, ret);
}

int merge_infos(struct op_context *context, const struct value_info *a,
                const struct value_info *b, struct value_info *ret) {
    return merge_at(context, a, b, 0, ret);
}

static bool have_same_items(const struct value_info *a, const struct value_info *b) {
    if (!a->items || !b->items) return a->items == b->items;
    if (a->n_items != b->n_items) return false;
    for (size_t i = 0; i < a->n_items; i++)
        if (a->items[i].kind != CM_TYPE_TENSOR || b->items[i].kind != CM_TYPE_TENSOR ||
            a->items[i].dtype != b->items[i].dtype ||
            !shape_equal(&a->items[i].shape, &b->items[i].shape))
            return false;
    return true;
}

bool merge_is_same(const struct value_info *a, const struct value_info *b) {
    if (!have_same_items(a, b)) return false;
    for (int nesting = 0; nesting <= MAX_NESTING; nesting++) {
        if (a->kind != b->kind || a->dtype != b->dtype) return false;
        if (!shape_equal(&a->shape, &b->shape)) return false;
        if (!a->element || !b->element) return a->element == b->element;
        a = a->element;
        b = b->element;
    }
    return true;
}

/* Returns true if the element is nested deeper than MAX_NESTING. */
static bool is_deep(const struct value_info *element) {
    int nesting = 0;
    while (element->element && nesting <= MAX_NESTING) {
        element = element->element;
        nesting++;
    }
    return nesting > MAX_NESTING;
}

int merge_container(struct op_context *context, enum cm_type_kind kind,
                    const struct value_info *element, struct value_info *ret) {
    struct value_info content = *element;
    if (is_deep(element)) content.element = NULL;
    content.items = NULL;
    content.value = NULL;
    content.is_constant = false;
    content.is_weight = false;
    content.lower_bound = NULL;
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
    struct value_info *copies = NULL;
    for (size_t i = 1; i < n; i++) {
        int status = merge_infos(context, &element, &items[i], &element);
        if (status) return status;
    }
    int status = merge_container(context, CM_TYPE_SEQUENCE, &element, ret);
    if (status || !op_use_budget(context, (int64_t)n)) return status;
    copies = arena_array(context->arena, n + 1, sizeof *copies);
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
