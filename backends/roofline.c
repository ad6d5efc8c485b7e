/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline model (Williams, Waterman, Patterson, CACM 2009): nothing takes less time than
 * its arithmetic at the peak rate, nor than its bytes at the peak bandwidth.
 *     seconds = max(flops / rate, (read + written) / bandwidth, floor)
 * It is a bound, not a forecast, and never anything but `modelled`.
 */
#include "backends/backends.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/devices.h"
#include "backends/primitive.h"
#include "backends/reason.h"
#include "backends/settings.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

#define MOST_CHOICES 5 /* the last is RATE_NONE */

struct cm_device {
    struct arena *arena;
    struct device_model model;
    int32_t precision; /* enum cm_precision */
};

/* Which rate an element's products run at: the first that the device has. */
static const enum device_rate product_rates[CM_N_ELEMENTS][MOST_CHOICES] = {
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

static bool is_product(int32_t kind) {
    return kind == CM_CONV || kind == CM_DECONV || kind == CM_GEMM || kind == CM_RNN ||
           kind == CM_ATTENTION;
}

static const enum device_rate *rates_for(const struct cm_device *device,
                                         const struct cm_primitive *primitive) {
    const int32_t element = primitive->inputs[0].element;
    if (element == CM_F64 && !is_product(primitive->kind)) return double_rates;
    if (element == CM_F16 && !is_product(primitive->kind)) return half_rates;
    if (!is_product(primitive->kind)) return plain_rates;
    if (element == CM_F32 && device->precision == CM_PRECISION_TF32) return tf32_rates;
    /* Products of other integers are plain arithmetic. */
    const enum device_rate *rates = product_rates[element];
    return rates[0] == RATE_NONE ? plain_rates : rates;
}

static int find_rate(const struct cm_device *device, const struct cm_primitive *primitive,
                     enum device_rate *ret, struct cm_reason *reason) {
    const enum device_rate *rates = rates_for(device, primitive);
    for (; *rates != RATE_NONE; rates++) {
        if (device->model.rates[*rates] <= 0) continue;
        *ret = *rates;
        return CM_BACKEND_OK;
    }
    return reason_fail(reason, CM_BACKEND_REFUSED, "the device has no rate for %s",
                       primitive_element_name(primitive->inputs[0].element));
}

static int roofline_estimate(struct cm_device *device, const struct cm_primitive *primitive,
                             struct cm_measurement *ret, struct cm_reason *reason) {
    const struct device_model *model = &device->model;
    enum device_rate rate = RATE_NONE;
    const int64_t bytes = checked_add(primitive->bytes_read, primitive->bytes_written);
    if (!is_known(bytes) || !is_known(primitive->flops))
        return reason_fail(reason, CM_BACKEND_REFUSED, "its work is not known");
    if (model->memory_bytes > 0 && bytes > model->memory_bytes)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY,
                           "takes %lld bytes, the device has %lld", (long long)bytes,
                           (long long)model->memory_bytes);
    double compute = 0;
    if (primitive->flops > 0) {
        const int status = find_rate(device, primitive, &rate, reason);
        if (status != CM_BACKEND_OK) return status;
        compute = (double)primitive->flops / model->rates[rate];
    }
    const double memory = (double)bytes / model->bandwidth;
    const double seconds = fmax(fmax(compute, memory), model->floor);
    ret->state = CM_MODELLED;
    ret->cold = (struct cm_timing){
        .median = seconds, .q1 = seconds, .q3 = seconds, .min = seconds, .max = seconds};
    if (seconds > fmax(compute, memory))
        return reason_fail(&ret->reason, CM_BACKEND_OK, "the shortest that anything takes");
    if (compute > memory)
        return reason_fail(&ret->reason, CM_BACKEND_OK, "bound by arithmetic at %s",
                           device_rate_name(rate));
    return reason_fail(&ret->reason, CM_BACKEND_OK, "bound by memory");
}

static int find_model(const char *name, struct arena *arena, struct device_model *ret,
                      struct cm_reason *reason) {
    const struct device_model *built_in = device_find(name);
    if (built_in == NULL && text_ends_with(name, ".json"))
        return device_read(name, arena, ret, reason);
    if (built_in == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "there is no device '%s', want one of the built-in names or a file "
                           "that ends in .json",
                           name);
    *ret = *built_in;
    return CM_BACKEND_OK;
}

static int roofline_open(const struct cm_settings *settings, struct cm_device **ret,
                         struct cm_reason *reason) {
    const char *name = settings_get(settings, "device");
    int status = settings_check(settings, &roofline_backend, reason);
    if (status != CM_BACKEND_OK) return status;
    if (name == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "wants a device: roofline:device=NAME");
    struct arena *arena = arena_new("device", 0);
    struct cm_device *device = arena ? arena_alloc(arena, sizeof(*device)) : NULL;
    status = CM_BACKEND_NO_MEMORY;
    if (device == NULL)
        (void)reason_fail(reason, 0, "out of memory");
    else
        status = find_model(name, arena, &device->model, reason);
    if (status != CM_BACKEND_OK) {
        arena_free(arena);
        return status;
    }
    device->arena = arena;
    device->precision = settings->precision;
    *ret = device;
    return CM_BACKEND_OK;
}

static void roofline_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    (void)snprintf(ret->name, sizeof(ret->name), "%s", device->model.title);
    (void)snprintf(ret->version, sizeof(ret->version), "%s",
                   device->model.source ? device->model.source : "");
    ret->memory_bytes = device->model.memory_bytes;
    ret->modelled = 1;
    ret->bandwidth = device->model.bandwidth;
    ret->floor = device->model.floor;
}

static void roofline_close(struct cm_device *device) {
    arena_free(device->arena);
}

static const struct cm_backend_option roofline_options[] = {
    {"device", "NAME", "a built-in device, or a file that describes one (.json)"},
    {NULL, NULL, NULL},
};

const struct cm_backend roofline_backend = {
    .abi = CM_BACKEND_ABI,
    .size = sizeof(struct cm_backend),
    .name = "roofline",
    .summary = "the least time by a device's published figures; nothing runs",
    .options = roofline_options,
    .open = roofline_open,
    .facts = roofline_facts,
    .close = roofline_close,
    .estimate = roofline_estimate,
};
