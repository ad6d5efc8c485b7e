/* SPDX-License-Identifier: Apache-2.0 */
/* Merging facts; see merge.h. */
#include "ops/merge.h"

#include "ops/rule.h"
#include "support/arena.h"

#include "support/banned.h"

/* Sequences of optionals of sequences …: nothing is known of what lies deeper. */
#define MAX_NESTING 4

static const char *const kind_names[] = {
    [CM_TYPE_UNKNOWN] = "an unknown value",      [CM_TYPE_TENSOR] = "a tensor",
    [CM_TYPE_SPARSE_TENSOR] = "a sparse tensor", [CM_TYPE_SEQUENCE] = "a sequence",
    [CM_TYPE_OPTIONAL] = "an optional",          [CM_TYPE_MAP] = "a map",
};

static int merge_shapes(struct rule *rule, const struct shape *a, const struct shape *b,
                        struct shape *ret) {
    *ret = shape_unknown();
    if (!shape_has_rank(a) || a->rank != b->rank) return 0;
    if (shape_make(rule->arena, a->rank, a->dims, ret) < 0) return diag_no_memory(rule->diag);
    for (int axis = 0; axis < a->rank; axis++)
        if (a->dims[axis] != b->dims[axis]) ret->dims[axis] = DIM_UNKNOWN;
    return 0;
}

static int merge_tensors(struct rule *rule, const struct fact *a, const struct fact *b,
                         struct fact *ret) {
    struct shape shape;
    bool known = a->dtype != DTYPE_UNDEFINED && b->dtype != DTYPE_UNDEFINED;
    if (known && a->dtype != b->dtype)
        return rule_fail(rule, DIAG_TYPE, "the same value is %s and %s", dtype_name(a->dtype),
                         dtype_name(b->dtype));
    int status = merge_shapes(rule, &a->shape, &b->shape, &shape);
    if (status) return status;
    struct fact merged = fact_tensor(known ? a->dtype : DTYPE_UNDEFINED, shape);
    merged.kind = a->kind;
    *ret = merged;
    return 0;
}

static int merge_at(struct rule *rule, const struct fact *a, const struct fact *b, int nesting,
                    struct fact *ret) {
    bool differ = a->kind != b->kind;
    /* Loop-16 may be handed an optional and hand on what is in it. */
    bool optional = a->kind == CM_TYPE_OPTIONAL || b->kind == CM_TYPE_OPTIONAL;
    bool unknown =
        a->kind == CM_TYPE_UNKNOWN || b->kind == CM_TYPE_UNKNOWN || (differ && optional);
    if (differ && !unknown)
        return rule_fail(rule, DIAG_TYPE, "the same value is %s and %s", kind_names[a->kind],
                         kind_names[b->kind]);
    if (!unknown && (a->kind == CM_TYPE_TENSOR || a->kind == CM_TYPE_SPARSE_TENSOR))
        return merge_tensors(rule, a, b, ret);
    if (unknown || a->kind == CM_TYPE_MAP || nesting >= MAX_NESTING) {
        *ret = fact_unknown();
        return 0;
    }
    struct fact left = merge_element(a), right = merge_element(b), element;
    int status = merge_at(rule, &left, &right, nesting + 1, &element);
    return status ? status : merge_container(rule, a->kind, &element, ret);
}

int merge_facts(struct rule *rule, const struct fact *a, const struct fact *b,
                struct fact *ret) {
    return merge_at(rule, a, b, 0, ret);
}

bool merge_is_same(const struct fact *a, const struct fact *b) {
    for (int nesting = 0; nesting <= MAX_NESTING; nesting++) {
        if (a->kind != b->kind || a->dtype != b->dtype) return false;
        if (!shape_equal(&a->shape, &b->shape)) return false;
        if (!a->element || !b->element) return a->element == b->element;
        a = a->element;
        b = b->element;
    }
    return true;
}

/* Whether the element holds elements of elements as deep as anything is known. */
static bool is_deep(const struct fact *element) {
    int nesting = 0;
    while (element->element && nesting <= MAX_NESTING) {
        element = element->element;
        nesting++;
    }
    return nesting > MAX_NESTING;
}

int merge_container(struct rule *rule, enum cm_type_kind kind, const struct fact *element,
                    struct fact *ret) {
    struct fact content = *element;
    if (is_deep(element)) content.element = NULL;
    content.value = NULL;
    content.is_constant = false;
    content.is_weight = false;
    struct fact container = fact_unknown();
    container.kind = kind;
    container.element = arena_copy(rule->arena, &content, sizeof content);
    if (!container.element) return diag_no_memory(rule->diag);
    *ret = container;
    return 0;
}

struct fact merge_element(const struct fact *container) {
    bool holds = container->kind == CM_TYPE_SEQUENCE || container->kind == CM_TYPE_OPTIONAL;
    return holds && container->element ? *container->element : fact_unknown();
}
