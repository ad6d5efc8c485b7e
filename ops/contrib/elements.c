/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise and row-wise operators of com.microsoft: norms, gates, dropouts, rotary
 * embeddings, position biases. FLOPs are those of the plain operators that they replace.
 * Weighted sums of streams are products: one MAC per weighted element. */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

/* The bias, if any, has the shape of a row or of the data. Output 1 is the mask: bools, or
 * packed into 32-bit words. */
static int infer_dropout(struct op_context *context) {
    const bool is_packed = text_starts_with(context->op->type, "Bitmask");
    const int64_t words = checked_div_ceil(op_elements(context, 0), 32);
    struct shape both;
    int status = CM_OK;
    if (!text_equal(context->op->type, "BitmaskDropout"))
        status = op_broadcast(context, op_shape(context, 0), op_shape(context, 1), &both);
    if (status == CM_OK) status = common_infer_same(context);
    if (status < 0) return status;
    return is_packed ? op_output_dims(context, 1, DTYPE_UINT32, 1, &words)
                     : op_output(context, 1, DTYPE_BOOL, op_shape(context, 0));
}

static bool dropout_trains(const struct op_context *context) {
    return contrib_flag(context, 2);
}

static bool bias_dropout_trains(const struct op_context *context) {
    return contrib_flag(context, 4);
}

/* Input 2 is the quantized word table. */
static int infer_quantized_embedding(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 0, 2, 0), common_dim(context, 0, 2, 1),
                            common_dim(context, 2, 2, 1)};
    int status = op_output_dims(context, 0, DTYPE_FLOAT, 3, dims);
    return status < 0 ? status : op_output_dims(context, 1, DTYPE_INT32, 1, dims);
}

/* The last axis holds pairs of real and imaginary part. */
static int infer_complex(struct op_context *context) {
    int status = common_infer_broadcast(context);
    const struct shape *out = op_output_shape(context, 0);
    if (status < 0 || !shape_has_rank(out)) return status;
    if (out->rank < 1 || (is_known(out->dims[out->rank - 1]) && out->dims[out->rank - 1] != 2))
        return op_fail(context, DIAG_SHAPE, "the last dim must be 2 (complex numbers), got %s",
                       op_shape_text(context, out));
    return CM_OK;
}

/* Outputs: rotated queries and keys. */
static int infer_gemma_rotary(struct op_context *context) {
    int status = op_output_like(context, 0, 1);
    return status < 0 ? status : op_output_like(context, 1, 3);
}

static int infer_engram(struct op_context *context) {
    int status = common_infer_same(context);
    return status < 0 ? status : op_output_like(context, 1, 0);
}

static void macs_engram(const struct op_context *context, struct product *ret) {
    product_add(ret, "elements of the keys", op_elements(context, 0));
}

static int infer_gates(struct op_context *context) {
    int status = common_infer_same(context);
    return status < 0 ? status : op_output_like(context, 1, 3);
}

/* Input 0 has n streams of `columns` columns: [.., n, columns], or packed [.., n * columns]. */
struct streams {
    int64_t n, columns;
    int leading; /* number of axes before the streams; RANK_UNKNOWN if there are no streams */
};

static struct streams read_streams(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const int64_t n = op_attr_int(context, "num_branches");
    const int rank = x->rank;
    struct streams streams = {DIM_UNKNOWN, DIM_UNKNOWN, RANK_UNKNOWN};
    if (n > 0 && rank >= 1) {
        streams = (struct streams){n, checked_div_floor(x->dims[rank - 1], n), rank - 1};
    } else if (n == 0 && rank >= 2) {
        streams = (struct streams){x->dims[rank - 2], x->dims[rank - 1], rank - 2};
    }
    return streams;
}

/* Output: one stream. */
static int infer_pre_mix(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const struct streams streams = read_streams(context);
    int64_t dims[SHAPE_MAX_RANK];
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    if (streams.leading == RANK_UNKNOWN)
        return op_fail(context, DIAG_SHAPE, "the shape must divide into streams, got %s",
                       op_shape_text(context, x));
    for (int axis = 0; axis < streams.leading; axis++) dims[axis] = x->dims[axis];
    dims[streams.leading] = streams.columns;
    return op_output_dims(context, 0, op_dtype(context, 0), streams.leading + 1, dims);
}

static void macs_pre_mix(const struct op_context *context, struct product *ret) {
    product_add(ret, "elements of the streams", op_elements(context, 0));
}

/* Each output stream is a weighted sum of the block's result and, with input 3, all streams. */
static void macs_post_mix(const struct op_context *context, struct product *ret) {
    const int64_t old = op_has_input(context, 3) ? read_streams(context).n : 0;
    product_add(ret, "elements of the streams", op_elements(context, 0));
    product_add(ret, "streams and the block's result", checked_add(old, 1));
}

/* [1, heads, queries, keys] from a table [buckets, heads]. */
static int infer_position_bias(struct op_context *context) {
    const int64_t dims[] = {1, common_dim(context, 0, 2, 1), common_integer(context, 1),
                            common_integer(context, 2)};
    return op_output_dims(context, 0, op_dtype(context, 0), 4, dims);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, letters, class, ...)                                           \
    SIGNATURE(CONTRIB, name, 1, __VA_ARGS__), .infer = infer_fn, .param_roles = letters,       \
    .module = class, .backward.saved_for_backward = "-"

static const struct op rows[] = {
    /*       type                        shape rule                  roles       module */
    {CONTRIB(ScaledSiLU,                 common_infer_same,          "xi",       "SiLU",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 6), NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(QOrderedGelu,               common_infer_same,          "xi",       "GELU",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 5), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE))},
    {CONTRIB(GatedAdd,                   common_infer_same,          "eex",      NULL,
        EXACT(.per_output = 2), NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(ComplexMul,                 infer_complex,              "e",        NULL,
        EXACT(.per_output = 3), NO_PRIMITIVE(NO_FUSED))}, /* two products and a sum for either part */
    {CONTRIB(ComplexMulConj,             infer_complex,              "e",        NULL,
        EXACT(.per_output = 3), NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(BiasDropout,                infer_dropout,              "xnxii",    NULL,
        EXACT(EXACT_BIAS_DROPOUT), NO_PRIMITIVE(NO_FUSED)),
     .trains = bias_dropout_trains},
    {CONTRIB(BitmaskBiasDropout,         infer_dropout,              "xnxii",    NULL,
        EXACT(EXACT_BIAS_DROPOUT), NO_PRIMITIVE(NO_FUSED)),
     .trains = bias_dropout_trains},
    {CONTRIB(BitmaskDropout,             infer_dropout,              "pii",      "Dropout", NO_PRIMITIVE(NO_FUSED)),
     .trains = dropout_trains, .memory = MEMORY_VIEW_UNLESS_TRAINING},
    {CONTRIB(BranchwiseRMSNorm,          common_infer_same,          "xn",       "RMSNorm",
        AUTOCAST(FLOAT),
        EXACT(PLUS(exact_branch_norm, "operations: 4 per input element, 1 less without a scale, and 2 per row")),
        NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(GatedRMSNorm,               common_infer_same,          "xnx",      NULL,
        AUTOCAST(FLOAT),
        EXACT(PLUS(exact_gated_norm, "operations: 10 per input element, 1 less with a Sigmoid, and 2 per row")),
        NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(QOrderedLayerNormalization, common_infer_same,          "xinni",    "LayerNorm",
        DEEPSPEED(.per_input = 5), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE))},
    {CONTRIB(QEmbedLayerNormalization,   infer_quantized_embedding,  "iinnnnni", NULL,
        DEEPSPEED(.per_output = 5), NO_PRIMITIVE(NO_FUSED), LOOKUP(2, 4))},
    {CONTRIB(GemmaRotaryEmbedding,       infer_gemma_rotary,         "x",        NULL,
        EXACT(PLUS(exact_gemma_rotary, "operations: 2 per angle and 3 per rotated element")), NO_PRIMITIVE(NO_ROTARY))},
    {CONTRIB(MRotaryEmbedding,           common_infer_same,          "ximm",     NULL,
        EXACT(EXACT_ROTARY), NO_PRIMITIVE(NO_ROTARY), PART(2, 3)),
     .memory = MEMORY_IN_PLACE},
    {CONTRIB(RelativePositionBias,       infer_position_bias,        "ni",       NULL, NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(LinearAttentionGate,        infer_gates,                "xnnx",     NULL,
        EXACT(PLUS(exact_gates, "operations: 5 per decay and 4 per rate")), NO_PRIMITIVE(NO_FUSED))},
    {CONTRIB(EngramGate,                 infer_engram,               "xxxnnn",   NULL, NO_PRIMITIVE(NO_FUSED)),
     .cost = {macs_engram, "elements of the keys"}},
    {CONTRIB(HyperConnectionPreMix,      infer_pre_mix,              "xx",       NULL, NO_PRIMITIVE(NO_FUSED)),
     .cost = {macs_pre_mix, "elements of the streams"}},
    {CONTRIB(HyperConnectionPostMix,     common_infer_same,          "xxxx",     NULL, NO_PRIMITIVE(NO_FUSED)),
     .cost = {macs_post_mix, "elements of the streams x (streams that are mixed + 1)"}},
};
/* clang-format on */

OP_FAMILY(contrib_elements, .why_free = "looks up",
          .declines = FACETS_RARE | FACET_EXACT | FACET_BOUNDS);
