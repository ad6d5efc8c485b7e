/* SPDX-License-Identifier: Apache-2.0 */
/* The module: its settings and the table of slots. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"
#include "backends/cuda/warmup.h"

#include "support/banned.h"

#define MOST_DEVICES      1024
#define MOST_BYTES        ((int64_t)1 << 60)
#define DEFAULT_WORKSPACE ((int64_t)512 << 20)

enum wish {
    WISH_DEVICE,
    WISH_LIBRARIES,
    WISH_WORKSPACE,
    WISH_MEMORY,
    WISH_TARGET,
    WISH_HEURISTICS,
    N_WISHES
};

static const struct cm_backend_option options[N_WISHES + 1] = {
    [WISH_DEVICE] = {"device", "N", "the driver's number of it, instead of 0"},
    [WISH_LIBRARIES] =
        {"libraries", "PATH",
         "folders between colons in which NVIDIA's libraries are looked for first"},
    [WISH_WORKSPACE] = {"workspace", "BYTES", "the most that an algorithm may take (512 MiB)"},
    [WISH_MEMORY] = {"memory", "BYTES", "that operands may take (half of what is free)"},
    [WISH_TARGET] = {"target", "NAME",
                     "with --plan: a device that need not be here, as h200, or a file (.json)"},
    [WISH_HEURISTICS] = {"heuristics", "a|b", "of cuDNN: b knows more engines of convolutions"},
};

static int read_wish(const struct cm_setting *setting, const char **wishes,
                     struct cm_reason *reason) {
    for (int i = 0; i < N_WISHES; i++) {
        if (strcmp(setting->name, options[i].name) != 0) continue;
        wishes[i] = setting->value;
        return CM_BACKEND_OK;
    }
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "cuda has no option '%s'", setting->name);
}

/* A number from `least` to `most`; *ret stays where nothing is wished. */
static int read_number(const char *const *wishes, enum wish wish, int64_t least, int64_t most,
                       int64_t *ret, struct cm_reason *reason) {
    const char *text = wishes[wish];
    char *end = NULL;
    if (text == NULL) return CM_BACKEND_OK;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < least || number > most)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "%s wants %lld to %lld",
                           options[wish].name, (long long)least, (long long)most);
    *ret = number;
    return CM_BACKEND_OK;
}

static int read_heuristics(const char *text, bool *ret, struct cm_reason *reason) {
    *ret = text != NULL && strcmp(text, "b") == 0;
    if (text == NULL || *ret || strcmp(text, "a") == 0) return CM_BACKEND_OK;
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "heuristics wants a or b");
}

static int read_wishes(const struct cm_settings *settings, struct cuda_wishes *ret,
                       struct cm_reason *reason) {
    const char *wishes[N_WISHES] = {NULL};
    int64_t device = 0;
    int status = CM_BACKEND_OK;
    for (size_t i = 0; i < settings->n && status == CM_BACKEND_OK; i++)
        status = read_wish(&settings->items[i], wishes, reason);
    *ret = (struct cuda_wishes){
        .precision = settings->precision,
        .layout = settings->layout,
        .autotune = settings->autotune,
        .plan_only = settings->plan_only != 0,
        .workspace_bytes = DEFAULT_WORKSPACE,
        .libraries = wishes[WISH_LIBRARIES],
        .target = wishes[WISH_TARGET],
    };
    if (status == CM_BACKEND_OK)
        status = read_heuristics(wishes[WISH_HEURISTICS], &ret->slow_heuristics, reason);
    if (status == CM_BACKEND_OK)
        status = read_number(wishes, WISH_DEVICE, 0, MOST_DEVICES, &device, reason);
    if (status == CM_BACKEND_OK)
        status =
            read_number(wishes, WISH_WORKSPACE, 0, MOST_BYTES, &ret->workspace_bytes, reason);
    if (status == CM_BACKEND_OK)
        status = read_number(wishes, WISH_MEMORY, 1, MOST_BYTES, &ret->memory_bytes, reason);
    ret->ordinal = (int)device;
    return status;
}

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    struct cuda_wishes wishes;
    struct cm_device *device = NULL;
    int status = read_wishes(settings, &wishes, reason);
    if (status != CM_BACKEND_OK) return status;
    status = device_open(&wishes, &device, reason);
    if (status != CM_BACKEND_OK) return status;
    if (!wishes.plan_only) status = warmup_device(device, reason);
    if (status == CM_BACKEND_OK)
        *ret = device;
    else
        device_close(device);
    return status;
}

static const struct cm_backend backend = {
    .abi = CM_BACKEND_ABI,
    .size = sizeof(struct cm_backend),
    .name = "cuda",
    .summary = "runs each primitive on an NVIDIA GPU",
    .options = options,
    .open = open_device,
    .facts = device_facts,
    .close = device_close,
    .plan = plan_make,
    .run = plan_run,
    .plan_facts = plan_facts,
    .drop = plan_drop,
    .clocks = device_clocks,
    .network = plan_network,
};

__attribute__((visibility("default"))) cm_backend_entry costmodel_backend;

const struct cm_backend *costmodel_backend(uint32_t abi) {
    return abi == CM_BACKEND_ABI ? &backend : NULL;
}
