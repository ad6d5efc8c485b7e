/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: a device description from measured rates, for the roofline backend. */
#ifndef BACKENDS_DEVICE_CALIBRATE_H
#define BACKENDS_DEVICE_CALIBRATE_H

#include <stdio.h>

#include "costmodel/backend.h"

struct arena;
struct subprocess_setup;
struct device_model;

/*
 * Measures in a subprocess, twice if the device may round fp32 to tf32. Texts of *ret are in
 * `arena`; the source lacks the date. Returns CM_BACKEND_OK, or a status with its reason, also
 * if no rate or no bandwidth could be measured.
 */
int calibrate_run(const struct subprocess_setup *setup, struct arena *arena,
                  struct device_model *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Writes the device file that device_read reads. Errors of `out` are found when it is flushed.
 */
void calibrate_write(const struct device_model *model, FILE *out);

#endif
