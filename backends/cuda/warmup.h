/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once before anything is timed. */
#ifndef BACKENDS_CUDA_WARMUP_H
#define BACKENDS_CUDA_WARMUP_H

#include "backends/cuda/device.h"

/* Works until the clocks are up, and leaves the time of an empty kernel in device->floor. */
int warmup_device(struct cm_device *device, struct cm_reason *reason);

#endif
