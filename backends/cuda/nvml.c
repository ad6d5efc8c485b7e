/* SPDX-License-Identifier: Apache-2.0 */
/* Reads clocks, temperature, power and throttling of the device from NVML. */
#include "backends/cuda/nvml.h"

#include <stddef.h>
#include <string.h>

#include "backends/cuda/refuse.h"

/* Constants of nvml.h. */
#define NVML_SUCCESS           0
#define NVML_INSUFFICIENT_SIZE 7
#define NVML_CLOCK_SM          1
#define NVML_CLOCK_MEM         2
#define NVML_TEMPERATURE_GPU   0
#define NVML_FI_POWER_INSTANT  186 /* NVML_FI_DEV_POWER_INSTANT, mW */

/* nvmlFieldValue_t of nvml.h. */
struct field_value {
    unsigned field, scope;
    long long timestamp, latency;
    int type;
    int status;
    union {
        unsigned number;
        double real;
    } value;
};

/* nvmlTemperature_t of nvml.h, version 1. */
struct temperature {
    unsigned version;
    int sensor;
    int celsius;
};

#define MILLI 1e-3

#define ROW(name, optional)                                                                    \
    { #name, offsetof(struct nvml, name), optional }
static const struct library_symbol symbols[] = {
    ROW(nvmlInit_v2, false),
    ROW(nvmlDeviceGetHandleByPciBusId_v2, false),
    ROW(nvmlDeviceGetClockInfo, false),
    ROW(nvmlDeviceGetMaxClockInfo, false),
    ROW(nvmlDeviceGetTemperature, true),
    ROW(nvmlDeviceGetTemperatureV, true),
    ROW(nvmlDeviceGetCurrentClocksThrottleReasons, true),
    ROW(nvmlDeviceGetCurrentClocksEventReasons, true),
    ROW(nvmlDeviceGetPowerUsage, true),
    ROW(nvmlDeviceGetFieldValues, true),
    ROW(nvmlSystemGetDriverVersion, true),
    ROW(nvmlDeviceGetComputeRunningProcesses_v3, true),
    ROW(nvmlDeviceGetMigMode, true),
};

/* Bits of NVML's reasons for a lower clock, without idleness and an administrator's limits. */
static const struct {
    unsigned long long bit;
    const char *name;
} throttles[] = {
    {0x04, "power cap"},   {0x08, "slowdown"},    {0x20, "temperature"},
    {0x40, "temperature"}, {0x80, "power brake"}, {0x10, "sync boost"},
};

void nvml_open(const struct library_folders *folders, const char *address, struct nvml *ret) {
    static const struct library_name name = {"NVML", {"libnvidia-ml.so.1", NULL}, true};
    struct cm_reason unused;
    memset(ret, 0, sizeof(*ret));
    if (library_load(&name, folders, symbols, sizeof(symbols) / sizeof(symbols[0]), ret,
                     &unused) != CM_BACKEND_OK ||
        ret->nvmlInit_v2() != NVML_SUCCESS ||
        ret->nvmlDeviceGetHandleByPciBusId_v2(address, &ret->device) != NVML_SUCCESS)
        memset(ret, 0, sizeof(*ret));
}

static void read_temperature(const struct nvml *nvml, struct cm_clocks *ret) {
    struct temperature temperature = {(unsigned)sizeof(temperature) | 1U << 24,
                                      NVML_TEMPERATURE_GPU, 0};
    unsigned celsius = 0;
    if (nvml->nvmlDeviceGetTemperatureV != NULL &&
        nvml->nvmlDeviceGetTemperatureV(nvml->device, &temperature) == NVML_SUCCESS)
        ret->temperature_c = temperature.celsius;
    else if (nvml->nvmlDeviceGetTemperature != NULL &&
             nvml->nvmlDeviceGetTemperature(nvml->device, NVML_TEMPERATURE_GPU, &celsius) ==
                 NVML_SUCCESS)
        ret->temperature_c = (int32_t)celsius;
}

/* Prefers the instant power: since Ampere, nvmlDeviceGetPowerUsage returns the mean over a
 * second, which is longer than most layers run. */
static void read_power(const struct nvml *nvml, struct cm_clocks *ret) {
    struct field_value field = {.field = NVML_FI_POWER_INSTANT};
    unsigned milliwatts = 0;
    if (nvml->nvmlDeviceGetFieldValues != NULL &&
        nvml->nvmlDeviceGetFieldValues(nvml->device, 1, &field) == NVML_SUCCESS &&
        field.status == NVML_SUCCESS)
        ret->power_w = MILLI * field.value.number;
    else if (nvml->nvmlDeviceGetPowerUsage != NULL &&
             nvml->nvmlDeviceGetPowerUsage(nvml->device, &milliwatts) == NVML_SUCCESS)
        ret->power_w = MILLI * milliwatts;
}

static void read_throttle(const struct nvml *nvml, struct cm_clocks *ret) {
    int (*read)(struct nvml_device *, unsigned long long *) =
        nvml->nvmlDeviceGetCurrentClocksEventReasons;
    unsigned long long bits = 0;
    if (read == NULL) read = nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
    if (read == NULL || read(nvml->device, &bits) != NVML_SUCCESS) return;
    for (size_t i = 0; i < sizeof(throttles) / sizeof(throttles[0]); i++)
        if ((bits & throttles[i].bit) != 0 && !strstr(ret->throttle, throttles[i].name))
            cuda_append(ret->throttle, sizeof(ret->throttle), ", ", "%s", throttles[i].name);
}

void nvml_clocks(const struct nvml *nvml, struct cm_clocks *ret) {
    struct nvml_device *device = nvml->device;
    unsigned value = 0;
    memset(ret, 0, sizeof(*ret));
    if (device == NULL) return;
    if (nvml->nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        ret->unit_mhz = (int32_t)value;
    if (nvml->nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        ret->unit_most_mhz = (int32_t)value;
    if (nvml->nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &value) == NVML_SUCCESS)
        ret->memory_mhz = (int32_t)value;
    read_temperature(nvml, ret);
    read_power(nvml, ret);
    read_throttle(nvml, ret);
}

/* NVML also counts this process, because it has a context. */
unsigned nvml_other_processes(const struct nvml *nvml) {
    unsigned n = 0;
    if (nvml->device == NULL || nvml->nvmlDeviceGetComputeRunningProcesses_v3 == NULL) return 0;
    const int status = nvml->nvmlDeviceGetComputeRunningProcesses_v3(nvml->device, &n, NULL);
    if (status != NVML_SUCCESS && status != NVML_INSUFFICIENT_SIZE) return 0;
    return n > 0 ? n - 1 : 0;
}

bool nvml_is_partitioned(const struct nvml *nvml) {
    unsigned now = 0;
    unsigned pending = 0;
    if (nvml->device == NULL || nvml->nvmlDeviceGetMigMode == NULL) return false;
    return nvml->nvmlDeviceGetMigMode(nvml->device, &now, &pending) == NVML_SUCCESS && now == 1;
}

void nvml_driver_version(const struct nvml *nvml, char *ret, size_t size) {
    ret[0] = '\0';
    if (nvml->device == NULL || nvml->nvmlSystemGetDriverVersion == NULL) return;
    if (nvml->nvmlSystemGetDriverVersion(ret, (unsigned)size) != NVML_SUCCESS) ret[0] = '\0';
    ret[size - 1] = '\0';
}
