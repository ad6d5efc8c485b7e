/* SPDX-License-Identifier: Apache-2.0 */
/* The oneDNN module: settings, the CPU as a device, and the cm_backend table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/onednn/machine.h"
#include "backends/onednn/plan.h"

/* Load average, in CPUs, above which other processes disturb the times. */
#define QUIET_LOAD  0.5
#define MAX_THREADS 4096
#define MAX_BYTES   ((int64_t)1 << 60)

struct cm_device {
    struct onednn lib;
    int n_threads;
    bool keep_layout;          /* convolutions keep the layout of the model */
    struct plan_limits limits; /* 0: determined when a plan is made */
};

enum setting { SETTING_LIBRARY, SETTING_THREADS, SETTING_CACHE, SETTING_MEMORY, N_SETTINGS };

static const struct cm_backend_option options[N_SETTINGS + 1] = {
    [SETTING_LIBRARY] = {"library", "PATH",
                         "library to load instead of the system's " ONEDNN_SONAME},
    [SETTING_THREADS] =
        {"threads", "N",
         "number of threads (default: OMP_NUM_THREADS, else all available processors)"},
    [SETTING_CACHE] = {"cache", "BYTES",
                       "cache size that the operands of cold executions exceed"},
    [SETTING_MEMORY] = {"memory", "BYTES",
                        "memory for operands (default: half of the free memory)"},
};

/* Sets ret[i] to the value of setting i, NULL if it is not set. Returns CM_BACKEND_REFUSED if a
 * setting is invalid. */
static int read_settings(const struct cm_settings *settings, const char *ret[N_SETTINGS],
                         struct cm_reason *reason) {
    for (int i = 0; i < N_SETTINGS; i++) ret[i] = NULL;
    if (settings->precision == CM_PRECISION_TF32)
        return onednn_refuse(reason, CM_BACKEND_REFUSED,
                             "precision must not be tf32: processors compute in fp32");
    for (size_t i = 0; i < settings->n; i++) {
        int which = 0;
        while (which < N_SETTINGS && strcmp(settings->items[i].name, options[which].name) != 0)
            which++;
        if (which == N_SETTINGS)
            return onednn_refuse(reason, CM_BACKEND_REFUSED, "onednn has no option '%s'",
                                 settings->items[i].name);
        ret[which] = settings->items[i].value;
    }
    const char *library = ret[SETTING_LIBRARY];
    if (library != NULL && library[0] != '/')
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "library must be an absolute path");
    return CM_BACKEND_OK;
}

/* Reads a number from 1 to `max`; *ret is unchanged if the setting is absent. */
static int read_number(const char *const values[N_SETTINGS], enum setting setting, int64_t max,
                       int64_t *ret, struct cm_reason *reason) {
    const char *text = values[setting];
    char *end = NULL;
    if (text == NULL) return CM_BACKEND_OK;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > max)
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "%s must be from 1 to %lld",
                             options[setting].name, (long long)max);
    *ret = number;
    return CM_BACKEND_OK;
}

static void close_device(struct cm_device *device) {
    const struct onednn_api *api = &device->lib.api;
    if (device->lib.stream != NULL) (void)api->dnnl_stream_destroy(device->lib.stream);
    if (device->lib.engine != NULL) (void)api->dnnl_engine_destroy(device->lib.engine);
    free(device);
}

/* Applies the settings, loads oneDNN, and creates the engine and the stream. */
static int begin(const char *const values[N_SETTINGS], struct cm_device *device,
                 struct cm_reason *reason) {
    struct onednn *lib = &device->lib;
    struct plan_limits *limits = &device->limits;
    int64_t n_threads = machine_processors();
    const char *environment = getenv("OMP_NUM_THREADS");
    const long n_given = environment != NULL ? strtol(environment, NULL, 10) : 0;
    char text[16];
    if (n_given > 0 && n_given <= MAX_THREADS) n_threads = n_given;
    int status = read_number(values, SETTING_THREADS, MAX_THREADS, &n_threads, reason);
    if (status != CM_BACKEND_OK) return status;
    status = read_number(values, SETTING_CACHE, MAX_BYTES, &limits->cache_bytes, reason);
    if (status != CM_BACKEND_OK) return status;
    status = read_number(values, SETTING_MEMORY, MAX_BYTES, &limits->memory_bytes, reason);
    if (status != CM_BACKEND_OK) return status;
    device->n_threads = (int)n_threads;
    /* OpenMP reads these variables when it is loaded. Existing values are kept, except
     * OMP_NUM_THREADS if the setting `threads` is given. */
    (void)snprintf(text, sizeof(text), "%d", device->n_threads);
    (void)setenv("OMP_NUM_THREADS", text, values[SETTING_THREADS] != NULL);
    (void)setenv("OMP_PROC_BIND", "true", 0);
    status = api_load(values[SETTING_LIBRARY], &lib->api, reason);
    if (status != CM_BACKEND_OK) return status;
    dnnl_status_t begun = lib->api.dnnl_engine_create(&lib->engine, dnnl_cpu, 0);
    if (begun == dnnl_success)
        begun =
            lib->api.dnnl_stream_create(&lib->stream, lib->engine, dnnl_stream_default_flags);
    if (begun == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot use the CPU: status %d",
                         (int)begun);
}

static int open_device(const struct cm_settings *settings, struct cm_device **ret,
                       struct cm_reason *reason) {
    const char *values[N_SETTINGS];
    struct cm_device *device = calloc(1, sizeof(*device));
    if (device == NULL) return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    device->keep_layout = settings->layout != CM_LAYOUT_AUTO;
    int status = read_settings(settings, values, reason);
    if (status == CM_BACKEND_OK) status = begin(values, device, reason);
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
    ret->memory_bytes = machine_meminfo("MemTotal");
    ret->cache_bytes = device->limits.cache_bytes;
    if (ret->cache_bytes == 0) ret->cache_bytes = machine_cache_bytes();
    ret->n_units = device->n_threads;
    if (load > QUIET_LOAD)
        (void)snprintf(ret->warning, sizeof(ret->warning),
                       "the machine is busy (load %.1f): all times are too long, and those "
                       "of short primitives many times, because threads wait for each other",
                       load);
}

static int make_plan(struct cm_device *device, const struct cm_primitive *primitive,
                     struct cm_plan **ret, struct cm_reason *reason) {
    struct plan_limits limits = device->limits;
    if (limits.cache_bytes == 0) limits.cache_bytes = machine_cache_bytes();
    if (limits.memory_bytes == 0) limits.memory_bytes = machine_meminfo("MemAvailable") / 2;
    return plan_make(&device->lib, primitive, device->keep_layout, &limits, ret, reason);
}

static int make_network(struct cm_device *device, const struct cm_network *network,
                        struct cm_plan **ret, struct cm_reason *reason) {
    struct plan_limits limits = device->limits;
    if (limits.memory_bytes == 0) limits.memory_bytes = machine_meminfo("MemAvailable") / 2;
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
