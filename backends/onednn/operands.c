/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates the operands of one primitive. Cold executions use several sets of operands in
 * turn. Together the sets are larger than three times the cache, so that under any replacement
 * policy a set is evicted before its next use. Temporaries between parts exist once, as in a
 * runtime.
 */
#include <string.h>

#include "backends/onednn/memory.h"
#include "backends/onednn/plan.h"

#include "support/banned.h"

#define CACHE_FACTOR 3 /* size of all sets together, in cache sizes */
#define MAX_SETS     4096

/* Indices into cm_plan.blocks. */
enum { BLOCK_SETS, BLOCK_SHARED };

struct operands {
    struct cm_plan *plan;
    int64_t n_sets;
    bool cold; /* the sets exceed CACHE_FACTOR caches */
    size_t set_bytes;
    size_t shared_bytes;          /* temporaries */
    size_t offsets[MAX_OPERANDS]; /* of each operand in its set, or in the shared block */
};

static bool is_shared(const struct built_operand *operand) {
    return operand->role >= BUILT_TEMPORARY;
}

static void place(const struct built *built, struct operands *ret) {
    for (int i = 0; i < built->n_operands; i++) {
        size_t *end = is_shared(&built->operands[i]) ? &ret->shared_bytes : &ret->set_bytes;
        ret->offsets[i] = *end;
        *end += memory_aligned(built->operands[i].bytes);
    }
}

/* Sets n_sets and cold; CM_BACKEND_NO_MEMORY if the limit is too small for one set. */
static int count_sets(struct operands *operands, const struct plan_limits *limits,
                      struct cm_reason *reason) {
    const int64_t set = (int64_t)operands->set_bytes;
    const int64_t wanted = 1 + CACHE_FACTOR * limits->cache_bytes / set;
    int64_t max_sets = MAX_SETS;
    if (limits->memory_bytes > 0)
        max_sets = (limits->memory_bytes - (int64_t)operands->shared_bytes) / set;
    const int64_t required = set + (int64_t)operands->shared_bytes;
    if (max_sets < 1)
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY,
                             "needs %lld bytes, the limit is %lld", (long long)required,
                             (long long)limits->memory_bytes);
    operands->n_sets = wanted < MAX_SETS ? wanted : MAX_SETS;
    if (operands->n_sets > max_sets) operands->n_sets = max_sets;
    operands->cold = operands->n_sets >= wanted;
    return CM_BACKEND_OK;
}

/* Returns the address of an operand in the set; temporaries are in the shared block. */
static char *address_of(const struct operands *operands, int64_t set, int operand) {
    const struct cm_plan *plan = operands->plan;
    if (is_shared(&plan->built->operands[operand]))
        return (char *)plan->blocks[BLOCK_SHARED] + operands->offsets[operand];
    return (char *)plan->blocks[BLOCK_SETS] + (size_t)set * operands->set_bytes +
           operands->offsets[operand];
}

static void fill(const struct operands *operands, int64_t set) {
    const struct built *built = operands->plan->built;
    for (int i = 0; i < built->n_operands; i++)
        memory_fill(address_of(operands, set, i), built->operands[i].bytes,
                    built->operands[i].type, 1);
}

static dnnl_status_t make_calls(const struct operands *operands, int64_t set) {
    struct cm_plan *plan = operands->plan;
    for (int i = 0; i < plan->built->n_parts; i++) {
        const struct built_part *part = &plan->built->parts[i];
        struct call *call = &plan->calls[(size_t)set * plan->n_calls + (size_t)i];
        call->primitive = plan->primitives[i];
        for (int j = 0; j < part->n_args; j++) {
            const struct built_arg *arg = &part->args[j];
            const dnnl_status_t status = plan_add_arg(plan, call, arg->id, arg->desc,
                                                      address_of(operands, set, arg->operand));
            if (status != dnnl_success) return status;
        }
    }
    return dnnl_success;
}

static int make_sets(struct operands *operands, struct cm_reason *reason) {
    struct cm_plan *plan = operands->plan;
    plan->n_calls = (size_t)plan->built->n_parts;
    plan->n_sets = operands->n_sets;
    plan->cold = operands->cold;
    plan->blocks[BLOCK_SETS] = memory_new((size_t)plan->n_sets * operands->set_bytes);
    plan->blocks[BLOCK_SHARED] = memory_new(operands->shared_bytes);
    if (plan->blocks[BLOCK_SETS] == NULL || plan->blocks[BLOCK_SHARED] == NULL ||
        !plan_reserve(plan, (size_t)plan->n_sets * plan->n_calls))
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    for (int64_t set = 0; set < plan->n_sets; set++) {
        fill(operands, set);
        if (make_calls(operands, set) != dnnl_success)
            return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    }
    return CM_BACKEND_OK;
}

int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool keep_layout,
              const struct plan_limits *limits, struct cm_plan **ret,
              struct cm_reason *reason) {
    struct operands operands;
    struct cm_plan *plan = plan_new(lib, 1);
    if (plan == NULL) return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    memset(&operands, 0, sizeof(operands));
    operands.plan = plan;
    int status = build_primitive(lib, primitive, keep_layout, plan->built, reason);
    if (status == CM_BACKEND_OK) {
        place(plan->built, &operands);
        status = count_sets(&operands, limits, reason);
    }
    if (status == CM_BACKEND_OK) status = plan_create(plan, 0, reason);
    if (status == CM_BACKEND_OK) status = make_sets(&operands, reason);
    plan->algorithm = plan->built->algorithm;
    plan->state = plan->built->state;
    plan->note = plan->built->note;
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        plan_drop(plan);
    return status;
}
