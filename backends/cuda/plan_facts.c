/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a plan for the report. */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"

#include "support/banned.h"

/* Applies the tensor-core use of the step to its kernels, except those whose name rules it out:
 * the split-K reductions and layout changes that accompany a product. */
static void decide_tensor_cores(const char *rule, struct cm_how *how) {
    const int32_t n = how->n_kernels < CM_MAX_KERNELS ? how->n_kernels : CM_MAX_KERNELS;
    for (int32_t i = 0; i < n; i++) {
        struct cm_kernel *kernel = &how->kernels[i];
        const bool said_no = kernel->tensor_cores == CM_TENSOR_CORES_NO;
        if (how->tensor_cores == CM_TENSOR_CORES_UNKNOWN || rule == NULL || said_no) continue;
        kernel->tensor_cores = how->tensor_cores;
        (void)snprintf(kernel->rule, sizeof(kernel->rule), "%s", rule);
    }
}

static void set_part_facts(const struct plan_part *part, struct cm_plan_facts *ret) {
    ret->state = part->step.state;
    ret->reason = part->step.note;
    (void)snprintf(ret->how.provider, sizeof(ret->how.provider), "%s", part->provider->name);
    ret->how.workspace_bytes = part->step.workspace_bytes;
    ret->how.plans_tried = part->tried;
    if (part->step.facts != NULL) part->step.facts(part->step.own, &ret->how);
    decide_tensor_cores(part->provider->tensor_core_rule, &ret->how);
}

static void set_network_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    uint32_t n_proxies = 0;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        n_proxies += plan->parts[plan->launches[i].part].step.state == CM_PROXY;
    ret->state = n_proxies > 0 ? CM_PROXY : CM_MEASURED;
    if (n_proxies > 0)
        (void)cuda_refuse(&ret->reason, 0, "%u of %u steps ran as a proxy of the same size",
                          n_proxies, plan->n_launches);
    for (uint32_t i = 0; i < plan->n_parts; i++)
        if (plan->parts[i].step.workspace_bytes > ret->how.workspace_bytes)
            ret->how.workspace_bytes = plan->parts[i].step.workspace_bytes;
}

void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->how.n_sets = (int32_t)plan->sets.n;
    ret->how.n_kernels = plan->kernels.n;
    memcpy(ret->how.kernels, plan->kernels.items, sizeof(ret->how.kernels));
    ret->how.plan_seconds = plan->plan_seconds;
    if (plan->is_network)
        set_network_facts(plan, ret);
    else
        set_part_facts(&plan->parts[0], ret);
    if (plan->device->options.plan_only) return;
    if (plan->no_graphs) ret->flags |= CM_FLAG_LAUNCHES;
    if (!plan->is_network && !sets_are_cold(plan->device, &plan->sets, plan->sets_used))
        ret->flags |= CM_FLAG_NOT_COLD;
}
