/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a plan and states its facts. A replay of a single graph would find its operands in the
 * cache, so cold executions replay a series of graphs that use different sets. */
#include "backends/cuda/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

struct cm_plan *plan_new(struct cm_device *device, uint32_t n_parts, uint32_t n_launches) {
    struct cm_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) return NULL;
    plan->device = device;
    plan->parts = calloc(n_parts, sizeof(*plan->parts));
    plan->launches = calloc(n_launches, sizeof(*plan->launches));
    plan->n_parts = n_parts;
    plan->n_launches = n_launches;
    if (plan->parts != NULL && plan->launches != NULL) return plan;
    free(plan->parts);
    free(plan->launches);
    free(plan);
    return NULL;
}

static int launch_set(void *context, int64_t set, CUstream stream, struct cm_reason *reason) {
    const struct cm_plan *plan = context;
    for (uint32_t i = 0; i < plan->n_launches; i++) {
        const struct plan_launch *launch = &plan->launches[i];
        const struct cuda_step *step = &plan->parts[launch->part].step;
        const struct cuda_operands operands = sets_at(&plan->sets, &launch->operands, set);
        if (step->launch == NULL) continue; /* nothing to launch */
        const int status = step->launch(step->own, &operands, stream, reason);
        if (status != CM_BACKEND_OK) return status;
    }
    return CM_BACKEND_OK;
}

static struct replay_job job_of(struct cm_plan *plan, uint32_t n, int64_t first,
                                int64_t n_sets) {
    return (struct replay_job){launch_set, plan, n, first, n_sets};
}

int plan_run_once(struct cm_plan *plan, struct cm_reason *reason) {
    const struct cm_device *device = plan->device;
    struct cm_reason why = {""};
    const int status = launch_set(plan, 0, device->stream, reason);
    const int ran =
        cuda_check(device, device->driver.cuStreamSynchronize(device->stream), "run it", &why);
    /* Synchronize after a failed launch too: a library does not report a lost device as such,
     * and earlier launches may still use memory that the caller is about to free. */
    if (status != CM_BACKEND_OK && ran != CM_BACKEND_BROKEN) return status;
    if (ran != CM_BACKEND_OK) *reason = why;
    return ran;
}

int plan_read_kernels(struct cm_plan *plan, struct cm_reason *reason) {
    struct replay replay = {.graph = NULL};
    const struct replay_job job = job_of(plan, 1, 0, 1);
    const int status = replay_capture(plan->device, &job, false, &replay, reason);
    plan->no_graphs = status == CM_BACKEND_REFUSED;
    if (plan->no_graphs) return CM_BACKEND_OK;
    if (status != CM_BACKEND_OK) return status;
    replay_kernels(plan->device, &replay, &plan->kernels);
    replay_drop(plan->device, &replay);
    return CM_BACKEND_OK;
}

static void drop_series(struct cm_plan *plan, struct plan_series *series) {
    for (uint32_t i = 0; i < series->n_replays; i++)
        replay_drop(plan->device, &series->replays[i]);
    free(series->replays);
    *series = (struct plan_series){.n = 0};
}

/* Returns the number of sets that a series with n executions per graph uses: at least half of
 * n_sets. Examples for n_sets = 10:
 *     n = 4   8 sets: two graphs use four sets each
 *     n = 15  7 sets: one graph goes over them about twice
 */
static int64_t count_round(int64_t n_sets, int64_t n) {
    const int64_t rounds = (n + n_sets - 1) / n_sets;
    return n <= n_sets ? n_sets / n * n : n / rounds;
}

static int make_series(struct cm_plan *plan, uint32_t n, enum cm_cache cache,
                       struct cm_reason *reason) {
    struct plan_series *series = &plan->series[cache];
    const int64_t round = cache == CM_COLD ? count_round(plan->sets.n, n) : 1;
    const int64_t n_replays = round > n ? round / n : 1;
    int status = CM_BACKEND_OK;
    drop_series(plan, series);
    series->replays = calloc((size_t)n_replays, sizeof(*series->replays));
    if (series->replays == NULL)
        return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < n_replays && status == CM_BACKEND_OK; i++) {
        const struct replay_job job = job_of(plan, n, round > n ? i * n : 0, round);
        status = replay_capture_timed(plan->device, &job, &series->replays[series->n_replays],
                                      reason);
        if (status == CM_BACKEND_OK) series->n_replays++;
    }
    if (status != CM_BACKEND_OK) {
        drop_series(plan, series);
        return status;
    }
    series->n = n;
    if (cache == CM_COLD) plan->sets_used = round;
    return status;
}

/* Runs the next graph of the series. If the SM clock was too low, runs the following graphs
 * until a sample is accepted or PLAN_TRIES graphs have run. */
static int run_series(struct cm_plan *plan, struct plan_series *series, double *ret_seconds,
                      struct cm_reason *reason) {
    bool accepted = false;
    int status = CM_BACKEND_OK;
    for (int i = 0; i < PLAN_TRIES && !accepted && status == CM_BACKEND_OK; i++) {
        const struct replay *replay = &series->replays[series->next];
        accepted = true;
        status = warmup_resume(plan->device, reason);
        if (status == CM_BACKEND_OK)
            status = replay_run(plan->device, replay, ret_seconds, reason);
        if (status == CM_BACKEND_OK && replay->timed)
            status = warmup_check_sample(plan->device, &accepted, i + 1 == PLAN_TRIES, reason);
        series->next = (series->next + 1) % series->n_replays;
    }
    warmup_busy(plan->device);
    return status;
}

int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason) {
    struct plan_series *series = &plan->series[cache];
    if (plan->device->options.plan_only)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "the backend was opened for plans only");
    if (n == 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "no executions");
    if (!plan->no_graphs && series->n != n) {
        const int status = make_series(plan, n, cache, reason);
        plan->no_graphs = status == CM_BACKEND_REFUSED;
        if (status != CM_BACKEND_OK && !plan->no_graphs) return status;
    }
    if (!plan->no_graphs) return run_series(plan, series, ret_seconds, reason);
    struct replay_job job = job_of(plan, n, 0, 1);
    if (cache == CM_COLD) {
        job.first = plan->next_set;
        job.n_sets = plan->sets_used = plan->sets.n;
        plan->next_set = (plan->next_set + n) % plan->sets.n;
    }
    return replay_launch(plan->device, &job, ret_seconds, reason);
}

int plan_run_kernels(struct cm_plan *plan, double *ret_seconds, struct cm_reason *reason) {
    struct cm_device *device = plan->device;
    const struct replay_job job = job_of(plan, (uint32_t)plan->sets.n, 0, plan->sets.n);
    int status = CM_BACKEND_OK;
    if (device->options.plan_only || plan->is_network || plan->no_graphs ||
        plan->kernels.n > CM_MAX_KERNELS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "kernels are timed only in the graph of a primitive");
    if (plan->kernel_times.n == 0)
        status = kernel_times_make(device, &job, &plan->kernels, &plan->kernel_times, reason);
    if (status == CM_BACKEND_OK) status = warmup_resume(device, reason);
    if (status == CM_BACKEND_OK)
        status = kernel_times_run(device, &plan->kernel_times, ret_seconds, reason);
    warmup_busy(device);
    return status;
}

/* Sets the facts of one primitive. The tensor-core use of the step also applies to its kernels,
 * except those whose name rules it out: split-K reductions and layout changes of a product. */
static void set_part_facts(const struct plan_part *part, struct cm_plan_facts *ret) {
    struct cm_how *how = &ret->how;
    const char *rule = part->provider->tensor_core_rule;
    ret->state = part->step.state;
    ret->reason = part->step.note;
    (void)snprintf(how->provider, sizeof(how->provider), "%s", part->provider->name);
    how->workspace_bytes = part->step.workspace_bytes;
    how->plans_tried = part->tried;
    if (part->step.facts != NULL) part->step.facts(part->step.own, how);
    if (how->tensor_cores == CM_TENSOR_CORES_UNKNOWN || rule == NULL) return;
    for (int32_t i = 0; i < how->n_kernels && i < CM_MAX_KERNELS; i++) {
        struct cm_kernel *kernel = &how->kernels[i];
        if (kernel->tensor_cores == CM_TENSOR_CORES_NO) continue;
        kernel->tensor_cores = how->tensor_cores;
        (void)snprintf(kernel->rule, sizeof(kernel->rule), "%s", rule);
    }
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

void plan_drop_graphs(struct cm_plan *plan) {
    drop_series(plan, &plan->series[CM_COLD]);
    drop_series(plan, &plan->series[CM_WARM]);
    kernel_times_drop(plan->device, &plan->kernel_times);
    plan->no_graphs = false;
}

void plan_drop(struct cm_plan *plan) {
    plan_drop_graphs(plan);
    for (uint32_t i = 0; i < plan->n_parts; i++)
        if (plan->parts[i].step.drop != NULL) plan->parts[i].step.drop(plan->parts[i].step.own);
    sets_drop(plan->device, &plan->sets);
    free(plan->parts);
    free(plan->launches);
    free(plan);
}
