/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of tensors as cuDNN's engines require them. */
#pragma once

#include "backends/cuda/cudnn/graph.h"

/* Memory layout of an image. */
enum graph_order {
    GRAPH_ROWS,          /* N C S.., row-major */
    GRAPH_CHANNELS_LAST, /* N S.. C */
    GRAPH_STRIDED,       /* any other strides */
};

/* Returns the layout that the strides define; with `prefer_last` a row-major image is treated
 * as channels-last, which has the same number of bytes. */
enum graph_order graph_order_of(const struct cm_tensor *tensor, bool prefer_last);

/* Sets data type, dims and row-major strides. Returns false if cuDNN lacks the data type. */
bool graph_shape_of(const struct cm_tensor *tensor, struct graph_shape *ret);

/* Sets *ret to N C S.. with at least two spatial dims, because engines support only 2-D and 3-D
 * images: [N, C, L] becomes [N, C, 1, L]. GRAPH_STRIDED keeps the strides, other orders
 * set packed strides. Returns false if the tensor is not an image. */
bool graph_shape_image(const struct cm_tensor *tensor, enum graph_order order,
                       struct graph_shape *ret);
/* Returns the tensor with leading dims of 1 added up to `rank`, which must be >= its rank. */
struct cm_tensor graph_shape_widen(const struct cm_tensor *tensor, int rank);

/* Adds spatial dims as graph_shape_image does: a window of kernel [3] becomes [1, 3]. */
void graph_shape_window(const struct cm_window *window, struct cm_window *ret);

/* Sets packed strides. */
void graph_shape_pack(struct graph_shape *shape, enum graph_order order);
/* Returns a packed shape. */
struct graph_shape graph_shape_packed(cudnnDataType_t type, enum graph_order order, int rank,
                                      const int64_t *dims);
