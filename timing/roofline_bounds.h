/* SPDX-License-Identifier: Apache-2.0 */
/* Rooflines: the ceilings of a device and the resource that limits a time. */
#pragma once

#include "costmodel/backend.h"
#include "timing/timing.h"

/* Tables that pass roofline_bounds reads. */
#define ROOFLINE_BOUNDS_READS                                                                  \
    (TABLE_PRIMITIVES | TABLE_ESTIMATE | TABLE_COUNT | TABLE_MODULES | TABLE_TIMES)

/* The resource that limits a latency; those of a modelled time first. */
enum limited_by {
    LIMITED_BY_UNKNOWN = CM_LIMIT_UNKNOWN,
    LIMITED_BY_COMPUTE = CM_LIMIT_COMPUTE,
    LIMITED_BY_MEMORY = CM_LIMIT_MEMORY,
    LIMITED_BY_LAUNCH = CM_LIMIT_LAUNCH, /* close to the shortest latency of any kernel */
    LIMITED_BY_OCCUPANCY,                /* fewer blocks than multiprocessors */
    LIMITED_BY_KERNEL,                   /* none of these: the kernel is far from all rates */
    LIMITED_BY_MIXED, /* of a module: no resource limits more than half of its latency */
    N_LIMITED_BY
};

/* Rates that a primitive or module achieves. */
struct achieved {
    bool present; /* it has a latency */
    double flops_per_s;
    double bytes_per_s;
    double roofline;      /* lower_bound_s / latency; negative if unknown */
    double lower_bound_s; /* by the ceilings, seconds; negative if unknown */
    enum limited_by limited_by;
};

struct limit_total {
    int64_t nodes;
    int64_t latency_ps;
};

/* Empty without latencies. */
struct roofline_bounds_table {
    bool done;
    struct achieved *of_primitive;
    struct achieved *of_module; /* children included */
    struct limit_total totals[N_LIMITED_BY];
};

pass_run pass_roofline_bounds;

/* Returns "compute", "memory" …; static text. */
const char *roofline_bounds_name(enum limited_by limited_by);

/* Returns the bytes read and written. */
double roofline_bounds_bytes(const struct cm_primitive *primitive);
/* Returns the peak bandwidth in bytes per second; 0: unknown. */
double roofline_bounds_bandwidth(const struct timing *timing);

/* Computes the roofline of a primitive from its time. */
void roofline_bounds_compute(const struct timing *timing, const struct cm_primitive *primitive,
                             const struct cm_measurement *measurement, struct achieved *ret);
