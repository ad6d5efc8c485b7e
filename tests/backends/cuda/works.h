/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that build primitives and tensors for the tests of the CUDA module. */
#pragma once

#include "fixture.h"

static inline struct cm_tensor works_image(int32_t element, int64_t n, int64_t c, int64_t h,
                                           int64_t w) {
    return fixture_tensor(element, 4, (const int64_t[]){n, c, h, w});
}

/* As works_image, with the channels last. */
static inline struct cm_tensor works_nhwc(int32_t element, int64_t n, int64_t c, int64_t h,
                                          int64_t w) {
    struct cm_tensor tensor = works_image(element, n, c, h, w);
    const int64_t strides[] = {h * w * c, 1, w * c, c};
    for (int i = 0; i < 4; i++) tensor.strides[i] = strides[i];
    return tensor;
}

static inline struct cm_tensor works_line(int32_t element, int64_t n) {
    return fixture_tensor(element, 1, (const int64_t[]){n});
}

static inline struct cm_primitive works_step(int32_t function, struct cm_tensor x,
                                             struct cm_tensor y) {
    struct cm_primitive work = {.kind = CM_ELTWISE, .n_inputs = 1, .n_outputs = 1};
    work.inputs[0] = x;
    work.outputs[0] = y;
    work.n_steps = 1;
    work.steps[0] = (struct cm_eltwise){.function = function, .alpha = 0.25, .beta = 0.75};
    return work;
}

static inline struct cm_primitive works_binary(int32_t function, struct cm_tensor a,
                                               struct cm_tensor b, struct cm_tensor y) {
    struct cm_primitive work = works_step(function, a, y);
    work.n_inputs = 2;
    work.inputs[1] = b;
    work.steps[0].operand = 1;
    return work;
}

static inline struct cm_primitive works_of(int32_t kind, int32_t algorithm, struct cm_tensor x,
                                           struct cm_tensor y) {
    struct cm_primitive work = {
        .kind = kind, .algorithm = algorithm, .n_inputs = 1, .n_outputs = 1};
    work.inputs[0] = x;
    work.outputs[0] = y;
    return work;
}

static inline struct cm_primitive works_pool(int32_t algorithm, struct cm_tensor x,
                                             struct cm_tensor y) {
    struct cm_primitive work = works_of(CM_POOL, algorithm, x, y);
    work.window = (struct cm_window){.n_spatial = 2,
                                     .kernel = {3, 3},
                                     .strides = {2, 2},
                                     .dilations = {1, 1},
                                     .pads_begin = {1, 1},
                                     .pads_end = {1, 1}};
    return work;
}
