/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the expected times of a modelled device: the lower bound, and losses above it. */
#pragma once

#include "costmodel/result.h"

struct timing;
struct modelled_time;

/* Splits the time of a kernel, which is at least its bound. The parts are 0 or more, and their
 * sum is the time. */
struct cm_losses losses_split(const struct modelled_time *modelled, int64_t latency_ps,
                              int64_t lower_bound_ps);
/* Adds `runs` runs of a kernel. A sum that exceeds int64_t is not present. */
void losses_add(struct cm_losses *sum, const struct cm_losses *kernel, int64_t runs);

/* Splits the times of all primitives into ret[] and their sum over the nodes into *ret_sum;
 * sets nothing if times are not modelled. CM_OK, CM_USAGE or CM_NO_MEMORY (reported). */
int losses_of_model(const struct timing *timing, struct cm_losses *ret,
                    struct cm_losses *ret_sum) __attribute__((warn_unused_result));
