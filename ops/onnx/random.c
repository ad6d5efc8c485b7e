/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensors. They are never folded, because each run gives other values. */
#include "ops/common.h"
#include "ops/onnx/facets.h"

static int read_dtype(const struct op_context *context, enum dtype otherwise, enum dtype *ret) {
    *ret = otherwise;
    return op_has_attr(context, "dtype") ? common_dtype_attr(context, "dtype", ret) : 0;
}

static int infer_random(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    struct int_list dims;
    int status = read_dtype(context, DTYPE_FLOAT, &dtype);
    if (!status) status = op_int_list_any(context, "shape", -1, &dims);
    if (status) return status;
    if (dims.n > SHAPE_MAX_RANK)
        return op_fail(context, DIAG_LIMIT,
                       "attribute 'shape' has %zu axes, at most %d are read", dims.n,
                       SHAPE_MAX_RANK);
    for (size_t i = 0; i < dims.n; i++)
        if (dims.values[i] < 0)
            return op_fail(context, DIAG_ATTRIBUTE, "dim %zu of 'shape' is %lld, less than 0",
                           i, (long long)dims.values[i]);
    return op_output_dims(context, 0, dtype, (int)dims.n, dims.values);
}

static int infer_random_like(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = read_dtype(context, op_dtype(context, 0), &dtype);
    return status ? status : common_infer_same_shape(context, dtype);
}

/* Draws sample_size classes for each row of [batch, classes]. */
static int infer_multinomial(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[2] = {DIM_UNKNOWN, op_attr_int(context, "sample_size")};
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = read_dtype(context, DTYPE_INT32, &dtype);
    if (status) return status;
    if (shape_has_rank(input) && input->rank != 2)
        return op_fail(context, DIAG_SHAPE, "input %s has %d axes, expected 2",
                       op_shape_text(context, input), input->rank);
    if (dims[1] < 0)
        return op_fail(context, DIAG_ATTRIBUTE, "sample_size is %lld, less than 0",
                       (long long)dims[1]);
    dims[0] = op_dim(context, 0, 0);
    return op_output_dims(context, 0, dtype, 2, dims);
}

/* clang-format off */
#define ROW(name, from, infer_fn, letters)                                                     \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, NO_PRIMITIVE(NO_RANDOM), BOUNDS(letters)),                 \
        .infer = infer_fn, .param_roles = "x", .backward.saved_for_backward = "-"              \
    }

static const struct op rows[] = {
    /*  type              since shape rule         bounds */
    ROW(RandomNormal,       1, infer_random,      "-"),
    ROW(RandomUniform,      1, infer_random,      "-"),
    ROW(RandomNormalLike,   1, infer_random_like, "d"),
    ROW(RandomUniformLike,  1, infer_random_like, "d"),
    ROW(Bernoulli,         15, infer_random_like, "d"),
    ROW(Multinomial,        7, infer_multinomial, "-"),
};
/* clang-format on */

OP_FAMILY(random, .why_free = "draws random numbers", .declines = FACETS_RARE | FACET_EXACT);
