/* SPDX-License-Identifier: Apache-2.0 */
/* See shape.h. */
#include "ir/shape.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/status.h"
#include "support/arena.h"
#include "support/text.h"

struct shape shape_unknown(void) {
    return (struct shape){RANK_UNKNOWN, NULL};
}

int shape_make(struct arena *arena, int rank, const int64_t *dims, struct shape *ret) {
    if (rank > SHAPE_MAX_RANK) return CM_REFUSED;
    if (rank < 0) {
        *ret = shape_unknown();
        return CM_OK;
    }
    int64_t *copy = arena_array_raw(arena, (size_t)rank, sizeof *copy);
    if (copy == NULL) return CM_NO_MEMORY;
    for (int i = 0; dims == NULL && i < rank; i++) copy[i] = DIM_UNKNOWN;
    if (dims != NULL) memcpy(copy, dims, (size_t)rank * sizeof *copy);
    *ret = (struct shape){rank, copy};
    return CM_OK;
}

bool shape_is_known(const struct shape *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (!is_known(shape->dims[i])) return false;
    return shape_has_rank(shape);
}

bool shape_axis(int64_t axis, int rank, int *ret) {
    if (axis < -rank || axis >= rank) return false;
    *ret = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool shape_equal_but_units(const struct shape *a, const struct shape *b) {
    for (int i = 0, k = 0;; i++, k++) {
        while (i < a->rank && a->dims[i] == 1) i++;
        while (k < b->rank && b->dims[k] == 1) k++;
        if (i >= a->rank || k >= b->rank) return i >= a->rank && k >= b->rank;
        if (a->dims[i] != b->dims[k]) return false;
    }
}

bool shape_equal(const struct shape *a, const struct shape *b) {
    if (a->rank != b->rank) return false;
    if (a->dims == b->dims) return true;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return true;
}

/* A dim of 0 makes the product 0 even if the other dims overflow. */
static int64_t product_of_any(const struct shape *shape, int from, int to) {
    int64_t product = 1;
    for (int i = from; i < to; i++) {
        if (shape->dims[i] == 0) return 0;
        product = checked_mul(product, shape->dims[i]);
    }
    return product;
}

/* Has a fast path, because nearly all sizes are products of small positive dims. */
int64_t shape_product(const struct shape *shape, int from, int to) {
    int64_t product = 1;
    for (int i = from; i < to; i++) {
        const int64_t dim = shape->dims[i];
        if (dim <= 0 || __builtin_mul_overflow(product, dim, &product))
            return product_of_any(shape, from, to);
    }
    return product;
}

void shape_print_dim(int64_t dim, struct text *out) {
    if (is_known(dim))
        text_printf(out, "%" PRId64, dim);
    else
        text_append(out, is_overflow(dim) ? ">= 2^63" : "?");
}

const char *shape_dim_text(struct arena *arena, int64_t dim) {
    struct text text;
    text_init(&text, arena);
    shape_print_dim(dim, &text);
    return text.failed ? "?" : text_string(&text);
}

void shape_print(const struct shape *shape, struct text *out) {
    if (!shape_has_rank(shape)) {
        text_append(out, "[?...]");
        return;
    }
    text_append(out, "[");
    for (int i = 0; i < shape->rank; i++) {
        if (i > 0) text_append(out, ",");
        shape_print_dim(shape->dims[i], out);
    }
    text_append(out, "]");
}

const char *shape_text(struct arena *arena, const struct shape *shape) {
    struct text text;
    text_init(&text, arena);
    shape_print(shape, &text);
    return text.failed ? "?" : text_string(&text);
}
