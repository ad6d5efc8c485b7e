/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operand, one result for each element: mathematics. MACs 0, FLOPs 0 by the default
 * convention. Activations that a framework has a module for stand in activation.c.
 */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/families.h"
#include "ops/fold.h"
#include "ops/signatures.gen.h"

#include "support/banned.h"

static bool number_abs(const struct op_context *context, size_t n, const struct number *x,
                       struct number *ret) {
    (void)context, (void)n;
    ret->r = fabs(x[0].r);
    if (x[0].i == INT64_MIN) return false;
    ret->i = x[0].i < 0 ? -x[0].i : x[0].i;
    return true;
}

static bool number_neg(const struct op_context *context, size_t n, const struct number *x,
                       struct number *ret) {
    (void)context, (void)n;
    ret->r = -x[0].r;
    return !__builtin_sub_overflow(INT64_C(0), x[0].i, &ret->i);
}

static bool number_sign(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->i = (x[0].i > 0) - (x[0].i < 0);
    ret->r = (x[0].r > 0) - (x[0].r < 0);
    return !isnan(x[0].r);
}

static bool number_floor(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret) {
    (void)context, (void)n;
    ret->r = floor(x[0].r);
    return ret->real;
}

static bool number_ceil(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->r = ceil(x[0].r);
    return ret->real;
}

/* Halves to the even neighbour, whatever the rounding mode of the process. */
static bool number_round(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret) {
    (void)context, (void)n;
    double down = floor(x[0].r);
    double rest = x[0].r - down;
    bool up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    ret->r = up ? down + 1 : down;
    return ret->real;
}

static bool number_sqrt(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->r = sqrt(x[0].r);
    return ret->real;
}

static bool number_reciprocal(const struct op_context *context, size_t n,
                              const struct number *x, struct number *ret) {
    (void)context, (void)n;
    ret->r = 1 / x[0].r;
    return ret->real;
}

#define FOLD(name)                                                                             \
    static int fold_##name(struct op_context *context) {                                       \
        return fold_elements(context, number_##name);                                          \
    }
FOLD(abs)
FOLD(neg)
FOLD(sign)
FOLD(floor)
FOLD(ceil)
FOLD(round)
FOLD(sqrt)
FOLD(reciprocal)
#undef FOLD

/* clang-format off */
#define UNARY(name, from, folds, keeps) FORM(name, from, folds, ALGEBRA_NONE, keeps)
#define FORM(name, from, folds, form, keeps)                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = common_infer_same, .fold = folds,                \
        .memory = MEMORY_IN_PLACE, .param_roles = "x", .algebra = form,                        \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    /*    type since fold      saved for backward */
    UNARY(Abs,    1, fold_abs, "0"),
    UNARY(Abs,    6, fold_abs, "0"),
    /*   type since fold      algebra           saved for backward */
    FORM(Neg,    1, fold_neg, ALGEBRA_NEGATIVE, ""),
    FORM(Neg,    6, fold_neg, ALGEBRA_NEGATIVE, ""),
    UNARY(Sign,   9, fold_sign,  "-"),
    UNARY(Floor,  1, fold_floor, "-"),
    UNARY(Floor,  6, fold_floor, "-"),
    UNARY(Ceil,   1, fold_ceil,  "-"),
    UNARY(Ceil,   6, fold_ceil,  "-"),
    UNARY(Round, 11, fold_round, "-"),
    FORM(Sqrt,       1, fold_sqrt,       ALGEBRA_ROOT,       "y"),
    FORM(Sqrt,       6, fold_sqrt,       ALGEBRA_ROOT,       "y"),
    FORM(Reciprocal, 1, fold_reciprocal, ALGEBRA_RECIPROCAL, "y"),
    FORM(Reciprocal, 6, fold_reciprocal, ALGEBRA_RECIPROCAL, "y"),
    UNARY(Exp,   1, NULL, "y"),
    UNARY(Exp,   6, NULL, "y"),
    UNARY(Log,   1, NULL, "0"),
    UNARY(Log,   6, NULL, "0"),
    UNARY(Erf,   9, NULL, "0"),
    UNARY(Sin,   7, NULL, "0"),
    UNARY(Cos,   7, NULL, "0"),
    UNARY(Tan,   7, NULL, "y"),
    UNARY(Asin,  7, NULL, "0"),
    UNARY(Acos,  7, NULL, "0"),
    UNARY(Atan,  7, NULL, "0"),
    UNARY(Sinh,  9, NULL, "0"),
    UNARY(Cosh,  9, NULL, "0"),
    UNARY(Asinh, 9, NULL, "0"),
    UNARY(Acosh, 9, NULL, "0"),
    UNARY(Atanh, 9, NULL, "0"),
};
/* clang-format on */

const struct op_family family_elementwise = {"elementwise", rows,
                                             sizeof(rows) / sizeof(rows[0]), NULL};
