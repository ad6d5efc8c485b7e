/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device reaches at its best, by the same primitives and the same method as layers:
 * what their times are compared with, and what a device file is written from.
 */
#ifndef BACKENDS_DEVICE_CEILINGS_H
#define BACKENDS_DEVICE_CEILINGS_H

#include <stdbool.h>

#include "costmodel/backend.h"

/* 0 where nothing was measured. */
struct ceilings {
    double copy_bytes_per_s;           /* read and written, both counted */
    double floor_s;                    /* of a primitive that has next to nothing to do */
    double flops_per_s[CM_N_ELEMENTS]; /* of a product of square matrices, by their element */
    bool invented;                     /* by a table */
};

struct ceilings_job {
    /* Fills *ret in any case. */
    void (*measure)(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret);
    void *context;
};

/*
 * `wanted`, by enum cm_element: of which products are measured. The sizes grow until an
 * execution is long or the memory of the device is a quarter full.
 */
void ceilings_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                      const bool *wanted, struct ceilings *ret);

/* Whether anything was measured. */
bool ceilings_any(const struct ceilings *ceilings);

/* Those of `elements` that products of the primitives multiply. */
void ceilings_wanted(const struct cm_primitive *primitives, size_t n, bool *ret);

#endif
