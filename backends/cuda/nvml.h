/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the device by NVML, which is there where a driver is. Its header is not part of
 * what a CUDA installation has to have, so the few types are our own, as NVIDIA documents them.
 */
#ifndef BACKENDS_CUDA_NVML_H
#define BACKENDS_CUDA_NVML_H

#include <stdint.h>

#include "backends/cuda/library.h"

struct nvml_device; /* NVML's own */

struct nvml {
    struct nvml_device *device; /* NULL: NVML or the device is not there */
    int (*nvmlInit_v2)(void);
    int (*nvmlDeviceGetHandleByPciBusId_v2)(const char *, struct nvml_device **);
    int (*nvmlDeviceGetClockInfo)(struct nvml_device *, int, unsigned *);
    int (*nvmlDeviceGetMaxClockInfo)(struct nvml_device *, int, unsigned *);
    int (*nvmlDeviceGetTemperature)(struct nvml_device *, int, unsigned *);
    int (*nvmlDeviceGetPowerUsage)(struct nvml_device *, unsigned *);
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(struct nvml_device *,
                                                     unsigned long long *);
    /* Optional. */
    int (*nvmlSystemGetDriverVersion)(char *, unsigned);
    int (*nvmlDeviceGetComputeRunningProcesses_v3)(struct nvml_device *, unsigned *, void *);
    int (*nvmlDeviceGetMigMode)(struct nvml_device *, unsigned *, unsigned *);
};

/* By the address of the device: the numbers of NVML are not those of the driver. */
void nvml_open(const struct library_folders *folders, const char *address, struct nvml *ret);
void nvml_clocks(const struct nvml *nvml, struct cm_clocks *ret);
/* Of the other processes that compute on it; 0 not known. */
unsigned nvml_other_processes(const struct nvml *nvml);
bool nvml_is_partitioned(const struct nvml *nvml);
/* "580.65.06"; "" not known. */
void nvml_driver_version(const struct nvml *nvml, char *ret, size_t size);

#endif
