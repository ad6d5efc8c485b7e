/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, logical and bitwise operators, Where. MACs 0, FLOPs 0. Constant operands are
 * masks or bounds, not learned parameters. */
#include <math.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/text.h"

/* Bounds a Where with unknown condition by its operands 1 and 2: the larger is an upper bound,
 * the smaller a lower bound. */
static bool number_where_bound(const struct op_context *context, size_t n,
                               const struct number *x, struct number *ret) {
    (void)n;
    const bool first = x[1].real ? x[1].r > x[2].r : x[1].i > x[2].i;
    *ret = first == (context->bound == OP_UPPER_BOUND) ? x[1] : x[2];
    return true;
}

static bool number_where(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret) {
    (void)context, (void)n;
    ret->i = x[0].i ? x[1].i : x[2].i;
    ret->r = x[0].i ? x[1].r : x[2].r;
    return true;
}

/* clang-format off */
FOLD(equal, ret->i = x->real ? x[0].r == x[1].r : x[0].i == x[1].i; return true;)
FOLD(less, ret->i = x->real ? x[0].r < x[1].r : x[0].i < x[1].i; return true;)
FOLD(less_equal, ret->i = x->real ? x[0].r <= x[1].r : x[0].i <= x[1].i; return true;)
FOLD(greater, ret->i = x->real ? x[0].r > x[1].r : x[0].i > x[1].i; return true;)
FOLD(greater_equal, ret->i = x->real ? x[0].r >= x[1].r : x[0].i >= x[1].i; return true;)
FOLD(not, ret->i = !x->i; return true;)
FOLD(and, ret->i = x[0].i && x[1].i; return true;)
FOLD(or, ret->i = x[0].i || x[1].i; return true;)
FOLD(xor, ret->i = !x[0].i != !x[1].i; return true;)
FOLD(is_nan, ret->i = isnan(x->r) != 0; return true;)
/* clang-format on */

static int fold_where(struct op_context *context) {
    const struct value_info *const choices[] = {NULL, op_input(context, 1),
                                                op_input(context, 2)};
    struct op_context either = *context;
    if (!op_input(context, 1)->value || !op_input(context, 2)->value) return CM_OK;
    if (op_input(context, 0)->value) return fold_elements(context, number_where);
    either.inputs = choices;
    return context->bound == OP_EXACT ? CM_OK : fold_elements(&either, number_where_bound);
}

static int infer_compare(struct op_context *context) {
    return common_broadcast_to(context, 0, DTYPE_BOOL);
}

static int infer_compare_legacy(struct op_context *context) {
    return common_infer_legacy_broadcast(context, DTYPE_BOOL);
}

static int check_bool(const struct op_context *context, size_t i) {
    enum dtype dtype = op_dtype(context, i);
    if (dtype == DTYPE_UNDEFINED || dtype == DTYPE_BOOL) return CM_OK;
    return op_fail(context, DIAG_TYPE, "input %zu must be of type bool, got %s", i,
                   dtype_name(dtype));
}

static int infer_not(struct op_context *context) {
    int status = check_bool(context, 0);
    return status < 0 ? status : common_infer_bool(context);
}

static int infer_where(struct op_context *context) {
    int status = check_bool(context, 0);
    return status < 0 ? status : common_broadcast_to(context, 1, common_dtype(context, 1));
}

static int infer_bit_shift(struct op_context *context) {
    const char *direction = op_attr_string(context, "direction");
    if (!text_equal(direction, "LEFT") && !text_equal(direction, "RIGHT"))
        return op_fail(context, DIAG_ATTRIBUTE, "direction is neither LEFT nor RIGHT");
    return common_infer_broadcast(context);
}

/* clang-format off */
#define LOGIC(name, from, infer_fn, folds, ...)                                                \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS("d"), __VA_ARGS__), .infer = infer_fn,              \
        .fold = folds, .memory = MEMORY_IN_PLACE, .param_roles = "m",                          \
        .backward.saved_for_backward = "-"                                                     \
    }
/* Since opset 7 the operands broadcast. */
#define LOGIC_1_7(name, folds, ...)                                                            \
    LOGIC(name, 1, infer_compare_legacy, NULL, __VA_ARGS__),                                   \
    LOGIC(name, 7, infer_compare, folds, __VA_ARGS__)
#define BINARY(function) LOWER_BINARY(function), ONNX_TOOL(.per_output = 1)

static const struct op rows[] = {
    LOGIC_1_7(Equal, fold_equal, BINARY(CM_COMPARE)),
    LOGIC_1_7(Less, fold_less, BINARY(CM_COMPARE)),
    LOGIC(LessOrEqual, 12, infer_compare, fold_less_equal, BINARY(CM_COMPARE)),
    LOGIC_1_7(Greater, fold_greater, BINARY(CM_COMPARE)),
    LOGIC(GreaterOrEqual, 12, infer_compare, fold_greater_equal, BINARY(CM_COMPARE)),
    LOGIC_1_7(And, fold_and, BINARY(CM_LOGIC)),
    LOGIC_1_7(Or, fold_or, BINARY(CM_LOGIC)),
    LOGIC_1_7(Xor, fold_xor, BINARY(CM_LOGIC)),
    LOGIC(Not, 1, infer_not, fold_not, LOWER_UNARY(CM_NOT), ONNX_TOOL(.per_output = 1)),
    LOGIC(IsNaN, 9,  common_infer_bool, fold_is_nan, LOWER_ELTWISE(lower_unary, CM_COMPARE, NULL)),
    LOGIC(IsInf, 10, common_infer_bool, NULL,        LOWER_ELTWISE(lower_is_inf, CM_COMPARE, NULL)),
    {SIGNATURE(ONNX, Where, 9, BOUNDS("dvv"), LOWER_ELTWISE(lower_select, CM_SELECT, NULL)), .infer = infer_where,
     .fold = fold_where, .fold_partial = true, .memory = MEMORY_IN_PLACE, .param_roles = "m",
     .backward.saved_for_backward = "-,0,0"},
    LOGIC(BitShift,   11, infer_bit_shift,        NULL, LOWER_BINARY(CM_LOGIC)),
    LOGIC(BitwiseAnd, 18, common_infer_broadcast, NULL, LOWER_BINARY(CM_LOGIC)),
    LOGIC(BitwiseOr,  18, common_infer_broadcast, NULL, LOWER_BINARY(CM_LOGIC)),
    LOGIC(BitwiseXor, 18, common_infer_broadcast, NULL, LOWER_BINARY(CM_LOGIC)),
    LOGIC(BitwiseNot, 18, common_infer_same,      NULL, LOWER_UNARY(CM_NOT)),
};
/* clang-format on */

OP_FAMILY(logic, .why_free = "logic, bits and comparisons",
          .declines = FACETS_RARE | FACET_EXACT);
