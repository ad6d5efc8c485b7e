/* SPDX-License-Identifier: Apache-2.0 */
/* Builds graphs of matrix products y [B, M, N] = a [B, M, K] * b [B, K, N] (+ addend) with one
 * batch dim, and of their post-ops. */
#include "backends/cuda/cudnn/graph_build.h"

#include "backends/coalesce_dims.h"
#include "backends/primitive.h"

/* Operands are numbered as the inputs; the result comes after the last input. */
enum { A, B, MAX_OPERANDS = CM_MAX_INPUTS + 1 };

static const struct cm_tensor *operand_of(const struct cm_primitive *primitive, int which) {
    return which < primitive->n_inputs ? &primitive->inputs[which] : &primitive->outputs[0];
}

/* Coalesces all dims but the last `n_last` into one dim of the rank-3 shapes `ret`. With
 * n_last = 1, all batches share b, and the batch dims and M become the rows of one matrix:
 * a [2,3,4] * b [4,5] -> a [1,6,4]. Else n_last = 2. Returns false if strides prevent it. */
static bool read_batches(const struct cm_primitive *primitive, int n_last,
                         struct graph_shape *ret) {
    struct cm_tensor batches[MAX_OPERANDS];
    const struct cm_tensor *pointers[MAX_OPERANDS];
    struct coalesced coalesced;
    int used[MAX_OPERANDS];
    int n = 0;
    for (int which = A; which <= primitive->n_inputs; which++) {
        if (which == B && n_last == 1) continue;
        used[n] = which;
        batches[n] = *operand_of(primitive, which);
        batches[n].rank = batches[n].rank > n_last ? batches[n].rank - n_last : 0;
        pointers[n] = &batches[n];
        n++;
    }
    if (!coalesce_dims(pointers, n, pointers[n - 1], &coalesced) || coalesced.rank != 1)
        return false;
    for (int i = 0; i < n; i++) {
        const int at = n_last == 1 ? 1 : 0;
        ret[used[i]].dims[at] = coalesced.operand_dims[i][0];
        ret[used[i]].strides[at] = coalesced.strides[i][0];
    }
    return true;
}

/* Gives dims of size 1 the stride of a packed tensor. */
static void settle(struct graph_shape *shape) {
    int64_t reach = 1;
    for (int i = 2; i >= 0; i--) {
        if (shape->dims[i] == 1 && i < 2) shape->strides[i] = reach;
        const int64_t own = shape->dims[i] * shape->strides[i];
        if (own > reach) reach = own;
    }
}

/* Sets the shapes of all operands, with one batch dim. Returns false if this is impossible. */
static bool read_shapes(const struct cm_primitive *primitive, struct graph_shape *ret) {
    const struct cm_tensor *b = &primitive->inputs[B];
    if (primitive->inputs[A].rank < 2 || b->rank < 2 || primitive->outputs[0].rank < 2)
        return false;
    for (int which = A; which <= primitive->n_inputs; which++) {
        ret[which] = (struct graph_shape){.rank = 3, .dims = {1}, .strides = {1}};
        if (!graph_type(operand_of(primitive, which)->element, &ret[which].type)) return false;
    }
    const bool is_shared = primitive_elements_of(b, 0, b->rank - 2) == 1;
    const bool one_matrix = is_shared && read_batches(primitive, 1, ret);
    for (int which = A; which <= primitive->n_inputs; which++) {
        const struct cm_tensor *tensor = operand_of(primitive, which);
        const struct cm_tensor wide =
            graph_shape_widen(tensor, tensor->rank < 2 ? 2 : tensor->rank);
        for (int i = one_matrix && which != B ? 2 : 1; i < 3; i++) {
            ret[which].dims[i] = wide.dims[wide.rank - 3 + i];
            ret[which].strides[i] = wide.strides[wide.rank - 3 + i];
        }
    }
    if (!one_matrix && !read_batches(primitive, 2, ret)) return false;
    for (int which = A; which <= primitive->n_inputs; which++) settle(&ret[which]);
    return true;
}

static bool read_product(struct graph *graph, const struct graph_job *job,
                         struct graph_shape *ret) {
    if (read_shapes(job->primitive, ret)) return true;
    graph_fail(graph, CM_BACKEND_REFUSED,
               "strides or data type of the matrices not supported by cuDNN");
    return false;
}

/* Starts a chain. It does not read a and b: their entries get the shape of the result. */
static bool begin(struct graph *graph, const struct graph_job *job, struct graph_shape *shapes,
                  struct graph_chain *ret) {
    *ret = (struct graph_chain){.graph = graph, .primitive = job->primitive};
    if (!read_product(graph, job, shapes)) return false;
    const int n = job->primitive->n_inputs;
    ret->result = shapes[n];
    for (int i = 0; i < n; i++) ret->operands[i] = shapes[i < 2 ? n : i];
    return true;
}

void graph_build_product(struct graph *graph, const struct graph_job *job) {
    struct graph_shape shapes[MAX_OPERANDS];
    struct graph_chain chain;
    if (!begin(graph, job, shapes, &chain) || !graph_chain_count(&chain, 1, job->tail)) return;
    cudnnBackendDescriptor_t a = graph_tensor(graph, &shapes[A], GRAPH_INPUT, 0);
    cudnnBackendDescriptor_t b = graph_tensor(graph, &shapes[B], GRAPH_INPUT, 1);
    chain.value = graph_chain_next(&chain);
    graph_multiply(graph, a, b, chain.value,
                   graph_compute_type(job->primitive->inputs[0].element));
    graph_chain_tail(&chain, job->tail);
}

void graph_build_product_tail(struct graph *graph, const struct graph_job *job) {
    struct graph_shape shapes[MAX_OPERANDS];
    struct graph_chain chain;
    if (begin(graph, job, shapes, &chain)) graph_chain_in_place(&chain, job->tail);
}

/* Returns true if the strides are those of a packed row-major tensor. */
static bool is_rows(const struct graph_shape *shape) {
    struct graph_shape rows = *shape;
    graph_shape_pack(&rows, GRAPH_ROWS);
    for (int i = 0; i < 3; i++)
        if (shape->dims[i] != 1 && shape->strides[i] != rows.strides[i]) return false;
    return true;
}

/* A matrix product as a 1x1 convolution. It is for fp32 operands that must not be rounded to
 * tf32: cuDNN has engines for their convolutions, but not for their matrix products.
 *
 *     row-major b [B, K, N]     image b of B * K channels and N pixels, filter a [B * M, K] in
 *                               B groups; y has B * M channels of N pixels
 *     column-major b, B = 1     channels-last image a of K channels and M pixels, filter b
 *                               [N, K]
 */
void graph_build_product_convolution(struct graph *graph, const struct graph_job *job) {
    static const struct cm_window window = {
        .n_spatial = 2, .kernel = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};
    struct graph_shape shapes[MAX_OPERANDS];
    if (!read_product(graph, job, shapes)) return;
    const struct graph_shape *a = &shapes[A];
    const struct graph_shape *b = &shapes[B];
    const struct graph_shape *y = &shapes[job->primitive->n_inputs];
    const int64_t n_batch = y->dims[0];
    const int64_t m = y->dims[1];
    const int64_t n = y->dims[2];
    const int64_t k = a->dims[2];
    const bool whole = is_rows(a) && is_rows(y) && a->dims[0] == n_batch;
    const bool b_is_image = whole && is_rows(b) && b->dims[0] == n_batch;
    if (!b_is_image && !(whole && n_batch == 1 && b->strides[1] == 1 && b->strides[2] == k)) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "the strides of the matrices do not match an image");
        return;
    }
    const int image = b_is_image ? B : A;
    const int filter = b_is_image ? A : B;
    const enum graph_order order = b_is_image ? GRAPH_ROWS : GRAPH_CHANNELS_LAST;
    /* Dims of image, filter and result, if b is the image and if a is. */
    const int64_t of_b[][4] = {
        {1, n_batch * k, 1, n}, {n_batch * m, k, 1, 1}, {1, n_batch * m, 1, n}};
    const int64_t of_a[][4] = {{1, k, m, 1}, {n, k, 1, 1}, {1, n, m, 1}};
    const int64_t(*dims)[4] = b_is_image ? of_b : of_a;
    const struct graph_shape x = graph_shape_packed(shapes[image].type, order, 4, dims[0]);
    const struct graph_shape w = graph_shape_packed(shapes[filter].type, order, 4, dims[1]);
    const struct graph_shape out = graph_shape_packed(y->type, order, 4, dims[2]);
    const struct graph_convolution convolution = {
        .compute = graph_compute_type(job->primitive->inputs[0].element),
        .window = &window,
        .x = graph_tensor(graph, &x, GRAPH_INPUT, image),
        .w = graph_tensor(graph, &w, GRAPH_INPUT, filter),
        .y = graph_tensor(graph, &out, GRAPH_OUTPUT, 0),
    };
    graph_convolve(graph, &convolution);
}
