/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA module: settings and the cm_backend table. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"

#define MAX_DEVICES       1024
#define MAX_BYTES         ((int64_t)1 << 60)
#define DEFAULT_WORKSPACE ((int64_t)512 << 20)

enum setting {
    SETTING_DEVICE,
    SETTING_LIBRARIES,
    SETTING_WORKSPACE,
    SETTING_MEMORY,
    SETTING_TARGET,
    SETTING_HEURISTICS,
    N_SETTINGS
};

static const struct cm_backend_option options[N_SETTINGS + 1] = {
    [SETTING_DEVICE] = {"device", "N", "index of the GPU in the driver's order (default 0)"},
    [SETTING_LIBRARIES] =
        {"libraries", "PATH",
         "folders, separated by colons, to search first for NVIDIA's libraries"},
    [SETTING_WORKSPACE] = {"workspace", "BYTES",
                           "largest workspace of an algorithm (default 512 MiB)"},
    [SETTING_MEMORY] = {"memory", "BYTES",
                        "memory for operands (default: half of the free memory)"},
    [SETTING_TARGET] = {"target", "NAME",
                        "with --cudnn-plan: GPU to plan for, a name like h200 or a .json file"},
    [SETTING_HEURISTICS] = {"heuristics", "a|b",
                            "heuristic mode of cuDNN; b considers more convolution engines"},
};

/* Sets *ret to a number in `least` .. `most`; leaves it unchanged if the setting is absent. */
static int read_number(const char *const *values, enum setting setting, int64_t least,
                       int64_t most, int64_t *ret, struct cm_reason *reason) {
    const char *text = values[setting];
    char *end = NULL;
    if (text == NULL) return CM_BACKEND_OK;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < least || number > most)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "%s must be from %lld to %lld",
                           options[setting].name, (long long)least, (long long)most);
    *ret = number;
    return CM_BACKEND_OK;
}

static int read_settings(const struct cm_settings *settings, struct cuda_options *ret,
                         struct cm_reason *reason) {
    const char *values[N_SETTINGS] = {NULL};
    int64_t device = 0;
    for (size_t i = 0; i < settings->n; i++) {
        int setting = 0;
        while (setting < N_SETTINGS &&
               strcmp(settings->items[i].name, options[setting].name) != 0)
            setting++;
        if (setting == N_SETTINGS)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "cuda has no option '%s'",
                               settings->items[i].name);
        values[setting] = settings->items[i].value;
    }
    const char *mode = values[SETTING_HEURISTICS] != NULL ? values[SETTING_HEURISTICS] : "a";
    if (strcmp(mode, "a") != 0 && strcmp(mode, "b") != 0)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "heuristics must be a or b");
    *ret = (struct cuda_options){
        .precision = settings->precision,
        .layout = settings->layout,
        .autotune = settings->autotune,
        .plan_only = settings->plan_only != 0,
        .slow_heuristics = strcmp(mode, "b") == 0,
        .workspace_bytes = DEFAULT_WORKSPACE,
        .libraries = values[SETTING_LIBRARIES],
        .target = values[SETTING_TARGET],
    };
    int status = read_number(values, SETTING_DEVICE, 0, MAX_DEVICES, &device, reason);
    if (status != CM_BACKEND_OK) return status;
    ret->ordinal = (int)device;
    status =
        read_number(values, SETTING_WORKSPACE, 0, MAX_BYTES, &ret->workspace_bytes, reason);
    if (status != CM_BACKEND_OK) return status;
    return read_number(values, SETTING_MEMORY, 1, MAX_BYTES, &ret->memory_bytes, reason);
}

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    struct cuda_options values;
    struct cm_device *device = NULL;
    int status = read_settings(settings, &values, reason);
    if (status != CM_BACKEND_OK) return status;
    status = device_open(&values, &device, reason);
    if (status != CM_BACKEND_OK) return status;
    if (!values.plan_only) status = warmup_open(device, reason);
    if (!values.plan_only && status == CM_BACKEND_OK) status = replay_floor(device, reason);
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
    .run_kernels = plan_run_kernels,
};

__attribute__((visibility("default"))) cm_backend_entry costmodel_backend;

const struct cm_backend *costmodel_backend(uint32_t abi) {
    return abi == CM_BACKEND_ABI ? &backend : NULL;
}
