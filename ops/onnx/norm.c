/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalizations. MACs 0. FLOPs by the default convention, n = elements of the input:
 *     BatchNormalization                       2 n, in training 5 n
 *     LayerNorm, GroupNorm, InstanceNorm       5 n
 *     LRN, LpNormalization, RMSNormalization   0: its tool does not see them
 */
#include <stdio.h>
#include <stdlib.h>

#include "ops/common.h"
#include "ops/families.h"

#include "support/banned.h"

static void append_eps(const struct rule *rule, struct text *out) {
    text_append(out, ", eps=");
    describe_real(out, rule_attr_float(rule, "epsilon"));
}

/* A composite may do without scale and shift. */
static const char *affine_text(const struct rule *rule) {
    return rule_has_input(rule, 1) ? "True" : "False";
}

/* Axis 1; a vector is taken as one channel (BatchNormalization-9). */
static int64_t n_channels(const struct rule *rule) {
    int rank = rule_rank(rule, 0);
    if (rank == 1) return 1;
    return rank < 2 ? DIM_UNKNOWN : rule_dim(rule, 0, 1);
}

/* Before opset 9 spatial=0 keeps a statistic for each place, not for each channel. */
static bool per_channel(const struct rule *rule) {
    return rule->op->since >= 9 || rule_attr_int(rule, "spatial") != 0;
}

static int64_t n_statistics(const struct rule *rule) {
    int64_t channels = per_channel(rule) ? n_channels(rule) : DIM_UNKNOWN;
    for (size_t i = 1; i < 5 && !is_known(channels); i++)
        if (rule_rank(rule, i) == 1) channels = rule_dim(rule, i, 0);
    return channels;
}

static int check_statistics(const struct rule *rule, int64_t channels) {
    int status = common_check_rank(rule, 0, 1);
    for (size_t i = 1; i < 5 && status == CM_OK; i++)
        if (per_channel(rule)) status = common_check_length(rule, i, channels);
    return status;
}

static int infer_batch_norm(struct rule *rule) {
    int64_t channels = n_statistics(rule);
    int status = check_statistics(rule, channels);
    if (status == CM_OK) status = common_infer_same(rule);
    for (size_t i = 1; i < rule->n_outputs && status == CM_OK; i++) {
        int rank = per_channel(rule) ? 1 : RANK_UNKNOWN;
        status = rule_output_dims(rule, i, rule_dtype(rule, 3), rank, &channels);
    }
    return status;
}

/* Before opset 14 the outputs tell: statistics come out of a training step only. */
static bool batch_norm_trains(const struct rule *rule) {
    if (rule->op->since >= 14) return rule_attr_int(rule, "training_mode") != 0;
    if (rule->op->since < 7 && rule_attr_int(rule, "is_test") != 0) return false;
    for (size_t i = 1; i < rule->n_outputs; i++)
        if (rule_has_output(rule, i)) return true;
    return false;
}

static int64_t batch_norm_flops(const struct rule *rule) {
    return checked_mul(rule->training ? 5 : 2, rule_elements(rule, 0));
}

/* A framework's momentum is the share of the new statistic, ONNX's that of the old one. */
static void append_momentum(const struct rule *rule, struct text *out) {
    char rounded[40];
    snprintf(rounded, sizeof(rounded), "%.6g", 1 - rule_attr_float(rule, "momentum"));
    text_append(out, ", momentum=");
    describe_real(out, strtod(rounded, NULL));
}

static int describe_batch_norm(const struct rule *rule, struct text *out) {
    describe_int(out, n_statistics(rule));
    append_eps(rule, out);
    append_momentum(rule, out);
    text_append(out, ", affine=True, track_running_stats=True");
    return CM_OK;
}

static int infer_instance_norm(struct rule *rule) {
    int64_t channels = n_channels(rule);
    int status = common_check_rank(rule, 0, 3);
    for (size_t i = 1; i < 3 && status == CM_OK; i++)
        status = common_check_length(rule, i, channels);
    return status < 0 ? status : common_infer_same(rule);
}

static int describe_instance_norm(const struct rule *rule, struct text *out) {
    describe_int(out, n_channels(rule));
    append_eps(rule, out);
    text_append(out, ", momentum=0.1, affine=True, track_running_stats=False");
    return CM_OK;
}

/* Scale and bias are per group in opset 18, per channel from 21 on. */
static int infer_group_norm(struct rule *rule) {
    int64_t groups = rule_attr_int(rule, "num_groups");
    int64_t channels = n_channels(rule);
    int status = common_check_rank(rule, 0, 2);
    if (status < 0) return status;
    if (groups < 1 || (is_known(channels) && channels % groups != 0))
        return rule_fail(rule, DIAG_ATTRIBUTE, "%lld channels do not divide into %lld groups",
                         is_known(channels) ? (long long)channels : 0, (long long)groups);
    int64_t n = rule->op->since < 21 ? groups : channels;
    for (size_t i = 1; i < 3 && status == CM_OK; i++) status = common_check_length(rule, i, n);
    return status < 0 ? status : common_infer_same(rule);
}

static int describe_group_norm(const struct rule *rule, struct text *out) {
    describe_int(out, rule_attr_int(rule, "num_groups"));
    text_append(out, ", ");
    describe_int(out, n_channels(rule));
    append_eps(rule, out);
    text_printf(out, ", affine=%s", affine_text(rule));
    return CM_OK;
}

/* Scale and bias broadcast to the normalized axes. */
static int check_scales(struct rule *rule, int axis) {
    const struct shape *x = rule_shape(rule, 0);
    const struct shape normalized = {x->rank - axis, x->dims + axis};
    struct shape both;
    for (size_t i = 1; i < rule->n_inputs; i++) {
        int status = rule_broadcast(rule, &normalized, rule_shape(rule, i), &both);
        if (status < 0) return status;
        if (shape_is_known(&normalized) && shape_is_known(&both) &&
            !shape_equal(&normalized, &both))
            return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, %s is normalized",
                             i, rule_shape_text(rule, rule_shape(rule, i)),
                             rule_shape_text(rule, &normalized));
    }
    return CM_OK;
}

/* Outputs 1 and 2: a mean and a deviation for each normalized part, of type stash_type. */
static int output_statistics(struct rule *rule, int axis) {
    int64_t dims[SHAPE_MAX_RANK];
    int rank = rule_rank(rule, 0);
    enum dtype dtype = dtype_from_onnx(rule_attr_int(rule, "stash_type"));
    for (int i = 0; i < rank; i++) dims[i] = i < axis ? rule_dim(rule, 0, i) : 1;
    for (size_t i = 1; i < rule->n_outputs; i++) {
        int status = rule_output_dims(rule, i, dtype, rank, dims);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int infer_layer_norm(struct rule *rule) {
    int rank = rule_rank(rule, 0);
    int axis = 0;
    if (rank != RANK_UNKNOWN) {
        int status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), rank, &axis);
        if (status == CM_OK) status = check_scales(rule, axis);
        if (status < 0) return status;
    }
    int status = output_statistics(rule, axis);
    return status < 0 ? status : common_infer_same(rule);
}

static int describe_layer_norm(const struct rule *rule, struct text *out) {
    int rank = rule_rank(rule, 0);
    int axis = 0;
    if (rank < 1) return CM_OK;
    int status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), rank, &axis);
    if (status < 0) return status;
    describe_tuple(out, (size_t)(rank - axis), rule_shape(rule, 0)->dims + axis);
    append_eps(rule, out);
    text_printf(out, ", elementwise_affine=%s", affine_text(rule));
    return CM_OK;
}

static int infer_along_axis(struct rule *rule) {
    int rank = rule_rank(rule, 0);
    int axis = 0;
    if (rank == RANK_UNKNOWN) return common_infer_same(rule);
    int status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), rank, &axis);
    return status < 0 ? status : common_infer_same(rule);
}

static int infer_lrn(struct rule *rule) {
    int status = common_check_rank(rule, 0, 2);
    if (status < 0) return status;
    if (rule_attr_int(rule, "size") < 1)
        return rule_fail(rule, DIAG_ATTRIBUTE, "size is %lld, 1 or more is wanted",
                         (long long)rule_attr_int(rule, "size"));
    return common_infer_same(rule);
}

static int describe_lrn(const struct rule *rule, struct text *out) {
    describe_int(out, rule_attr_int(rule, "size"));
    text_append(out, ", alpha=");
    describe_real(out, rule_attr_float(rule, "alpha"));
    text_append(out, ", beta=");
    describe_real(out, rule_attr_float(rule, "beta"));
    text_append(out, ", k=");
    describe_real(out, rule_attr_float(rule, "bias"));
    return CM_OK;
}

/* Mean and inverse deviation, `rows` of each, float whatever the input is. */
static int64_t two_statistics(int64_t rows) {
    return dtype_bytes(DTYPE_FLOAT, checked_mul(2, rows));
}

/* The running ones do otherwise. */
static int64_t batch_statistics(const struct rule *rule) {
    return rule->training ? two_statistics(n_statistics(rule)) : 0;
}

static int64_t instance_statistics(const struct rule *rule) {
    if (rule_rank(rule, 0) < 2) return DIM_UNKNOWN;
    return two_statistics(checked_mul(rule_dim(rule, 0, 0), n_channels(rule)));
}

static int64_t group_statistics(const struct rule *rule) {
    if (rule_rank(rule, 0) < 2) return DIM_UNKNOWN;
    return two_statistics(checked_mul(rule_dim(rule, 0, 0), rule_attr_int(rule, "num_groups")));
}

/* Elements of the input before the axis at which the normalized ones begin. */
static int64_t normalized_rows(const struct rule *rule) {
    int rank = rule_rank(rule, 0);
    int64_t axis = rule_attr_int(rule, "axis");
    int64_t rows = 1;
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    if (axis < 0) axis += rank;
    for (int i = 0; i < axis && i < rank; i++) rows = checked_mul(rows, rule_dim(rule, 0, i));
    return rows;
}

static int64_t layer_statistics(const struct rule *rule) {
    return two_statistics(normalized_rows(rule));
}

static int64_t rms_statistics(const struct rule *rule) {
    return dtype_bytes(DTYPE_FLOAT, normalized_rows(rule));
}

/* What each element is divided by. */
static int64_t input_bytes(const struct rule *rule) {
    return dtype_bytes(rule_dtype(rule, 0), rule_elements(rule, 0));
}

#define EPSILON FLOAT_ATTR("epsilon", 1e-5F)

static const struct op_attr batch_1[] = {REQUIRED_ATTR("consumed_inputs", ATTR_INTS),
                                         EPSILON,
                                         INT_ATTR("is_test", 0),
                                         FLOAT_ATTR("momentum", 0.9F),
                                         INT_ATTR("spatial", 1),
                                         {0}};
static const struct op_attr batch_6[] = {
    EPSILON, INT_ATTR("is_test", 0), FLOAT_ATTR("momentum", 0.9F), INT_ATTR("spatial", 1), {0}};
static const struct op_attr batch_7[] = {
    EPSILON, FLOAT_ATTR("momentum", 0.9F), INT_ATTR("spatial", 1), {0}};
static const struct op_attr batch_9[] = {EPSILON, FLOAT_ATTR("momentum", 0.9F), {0}};
static const struct op_attr batch_14[] = {
    EPSILON, FLOAT_ATTR("momentum", 0.9F), INT_ATTR("training_mode", 0), {0}};
static const struct op_attr instance_1[] = {CONSUMED_INPUTS, EPSILON, {0}};
static const struct op_attr instance_6[] = {EPSILON, {0}};
static const struct op_attr group_18[] = {EPSILON, REQUIRED_ATTR("num_groups", ATTR_INT), {0}};
static const struct op_attr group_21[] = {
    EPSILON, REQUIRED_ATTR("num_groups", ATTR_INT), INT_ATTR("stash_type", 1), {0}};
static const struct op_attr layer_17[] = {
    INT_ATTR("axis", -1), EPSILON, INT_ATTR("stash_type", 1), {0}};
static const struct op_attr lrn_1[] = {FLOAT_ATTR("alpha", 1e-4F),
                                       FLOAT_ATTR("beta", 0.75F),
                                       FLOAT_ATTR("bias", 1),
                                       REQUIRED_ATTR("size", ATTR_INT),
                                       {0}};
static const struct op_attr lp_1[] = {INT_ATTR("axis", -1), INT_ATTR("p", 2), {0}};
static const struct op_attr mean_variance_9[] = {OPTIONAL_ATTR("axes", ATTR_INTS), {0}};

#define BATCH_NORM(from, out, attributes)                                                      \
    {                                                                                          \
        .domain = "", .type = "BatchNormalization", .since = from, .min_inputs = 5,            \
        .max_inputs = 5, .min_outputs = 1, .max_outputs = out, .attrs = attributes,            \
        .infer = infer_batch_norm,                                                             \
        .cost = {.extra = batch_norm_flops,                                                    \
                 .extra_is = "at 2 an input element, 5 in training"},                          \
        .memory = MEMORY_IN_PLACE_UNLESS_TRAINING, .trains = batch_norm_trains,                \
        .roles = "xnnss", .module = "BatchNorm{n}d", .describe = describe_batch_norm,          \
        .backward.gradients = "0134e,0134e,0134e,-", .backward.extra = batch_statistics        \
    }
#define NORM(name, from, least, most, out, attributes, rule, flops, letters, class, print,     \
             keeps, more)                                                                      \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = least, .max_inputs = most,    \
        .min_outputs = 1, .max_outputs = out, .attrs = attributes, .infer = rule,              \
        .cost = {.per_input = flops}, .roles = letters, .module = class, .describe = print,    \
        .backward.gradients = keeps, .backward.extra = more                                    \
    }

/* clang-format off */
static const struct op rows[] = {
    BATCH_NORM( 1, 5, batch_1),
    BATCH_NORM( 6, 5, batch_6),
    BATCH_NORM( 7, 5, batch_7),
    BATCH_NORM( 9, 5, batch_9),
    BATCH_NORM(14, 3, batch_14),
    /*   type                    since in out attributes  rule             n  roles  module             brackets                      gradients */
    NORM("InstanceNormalization",  1, 3, 3, 1, instance_1, infer_instance_norm, 5, "xnn", "InstanceNorm{n}d", describe_instance_norm, "01e", instance_statistics),
    NORM("InstanceNormalization",  6, 3, 3, 1, instance_6, infer_instance_norm, 5, "xnn", "InstanceNorm{n}d", describe_instance_norm, "01e", instance_statistics),
    NORM("GroupNormalization",    18, 3, 3, 1, group_18,   infer_group_norm,    5, "xnn", "GroupNorm",        describe_group_norm,       "01e", group_statistics),
    NORM("GroupNormalization",    21, 3, 3, 1, group_21,   infer_group_norm,    5, "xnn", "GroupNorm",        describe_group_norm,       "01e", group_statistics),
    NORM("LayerNormalization",    17, 2, 3, 3, layer_17,   infer_layer_norm,    5, "xnn", "LayerNorm",        describe_layer_norm,       "01e", layer_statistics),
    NORM("RMSNormalization",      23, 2, 2, 1, layer_17,   infer_layer_norm,    0, "xn",  "RMSNorm",          describe_layer_norm,       "01e", rms_statistics),
    NORM("LRN",                    1, 1, 1, 1, lrn_1,      infer_lrn,           0, "x",   "LocalResponseNorm", describe_lrn,                   "0e", input_bytes),
    NORM("LpNormalization",        1, 1, 1, 1, lp_1,       infer_along_axis,    0, "x",   NULL,               NULL,                                     "0y", NULL),
    NORM("MeanVarianceNormalization", 9, 1, 1, 1, mean_variance_9, common_infer_same, 0, "x", NULL,           NULL,                                     "0y", NULL),
};
/* clang-format on */

const struct op_family family_norm = {"norm", rows, sizeof(rows) / sizeof(rows[0]), NULL};
