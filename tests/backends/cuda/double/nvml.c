/* SPDX-License-Identifier: Apache-2.0 */
/* Double of NVML. */
#include <string.h>

#include "double.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **);
EXPORT int nvmlDeviceGetClockInfo(void *, int, unsigned *);
EXPORT int nvmlDeviceGetMaxClockInfo(void *, int, unsigned *);
EXPORT int nvmlDeviceGetTemperature(void *, int, unsigned *);
EXPORT int nvmlDeviceGetPowerUsage(void *, unsigned *);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *, unsigned long long *);
EXPORT int nvmlDeviceGetFieldValues(void *, int, void *);
EXPORT int nvmlSystemGetDriverVersion(char *, unsigned);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *, void *);
EXPORT int nvmlDeviceGetMigMode(void *, unsigned *, unsigned *);

int nvmlInit_v2(void) {
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret) {
    *ret = &double_state;
    return strcmp(address, "0000:1B:00.0") == 0 ? 0 : 6;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *ret) {
    (void)device;
    *ret = which == 1 ? 1500 : 2600;
    return 0;
}

int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *ret) {
    (void)device, (void)which;
    *ret = 1980;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int which, unsigned *ret) {
    (void)device, (void)which;
    *ret = 51;
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *ret) {
    (void)device;
    *ret = 123456;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret) {
    (void)device;
    *ret = double_state.throttle;
    if (double_state.throttle_readings > 0 && --double_state.throttle_readings == 0)
        double_state.throttle = 0;
    return 0;
}

/* nvmlFieldValue_t of nvml.h; 186 is NVML_FI_DEV_POWER_INSTANT. */
struct field_value {
    unsigned field, scope;
    long long timestamp, latency;
    int type, status;
    union {
        unsigned number;
        double real;
    } value;
};

int nvmlDeviceGetFieldValues(void *device, int n, void *ret) {
    struct field_value *field = ret;
    (void)device;
    if (n != 1) return 2;
    field->status = field->field == 186 ? 0 : 3;
    field->value.number = 345678;
    return 0;
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size) {
    static const char version[] = "580.1";
    if (size < sizeof(version)) return 7;
    memcpy(ret, version, sizeof(version));
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, void *ret) {
    (void)device, (void)ret;
    *n = double_state.n_processes;
    return 7;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) {
    (void)device;
    *now = *pending = 0;
    return 0;
}
