/* SPDX-License-Identifier: Apache-2.0 */
/* Cast, CastLike, BitCast: the same shape with another dtype. */
#include <string.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

static int read_target(const struct op_context *context, enum dtype *ret) {
    const char *name = op_attr_string(context, "to"); /* Cast-1: "FLOAT" */
    const size_t n = strlen(name);
    char lower[24];
    *ret = dtype_from_onnx(op_attr_int(context, "to"));
    if (n > 0 && n < sizeof lower) {
        for (size_t i = 0; i <= n; i++)
            lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
        *ret = dtype_from_name(lower);
    }
    if (*ret != DTYPE_UNDEFINED) return 0;
    return op_fail(context, DIAG_ATTRIBUTE, "attribute 'to' names no element type");
}

static int infer_cast(struct op_context *context) {
    enum dtype to = DTYPE_UNDEFINED;
    int status = read_target(context, &to);
    return status ? status : common_infer_same_shape(context, to);
}

static int infer_cast_like(struct op_context *context) {
    return common_infer_same_shape(context, op_dtype(context, 1));
}

static int infer_bit_cast(struct op_context *context) {
    enum dtype from = op_dtype(context, 0);
    enum dtype to = DTYPE_UNDEFINED;
    int status = read_target(context, &to);
    if (status) return status;
    if (from != DTYPE_UNDEFINED && dtype_bits(from) != dtype_bits(to))
        return op_fail(context, DIAG_TYPE, "cannot see %d bits of %s as %d bits of %s",
                       dtype_bits(from), dtype_name(from), dtype_bits(to), dtype_name(to));
    return common_infer_same_shape(context, to);
}

/* Cast-13 drops the high bits of integers that do not fit (two's complement). */
static int64_t wrap_int(enum dtype to, int64_t value) {
    struct number number = {.i = value};
    int bits = dtype_bits(to);
    if (bits >= 64 || fold_store(to, &number)) return value;
    int64_t mask = (INT64_C(1) << bits) - 1;
    number.i = value & mask;
    return fold_store(to, &number) ? number.i : number.i - mask - 1;
}

/* Truncates floats to integers. Returns false for values out of range: undefined in ONNX. */
static bool cast_number(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    enum dtype to = context->outputs[0].dtype;
    (void)n;
    if (ret->real)
        ret->r = x->real ? x->r : (double)x->i;
    else if (to == DTYPE_BOOL)
        ret->i = x->real ? x->r != 0 : x->i != 0;
    else if (!x->real)
        ret->i = wrap_int(to, x->i);
    else if (x->r > -0x1p63 && x->r < 0x1p63)
        ret->i = (int64_t)x->r;
    else
        return false;
    return true;
}

/* CastLike uses only the dtype of its second operand, whose contents may be unknown. */
static int fold_cast(struct op_context *context) {
    struct op_context alone = *context;
    const struct constant *from = NULL;
    int status = op_value(context, 0, &from);
    if (status || !from) return status;
    if (from->dtype == context->outputs[0].dtype) return remap_same(context, 0, from);
    alone.n_inputs = 1;
    return fold_elements(&alone, cast_number);
}

/* A cast to the same dtype is a view. */
static enum op_view view_cast(const struct op_context *context) {
    bool same = context->n_outputs > 0 && op_dtype(context, 0) == context->outputs[0].dtype;
    return same ? VIEW_SAME : VIEW_NONE;
}

/* clang-format off */
#define CAST(name, from, infer_fn, partial, letters, keeps, monotone)                          \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, AUTOCAST(FILE), LOWER_UNARY(CM_CAST), BOUNDS(monotone),    \
                  MOVES(scale_unchanged)),                                                     \
        .infer = infer_fn, .fold = fold_cast, .fold_partial = partial,                         \
        .memory = MEMORY_IN_PLACE, .param_roles = letters, .algebra = ALGEBRA_IDENTITY,        \
        .backward.saved_for_backward = keeps, .backward.view = view_cast                       \
    }

static const struct op rows[] = {
    SINCE4(CAST, Cast, 1, 6, 19, 24,   infer_cast,      false, "p",  "",   "v"),
    SINCE3(CAST, CastLike, 15, 19, 24, infer_cast_like, true,  "pi", ",-", "vd"),
    {SIGNATURE(ONNX, BitCast, 26, LOWER(lower_copy, CM_COPY, COPY_STRIDED, IMAGES_FOLLOW, NULL), NO_BOUNDS),
     .infer = infer_bit_cast, .memory = MEMORY_IN_PLACE, .param_roles = "p",
     .backward.saved_for_backward = "-", .backward.view = view_cast},
};
/* clang-format on */

OP_FAMILY(cast, .why_free = "changes the type", .declines = FACETS_RARE | FACET_EXACT);
