/* SPDX-License-Identifier: Apache-2.0 */
/* A step with what it runs on. */
#ifndef BACKENDS_CUDA_PLAN_H
#define BACKENDS_CUDA_PLAN_H

#include "backends/cuda/provider.h"

int plan_make(struct cm_device *device, const struct cm_primitive *primitive,
              struct cm_plan **ret, struct cm_reason *reason);
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

#endif
