/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of a device, measured like layers: references for their times, and the contents of a
 * device file. */
#ifndef BACKENDS_DEVICE_CEILINGS_H
#define BACKENDS_DEVICE_CEILINGS_H

#include <stdbool.h>

#include "costmodel/backend.h"

/* 0 if not measured. */
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

/* `wanted`, indexed by enum cm_element: products to measure. Sizes grow until an execution is
 * long or the operands fill a quarter of the memory. */
void ceilings_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                      const bool *wanted, struct ceilings *ret);

/* Returns true if anything was measured. */
bool ceilings_any(const struct ceilings *ceilings);

/* Sets ret[] for the element types that products of the primitives multiply. */
void ceilings_wanted(const struct cm_primitive *primitives, size_t n, bool *ret);

#endif
