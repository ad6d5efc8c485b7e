/* SPDX-License-Identifier: Apache-2.0 */
/* A description of a device from what it was measured to reach, as the roofline takes it. */
#ifndef BACKENDS_DEVICE_CALIBRATE_H
#define BACKENDS_DEVICE_CALIBRATE_H

#include <stdio.h>

#include "costmodel/backend.h"

struct arena;
struct subprocess_setup;
struct device_model;

/*
 * Measures in a process of its own, twice where the device may round fp32 to tf32. Texts of
 * *ret are in `arena`; its source has all but the date. CM_BACKEND_OK, or a status with its
 * reason: also where there is no rate, or no bandwidth.
 */
int calibrate_run(const struct subprocess_setup *setup, struct arena *arena,
                  struct device_model *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* As a file that device_read takes. CM_BACKEND_OK, CM_BACKEND_NO_MEMORY. */
int calibrate_write(const struct device_model *model, FILE *out)
    __attribute__((warn_unused_result));

#endif
