/* SPDX-License-Identifier: Apache-2.0 */
/* Operands, execution and facts of plans. Cold executions of a primitive use several sets of
 * operands in turn. Together the sets are larger than three times the cache, so that under any
 * replacement policy a set is evicted before its next use. Temporaries between parts exist
 * once, as in a runtime. Large blocks use huge pages if the system provides them: the physical
 * 4 KiB pages of a block differ from run to run, and with them its cache set conflicts and TLB
 * misses (docs/measuring.md). */
#include "backends/onednn/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "backends/onednn/machine.h"

#define ALIGNMENT    ((size_t)64)
#define HUGE_PAGE    ((size_t)2 << 20)
#define PATTERN_SIZE ((size_t)65536) /* bytes of random elements, then repeated */

#define CACHE_FACTOR 3 /* size of all sets together, in cache sizes */
#define MAX_SETS     4096

#define MAX_TRIES   16
#define MAX_SECONDS 0.1  /* total time of the tries */
#define MAX_WAITED  0.01 /* share of a try; less waiting is not worth another try */

size_t plan_aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void *plan_memory(size_t bytes) {
    void *block = NULL;
    const bool large = bytes >= HUGE_PAGE;
    if (posix_memalign(&block, large ? HUGE_PAGE : ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(block, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return block;
}

/* The generator of Numerical Recipes: random enough to keep a multiplier busy. */
static uint32_t random_next(uint32_t *state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void fill_pattern(char *pattern, size_t size, dnnl_data_type_t type, double scale) {
    uint32_t state = 12345;
    for (size_t at = 0; at < size; at += 4) {
        /* 1/4 .. 5/4: roots and logarithms are finite, sums of a few thousand products do not
         * overflow fp16, nothing is denormal. */
        const float number = (0.25F + (float)random_next(&state) / 16777216.0F) * (float)scale;
        uint32_t bits = 0;
        memcpy(&bits, &number, sizeof(bits));
        if (type == dnnl_bf16) bits = (bits >> 16) | (bits & 0xFFFF0000U);
        /* Two fp16 numbers from 1/4 to 1/2: exponent 13, any mantissa. */
        if (type == dnnl_f16) bits = 0x34003400U | (random_next(&state) & 0x03FF03FFU);
        if (type == dnnl_s8 || type == dnnl_u8 || type == dnnl_s32)
            bits = random_next(&state) & 0x07070707U;
        memcpy(pattern + at, &bits, size - at < 4 ? size - at : 4);
    }
}

/* Fills the first PATTERN_SIZE bytes, then repeats them. */
void plan_fill(void *bytes, size_t size, dnnl_data_type_t type, double scale) {
    const size_t first = size < PATTERN_SIZE ? size : PATTERN_SIZE;
    char *at = bytes;
    fill_pattern(at, first, type, scale);
    for (size_t done = first; done < size; done += first)
        memcpy(at + done, at, size - done < first ? size - done : first);
}

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

/* Indices into cm_plan.blocks. */
enum { BLOCK_SETS, BLOCK_SHARED };

/* Sizes and positions of the operands of a primitive. */
struct layout {
    size_t set_bytes;
    size_t shared_bytes;          /* temporaries */
    size_t offsets[MAX_OPERANDS]; /* of each operand in its set, or in the shared block */
};

static bool is_shared(const struct built_operand *operand) {
    return operand->role >= BUILT_TEMPORARY;
}

/* Lays out the operands, and sets n_sets and cold. Returns CM_BACKEND_NO_MEMORY if the limit is
 * too small for one set. */
static int lay_out(struct cm_plan *plan, const struct plan_limits *limits, struct layout *ret,
                   struct cm_reason *reason) {
    const struct built *built = plan->built;
    memset(ret, 0, sizeof(*ret));
    for (int i = 0; i < built->n_operands; i++) {
        size_t *end = is_shared(&built->operands[i]) ? &ret->shared_bytes : &ret->set_bytes;
        ret->offsets[i] = *end;
        *end += plan_aligned(built->operands[i].bytes);
    }
    const int64_t set = (int64_t)ret->set_bytes;
    const int64_t shared = (int64_t)ret->shared_bytes;
    const int64_t wanted = 1 + CACHE_FACTOR * limits->cache_bytes / set;
    int64_t max_sets = MAX_SETS;
    if (limits->memory_bytes > 0) max_sets = (limits->memory_bytes - shared) / set;
    const int64_t required = set + shared;
    if (max_sets < 1)
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY,
                             "needs %lld bytes, the limit is %lld", (long long)required,
                             (long long)limits->memory_bytes);
    plan->n_sets = wanted < MAX_SETS ? wanted : MAX_SETS;
    if (plan->n_sets > max_sets) plan->n_sets = max_sets;
    plan->cold = plan->n_sets >= wanted;
    return CM_BACKEND_OK;
}

/* Fills a set of operands and adds the set's calls. */
static dnnl_status_t make_set(struct cm_plan *plan, const struct layout *layout, size_t set) {
    const struct built *built = plan->built;
    char *addresses[MAX_OPERANDS];
    for (int i = 0; i < built->n_operands; i++) {
        const struct built_operand *operand = &built->operands[i];
        char *block = plan->blocks[is_shared(operand) ? BLOCK_SHARED : BLOCK_SETS];
        addresses[i] = block + layout->offsets[i];
        if (!is_shared(operand)) addresses[i] += set * layout->set_bytes;
        plan_fill(addresses[i], operand->bytes, operand->type, 1);
    }
    for (int i = 0; i < built->n_parts; i++) {
        struct call *call = &plan->calls[set * plan->n_calls + (size_t)i];
        call->primitive = plan->primitives[i];
        for (int j = 0; j < built->parts[i].n_args; j++) {
            const struct built_arg *arg = &built->parts[i].args[j];
            const dnnl_status_t status =
                plan_add_arg(plan, call, arg->id, arg->desc, addresses[arg->operand]);
            if (status != dnnl_success) return status;
        }
    }
    return dnnl_success;
}

static int make(struct cm_plan *plan, const struct cm_primitive *primitive, bool keep_layout,
                const struct plan_limits *limits, struct cm_reason *reason) {
    struct layout layout;
    int status = build_primitive(plan->lib, primitive, keep_layout, plan->built, reason);
    if (status != CM_BACKEND_OK) return status;
    status = lay_out(plan, limits, &layout, reason);
    if (status != CM_BACKEND_OK) return status;
    status = plan_create(plan, 0, reason);
    if (status != CM_BACKEND_OK) return status;
    plan->algorithm = plan->built->algorithm;
    plan->state = plan->built->state;
    plan->note = plan->built->note;
    plan->n_calls = (size_t)plan->built->n_parts;
    plan->blocks[BLOCK_SETS] = plan_memory((size_t)plan->n_sets * layout.set_bytes);
    plan->blocks[BLOCK_SHARED] = plan_memory(layout.shared_bytes);
    if (plan->blocks[BLOCK_SETS] == NULL || plan->blocks[BLOCK_SHARED] == NULL ||
        !plan_reserve(plan, (size_t)plan->n_sets * plan->n_calls))
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    for (int64_t set = 0; set < plan->n_sets; set++)
        if (make_set(plan, &layout, (size_t)set) != dnnl_success)
            return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    return CM_BACKEND_OK;
}

int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool keep_layout,
              const struct plan_limits *limits, struct cm_plan **ret,
              struct cm_reason *reason) {
    struct cm_plan *plan = plan_new(lib, 1);
    if (plan == NULL) return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const int status = make(plan, primitive, keep_layout, limits, reason);
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        plan_drop(plan);
    return status;
}

static void drop_args(const struct cm_plan *plan, struct call *call) {
    for (int i = 0; i < call->n_args; i++)
        if (call->args[i].memory != NULL)
            (void)plan->lib->api.dnnl_memory_destroy(call->args[i].memory);
    memset(call, 0, sizeof(*call));
}

static int ran(dnnl_status_t status, struct cm_reason *reason) {
    if (status == dnnl_success) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot run it: status %d",
                         (int)status);
}

int plan_run_call(struct cm_plan *plan, size_t index, struct cm_reason *reason) {
    const struct onednn_api *api = &plan->lib->api;
    struct call *call = &plan->calls[index];
    dnnl_status_t status = api->dnnl_primitive_execute(call->primitive, plan->lib->stream,
                                                       call->n_args, call->args);
    if (status == dnnl_success) status = api->dnnl_stream_wait(plan->lib->stream);
    drop_args(plan, call);
    return ran(status, reason);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int plan_run_n(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason) {
    const struct onednn_api *api = &plan->lib->api;
    dnnl_status_t status = dnnl_success;
    const double begin = now();
    for (uint32_t i = 0; i < n && status == dnnl_success; i++) {
        const int64_t set = cache == CM_COLD ? plan->next : 0;
        const struct call *calls = &plan->calls[(size_t)set * plan->n_calls];
        if (cache == CM_COLD) plan->next = (plan->next + 1) % plan->n_sets;
        for (size_t k = 0; k < plan->n_calls && status == dnnl_success; k++)
            status = api->dnnl_primitive_execute(calls[k].primitive, plan->lib->stream,
                                                 calls[k].n_args, calls[k].args);
    }
    if (status == dnnl_success) status = api->dnnl_stream_wait(plan->lib->stream);
    *ret_seconds = now() - begin;
    return ran(status, reason);
}

/* Repeats disturbed executions: waiting for a CPU that others use is not part of the cost. */
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

void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    const struct onednn_api *api = &plan->lib->api;
    struct cm_how *how = &ret->how;
    memset(ret, 0, sizeof(*ret));
    how->n_sets = (int32_t)plan->n_sets;
    ret->state = plan->state;
    ret->reason = plan->note;
    if (!plan->cold) ret->flags |= CM_FLAG_NOT_COLD;
    for (int i = 0; plan->n_built == 1 && i < plan->built->n_parts; i++) {
        const_dnnl_primitive_desc_t primitive = plan->built->parts[i].primitive;
        struct cm_kernel *kernel = &how->kernels[how->n_kernels++];
        const char *name = NULL;
        int64_t bytes = 0;
        if (api->dnnl_primitive_desc_query(primitive, dnnl_query_impl_info_str, 0, &name) ==
                dnnl_success &&
            name != NULL)
            (void)snprintf(kernel->name, sizeof(kernel->name), "%s", name);
        kernel->calls = 1;
        if (api->dnnl_primitive_desc_query(primitive, dnnl_query_memory_consumption_s64, 0,
                                           &bytes) == dnnl_success)
            how->workspace_bytes += bytes;
    }
    (void)snprintf(how->provider, sizeof(how->provider), "onednn");
    (void)snprintf(how->algorithm, sizeof(how->algorithm), "%.*s",
                   (int)sizeof(how->algorithm) - 1,
                   plan->algorithm ? plan->algorithm : how->kernels[0].name);
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
