/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands in as many sets as it takes for the cache to have forgotten the first one when its
 * turn comes again: three times the cache, so that no way of replacing lines keeps it.
 */
#include "backends/onednn/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/banned.h"

#define ALIGNMENT    ((size_t)64)
#define CACHES       3
#define MOST_SETS    4096
#define PATTERN_SIZE ((size_t)65536) /* of random elements, repeated */

struct cm_plan {
    const struct onednn *lib;
    struct built built;
    dnnl_primitive_t primitive;
    int64_t n_sets;
    int64_t next; /* the set of the next cold execution */
    size_t set_bytes;
    bool cold; /* the sets are more than the cache holds */
    char *operands;
    dnnl_exec_arg_t *args; /* n_sets times n_args */
};

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

static size_t bytes_of_set(const struct onednn *lib, const struct built *built) {
    size_t bytes = 0;
    for (int i = 0; i < built->n_args; i++)
        bytes += aligned(lib->api.dnnl_memory_desc_get_size(built->args[i].desc));
    return bytes;
}

static int count_sets(struct cm_plan *plan, const struct plan_limits *limits,
                      struct cm_reason *reason) {
    const int64_t set = (int64_t)plan->set_bytes;
    const int64_t want = 1 + CACHES * limits->cache_bytes / set;
    const int64_t most = limits->memory_bytes > 0 ? limits->memory_bytes / set : MOST_SETS;
    if (most < 1)
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY,
                             "takes %lld bytes, at most %lld may be taken", (long long)set,
                             (long long)limits->memory_bytes);
    plan->n_sets = want < MOST_SETS ? want : MOST_SETS;
    if (plan->n_sets > most) plan->n_sets = most;
    plan->cold = plan->n_sets >= want;
    return CM_BACKEND_OK;
}

/* The generator of Numerical Recipes: random enough to keep a multiplier busy. */
static uint32_t random_next(uint32_t *state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/*
 * Between 1/4 and 5/4: roots and logarithms of it are numbers, products of a few thousand stay
 * within 16 bits, and nothing is denormal.
 */
static float random_float(uint32_t *state) {
    return 0.25F + (float)random_next(state) / 16777216.0F;
}

static void fill_pattern(char *pattern, dnnl_data_type_t type) {
    uint32_t state = 12345;
    for (size_t at = 0; at < PATTERN_SIZE; at += 4) {
        const float number = random_float(&state);
        uint32_t bits = 0;
        memcpy(&bits, &number, sizeof(bits));
        if (type == dnnl_bf16) bits = (bits >> 16) | (bits & 0xFFFF0000U);
        /* Halves from 1/4 to 1/2: exponent 13, any mantissa. */
        if (type == dnnl_f16) bits = 0x34003400U | (random_next(&state) & 0x03FF03FFU);
        if (type == dnnl_s8 || type == dnnl_u8 || type == dnnl_s32)
            bits = random_next(&state) & 0x07070707U;
        memcpy(pattern + at, &bits, sizeof(bits));
    }
}

static void fill(char *operand, size_t size, const char *pattern) {
    for (size_t at = 0; at < size; at += PATTERN_SIZE)
        memcpy(operand + at, pattern, size - at < PATTERN_SIZE ? size - at : PATTERN_SIZE);
}

static dnnl_status_t make_arg(struct cm_plan *plan, int64_t set, int which, size_t offset) {
    const struct onednn *lib = plan->lib;
    const struct built_arg *arg = &plan->built.args[which];
    dnnl_exec_arg_t *ret = &plan->args[set * plan->built.n_args + which];
    ret->arg = arg->id;
    return lib->api.dnnl_memory_create(&ret->memory, arg->desc, lib->engine,
                                       plan->operands + offset);
}

static dnnl_status_t make_args(struct cm_plan *plan, char *pattern) {
    size_t offset = 0;
    for (int i = 0; i < plan->built.n_args; i++) {
        const struct built_arg *arg = &plan->built.args[i];
        const size_t size = plan->lib->api.dnnl_memory_desc_get_size(arg->desc);
        fill_pattern(pattern, arg->type);
        for (int64_t set = 0; set < plan->n_sets; set++) {
            const size_t at = (size_t)set * plan->set_bytes + offset;
            fill(plan->operands + at, size, pattern);
            const dnnl_status_t status = make_arg(plan, set, i, at);
            if (status != dnnl_success) return status;
        }
        offset += aligned(size);
    }
    return dnnl_success;
}

static int allocate(struct cm_plan *plan, struct cm_reason *reason) {
    void *operands = NULL;
    char *pattern = malloc(PATTERN_SIZE);
    const size_t n_args = (size_t)plan->n_sets * (size_t)plan->built.n_args;
    plan->args = calloc(n_args, sizeof(*plan->args));
    if (posix_memalign(&operands, ALIGNMENT, (size_t)plan->n_sets * plan->set_bytes) == 0)
        plan->operands = operands;
    dnnl_status_t status = dnnl_out_of_memory;
    if (pattern != NULL && plan->args != NULL && plan->operands != NULL)
        status = make_args(plan, pattern);
    free(pattern);
    if (status == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

static int create(struct cm_plan *plan, const struct plan_limits *limits,
                  struct cm_reason *reason) {
    plan->set_bytes = bytes_of_set(plan->lib, &plan->built);
    int status = count_sets(plan, limits, reason);
    if (status == CM_BACKEND_OK) status = allocate(plan, reason);
    if (status != CM_BACKEND_OK) return status;
    const dnnl_status_t created =
        plan->lib->api.dnnl_primitive_create(&plan->primitive, plan->built.primitive);
    if (created == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot create it: status %d",
                         (int)created);
}

int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool plain,
              const struct plan_limits *limits, struct cm_plan **ret,
              struct cm_reason *reason) {
    struct cm_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    plan->lib = lib;
    int status = build_primitive(lib, primitive, plain, &plan->built, reason);
    if (status == CM_BACKEND_OK) status = create(plan, limits, reason);
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        plan_drop(plan);
    return status;
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static dnnl_status_t execute(struct cm_plan *plan, enum cm_cache cache) {
    const int64_t set = cache == CM_COLD ? plan->next : 0;
    if (cache == CM_COLD) plan->next = (plan->next + 1) % plan->n_sets;
    return plan->lib->api.dnnl_primitive_execute(plan->primitive, plan->lib->stream,
                                                 plan->built.n_args,
                                                 plan->args + set * plan->built.n_args);
}

int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
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

/* A primitive of the library is one function. */
static void name_kernel(const char *name, struct cm_how *ret) {
    (void)snprintf(ret->algorithm, sizeof(ret->algorithm), "%s", name);
    (void)snprintf(ret->kernels[0].name, sizeof(ret->kernels[0].name), "%s", name);
    ret->kernels[0].calls = 1;
    ret->n_kernels = 1;
}

void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    const char *name = NULL;
    int64_t bytes = 0;
    const struct onednn_api *api = &plan->lib->api;
    memset(ret, 0, sizeof(*ret));
    ret->how.n_sets = (int32_t)plan->n_sets;
    ret->state = plan->built.state;
    ret->reason = plan->built.instead;
    if (!plan->cold) ret->flags |= CM_FLAG_NOT_COLD;
    if (api->dnnl_primitive_desc_query(plan->built.primitive, dnnl_query_impl_info_str, 0,
                                       &name) == dnnl_success &&
        name != NULL)
        name_kernel(name, &ret->how);
    if (api->dnnl_primitive_desc_query(plan->built.primitive, dnnl_query_memory_consumption_s64,
                                       0, &bytes) == dnnl_success)
        ret->how.workspace_bytes = bytes;
}

void plan_drop(struct cm_plan *plan) {
    const struct onednn_api *api = &plan->lib->api;
    const int64_t n_args = plan->args ? plan->n_sets * plan->built.n_args : 0;
    for (int64_t i = 0; i < n_args; i++)
        if (plan->args[i].memory != NULL) (void)api->dnnl_memory_destroy(plan->args[i].memory);
    if (plan->primitive != NULL) (void)api->dnnl_primitive_destroy(plan->primitive);
    build_drop(plan->lib, &plan->built);
    free(plan->args);
    free(plan->operands);
    free(plan);
}
