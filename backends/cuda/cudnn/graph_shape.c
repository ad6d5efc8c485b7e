/* SPDX-License-Identifier: Apache-2.0 */
/* Derives packed and padded shapes, in row-major or channels-last layout. */
#include "backends/cuda/cudnn/graph_shape.h"

#include <string.h>

#include "backends/primitive.h"

#define MIN_SPATIAL 2

/* primitive_check guarantees that products of dims stay below 2^60. */
void graph_shape_pack(struct graph_shape *shape, enum graph_order order) {
    int64_t stride = 1;
    if (order == GRAPH_CHANNELS_LAST) {
        shape->strides[1] = stride;
        stride *= shape->dims[1];
    }
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (i == 1 && order == GRAPH_CHANNELS_LAST) continue;
        shape->strides[i] = stride;
        stride *= shape->dims[i];
    }
}

/* The strides of dims of size 1 are irrelevant. */
static bool is_channels_last(const struct cm_tensor *tensor) {
    struct graph_shape packed = {.rank = tensor->rank};
    memcpy(packed.dims, tensor->dims, sizeof(packed.dims));
    if (tensor->rank < 3) return false;
    graph_shape_pack(&packed, GRAPH_CHANNELS_LAST);
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] != 1 && tensor->strides[i] != packed.strides[i]) return false;
    return true;
}

enum graph_order graph_order_of(const struct cm_tensor *tensor, bool prefer_last) {
    const bool rows = primitive_is_packed(tensor);
    const bool last = is_channels_last(tensor);
    if (!rows && !last) return GRAPH_STRIDED;
    return prefer_last || !rows ? GRAPH_CHANNELS_LAST : GRAPH_ROWS;
}

bool graph_shape_of(const struct cm_tensor *tensor, struct graph_shape *ret) {
    memset(ret, 0, sizeof(*ret));
    if (!graph_type(tensor->element, &ret->type)) return false;
    ret->rank = tensor->rank;
    memcpy(ret->dims, tensor->dims, sizeof(ret->dims));
    graph_shape_pack(ret, GRAPH_ROWS);
    return true;
}

bool graph_shape_image(const struct cm_tensor *tensor, enum graph_order order,
                       struct graph_shape *ret) {
    const int n_spatial = tensor->rank - 2;
    const int more = n_spatial < MIN_SPATIAL ? MIN_SPATIAL - n_spatial : 0;
    if (n_spatial < 1 || n_spatial > CM_MAX_SPATIAL || !graph_shape_of(tensor, ret))
        return false;
    ret->rank = tensor->rank + more;
    for (int i = 2; i < ret->rank; i++) {
        const bool own = i >= 2 + more;
        ret->dims[i] = own ? tensor->dims[i - more] : 1;
        ret->strides[i] = own ? tensor->strides[i - more] : 0;
    }
    if (order != GRAPH_STRIDED) {
        graph_shape_pack(ret, order);
        return true;
    }
    memcpy(ret->strides, tensor->strides, 2 * sizeof(ret->strides[0]));
    for (int i = 2; i < 2 + more; i++)
        ret->strides[i] = ret->strides[2 + more] * ret->dims[2 + more];
    return true;
}

struct cm_tensor graph_shape_widen(const struct cm_tensor *tensor, int rank) {
    struct cm_tensor ret = *tensor;
    const int more = rank - tensor->rank;
    ret.rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        const int64_t outside = i + 1 < rank ? ret.strides[i + 1] * ret.dims[i + 1] : 1;
        ret.dims[i] = i >= more ? tensor->dims[i - more] : 1;
        ret.strides[i] = i >= more ? tensor->strides[i - more] : outside;
    }
    return ret;
}

struct graph_shape graph_shape_packed(cudnnDataType_t type, enum graph_order order, int rank,
                                      const int64_t *dims) {
    struct graph_shape ret = {.type = type, .rank = rank};
    memcpy(ret.dims, dims, (size_t)rank * sizeof(*dims));
    graph_shape_pack(&ret, order);
    return ret;
}

/* Copies `n` values behind as many neutral ones as MIN_SPATIAL requires. */
static void spread(const int64_t *from, int n, int64_t neutral, int64_t *ret) {
    const int more = n < MIN_SPATIAL ? MIN_SPATIAL - n : 0;
    for (int i = 0; i < n + more; i++) ret[i] = i < more ? neutral : from[i - more];
}

void graph_shape_window(const struct cm_window *window, struct cm_window *ret) {
    const int n = window->n_spatial;
    memset(ret, 0, sizeof(*ret));
    ret->n_spatial = n < MIN_SPATIAL ? MIN_SPATIAL : n;
    spread(window->kernel, n, 1, ret->kernel);
    spread(window->strides, n, 1, ret->strides);
    spread(window->dilations, n, 1, ret->dilations);
    spread(window->pads_begin, n, 0, ret->pads_begin);
    spread(window->pads_end, n, 0, ret->pads_end);
}
