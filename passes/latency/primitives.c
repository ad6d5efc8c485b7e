/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass primitives: lowers nodes to the primitives that a backend can run. Nodes that do the
 * same work share one primitive, which is measured once; with imported times each node has its
 * own. Dtypes and strides are those of the file, or as set by --precision and --layout. Does
 * nothing without a backend or imported times.
 */
#include "backends/primitive.h"
#include "ops/flops/conventions.h"
#include "ops/lowering/lowering.h"
#include "ops/product.h"
#include "passes/cost/count.h"
#include "passes/infer/context.h"
#include "passes/latency/kernels.h"
#include "passes/latency/layout.h"
#include "passes/latency/post_ops.h"
#include "passes/latency/precision.h"
#include "passes/latency/primitive_index.h"
#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Returns the FLOPs of one run by the exact convention. */
static int64_t exact_flops(const struct convention *exact, const struct op_context *context) {
    return convention_all_operations(exact, context, product_macs(context));
}

/*
 * Returns the bytes that a device reads. `read` counts whole operands, but for Gather and Slice
 * a device reads only as many bytes of the first operand as it writes.
 */
static int64_t bytes_touched(const struct op_context *context,
                             const struct cm_primitive *primitive, int64_t read,
                             int64_t written) {
    const bool reads_part = primitive->kind == CM_GATHER ||
                            (primitive->kind == CM_COPY && primitive->n_inputs == 1);
    if (!reads_part) return read;
    const int64_t whole = liveness_bytes(op_input(context, 0));
    if (!is_known(whole) || !is_known(read) || whole <= written) return read;
    return checked_add(checked_sub(read, whole), written);
}

struct lowering_job {
    const struct analysis *analysis;
    const struct convention *exact;
    const bool *images; /* by node; NULL: strides stay row-major */
    uint32_t node;
    struct op_context context; /* of the node, or of its fused pattern */
};

/* Lowers the node, with the requested precision and layout. */
static int find_primitive(struct lowering_job *job, struct cm_primitive *ret, bool *ret_found,
                          const char **ret_why) {
    const struct analysis *analysis = job->analysis;
    *ret_found = lowering_apply(&job->context, ret, ret_why);
    if (*ret_found && precision_changes(analysis->options->precision)) {
        const int status = precision_apply(analysis, ret->kind, &job->context);
        if (status < 0) return status;
        *ret_found = lowering_apply(&job->context, ret, ret_why);
    }
    if (*ret_found && job->images != NULL && job->images[job->node]) layout_apply(ret);
    return CM_OK;
}

/* Computes FLOPs and bytes with the dtypes of the primitive. Returns false if unknown. */
static bool find_work(const struct lowering_job *job, struct cm_primitive *ret) {
    const struct op_context *context = &job->context;
    const struct kernels_table *kernels = &job->analysis->kernels;
    int64_t read = 0;
    int64_t written = 0;
    if (kernels->fusion) {
        ret->flops = exact_flops(job->exact, context);
        ret->bytes_read = kernels->read[job->node];
        ret->bytes_written = kernels->written[job->node];
        ret->fusion = kernels->fusion[job->node];
        return is_known(ret->flops) && is_known(ret->bytes_read) &&
               is_known(ret->bytes_written);
    }
    (void)count_traffic(job->analysis, context, &read, &written);
    ret->flops = exact_flops(job->exact, context);
    ret->bytes_read = bytes_touched(context, ret, read, written);
    ret->bytes_written = written;
    return is_known(ret->flops) && is_known(ret->bytes_read) && is_known(written);
}

static bool does_nothing(const struct lowering_job *job) {
    const struct kernels_table *kernels = &job->analysis->kernels;
    if (kernels->fusion) return !kernels_runs(kernels, job->node);
    int64_t read = 0;
    int64_t written = 0;
    return !count_traffic(job->analysis, &job->context, &read, &written);
}

/* Lowers the node. *ret_why: why it has no primitive of its own; NULL if it does no work. */
static int lower(struct lowering_job *job, struct cm_primitive *ret, enum lowered *ret_lowered,
                 const char **ret_why) {
    bool found = false;
    *ret_lowered = LOWERED_NOTHING;
    if (does_nothing(job)) {
        const bool is_body = job->context.op->memory == MEMORY_CONTROL;
        *ret_why = is_body ? "its bodies are measured" : NULL;
        return CM_OK;
    }
    *ret_lowered = LOWERED_NOT;
    const int status = find_primitive(job, ret, &found, ret_why);
    if (status < 0 || !found) return status;
    const bool known = find_work(job, ret);
    *ret_lowered = known ? LOWERED_PRIMITIVE : LOWERED_NOT;
    *ret_why = known ? NULL : "its FLOPs or bytes are unknown";
    return CM_OK;
}

/* For imported times: sets the FLOPs and bytes, if known, of a node without a primitive. */
static void fill_unlowered(const struct lowering_job *job, enum lowered lowered,
                           struct cm_primitive *ret) {
    *ret = (struct cm_primitive){.kind = CM_PRIMITIVE_NONE};
    if (lowered == LOWERED_NOTHING || find_work(job, ret)) return;
    *ret = (struct cm_primitive){.kind = CM_PRIMITIVE_NONE};
}

static int make_tables(const struct analysis *analysis, struct primitives_table *table,
                       struct primitive_index *index) {
    const size_t n = analysis->model->n_nodes;
    struct arena *arena = analysis->arena;
    table->lowered = arena_array(arena, n, sizeof(*table->lowered));
    table->of_node = arena_array(arena, n, sizeof(*table->of_node));
    table->why_not = arena_array(arena, n, sizeof(*table->why_not));
    const size_t capacity = analysis->options->fuse ? 2 * n : n; /* nodes, groups */
    if (primitive_index_init(index, capacity, arena) < 0 || arena_failed(arena))
        return diag_no_memory(analysis->diag);
    table->items = index->items;
    return CM_OK;
}

/* Makes the context of the node. On a modelled device, that of the last node of a fused pattern
 * is the context of the whole pattern. */
static int make_context(struct lowering_job *job, const struct op_source *source) {
    const struct analysis *analysis = job->analysis;
    const uint32_t pattern = analysis->fused_patterns.of_node[job->node];
    if (analysis->kernels.fusion && pattern != ID_NONE &&
        analysis->fused_patterns.items[pattern].last == job->node)
        return context_make_fused(source, &analysis->fused_patterns.items[pattern],
                                  &job->context);
    return context_make_inferred(source, job->node, &job->context);
}

static int lower_node(struct lowering_job *job, uint32_t id, struct primitives_table *table,
                      struct primitive_index *index) {
    const struct op_source source = context_source(job->analysis);
    const struct arena_mark mark = arena_save(job->analysis->arena);
    const bool is_imported = job->analysis->options->n_times > 0;
    struct cm_primitive primitive;
    table->of_node[id] = ID_NONE;
    job->node = id;
    int status = make_context(job, &source);
    if (status == CM_OK)
        status = lower(job, &primitive, &table->lowered[id], &table->why_not[id]);
    if (status == CM_OK && is_imported) {
        if (table->lowered[id] != LOWERED_PRIMITIVE)
            fill_unlowered(job, table->lowered[id], &primitive);
        table->of_node[id] = (uint32_t)index->n;
        index->items[index->n++] = primitive;
    } else if (status == CM_OK && table->lowered[id] == LOWERED_PRIMITIVE) {
        table->of_node[id] = primitive_index_add(index, &primitive);
    }
    arena_restore(job->analysis->arena, mark);
    return status;
}

int pass_primitives(const struct analysis *analysis, void *own) {
    struct primitives_table *table = own;
    struct primitive_index index;
    struct lowering_job job = {.analysis = analysis, .exact = convention_find("exact")};
    if (analysis->options->backend == NULL && analysis->options->n_times == 0) return CM_OK;
    int status = make_tables(analysis, table, &index);
    if (status == CM_OK && analysis->options->layout == CM_LAYOUT_NHWC)
        status = layout_find(analysis, &job.images);
    for (uint32_t id = 0; status == CM_OK && id < analysis->model->n_nodes; id++)
        status = lower_node(&job, id, table, &index);
    if (status == CM_OK && analysis->options->fuse && analysis->options->backend &&
        !analysis->kernels.fusion)
        status = post_ops_find(analysis, table, &index);
    table->n = index.n;
    return status;
}
