/* SPDX-License-Identifier: Apache-2.0 */
/* The stub driver for planning without a device (planning/driver.c). */
#ifndef BACKENDS_CUDA_PLANNING_STUB_DRIVER_H
#define BACKENDS_CUDA_PLANNING_STUB_DRIVER_H

#include "costmodel/backend.h"

/* Loads the stub driver from the folder of the module. A later load of libcuda.so.1 finds it by
 * its soname. Returns CM_BACKEND_REFUSED if it is missing. */
int stub_driver_load(struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
