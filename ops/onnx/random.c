/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of random numbers. Never folded: each run gives others. */
#include "ops/common.h"
#include "ops/families.h"

#include "support/banned.h"

/* The attribute 'dtype', or `otherwise` where the node has none. */
static int read_dtype(const struct rule *rule, enum dtype otherwise, enum dtype *ret) {
    enum dtype dtype = otherwise;
    if (rule_has_attr(rule, "dtype")) {
        int64_t number = rule_attr_int(rule, "dtype");
        dtype = dtype_from_onnx(number);
        if (dtype == DTYPE_UNDEFINED)
            return rule_fail(rule, DIAG_ATTRIBUTE, "attribute 'dtype' is %lld, no element type",
                             (long long)number);
    }
    *ret = dtype;
    return 0;
}

static int infer_random(struct rule *rule) {
    enum dtype dtype = DTYPE_UNDEFINED;
    struct int_list dims;
    int status = read_dtype(rule, DTYPE_FLOAT, &dtype);
    if (!status) status = rule_int_list_any(rule, "shape", -1, &dims);
    if (status) return status;
    if (dims.n > SHAPE_MAX_RANK)
        return rule_fail(rule, DIAG_LIMIT,
                         "attribute 'shape' has %zu axes, at most %d are read", dims.n,
                         SHAPE_MAX_RANK);
    for (size_t i = 0; i < dims.n; i++)
        if (dims.values[i] < 0)
            return rule_fail(rule, DIAG_ATTRIBUTE, "dim %zu of 'shape' is %lld, less than 0", i,
                             (long long)dims.values[i]);
    return rule_output_dims(rule, 0, dtype, (int)dims.n, dims.values);
}

static int infer_random_like(struct rule *rule) {
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = read_dtype(rule, rule_dtype(rule, 0), &dtype);
    return status ? status : common_infer_same_shape(rule, dtype);
}

/* Draws sample_size classes for each row of [batch, classes]. */
static int infer_multinomial(struct rule *rule) {
    const struct shape *input = rule_shape(rule, 0);
    int64_t dims[2] = {DIM_UNKNOWN, rule_attr_int(rule, "sample_size")};
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = read_dtype(rule, DTYPE_INT32, &dtype);
    if (status) return status;
    if (shape_has_rank(input) && input->rank != 2)
        return rule_fail(rule, DIAG_SHAPE, "input %s has %d axes, expected 2",
                         rule_shape_text(rule, input), input->rank);
    if (dims[1] < 0)
        return rule_fail(rule, DIAG_ATTRIBUTE, "sample_size is %lld, less than 0",
                         (long long)dims[1]);
    dims[0] = rule_dim(rule, 0, 0);
    return rule_output_dims(rule, 0, dtype, 2, dims);
}

#define SEED OPTIONAL_ATTR("seed", ATTR_FLOAT)

static const struct op_attr normal[] = {REQUIRED_ATTR("shape", ATTR_INTS),
                                        INT_ATTR("dtype", 1),
                                        FLOAT_ATTR("mean", 0),
                                        FLOAT_ATTR("scale", 1),
                                        SEED,
                                        {0}};
static const struct op_attr uniform[] = {REQUIRED_ATTR("shape", ATTR_INTS),
                                         INT_ATTR("dtype", 1),
                                         FLOAT_ATTR("low", 0),
                                         FLOAT_ATTR("high", 1),
                                         SEED,
                                         {0}};
static const struct op_attr normal_like[] = {
    OPTIONAL_ATTR("dtype", ATTR_INT), FLOAT_ATTR("mean", 0), FLOAT_ATTR("scale", 1), SEED, {0}};
static const struct op_attr uniform_like[] = {
    OPTIONAL_ATTR("dtype", ATTR_INT), FLOAT_ATTR("low", 0), FLOAT_ATTR("high", 1), SEED, {0}};
static const struct op_attr bernoulli[] = {OPTIONAL_ATTR("dtype", ATTR_INT), SEED, {0}};
static const struct op_attr multinomial[] = {
    INT_ATTR("dtype", 6), INT_ATTR("sample_size", 1), SEED, {0}};

#define ROW(name, from, inputs, attributes, rule)                                              \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = inputs, .max_inputs = inputs, \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule, .roles = "x",  \
        .backward.gradients = "-"                                                              \
    }

/* clang-format off */
static const struct op rows[] = {
    /*  type              since in attributes */
    ROW("RandomNormal",      1, 0, normal,       infer_random),
    ROW("RandomUniform",     1, 0, uniform,      infer_random),
    ROW("RandomNormalLike",  1, 1, normal_like,  infer_random_like),
    ROW("RandomUniformLike", 1, 1, uniform_like, infer_random_like),
    ROW("Bernoulli",        15, 1, bernoulli,    infer_random_like),
    ROW("Multinomial",       7, 1, multinomial,  infer_multinomial),
};
/* clang-format on */

const struct op_family family_random = {"random", rows, sizeof rows / sizeof *rows,
                                        "draws random numbers"};
