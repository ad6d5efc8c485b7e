/* SPDX-License-Identifier: Apache-2.0 */
/* Pass primitives: lowers nodes to the primitives that a backend can run. Nodes that do the
 * same work share one primitive, which is measured once; with imported times each node has its
 * own. Dtypes and strides are those of the file, or as set by --precision and --layout. Does
 * nothing without a backend or imported times. */
#include "backends/primitive.h"
#include "costmodel/backend.h"
#include "ops/flops/conventions.h"
#include "ops/lowering/lowering.h"
#include "ops/op.h"
#include "ops/op_context.h"
#include "ops/product.h"
#include "passes/cost/count.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/memory/liveness.h"
#include "passes/precision/precision.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/kernels.h"
#include "timing/post_ops.h"
#include "timing/primitive_index.h"
#include "timing/timing.h"

#define MIN_RANK 3
#define MAX_RANK (2 + CM_MAX_SPATIAL)

/* Sets of values with the same layout (union-find), for --layout nhwc. This option makes the
 * strides of images channels-last: tensors of N, C and one to three spatial dims. Convolutions,
 * pools, resizes and norms over channels read and write images; elementwise nodes, Concat,
 * Slice, Pad and reductions propagate them. MatMul, Transpose, Softmax and Reshape do not: they
 * read and write row-major, and the conversion is not timed, since a runtime can fold it into
 * the node. Constants do not propagate either: an image and a matrix may share one. */
struct classes {
    const struct timing *timing;
    uint32_t *parent; /* by value */
    bool *image;      /* by root of a set: its values are images */
};

static enum op_images images_of(const struct timing *timing, uint32_t id) {
    const struct op *op = timing->core.bind->ops[id];
    return op->facets ? op->facets->lowering.images : IMAGES_NONE;
}

static uint32_t find(const struct classes *classes, uint32_t value) {
    while (classes->parent[value] != value) {
        classes->parent[value] = classes->parent[classes->parent[value]];
        value = classes->parent[value];
    }
    return value;
}

static void join(const struct classes *classes, uint32_t a, uint32_t b) {
    const uint32_t keep = find(classes, a);
    const uint32_t gone = find(classes, b);
    classes->parent[gone] = keep;
    classes->image[keep] = classes->image[keep] || classes->image[gone];
}

/* Returns the rank of a value that may be an image, else 0. */
static int rank_of(const struct classes *classes, uint32_t value) {
    if (value == ID_NONE) return 0;
    const struct value_info *info = &classes->timing->core.infer->infos[value];
    const bool fits = info->kind == CM_TYPE_TENSOR && !info->is_constant &&
                      info->shape.rank >= MIN_RANK && info->shape.rank <= MAX_RANK;
    return fits ? info->shape.rank : 0;
}

/* Returns the value that decides whether the node works on images; ID_NONE: it does not. */
static uint32_t main_value(const struct classes *classes, const struct node *node) {
    const uint32_t x = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    const uint32_t y = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    const int of_x = rank_of(classes, x);
    const int of_y = rank_of(classes, y);
    if (of_x == 0 && of_y == 0) return ID_NONE;
    return of_y >= of_x ? y : x;
}

/* Joins the values of the node that have the same layout. */
static void connect(const struct classes *classes, uint32_t id) {
    const struct timing *timing = classes->timing;
    const struct value_info *infos = timing->core.infer->infos;
    const struct node *node = &timing->core.model->nodes[id];
    const enum op_images images = images_of(timing, id);
    const uint32_t x = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    const uint32_t y = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    if (images == IMAGES_HERE) {
        if (rank_of(classes, x) != 0) classes->image[find(classes, x)] = true;
        if (rank_of(classes, y) != 0) classes->image[find(classes, y)] = true;
        return;
    }
    const uint32_t main = main_value(classes, node);
    if (images == IMAGES_FOLLOW && main != ID_NONE) {
        const int rank = rank_of(classes, main);
        for (size_t i = 0; i < node->n_inputs; i++)
            if (rank_of(classes, node->inputs[i]) == rank) join(classes, main, node->inputs[i]);
        for (size_t i = 0; i < node->n_outputs; i++)
            if (rank_of(classes, node->outputs[i]) == rank)
                join(classes, main, node->outputs[i]);
    }
    if (x != ID_NONE && y != ID_NONE && timing->core.liveness->storage[y] == STORAGE_VIEW &&
        shape_equal(&infos[x].shape, &infos[y].shape))
        join(classes, x, y);
}

/* Sets *ret, by node: true if it works on images. */
static int find_images(const struct timing *timing, const bool **ret) {
    const struct model *model = timing->core.model;
    struct arena *arena = timing->core.arena;
    struct classes classes = {timing,
                              arena_array(arena, model->n_values, sizeof(*classes.parent)),
                              arena_array(arena, model->n_values, sizeof(*classes.image))};
    bool *images = arena_array(arena, model->n_nodes, sizeof(*images));
    if (!classes.parent || !classes.image || !images) return diag_no_memory(timing->core.diag);
    for (uint32_t value = 0; value < model->n_values; value++) classes.parent[value] = value;
    for (uint32_t id = 0; id < model->n_nodes; id++) connect(&classes, id);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const uint32_t main = main_value(&classes, &model->nodes[id]);
        images[id] = images_of(timing, id) != IMAGES_NONE && main != ID_NONE &&
                     classes.image[find(&classes, main)];
    }
    *ret = images;
    return CM_OK;
}

/* Changes row-major strides to channels-last ones. A tensor may be part of a larger one, whose
 * dims follow from the row-major strides: dim[i] = stride[i - 1] / stride[i].
 * An empty tensor is unchanged. */
static void set_channels_last(struct cm_tensor *tensor) {
    int64_t whole[CM_MAX_RANK] = {0};
    for (int32_t i = 1; i < tensor->rank; i++) {
        if (tensor->strides[i] == 0) return;
        whole[i] = tensor->strides[i - 1] / tensor->strides[i];
    }
    int64_t stride = whole[1];
    for (int32_t i = tensor->rank - 1; i >= 2; i--) {
        tensor->strides[i] = stride;
        stride *= whole[i]; /* at most the old strides[0], so it does not overflow */
    }
    tensor->strides[0] = stride;
    tensor->strides[1] = 1;
}

/* Sets channels-last strides for the images and the convolution weights of a node that works on
 * images. */
static void apply_layout(struct cm_primitive *primitive) {
    const int32_t of_x = primitive->inputs[0].rank;
    const int32_t of_y = primitive->outputs[0].rank;
    const int32_t rank = of_x > of_y ? of_x : of_y;
    if (rank < MIN_RANK || rank > MAX_RANK) return;
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        if (primitive->inputs[i].rank == rank) set_channels_last(&primitive->inputs[i]);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        if (primitive->outputs[i].rank == rank) set_channels_last(&primitive->outputs[i]);
}

struct lowering_job {
    const struct timing *timing;
    const struct convention *exact;
    const bool *images; /* by node; NULL: strides stay row-major */
    uint32_t node;
    struct op_context context; /* of the node, or of its fused pattern */
};

/* Sets the FLOPs, by the exact convention, and the bytes: those of pass kernels on a modelled
 * device, otherwise the operands with the primitive's dtypes. Returns false if any figure is
 * unknown. */
static bool find_work(const struct lowering_job *job, struct cm_primitive *ret) {
    const struct op_context *context = &job->context;
    const struct kernels_table *kernels = job->timing->kernels;
    ret->flops = convention_all_operations(job->exact, context, product_macs(context));
    if (kernels->fusion) {
        ret->bytes_read = kernels->read[job->node];
        ret->bytes_written = kernels->written[job->node];
        ret->fusion = kernels->fusion[job->node];
    } else {
        int64_t read = 0;
        int64_t written = 0;
        (void)count_traffic(&job->timing->core, context, &read, &written);
        ret->bytes_read = read;
        ret->bytes_written = written;
    }
    return is_known(ret->flops) && is_known(ret->bytes_read) && is_known(ret->bytes_written);
}

/* Lowers the node, with the requested precision and layout. *ret_why: why it has no primitive
 * of its own; NULL if it has one, or if it does no work and has no bodies. */
static int lower(struct lowering_job *job, struct cm_primitive *ret, enum lowered *ret_lowered,
                 const char **ret_why) {
    const struct timing *timing = job->timing;
    const struct kernels_table *kernels = timing->kernels;
    int64_t read = 0;
    int64_t written = 0;
    const bool works = kernels->fusion
                           ? kernels_runs(kernels, job->node)
                           : count_traffic(&timing->core, &job->context, &read, &written);
    *ret_lowered = works ? LOWERED_NOT : LOWERED_NOTHING;
    if (!works) {
        const bool has_bodies = job->context.op->memory == MEMORY_CONTROL;
        *ret_why = has_bodies ? "its bodies are measured" : NULL;
        return CM_OK;
    }
    const bool on_integers = kernels->qdq && kernels->qdq[job->node] == QDQ_PRODUCT;
    const int status = on_integers ? precision_apply_int8(&timing->core, &job->context)
                                   : precision_apply(&timing->core, &job->context);
    if (status < 0) return status;
    bool found = lowering_apply(&job->context, ret, ret_why);
    enum dtype *result = &job->context.outputs[0].dtype;
    if (found && primitive_kind_is_product(ret->kind) && ret->inputs[0].element == CM_I8 &&
        dtype_is_float(*result)) {
        /* cuBLASLt sums in i32; a deployed network requantizes in the kernel of a convolution
         */
        *result = ret->kind == CM_GEMM ? DTYPE_INT32 : DTYPE_INT8;
        found = lowering_apply(&job->context, ret, ret_why);
    }
    if (!found && kernels->fusion) found = lowering_model_product(&job->context, ret);
    if (!found) return CM_OK;
    if (job->images != NULL && job->images[job->node]) apply_layout(ret);
    const bool known = find_work(job, ret);
    if (known) *ret_lowered = LOWERED_PRIMITIVE;
    *ret_why = known ? NULL : "its FLOPs or bytes are unknown";
    return CM_OK;
}

/* On a modelled device, the context of the last node of a fused pattern is that of the whole
 * pattern. With imported times, a node without one has its FLOPs and bytes, if known. */
static int lower_node(struct lowering_job *job, uint32_t id, struct primitives_table *table,
                      struct primitive_index *index) {
    const struct timing *timing = job->timing;
    const struct op_source source = infer_source(&timing->core);
    const struct arena_mark mark = arena_save(timing->core.arena);
    const uint32_t at = timing->core.fused_patterns->of_node[id];
    const struct fused_pattern *pattern = timing->kernels->fusion && at != ID_NONE
                                              ? &timing->core.fused_patterns->items[at]
                                              : NULL;
    struct cm_primitive primitive;
    table->of_node[id] = ID_NONE;
    job->node = id;
    int status = pattern && pattern->last == id
                     ? context_make_fused(&source, pattern, &job->context)
                     : context_make_inferred(&source, id, &job->context);
    if (status == CM_OK)
        status = lower(job, &primitive, &table->lowered[id], &table->why_not[id]);
    if (status < 0) return status;
    const bool is_lowered = table->lowered[id] == LOWERED_PRIMITIVE;
    if (timing->core.options->n_times > 0) {
        const struct cm_primitive none = {.kind = CM_PRIMITIVE_NONE};
        if (!is_lowered) primitive = none;
        if (table->lowered[id] == LOWERED_NOT && !find_work(job, &primitive)) primitive = none;
        table->of_node[id] = (uint32_t)index->n;
        index->items[index->n++] = primitive;
    } else if (is_lowered) {
        table->of_node[id] = primitive_index_add(index, &primitive);
    }
    arena_restore(timing->core.arena, mark);
    return CM_OK;
}

int pass_primitives(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct primitives_table *table = own;
    const struct cm_options *options = timing->core.options;
    const size_t n = timing->core.model->n_nodes;
    struct arena *arena = timing->core.arena;
    struct primitive_index index;
    struct lowering_job job = {.timing = timing, .exact = convention_find("exact")};
    int status = CM_OK;
    if (options->backend == NULL && options->n_times == 0) return CM_OK;
    table->lowered = arena_array(arena, n, sizeof(*table->lowered));
    table->of_node = arena_array(arena, n, sizeof(*table->of_node));
    table->why_not = arena_array(arena, n, sizeof(*table->why_not));
    /* At most one primitive per node and one per group. */
    if (primitive_index_init(&index, options->fuse ? 2 * n : n, arena) < 0 ||
        arena_failed(arena))
        return diag_no_memory(timing->core.diag);
    table->items = index.items;
    if (options->layout == CM_LAYOUT_NHWC) status = find_images(timing, &job.images);
    for (uint32_t id = 0; status == CM_OK && id < n; id++)
        status = lower_node(&job, id, table, &index);
    if (status == CM_OK && options->fuse && options->backend && !timing->kernels->fusion)
        status = post_ops_find(timing, table, &index);
    table->n = index.n;
    return status;
}
