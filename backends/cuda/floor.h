/* SPDX-License-Identifier: Apache-2.0 */
/* The time that an empty kernel takes in a graph. */
#ifndef BACKENDS_CUDA_FLOOR_H
#define BACKENDS_CUDA_FLOOR_H

#include "costmodel/backend.h"

/* Sets device->floor; leaves it at 0, without an error, if kernels cannot be loaded or
 * captured. */
int floor_measure(struct cm_device *device, struct cm_reason *reason);

#endif
