/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/device/run_time.h"

#include <math.h>

#include "backends/primitive.h"

static enum cm_time_kind kind_of(const struct cm_primitive *primitive, enum cm_limit limit) {
    if (limit == CM_LIMIT_LAUNCH) return CM_TIME_LAUNCH;
    if (primitive->kind == CM_CONV || primitive->kind == CM_DECONV)
        return primitive->groups > 1 ? CM_TIME_GROUPED : CM_TIME_CONVOLUTION;
    return primitive_is_product(primitive) ? CM_TIME_PRODUCT : CM_TIME_OTHER;
}

void run_time_add(struct run_time *sum, const struct cm_primitive *primitive, double seconds,
                  enum cm_limit limit, double runs) {
    const struct cm_fusion *fusion = &primitive->fusion;
    sum->seconds += runs * seconds;
    sum->kernels += runs * (double)((fusion->no_launch ? 0 : 1) + fusion->extra_kernels);
    sum->by_kind[kind_of(primitive, limit)] += runs * seconds;
}

double run_time_expected(const struct run_time *sum, const struct cm_calibration *fit) {
    if (sum->kernels <= 0) return sum->seconds;
    return fmax(sum->seconds, sum->kernels * fit->host) + fit->run +
           (fit->transfer > 0 ? sum->moved / fit->transfer : 0);
}

enum cm_time_kind run_time_kind(const struct run_time *sum, double expected) {
    int most = CM_TIME_LAUNCH;
    const double launch = sum->by_kind[CM_TIME_LAUNCH] + expected - sum->seconds;
    for (int kind = 0; kind < CM_TIME_LAUNCH; kind++)
        if (sum->by_kind[kind] > (most == CM_TIME_LAUNCH ? launch : sum->by_kind[most]))
            most = kind;
    return (enum cm_time_kind)most;
}
