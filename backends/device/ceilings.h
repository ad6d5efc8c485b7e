/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of a device, measured in the same way as layers. They are references for layer
 * times, and the rates of a device file. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"

/* A member is 0 if it was not measured. */
struct ceilings {
    double copy_bytes_per_s;           /* bytes read plus bytes written */
    double floor_s;                    /* time of a minimal primitive */
    double flops_per_s[CM_N_ELEMENTS]; /* square matrix products, by element type */
    bool invented;                     /* the times come from a table */
};

struct ceilings_job {
    /* Always fills *ret. */
    void (*measure)(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret);
    void *context;
};

/* Measures the floor, the copy rate and the products of each element type with wanted[type].
 * Sizes grow until one execution takes several milliseconds or the operands fill a quarter of
 * the memory. */
void ceilings_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                      const bool *wanted, struct ceilings *ret);

/* Returns true if anything was measured. */
bool ceilings_any(const struct ceilings *ceilings);

/* Sets ret[type] for each element type that a matrix product or convolution multiplies. */
void ceilings_wanted(const struct cm_primitive *primitives, size_t n, bool *ret);
