/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary elementwise functions. MACs 0, FLOPs 0 by the default convention. Activations that are
 * framework modules are in activation.c.
 */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* Returns x rounded, halves to the even neighbour, in any rounding mode of the process. */
static double round_even(double x) {
    double down = floor(x);
    double rest = x - down;
    bool up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    return up ? down + 1 : down;
}

/* clang-format off */
FOLD(abs,
     if (x->i == INT64_MIN) return false;
     ret->i = x->i < 0 ? -x->i : x->i;
     ret->r = fabs(x->r);
     return true;)
FOLD(neg, ret->r = -x->r; return !__builtin_sub_overflow(INT64_C(0), x->i, &ret->i);)
FOLD(sign,
     ret->i = (x->i > 0) - (x->i < 0);
     ret->r = (x->r > 0) - (x->r < 0);
     return !isnan(x->r);)
FOLD(floor, ret->r = floor(x->r); return ret->real;)
FOLD(ceil, ret->r = ceil(x->r); return ret->real;)
FOLD(round, ret->r = round_even(x->r); return ret->real;)
FOLD(sqrt, ret->r = sqrt(x->r); return ret->real;)
FOLD(reciprocal, ret->r = 1 / x->r; return ret->real;)

/* An elementary function. `tool`: instructions by onnx-tool. */
#define ELEMENTARY(name, tool, function, letters, type)                                        \
    FACETS(ONNX, name) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = tool), LOWER_UNARY(function), \
                        BOUNDS(letters), AUTOCAST(type)}
/* An elementary function that onnx-tool does not count. */
#define UNLISTED(name, function, type)                                                         \
    FACETS(ONNX, name) {EXACT(.per_output = 1), LOWER_UNARY(function), BOUNDS("d"), AUTOCAST(type)}

ELEMENTARY(Abs,        1,             CM_ABS,        "p", BY_MACS);
ELEMENTARY(Neg,        1,             CM_NEGATE,     "f", BY_MACS);
ELEMENTARY(Sign,       1,             CM_SIGN,       "v", BY_MACS);
ELEMENTARY(Floor,      1,             CM_FLOOR,      "v", BY_MACS);
ELEMENTARY(Ceil,       1,             CM_CEIL,       "v", BY_MACS);
ELEMENTARY(Round,      1,             CM_ROUND,      "v", BY_MACS);
ELEMENTARY(Sqrt,       TOOL_SQRT,     CM_SQRT,       "v", BY_MACS);
ELEMENTARY(Reciprocal, TOOL_DIV,      CM_RECIPROCAL, "d", FLOAT);
ELEMENTARY(Exp,        TOOL_EXP,      CM_EXP,        "d", FLOAT);
ELEMENTARY(Log,        TOOL_LOG,      CM_LOG,        "d", FLOAT);
ELEMENTARY(Sin,        TOOL_SIN,      CM_SIN,        "d", BY_MACS);
ELEMENTARY(Cos,        TOOL_SIN,      CM_COS,        "d", BY_MACS);
ELEMENTARY(Atan,       2 * TOOL_ATAN, CM_ATAN,       "d", BY_MACS);
UNLISTED(Erf, CM_ERF, BY_MACS);
UNLISTED(Tan, CM_TAN, FLOAT);
UNLISTED(Asin, CM_ASIN, FLOAT);
UNLISTED(Acos, CM_ACOS, FLOAT);
UNLISTED(Sinh, CM_SINH, FLOAT);
UNLISTED(Cosh, CM_COSH, FLOAT);
UNLISTED(Asinh, CM_ASINH, BY_MACS);
UNLISTED(Acosh, CM_ACOSH, BY_MACS);
UNLISTED(Atanh, CM_ATANH, BY_MACS);

#define UNARY(name, from, folds, keeps) FORM(name, from, folds, ALGEBRA_NONE, keeps)
#define FORM(name, from, folds, form, keeps)                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = common_infer_same, .fold = folds,                \
        .memory = MEMORY_IN_PLACE, .param_roles = "x", .algebra = form,                        \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    SINCE2(UNARY, Abs, 1, 6, fold_abs, "0"),
    SINCE2(FORM, Neg, 1, 6, fold_neg, ALGEBRA_NEGATIVE, ""),
    UNARY(Sign, 9,             fold_sign,  "-"),
    SINCE2(UNARY, Floor, 1, 6, fold_floor, "-"),
    SINCE2(UNARY, Ceil, 1, 6,  fold_ceil,  "-"),
    UNARY(Round, 11,           fold_round, "-"),
    SINCE2(FORM, Sqrt, 1, 6,       fold_sqrt,       ALGEBRA_ROOT,       "y"),
    SINCE2(FORM, Reciprocal, 1, 6, fold_reciprocal, ALGEBRA_RECIPROCAL, "y"),
    SINCE2(UNARY, Exp, 1, 6, NULL, "y"),
    SINCE2(UNARY, Log, 1, 6, NULL, "0"),
    UNARY(Erf, 9,            NULL, "0"),
    UNARY(Sin, 7,            NULL, "0"),
    UNARY(Cos, 7,            NULL, "0"),
    UNARY(Tan, 7,            NULL, "y"),
    UNARY(Asin, 7,           NULL, "0"),
    UNARY(Acos, 7,           NULL, "0"),
    UNARY(Atan, 7,           NULL, "0"),
    UNARY(Sinh, 9,           NULL, "0"),
    UNARY(Cosh, 9,           NULL, "0"),
    UNARY(Asinh, 9,          NULL, "0"),
    UNARY(Acosh, 9,          NULL, "0"),
    UNARY(Atanh, 9,          NULL, "0"),
};
/* clang-format on */

OP_FAMILY(elementwise, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_QDQ);
