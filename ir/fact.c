/* SPDX-License-Identifier: Apache-2.0 */
/* What a declared type says of a value: see fact.h. */
#include "ir/fact.h"

#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "support/arena.h"

#include "support/banned.h"

/* Sequences of optionals of sequences …: nothing is kept of what lies deeper. */
#define MAX_NESTING 4

static struct fact outermost(const struct type *type) {
    struct fact fact = fact_unknown();
    fact.kind = type->kind;
    fact.dtype = type->dtype;
    if (type->kind == CM_TYPE_TENSOR || type->kind == CM_TYPE_SPARSE_TENSOR)
        fact.shape = type->shape;
    return fact;
}

bool fact_is_settled(const struct fact *fact) {
    while (fact->element) fact = fact->element;
    bool tensor = fact->kind == CM_TYPE_TENSOR || fact->kind == CM_TYPE_SPARSE_TENSOR;
    return tensor && shape_is_known(&fact->shape);
}

int fact_of_type(struct arena *arena, const struct type *type, struct fact *ret) {
    struct fact facts[MAX_NESTING + 1];
    int n = 0;
    for (; type && n <= MAX_NESTING; type = type->element) facts[n++] = outermost(type);
    while (--n > 0) {
        facts[n - 1].element = arena_copy(arena, &facts[n], sizeof facts[n]);
        if (!facts[n - 1].element) return CM_NO_MEMORY;
    }
    *ret = facts[0];
    return CM_OK;
}
