/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source of all modules of test_backend_registry.c: a small backend, with a fault that a
 * definition in tests/backends/CMakeLists.txt selects.
 */
#include <stdio.h>
#include <string.h>

#include "costmodel/backend.h"

#ifndef MODULE_ABI
#define MODULE_ABI CM_BACKEND_ABI
#endif
#ifndef MODULE_SIZE
#define MODULE_SIZE sizeof(struct cm_backend)
#endif
#ifndef MODULE_SYMBOL
#define MODULE_SYMBOL costmodel_backend
#endif

struct cm_device {
    int unused;
};

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    static struct cm_device device;
    (void)settings;
#ifdef MODULE_NO_DEVICE
    (void)ret;
    (void)device;
    snprintf(reason->text, sizeof(reason->text), "there is no such device here");
    return CM_BACKEND_REFUSED;
#else
    (void)reason;
    *ret = &device;
    return CM_BACKEND_OK;
#endif
}

static void facts(const struct cm_device *device, struct cm_device_facts *ret) {
    (void)device;
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->name, sizeof(ret->name), "a device in a module");
}

static void close_device(struct cm_device *device) {
    (void)device;
}

static int estimate(struct cm_device *device, const struct cm_primitive *primitive,
                    struct cm_measurement *ret, struct cm_reason *reason) {
    (void)device;
    (void)reason;
    ret->state = CM_MODELLED;
    ret->cold.median = (double)primitive->flops * 1e-9;
    return CM_BACKEND_OK;
}

static const struct cm_backend backend = {
    .abi = MODULE_ABI,
    .size = MODULE_SIZE,
    .name = "good",
    .summary = "a small backend of the tests",
    .open = open_device,
    .facts = facts,
    .close = close_device,
#ifndef MODULE_NO_ESTIMATE
    .estimate = estimate,
#endif
};

__attribute__((visibility("default"))) const struct cm_backend *MODULE_SYMBOL(uint32_t abi);

const struct cm_backend *MODULE_SYMBOL(uint32_t abi) {
    (void)estimate;
#ifdef MODULE_SPEAKS_NOTHING
    (void)backend;
    return abi == 0 ? &backend : NULL;
#else
    (void)abi;
    return &backend;
#endif
}
