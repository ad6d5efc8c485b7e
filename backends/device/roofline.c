/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roofline model (Williams, Waterman, Patterson, CACM 2009): an arithmetic intensity in FLOP
 * per byte below peak rate / peak bandwidth is memory bound. The time is at least that of the
 * arithmetic at peak rate and that of the bytes at peak bandwidth. The kernel launch floor of
 * the device, if known, is added because nothing overlaps with it.
 *     seconds = max(flops / rate, (read + written) / bandwidth) + floor
 * The result is a lower bound, not a forecast; its state is always `modelled`.
 */
#include "backends/backend_registry.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/device/devices.h"
#include "backends/plugin/reason.h"
#include "backends/plugin/settings.h"
#include "backends/primitive.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_SECONDS 8.64e6 /* 100 days in picoseconds is near the limit of 63 bits */

struct cm_device {
    struct arena *arena;
    struct device_model model;
    int32_t precision; /* enum cm_precision */
};

static int find_rate(const struct cm_device *device, const struct cm_primitive *primitive,
                     enum device_rate *ret, struct cm_reason *reason) {
    const enum cm_element element = (enum cm_element)primitive->inputs[0].element;
    *ret =
        primitive_is_product(primitive)
            ? device_product_rate(&device->model, element, (enum cm_precision)device->precision)
            : device_plain_rate(&device->model, element);
    if (*ret != RATE_NONE) return CM_BACKEND_OK;
    return reason_fail(reason, CM_BACKEND_REFUSED, "the device has no rate for %s",
                       primitive_element_name(primitive->inputs[0].element));
}

/* The two roofs, in seconds; `rate` is RATE_NONE if there is no arithmetic. */
struct roofs {
    double compute;
    double memory;
    enum device_rate rate;
};

static int find_roofs(const struct cm_device *device, const struct cm_primitive *primitive,
                      struct roofs *ret, struct cm_reason *reason) {
    const struct device_model *model = &device->model;
    const int64_t bytes = checked_add(primitive->bytes_read, primitive->bytes_written);
    *ret = (struct roofs){.rate = RATE_NONE};
    if (!is_known(bytes) || !is_known(primitive->flops))
        return reason_fail(reason, CM_BACKEND_REFUSED, "its FLOPs or bytes are unknown");
    if (model->memory_bytes > 0 && bytes > model->memory_bytes)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY,
                           "needs %lld bytes, the device has %lld", (long long)bytes,
                           (long long)model->memory_bytes);
    ret->memory = (double)bytes / model->bandwidth;
    if (primitive->flops == 0) return CM_BACKEND_OK;
    const int status = find_rate(device, primitive, &ret->rate, reason);
    if (status == CM_BACKEND_OK)
        ret->compute = (double)primitive->flops / model->rates[ret->rate];
    return status;
}

/* Sets the limiting resource, and the assumed rate even if arithmetic does not limit. */
static void set_limit(const struct roofs *roofs, double floor, struct cm_measurement *ret) {
    const char *rate = device_rate_name(roofs->rate);
    if (floor > fmax(roofs->compute, roofs->memory))
        (void)reason_fail(&ret->reason, 0, "limited by kernel launch");
    else if (roofs->compute > roofs->memory)
        (void)reason_fail(&ret->reason, 0, "limited by arithmetic at %s", rate);
    else
        (void)reason_fail(&ret->reason, 0, "limited by memory");
    if (roofs->rate == RATE_NONE) return;
    (void)snprintf(ret->how.algorithm, sizeof(ret->how.algorithm), "%s", rate);
    ret->how.tensor_cores =
        device_rate_is_matrix(roofs->rate) ? CM_TENSOR_CORES_YES : CM_TENSOR_CORES_NO;
}

static int roofline_estimate(struct cm_device *device, const struct cm_primitive *primitive,
                             struct cm_measurement *ret, struct cm_reason *reason) {
    struct roofs roofs;
    const int status = find_roofs(device, primitive, &roofs, reason);
    if (status != CM_BACKEND_OK) return status;
    const double seconds = fmax(roofs.compute, roofs.memory) + device->model.floor;
    if (!(seconds < MAX_SECONDS))
        return reason_fail(reason, CM_BACKEND_REFUSED, "takes more than 100 days");
    ret->state = CM_MODELLED;
    ret->cold = (struct cm_timing){
        .median = seconds, .q1 = seconds, .q3 = seconds, .min = seconds, .max = seconds};
    set_limit(&roofs, device->model.floor, ret);
    return CM_BACKEND_OK;
}

static int find_model(const char *name, struct arena *arena, struct device_model *ret,
                      struct cm_reason *reason) {
    if (!device_is_built_in(name) && text_ends_with(name, ".json"))
        return device_read(name, arena, ret, reason);
    return device_built_in(name, arena, ret, reason);
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

static bool has_matrix_units(const struct device_model *model) {
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        if (device_rate_is_matrix((enum device_rate)i) && model->rates[i] > 0) return true;
    return false;
}

/* Copies a text, truncated between characters. */
static void copy_fact(char *ret, size_t size, const char *text) {
    if (text == NULL) return;
    (void)snprintf(ret, size, "%.*s", (int)text_cut(text, size - 1), text);
}

static void roofline_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    const struct device_model *model = &device->model;
    memset(ret, 0, sizeof(*ret));
    copy_fact(ret->name, sizeof(ret->name), model->title);
    copy_fact(ret->version, sizeof(ret->version), model->source);
    copy_fact(ret->architecture, sizeof(ret->architecture), model->architecture);
    ret->memory_bytes = model->memory_bytes;
    ret->cache_bytes = model->cache_bytes;
    ret->n_units = model->n_units;
    ret->threads_a_unit = model->threads_a_unit;
    ret->has_tensor_cores = has_matrix_units(model);
    ret->modelled = 1;
    ret->bandwidth = model->bandwidth;
    ret->floor = model->floor;
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
