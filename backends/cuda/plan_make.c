/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the provider and its candidate for a primitive. A step may fail at its first launch:
 * then the next candidate is tried, and after MAX_TRIALS candidates the next provider. */
#include <math.h>

#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"

#define MAX_TRIALS       4 /* candidates of a provider that are tried until one runs */
#define AUTOTUNE_RUNS    5
#define AUTOTUNE_SAMPLES 3
#define MAX_PROVIDERS    4

/* Providers of each kind of primitive, in the order in which they are tried. A copy does not
 * model arithmetic, so convolutions, matrix products, RNNs and attention have no proxy. */
static const struct cuda_provider *const providers[CM_N_PRIMITIVES][MAX_PROVIDERS + 1] = {
    [CM_CONV] = {&cudnn_graph_provider},
    [CM_DECONV] = {&cudnn_graph_provider},
    [CM_GEMM] = {&cublaslt_provider, &cudnn_graph_provider},
    [CM_RNN] = {&legacy_provider},
    [CM_ATTENTION] = {&cudnn_graph_provider},
    [CM_POOL] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_NORM] = {&cudnn_graph_provider, &legacy_provider, &nvrtc_provider,
                 &copy_proxy_provider},
    [CM_ELTWISE] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_SOFTMAX] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_REDUCE] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_COPY] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_GATHER] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_SCATTER] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_RESAMPLE] = {&nvrtc_provider, &copy_proxy_provider},
};

static void drop_step(struct cuda_step *step) {
    if (step->drop != NULL) step->drop(step->own);
    *step = (struct cuda_step){.own = NULL};
}

/* Makes a candidate and, unless plan_only, reserves its workspace and runs it once. Sets
 * *ret_made to true if the provider made it, even if it then fails to run. */
static int make_candidate(struct cm_plan *plan, const struct cuda_provider *provider,
                          const struct cm_primitive *primitive, int32_t candidate,
                          bool *ret_made, struct cm_reason *reason) {
    struct plan_part *part = &plan->parts[0];
    struct cuda_step step = {.own = NULL};
    int status = provider->make(plan->device, primitive, candidate, &step, reason);
    *ret_made = status == CM_BACKEND_OK;
    if (status != CM_BACKEND_OK) return status;
    part->provider = provider;
    part->step = step;
    part->tried += step.plans_tried > 0 ? step.plans_tried : 1;
    if (plan->device->options.plan_only) return CM_BACKEND_OK;
    status = sets_reserve(plan->device, &plan->sets, step.workspace_bytes, reason);
    if (status == CM_BACKEND_OK) status = plan_run_once(plan, reason);
    if (status != CM_BACKEND_OK) drop_step(&part->step);
    return status;
}

/* Sets *ret_seconds to the least of AUTOTUNE_SAMPLES samples of AUTOTUNE_RUNS warm runs. */
static int time_candidate(struct cm_plan *plan, double *ret_seconds, struct cm_reason *reason) {
    double least = INFINITY;
    int status = CM_BACKEND_OK;
    for (int i = 0; i < AUTOTUNE_SAMPLES && status == CM_BACKEND_OK; i++) {
        double seconds = 0;
        status = plan_run(plan, AUTOTUNE_RUNS, CM_WARM, &seconds, reason);
        least = fmin(least, seconds);
    }
    /* After a failure too: else plan_run would replay these graphs for the next candidate. */
    plan_drop_graphs(plan);
    *ret_seconds = least;
    return status;
}

/* Times up to `autotune` candidates of a provider, but no proxy, which does other work.
 * Replaces *best and its time *least, in seconds, if a candidate is faster. */
static int find_fastest(struct cm_plan *plan, const struct cuda_provider *provider,
                        struct choice *best, double *least, struct cm_reason *reason) {
    bool made = true;
    for (int32_t i = 0; i < plan->device->options.autotune && made; i++) {
        double seconds = 0;
        int status = make_candidate(plan, provider, &best->primitive, i, &made, reason);
        const bool is_proxy = status == CM_BACKEND_OK && plan->parts[0].step.state == CM_PROXY;
        if (status == CM_BACKEND_OK && !is_proxy)
            status = time_candidate(plan, &seconds, reason);
        drop_step(&plan->parts[0].step);
        if (status == CM_BACKEND_BROKEN) return status;
        if (status != CM_BACKEND_OK || is_proxy || seconds >= *least) continue;
        *least = seconds;
        best->provider = provider;
        best->candidate = i;
    }
    return CM_BACKEND_OK;
}

/* Sets *best to the fastest candidate of all providers; its provider is NULL if none runs. */
static int autotune(struct cm_plan *plan, struct choice *best, struct cm_reason *reason) {
    double least = INFINITY;
    int status = CM_BACKEND_OK;
    const struct cuda_provider *const *at = providers[best->primitive.kind];
    for (; *at != NULL && status == CM_BACKEND_OK; at++)
        status = find_fastest(plan, *at, best, &least, reason);
    return status;
}

/* Tries up to MAX_TRIALS candidates, from choice->candidate on, until one runs. Continues after
 * out of memory, because the next candidate may need less workspace. If none runs, returns
 * status and reason of the first; if the device breaks, of the candidate that broke it. */
static int try_provider(struct cm_plan *plan, struct choice *choice, struct cm_reason *reason) {
    const int32_t first = choice->candidate;
    int status = CM_BACKEND_OK;
    bool made = true;
    if (!plan->device->has_driver && choice->provider->device_only != NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "%s", choice->provider->device_only);
    for (int32_t i = 0; i < MAX_TRIALS && made; i++) {
        struct cm_reason why = {""};
        choice->candidate = first + i;
        const int tried =
            make_candidate(plan, choice->provider, &choice->primitive, first + i, &made, &why);
        if (i == 0 || tried == CM_BACKEND_BROKEN) *reason = why;
        if (i == 0 || tried == CM_BACKEND_OK) status = tried;
        if (tried == CM_BACKEND_OK || tried == CM_BACKEND_BROKEN) return tried;
    }
    return status;
}

/* If no provider runs the primitive, *reason lists the reasons of all. */
static int try_all_providers(struct cm_plan *plan, struct choice *choice,
                             struct cm_reason *reason) {
    struct cm_reason all = {""};
    int status = CM_BACKEND_REFUSED;
    const struct cuda_provider *const *at = providers[choice->primitive.kind];
    if (*at == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no provider supports this kind");
    for (; *at != NULL; at++) {
        struct cm_reason why = {""};
        choice->provider = *at;
        choice->candidate = 0;
        const int asked = try_provider(plan, choice, &why);
        if (asked == CM_BACKEND_OK) return asked;
        cuda_append(all.text, sizeof(all.text), "; ", "%s: %s", (*at)->name, why.text);
        if (asked == CM_BACKEND_BROKEN) {
            *reason = why;
            return asked;
        }
        if (asked == CM_BACKEND_NO_MEMORY) status = asked;
    }
    *reason = all;
    return status;
}

/* Chooses the candidate of an earlier plan of the primitive, else the fastest if autotuning is
 * on. If there is no such candidate or it does not run, chooses the first that runs. */
static int choose(struct cm_plan *plan, const struct cm_primitive *primitive,
                  struct cm_reason *reason) {
    struct cm_device *device = plan->device;
    const struct choice *former = choices_find(&device->choices, primitive);
    struct choice choice = {.primitive = *primitive};
    int status = CM_BACKEND_OK;
    if (former != NULL)
        choice = *former;
    else if (device->options.autotune > 1 && !device->options.plan_only)
        status = autotune(plan, &choice, reason);
    if (status != CM_BACKEND_OK) return status;
    if (choice.provider != NULL) {
        status = try_provider(plan, &choice, reason);
        if (status == CM_BACKEND_BROKEN) return status;
    }
    if (choice.provider == NULL || status != CM_BACKEND_OK)
        status = try_all_providers(plan, &choice, reason);
    if (status == CM_BACKEND_OK) choices_set(&device->choices, &choice);
    return status;
}

int plan_make(struct cm_device *device, const struct cm_primitive *primitive,
              struct cm_plan **ret, struct cm_reason *reason) {
    const bool runs = !device->options.plan_only;
    int status = CM_BACKEND_OK;
    struct cm_plan *plan = plan_new(device, 1, 1);
    if (plan == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (runs)
        status = sets_make(device, primitive, &plan->sets, &plan->launches[0].operands, reason);
    const double begin = warmup_now();
    if (status == CM_BACKEND_OK) status = choose(plan, primitive, reason);
    plan->plan_seconds = warmup_now() - begin;
    if (status == CM_BACKEND_OK && runs) status = sets_repeat(device, &plan->sets, reason);
    if (status == CM_BACKEND_OK && runs) status = plan_read_kernels(plan, reason);
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        plan_drop(plan);
    return status;
}
