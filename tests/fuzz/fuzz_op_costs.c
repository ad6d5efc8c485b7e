/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom operators (docs/op-costs.md), evaluated for a node of each. The dims of the operands
 * are the bytes after the first zero byte of the input, one byte per dim.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ir/graph.h"
#include "ops/custom/custom_op.h"
#include "ops/op_context.h"
#include "ops/product.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_OPERANDS 8
#define MAX_RANK     6

/* The rest of the input. */
struct bytes {
    const uint8_t *at;
    size_t size;
};

static uint8_t take(struct bytes *bytes) {
    if (bytes->size == 0) return 0;
    bytes->size--;
    return *bytes->at++;
}

/* Small sizes, and sizes at which arithmetic overflows. */
static int64_t take_dim(struct bytes *bytes) {
    static const int64_t odd[] = {DIM_UNKNOWN, INT64_MAX, INT64_C(1) << 32, INT64_C(1) << 62};
    const uint8_t byte = take(bytes);
    return byte < 252 ? byte : odd[byte - 252];
}

static struct value_info take_info(struct bytes *bytes, struct arena *arena) {
    const int rank = take(bytes) % (MAX_RANK + 2) - 1;
    struct shape shape = shape_unknown();
    int64_t dims[MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = take_dim(bytes);
    if (rank >= 0) FUZZ_REQUIRE(shape_make(arena, rank, dims, &shape) == CM_OK);
    return value_info_tensor(DTYPE_FLOAT, shape);
}

static void require_cost(int64_t cost) {
    FUZZ_REQUIRE(!is_known(cost) || cost >= 0);
}

static void require_outputs(const struct op_context *context) {
    for (size_t i = 0; i < context->n_outputs; i++) {
        const struct shape *shape = &context->outputs[i].shape;
        for (int axis = 0; axis < shape->rank; axis++)
            FUZZ_REQUIRE(shape->dims[axis] == DIM_UNKNOWN || shape->dims[axis] >= 0);
    }
}

static void run_rule(struct op_context *context) {
    struct product macs = {.n = 0};
    const int status = context->op->infer(context);
    fuzz_require_status(status, context->diag);
    if (status != CM_OK) return;
    require_outputs(context);
    context->op->cost.macs(context, &macs);
    require_cost(product_value(&macs));
    require_cost(context->op->facets->flops[FLOPS_DEEPSPEED]->extra(context));
}

/* Operators with `like` require the checks of pass bind; the others accept any operands. */
static void run_row(const struct custom *row, struct bytes *bytes, struct arena *arena,
                    struct cm_diagnostics *diag) {
    static const uint32_t outputs[CUSTOM_OP_MAX_ITEMS];
    struct value_info infos[MAX_OPERANDS];
    const struct value_info *inputs[MAX_OPERANDS];
    struct value_info made[CUSTOM_OP_MAX_ITEMS];
    const struct node node = {.domain = "", .type = "", .name = "", .outputs = outputs};
    struct op_context context = {.node = &node,
                                 .op = &row->op,
                                 .inputs = inputs,
                                 .n_inputs = take(bytes) % (MAX_OPERANDS + 1),
                                 .n_outputs = row->is.n_outputs,
                                 .outputs = made,
                                 .arena = arena,
                                 .diag = diag};
    for (size_t i = 0; i < context.n_inputs; i++) {
        infos[i] = take_info(bytes, arena);
        inputs[i] = &infos[i];
    }
    for (size_t i = 0; i < context.n_outputs; i++) made[i] = value_info_unknown();
    if (!row->like) run_rule(&context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    struct bytes rest = {data + length, size - length};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct arena *arena = arena_new("op costs", 0);
    struct cm_op_costs *costs = NULL;
    const double since = fuzz_now();
    FUZZ_REQUIRE(diag != NULL && arena != NULL);
    (void)take(&rest);
    const int status =
        cm_op_costs_load_memory((const char *)data, length, "fuzz.json", diag, &costs);
    fuzz_require_status(status, diag);
    for (size_t i = 0; status == CM_OK && i < costs->n; i++)
        run_row(&costs->items[i], &rest, arena, diag);
    cm_op_costs_free(costs);
    arena_free(arena);
    cm_diagnostics_free(diag);
    fuzz_require_fast(since);
    return 0;
}
