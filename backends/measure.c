/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a backend for one primitive or network and fills one measurement. */
#include "backends/measure.h"

#include <stdbool.h>
#include <string.h>

#include "backends/plugin/reason.h"
#include "backends/primitive.h"

struct planned {
    const struct cm_backend *backend;
    struct cm_device *device;
    struct cm_plan *plan;
};

static int run_planned(void *context, uint32_t n, enum cm_cache cache, double *ret_seconds,
                       struct cm_reason *reason) {
    const struct planned *planned = context;
    return planned->backend->run(planned->plan, n, cache, ret_seconds, reason);
}

/* Copies the facts of the plan to *ret. Terminates the texts, which a module filled, and clears
 * the times of the kernels, which time_kernels measures, and all times of a view. */
static void copy_facts(const struct planned *planned, struct cm_measurement *ret) {
    struct cm_plan_facts facts;
    struct cm_how *how = &ret->how;
    memset(&facts, 0, sizeof(facts));
    planned->backend->plan_facts(planned->plan, &facts);
    ret->state = facts.state;
    ret->flags |= facts.flags & ~(uint32_t)(CM_FLAG_CACHED | CM_FLAG_LOST);
    if (ret->clocks.throttle[0] != '\0') ret->flags |= CM_FLAG_THROTTLED;
    *how = facts.how;
    if (how->n_kernels < 0) how->n_kernels = 0;
    for (int i = 0; i < CM_MAX_KERNELS; i++) {
        how->kernels[i].name[sizeof(how->kernels[i].name) - 1] = '\0';
        how->kernels[i].rule[sizeof(how->kernels[i].rule) - 1] = '\0';
        how->kernels[i].seconds = 0;
    }
    how->provider[sizeof(how->provider) - 1] = '\0';
    how->algorithm[sizeof(how->algorithm) - 1] = '\0';
    ret->clocks.throttle[sizeof(ret->clocks.throttle) - 1] = '\0';
    ret->reason = facts.reason;
    ret->reason.text[sizeof(ret->reason.text) - 1] = '\0';
    if (ret->state != CM_VIEW) return;
    memset(&ret->cold, 0, sizeof(ret->cold));
    memset(&ret->warm, 0, sizeof(ret->warm));
    ret->flags = 0;
}

static int run_kernels(void *context, double *ret_seconds, struct cm_reason *reason) {
    const struct planned *planned = context;
    return planned->backend->run_kernels(planned->plan, ret_seconds, reason);
}

/* Times each kernel of a plan that has several, after the plan itself: an error loses only the
 * times of the kernels, but a crash or hang also loses the time of the plan. Returns
 * CM_BACKEND_BROKEN if the device is lost, else CM_BACKEND_OK. */
static int time_kernels(struct planned *planned, const struct timing_policy *policy,
                        struct cm_measurement *ret) {
    struct cm_how *how = &ret->how;
    const struct timing_parts parts = {run_kernels, planned, how->n_kernels};
    double medians[CM_MAX_KERNELS];
    struct cm_reason reason = {""};
    if (planned->backend->run_kernels == NULL || ret->state == CM_VIEW || how->n_kernels < 2 ||
        how->n_kernels > CM_MAX_KERNELS)
        return CM_BACKEND_OK;
    const int status =
        timing_run_parts(&parts, policy, &timing_monotonic_clock, medians, &reason);
    for (int32_t i = 0; i < how->n_kernels && status == CM_BACKEND_OK; i++)
        how->kernels[i].seconds = medians[i];
    if (status != CM_BACKEND_BROKEN) return CM_BACKEND_OK;
    ret->flags |= CM_FLAG_LOST;
    return status;
}

/* Times a primitive cold and warm, or a network warm only, then drops the plan. */
static int time_planned(struct planned *planned, bool is_network,
                        const struct timing_policy *policy, struct cm_measurement *ret) {
    const struct cm_backend *backend = planned->backend;
    const struct timing_job job = {run_planned, planned};
    struct cm_timing *first = is_network ? &ret->warm : &ret->cold;
    uint32_t dropped = 0; /* flags of a primitive's warm timing, not reported */
    struct cm_reason reason = {""};
    const struct timing_clock *clock = &timing_monotonic_clock;
    int status = timing_run(&job, policy, clock, is_network ? CM_WARM : CM_COLD, first,
                            &ret->flags, &reason);
    if (status == CM_BACKEND_OK && backend->clocks != NULL)
        backend->clocks(planned->device, &ret->clocks);
    if (status == CM_BACKEND_OK && !is_network)
        status = timing_run(&job, policy, clock, CM_WARM, &ret->warm, &dropped, &reason);
    if (status == CM_BACKEND_OK)
        copy_facts(planned, ret);
    else
        ret->reason = reason;
    if (status == CM_BACKEND_OK && !is_network) status = time_kernels(planned, policy, ret);
    /* If the device is lost, any further call may block forever. */
    if (status != CM_BACKEND_BROKEN) backend->drop(planned->plan);
    return status;
}

/* If the measurement failed, sets its state and clears every other field except the reason.
 * Keeps a measurement that lost the device (CM_FLAG_LOST) after timing it. Returns `status`. */
static int finish_failed(int status, struct cm_measurement *ret) {
    if (status == CM_BACKEND_OK || (ret->flags & CM_FLAG_LOST) != 0) return status;
    const struct cm_reason reason = ret->reason;
    memset(ret, 0, sizeof(*ret));
    ret->state = CM_UNSUPPORTED;
    if (status == CM_BACKEND_NO_MEMORY) ret->state = CM_OUT_OF_MEMORY;
    if (status == CM_BACKEND_BROKEN) ret->state = CM_CRASHED;
    ret->reason = reason;
    ret->reason.text[sizeof(ret->reason.text) - 1] = '\0';
    return status;
}

int measure_primitive(const struct cm_backend *backend, struct cm_device *device,
                      const struct cm_primitive *primitive, const struct timing_policy *policy,
                      struct cm_measurement *ret) {
    memset(ret, 0, sizeof(*ret));
    struct planned planned = {backend, device, NULL};
    int status = primitive_check(primitive, &ret->reason);
    if (status != CM_BACKEND_OK) return finish_failed(status, ret);
    if (backend->estimate != NULL)
        return finish_failed(backend->estimate(device, primitive, ret, &ret->reason), ret);
    status = backend->plan(device, primitive, &planned.plan, &ret->reason);
    if (status == CM_BACKEND_OK) status = time_planned(&planned, false, policy, ret);
    return finish_failed(status, ret);
}

int measure_network(const struct cm_backend *backend, struct cm_device *device,
                    const struct cm_network *network, const struct timing_policy *policy,
                    struct cm_measurement *ret) {
    struct planned planned = {backend, device, NULL};
    memset(ret, 0, sizeof(*ret));
    if (backend->network == NULL || backend->estimate != NULL)
        return finish_failed(reason_fail(&ret->reason, CM_BACKEND_REFUSED,
                                         "the backend does not run whole networks"),
                             ret);
    int status = backend->network(device, network, &planned.plan, &ret->reason);
    if (status == CM_BACKEND_OK) status = time_planned(&planned, true, policy, ret);
    return finish_failed(status, ret);
}

int measure_plan(const struct cm_backend *backend, struct cm_device *device,
                 const struct cm_primitive *primitive, struct cm_measurement *ret) {
    struct planned planned = {backend, device, NULL};
    memset(ret, 0, sizeof(*ret));
    int status = primitive_check(primitive, &ret->reason);
    if (status != CM_BACKEND_OK) return finish_failed(status, ret);
    if (backend->estimate != NULL)
        return finish_failed(
            reason_fail(&ret->reason, CM_BACKEND_REFUSED, "a backend that models has no plans"),
            ret);
    status = backend->plan(device, primitive, &planned.plan, &ret->reason);
    if (status != CM_BACKEND_OK) return finish_failed(status, ret);
    copy_facts(&planned, ret);
    if (ret->state != CM_VIEW) ret->state = CM_PLANNED;
    backend->drop(planned.plan);
    return CM_BACKEND_OK;
}
