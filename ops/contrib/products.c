/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products and convolutions of com.microsoft, as ONNX Runtime's optimizers and
 * quantizers write them: with an activation, with transposed, block-quantized or packed
 * operands, with several weights, with experts; also distances and inverses. MACs are those of
 * the plain product, out * K, or of the convolution, out * prod(W.shape[1:]), however the
 * weight is packed. */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/shared.h"
#include "ops/product.h"

/* Sets *ret to the shape of operand i after its transpositions: first transBatch, which moves
 * the first axis after the batch axes ([a,b,c,d] to [b,c,a,d]), then trans, which swaps the
 * last two axes. */
static int transposed(struct op_context *context, size_t i, const char *trans,
                      const char *batch, struct shape *ret) {
    const struct shape *shape = op_shape(context, i);
    struct shape seen = *shape;
    *ret = *shape;
    if (shape->rank < 2) return CM_OK;
    if (shape_make(context->arena, shape->rank, shape->dims, &seen) < 0)
        return diag_no_memory(context->diag);
    const int last = shape->rank - 1;
    if (op_attr_int(context, batch) != 0) {
        for (int axis = 0; axis < last - 1; axis++) seen.dims[axis] = shape->dims[axis + 1];
        seen.dims[last - 1] = shape->dims[0];
    }
    if (op_attr_int(context, trans) != 0) {
        const int64_t swapped = seen.dims[last];
        seen.dims[last] = seen.dims[last - 1];
        seen.dims[last - 1] = swapped;
    }
    *ret = seen;
    return CM_OK;
}

static int infer_fused_matmul(struct op_context *context) {
    struct shape a, b;
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    status = transposed(context, 0, "transA", "transBatchA", &a);
    if (status < 0) return status;
    status = transposed(context, 1, "transB", "transBatchB", &b);
    return status < 0 ? status : matmul_infer_shapes(context, &a, &b, common_dtype(context, 0));
}

/* The inner axis of A is its last axis; with transA the last but one; with transA and
 * transBatchA the first. */
static void macs_fused_matmul(const struct op_context *context, struct product *ret) {
    const int rank = op_rank(context, 0);
    const bool transposed_a = rank > 1 && op_attr_int(context, "transA") != 0;
    const bool first = transposed_a && op_attr_int(context, "transBatchA") != 0;
    int64_t k = DIM_UNKNOWN;
    if (rank > 0) k = op_dim(context, 0, first ? 0 : rank - (transposed_a ? 2 : 1));
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", k);
}

/* Returns dim `axis` of matrix i after its transposition. A is input 0, B input 1 or 3. */
static int64_t matrix_dim(const struct op_context *context, size_t i, int axis) {
    const bool transposed = op_attr_int(context, i == 0 ? "transA" : "transB") != 0;
    return common_dim(context, i, 2, transposed ? 1 - axis : axis);
}

static int output_matrices(struct op_context *context, size_t b, enum dtype dtype) {
    const int64_t dims[] = {matrix_dim(context, 0, 0), matrix_dim(context, b, 1)};
    const int64_t k_a = matrix_dim(context, 0, 1);
    const int64_t k_b = matrix_dim(context, b, 0);
    if (is_known(k_a) && is_known(k_b) && k_a != k_b)
        return op_fail(context, DIAG_SHAPE,
                       "columns of A must equal rows of B, got %lld and %lld", (long long)k_a,
                       (long long)k_b);
    return op_output_dims(context, 0, dtype, 2, dims);
}

static void macs_gemm(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", matrix_dim(context, 0, 1));
}

static int infer_fused_gemm(struct op_context *context) {
    return output_matrices(context, 1, common_dtype(context, 0));
}

/* The output has the dtype of its zero point (input 8), or else of the scale of A (input 1). */
static int infer_qgemm(struct op_context *context) {
    return output_matrices(context, 3, op_dtype(context, op_has_input(context, 8) ? 8 : 1));
}

static int infer_integer_to_float(struct op_context *context) {
    return matmul_infer(context, op_dtype(context, 2));
}

/* The order of QOrderedMatMul (cuBLASLt) does not change the dims. */
static int infer_matmul(struct op_context *context) {
    return matmul_infer(context, op_dtype(context, 0));
}

/* Products of 16-bit integers are int32, even of unsigned operands. */
static int infer_integer16(struct op_context *context) {
    return matmul_infer(context, DTYPE_INT32);
}

/* The weight [K, N] is packed into blocks; K and N are attributes. */
static int infer_packed(struct op_context *context) {
    const struct shape *a = op_shape(context, 0);
    const int64_t k = op_attr_int(context, "K");
    const int64_t n = op_attr_int(context, "N");
    const int64_t columns = common_last_dim(context, 0);
    if (k < 1 || n < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "K and N must be >= 1, got %lld and %lld",
                       (long long)k, (long long)n);
    if (is_known(columns) && columns != k)
        return op_fail(context, DIAG_SHAPE, "the last dim of input 0 must be K = %lld, got %s",
                       (long long)k, op_shape_text(context, a));
    return contrib_output_last(context, 0, op_dtype(context, 0), n);
}

static void macs_packed(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", op_attr_int(context, "K"));
}

/* Sets output i to the shape of input 0 times a weight: [.., k] x [k, n] -> [.., n]. */
static int output_columns(struct op_context *context, size_t i, int64_t k, int64_t n) {
    const int64_t columns = common_last_dim(context, 0);
    if ((is_known(k) && k < 0) || (is_known(n) && n < 0))
        return op_fail(context, DIAG_VALUE, "dims of the weight must be >= 0, got %s and %s",
                       shape_dim_text(context->arena, k), shape_dim_text(context->arena, n));
    if (is_known(columns) && is_known(k) && columns != k)
        return op_fail(context, DIAG_SHAPE,
                       "columns of input 0 must equal rows of the weight, got %lld and %lld",
                       (long long)columns, (long long)k);
    return contrib_output_last(context, i, op_dtype(context, 0), n);
}

static void add_rows(const struct op_context *context, int64_t k, int64_t n,
                     struct product *ret) {
    product_add(ret, "rows", contrib_rows(context));
    product_add(ret, "inner axis", k);
    product_add(ret, "columns of the weights", n);
}

static int infer_gelu_product(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    return status < 0 ? status : matmul_infer(context, common_dtype(context, 0));
}

static int infer_gemm_float8(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = common_dtype_attr(context, "dtype", &dtype);
    return status < 0 ? status : output_matrices(context, 1, dtype);
}

/* The product is counted as dense: its sparsity is data-dependent. */
static int infer_sparse_product(struct op_context *context) {
    return output_matrices(context, 1, op_dtype(context, 1));
}

static void macs_matrices(const struct op_context *context, struct product *ret) {
    const int64_t k = matrix_dim(context, 0, 1);
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", is_known(k) ? k : matrix_dim(context, 1, 0));
}

/* Weight [N, K]; a byte holds one float8 or two float4. */
static int infer_float_weight(struct op_context *context) {
    const bool is_float4 = text_equal(context->op->type, "MatMulBlockQuantizedFp4Weight");
    const int64_t k = checked_mul(is_float4 ? 2 : 1, common_dim(context, 1, 2, 1));
    return output_columns(context, 0, k, common_dim(context, 1, 2, 0));
}

static void macs_float_weight(const struct op_context *context, struct product *ret) {
    add_rows(context, common_last_dim(context, 0), common_dim(context, 1, 2, 0), ret);
}

/* The weight is an opaque blob; input 2 holds its dims [K, N]. */
static int64_t blob_dim(const struct op_context *context, int64_t axis) {
    const struct constant *shape = common_contents(context, 2);
    const bool readable = shape && shape->n_elements == 2 && constant_has_ints(shape);
    return readable ? constant_int_at(shape, axis) : DIM_UNKNOWN;
}

static int infer_blob(struct op_context *context) {
    return output_columns(context, 0, blob_dim(context, 0), blob_dim(context, 1));
}

static void macs_blob(const struct op_context *context, struct product *ret) {
    add_rows(context, common_last_dim(context, 0), blob_dim(context, 1), ret);
}

/* Multiplies the input, after an optional addition, by a gate and a value weight [K, N]. */
static int infer_mlp(struct op_context *context) {
    const int64_t k = op_attr_int(context, "K");
    int status = output_columns(context, 0, k, op_attr_int(context, "N"));
    return status < 0 ? status : op_output_like(context, 1, 0);
}

static void macs_mlp(const struct op_context *context, struct product *ret) {
    add_rows(context, op_attr_int(context, "K"), checked_mul(2, op_attr_int(context, "N")),
             ret);
}

static int infer_qkv(struct op_context *context) {
    const int64_t k = op_attr_int(context, "K");
    int status = output_columns(context, 0, k, op_attr_int(context, "Nq"));
    if (status == CM_OK) status = output_columns(context, 1, k, op_attr_int(context, "Nkv"));
    if (status == CM_OK) status = output_columns(context, 2, k, op_attr_int(context, "Nkv"));
    return status < 0 ? status : op_output_like(context, 3, 0);
}

static void macs_qkv(const struct op_context *context, struct product *ret) {
    const int64_t both = checked_mul(2, op_attr_int(context, "Nkv"));
    add_rows(context, op_attr_int(context, "K"), checked_add(op_attr_int(context, "Nq"), both),
             ret);
}

/* Distances of each row of A from each row of B: [M, K], [N, K] -> [M, N]. */
static int infer_distances(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 0, 2, 0), common_dim(context, 1, 2, 0)};
    return op_output_dims(context, 0, common_dtype(context, 0), 2, dims);
}

static void macs_distances(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "columns", common_last_dim(context, 0));
}

static int infer_inverse(struct op_context *context) {
    int status = common_check_rank(context, 0, 2);
    return status < 0 ? status : common_infer_same(context);
}

/* m^3 MACs: m^3 / 3 for the elimination, 2 m^3 / 3 to solve for m unit vectors. */
static void macs_inverse(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "rows", common_last_dim(context, 0));
}

/* Queries [B, S, heads * d], or [tokens, heads * d] without padding; input 6 then has the shape
 * [B, S]. The gates, which weight a position bias, are the queries times a weight [d, D]. */
static int infer_gated_bias(struct op_context *context) {
    const bool packed = op_has_input(context, 6);
    const int64_t batch = packed ? common_dim(context, 6, 2, 0) : common_dim(context, 0, 3, 0);
    const int64_t steps = packed ? common_dim(context, 6, 2, 1) : common_dim(context, 0, 3, 1);
    const int64_t dims[] = {batch, op_attr_int(context, "num_heads"), steps, steps};
    return op_output_dims(context, 0, op_dtype(context, 0), 4, dims);
}

static void macs_gated_bias(const struct op_context *context, struct product *ret) {
    product_add(ret, "elements of the queries", op_elements(context, 0));
    product_add(ret, "columns of the gates", common_dim(context, 3, 2, 1));
}

/* Words [.., letters]; a window [filters, 1, k, columns] moves over the letters' vectors. */
static int infer_word_embedding(struct op_context *context) {
    return contrib_output_last(context, 0, op_dtype(context, 1), common_dim(context, 1, 4, 0));
}

static void macs_word_embedding(const struct op_context *context, struct product *ret) {
    const int64_t room = checked_sub(common_last_dim(context, 0), common_dim(context, 1, 4, 2));
    const int64_t columns =
        checked_mul(common_dim(context, 1, 4, 1), common_dim(context, 1, 4, 3));
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "windows in a word",
                is_known(room) && room < 0 ? 0 : checked_add(room, 1));
    product_add(ret, "kernel", checked_mul(common_dim(context, 1, 4, 2), columns));
}

static int infer_conv(struct op_context *context) {
    return convolution_infer(context, op_dtype(context, 0));
}

static int infer_nhwc_conv(struct op_context *context) {
    return contrib_infer_channels_last(context, 0, infer_conv);
}

static int infer_quantized(struct op_context *context) {
    return convolution_infer(context, op_dtype(context, 7));
}

static int infer_qlinear_conv(struct op_context *context) {
    if (op_attr_int(context, "channels_last") == 0) return infer_quantized(context);
    return contrib_infer_channels_last(context, 0, infer_quantized);
}

/* Returns the FLOPs of the activation; the addend counts none, as in Gemm. */
static int64_t activation_flops(const struct op_context *context) {
    return op_has_attr(context, "activation") ? op_output_elements(context, 0) : 0;
}

/* Returns the rows of each expert's weight [experts, rows, …]; 0 if it is omitted. */
static int64_t expert_rows(const struct op_context *context, size_t i) {
    if (!op_has_input(context, i)) return 0;
    return op_rank(context, i) == 3 ? op_dim(context, i, 1) : DIM_UNKNOWN;
}

/* Each token is routed to k experts. Weights are fc1 and fc3 [E, f, hidden] and fc2
 * [E, hidden, inner]; f is 2 * inner if fc1 computes gates and values at once, else inner. QMoE
 * packs the numbers of a weight into bytes. */
static void macs_experts(const struct op_context *context, struct product *ret) {
    const bool is_packed = text_equal(context->op->type, "QMoE");
    int64_t inner = common_dim(context, is_packed ? 5 : 4, 3, 2);
    if (is_packed) {
        const int64_t own = op_attr_int(context, "fc2_expert_weight_bits");
        const int64_t bits = own > 0 ? own : op_attr_int(context, "expert_weight_bits");
        inner = bits < 1 ? DIM_UNKNOWN : checked_div_floor(checked_mul(inner, 8), bits);
    }
    const int64_t rows =
        checked_add(expert_rows(context, 2), expert_rows(context, is_packed ? 8 : 6));
    product_add(ret, "tokens", contrib_rows(context));
    product_add(ret, "experts of a token", op_attr_int(context, "k"));
    product_add(ret, "hidden", common_last_dim(context, 0));
    product_add(ret, "rows of all weights", checked_add(rows, inner));
}

static int infer_experts(struct op_context *context) {
    const int64_t k = op_attr_int(context, "k");
    if (k >= 1) return common_infer_same(context);
    return op_fail(context, DIAG_ATTRIBUTE, "k must be >= 1, got %lld", (long long)k);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, weight_, bias_, count, are, letters, class, ...)               \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, __VA_ARGS__), .infer = infer_fn, .weight = weight_, .bias = bias_,\
        .cost = {count, are}, .param_roles = letters,                                          \
        .module = class, .backward.saved_for_backward = "-"                                    \
    }
#define MATMUL          "out x inner axis"
#define ROWS            "rows x inner axis x columns of all weights"
#define CONV            "out x input channels of a group x kernel"
#define EXPERTS         "tokens x experts of a token x hidden x rows of their weights"
#define DENSE           "out x inner axis, as if dense"
#define CDIST           "out x columns"
#define INVERSE         "out x rows: an elimination and its solutions"
#define GATES           "elements of the queries x columns of the gates"
#define WINDOWS         "out x windows in a word x kernel"

static const struct op rows[] = {
    /*      type                 shape rule weight bias                  MACs                 formula  roles               module    */
    CONTRIB(FusedMatMul,                   infer_fused_matmul,     0, 0, macs_fused_matmul,   MATMUL,  "ww",               "Linear",
        MODELLED_PRODUCT(NO_FUSED), MULTIPLIES(2, scale_fused_matmul_sums, .does_more = scale_always)),
    CONTRIB(TransposeMatMul,               infer_fused_matmul,     0, 0, macs_fused_matmul,   MATMUL,  "ww",               "Linear",
        MODELLED_PRODUCT(NO_FUSED), MULTIPLIES(2, scale_fused_matmul_sums, .does_more = scale_always)),
    CONTRIB(FusedMatMulActivation,         infer_fused_matmul,     0, 0, macs_fused_matmul,   MATMUL,  "ww",               "Linear",
        DEEPSPEED(PLUS(activation_flops, "activations")), MODELLED_PRODUCT(NO_FUSED),
        MULTIPLIES(2, scale_fused_matmul_sums, .does_more = scale_always)),
    CONTRIB(FusedGemm,                     infer_fused_gemm,       1, 2, macs_gemm,           MATMUL,  "www",              "Linear",
        DEEPSPEED(PLUS(activation_flops, "activations")), EXACT(PLUS(exact_fused, "biases and activations")),
        MODELLED_PRODUCT(NO_FUSED), MULTIPLIES(2, scale_gemm_sums, .does_more = scale_always)),
    CONTRIB(QGemm,                         infer_qgemm,            3, 6, macs_gemm,           MATMUL,  "wiiwiiWii",        "Linear",
        EXACT(BIASES), MODELLED_PRODUCT(NO_QUANTIZED), INTEGERS(INTEGERS_ALL)),
    CONTRIB(MatMulNBits,                   infer_packed,           1, 5, macs_packed,         MATMUL,  "xWiiiW",           "Linear",
        EXACT(BIASES), MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(MatMulBnb4,                    infer_packed,           0, 0, macs_packed,         MATMUL,  "xWi",              "Linear",
        MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(MatMulIntegerToFloat,          infer_integer_to_float, 1, 6, matmul_macs,         MATMUL,  "wwiiiiW",          "Linear",
        EXACT(BIASES), MODELLED_PRODUCT(NO_QUANTIZED), INTEGERS(INTEGERS_PRODUCTS)),
    CONTRIB(DynamicQuantizeMatMul,         infer_matmul,           1, 4, matmul_macs,         MATMUL,  "wwiiW",            "Linear",
        EXACT(BIASES), MODELLED_PRODUCT(NO_QUANTIZED), INTEGERS(INTEGERS_PRODUCTS)),
    CONTRIB(MatMulInteger16,               infer_integer16,        1, 0, matmul_macs,         MATMUL,  "ww",               "Linear",
        MODELLED_PRODUCT(NO_QUANTIZED)),
    CONTRIB(GemmFastGelu,                  infer_gelu_product,     1, 2, matmul_macs,         MATMUL,  "wwW",              NULL,
        DEEPSPEED(.per_output = 1), EXACT(.per_output = 8, BIASES), MODELLED_PRODUCT(NO_FUSED)),
    CONTRIB(GemmFloat8,                    infer_gemm_float8,      0, 0, macs_matrices,       MATMUL,  "wwWiii",           "Linear",
        MODELLED_PRODUCT(NO_FUSED)),
    CONTRIB(MatMulBlockQuantizedFp8Weight, infer_float_weight,    0, 0, macs_float_weight,  ROWS,    "xWWiW",            "Linear",
        MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(MatMulBlockQuantizedFp4Weight, infer_float_weight,    0, 0, macs_float_weight,  ROWS,    "xWWWiW",           "Linear",
        MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(MatMulFpQ4,                    infer_blob,             0, 0, macs_blob,           ROWS,    "xWi",              "Linear",
        MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(MatMulNBitsMlp,                infer_mlp,              0, 0, macs_mlp,            ROWS,    "xxnWiWWiW",        NULL,
        DEEPSPEED(.per_output = 1), EXACT(.per_output = 6), MODELLED_PRODUCT(NO_PACKED)), /* SiLU and a product */
    CONTRIB(MatMulNBitsQkv,                infer_qkv,              0, 0, macs_qkv,            ROWS,    "xxnWiWWiWWiW",     NULL,
        MODELLED_PRODUCT(NO_PACKED)),
    CONTRIB(SparseToDenseMatMul,           infer_sparse_product,   0, 0, macs_matrices,       DENSE,   "ww",               "Linear",
        NO_PRIMITIVE(NO_PACKED)),
    CONTRIB(QOrderedMatMul,                infer_matmul,           2, 0, matmul_macs,         MATMUL,  "wiwiiWxi",         "Linear",
        MODELLED_PRODUCT(NO_QUANTIZED), INTEGERS(INTEGERS_PRODUCTS)),
    CONTRIB(CDist,                         infer_distances,        0, 0, macs_distances,      CDIST,   "x",                NULL,
        AUTOCAST(FLOAT), NO_PRIMITIVE(NO_CONTRIB)),
    CONTRIB(Inverse,                       infer_inverse,          0, 0, macs_inverse,        INVERSE, "x",                NULL,
        AUTOCAST(FLOAT), UNKNOWN_TO_TORCH_TOOLS, NO_PRIMITIVE(NO_CONTRIB)),
    CONTRIB(GatedRelativePositionBias,     infer_gated_bias,       0, 0, macs_gated_bias,     GATES,   "xnxWWni",          NULL,
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(WordConvEmbedding,             infer_word_embedding,   0, 0, macs_word_embedding, WINDOWS, "iWWn",             NULL,
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(FusedConv,                     infer_conv,             1, 2, convolution_macs,    CONV,    "xWWx",             "Conv{n}d",
        DEEPSPEED(EXACT_FUSED), EXACT(EXACT_FUSED), NO_PRIMITIVE(NO_FUSED),
        MULTIPLIES(2, scale_conv_sums, .does_more = scale_always)),
    CONTRIB(NhwcFusedConv,                 infer_nhwc_conv,        1, 2, convolution_macs,    CONV,    "xWWx",             "Conv{n}d",
        DEEPSPEED(EXACT_FUSED), EXACT(EXACT_FUSED), NO_PRIMITIVE(NO_FUSED),
        MULTIPLIES(2, scale_nhwc_conv_sums, .does_more = scale_always)),
    CONTRIB(NhwcConv,                      infer_nhwc_conv,        1, 2, convolution_macs,    CONV,    "xWW",              "Conv{n}d",
        DEEPSPEED(BIASES), EXACT(BIASES), NO_PRIMITIVE(NO_CHANNELS_LAST), MULTIPLIES(2, scale_nhwc_conv_sums)),
    CONTRIB(QLinearConv,                   infer_qlinear_conv,     3, 8, convolution_macs,    CONV,    "xiiWiiiiW",        "Conv{n}d",
        DEEPSPEED(BIASES), EXACT(BIASES), PTFLOPS(.per_mac = 1, BIASES), PTFLOPS_ATEN(.per_mac = 1, BIASES),
        ONNX_TOOL(.per_mac = 1, BIASES), NO_PRIMITIVE(NO_QUANTIZED)),
    CONTRIB(MoE,                           infer_experts,          0, 0, macs_experts,        EXPERTS, "xxWWWWWW",         NULL,
        MODELLED_PRODUCT(NO_PACKED), EXPERTS_OF(2, 7)),
    CONTRIB(QMoE,                          infer_experts,          0, 0, macs_experts,        EXPERTS, "xxWiWWiWWiWiiixi", NULL,
        MODELLED_PRODUCT(NO_PACKED), EXPERTS_OF(2, 13)),
};
/* clang-format on */

OP_FAMILY(contrib_products, .declines = FACETS_RARE | FACET_BOUNDS);
