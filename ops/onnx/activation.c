/* SPDX-License-Identifier: Apache-2.0 */
/* Activations and Dropout: elementwise operators, most of which are modules in a framework.
 * MACs 0. FLOPs by the default convention: 1 per input element for Relu, LeakyRelu, PRelu, Elu,
 * Gelu, Swish, SwiGLU; 0 for the others (Clip, Sigmoid …), which DeepSpeed's profiler does not
 * count. */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* clang-format off */
FOLD(relu,
     ret->i = x->i > 0 ? x->i : 0;
     ret->r = x->r > 0 ? x->r : 0;
     return !isnan(x->r);)
/* Clip-11: bounds from inputs 1 and 2. */
FOLD(clip,
     const bool low = n > 1 && x[1].given;
     const bool high = n > 2 && x[2].given;
     ret->i = low && x[0].i < x[1].i ? x[1].i : x[0].i;
     ret->r = low && x[0].r < x[1].r ? x[1].r : x[0].r;
     if (high && ret->i > x[2].i) ret->i = x[2].i;
     if (high && ret->r > x[2].r) ret->r = x[2].r;
     return true;)
/* clang-format on */

static int infer_clip(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    for (size_t i = 1; i < context->n_inputs && status == CM_OK; i++)
        if (op_elements(context, i) > 1)
            return op_fail(context, DIAG_SHAPE, "input %zu must be a scalar, got %s", i,
                           op_shape_text(context, op_shape(context, i)));
    return status < 0 ? status : common_infer_same(context);
}

static int infer_prelu(struct op_context *context) {
    int status = common_check_broadcasts(context, "slope");
    return status < 0 ? status : common_infer_same(context);
}

/* Before opset 7: one slope, or one per channel. */
static int infer_prelu_legacy(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const int64_t n = op_elements(context, 1);
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    if (n != 1 && x->rank > 1 && common_differ(n, x->dims[1]))
        return op_fail(context, DIAG_SHAPE, "%lld slopes for %lld channels", (long long)n,
                       (long long)x->dims[1]);
    return common_infer_same(context);
}

/* Gate and value must have the same shape: no broadcasting. */
static int infer_gated(struct op_context *context) {
    const struct shape *gate = op_shape(context, 0);
    const struct shape *value = op_shape(context, 1);
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    if (shape_is_known(gate) && shape_is_known(value) && !shape_equal(gate, value))
        return op_fail(context, DIAG_SHAPE, "the gate has the shape %s, the value %s",
                       op_shape_text(context, gate), op_shape_text(context, value));
    return op_output(context, 0, common_dtype(context, 0), shape_has_rank(gate) ? gate : value);
}

static int describe_prelu(const struct op_context *context, struct text *out) {
    text_append(out, "num_parameters=");
    describe_int(out, op_elements(context, 1));
    return CM_OK;
}

/* Before opset 10 the mask has the dtype of the data. */
static int infer_dropout(struct op_context *context) {
    enum dtype mask = context->op->since < 10 ? op_dtype(context, 0) : DTYPE_BOOL;
    int status = common_infer_same(context);
    return status < 0 ? status : op_output(context, 1, mask, op_shape(context, 0));
}

/* Returns true in training mode: before opset 7 if is_test is 0; in opsets 7 to 11 if the mask
 * is an output; later if input 2 is a constant and true. */
static bool dropout_trains(const struct op_context *context) {
    if (context->op->since < 7) return op_attr_int(context, "is_test") == 0;
    if (context->op->since < 12) return op_has_output(context, 1);
    const struct constant *mode = common_contents(context, 2);
    return mode && constant_has_ints(mode) && mode->n_elements > 0 &&
           constant_int_at(mode, 0) != 0;
}

static double dropout_ratio(const struct op_context *context) {
    if (context->op->since < 12) return op_attr_float(context, "ratio");
    const struct constant *value = common_contents(context, 1);
    const bool readable = value && constant_has_reals(value) && value->n_elements > 0;
    return readable ? constant_real_at(value, 0) : 0.5;
}

/* A framework returns the input if no elements are dropped. */
static enum op_view dropout_view(const struct op_context *context) {
    return context->training && dropout_ratio(context) > 0 ? VIEW_NONE : VIEW_SAME;
}

/* Returns the bytes of the mask: one per element if elements are dropped. */
static int64_t dropout_mask(const struct op_context *context) {
    return dropout_view(context) == VIEW_NONE ? op_elements(context, 0) : 0;
}

static int fold_dropout(struct op_context *context) {
    const struct constant *value = NULL;
    if (context->training) return CM_OK;
    int status = op_value(context, 0, &value);
    return status < 0 || !value ? status : op_set_value(context, 0, value);
}

static int describe_dropout(const struct op_context *context, struct text *out) {
    text_append(out, "p=");
    describe_real(out, dropout_ratio(context));
    text_append(out, ", inplace=False");
    return CM_OK;
}

static int describe_slope(const struct op_context *context, struct text *out) {
    return describe_float_attr(context, "negative_slope", "alpha", out);
}

static int describe_alpha(const struct op_context *context, struct text *out) {
    return describe_float_attr(context, "alpha", "alpha", out);
}

static int describe_gelu(const struct op_context *context, struct text *out) {
    text_append(out, "approximate='");
    text_append_name(out, op_attr_string(context, "approximate"));
    text_append(out, "'");
    return CM_OK;
}

static int describe_softplus(const struct op_context *context, struct text *out) {
    (void)context;
    text_append(out, "beta=1.0, threshold=20.0");
    return CM_OK;
}

/* clang-format off */
#define ACTIVATION(name, from, class, print, folds, keeps, ...)                                \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS("d"), __VA_ARGS__), .fold = folds,                  \
        .infer = common_infer_same, .memory = MEMORY_IN_PLACE, .param_roles = "x",             \
        .module = class, .describe = print, .backward.saved_for_backward = keeps               \
    }
#define CLIP(from, ...)                                                                        \
    {                                                                                          \
        SIGNATURE(ONNX, Clip, from, EXACT(.per_output = 2), ONNX_TOOL(.per_output = 2),        \
                  PTFLOPS(.per_input = 1), /* as ReLU6 */                                      \
                  LOWER_ELTWISE(lower_clip, CM_CLIP, NULL), BOUNDS("v")),                      \
        .infer = infer_clip, .memory = MEMORY_IN_PLACE, .param_roles = "xii",                  \
        .backward.saved_for_backward = "0,-", __VA_ARGS__                                      \
    }
#define PRELU(from, infer_fn)                                                                  \
    {                                                                                          \
        SIGNATURE(ONNX, PRelu, from, DEEPSPEED(.per_input = 1), AUTOCAST(HALF),                \
                  EXACT(.per_output = 2), PTFLOPS(.per_input = 1), THOP(.per_input = 1),       \
                  ONNX_TOOL(.per_output = 2), LOWER_BINARY(CM_PRELU), BOUNDS("d")),            \
        .infer = infer_fn, .memory = MEMORY_IN_PLACE, .param_roles = "xW", .module = "PReLU",  \
        .describe = describe_prelu, .backward.saved_for_backward = "01"                        \
    }
#define DROPOUT(from)                                                                          \
    {                                                                                          \
        SIGNATURE(ONNX, Dropout, from, BOUNDS("d"), MOVES(scale_unchanged),                    \
                  LOWER_ELTWISE(lower_dropout, CM_MULTIPLY, NULL)),                            \
        .infer = infer_dropout, .fold = fold_dropout, .trains = dropout_trains,                \
        .memory = MEMORY_VIEW_UNLESS_TRAINING, .algebra = ALGEBRA_IDENTITY,                    \
        .param_roles = "pii", .module = "Dropout", .describe = describe_dropout,               \
        .backward.saved_for_backward = "e,-", .backward.extra = dropout_mask,                  \
        .backward.view = dropout_view                                                          \
    }

const struct op activation_relu6 = CLIP(1, .module = "ReLU6");

static const struct op rows[] = {
    SINCE2(ACTIVATION, Relu, 1, 6,        "ReLU",        NULL,              fold_relu, "y",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 1), PTFLOPS(.per_input = 1), ONNX_TOOL(.per_output = 1),
        LOWER_UNARY(CM_RELU)),
    SINCE2(ACTIVATION, LeakyRelu, 1, 6,   "LeakyReLU",   describe_slope,    NULL,      "0",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 2), PTFLOPS(.per_input = 1), ONNX_TOOL(.per_output = 2),
        LOWER_ELTWISE(lower_scaled, CM_LEAKY_RELU, NULL)),
    SINCE2(ACTIVATION, Elu, 1, 6,         "ELU",         describe_alpha,    NULL,      "0",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 4), PTFLOPS(.per_input = 1), ONNX_TOOL(.per_output = TOOL_EXP + 3),
        LOWER_ELTWISE(lower_scaled, CM_ELU, NULL)),
    ACTIVATION(Gelu, 20,                  "GELU",        describe_gelu,     NULL,      "0",
        DEEPSPEED(.per_input = 1),
        EXACT(PLUS(exact_gelu, "operations: 5 per output element, 8 with the tanh approximation")),
        PTFLOPS(.per_input = 1), ONNX_TOOL(.per_output = TOOL_EXP + 2), LOWER_ELTWISE(lower_gelu, CM_GELU, NULL)),
    ACTIVATION(Swish, 24,                 "SiLU",        NULL,              NULL,      "0",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 5), PTFLOPS(.per_input = 1),
        LOWER_ELTWISE(lower_scaled, CM_SWISH, NULL)),
    ACTIVATION(Celu, 12,                  "CELU",        describe_alpha,    NULL,      "0",
        EXACT(.per_output = 5), LOWER_ELTWISE(lower_celu, CM_ELU, "an alpha of 0 has no primitive")),
    SINCE2(ACTIVATION, Selu, 1, 6,        "SELU",        NULL,              NULL,      "0",
        EXACT(.per_output = 5), LOWER_ELTWISE(lower_selu, CM_ELU, NULL)),
    SINCE2(ACTIVATION, Sigmoid, 1, 6,     "Sigmoid",     NULL,              NULL,      "y",
        EXACT(.per_output = 4), ONNX_TOOL(.per_output = TOOL_EXP), LOWER_UNARY(CM_SIGMOID)),
    SINCE2(ACTIVATION, Tanh, 1, 6,        "Tanh",        NULL,              NULL,      "y",
        EXACT(.per_output = 1), ONNX_TOOL(.per_output = 2 * TOOL_TANH), LOWER_UNARY(CM_TANH)),
    SINCE2(ACTIVATION, HardSigmoid, 1, 6, "Hardsigmoid", NULL,              NULL,      "0",
        EXACT(.per_output = 4), ONNX_TOOL(.per_output = 4), LOWER_ELTWISE(lower_scaled, CM_HARD_SIGMOID, NULL)),
    ACTIVATION(HardSwish, 14,             "Hardswish",   NULL,              NULL,      "0",
        EXACT(.per_output = 5), ONNX_TOOL(.per_output = 5), LOWER_UNARY(CM_HARD_SWISH)),
    ACTIVATION(Mish, 18,                  "Mish",        NULL,              NULL,      "0",
        EXACT(.per_output = 5), LOWER_UNARY(CM_MISH)),
    ACTIVATION(Softplus, 1,               "Softplus",    describe_softplus, NULL,      "0",
        AUTOCAST(FLOAT), EXACT(.per_output = 3), ONNX_TOOL(.per_output = TOOL_EXP + 1 + TOOL_LOG),
        LOWER_UNARY(CM_SOFTPLUS)),
    ACTIVATION(Softsign, 1,               "Softsign",    NULL,              NULL,      "0",
        EXACT(.per_output = 3), LOWER_ELTWISE(lower_softsign, CM_ABS, NULL)),
    ACTIVATION(ThresholdedRelu, 10,       NULL,          NULL,              NULL,      "0",
        EXACT(.per_output = 1), LOWER_ELTWISE(lower_scaled, CM_THRESHOLD, NULL)),
    ACTIVATION(Shrink, 9,                 NULL,          NULL,              NULL,      "0",
        EXACT(.per_output = 2), NO_PRIMITIVE("no primitive has its function")),
    CLIP( 1, .fold = NULL),
    CLIP( 6, .fold = NULL),
    CLIP(11, .fold = fold_clip),
    PRELU(1, infer_prelu_legacy),
    PRELU(6, infer_prelu_legacy),
    PRELU(7, infer_prelu),
    {SIGNATURE(ONNX, SwiGLU, 28, DEEPSPEED(.per_input = 1), EXACT(.per_output = 6), NO_BOUNDS,
        LOWER_ELTWISE(lower_gated, CM_SWISH, NULL)),
     .infer = infer_gated, .memory = MEMORY_IN_PLACE, .param_roles = "x", .backward.saved_for_backward = "01"},
    DROPOUT(1),
    DROPOUT(6),
    DROPOUT(7),
    DROPOUT(10),
    DROPOUT(12),
    {SIGNATURE(CONTRIB, QuickGelu, 1, EXACT(.per_output = 6), LOWER_ELTWISE(lower_scaled, CM_SWISH, NULL), NO_BOUNDS),
     .infer = common_infer_same, .memory = MEMORY_IN_PLACE, .param_roles = "x", .module = "QuickGELU",
     .backward.saved_for_backward = "0"},
};
/* clang-format on */

OP_FAMILY(activation, .declines = FACETS_RARE | FACET_EXACT);
