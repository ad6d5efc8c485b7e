/* SPDX-License-Identifier: Apache-2.0 */
/* A primitive of oneDNN with the operands that it runs on. */
#ifndef BACKENDS_ONEDNN_PLAN_H
#define BACKENDS_ONEDNN_PLAN_H

#include "backends/onednn/build.h"

struct plan_limits {
    int64_t cache_bytes;  /* what a cold execution has to get past */
    int64_t memory_bytes; /* what operands may take; 0: not known */
};

int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool plain,
              const struct plan_limits *limits, struct cm_plan **ret, struct cm_reason *reason);
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

#endif
