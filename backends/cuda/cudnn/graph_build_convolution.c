/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and transposed convolutions of 1 to 3 spatial dims, with bias and post-ops.
 * cuDNN derives the number of groups from the channels of the filter. */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/primitive.h"

#define REQUANTIZATION 0.0078125F /* any scale takes the same time */

struct image {
    enum graph_order order;
    struct graph_shape x, w, y;
};

static bool read_bias(const struct cm_tensor *bias, const struct image *image,
                      struct graph_shape *ret) {
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const int64_t n = image->y.dims[1];
    if (bias->rank != 1 || bias->dims[0] != n || !graph_type(bias->element, &type))
        return false;
    *ret = graph_shape_packed(type, image->order, image->y.rank, (int64_t[]){1, n, 1, 1, 1});
    return true;
}

/* Reads an operand of a post-op. If the image is channels-last, a row-major operand is treated
 * as channels-last too. Returns false if it does not broadcast to the result. */
static bool read_other(const struct cm_tensor *operand, int rank, const struct image *image,
                       struct graph_shape *ret) {
    if (operand->rank > rank) return false;
    const struct cm_tensor wide = graph_shape_widen(operand, rank);
    if (!graph_shape_image(&wide, image->order, ret)) return false;
    for (int i = 0; i < ret->rank; i++)
        if (ret->dims[i] != 1 && ret->dims[i] != image->y.dims[i]) return false;
    return true;
}

/* Sets the shapes of image, filter and result, and begins the chain. The filter is assumed to
 * be in the layout of the image, because a runtime converts it once. The chain does not read
 * image and filter: their entries in ret->operands get the shape of the result. */
static bool begin(struct graph *graph, const struct graph_job *job, struct image *image,
                  struct graph_chain *ret) {
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *w = &primitive->inputs[1];
    const struct cm_tensor *y = &primitive->outputs[0];
    *ret = (struct graph_chain){.graph = graph, .primitive = primitive};
    image->order = graph_order_of(x, job->prefer_last);
    const enum graph_order filter = image->order == GRAPH_STRIDED ? GRAPH_ROWS : image->order;
    if (x->rank != y->rank || x->rank != w->rank ||
        primitive->window.n_spatial != x->rank - 2 ||
        !graph_shape_image(x, image->order, &image->x) ||
        !graph_shape_image(w, filter, &image->w) ||
        !graph_shape_image(y, image->order, &image->y)) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "no image of 1 to 3 dims, or of an element that cuDNN has not got");
        return false;
    }
    ret->operands[0] = ret->operands[1] = ret->result = image->y;
    for (int i = 2; i < primitive->n_inputs; i++) {
        const struct cm_tensor *from = &primitive->inputs[i];
        const bool is_bias = i == 2 && primitive_has_bias(primitive);
        if (is_bias ? read_bias(from, image, &ret->operands[i])
                    : read_other(from, y->rank, image, &ret->operands[i]))
            continue;
        graph_fail(graph, CM_BACKEND_REFUSED,
                   is_bias ? "the bias must have one element per channel"
                           : "the operand of a post-op must broadcast to the result");
        return false;
    }
    return true;
}

/* int8: y = round(convolution * scale + bias); the scale is a value in host memory. */
void graph_build_convolution(struct graph *graph, const struct graph_job *job) {
    struct image image;
    struct graph_chain chain;
    struct cm_window window;
    const bool requantizes = graph_requantizes(job->primitive);
    if (!begin(graph, job, &image, &chain) ||
        !graph_chain_count(&chain, 1 + requantizes, job->tail))
        return;
    chain.value = graph_chain_next(&chain);
    graph_shape_window(&job->primitive->window, &window);
    const struct graph_convolution convolution = {
        .backward = job->primitive->kind == CM_DECONV,
        .compute = graph_compute_type(job->primitive->inputs[0].element),
        .window = &window,
        .x = graph_tensor(graph, &image.x, GRAPH_INPUT, 0),
        .w = graph_tensor(graph, &image.w, GRAPH_INPUT, 1),
        .y = chain.value,
    };
    graph_convolve(graph, &convolution);
    if (requantizes)
        graph_chain_point(&chain, CUDNN_POINTWISE_MUL,
                          graph_value(graph, image.y.rank, REQUANTIZATION));
    graph_chain_tail(&chain, job->tail);
}

void graph_build_convolution_tail(struct graph *graph, const struct graph_job *job) {
    struct image image;
    struct graph_chain chain;
    if (begin(graph, job, &image, &chain)) graph_chain_in_place(&chain, job->tail);
}
