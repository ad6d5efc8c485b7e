/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the backend tests. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "support/arena.h"
#include "support/text.h"

struct cm_tensor fixture_tensor(int32_t element, int32_t rank, const int64_t *dims) {
    struct cm_tensor tensor;
    memset(&tensor, 0, sizeof(tensor));
    tensor.element = element;
    tensor.rank = rank;
    memcpy(tensor.dims, dims, (size_t)rank * sizeof(*dims));
    primitive_pack(&tensor);
    return tensor;
}

static void count_bytes(struct cm_primitive *primitive) {
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        primitive->bytes_read += primitive_elements(&primitive->inputs[i]) *
                                 primitive_element_size(primitive->inputs[i].element);
    primitive->bytes_written = primitive_elements(&primitive->outputs[0]) *
                               primitive_element_size(primitive->outputs[0].element);
}

struct cm_primitive fixture_conv(void) {
    struct cm_primitive conv;
    memset(&conv, 0, sizeof(conv));
    conv.kind = CM_CONV;
    conv.n_inputs = 3;
    conv.n_outputs = 1;
    conv.inputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, 3, 224, 224});
    conv.inputs[1] = fixture_tensor(CM_F32, 4, (const int64_t[]){64, 3, 7, 7});
    conv.inputs[2] = fixture_tensor(CM_F32, 1, (const int64_t[]){64});
    conv.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, 64, 112, 112});
    conv.window = (struct cm_window){.n_spatial = 2,
                                     .kernel = {7, 7},
                                     .strides = {2, 2},
                                     .dilations = {1, 1},
                                     .pads_begin = {3, 3},
                                     .pads_end = {3, 3}};
    conv.groups = 1;
    conv.flops = (int64_t)2 * 112 * 112 * 64 * 3 * 49 + (int64_t)112 * 112 * 64;
    count_bytes(&conv);
    return conv;
}

struct cm_primitive fixture_relu(int64_t n) {
    struct cm_primitive relu;
    memset(&relu, 0, sizeof(relu));
    relu.kind = CM_ELTWISE;
    relu.n_inputs = 1;
    relu.n_outputs = 1;
    relu.inputs[0] = fixture_tensor(CM_F32, 1, &n);
    relu.outputs[0] = relu.inputs[0];
    relu.n_steps = 1;
    relu.steps[0].function = CM_RELU;
    relu.flops = n;
    count_bytes(&relu);
    return relu;
}

struct cm_primitive fixture_gemm(int32_t element, int64_t m, int64_t k, int64_t n) {
    struct cm_primitive gemm;
    memset(&gemm, 0, sizeof(gemm));
    gemm.kind = CM_GEMM;
    gemm.n_inputs = 2;
    gemm.n_outputs = 1;
    gemm.inputs[0] = fixture_tensor(element, 2, (const int64_t[]){m, k});
    gemm.inputs[1] = fixture_tensor(element, 2, (const int64_t[]){k, n});
    gemm.outputs[0] = fixture_tensor(element, 2, (const int64_t[]){m, n});
    gemm.flops = 2 * m * k * n;
    count_bytes(&gemm);
    return gemm;
}

char *fixture_print(const struct cm_primitive *primitive) {
    struct arena *arena = arena_new("test", 0);
    struct text text;
    text_init(&text, arena);
    primitive_print(primitive, &text);
    char *copy = strdup(text_string(&text));
    arena_free(arena);
    assert_non_null(copy);
    return copy;
}

void fixture_write(const char *text, char *path) {
    const size_t length = strlen(text);
    temporary_path(path);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), (ssize_t)length);
    close(file);
}
