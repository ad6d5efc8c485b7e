/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as plain values: made, compared, multiplied out, printed. */
#include "ir/shape.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

struct shape shape_unknown(void) {
    return (struct shape){RANK_UNKNOWN, NULL};
}

int shape_make(struct arena *arena, int rank, const int64_t *dims, struct shape *ret) {
    if (rank > SHAPE_MAX_RANK) return CM_REFUSED;
    if (rank < 0) {
        *ret = shape_unknown();
        return CM_OK;
    }
    int64_t *copy = arena_array(arena, (size_t)rank, sizeof *copy);
    if (copy == NULL) return CM_NO_MEMORY;
    for (int i = 0; i < rank; i++) copy[i] = dims == NULL ? DIM_UNKNOWN : dims[i];
    *ret = (struct shape){rank, copy};
    return CM_OK;
}

bool shape_has_rank(const struct shape *shape) {
    return shape->rank != RANK_UNKNOWN;
}

bool shape_is_known(const struct shape *shape) {
    for (int i = 0; i < shape->rank; i++) {
        if (!is_known(shape->dims[i])) return false;
    }
    return shape_has_rank(shape);
}

bool shape_equal(const struct shape *a, const struct shape *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return false;
    }
    return true;
}

int64_t shape_elements(const struct shape *shape) {
    return shape_has_rank(shape) ? shape_product(shape, 0, shape->rank) : DIM_UNKNOWN;
}

/* An empty axis empties the tensor, even where the others would overflow on the way. */
int64_t shape_product(const struct shape *shape, int from, int to) {
    int64_t product = 1;
    for (int i = from; i < to; i++) {
        if (shape->dims[i] == 0) return 0;
        product = checked_mul(product, shape->dims[i]);
    }
    return product;
}

void shape_print(const struct shape *shape, struct text *out) {
    if (!shape_has_rank(shape)) {
        text_append(out, "[?...]");
        return;
    }
    text_append(out, "[");
    for (int i = 0; i < shape->rank; i++) {
        if (i > 0) text_append(out, ",");
        if (is_known(shape->dims[i])) {
            text_printf(out, "%" PRId64, shape->dims[i]);
        } else {
            text_append(out, "?");
        }
    }
    text_append(out, "]");
}
