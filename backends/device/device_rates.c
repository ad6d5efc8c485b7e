/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the rate of a device for a primitive: of the fastest units with its element type. */
#include "backends/device/devices.h"

#define MAX_CHOICES 5 /* rates of a type, with the RATE_NONE at the end */

static const char *const rate_names[N_RATES] = {
    [RATE_NONE] = "none",
    [RATE_FP64] = "fp64",
    [RATE_FP32] = "fp32",
    [RATE_FP16] = "fp16",
    [RATE_INT8] = "int8",
    [RATE_MATRIX_FP64] = "matrix_fp64",
    [RATE_MATRIX_FP32] = "matrix_fp32",
    [RATE_MATRIX_TF32] = "matrix_tf32",
    [RATE_MATRIX_FP16] = "matrix_fp16",
    [RATE_MATRIX_BF16] = "matrix_bf16",
    [RATE_MATRIX_FP8] = "matrix_fp8",
    [RATE_MATRIX_INT8] = "matrix_int8",
};

/* Candidates in order of preference: without units for a type, the next wider type is used. */
static const enum device_rate product_rates[CM_N_ELEMENTS][MAX_CHOICES] = {
    [CM_F64] = {RATE_MATRIX_FP64, RATE_FP64},
    [CM_F32] = {RATE_MATRIX_FP32, RATE_FP32},
    [CM_F16] = {RATE_MATRIX_FP16, RATE_FP16, RATE_FP32},
    [CM_BF16] = {RATE_MATRIX_BF16, RATE_FP32},
    [CM_F8E4M3] = {RATE_MATRIX_FP8, RATE_MATRIX_FP16, RATE_FP16, RATE_FP32},
    [CM_F8E5M2] = {RATE_MATRIX_FP8, RATE_MATRIX_FP16, RATE_FP16, RATE_FP32},
    [CM_I8] = {RATE_MATRIX_INT8, RATE_INT8, RATE_FP32},
    [CM_U8] = {RATE_MATRIX_INT8, RATE_INT8, RATE_FP32},
};

static const enum device_rate tf32_rates[] = {RATE_MATRIX_TF32, RATE_MATRIX_FP32, RATE_FP32,
                                              RATE_NONE};
static const enum device_rate plain_rates[] = {RATE_FP32, RATE_NONE};
static const enum device_rate double_rates[] = {RATE_FP64, RATE_NONE};
static const enum device_rate half_rates[] = {RATE_FP16, RATE_FP32, RATE_NONE};

const char *device_rate_name(enum device_rate rate) {
    return rate_names[rate];
}

bool device_rate_is_matrix(enum device_rate rate) {
    return rate >= RATE_MATRIX_FP64;
}

static enum device_rate first_of(const struct device_model *model,
                                 const enum device_rate *rates) {
    while (*rates != RATE_NONE && model->rates[*rates] <= 0) rates++;
    return *rates;
}

enum device_rate device_plain_rate(const struct device_model *model, enum cm_element element) {
    if (element == CM_F64) return first_of(model, double_rates);
    return first_of(model, element == CM_F16 ? half_rates : plain_rates);
}

enum device_rate device_product_rate(const struct device_model *model, enum cm_element element,
                                     enum cm_precision precision) {
    if (element == CM_F32 && precision == CM_PRECISION_TF32) return first_of(model, tf32_rates);
    /* Products of other integers run at the vector rate. */
    const enum device_rate *rates = product_rates[element];
    return first_of(model, rates[0] == RATE_NONE ? plain_rates : rates);
}
