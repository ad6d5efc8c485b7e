/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a primitive in the shapes that cuDNN's engines accept. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_SHAPE_H
#define BACKENDS_CUDA_CUDNN_GRAPH_SHAPE_H

#include "backends/cuda/cudnn/graph.h"

/* How the dims of an image lie in memory. */
enum graph_order {
    GRAPH_ROWS,          /* N C S.., the last dim together */
    GRAPH_CHANNELS_LAST, /* N S.. C */
    GRAPH_STRIDED,       /* neither: as its strides say */
};

/*
 * What the strides say; with `prefer_last` an image of rows is taken for one of channels last,
 * which is another layout of as many bytes.
 */
enum graph_order graph_order_of(const struct cm_tensor *tensor, bool prefer_last);

/* The element and the dims; strides of rows. False: cuDNN does not know the element. */
bool graph_shape_of(const struct cm_tensor *tensor, struct graph_shape *ret);

/*
 * N C S.. with at least two S, the ones that are missing being 1 before the last: cuDNN's
 * engines know images of two and three dims. GRAPH_STRIDED keeps the strides. False: no image.
 */
bool graph_shape_image(const struct cm_tensor *tensor, enum graph_order order,
                       struct graph_shape *ret);
/* [1, n, 1, ..] of as many dims as `like`. */
void graph_shape_channels(const struct graph_shape *like, int64_t n, cudnnDataType_t type,
                          enum graph_order order, struct graph_shape *ret);
/* The window of the image above. */
void graph_shape_window(const struct cm_window *window, struct cm_window *ret);

/* Strides for the dims. */
void graph_shape_pack(struct graph_shape *shape, enum graph_order order);

/* Rank 3 and strides of rows. */
void graph_shape_3d(struct graph_shape *shape, int64_t a, int64_t b, int64_t c);

#endif
