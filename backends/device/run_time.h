/* SPDX-License-Identifier: Apache-2.0 */
/* The expected time of a run of many kernels: the kernels run one after the other, unless the
 * host takes longer to launch them; and its error (docs/times.md). */
#pragma once

#include "costmodel/backend.h"

/* Sums over the kernels of a run; {0} is the empty run. */
struct run_time {
    double seconds;
    double kernels;
    double by_kind[CM_N_TIME_KINDS]; /* seconds */
    double moved; /* bytes of inputs and outputs of the run, set by the caller */
};

/* Adds `runs` runs of a kernel that takes `seconds`, limited by `limit`. */
void run_time_add(struct run_time *sum, const struct cm_primitive *primitive, double seconds,
                  enum cm_limit limit, double runs);
/* Returns the seconds of the run: those of its kernels, or of the host that launches them; and
 * what a run costs besides. */
double run_time_expected(const struct run_time *sum, const struct cm_calibration *fit);
/* Returns the kind of work that takes most of the expected time. */
enum cm_time_kind run_time_kind(const struct run_time *sum, double expected);
