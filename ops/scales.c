/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of dequantized integers: see scales.h. Two tables: what moves elements, and where it
 * puts an axis; what multiplies, and over which axes of its operands it sums. */
#include "ops/scales.h"

#include "ops/common.h"
#include "ops/einsum.h"
#include "ops/integers.h"
#include "ops/rule.h"
#include "support/text.h"

#include "support/banned.h"

#define NOWHERE (-1)

/* Real numbers of 16 bits and more stand for what was dequantized, those of 8 do not. */
static bool keeps_integers(enum dtype dtype) {
    return dtype_is_float(dtype) && dtype_bits(dtype) >= 16;
}

static scale_kind of_operand(const struct rule *rule, const scale_kind *of_values, size_t i) {
    const uint32_t value = rule->node->inputs[i];
    return value == ID_NONE ? SCALE_NONE : of_values[value];
}

/* ---- what dequantizes ---- */

static scale_kind along(int axis) {
    return axis == NOWHERE ? SCALE_NONE : (scale_kind)(SCALE_ALONG + axis);
}

static bool has_blocks(const struct rule *rule) {
    return rule_has_attr(rule, "block_size") && rule_attr_int(rule, "block_size") != 0;
}

/* Axis `name` of operand 0; NOWHERE: there is no such. */
static int axis_of(const struct rule *rule, const char *name) {
    const int rank = rule_rank(rule, 0);
    const int64_t axis = rule_attr_int(rule, name);
    if (rank == RANK_UNKNOWN || axis < -rank || axis >= rank) return NOWHERE;
    return (int)(axis < 0 ? axis + rank : axis);
}

static scale_kind made(const struct rule *rule) {
    if (rule_elements(rule, 1) == 1) return SCALE_WHOLE;
    if (rule_rank(rule, 1) != 1 || has_blocks(rule)) return SCALE_NONE;
    return along(axis_of(rule, "axis"));
}

/* ---- what moves elements ---- */

static int stays(const struct rule *rule, int axis) {
    (void)rule;
    return axis;
}

static int through_transpose(const struct rule *rule, int axis) {
    size_t n = 0;
    const int64_t *perm = rule_attr_ints(rule, "perm", &n);
    if (!perm) return rule_rank(rule, 0) - 1 - axis;
    for (size_t i = 0; i < n; i++)
        if (perm[i] == axis) return (int)i;
    return NOWHERE;
}

/* Axes are those of the output from the last one on. */
static int through_expand(const struct rule *rule, int axis) {
    const struct shape *out = rule_output_shape(rule, 0);
    return shape_has_rank(out) ? axis + out->rank - rule_rank(rule, 0) : NOWHERE;
}

/* The same elements in the same order: an axis is one that has as many before it. */
static int through_reshape(const struct rule *rule, int axis) {
    const struct shape *in = rule_shape(rule, 0);
    const struct shape *out = rule_output_shape(rule, 0);
    int64_t before = 1;
    int64_t so_far = 1;
    for (int i = 0; i < axis; i++) before = checked_mul(before, in->dims[i]);
    if (before < 0 || !shape_has_rank(out)) return NOWHERE;
    for (int i = 0; i < out->rank && so_far >= 0; i++) {
        if (so_far == before && out->dims[i] == in->dims[axis]) return i;
        so_far = checked_mul(so_far, out->dims[i]);
    }
    return NOWHERE;
}

static int through_gather(const struct rule *rule, int axis) {
    const int picked = axis_of(rule, "axis");
    const int rank = rule_rank(rule, 1);
    if (picked == NOWHERE || rank == RANK_UNKNOWN) return NOWHERE;
    if (axis == picked) return rank == 1 ? axis : NOWHERE;
    return axis < picked ? axis : axis - 1 + rank;
}

static int through_gather_elements(const struct rule *rule, int axis) {
    return axis == axis_of(rule, "axis") ? NOWHERE : axis;
}

/* What joins parts that have scales of their own has one for each place where it joins them. */
static int through_concat(const struct rule *rule, int axis) {
    return axis == axis_of(rule, "axis") ? axis : NOWHERE;
}

struct mover {
    const char *type;                               /* of any domain */
    int (*axis)(const struct rule *rule, int axis); /* of the output; NULL: NOWHERE */
};

/* They pass operand 0 on, Concat all. */
static const struct mover movers[] = {
    {"Cast", stays},
    {"CastLike", stays},
    {"Identity", stays},
    {"Dropout", stays},
    {"Slice", stays},
    {"Split", stays},
    {"Pad", stays},
    {"Tile", stays},
    {"Trilu", stays},
    {"Transpose", through_transpose},
    {"Expand", through_expand},
    {"Reshape", through_reshape},
    {"Flatten", through_reshape},
    {"Squeeze", through_reshape},
    {"Unsqueeze", through_reshape},
    {"Gather", through_gather},
    {"GatherElements", through_gather_elements},
    {"GatherND", NULL},
    {"DepthToSpace", NULL},
    {"SpaceToDepth", NULL},
    {"Concat", through_concat},
};

static const struct mover *find_mover(const struct op *op) {
    for (size_t i = 0; i < sizeof(movers) / sizeof(movers[0]); i++)
        if (text_equal(movers[i].type, op->type)) return &movers[i];
    return NULL;
}

static scale_kind moved(const struct rule *rule, const struct mover *mover, scale_kind given) {
    if (given < SCALE_ALONG) return given;
    return along(mover->axis ? mover->axis(rule, given - SCALE_ALONG) : NOWHERE);
}

static scale_kind joined(const struct rule *rule, const struct mover *mover,
                         const scale_kind *of_values) {
    const scale_kind kind = along(axis_of(rule, "axis"));
    for (size_t i = 0; i < rule->n_inputs; i++) {
        const scale_kind given = of_operand(rule, of_values, i);
        if (given != SCALE_WHOLE && moved(rule, mover, given) != kind) return SCALE_NONE;
    }
    return kind;
}

scale_kind scale_of_outputs(const struct rule *rule, const scale_kind *of_values, bool same) {
    if (rule->n_outputs == 0 || !keeps_integers(rule->outputs[0].dtype)) return SCALE_NONE;
    if (dtype_is_integer(rule_dtype(rule, 0)))
        return integers_are_scaled(rule->op) ? made(rule) : SCALE_NONE;
    const struct mover *mover = find_mover(rule->op);
    if (!mover || rule->n_inputs == 0) return SCALE_NONE;
    if (mover->axis == through_concat && rule->n_inputs > 1 && !same)
        return joined(rule, mover, of_values);
    return moved(rule, mover, of_operand(rule, of_values, 0));
}

/* ---- what multiplies ---- */

static bool has_one_channel_a_group(const struct rule *rule, int channels) {
    const int rank = rule_rank(rule, 0);
    return rank > channels && rule_dim(rule, 0, channels) == rule_attr_int(rule, "group");
}

/* [n, c, ...] and [out, c, ...] */
static bool conv_sums(const struct rule *rule, size_t operand, int axis) {
    if (axis == 0) return false;
    return operand == 1 || axis != 1 || !has_one_channel_a_group(rule, 1);
}

/* [n, ..., c] */
static bool nhwc_conv_sums(const struct rule *rule, size_t operand, int axis) {
    const int last = rule_rank(rule, 0) - 1;
    if (axis == 0) return false;
    return operand == 1 || axis != last || !has_one_channel_a_group(rule, last);
}

/* [n, c, ...] and [c, out of a group, ...] */
static bool transposed_conv_sums(const struct rule *rule, size_t operand, int axis) {
    const int channels = operand == 0 ? 1 : 0;
    if (axis == 1 - channels) return false;
    return axis != channels || !has_one_channel_a_group(rule, 1);
}

/* Each channel has its own kernel; what is left of earlier steps has its own scale. */
static bool causal_conv_sums(const struct rule *rule, size_t operand, int axis) {
    (void)rule;
    return axis > 1 - (int)operand;
}

static bool matmul_sums(const struct rule *rule, size_t operand, int axis) {
    const int rank = rule_rank(rule, operand);
    return axis == (operand == 0 || rank == 1 ? rank - 1 : rank - 2);
}

static bool is_turned(const struct rule *rule, size_t operand) {
    return rule_attr_int(rule, operand == 0 ? "transA" : "transB") != 0;
}

static bool fused_matmul_sums(const struct rule *rule, size_t operand, int axis) {
    const char *batch = operand == 0 ? "transBatchA" : "transBatchB";
    const int rank = rule_rank(rule, operand);
    if (rule_has_attr(rule, batch) && rule_attr_int(rule, batch) != 0) return true;
    if (rank == 1 || !is_turned(rule, operand)) return matmul_sums(rule, operand, axis);
    return axis == (operand == 0 ? rank - 2 : rank - 1);
}

static bool gemm_sums(const struct rule *rule, size_t operand, int axis) {
    return axis == (is_turned(rule, operand) == (operand == 0) ? 0 : 1);
}

static bool einsum_sums(const struct rule *rule, size_t operand, int axis) {
    struct einsum_axes axes;
    if (!einsum_read(rule, &axes)) return true;
    for (int i = 0; i < axes.output.rank; i++)
        if (axes.output.labels[i] == axes.operands[operand].labels[axis]) return false;
    return true;
}

static bool has_state(const struct rule *rule) {
    return rule_has_input(rule, 3);
}

static bool has_activation(const struct rule *rule) {
    const char *activation = rule_attr_string(rule, "activation");
    return activation[0] != '\0' && !text_equal(activation, "none");
}

static bool always(const struct rule *rule) {
    (void)rule;
    return true;
}

struct multiplier {
    const char *type; /* of any domain */
    size_t factors;   /* operands from the first on; 0: all */
    bool (*sums)(const struct rule *rule, size_t operand, int axis);
    bool (*is_none)(const struct rule *rule); /* of that sort after all; NULL: never */
    bool (*is_more)(const struct rule *rule); /* it does what is no sum; NULL: never */
};

static const struct multiplier multipliers[] = {
    /*                     factors, sums, is_none, is_more */
    {"Conv", 2, conv_sums, NULL, NULL},
    {"FusedConv", 2, conv_sums, NULL, always},
    {"NhwcConv", 2, nhwc_conv_sums, NULL, NULL},
    {"NhwcFusedConv", 2, nhwc_conv_sums, NULL, always},
    {"ConvTranspose", 2, transposed_conv_sums, NULL, NULL},
    {"ConvTransposeWithDynamicPads", 2, transposed_conv_sums, NULL, always},
    {"CausalConvWithState", 2, causal_conv_sums, has_state, has_activation},
    {"MatMul", 2, matmul_sums, NULL, NULL},
    {"FusedMatMul", 2, fused_matmul_sums, NULL, always},
    {"TransposeMatMul", 2, fused_matmul_sums, NULL, always},
    {"FusedMatMulActivation", 2, fused_matmul_sums, NULL, always},
    {"Gemm", 2, gemm_sums, NULL, NULL},
    {"FusedGemm", 2, gemm_sums, NULL, always},
    {"Einsum", 0, einsum_sums, NULL, NULL},
};

static const struct multiplier *find_multiplier(const struct op *op) {
    for (size_t i = 0; i < sizeof(multipliers) / sizeof(multipliers[0]); i++)
        if (text_equal(multipliers[i].type, op->type)) return &multipliers[i];
    return NULL;
}

/* Of a scale for each place along an axis of several; a factor must be dequantized. */
static bool comes_out_of(const struct rule *rule, const struct multiplier *multiplier,
                         size_t operand, scale_kind given) {
    if (given <= SCALE_WHOLE) return given == SCALE_WHOLE;
    return !multiplier->sums(rule, operand, given - SCALE_ALONG);
}

/* Whether the operands from `first` on are dequantized, and there are any. */
static bool all_dequantized(const struct rule *rule, const scale_kind *of_values,
                            size_t first) {
    bool any = false;
    for (size_t i = first; i < rule->n_inputs; i++) {
        if (!rule_has_input(rule, i)) continue;
        if (of_operand(rule, of_values, i) == SCALE_NONE) return false;
        any = true;
    }
    return any;
}

bool scale_comes_out(const struct rule *rule, const scale_kind *of_values, bool *ret_rest) {
    *ret_rest = false;
    if (rule->n_inputs == 0 || of_operand(rule, of_values, 0) == SCALE_NONE) return false;
    const struct multiplier *multiplier = find_multiplier(rule->op);
    if (!multiplier || (multiplier->is_none && multiplier->is_none(rule))) return false;
    const size_t n_factors = multiplier->factors ? multiplier->factors : rule->n_inputs;
    if (rule->n_inputs < n_factors) return false;
    for (size_t i = 0; i < n_factors; i++)
        if (!comes_out_of(rule, multiplier, i, of_operand(rule, of_values, i))) return false;
    *ret_rest = all_dequantized(rule, of_values, n_factors) &&
                !(multiplier->is_more && multiplier->is_more(rule));
    return true;
}
