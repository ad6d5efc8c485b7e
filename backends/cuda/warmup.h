/* SPDX-License-Identifier: Apache-2.0 */
/* Warm-up of the device, once before the first timing. */
#ifndef BACKENDS_CUDA_WARMUP_H
#define BACKENDS_CUDA_WARMUP_H

#include "backends/cuda/device.h"

/* Runs kernels until the clocks are up, then sets device->floor. */
int warmup_device(struct cm_device *device, struct cm_reason *reason);

#endif
