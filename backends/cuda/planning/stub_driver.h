/* SPDX-License-Identifier: Apache-2.0 */
/* The driver that stands for a real one while plans are made (planning/driver.c). */
#ifndef BACKENDS_CUDA_PLANNING_STUB_DRIVER_H
#define BACKENDS_CUDA_PLANNING_STUB_DRIVER_H

#include "costmodel/backend.h"

/*
 * Loads it, so that who loads libcuda.so.1 after that gets it: a library that is loaded already
 * is found by its soname. It lies beside the module. CM_BACKEND_REFUSED: it does not.
 */
int stub_driver_load(struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
