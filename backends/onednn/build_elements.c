/* SPDX-License-Identifier: Apache-2.0 */
/* Builds elementwise functions, copies and concatenations. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

/* oneDNN's algorithm for a function. */
struct function {
    dnnl_alg_kind_t algorithm;
    bool own_constants; /* alpha and beta are those of this row; false: those of the step */
    float alpha, beta;
    const char *proxy_note; /* NULL if exact */
};

/* clang-format off */
static const struct function functions[CM_N_FUNCTIONS] = {
    [CM_ABS]          = {dnnl_eltwise_abs,       true,  0, 0, NULL},
    [CM_CEIL]         = {dnnl_eltwise_round,     true,  0, 0, "ran rounding to nearest instead"},
    [CM_CLIP]         = {dnnl_eltwise_clip,      false, 0, 0, NULL},
    [CM_COS]          = {dnnl_eltwise_exp,       true,  0, 0, "ran an exponential instead"},
    [CM_ELU]          = {dnnl_eltwise_elu,       false, 0, 0, NULL},
    [CM_ERF]          = {dnnl_eltwise_gelu_erf,  true,  0, 0, "ran a GELU by erf instead"},
    [CM_EXP]          = {dnnl_eltwise_exp,       true,  0, 0, NULL},
    [CM_FLOOR]        = {dnnl_eltwise_round,     true,  0, 0, "ran rounding to nearest instead"},
    [CM_GELU]         = {dnnl_eltwise_gelu_erf,  true,  0, 0, NULL},
    [CM_GELU_TANH]    = {dnnl_eltwise_gelu_tanh, true,  0, 0, NULL},
#if DNNL_VERSION_MAJOR >= 3
    [CM_HARD_SIGMOID] = {dnnl_eltwise_hardsigmoid, false, 0, 0, NULL},
    [CM_HARD_SWISH]   = {dnnl_eltwise_hardswish,   true, 1.0F / 6, 0.5F, NULL},
    [CM_SOFTPLUS]     = {dnnl_eltwise_soft_relu,   true, 1, 0, NULL},
#else
    [CM_HARD_SIGMOID] = {dnnl_eltwise_clip,      true,  0, 1, "ran a clip instead"},
    [CM_HARD_SWISH]   = {dnnl_eltwise_hardswish, true,  0, 0, NULL},
    [CM_SOFTPLUS]     = {dnnl_eltwise_soft_relu, true,  0, 0, NULL},
#endif
    [CM_LEAKY_RELU]   = {dnnl_eltwise_relu,      false, 0, 0, NULL},
    [CM_LINEAR]       = {dnnl_eltwise_linear,    false, 0, 0, NULL},
    [CM_LOG]          = {dnnl_eltwise_log,       true,  0, 0, NULL},
    [CM_MISH]         = {dnnl_eltwise_mish,      true,  0, 0, NULL},
    [CM_NEGATE]       = {dnnl_eltwise_linear,    true, -1, 0, NULL},
    [CM_RECIPROCAL]   = {dnnl_eltwise_pow,       true,  1, -1, NULL},
    [CM_RELU]         = {dnnl_eltwise_relu,      true,  0, 0, NULL},
    [CM_ROUND]        = {dnnl_eltwise_round,     true,  0, 0, NULL},
    [CM_SIGMOID]      = {dnnl_eltwise_logistic,  true,  0, 0, NULL},
    [CM_SIN]          = {dnnl_eltwise_exp,       true,  0, 0, "ran an exponential instead"},
    [CM_SQRT]         = {dnnl_eltwise_sqrt,      true,  0, 0, NULL},
    [CM_SQUARE]       = {dnnl_eltwise_square,    true,  0, 0, NULL},
    [CM_SWISH]        = {dnnl_eltwise_swish,     false, 0, 0, NULL},
    [CM_TANH]         = {dnnl_eltwise_tanh,      true,  0, 0, NULL},
    [CM_ADD]          = {dnnl_binary_add,        true,  0, 0, NULL},
    [CM_SUBTRACT]     = {dnnl_binary_sub,        true,  0, 0, NULL},
    [CM_MULTIPLY]     = {dnnl_binary_mul,        true,  0, 0, NULL},
    [CM_DIVIDE]       = {dnnl_binary_div,        true,  0, 0, NULL},
    [CM_MAXIMUM]      = {dnnl_binary_max,        true,  0, 0, NULL},
    [CM_MINIMUM]      = {dnnl_binary_min,        true,  0, 0, NULL},
    [CM_COMPARE]      = {dnnl_binary_ge,         true,  0, 0, NULL},
    [CM_PRELU]        = {dnnl_binary_mul,        true,  0, 0, "ran a product by the slope instead"},
};
/* clang-format on */

bool build_algorithm(const struct cm_eltwise *step, dnnl_alg_kind_t *ret, float *ret_alpha,
                     float *ret_beta) {
    const struct function *function = &functions[step->function];
    *ret = function->algorithm;
    *ret_alpha = function->own_constants ? function->alpha : (float)step->alpha;
    *ret_beta = function->own_constants ? function->beta : (float)step->beta;
    return function->algorithm != dnnl_alg_kind_undef && function->proxy_note == NULL;
}

static dnnl_status_t build_unary(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *const both[] = {&primitive->inputs[0], &primitive->outputs[0]};
    const int32_t element = both[0]->element;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    float alpha = 0;
    float beta = 0;
    struct coalesced coalesced;
    (void)build_algorithm(&primitive->steps[0], &algorithm, &alpha, &beta);
    if (element != both[1]->element || !coalesce_dims(both, 2, both[1], &coalesced) ||
        memcmp(coalesced.operand_dims[0], coalesced.operand_dims[1],
               sizeof(coalesced.operand_dims[0])) != 0)
        return dnnl_unimplemented;
    onednn_desc x =
        build_coalesced(building, DNNL_ARG_SRC, &coalesced, 0, element, BUILT_INPUT);
    onednn_desc y =
        build_coalesced(building, DNNL_ARG_DST, &coalesced, 1, element, BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_eltwise(building->lib, algorithm, x, y, alpha, beta,
                         &build_part(building)->primitive);
}

/* oneDNN does not broadcast the first operand: if inputs[0] is broadcast, the operands are
 * swapped, which does not change the time. */
static dnnl_status_t build_binary(struct building *building, const struct function *function) {
    const struct cm_primitive *primitive = building->primitive;
    const int32_t operand = primitive->steps[0].operand;
    const struct cm_tensor *const three[] = {&primitive->inputs[0], &primitive->inputs[operand],
                                             &primitive->outputs[0]};
    const int roles[] = {BUILT_INPUT, BUILT_INPUT + operand};
    struct coalesced coalesced;
    if (!coalesce_dims(three, 3, three[2], &coalesced)) return dnnl_unimplemented;
    const bool is_broadcast = memcmp(coalesced.operand_dims[0], coalesced.operand_dims[2],
                                     sizeof(coalesced.operand_dims[0])) != 0;
    const int first = is_broadcast ? 1 : 0;
    onednn_desc a = build_coalesced(building, DNNL_ARG_SRC_0, &coalesced, first,
                                    three[first]->element, roles[first]);
    onednn_desc b = build_coalesced(building, DNNL_ARG_SRC_1, &coalesced, 1 - first,
                                    three[1 - first]->element, roles[1 - first]);
    onednn_desc y =
        build_coalesced(building, DNNL_ARG_DST, &coalesced, 2, three[2]->element, BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_binary(building->lib, function->algorithm, a, b, y,
                        &build_part(building)->primitive);
}

/* The condition is a bool, which oneDNN reads as int8. */
static dnnl_status_t build_select(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *y = &primitive->outputs[0];
    const struct cm_tensor *const three[] = {&primitive->inputs[1], &primitive->inputs[2],
                                             &primitive->inputs[0]};
    static const int ids[] = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_SRC_2};
    static const int roles[] = {BUILT_INPUT + 1, BUILT_INPUT + 2, BUILT_INPUT};
    struct coalesced coalesced;
    onednn_desc descs[3];
    if (primitive->n_inputs != 3 || !primitive_is_packed(y) ||
        !coalesce_dims(three, 3, y, &coalesced))
        return dnnl_unimplemented;
    for (int i = 0; i < 3; i++)
        descs[i] = build_coalesced(building, ids[i], &coalesced, i,
                                   i < 2 ? three[i]->element : CM_I8, roles[i]);
    struct cm_tensor packed = {.element = y->element, .rank = coalesced.rank};
    memcpy(packed.dims, coalesced.dims, sizeof(packed.dims));
    primitive_pack(&packed);
    onednn_desc whole = build_operand(building, DNNL_ARG_DST, &packed, BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_select(building->lib, descs[0], descs[1], descs[2], whole,
                        &build_part(building)->primitive);
}

dnnl_status_t build_eltwise(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_eltwise *step = &primitive->steps[0];
    if (primitive->n_steps != 1) return dnnl_unimplemented;
    if (step->function == CM_CAST) return build_copy(building);
    if (step->function == CM_SELECT) return build_select(building);
    const struct function *function = &functions[step->function];
    if (function->algorithm == dnnl_alg_kind_undef) return dnnl_unimplemented;
    if (function->proxy_note != NULL) build_set_proxy(building, function->proxy_note);
    return step->function < CM_FIRST_BINARY ? build_unary(building)
                                            : build_binary(building, function);
}

/* Sets *ret to the same bytes in a type that oneDNN can copy: int64 [2,3] becomes f32 [2,3,2].
 * Returns false if the rank would be too large. */
static bool as_bytes(const struct cm_tensor *tensor, struct cm_tensor *ret) {
    static const int32_t same_size[CM_N_ELEMENTS] = {
        [CM_F32] = CM_F32,   [CM_I32] = CM_F32,  [CM_U32] = CM_F32,   [CM_F16] = CM_BF16,
        [CM_BF16] = CM_BF16, [CM_I16] = CM_BF16, [CM_U16] = CM_BF16,  [CM_I8] = CM_U8,
        [CM_U8] = CM_U8,     [CM_BOOL] = CM_U8,  [CM_F8E4M3] = CM_U8, [CM_F8E5M2] = CM_U8,
    };
    *ret = *tensor;
    ret->element = same_size[tensor->element];
    if (ret->element != CM_ELEMENT_NONE) return true;
    if (tensor->rank == CM_MAX_RANK) return false;
    ret->element = CM_F32;
    for (int i = 0; i < tensor->rank; i++) ret->strides[i] *= 2;
    ret->dims[ret->rank] = 2;
    ret->strides[ret->rank++] = 1;
    return true;
}

static dnnl_status_t reorder(struct building *building, onednn_desc from, onednn_desc to) {
    const struct onednn *lib = building->lib;
    if (building->status != dnnl_success) return building->status;
    return lib->api.dnnl_reorder_primitive_desc_create(&build_part(building)->primitive, from,
                                                       lib->engine, to, lib->engine, NULL);
}

static dnnl_status_t copy_one(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    struct cm_tensor x = primitive->inputs[0];
    struct cm_tensor y = primitive->outputs[0];
    const struct cm_tensor *const both[] = {&x, &y};
    struct coalesced coalesced;
    if (x.element == y.element &&
        (!as_bytes(&primitive->inputs[0], &x) || !as_bytes(&primitive->outputs[0], &y)))
        return dnnl_unimplemented;
    if (!coalesce_dims(both, 2, &y, &coalesced)) return dnnl_unimplemented;
    onednn_desc from =
        build_coalesced(building, DNNL_ARG_FROM, &coalesced, 0, x.element, BUILT_INPUT);
    onednn_desc to =
        build_coalesced(building, DNNL_ARG_TO, &coalesced, 1, y.element, BUILT_OUTPUT);
    return reorder(building, from, to);
}

static dnnl_status_t copy_many(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    onednn_desc srcs[CM_MAX_INPUTS];
    struct cm_tensor bytes;
    for (int i = 0; i < primitive->n_inputs; i++) {
        if (!as_bytes(&primitive->inputs[i], &bytes)) return dnnl_unimplemented;
        srcs[i] = build_operand(building, DNNL_ARG_MULTIPLE_SRC + i, &bytes, BUILT_INPUT + i);
    }
    if (!as_bytes(&primitive->outputs[0], &bytes)) return dnnl_unimplemented;
    onednn_desc y = build_operand(building, DNNL_ARG_DST, &bytes, BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    return calls_concat(building->lib, primitive->n_inputs, srcs, y, primitive->axis,
                        &build_part(building)->primitive);
}

dnnl_status_t build_copy(struct building *building) {
    return building->primitive->n_inputs > 1 ? copy_many(building) : copy_one(building);
}

dnnl_status_t build_proxy(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const int64_t bytes = (primitive->bytes_read + primitive->bytes_written) / 2;
    const int64_t n = bytes / 4 > 0 ? bytes / 4 : 1;
    const struct cm_tensor line = {.element = CM_F32, .rank = 1, .dims = {n}, .strides = {1}};
    /* The plan allocates the operands: those of the primitive may be smaller. */
    onednn_desc from = build_operand(building, DNNL_ARG_FROM, &line, BUILT_OWN);
    onednn_desc to = build_operand(building, DNNL_ARG_TO, &line, BUILT_OWN);
    build_set_proxy(building, "ran a copy of the same bytes instead");
    return reorder(building, from, to);
}
