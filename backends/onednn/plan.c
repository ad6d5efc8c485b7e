/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, execution and facts of plans. */
#include "backends/onednn/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/onednn/machine.h"

#include "support/banned.h"

#define MAX_TRIES   16
#define MAX_SECONDS 0.1  /* total time of disturbed batches */
#define MAX_WAITED  0.01 /* share of a batch; less waiting is not worth a retry */

struct cm_plan *plan_new(const struct onednn *lib, size_t n_built) {
    struct cm_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) return NULL;
    plan->lib = lib;
    plan->n_sets = 1;
    plan->state = CM_MEASURED;
    plan->n_built = n_built;
    plan->built = calloc(n_built, sizeof(*plan->built));
    plan->primitives = calloc(n_built * MAX_PARTS, sizeof(*plan->primitives));
    if (plan->built != NULL && plan->primitives != NULL) return plan;
    plan_drop(plan);
    return NULL;
}

bool plan_reserve(struct cm_plan *plan, size_t calls_capacity) {
    plan->calls = calloc(calls_capacity, sizeof(*plan->calls));
    plan->calls_capacity = plan->calls != NULL ? calls_capacity : 0;
    return plan->calls != NULL;
}

int plan_create(struct cm_plan *plan, size_t at, struct cm_reason *reason) {
    const struct built *from = &plan->built[at];
    for (int i = 0; i < from->n_parts; i++) {
        const dnnl_status_t status = plan->lib->api.dnnl_primitive_create(
            &plan->primitives[at * MAX_PARTS + (size_t)i], from->parts[i].primitive);
        if (status != dnnl_success)
            return onednn_refuse(reason, CM_BACKEND_REFUSED,
                                 "oneDNN cannot create it: status %d", (int)status);
    }
    return CM_BACKEND_OK;
}

dnnl_status_t plan_add_arg(const struct cm_plan *plan, struct call *call, int id,
                           onednn_desc desc, void *address) {
    dnnl_exec_arg_t *arg = &call->args[call->n_args++];
    arg->arg = id;
    return plan->lib->api.dnnl_memory_create(&arg->memory, desc, plan->lib->engine, address);
}

static void drop_args(const struct cm_plan *plan, struct call *call) {
    for (int i = 0; i < call->n_args; i++)
        if (call->args[i].memory != NULL)
            (void)plan->lib->api.dnnl_memory_destroy(call->args[i].memory);
    memset(call, 0, sizeof(*call));
}

int plan_run_call(struct cm_plan *plan, size_t index, struct cm_reason *reason) {
    const struct onednn_api *api = &plan->lib->api;
    struct call *call = &plan->calls[index];
    dnnl_status_t status = api->dnnl_primitive_execute(call->primitive, plan->lib->stream,
                                                       call->n_args, call->args);
    if (status == dnnl_success) status = api->dnnl_stream_wait(plan->lib->stream);
    drop_args(plan, call);
    if (status == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot run it: status %d",
                         (int)status);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static dnnl_status_t execute(struct cm_plan *plan, enum cm_cache cache) {
    const int64_t set = cache == CM_COLD ? plan->next : 0;
    const struct call *calls = &plan->calls[(size_t)set * plan->n_calls];
    dnnl_status_t status = dnnl_success;
    if (cache == CM_COLD) plan->next = (plan->next + 1) % plan->n_sets;
    for (size_t i = 0; i < plan->n_calls && status == dnnl_success; i++)
        status = plan->lib->api.dnnl_primitive_execute(calls[i].primitive, plan->lib->stream,
                                                       calls[i].n_args, calls[i].args);
    return status;
}

int plan_run_n(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason) {
    dnnl_status_t status = dnnl_success;
    const double begin = now();
    for (uint32_t i = 0; i < n && status == dnnl_success; i++) status = execute(plan, cache);
    if (status == dnnl_success) status = plan->lib->api.dnnl_stream_wait(plan->lib->stream);
    *ret_seconds = now() - begin;
    if (status == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot run it: status %d",
                         (int)status);
}

/* If threads wait for a CPU that another process uses, that time is not part of the cost. */
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason) {
    double least = 0;
    double spent = 0;
    for (int i = 0; i < MAX_TRIES && spent < MAX_SECONDS; i++) {
        double seconds = 0;
        const double before = machine_waited();
        const int status = plan_run_n(plan, n, cache, &seconds, reason);
        if (status != CM_BACKEND_OK) return status;
        const double waited = (machine_waited() - before) / seconds;
        if (i == 0 || waited < least) {
            least = waited;
            *ret_seconds = seconds;
        }
        if (waited <= MAX_WAITED) break;
        spent += seconds;
    }
    return CM_BACKEND_OK;
}

/* Adds a oneDNN primitive to *ret as one kernel, with its name and its workspace. */
static void name_kernel(const struct cm_plan *plan, const struct built_part *part,
                        struct cm_how *ret) {
    const struct onednn_api *api = &plan->lib->api;
    struct cm_kernel *kernel = &ret->kernels[ret->n_kernels++];
    const char *name = NULL;
    int64_t bytes = 0;
    if (api->dnnl_primitive_desc_query(part->primitive, dnnl_query_impl_info_str, 0, &name) ==
            dnnl_success &&
        name != NULL)
        (void)snprintf(kernel->name, sizeof(kernel->name), "%s", name);
    kernel->calls = 1;
    if (api->dnnl_primitive_desc_query(part->primitive, dnnl_query_memory_consumption_s64, 0,
                                       &bytes) == dnnl_success)
        ret->workspace_bytes += bytes;
}

void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->how.n_sets = (int32_t)plan->n_sets;
    ret->state = plan->state;
    ret->reason = plan->note;
    if (!plan->cold) ret->flags |= CM_FLAG_NOT_COLD;
    for (int i = 0; plan->n_built == 1 && i < plan->built->n_parts; i++)
        name_kernel(plan, &plan->built->parts[i], &ret->how);
    (void)snprintf(ret->how.provider, sizeof(ret->how.provider), "onednn");
    (void)snprintf(ret->how.algorithm, sizeof(ret->how.algorithm), "%.*s",
                   (int)sizeof(ret->how.algorithm) - 1,
                   plan->algorithm ? plan->algorithm : ret->how.kernels[0].name);
}

void plan_drop(struct cm_plan *plan) {
    const struct onednn_api *api = &plan->lib->api;
    for (size_t i = 0; i < plan->calls_capacity; i++) drop_args(plan, &plan->calls[i]);
    for (size_t i = 0; plan->primitives != NULL && i < plan->n_built * MAX_PARTS; i++)
        if (plan->primitives[i] != NULL) (void)api->dnnl_primitive_destroy(plan->primitives[i]);
    for (size_t i = 0; plan->built != NULL && i < plan->n_built; i++)
        build_drop(plan->lib, &plan->built[i]);
    for (int i = 0; i < MAX_BLOCKS; i++) free(plan->blocks[i]);
    free(plan->calls);
    free(plan->primitives);
    free(plan->built);
    free(plan);
}
