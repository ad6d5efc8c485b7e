/* SPDX-License-Identifier: Apache-2.0 */
/* Device state from NVML, which comes with the driver. A CUDA installation may lack its header,
 * so nvml.h and nvml.c declare the types that they use, as documented. */
#pragma once

#include <stdint.h>

#include "backends/cuda/library.h"

struct nvml_device; /* opaque */

/* NVML's functions, which return error codes of NVML. */
struct nvml {
    struct nvml_device *device; /* NULL if NVML or the device is absent */
    int (*nvmlInit_v2)(void);
    int (*nvmlDeviceGetHandleByPciBusId_v2)(const char *, struct nvml_device **);
    int (*nvmlDeviceGetClockInfo)(struct nvml_device *, int, unsigned *);
    int (*nvmlDeviceGetMaxClockInfo)(struct nvml_device *, int, unsigned *);
    /* Optional: NULL if NVML lacks them. If there are two variants, the first is deprecated
     * since CUDA 13. */
    int (*nvmlDeviceGetTemperature)(struct nvml_device *, int, unsigned *);
    int (*nvmlDeviceGetTemperatureV)(struct nvml_device *, void *);
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(struct nvml_device *,
                                                     unsigned long long *);
    int (*nvmlDeviceGetCurrentClocksEventReasons)(struct nvml_device *, unsigned long long *);
    int (*nvmlDeviceGetPowerUsage)(struct nvml_device *, unsigned *);
    int (*nvmlDeviceGetFieldValues)(struct nvml_device *, int, void *);
    int (*nvmlSystemGetDriverVersion)(char *, unsigned);
    int (*nvmlDeviceGetComputeRunningProcesses_v3)(struct nvml_device *, unsigned *, void *);
    int (*nvmlDeviceGetMigMode)(struct nvml_device *, unsigned *, unsigned *);
};

/* Finds the device by its PCI address: NVML and the driver number devices differently. Leaves
 * ret->device NULL if NVML or the device is missing. */
void nvml_open(const struct library_folders *folders, const char *address, struct nvml *ret);
/* Sets clocks, temperature, power and throttling; 0 and "" if unknown. */
void nvml_clocks(const struct nvml *nvml, struct cm_clocks *ret);
/* Returns the number of other compute processes; 0 if unknown. */
unsigned nvml_other_processes(const struct nvml *nvml);
/* Returns true if the device is partitioned by MIG. */
bool nvml_is_partitioned(const struct nvml *nvml);
/* Sets `ret` to the version of the driver: "580.65.06"; "" if unknown. */
void nvml_driver_version(const struct nvml *nvml, char *ret, size_t size);
