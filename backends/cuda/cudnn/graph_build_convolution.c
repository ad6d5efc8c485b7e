/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and transposed convolutions of 1 to 3 spatial dims, with bias. The channels of
 * the filter imply the number of groups. */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_operations.h"

#include "support/banned.h"

#define REQUANTIZATION 0.0078125F /* any scale takes the same time */

struct image {
    enum graph_order order;
    struct graph_shape x, w, y;
};

/* The filter is assumed to be in the layout of the image: a runtime converts it once. */
static bool read_image(struct graph *graph, const struct graph_job *job, struct image *ret) {
    const struct cm_primitive *primitive = job->primitive;
    ret->order = graph_order_of(&primitive->inputs[0], job->prefer_last);
    const enum graph_order filter = ret->order == GRAPH_STRIDED ? GRAPH_ROWS : ret->order;
    if (primitive->inputs[0].rank == primitive->outputs[0].rank &&
        primitive->inputs[0].rank == primitive->inputs[1].rank &&
        primitive->window.n_spatial == primitive->inputs[0].rank - 2 &&
        graph_shape_image(&primitive->inputs[0], ret->order, &ret->x) &&
        graph_shape_image(&primitive->inputs[1], filter, &ret->w) &&
        graph_shape_image(&primitive->outputs[0], ret->order, &ret->y))
        return true;
    graph_fail(graph, CM_BACKEND_REFUSED,
               "no image of 1 to 3 dims, or of an element that "
               "cuDNN has not got");
    return false;
}

static void convolve(struct graph *graph, const struct graph_job *job,
                     const struct image *image, cudnnBackendDescriptor_t y) {
    struct cm_window window;
    graph_shape_window(&job->primitive->window, &window);
    const struct graph_convolution convolution = {
        .backward = job->primitive->kind == CM_DECONV,
        .compute = graph_compute_type(job->primitive->inputs[0].element),
        .window = &window,
        .x = graph_tensor(graph, &image->x, GRAPH_INPUT, 0),
        .w = graph_tensor(graph, &image->w, GRAPH_INPUT, 1),
        .y = y,
    };
    graph_convolve(graph, &convolution);
}

static bool read_biases(struct graph *graph, const struct graph_job *job,
                        const struct image *image, struct graph_shape *ret) {
    const struct cm_tensor *bias = &job->primitive->inputs[2];
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    if (bias->rank == 1 && bias->dims[0] == image->y.dims[1] &&
        graph_type(bias->element, &type)) {
        graph_shape_channels(&image->y, bias->dims[0], type, image->order, ret);
        return true;
    }
    graph_fail(graph, CM_BACKEND_REFUSED, "the bias must have one element per channel");
    return false;
}

static cudnnBackendDescriptor_t between(struct graph *graph, const struct graph_job *job,
                                        const struct image *image) {
    struct graph_shape shape = image->y;
    shape.type = graph_virtual_type(graph_compute_type(job->primitive->inputs[0].element));
    return graph_tensor(graph, &shape, GRAPH_VIRTUAL, 0);
}

/* y = round(convolution * scale + bias); the scale is a value in host memory. */
static void build_requantized(struct graph *graph, const struct graph_job *job,
                              const struct image *image, const struct graph_shape *biases) {
    cudnnBackendDescriptor_t y = graph_tensor(graph, &image->y, GRAPH_OUTPUT, 0);
    cudnnBackendDescriptor_t sums = between(graph, job, image);
    convolve(graph, job, image, sums);
    const struct graph_pointwise scale = {
        .mode = CUDNN_POINTWISE_MUL,
        .x = sums,
        .b = graph_value(graph, image->y.rank, REQUANTIZATION),
        .y = biases != NULL ? between(graph, job, image) : y,
    };
    graph_point(graph, &scale);
    if (biases == NULL) return;
    const struct graph_pointwise add = {
        .mode = CUDNN_POINTWISE_ADD,
        .x = scale.y,
        .b = graph_tensor(graph, biases, GRAPH_INPUT, 2),
        .y = y,
    };
    graph_point(graph, &add);
}

void graph_build_convolution_alone(struct graph *graph, const struct graph_job *job) {
    struct image image;
    if (!read_image(graph, job, &image)) return;
    if (graph_requantizes(job->primitive))
        build_requantized(graph, job, &image, NULL);
    else
        convolve(graph, job, &image, graph_tensor(graph, &image.y, GRAPH_OUTPUT, 0));
}

void graph_build_convolution(struct graph *graph, const struct graph_job *job) {
    struct image image;
    struct graph_shape biases;
    if (!graph_has_bias(job->primitive)) {
        graph_build_convolution_alone(graph, job);
        return;
    }
    if (!read_image(graph, job, &image) || !read_biases(graph, job, &image, &biases)) return;
    if (graph_requantizes(job->primitive)) {
        build_requantized(graph, job, &image, &biases);
        return;
    }
    cudnnBackendDescriptor_t product = between(graph, job, &image);
    convolve(graph, job, &image, product);
    const struct graph_pointwise add = {
        .mode = CUDNN_POINTWISE_ADD,
        .x = product,
        .b = graph_tensor(graph, &biases, GRAPH_INPUT, 2),
        .y = graph_tensor(graph, &image.y, GRAPH_OUTPUT, 0),
    };
    graph_point(graph, &add);
}

/* Row-major images are [N, C, S], channels-last images [1, N S, C]: the pointwise engines
 * require three dims. */
void graph_build_channel_biases(struct graph *graph, const struct graph_job *job) {
    struct image image;
    struct graph_shape biases;
    int64_t inner = 1;
    if (!read_image(graph, job, &image) || !read_biases(graph, job, &image, &biases)) return;
    const int64_t channels = image.y.dims[1];
    for (int i = 2; i < image.y.rank; i++) inner *= image.y.dims[i];
    if (image.order == GRAPH_CHANNELS_LAST) {
        graph_shape_3d(&image.y, 1, image.y.dims[0] * inner, channels);
        graph_shape_3d(&biases, 1, 1, channels);
    } else {
        graph_shape_3d(&image.y, image.y.dims[0], channels, inner);
        graph_shape_3d(&biases, 1, channels, 1);
    }
    const struct graph_pointwise add = {
        .mode = CUDNN_POINTWISE_ADD,
        .x = graph_tensor(graph, &image.y, GRAPH_OUTPUT, 0),
        .b = graph_tensor(graph, &biases, GRAPH_INPUT, 2),
        .y = graph_tensor(graph, &image.y, GRAPH_OUTPUT, 0),
    };
    graph_point(graph, &add);
}
