/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cuda/refuse.h"

#include "support/banned.h"

struct cm_plan {
    struct cm_device *device;
    struct cm_primitive primitive;
    const struct cuda_provider *provider;
    struct cuda_step step;
    double plan_seconds;
};

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int plan_make(struct cm_device *device, const struct cm_primitive *primitive,
              struct cm_plan **ret, struct cm_reason *reason) {
    struct cm_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const double begin = now();
    plan->device = device;
    plan->primitive = *primitive;
    const int status = provider_make(device, primitive, &plan->provider, &plan->step, reason);
    plan->plan_seconds = now() - begin;
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        free(plan);
    return status;
}

int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason) {
    (void)plan, (void)n, (void)cache, (void)ret_seconds;
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "only planned");
}

void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->state = plan->step.state;
    ret->reason = plan->step.instead;
    (void)snprintf(ret->how.provider, sizeof(ret->how.provider), "%s", plan->provider->name);
    ret->how.workspace_bytes = plan->step.workspace_bytes;
    ret->how.plans_tried = plan->step.plans_tried > 0 ? plan->step.plans_tried : 1;
    ret->how.plan_seconds = plan->plan_seconds;
    if (plan->step.facts != NULL) plan->step.facts(plan->step.own, &ret->how);
}

void plan_drop(struct cm_plan *plan) {
    plan->step.drop(plan->step.own);
    free(plan);
}
