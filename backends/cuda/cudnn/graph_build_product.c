/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products y [B, M, N] = a [B, M, K] * b [B, K, N] (+ addend) with one batch dim, and
 * their post-ops. */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_chain.h"
#include "backends/cuda/cudnn/graph_operations.h"

#include <string.h>

#include "backends/coalesce_dims.h"

#include "support/banned.h"

enum { A, B, Y = CM_MAX_INPUTS, N_OPERANDS };

/* Matrices of rank 3; the batch is 1 if broadcast. */
struct product {
    struct graph_shape operands[N_OPERANDS]; /* by index of the input; Y: the result */
};

/* Returns the tensor without its last `n` dims. */
static struct cm_tensor without_last(const struct cm_tensor *tensor, int n) {
    struct cm_tensor ret = *tensor;
    ret.rank = tensor->rank > n ? tensor->rank - n : 0;
    return ret;
}

static const struct cm_tensor *operand_of(const struct cm_primitive *primitive, int which) {
    return which == Y ? &primitive->outputs[0] : &primitive->inputs[which];
}

/* Returns the operand after `which`: the inputs, then Y, then N_OPERANDS. */
static int next_of(const struct cm_primitive *primitive, int which) {
    return which + 1 == primitive->n_inputs ? Y : which + 1;
}

/* `from_last` = 1: the last dim. Returns 1 if the rank is too small. */
static int64_t dim_at(const struct cm_tensor *tensor, int from_last) {
    return tensor->rank >= from_last ? tensor->dims[tensor->rank - from_last] : 1;
}

static int64_t stride_at(const struct cm_tensor *tensor, int from_last) {
    const bool repeats = dim_at(tensor, from_last) == 1 && tensor->rank < from_last;
    return repeats ? 1 : tensor->strides[tensor->rank - from_last];
}

/* Coalesces the batch dims. `n_last` is 1 if all batches share b: then the batch dims and M
 * form the rows of one matrix, as in a [2,3,4] * b [4,5] -> a [1,6,4]. Else `n_last` is 2. */
static bool read_batches(const struct cm_primitive *primitive, int n_last,
                         struct product *ret) {
    struct cm_tensor batches[N_OPERANDS];
    const struct cm_tensor *pointers[N_OPERANDS];
    struct coalesced coalesced;
    int used[N_OPERANDS];
    int n = 0;
    for (int which = A; which < N_OPERANDS; which = next_of(primitive, which)) {
        if (which == B && n_last == 1) continue;
        used[n] = which;
        batches[n] = without_last(operand_of(primitive, which), n_last);
        pointers[n] = &batches[n];
        n++;
    }
    if (!coalesce_dims(pointers, n, pointers[n - 1], &coalesced) || coalesced.rank != 1)
        return false;
    for (int i = 0; i < n; i++) {
        const int at = n_last == 1 ? 1 : 0;
        ret->operands[used[i]].dims[at] = coalesced.operand_dims[i][0];
        ret->operands[used[i]].strides[at] = coalesced.strides[i][0];
    }
    return true;
}

static void take_last(const struct cm_primitive *primitive, int which, int from,
                      struct product *ret) {
    const struct cm_tensor *tensor = operand_of(primitive, which);
    struct graph_shape *shape = &ret->operands[which];
    for (int i = from; i < 3; i++) {
        shape->dims[i] = dim_at(tensor, 3 - i);
        shape->strides[i] = stride_at(tensor, 3 - i);
    }
}

static bool is_shared(const struct cm_tensor *b) {
    for (int i = 0; i < b->rank - 2; i++)
        if (b->dims[i] != 1) return false;
    return true;
}

/* Gives dims of one element the stride of a packed tensor. */
static void settle(struct graph_shape *shape) {
    int64_t reach = 1;
    for (int i = 2; i >= 0; i--) {
        if (shape->dims[i] == 1 && i < 2) shape->strides[i] = reach;
        const int64_t own = shape->dims[i] * shape->strides[i];
        if (own > reach) reach = own;
    }
}

static bool read_shapes(const struct cm_primitive *primitive, struct product *ret) {
    memset(ret, 0, sizeof(*ret));
    if (primitive->inputs[0].rank < 2 || primitive->inputs[1].rank < 2 ||
        primitive->outputs[0].rank < 2)
        return false;
    for (int which = A; which < N_OPERANDS; which = next_of(primitive, which)) {
        struct graph_shape *shape = &ret->operands[which];
        shape->rank = 3;
        shape->dims[0] = shape->strides[0] = 1;
        if (!graph_type(operand_of(primitive, which)->element, &shape->type)) return false;
    }
    const bool one_matrix = is_shared(&primitive->inputs[1]) && read_batches(primitive, 1, ret);
    for (int which = A; which < N_OPERANDS; which = next_of(primitive, which))
        take_last(primitive, which, one_matrix && which != B ? 2 : 1, ret);
    if (!one_matrix && !read_batches(primitive, 2, ret)) return false;
    for (int which = A; which < N_OPERANDS; which = next_of(primitive, which))
        settle(&ret->operands[which]);
    return true;
}

static bool read_product(struct graph *graph, const struct graph_job *job,
                         struct product *ret) {
    if (read_shapes(job->primitive, ret)) return true;
    graph_fail(graph, CM_BACKEND_REFUSED,
               "strides or data type of the matrices not supported by cuDNN");
    return false;
}

/* Starts a chain. It does not read its operands a and b: these get the shape of the result. */
static bool begin(struct graph *graph, const struct graph_job *job, struct product *product,
                  struct graph_chain *ret) {
    *ret = (struct graph_chain){.graph = graph, .primitive = job->primitive};
    if (!read_product(graph, job, product)) return false;
    ret->result = product->operands[Y];
    for (int i = 0; i < job->primitive->n_inputs; i++)
        ret->operands[i] = product->operands[i < 2 ? Y : i];
    return true;
}

static void build(struct graph *graph, const struct graph_job *job, struct graph_tail tail) {
    struct product product;
    struct graph_chain chain;
    if (!begin(graph, job, &product, &chain) || !graph_chain_count(&chain, 1, tail)) return;
    cudnnBackendDescriptor_t a = graph_tensor(graph, &product.operands[A], GRAPH_INPUT, 0);
    cudnnBackendDescriptor_t b = graph_tensor(graph, &product.operands[B], GRAPH_INPUT, 1);
    chain.value = graph_chain_next(&chain);
    graph_multiply(graph, a, b, chain.value,
                   graph_compute_type(job->primitive->inputs[0].element));
    graph_chain_tail(&chain, tail);
}

void graph_build_product(struct graph *graph, const struct graph_job *job) {
    build(graph, job, graph_tail_of(job->primitive));
}

void graph_build_product_alone(struct graph *graph, const struct graph_job *job) {
    build(graph, job, (struct graph_tail){.bias = false});
}

void graph_build_addend(struct graph *graph, const struct graph_job *job) {
    struct product product;
    struct graph_chain chain;
    if (begin(graph, job, &product, &chain))
        graph_chain_in_place(&chain, (struct graph_tail){.bias = true});
}

/* Returns true if the strides are those of a packed row-major tensor. */
static bool is_rows(const struct graph_shape *shape) {
    struct graph_shape rows = *shape;
    graph_shape_pack(&rows, GRAPH_ROWS);
    for (int i = 0; i < 3; i++)
        if (shape->dims[i] != 1 && shape->strides[i] != rows.strides[i]) return false;
    return true;
}

static struct graph_shape image(cudnnDataType_t type, int64_t n, int64_t channels, int64_t h,
                                int64_t w, enum graph_order order) {
    struct graph_shape ret = {.type = type, .rank = 4, .dims = {n, channels, h, w}};
    graph_shape_pack(&ret, order);
    return ret;
}

/*
 * A product as a 1x1 convolution, for products without an engine: fp32 that must not be rounded
 * to tf32 has convolution engines only.
 *
 *     row-major b [B, K, N]     image b of B * K channels and N pixels, filter a [B * M, K] in
 *                               B groups; y has B * M channels of N pixels
 *     column-major b, B = 1     channels-last image a of K channels and M pixels, filter b
 *                               [N, K]
 */
void graph_build_product_convolution(struct graph *graph, const struct graph_job *job) {
    static const struct cm_window window = {
        .n_spatial = 2, .kernel = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};
    struct product product;
    if (!read_product(graph, job, &product)) return;
    const struct graph_shape *a = &product.operands[A];
    const struct graph_shape *b = &product.operands[B];
    const struct graph_shape *y = &product.operands[Y];
    const int64_t n_batch = y->dims[0];
    const int64_t m = y->dims[1];
    const int64_t n = y->dims[2];
    const int64_t k = a->dims[2];
    const bool whole = is_rows(a) && is_rows(y) && a->dims[0] == n_batch;
    struct graph_convolution convolution = {
        .compute = graph_compute_type(job->primitive->inputs[0].element), .window = &window};
    struct graph_shape x;
    struct graph_shape w;
    struct graph_shape out;
    if (whole && is_rows(b) && b->dims[0] == n_batch) {
        x = image(b->type, 1, n_batch * k, 1, n, GRAPH_ROWS);
        w = image(a->type, n_batch * m, k, 1, 1, GRAPH_ROWS);
        out = image(y->type, 1, n_batch * m, 1, n, GRAPH_ROWS);
        convolution.x = graph_tensor(graph, &x, GRAPH_INPUT, 1);
        convolution.w = graph_tensor(graph, &w, GRAPH_INPUT, 0);
    } else if (whole && n_batch == 1 && b->strides[1] == 1 && b->strides[2] == k) {
        x = image(a->type, 1, k, m, 1, GRAPH_CHANNELS_LAST);
        w = image(b->type, n, k, 1, 1, GRAPH_CHANNELS_LAST);
        out = image(y->type, 1, n, m, 1, GRAPH_CHANNELS_LAST);
        convolution.x = graph_tensor(graph, &x, GRAPH_INPUT, 0);
        convolution.w = graph_tensor(graph, &w, GRAPH_INPUT, 1);
    } else {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "the strides of the matrices do not match an image");
        return;
    }
    convolution.y = graph_tensor(graph, &out, GRAPH_OUTPUT, 0);
    graph_convolve(graph, &convolution);
}
