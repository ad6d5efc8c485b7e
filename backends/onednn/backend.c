/* SPDX-License-Identifier: Apache-2.0 */
/* The oneDNN module: settings, the CPU as a device, and the cm_backend table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/onednn/machine.h"
#include "backends/onednn/network.h"
#include "backends/onednn/plan.h"

#include "support/banned.h"

/* Load above which other processes disturb the times, in CPUs. */
#define QUIET_LOAD  0.5
#define MAX_THREADS 4096
#define MAX_BYTES   ((int64_t)1 << 60)

struct cm_device {
    struct onednn lib;
    int n_threads;
    bool keep_layout;          /* convolutions keep the layout of the model */
    struct plan_limits limits; /* a member of 0 is determined when a plan is made */
};

enum setting { SETTING_LIBRARY, SETTING_THREADS, SETTING_CACHE, SETTING_MEMORY, N_SETTINGS };

static const struct cm_backend_option options[N_SETTINGS + 1] = {
    [SETTING_LIBRARY] = {"library", "PATH",
                         "library to load instead of the system's " ONEDNN_SONAME},
    [SETTING_THREADS] = {"threads", "N",
                         "number of threads (default: all available processors)"},
    [SETTING_CACHE] = {"cache", "BYTES",
                       "cache size that the operands of cold executions exceed"},
    [SETTING_MEMORY] = {"memory", "BYTES",
                        "memory for operands (default: half of the free memory)"},
};

/* Values indexed by enum setting; NULL if not set. */
struct setting_values {
    const char *items[N_SETTINGS];
};

static int read_setting(const struct cm_setting *setting, struct setting_values *ret,
                        struct cm_reason *reason) {
    for (int i = 0; i < N_SETTINGS; i++) {
        if (strcmp(setting->name, options[i].name) != 0) continue;
        ret->items[i] = setting->value;
        return CM_BACKEND_OK;
    }
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "onednn has no option '%s'",
                         setting->name);
}

static int read_settings(const struct cm_settings *settings, struct setting_values *ret,
                         struct cm_reason *reason) {
    memset(ret, 0, sizeof(*ret));
    if (settings->precision == CM_PRECISION_TF32)
        return onednn_refuse(reason, CM_BACKEND_REFUSED,
                             "precision must not be tf32: processors compute in fp32");
    for (size_t i = 0; i < settings->n; i++) {
        const int status = read_setting(&settings->items[i], ret, reason);
        if (status != CM_BACKEND_OK) return status;
    }
    const char *library = ret->items[SETTING_LIBRARY];
    if (library != NULL && library[0] != '/')
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "library must be an absolute path");
    return CM_BACKEND_OK;
}

/* Reads a number from 1 to `max`; *ret is unchanged if the setting is absent. */
static int read_number(const struct setting_values *values, enum setting setting, int64_t max,
                       int64_t *ret, struct cm_reason *reason) {
    const char *text = values->items[setting];
    char *end = NULL;
    if (text == NULL) return CM_BACKEND_OK;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > max)
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "%s must be from 1 to %lld",
                             options[setting].name, (long long)max);
    *ret = number;
    return CM_BACKEND_OK;
}

/* Sets the environment variables that OpenMP reads when it is loaded: call before loading the
 * library. Existing values are kept, except the number of threads if `set`. */
static void set_threads(int n_threads, bool set) {
    char text[16];
    (void)snprintf(text, sizeof(text), "%d", n_threads);
    (void)setenv("OMP_NUM_THREADS", text, set);
    (void)setenv("OMP_PROC_BIND", "true", 0);
}

static int begin_engine(struct onednn *lib, struct cm_reason *reason) {
    dnnl_status_t status = lib->api.dnnl_engine_create(&lib->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status =
            lib->api.dnnl_stream_create(&lib->stream, lib->engine, dnnl_stream_default_flags);
    if (status == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN found no CPU engine: status %d",
                         (int)status);
}

static void close_device(struct cm_device *device) {
    const struct onednn_api *api = &device->lib.api;
    if (device->lib.stream != NULL) (void)api->dnnl_stream_destroy(device->lib.stream);
    if (device->lib.engine != NULL) (void)api->dnnl_engine_destroy(device->lib.engine);
    free(device);
}

static int read_device(const struct setting_values *values, struct cm_device *ret,
                       struct cm_reason *reason) {
    int64_t n_threads = machine_processors();
    int status = read_number(values, SETTING_THREADS, MAX_THREADS, &n_threads, reason);
    if (status == CM_BACKEND_OK)
        status =
            read_number(values, SETTING_CACHE, MAX_BYTES, &ret->limits.cache_bytes, reason);
    if (status == CM_BACKEND_OK)
        status =
            read_number(values, SETTING_MEMORY, MAX_BYTES, &ret->limits.memory_bytes, reason);
    ret->n_threads = (int)n_threads;
    return status;
}

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    struct setting_values values;
    struct cm_device *device = calloc(1, sizeof(*device));
    if (device == NULL) return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    int status = read_settings(settings, &values, reason);
    if (status == CM_BACKEND_OK) status = read_device(&values, device, reason);
    device->keep_layout = settings->layout != CM_LAYOUT_AUTO;
    if (status == CM_BACKEND_OK) {
        set_threads(device->n_threads, values.items[SETTING_THREADS] != NULL);
        status = api_load(values.items[SETTING_LIBRARY], &device->lib.api, reason);
    }
    if (status == CM_BACKEND_OK) status = begin_engine(&device->lib, reason);
    if (status == CM_BACKEND_OK)
        *ret = device;
    else
        close_device(device);
    return status;
}

static const char *runtime_name(unsigned runtime) {
    if (runtime == DNNL_RUNTIME_OMP) return "OpenMP";
    if (runtime == DNNL_RUNTIME_TBB) return "TBB";
    return runtime == DNNL_RUNTIME_SEQ ? "one thread" : "another runtime";
}

static void facts(const struct cm_device *device, struct cm_device_facts *ret) {
    const dnnl_version_t *version = device->lib.api.dnnl_version();
    const double load = machine_load();
    memset(ret, 0, sizeof(*ret));
    machine_name(ret->name, sizeof(ret->name));
    (void)snprintf(ret->version, sizeof(ret->version), "oneDNN %d.%d.%d, %d threads by %s",
                   version->major, version->minor, version->patch, device->n_threads,
                   runtime_name((unsigned)version->cpu_runtime));
    ret->memory_bytes = machine_memory_bytes();
    ret->cache_bytes = device->limits.cache_bytes;
    if (ret->cache_bytes == 0) ret->cache_bytes = machine_cache_bytes();
    ret->n_units = device->n_threads;
    if (load > QUIET_LOAD)
        (void)snprintf(ret->warning, sizeof(ret->warning),
                       "the machine is busy (load %.1f): times are too long, and waiting "
                       "threads make short ones many times longer",
                       load);
}

static int make_plan(struct cm_device *device, const struct cm_primitive *primitive,
                     struct cm_plan **ret, struct cm_reason *reason) {
    struct plan_limits limits = device->limits;
    if (limits.cache_bytes == 0) limits.cache_bytes = machine_cache_bytes();
    if (limits.memory_bytes == 0) limits.memory_bytes = machine_free_bytes() / 2;
    return plan_make(&device->lib, primitive, device->keep_layout, &limits, ret, reason);
}

static int make_network(struct cm_device *device, const struct cm_network *network,
                        struct cm_plan **ret, struct cm_reason *reason) {
    struct plan_limits limits = device->limits;
    if (limits.memory_bytes == 0) limits.memory_bytes = machine_free_bytes() / 2;
    return network_make(&device->lib, network, device->keep_layout, &limits, NULL, ret, reason);
}

static void read_clocks(struct cm_device *device, struct cm_clocks *ret) {
    (void)device;
    machine_clocks(ret);
}

static const struct cm_backend backend = {
    .abi = CM_BACKEND_ABI,
    .size = sizeof(struct cm_backend),
    .name = "onednn",
    .summary = "runs each primitive on this machine's processors",
    .options = options,
    .open = open_device,
    .facts = facts,
    .close = close_device,
    .plan = make_plan,
    .run = plan_run,
    .plan_facts = plan_facts,
    .drop = plan_drop,
    .clocks = read_clocks,
    .network = make_network,
};

__attribute__((visibility("default"))) cm_backend_entry costmodel_backend;

const struct cm_backend *costmodel_backend(uint32_t abi) {
    return abi == CM_BACKEND_ABI ? &backend : NULL;
}
