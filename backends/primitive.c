/* SPDX-License-Identifier: Apache-2.0 */
/* Names, checks and text of primitives. Primitives are compared bytewise, so that no field can
 * be forgotten; this requires structs without padding. */
#include "backends/primitive.h"

#include <string.h>

#include "backends/plugin/reason.h"
#include "support/checked.h"
#include "support/text.h"

_Static_assert(sizeof(struct cm_tensor) == 8 + 16 * (size_t)CM_MAX_RANK, "no padding");
_Static_assert(sizeof(struct cm_primitive) ==
                   16 + (CM_MAX_INPUTS + CM_MAX_OUTPUTS) * sizeof(struct cm_tensor) +
                       sizeof(struct cm_window) + 16 +
                       CM_MAX_STEPS * sizeof(struct cm_eltwise) + 56 + sizeof(struct cm_fusion),
               "no padding");

/* clang-format off */
static const char *const kind_names[CM_N_PRIMITIVES] = {
    [CM_PRIMITIVE_NONE] = "none", [CM_CONV] = "conv", [CM_DECONV] = "deconv",
    [CM_GEMM] = "gemm", [CM_POOL] = "pool", [CM_NORM] = "norm", [CM_ELTWISE] = "eltwise",
    [CM_SOFTMAX] = "softmax", [CM_REDUCE] = "reduce", [CM_RNN] = "rnn",
    [CM_ATTENTION] = "attention", [CM_COPY] = "copy", [CM_GATHER] = "gather",
    [CM_RESAMPLE] = "resample", [CM_SCATTER] = "scatter",
};

static const char *const algorithm_names[CM_N_ALGORITHMS] = {
    [CM_ALGORITHM_NONE] = "", [CM_POOL_MAX] = "max", [CM_POOL_AVERAGE] = "average",
    [CM_POOL_AVERAGE_PADDING] = "average-padding", [CM_NORM_BATCH] = "batch",
    [CM_NORM_BATCH_TRAINING] = "batch-training", [CM_NORM_LAYER] = "layer",
    [CM_NORM_RMS] = "rms", [CM_NORM_INSTANCE] = "instance", [CM_NORM_GROUP] = "group",
    [CM_SOFTMAX_PLAIN] = "plain", [CM_SOFTMAX_LOG] = "log", [CM_REDUCE_SUM] = "sum",
    [CM_REDUCE_MEAN] = "mean", [CM_REDUCE_MAX] = "max", [CM_REDUCE_MIN] = "min",
    [CM_REDUCE_PRODUCT] = "product", [CM_REDUCE_L1] = "l1", [CM_REDUCE_L2] = "l2",
    [CM_RNN_TANH] = "tanh", [CM_RNN_RELU] = "relu", [CM_RNN_LSTM] = "lstm",
    [CM_RNN_GRU] = "gru", [CM_RESAMPLE_NEAREST] = "nearest",
    [CM_RESAMPLE_LINEAR] = "linear", [CM_NORM_LRN] = "lrn",
    [CM_REDUCE_SUM_SQUARE] = "sum-square", [CM_REDUCE_LOG_SUM] = "log-sum",
    [CM_REDUCE_LOG_SUM_EXP] = "log-sum-exp", [CM_REDUCE_ARG_MAX] = "arg-max",
    [CM_REDUCE_ARG_MIN] = "arg-min",
};

static const char *const function_names[CM_N_FUNCTIONS] = {
    [CM_FUNCTION_NONE] = "none", [CM_ABS] = "abs", [CM_CAST] = "cast", [CM_CEIL] = "ceil",
    [CM_CLIP] = "clip", [CM_COS] = "cos", [CM_ELU] = "elu", [CM_ERF] = "erf",
    [CM_EXP] = "exp", [CM_FLOOR] = "floor", [CM_GELU] = "gelu", [CM_GELU_TANH] = "gelu-tanh",
    [CM_HARD_SIGMOID] = "hard-sigmoid", [CM_HARD_SWISH] = "hard-swish",
    [CM_LEAKY_RELU] = "leaky-relu", [CM_LINEAR] = "linear", [CM_LOG] = "log",
    [CM_MISH] = "mish", [CM_NEGATE] = "negate", [CM_NOT] = "not",
    [CM_RECIPROCAL] = "reciprocal", [CM_RELU] = "relu", [CM_ROUND] = "round",
    [CM_SIGMOID] = "sigmoid", [CM_SIN] = "sin", [CM_SOFTPLUS] = "softplus",
    [CM_SQRT] = "sqrt", [CM_SQUARE] = "square", [CM_SWISH] = "swish", [CM_TANH] = "tanh",
    [CM_ADD] = "add", [CM_SUBTRACT] = "subtract", [CM_MULTIPLY] = "multiply",
    [CM_DIVIDE] = "divide", [CM_MAXIMUM] = "maximum", [CM_MINIMUM] = "minimum",
    [CM_POWER] = "power", [CM_COMPARE] = "compare", [CM_LOGIC] = "logic",
    [CM_PRELU] = "prelu", [CM_SELECT] = "select", [CM_ACOS] = "acos", [CM_ACOSH] = "acosh",
    [CM_ASIN] = "asin", [CM_ASINH] = "asinh", [CM_ATAN] = "atan", [CM_ATANH] = "atanh",
    [CM_COSH] = "cosh", [CM_SIGN] = "sign", [CM_SINH] = "sinh", [CM_TAN] = "tan",
    [CM_THRESHOLD] = "threshold", [CM_MODULO] = "modulo",
};

static const char *const state_names[CM_N_MEASURE_STATES] = {
    [CM_UNSUPPORTED] = "unsupported", [CM_MEASURED] = "measured", [CM_MODELLED] = "modelled",
    [CM_PROXY] = "proxy", [CM_VIEW] = "view", [CM_OUT_OF_MEMORY] = "out-of-memory",
    [CM_CRASHED] = "crashed", [CM_TIMED_OUT] = "timed-out", [CM_PLANNED] = "planned",
    [CM_INVENTED] = "invented", [CM_IMPORTED] = "imported", [CM_SPLIT] = "split",
    [CM_OPAQUE] = "opaque", [CM_COPY_LAYER] = "copy", [CM_UNPLACED] = "unplaced",
};

static const char *const element_names[CM_N_ELEMENTS] = {
    [CM_F64] = "f64", [CM_F32] = "f32", [CM_F16] = "f16", [CM_BF16] = "bf16",
    [CM_F8E4M3] = "f8e4m3", [CM_F8E5M2] = "f8e5m2", [CM_I64] = "i64", [CM_I32] = "i32",
    [CM_I16] = "i16", [CM_I8] = "i8", [CM_U64] = "u64", [CM_U32] = "u32", [CM_U16] = "u16",
    [CM_U8] = "u8", [CM_BOOL] = "bool",
};

/* Number of operands of each kind, without the operands of its steps. */
static const struct {
    int32_t min, max;
} operands[CM_N_PRIMITIVES] = {
    [CM_CONV] = {2, 3}, [CM_DECONV] = {2, 3}, [CM_GEMM] = {2, 3}, [CM_POOL] = {1, 1},
    [CM_NORM] = {1, 5}, [CM_ELTWISE] = {1, CM_MAX_INPUTS}, [CM_SOFTMAX] = {1, 1},
    [CM_REDUCE] = {1, 1}, [CM_RNN] = {3, CM_MAX_INPUTS}, [CM_ATTENTION] = {3, 4},
    [CM_COPY] = {1, CM_MAX_INPUTS}, [CM_GATHER] = {1, 2}, [CM_RESAMPLE] = {1, 1},
    [CM_SCATTER] = {3, 3},
};
/* clang-format on */

static const char *name_in(const char *const *names, int32_t n, int32_t index) {
    return index >= 0 && index < n ? names[index] : "?";
}

const char *primitive_kind_name(int32_t kind) {
    return name_in(kind_names, CM_N_PRIMITIVES, kind);
}

const char *primitive_algorithm_name(int32_t algorithm) {
    return name_in(algorithm_names, CM_N_ALGORITHMS, algorithm);
}

const char *primitive_function_name(int32_t function) {
    return name_in(function_names, CM_N_FUNCTIONS, function);
}

const char *primitive_state_name(int32_t state) {
    return name_in(state_names, CM_N_MEASURE_STATES, state);
}

static bool is_element(int32_t element) {
    return element > CM_ELEMENT_NONE && element < CM_N_ELEMENTS;
}

const char *primitive_element_name(int32_t element) {
    return is_element(element) ? element_names[element] : "?";
}

bool primitive_fits(const struct cm_tensor *tensor, struct cm_place place,
                    const struct cm_network *network) {
    const int64_t room =
        place.block == CM_BLOCK_WEIGHTS ? network->weight_bytes : network->arena_bytes;
    const int64_t end = checked_add(place.offset, primitive_span(tensor));
    return place.offset >= 0 && place.offset % 256 == 0 && is_known(end) && end <= room;
}

bool primitive_equal(const struct cm_primitive *a, const struct cm_primitive *b) {
    return memcmp(a, b, sizeof(*a)) == 0;
}

static int check_tensor(const struct cm_tensor *tensor, struct cm_reason *reason) {
    if (!is_element(tensor->element))
        return reason_fail(reason, CM_BACKEND_REFUSED, "an operand has no element type");
    if (tensor->rank < 0 || tensor->rank > CM_MAX_RANK)
        return reason_fail(reason, CM_BACKEND_REFUSED, "an operand has rank %d, at most %d",
                           (int)tensor->rank, CM_MAX_RANK);
    for (int32_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0)
            return reason_fail(reason, CM_BACKEND_REFUSED, "an operand has an unknown dim");
    if (!is_known(checked_mul(primitive_elements(tensor), CM_MAX_RANK)))
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "an operand has more than 2^60 elements");
    return CM_BACKEND_OK;
}

int primitive_check(const struct cm_primitive *primitive, struct cm_reason *reason) {
    const int32_t kind = primitive->kind;
    if (kind <= CM_PRIMITIVE_NONE || kind >= CM_N_PRIMITIVES)
        return reason_fail(reason, CM_BACKEND_REFUSED, "unknown primitive kind %d", (int)kind);
    const bool has_steps = primitive->n_steps > 0 && (kind == CM_ELTWISE || kind == CM_CONV ||
                                                      kind == CM_DECONV || kind == CM_GEMM);
    if (primitive->n_inputs < operands[kind].min ||
        primitive->n_inputs > (has_steps ? CM_MAX_INPUTS : operands[kind].max) ||
        primitive->n_outputs < 1 || primitive->n_outputs > CM_MAX_OUTPUTS)
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s with %d operands and %d results",
                           primitive_kind_name(kind), (int)primitive->n_inputs,
                           (int)primitive->n_outputs);
    bool is_valid = primitive->algorithm >= 0 && primitive->algorithm < CM_N_ALGORITHMS &&
                    primitive->window.n_spatial >= 0 &&
                    primitive->window.n_spatial <= CM_MAX_SPATIAL && primitive->n_steps >= 0 &&
                    primitive->n_steps <= CM_MAX_STEPS &&
                    (primitive->n_steps == 0 || has_steps);
    for (int32_t i = 0; is_valid && i < primitive->n_steps; i++) {
        const struct cm_eltwise *step = &primitive->steps[i];
        is_valid = step->function > CM_FUNCTION_NONE && step->function < CM_N_FUNCTIONS &&
                   step->operand >= 0 && step->operand < primitive->n_inputs;
    }
    if (!is_valid)
        return reason_fail(reason, CM_BACKEND_REFUSED, "an attribute of %s is out of range",
                           primitive_kind_name(kind));
    int status = CM_BACKEND_OK;
    for (int32_t i = 0; status == CM_BACKEND_OK && i < primitive->n_inputs; i++)
        status = check_tensor(&primitive->inputs[i], reason);
    for (int32_t i = 0; status == CM_BACKEND_OK && i < primitive->n_outputs; i++)
        status = check_tensor(&primitive->outputs[i], reason);
    return status;
}

static void print_sizes(const int64_t *sizes, int32_t n, struct text *out) {
    for (int32_t i = 0; i < n; i++)
        text_printf(out, "%s%lld", i > 0 ? "x" : "", (long long)sizes[i]);
}

/* Returns ":nwc", ":nhwc" or ":ndhwc" for a contiguous channels-last tensor, else "". */
static const char *channels_last(const struct cm_tensor *tensor) {
    static const char *const names[CM_MAX_RANK + 1] = {
        [3] = ":nwc", [4] = ":nhwc", [5] = ":ndhwc"};
    int64_t stride = tensor->rank > 1 ? tensor->dims[1] : 0;
    if (names[tensor->rank] == NULL) return "";
    if (tensor->dims[1] != 1 && tensor->strides[1] != 1) return "";
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (i == 1) continue;
        if (tensor->dims[i] != 1 && tensor->strides[i] != stride) return "";
        stride = checked_mul(stride, tensor->dims[i]);
    }
    return names[tensor->rank];
}

/* Prints each tensor as " f32 1x3x8x8:nhwc": its element type if it differs from *element, the
 * type printed last; its dims; and ":nhwc" or the strides ("/1x3") if it is not row-major.
 * Never prints ":nhwc" for matrices and for the source of a copy to a packed tensor, because
 * their strides denote a transposition, not an image layout. */
static void print_tensors(const struct cm_primitive *primitive, const struct cm_tensor *tensors,
                          int32_t n, int32_t max, int32_t *element, struct text *out) {
    const int32_t kind = primitive->kind;
    const bool is_image = kind == CM_COPY
                              ? !primitive_is_packed(&primitive->outputs[0])
                              : kind != CM_GEMM && kind != CM_ATTENTION && kind != CM_RNN;
    for (int32_t i = 0; i < n && i < max; i++) {
        if (tensors[i].element != *element)
            text_printf(out, " %s", primitive_element_name(tensors[i].element));
        *element = tensors[i].element;
        text_append(out, " ");
        print_sizes(tensors[i].dims, tensors[i].rank, out);
        if (tensors[i].rank == 0) text_append(out, "scalar");
        if (primitive_is_packed(&tensors[i])) continue;
        const char *layout = is_image ? channels_last(&tensors[i]) : "";
        text_append(out, layout[0] != '\0' ? layout : "/");
        if (layout[0] == '\0') print_sizes(tensors[i].strides, tensors[i].rank, out);
    }
}

static bool all_are(const int64_t *values, int32_t n, int64_t want) {
    for (int32_t i = 0; i < n; i++)
        if (values[i] != want) return false;
    return true;
}

/* Prints a name and its sizes (" stride 2x2"), or nothing if all sizes are `usual`. */
static void print_unusual(const char *name, const int64_t *sizes, int32_t n, int64_t usual,
                          struct text *out) {
    if (all_are(sizes, n, usual)) return;
    text_append(out, name);
    print_sizes(sizes, n, out);
}

void primitive_print(const struct cm_primitive *primitive, struct text *out) {
    int32_t element = CM_ELEMENT_NONE;
    text_append(out, primitive_kind_name(primitive->kind));
    if (primitive->algorithm != CM_ALGORITHM_NONE)
        text_printf(out, " %s", primitive_algorithm_name(primitive->algorithm));
    for (int32_t i = 0; i < primitive->n_steps; i++) {
        const struct cm_eltwise *step = &primitive->steps[i];
        text_printf(out, " %s", primitive_function_name(step->function));
        if (step->alpha != 0 || step->beta != 0)
            text_printf(out, "(%g,%g)", step->alpha, step->beta);
    }
    print_tensors(primitive, primitive->inputs, primitive->n_inputs, CM_MAX_INPUTS, &element,
                  out);
    text_append(out, " ->");
    print_tensors(primitive, primitive->outputs, primitive->n_outputs, CM_MAX_OUTPUTS, &element,
                  out);
    const struct cm_window *window = &primitive->window;
    const int32_t n = window->n_spatial;
    if (n > 0) {
        text_append(out, " kernel ");
        print_sizes(window->kernel, n, out);
    }
    print_unusual(" stride ", window->strides, n, 1, out);
    print_unusual(" dilation ", window->dilations, n, 1, out);
    if (!all_are(window->pads_begin, n, 0) || !all_are(window->pads_end, n, 0)) {
        text_append(out, " pad ");
        print_sizes(window->pads_begin, n, out);
        text_append(out, "+");
        print_sizes(window->pads_end, n, out);
    }
    if (primitive->groups > 1) text_printf(out, " groups %lld", (long long)primitive->groups);
    if (primitive->axis != 0) text_printf(out, " axis %d", (int)primitive->axis);
    if (primitive->hidden != 0) text_printf(out, " hidden %lld", (long long)primitive->hidden);
    if (primitive->directions > 1) text_append(out, " both directions");
    if (primitive->causal != CM_CAUSAL_NONE)
        text_append(out, primitive->causal == CM_CAUSAL_LAST ? " causal-last" : " causal");
}
