/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest backend that measures: in place of each primitive, it copies as many bytes.
 * Every time is marked as a proxy. It needs the installed header only, and no library of
 * costmodel:
 *
 *     cc -std=c11 -O2 -shared -fPIC $(pkg-config --cflags costmodel) memcpy.c -o
 * costmodel-memcpy.so COSTMODEL_BACKEND_PATH=$PWD costmodel model.onnx --backend memcpy
 */
#define _POSIX_C_SOURCE 200809L
#include <costmodel/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CACHE_BYTES ((size_t)64 << 20) /* at least the last-level cache */

struct cm_device {
    int unused;
};

struct cm_plan {
    size_t bytes;  /* of a copy */
    size_t n_sets; /* pairs of source and destination: together larger than the cache */
    size_t next;   /* pair of the next cold execution */
    char *memory;
};

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    static struct cm_device device;
    if (settings->n > 0) {
        snprintf(reason->text, sizeof reason->text, "there is no setting '%s'",
                 settings->items[0].name);
        return CM_BACKEND_REFUSED;
    }
    *ret = &device;
    return CM_BACKEND_OK;
}

static void facts(const struct cm_device *device, struct cm_device_facts *ret) {
    (void)device;
    memset(ret, 0, sizeof *ret);
    snprintf(ret->name, sizeof ret->name, "memcpy of this machine");
    snprintf(ret->version, sizeof ret->version, "%s", __VERSION__);
    ret->cache_bytes = CACHE_BYTES;
    ret->n_units = 1;
}

static void close_device(struct cm_device *device) {
    (void)device;
}

static int plan(struct cm_device *device, const struct cm_primitive *primitive,
                struct cm_plan **ret, struct cm_reason *reason) {
    const int64_t bytes = (primitive->bytes_read + primitive->bytes_written) / 2;
    (void)device;
    if (bytes < 1) {
        snprintf(reason->text, sizeof reason->text, "nothing to copy");
        return CM_BACKEND_REFUSED;
    }
    struct cm_plan *plan = malloc(sizeof *plan);
    if (plan == NULL) return CM_BACKEND_NO_MEMORY;
    *plan = (struct cm_plan){.bytes = (size_t)bytes, .n_sets = 1 + CACHE_BYTES / (size_t)bytes};
    plan->memory = malloc(2 * plan->n_sets * plan->bytes);
    if (plan->memory == NULL) {
        free(plan);
        return CM_BACKEND_NO_MEMORY;
    }
    memset(plan->memory, 1, 2 * plan->n_sets * plan->bytes);
    *ret = plan;
    return CM_BACKEND_OK;
}

static int run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason) {
    struct timespec begin, end;
    (void)reason;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint32_t i = 0; i < n; i++) {
        if (cache == CM_COLD) plan->next = (plan->next + 1) % plan->n_sets;
        char *set = plan->memory + 2 * plan->next * plan->bytes;
        memcpy(set + plan->bytes, set, plan->bytes);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    *ret_seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return CM_BACKEND_OK;
}

static void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    memset(ret, 0, sizeof *ret);
    ret->state = CM_PROXY;
    ret->how.n_sets = (int32_t)plan->n_sets;
    snprintf(ret->reason.text, sizeof ret->reason.text, "a copy of %zu bytes", plan->bytes);
}

static void drop(struct cm_plan *plan) {
    free(plan->memory);
    free(plan);
}

static const struct cm_backend backend = {
    .abi = CM_BACKEND_ABI,
    .size = sizeof(struct cm_backend),
    .name = "memcpy",
    .summary = "copies as many bytes as each primitive",
    .open = open_device,
    .facts = facts,
    .close = close_device,
    .plan = plan,
    .run = run,
    .plan_facts = plan_facts,
    .drop = drop,
};

const struct cm_backend *costmodel_backend(uint32_t abi);

const struct cm_backend *costmodel_backend(uint32_t abi) {
    return abi == CM_BACKEND_ABI ? &backend : NULL;
}
