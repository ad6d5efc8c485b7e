/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of two or more operands. MACs 0, FLOPs 0 by the default convention: DeepSpeed's
 * profiler does not count Python operators. Shapes: binary operators broadcast as NumPy does
 * from opset 7 on, and by common_infer_legacy_broadcast before. Variadic operators broadcast
 * from opset 8 on, and require equal shapes before. */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

static bool divides(int64_t a, int64_t b) {
    return b != 0 && !(a == INT64_MIN && b == -1);
}

static bool int_power(int64_t base, int64_t exponent, int64_t *ret) {
    int64_t product = 1;
    if (exponent < 0) return false;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(product, base, &product)) return false;
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return false;
    }
    *ret = product;
    return true;
}

/* Sets *ret to the largest or smallest operand; NaN if any operand is NaN. */
static bool select_extreme(size_t n, const struct number *x, bool largest, struct number *ret) {
    ret->i = x[0].i;
    ret->r = x[0].r;
    for (size_t k = 1; k < n; k++) {
        if (largest ? x[k].i > ret->i : x[k].i < ret->i) ret->i = x[k].i;
        if ((largest ? x[k].r > ret->r : x[k].r < ret->r) || isnan(x[k].r)) ret->r = x[k].r;
    }
    return true;
}

static double real_sum(size_t n, const struct number *x) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += x[k].r;
    return sum;
}

/* clang-format off */
FOLD(add,
     if (!ret->real) return !__builtin_add_overflow(x[0].i, x[1].i, &ret->i);
     ret->r = x[0].r + x[1].r;
     return true;)
FOLD(sub,
     if (!ret->real) return !__builtin_sub_overflow(x[0].i, x[1].i, &ret->i);
     ret->r = x[0].r - x[1].r;
     return true;)
FOLD(mul,
     if (!ret->real) return !__builtin_mul_overflow(x[0].i, x[1].i, &ret->i);
     ret->r = x[0].r * x[1].r;
     return true;)
/* Integer division rounds towards zero, as in C. */
FOLD(div,
     if (ret->real) ret->r = x[0].r / x[1].r;
     if (ret->real || !divides(x[0].i, x[1].i)) return ret->real;
     ret->i = x[0].i / x[1].i;
     return true;)
/* The result has the sign of the dividend if fmod=1 (as in C), of the divisor if fmod=0 (integers only, as in
 * Python). */
FOLD(mod,
     const bool of_divisor = op_attr_int(context, "fmod") == 0;
     if (ret->real) ret->r = fmod(x[0].r, x[1].r);
     if (ret->real) return !of_divisor;
     if (!divides(x[0].i, x[1].i)) return false;
     ret->i = x[0].i % x[1].i;
     if (of_divisor && ret->i != 0 && (ret->i < 0) != (x[1].i < 0)) ret->i += x[1].i;
     return true;)
/* The exponent may have another dtype (Pow-12). */
FOLD(pow,
     if (!ret->real) return !x[1].real && int_power(x[0].i, x[1].i, &ret->i);
     ret->r = pow(x[0].r, x[1].real ? x[1].r : (double)x[1].i);
     return true;)
FOLD(max, return select_extreme(n, x, true, ret);)
FOLD(min, return select_extreme(n, x, false, ret);)
/* Folded for floats only. */
FOLD(sum, ret->r = real_sum(n, x); return ret->real;)
FOLD(mean, ret->r = real_sum(n, x) / (double)n; return ret->real;)
/* clang-format on */

static int infer_legacy(struct op_context *context) {
    return common_infer_legacy_broadcast(context, common_dtype(context, 0));
}

static int infer_pow(struct op_context *context) {
    return common_broadcast_to(context, 2, op_dtype(context, 0));
}

/* Sum, Mean, Max, Min before opset 8: all shapes are equal. */
static int infer_equal_shapes(struct op_context *context) {
    const struct shape *first = op_shape(context, 0);
    int status = common_check_same_type(context, 0);
    for (size_t i = 1; i < context->n_inputs && status == CM_OK; i++) {
        const struct shape *shape = op_shape(context, i);
        if (shape_is_known(first) && shape_is_known(shape) && !shape_equal(first, shape))
            return op_fail(context, DIAG_SHAPE, "input %zu has the shape %s, input 0 %s", i,
                           op_shape_text(context, shape), op_shape_text(context, first));
    }
    return status < 0 ? status : common_infer_same(context);
}

/* clang-format off */
#define BINARY(name, from, infer_fn, folds, form, keeps, ...)                                  \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .fold = folds,            \
        .memory = MEMORY_IN_PLACE, .param_roles = "e", .algebra = form,                        \
        .backward.saved_for_backward = keeps                                                   \
    }
/* Since opset 7 the operands broadcast. */
#define BINARY_1_6_7(name, folds, form, keeps, ...)                                            \
    SINCE2(BINARY, name, 1, 6, infer_legacy, NULL, form, keeps, EXACT(.per_output = 1), __VA_ARGS__), \
    BINARY(name, 7, common_infer_broadcast, folds, form, keeps, EXACT(.per_output = 1), __VA_ARGS__)
#define POW(from, infer_fn, folds)                                                             \
    BINARY(Pow, from, infer_fn, folds, ALGEBRA_POWER, "01,01y", AUTOCAST(FLOAT),               \
           EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_EXP), LOWER_BINARY(CM_POWER),  \
           BOUNDS("d"))
/* Since opset 8 the operands broadcast. */
#define VARIADIC_1_6_8(name, folds, keeps, lower_, function, ...)                              \
    SINCE2(BINARY, name, 1, 6, infer_equal_shapes, NULL, ALGEBRA_NONE, keeps,                  \
           LOWER_ELTWISE(lower_, function, LIMIT_OPERANDS), __VA_ARGS__),                      \
    BINARY(name, 8, common_infer_broadcast, folds, ALGEBRA_NONE, keeps,                        \
           LOWER_ELTWISE(lower_, function, LIMIT_OPERANDS), __VA_ARGS__)

static const struct op rows[] = {
    BINARY_1_6_7(Add, fold_add, ALGEBRA_SUM, "", PTFLOPS(LINEAR_BIAS), PTFLOPS_ATEN(LINEAR_BIAS),
        ONNX_TOOL(.per_output = 1), LOWER_BINARY(CM_ADD), BOUNDS("v")),
    BINARY_1_6_7(Sub, fold_sub, ALGEBRA_DIFFERENCE, "", ONNX_TOOL(.per_output = 1), LOWER_BINARY(CM_SUBTRACT), BOUNDS("vf")),
    BINARY_1_6_7(Mul, fold_mul, ALGEBRA_PRODUCT, "1,0", ONNX_TOOL(.per_output = 1), LOWER_BINARY(CM_MULTIPLY), BOUNDS("p")),
    BINARY_1_6_7(Div, fold_div, ALGEBRA_QUOTIENT, "1,01", ONNX_TOOL(.per_output = TOOL_DIV), LOWER_BINARY(CM_DIVIDE),
        BOUNDS("pd")),
    POW(1, infer_legacy, NULL),
    POW(7, infer_pow, fold_pow),
    BINARY(Mod, 10, common_infer_broadcast, fold_mod, ALGEBRA_NONE, ",01",
        EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_BINARY(CM_MODULO), BOUNDS("d")),
    VARIADIC_1_6_8(Max, fold_max, "a", lower_variadic, CM_MAXIMUM, EXACT(OPERANDS), ONNX_TOOL(.per_output = 1), BOUNDS("v")),
    VARIADIC_1_6_8(Min, fold_min, "a", lower_variadic, CM_MINIMUM, EXACT(OPERANDS), ONNX_TOOL(.per_output = 1), BOUNDS("v")),
    VARIADIC_1_6_8(Sum, fold_sum, "", lower_variadic, CM_ADD, EXACT(OPERANDS), ONNX_TOOL(OPERANDS), BOUNDS("v")),
    VARIADIC_1_6_8(Mean, fold_mean, "", lower_mean, CM_ADD,
        EXACT(PLUS(exact_mean, "operations: one per operand and output element")), BOUNDS("d")),
};
/* clang-format on */

OP_FAMILY(arithmetic, .declines = FACETS_RARE);
