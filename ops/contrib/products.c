/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products as ONNX Runtime's optimizers and quantizers write them (com.microsoft): with an
 * activation behind them, of transposed or packed operands, of experts. MACs are those of the
 * plain product: out * K; of a convolution out * prod(W.shape[1:]).
 */
#include "ops/channels_last.h"
#include "ops/common.h"
#include "ops/families.h"
#include "ops/onnx/convolution.h"
#include "ops/onnx/matmul.h"
#include "ops/product.h"
#include "ops/signatures.gen.h"
#include "support/arena.h"

#include "support/banned.h"

/* trans swaps the last two axes; transBatch puts the first axis behind the ones of the batch.
 */
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
    if (status == CM_OK) status = transposed(context, 0, "transA", "transBatchA", &a);
    if (status == CM_OK) status = transposed(context, 1, "transB", "transBatchB", &b);
    return status < 0 ? status : matmul_infer_shapes(context, &a, &b, common_dtype(context, 0));
}

/* The axis of A that is summed over: the last, the last but one where it is transposed. */
static void macs_fused_matmul(const struct op_context *context, struct product *ret) {
    const int rank = op_rank(context, 0);
    const bool turned = rank > 1 && op_attr_int(context, "transA") != 0;
    const bool first = turned && op_attr_int(context, "transBatchA") != 0;
    int64_t k = DIM_UNKNOWN;
    if (rank > 0) k = op_dim(context, 0, first ? 0 : rank - (turned ? 2 : 1));
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", k);
}

/* Matrices, A at operand 0, B at 1 or, quantized, at 3. */
static int64_t gemm_dim(const struct op_context *context, size_t i, const char *trans,
                        int axis) {
    if (op_rank(context, i) != 2) return DIM_UNKNOWN;
    return op_dim(context, i, op_attr_int(context, trans) != 0 ? 1 - axis : axis);
}

static int infer_gemm(struct op_context *context, size_t b, enum dtype dtype) {
    const int64_t dims[] = {gemm_dim(context, 0, "transA", 0),
                            gemm_dim(context, b, "transB", 1)};
    const int64_t k_a = gemm_dim(context, 0, "transA", 1);
    const int64_t k_b = gemm_dim(context, b, "transB", 0);
    if (is_known(k_a) && is_known(k_b) && k_a != k_b)
        return op_fail(context, DIAG_SHAPE, "the matrices have %lld columns and %lld rows",
                       (long long)k_a, (long long)k_b);
    return op_output_dims(context, 0, dtype, 2, dims);
}

static void macs_gemm(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", gemm_dim(context, 0, "transA", 1));
}

static int infer_fused_gemm(struct op_context *context) {
    return infer_gemm(context, 1, common_dtype(context, 0));
}

/* Without a scale of the output that is not quantized. */
static int infer_qgemm(struct op_context *context) {
    return infer_gemm(context, 3, op_dtype(context, op_has_input(context, 8) ? 8 : 1));
}

static int infer_integer_to_float(struct op_context *context) {
    return matmul_infer(context, 0, 1, op_dtype(context, 2));
}

static int infer_dynamic_matmul(struct op_context *context) {
    return matmul_infer(context, 0, 1, op_dtype(context, 0));
}

/* 16-bit integers add up to 32 bits, which have a sign whether or not the operands do. */
static int infer_integer16(struct op_context *context) {
    return matmul_infer(context, 0, 1, DTYPE_INT32);
}

static void macs_matmul(const struct op_context *context, struct product *ret) {
    matmul_macs(context, 0, 1, ret);
}

/* A weight [K, N] packed into blocks, whose sizes attributes tell. */
static int infer_packed(struct op_context *context) {
    const struct shape *a = op_shape(context, 0);
    const int64_t k = op_attr_int(context, "K");
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 1);
    if (status == CM_OK && (k < 1 || op_attr_int(context, "N") < 1))
        return op_fail(context, DIAG_ATTRIBUTE, "K is %lld and N %lld, 1 or more are wanted",
                       (long long)k, (long long)op_attr_int(context, "N"));
    if (status < 0 || !shape_has_rank(a))
        return status < 0 ? status : common_infer_unknown_rank(context);
    if (is_known(a->dims[a->rank - 1]) && a->dims[a->rank - 1] != k)
        return op_fail(context, DIAG_SHAPE, "input 0 has the shape %s, K is %lld",
                       op_shape_text(context, a), (long long)k);
    for (int axis = 0; axis < a->rank; axis++) dims[axis] = a->dims[axis];
    dims[a->rank - 1] = op_attr_int(context, "N");
    return op_output_dims(context, 0, op_dtype(context, 0), a->rank, dims);
}

static void macs_packed(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", op_attr_int(context, "K"));
}

static int infer_conv(struct op_context *context) {
    return convolution_infer(context, 0, 1, 2, op_dtype(context, 0));
}

static int infer_nhwc_conv(struct op_context *context) {
    return channels_last_infer(context, 0, infer_conv);
}

static void macs_conv(const struct op_context *context, struct product *ret) {
    convolution_macs(context, 1, ret);
}

static int infer_quantized(struct op_context *context) {
    return convolution_infer(context, 0, 3, 8, op_dtype(context, 7));
}

static int infer_qlinear_conv(struct op_context *context) {
    if (op_attr_int(context, "channels_last") == 0) return infer_quantized(context);
    return channels_last_infer(context, 0, infer_quantized);
}

static void macs_qlinear_conv(const struct op_context *context, struct product *ret) {
    convolution_macs(context, 3, ret);
}

/* One a bias, one an activation, one for what is added. */
static int64_t fused_flops(const struct op_context *context) {
    const int64_t each = op_has_input(context, 2) + op_has_input(context, 3) +
                         (op_has_attr(context, "activation") ? 1 : 0);
    return checked_mul(each, op_output_elements(context, 0));
}

static int64_t bias_flops(const struct op_context *context) {
    return op_has_input(context, 2) ? op_output_elements(context, 0) : 0;
}

static int64_t quantized_bias_flops(const struct op_context *context) {
    return op_has_input(context, 8) ? op_output_elements(context, 0) : 0;
}

/* The activation behind a product of matrices; its addend counts nothing, as that of Gemm. */
static int64_t activation_flops(const struct op_context *context) {
    return op_has_attr(context, "activation") ? op_output_elements(context, 0) : 0;
}

/* Tokens: what is in front of the columns. */
static int64_t n_tokens(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    return x->rank < 1 ? DIM_UNKNOWN : shape_product(x, 0, x->rank - 1);
}

static int64_t hidden_size(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    return rank < 1 ? DIM_UNKNOWN : op_dim(context, 0, rank - 1);
}

/* Rows of each expert's weight [experts, rows, …]; 0 where it is omitted. */
static int64_t expert_rows(const struct op_context *context, size_t i) {
    if (!op_has_input(context, i)) return 0;
    return op_rank(context, i) == 3 ? op_dim(context, i, 1) : DIM_UNKNOWN;
}

/*
 * Each token meets k experts. fc1 [E, f, hidden], fc3 the same, fc2 [E, hidden, inner]: where
 * fc1 makes gates and values at once f is twice inner, else they are equal. Packed weights keep
 * their second axis as it is, so inner is told by fc1 and the way it is fused.
 */
static void add_experts(const struct op_context *context, int64_t inner, int64_t rows,
                        struct product *ret) {
    product_add(ret, "tokens", n_tokens(context));
    product_add(ret, "experts of a token", op_attr_int(context, "k"));
    product_add(ret, "hidden", hidden_size(context));
    product_add(ret, "rows of all weights", checked_add(rows, inner));
}

static int infer_experts(struct op_context *context) {
    const int64_t k = op_attr_int(context, "k");
    if (k >= 1) return common_infer_same(context);
    return op_fail(context, DIAG_ATTRIBUTE, "k is %lld, 1 or more is wanted", (long long)k);
}

static void macs_moe(const struct op_context *context, struct product *ret) {
    const int64_t inner = op_rank(context, 4) == 3 ? op_dim(context, 4, 2) : DIM_UNKNOWN;
    add_experts(context, inner, checked_add(expert_rows(context, 2), expert_rows(context, 6)),
                ret);
}

/* Bits of an element of fc2, by its own attribute or that of all. */
static int64_t fc2_bits(const struct op_context *context) {
    const int64_t own = op_attr_int(context, "fc2_expert_weight_bits");
    return own > 0 ? own : op_attr_int(context, "expert_weight_bits");
}

static void macs_qmoe(const struct op_context *context, struct product *ret) {
    const int64_t bytes = op_rank(context, 5) == 3 ? op_dim(context, 5, 2) : DIM_UNKNOWN;
    const int64_t bits = fc2_bits(context);
    const int64_t inner =
        bits < 1 ? DIM_UNKNOWN : checked_div_floor(checked_mul(bytes, 8), bits);
    add_experts(context, inner, checked_add(expert_rows(context, 2), expert_rows(context, 8)),
                ret);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, count, are, letters, class, ...)                               \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1), .infer = infer_fn,                                        \
        .cost = {.macs = count, .macs_formula = are, __VA_ARGS__}, .param_roles = letters,     \
        .module = class, .backward.saved_for_backward = "-"                                    \
    }
#define MATMUL          "out x inner axis"
#define CONV            "out x input channels of a group x kernel"
#define EXPERTS         "tokens x experts of a token x hidden x rows of their weights"
#define EXTRA(what, is) .extra = what, .extra_description = is

static const struct op rows[] = {
    CONTRIB(FusedMatMul,           infer_fused_matmul,     macs_fused_matmul, MATMUL,  "ww",               "Linear",   .extra = NULL),
    CONTRIB(TransposeMatMul,       infer_fused_matmul,     macs_fused_matmul, MATMUL,  "ww",               "Linear",   .extra = NULL),
    CONTRIB(FusedMatMulActivation, infer_fused_matmul,     macs_fused_matmul, MATMUL,  "ww",               "Linear",   EXTRA(activation_flops, "activations")),
    CONTRIB(FusedGemm,             infer_fused_gemm,       macs_gemm,         MATMUL,  "www",              "Linear",   EXTRA(activation_flops, "activations")),
    CONTRIB(QGemm,                 infer_qgemm,            macs_gemm,         MATMUL,  "wiiwiiWii",        "Linear",   .extra = NULL),
    CONTRIB(MatMulNBits,           infer_packed,           macs_packed,       MATMUL,  "xWiiiW",           "Linear",   .extra = NULL),
    CONTRIB(MatMulBnb4,            infer_packed,           macs_packed,       MATMUL,  "xWi",              "Linear",   .extra = NULL),
    CONTRIB(MatMulIntegerToFloat,  infer_integer_to_float, macs_matmul,       MATMUL,  "wwiiiiW",          "Linear",   .extra = NULL),
    CONTRIB(DynamicQuantizeMatMul, infer_dynamic_matmul,   macs_matmul,       MATMUL,  "wwiiW",            "Linear",   .extra = NULL),
    CONTRIB(MatMulInteger16,       infer_integer16,        macs_matmul,       MATMUL,  "ww",               "Linear",   .extra = NULL),
    CONTRIB(FusedConv,             infer_conv,             macs_conv,         CONV,    "xWWx",             "Conv{n}d", EXTRA(fused_flops, "biases, sums and activations")),
    CONTRIB(NhwcFusedConv,         infer_nhwc_conv,        macs_conv,         CONV,    "xWWx",             "Conv{n}d", EXTRA(fused_flops, "biases, sums and activations")),
    CONTRIB(NhwcConv,              infer_nhwc_conv,        macs_conv,         CONV,    "xWW",              "Conv{n}d", EXTRA(bias_flops, "biases")),
    CONTRIB(QLinearConv,           infer_qlinear_conv,     macs_qlinear_conv, CONV,    "xiiWiiiiW",        "Conv{n}d", EXTRA(quantized_bias_flops, "biases")),
    CONTRIB(MoE,                   infer_experts,          macs_moe,          EXPERTS, "xxWWWWWW",         NULL,       .extra = NULL),
    CONTRIB(QMoE,                  infer_experts,          macs_qmoe,         EXPERTS, "xxWiWWiWWiWiiixi", NULL,       .extra = NULL),
};
/* clang-format on */

const struct op_family family_vendor_product = {"vendor_product", rows,
                                                sizeof rows / sizeof *rows, NULL};
