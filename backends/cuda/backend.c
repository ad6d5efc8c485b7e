/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA module: settings and the cm_backend table. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/floor.h"
#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"

#include "support/banned.h"

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

static int read_setting(const struct cm_setting *setting, const char **values,
                        struct cm_reason *reason) {
    for (int i = 0; i < N_SETTINGS; i++) {
        if (strcmp(setting->name, options[i].name) != 0) continue;
        values[i] = setting->value;
        return CM_BACKEND_OK;
    }
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "cuda has no option '%s'", setting->name);
}

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

static int read_heuristics(const char *text, bool *ret, struct cm_reason *reason) {
    *ret = text != NULL && strcmp(text, "b") == 0;
    if (text == NULL || *ret || strcmp(text, "a") == 0) return CM_BACKEND_OK;
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "heuristics must be a or b");
}

static int read_settings(const struct cm_settings *settings, struct cuda_options *ret,
                         struct cm_reason *reason) {
    const char *values[N_SETTINGS] = {NULL};
    int64_t device = 0;
    int status = CM_BACKEND_OK;
    for (size_t i = 0; i < settings->n && status == CM_BACKEND_OK; i++)
        status = read_setting(&settings->items[i], values, reason);
    *ret = (struct cuda_options){
        .precision = settings->precision,
        .layout = settings->layout,
        .autotune = settings->autotune,
        .plan_only = settings->plan_only != 0,
        .workspace_bytes = DEFAULT_WORKSPACE,
        .libraries = values[SETTING_LIBRARIES],
        .target = values[SETTING_TARGET],
    };
    if (status == CM_BACKEND_OK)
        status = read_heuristics(values[SETTING_HEURISTICS], &ret->slow_heuristics, reason);
    if (status == CM_BACKEND_OK)
        status = read_number(values, SETTING_DEVICE, 0, MAX_DEVICES, &device, reason);
    if (status == CM_BACKEND_OK)
        status =
            read_number(values, SETTING_WORKSPACE, 0, MAX_BYTES, &ret->workspace_bytes, reason);
    if (status == CM_BACKEND_OK)
        status = read_number(values, SETTING_MEMORY, 1, MAX_BYTES, &ret->memory_bytes, reason);
    ret->ordinal = (int)device;
    return status;
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
    if (!values.plan_only && status == CM_BACKEND_OK) status = floor_measure(device, reason);
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
