/* SPDX-License-Identifier: Apache-2.0 */
/* Backend that models times of primitives from figures of a device (kernel_time.h). */
#include "backends/backend_registry.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/device/devices.h"
#include "backends/device/kernel_time.h"
#include "backends/plugin/reason.h"
#include "backends/plugin/settings.h"
#include "backends/primitive.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#define MAX_SECONDS 8.64e6 /* 100 days in picoseconds is near the limit of 63 bits */

struct cm_device {
    struct arena *arena;
    struct device_model model;
    int32_t precision; /* enum cm_precision */
    struct device_calibration calibration;
};

struct kernel_time roofline_kernel_time(const struct cm_device *device,
                                        const struct cm_primitive *primitive) {
    return kernel_time(&device->model, &device->calibration.efficiency, primitive,
                       (enum cm_precision)device->precision);
}

static int roofline_estimate(struct cm_device *device, const struct cm_primitive *primitive,
                             struct cm_measurement *ret, struct cm_reason *reason) {
    const struct device_model *model = &device->model;
    const enum cm_precision precision = (enum cm_precision)device->precision;
    const int64_t bytes = checked_add(primitive->bytes_read, primitive->bytes_written);
    if (!is_known(bytes) || !is_known(primitive->flops))
        return reason_fail(reason, CM_BACKEND_REFUSED, "its FLOPs or bytes are unknown");
    if (model->memory_bytes > 0 && bytes > model->memory_bytes)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY,
                           "needs %lld bytes, the device has %lld", (long long)bytes,
                           (long long)model->memory_bytes);
    if (primitive->flops > 0 && kernel_rate(model, primitive, precision) == RATE_NONE)
        return reason_fail(reason, CM_BACKEND_REFUSED, "the device has no rate for %s",
                           primitive_element_name(primitive->inputs[0].element));
    const struct kernel_time time = roofline_kernel_time(device, primitive);
    const double s = time.expected;
    if (!(s < MAX_SECONDS))
        return reason_fail(reason, CM_BACKEND_REFUSED, "takes more than 100 days");
    ret->state = CM_MODELLED;
    ret->cold = (struct cm_timing){.median = s, .q1 = s, .q3 = s, .min = s, .max = s};
    ret->lower_bound = time.lower_bound;
    ret->limit = (int32_t)time.limit;
    const char *rate = device_rate_name(time.rate);
    if (time.limit == CM_LIMIT_LAUNCH)
        (void)reason_fail(&ret->reason, 0, "limited by kernel launch");
    else if (time.limit == CM_LIMIT_COMPUTE)
        (void)reason_fail(&ret->reason, 0, "limited by arithmetic at %s", rate);
    else
        (void)reason_fail(&ret->reason, 0, "limited by memory");
    if (time.rate == RATE_NONE) return CM_BACKEND_OK;
    (void)snprintf(ret->how.algorithm, sizeof(ret->how.algorithm), "%s", rate);
    ret->how.tensor_cores =
        device_rate_is_matrix(time.rate) ? CM_TENSOR_CORES_YES : CM_TENSOR_CORES_NO;
    return CM_BACKEND_OK;
}

static int roofline_open(const struct cm_settings *settings, struct cm_device **ret,
                         struct cm_reason *reason) {
    const char *name = settings_get(settings, "device");
    int status = settings_check(settings, &roofline_backend, reason);
    if (status != CM_BACKEND_OK) return status;
    if (name == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "a device is required: roofline:device=NAME");
    struct arena *arena = arena_new("device", 0);
    struct cm_device *device = arena ? arena_alloc(arena, sizeof(*device)) : NULL;
    if (device == NULL) {
        arena_free(arena);
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    }
    status = device_find(name, arena, &device->model, reason);
    if (status != CM_BACKEND_OK) {
        arena_free(arena);
        return status;
    }
    device->arena = arena;
    device->precision = settings->precision;
    const enum device_width width = device_width_of((enum cm_element)settings->element,
                                                    (enum cm_precision)settings->precision);
    device->calibration =
        device_calibration_find(&device->model, (enum cm_runtime)settings->runtime, width);
    *ret = device;
    return CM_BACKEND_OK;
}

/* Copies a text, truncated at a character boundary. */
static void copy_fact(char *ret, size_t size, const char *text) {
    if (text == NULL) return;
    (void)snprintf(ret, size, "%.*s", (int)text_cut_length(text, size - 1), text);
}

_Static_assert(N_RATES <= CM_MAX_RATES, "every rate of a device is a fact");

static void roofline_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    const struct device_model *model = &device->model;
    memset(ret, 0, sizeof(*ret));
    copy_fact(ret->name, sizeof(ret->name), model->title);
    copy_fact(ret->version, sizeof(ret->version), model->source);
    copy_fact(ret->calibration, sizeof(ret->calibration), device->calibration.basis);
    ret->fit = device->calibration.fit;
    copy_fact(ret->architecture, sizeof(ret->architecture), model->architecture);
    ret->memory_bytes = model->memory_bytes;
    ret->cache_bytes = model->cache_bytes;
    ret->n_units = model->n_units;
    ret->threads_a_unit = model->threads_a_unit;
    ret->modelled = 1;
    ret->bandwidth = model->bandwidth;
    ret->floor = model->floor;
    ret->host_link = model->host_link;
    for (int i = RATE_NONE + 1; i < N_RATES; i++) {
        if (!(model->rates[i] > 0)) continue;
        struct cm_peak_rate *rate = &ret->rates[ret->n_rates++];
        copy_fact(rate->name, sizeof(rate->name), device_rate_name((enum device_rate)i));
        rate->flops_per_s = model->rates[i];
        if (device_rate_is_matrix((enum device_rate)i)) ret->has_tensor_cores = 1;
    }
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
    .summary = "models a device by its published figures and efficiencies; nothing runs",
    .options = roofline_options,
    .open = roofline_open,
    .facts = roofline_facts,
    .close = roofline_close,
    .estimate = roofline_estimate,
};
