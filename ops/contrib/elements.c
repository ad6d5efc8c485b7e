/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ONNX Runtime's own domain does element by element or row by row (com.microsoft): norms,
 * gates, dropouts, rotary embeddings, biases of positions. FLOPs are those of the plain
 * operators that they stand for. Streams that are weighed and added up are products: a MAC for
 * each element that is weighed.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/product.h"

#include "support/banned.h"

/* Bits, packed into words of 32. */
static int output_bitmask(struct rule *rule) {
    const int64_t words = checked_div_ceil(rule_elements(rule, 0), 32);
    return rule_output_dims(rule, 1, DTYPE_UINT32, 1, &words);
}

static int infer_bitmask_dropout(struct rule *rule) {
    int status = common_infer_same(rule);
    return status < 0 ? status : output_bitmask(rule);
}

/* The bias is as long as a row, or as large as the data. */
static int infer_bias_dropout(struct rule *rule) {
    struct shape both;
    int status = rule_broadcast(rule, rule_shape(rule, 0), rule_shape(rule, 1), &both);
    if (status == CM_OK) status = common_infer_same(rule);
    return status < 0 ? status : rule_output(rule, 1, DTYPE_BOOL, rule_shape(rule, 0));
}

static int infer_bitmask_bias_dropout(struct rule *rule) {
    int status = infer_bias_dropout(rule);
    return status < 0 ? status : output_bitmask(rule);
}

static bool has_truth(const struct rule *rule, size_t i) {
    const struct constant *mode = common_contents(rule, i);
    return mode && constant_has_ints(mode) && mode->n_elements > 0 &&
           constant_int_at(mode, 0) != 0;
}

static bool bitmask_dropout_trains(const struct rule *rule) {
    return has_truth(rule, 2);
}

static bool bias_dropout_trains(const struct rule *rule) {
    return has_truth(rule, 4);
}

/* Of the type of the words' table, which stands at operand 2; here quantized. */
static int infer_quantized_embedding(struct rule *rule) {
    const bool ids = rule_rank(rule, 0) == 2;
    const int64_t dims[] = {ids ? rule_dim(rule, 0, 0) : DIM_UNKNOWN,
                            ids ? rule_dim(rule, 0, 1) : DIM_UNKNOWN,
                            rule_rank(rule, 2) == 2 ? rule_dim(rule, 2, 1) : DIM_UNKNOWN};
    int status = rule_output_dims(rule, 0, DTYPE_FLOAT, 3, dims);
    return status < 0 ? status : rule_output_dims(rule, 1, DTYPE_INT32, 1, dims);
}

/* Pairs of real and imaginary part along the last axis. */
static int infer_complex(struct rule *rule) {
    int status = common_infer_broadcast(rule);
    const struct shape *out = rule_output_shape(rule, 0);
    if (status < 0 || !shape_has_rank(out)) return status;
    if (out->rank < 1 || (is_known(out->dims[out->rank - 1]) && out->dims[out->rank - 1] != 2))
        return rule_fail(rule, DIAG_SHAPE, "%s is no shape of complex numbers, 2 a pair",
                         rule_shape_text(rule, out));
    return CM_OK;
}

/* Outputs: turned queries and turned keys. */
static int infer_gemma_rotary(struct rule *rule) {
    int status = rule_output_like(rule, 0, 1);
    return status < 0 ? status : rule_output_like(rule, 1, 3);
}

static int infer_engram(struct rule *rule) {
    int status = common_infer_same(rule);
    return status < 0 ? status : rule_output_like(rule, 1, 0);
}

/* Keys times queries, over the columns. */
static void macs_engram(const struct rule *rule, struct product *ret) {
    product_add(ret, "elements of the keys", rule_elements(rule, 0));
}

static int infer_gates(struct rule *rule) {
    int status = common_infer_same(rule);
    return status < 0 ? status : rule_output_like(rule, 1, 3);
}

/* Streams [.., C, H], or beside each other [.., C H]: how many, and how many columns each. */
struct streams {
    int64_t n, columns;
    int leading; /* axes in front of them */
};

static struct streams read_streams(const struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    const int64_t n = rule_attr_int(rule, "num_branches");
    const int rank = x->rank;
    struct streams streams = {DIM_UNKNOWN, DIM_UNKNOWN, RANK_UNKNOWN};
    if (n > 0 && rank >= 1) {
        streams = (struct streams){n, checked_div_floor(x->dims[rank - 1], n), rank - 1};
    } else if (n == 0 && rank >= 2) {
        streams = (struct streams){x->dims[rank - 2], x->dims[rank - 1], rank - 2};
    }
    return streams;
}

/* One stream of those. */
static int infer_pre_mix(struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    const struct streams streams = read_streams(rule);
    int64_t dims[SHAPE_MAX_RANK];
    if (!shape_has_rank(x)) return common_infer_unknown_rank(rule);
    if (streams.leading == RANK_UNKNOWN)
        return rule_fail(rule, DIAG_SHAPE, "%s does not divide into streams",
                         rule_shape_text(rule, x));
    for (int axis = 0; axis < streams.leading; axis++) dims[axis] = x->dims[axis];
    dims[streams.leading] = streams.columns;
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), streams.leading + 1, dims);
}

static void macs_pre_mix(const struct rule *rule, struct product *ret) {
    product_add(ret, "elements of the streams", rule_elements(rule, 0));
}

/* Each stream is a sum of all of them, where a matrix is given, and of the block's result. */
static void macs_post_mix(const struct rule *rule, struct product *ret) {
    const int64_t old = rule_has_input(rule, 3) ? read_streams(rule).n : 0;
    product_add(ret, "elements of the streams", rule_elements(rule, 0));
    product_add(ret, "streams and the block's result", checked_add(old, 1));
}

/* [1, heads, queries, keys] from a table [buckets, heads]. */
static int infer_position_bias(struct rule *rule) {
    const int64_t dims[] = {1, rule_rank(rule, 0) == 2 ? rule_dim(rule, 0, 1) : DIM_UNKNOWN,
                            common_integer(rule, 1), common_integer(rule, 2)};
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), 4, dims);
}

static const struct op_attr bias_dropout[] = {OPTIONAL_ATTR("seed", ATTR_INT), {0}};
static const struct op_attr bitmask_bias_dropout[] = {OPTIONAL_ATTR("seed", ATTR_INT), {0}};
static const struct op_attr bitmask_dropout[] = {OPTIONAL_ATTR("seed", ATTR_INT), {0}};
static const struct op_attr branchwise_rms_norm[] = {
    FLOAT_ATTR("epsilon", 9.99999975e-06), INT_ATTR("num_branches", 0), {0}};
static const struct op_attr engram_gate[] = {FLOAT_ATTR("epsilon", 9.99999975e-06), {0}};
static const struct op_attr gated_rms_norm[] = {
    STRING_ATTR("activation", "silu"), FLOAT_ATTR("epsilon", 9.99999975e-06), {0}};
static const struct op_attr hyper_connection_post_mix[] = {INT_ATTR("num_branches", 0), {0}};
static const struct op_attr hyper_connection_pre_mix[] = {
    INT_ATTR("num_branches", 0), FLOAT_ATTR("reduction_scale", 1), {0}};
static const struct op_attr m_rotary_embedding[] = {
    OPTIONAL_ATTR("interleaved", ATTR_INT),  OPTIONAL_ATTR("is_packed_batching", ATTR_INT),
    OPTIONAL_ATTR("mrope_layout", ATTR_INT), REQUIRED_ATTR("mrope_section", ATTR_INTS),
    OPTIONAL_ATTR("num_heads", ATTR_INT),    OPTIONAL_ATTR("rotary_embedding_dim", ATTR_INT),
    OPTIONAL_ATTR("scale", ATTR_FLOAT),      {0}};
static const struct op_attr q_embed_layer_normalization[] = {
    FLOAT_ATTR("epsilon", 9.99999996e-13), {0}};
static const struct op_attr q_ordered_gelu[] = {
    OPTIONAL_ATTR("order_X", ATTR_INT), OPTIONAL_ATTR("order_Y", ATTR_INT), {0}};
static const struct op_attr q_ordered_layer_normalization[] = {
    INT_ATTR("axis", -1),
    FLOAT_ATTR("epsilon", 9.99999975e-06),
    INT_ATTR("order_X", 1),
    INT_ATTR("order_Y", 1),
    {0}};
static const struct op_attr relative_position_bias[] = {
    INT_ATTR("is_bidirectional", 0), REQUIRED_ATTR("max_distance", ATTR_INT), {0}};
static const struct op_attr scaled_si_lu[] = {FLOAT_ATTR("alpha", 1), {0}};

#define VENDOR(name, least, most, fewest, out, attributes, rule, input, letters, class)        \
    .domain = "com.microsoft", .type = name, .since = 1, .min_inputs = least,                  \
    .max_inputs = most, .min_outputs = fewest, .max_outputs = out, .attrs = attributes,        \
    .infer = rule, .cost.per_input = input, .roles = letters, .module = class,                 \
    .backward.gradients = "-"

/* clang-format off */
static const struct op rows[] = {
    /*       type                        in      out   attributes                    rule                  n  roles    module */
    {VENDOR("ScaledSiLU",                1,  2,  1, 1, scaled_si_lu,                  common_infer_same,    1, "xi",    "SiLU")},
    {VENDOR("QOrderedGelu",              3,  3,  1, 1, q_ordered_gelu,                common_infer_same,    1, "xi",    "GELU")},
    {VENDOR("GatedAdd",                  3,  3,  1, 1, NULL,                          common_infer_same,    0, "eex",   NULL)},
    {VENDOR("ComplexMul",                2,  2,  1, 1, NULL,                          infer_complex,        0, "e",     NULL)},
    {VENDOR("ComplexMulConj",            2,  2,  1, 1, NULL,                          infer_complex,        0, "e",     NULL)},
    {VENDOR("BiasDropout",               2,  5,  1, 2, bias_dropout,                  infer_bias_dropout,   0, "xnxii", NULL), .trains = bias_dropout_trains},
    {VENDOR("BitmaskBiasDropout",        2,  5,  1, 2, bitmask_bias_dropout,          infer_bitmask_bias_dropout, 0, "xnxii", NULL), .trains = bias_dropout_trains},
    {VENDOR("BitmaskDropout",            1,  3,  1, 2, bitmask_dropout,               infer_bitmask_dropout, 0, "pii",  "Dropout"), .trains = bitmask_dropout_trains, .memory = MEMORY_VIEW_UNLESS_TRAINING},
    {VENDOR("BranchwiseRMSNorm",         1,  2,  1, 1, branchwise_rms_norm,           common_infer_same,    0, "xn",    "RMSNorm")},
    {VENDOR("GatedRMSNorm",              3,  3,  1, 1, gated_rms_norm,                common_infer_same,    0, "xnx",   NULL)},
    {VENDOR("QOrderedLayerNormalization", 5, 5,  1, 1, q_ordered_layer_normalization, common_infer_same,    5, "xinni", "LayerNorm")},
    {VENDOR("QEmbedLayerNormalization", 18, 18, 2, 2, q_embed_layer_normalization,   infer_quantized_embedding, 0, "iinnnnni", NULL), .cost.per_output = 5},
    {VENDOR("GemmaRotaryEmbedding",      5,  5, 2, 2, NULL,                          infer_gemma_rotary,   0, "x",     NULL)},
    {VENDOR("MRotaryEmbedding",          4,  4,  1, 1, m_rotary_embedding,            common_infer_same,    0, "ximm",  NULL), .memory = MEMORY_IN_PLACE},
    {VENDOR("RelativePositionBias",      3,  3,  1, 1, relative_position_bias,        infer_position_bias,  0, "ni",    NULL)},
    {VENDOR("LinearAttentionGate",       3,  4,  1, 2, NULL,                          infer_gates,          0, "xnnx",  NULL)},
    {VENDOR("EngramGate",                5,  6,  1, 2, engram_gate,                   infer_engram,         0, "xxxnnn", NULL), .cost.macs = macs_engram, .cost.macs_are = "elements of the keys"},
    {VENDOR("HyperConnectionPreMix",     2,  2,  1, 1, hyper_connection_pre_mix,      infer_pre_mix,        0, "xx",    NULL), .cost.macs = macs_pre_mix, .cost.macs_are = "elements of the streams"},
    {VENDOR("HyperConnectionPostMix",    3,  4,  1, 1, hyper_connection_post_mix,     common_infer_same,    0, "xxxx",  NULL), .cost.macs = macs_post_mix, .cost.macs_are = "elements of the streams x (streams that are mixed + 1)"},
};
/* clang-format on */

const struct op_family family_vendor_elements = {"vendor_elements", rows,
                                                 sizeof rows / sizeof *rows, "looks up"};
