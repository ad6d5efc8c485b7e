/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: a device description from measured rates, for the roofline backend. */
#pragma once

#include <stdio.h>

#include "costmodel/backend.h"

struct arena;
struct subprocess_setup;
struct device_model;

/* Measures the rates of a device in a subprocess; if the device has tensor cores, the tf32 rate
 * in a second one. Texts of *ret are in `arena`; ret->source lacks the date, which
 * calibrate_write adds. Returns CM_BACKEND_OK, or another status with a reason;
 * CM_BACKEND_REFUSED if no product or no copy could be measured. */
int calibrate_run(const struct subprocess_setup *setup, struct arena *arena,
                  struct device_model *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Writes the device file that device_read reads. A flush of `out` finds its errors. */
void calibrate_write(const struct device_model *model, FILE *out);
