/* SPDX-License-Identifier: Apache-2.0 */
/* See value_info.h. */
#include "ir/value_info.h"

#include "costmodel/status.h"
#include "ir/graph.h"
#include "support/arena.h"

/* Maximum nesting of sequences and optionals; deeper element types are dropped. */
#define MAX_NESTING 4

bool value_info_is_static(const struct value_info *info) {
    while (info->element) info = info->element;
    bool tensor = info->kind == CM_TYPE_TENSOR || info->kind == CM_TYPE_SPARSE_TENSOR;
    return tensor && shape_is_known(&info->shape);
}

int value_info_of_type(struct arena *arena, const struct type *type, struct value_info *ret) {
    struct value_info levels[MAX_NESTING + 1];
    int n = 0;
    for (; type && n <= MAX_NESTING; type = type->element) {
        const bool is_tensor =
            type->kind == CM_TYPE_TENSOR || type->kind == CM_TYPE_SPARSE_TENSOR;
        levels[n++] = (struct value_info){.kind = type->kind,
                                          .dtype = type->dtype,
                                          .shape = is_tensor ? type->shape : shape_unknown()};
    }
    while (--n > 0) {
        levels[n - 1].element = arena_copy(arena, &levels[n], sizeof levels[n]);
        if (!levels[n - 1].element) return CM_NO_MEMORY;
    }
    *ret = levels[0];
    return CM_OK;
}
