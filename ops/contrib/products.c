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
#include "support/arena.h"

#include "support/banned.h"

/* trans swaps the last two axes; transBatch puts the first axis behind the ones of the batch.
 */
static int transposed(struct rule *rule, size_t i, const char *trans, const char *batch,
                      struct shape *ret) {
    const struct shape *shape = rule_shape(rule, i);
    struct shape seen = *shape;
    *ret = *shape;
    if (shape->rank < 2) return CM_OK;
    if (shape_make(rule->arena, shape->rank, shape->dims, &seen) < 0)
        return diag_no_memory(rule->diag);
    const int last = shape->rank - 1;
    if (rule_attr_int(rule, batch) != 0) {
        for (int axis = 0; axis < last - 1; axis++) seen.dims[axis] = shape->dims[axis + 1];
        seen.dims[last - 1] = shape->dims[0];
    }
    if (rule_attr_int(rule, trans) != 0) {
        const int64_t swapped = seen.dims[last];
        seen.dims[last] = seen.dims[last - 1];
        seen.dims[last - 1] = swapped;
    }
    *ret = seen;
    return CM_OK;
}

static int infer_fused_matmul(struct rule *rule) {
    struct shape a, b;
    int status = common_check_same_type(rule, 0);
    if (status == CM_OK) status = transposed(rule, 0, "transA", "transBatchA", &a);
    if (status == CM_OK) status = transposed(rule, 1, "transB", "transBatchB", &b);
    return status < 0 ? status : matmul_infer_shapes(rule, &a, &b, common_dtype(rule, 0));
}

/* The axis of A that is summed over: the last, the last but one where it is transposed. */
static void macs_fused_matmul(const struct rule *rule, struct product *ret) {
    const int rank = rule_rank(rule, 0);
    const bool turned = rank > 1 && rule_attr_int(rule, "transA") != 0;
    const bool first = turned && rule_attr_int(rule, "transBatchA") != 0;
    int64_t k = DIM_UNKNOWN;
    if (rank > 0) k = rule_dim(rule, 0, first ? 0 : rank - (turned ? 2 : 1));
    product_add(ret, "output elements", rule_output_elements(rule, 0));
    product_add(ret, "inner axis", k);
}

/* Matrices, A at operand 0, B at 1 or, quantized, at 3. */
static int64_t gemm_dim(const struct rule *rule, size_t i, const char *trans, int axis) {
    if (rule_rank(rule, i) != 2) return DIM_UNKNOWN;
    return rule_dim(rule, i, rule_attr_int(rule, trans) != 0 ? 1 - axis : axis);
}

static int infer_gemm(struct rule *rule, size_t b, enum dtype dtype) {
    const int64_t dims[] = {gemm_dim(rule, 0, "transA", 0), gemm_dim(rule, b, "transB", 1)};
    const int64_t k_a = gemm_dim(rule, 0, "transA", 1);
    const int64_t k_b = gemm_dim(rule, b, "transB", 0);
    if (is_known(k_a) && is_known(k_b) && k_a != k_b)
        return rule_fail(rule, DIAG_SHAPE, "the matrices have %lld columns and %lld rows",
                         (long long)k_a, (long long)k_b);
    return rule_output_dims(rule, 0, dtype, 2, dims);
}

static void macs_gemm(const struct rule *rule, struct product *ret) {
    product_add(ret, "output elements", rule_output_elements(rule, 0));
    product_add(ret, "inner axis", gemm_dim(rule, 0, "transA", 1));
}

static int infer_fused_gemm(struct rule *rule) {
    return infer_gemm(rule, 1, common_dtype(rule, 0));
}

/* Without a scale of the output that is not quantized. */
static int infer_qgemm(struct rule *rule) {
    return infer_gemm(rule, 3, rule_dtype(rule, rule_has_input(rule, 8) ? 8 : 1));
}

static int infer_integer_to_float(struct rule *rule) {
    return matmul_infer(rule, 0, 1, rule_dtype(rule, 2));
}

static int infer_dynamic_matmul(struct rule *rule) {
    return matmul_infer(rule, 0, 1, rule_dtype(rule, 0));
}

/* 16-bit integers add up to 32 bits, which have a sign whether or not the operands do. */
static int infer_integer16(struct rule *rule) {
    return matmul_infer(rule, 0, 1, DTYPE_INT32);
}

static void macs_matmul(const struct rule *rule, struct product *ret) {
    matmul_macs(rule, 0, 1, ret);
}

/* A weight [K, N] packed into blocks, whose sizes attributes tell. */
static int infer_packed(struct rule *rule) {
    const struct shape *a = rule_shape(rule, 0);
    const int64_t k = rule_attr_int(rule, "K");
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(rule, 0, 1);
    if (status == CM_OK && (k < 1 || rule_attr_int(rule, "N") < 1))
        return rule_fail(rule, DIAG_ATTRIBUTE, "K is %lld and N %lld, 1 or more are wanted",
                         (long long)k, (long long)rule_attr_int(rule, "N"));
    if (status < 0 || !shape_has_rank(a))
        return status < 0 ? status : common_infer_unknown_rank(rule);
    if (is_known(a->dims[a->rank - 1]) && a->dims[a->rank - 1] != k)
        return rule_fail(rule, DIAG_SHAPE, "input 0 has the shape %s, K is %lld",
                         rule_shape_text(rule, a), (long long)k);
    for (int axis = 0; axis < a->rank; axis++) dims[axis] = a->dims[axis];
    dims[a->rank - 1] = rule_attr_int(rule, "N");
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), a->rank, dims);
}

static void macs_packed(const struct rule *rule, struct product *ret) {
    product_add(ret, "output elements", rule_output_elements(rule, 0));
    product_add(ret, "inner axis", rule_attr_int(rule, "K"));
}

static int infer_conv(struct rule *rule) {
    return convolution_infer(rule, 0, 1, 2, rule_dtype(rule, 0));
}

static int infer_nhwc_conv(struct rule *rule) {
    return channels_last_infer(rule, 0, infer_conv);
}

static void macs_conv(const struct rule *rule, struct product *ret) {
    convolution_macs(rule, 1, ret);
}

static int infer_quantized(struct rule *rule) {
    return convolution_infer(rule, 0, 3, 8, rule_dtype(rule, 7));
}

static int infer_qlinear_conv(struct rule *rule) {
    if (rule_attr_int(rule, "channels_last") == 0) return infer_quantized(rule);
    return channels_last_infer(rule, 0, infer_quantized);
}

static void macs_qlinear_conv(const struct rule *rule, struct product *ret) {
    convolution_macs(rule, 3, ret);
}

/* One a bias, one an activation, one for what is added. */
static int64_t fused_flops(const struct rule *rule) {
    const int64_t each = rule_has_input(rule, 2) + rule_has_input(rule, 3) +
                         (rule_has_attr(rule, "activation") ? 1 : 0);
    return checked_mul(each, rule_output_elements(rule, 0));
}

static int64_t bias_flops(const struct rule *rule) {
    return rule_has_input(rule, 2) ? rule_output_elements(rule, 0) : 0;
}

static int64_t quantized_bias_flops(const struct rule *rule) {
    return rule_has_input(rule, 8) ? rule_output_elements(rule, 0) : 0;
}

/* The activation behind a product of matrices; its addend counts nothing, as that of Gemm. */
static int64_t activation_flops(const struct rule *rule) {
    return rule_has_attr(rule, "activation") ? rule_output_elements(rule, 0) : 0;
}

/* Tokens: what is in front of the columns. */
static int64_t n_tokens(const struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    return x->rank < 1 ? DIM_UNKNOWN : shape_product(x, 0, x->rank - 1);
}

static int64_t hidden_size(const struct rule *rule) {
    const int rank = rule_rank(rule, 0);
    return rank < 1 ? DIM_UNKNOWN : rule_dim(rule, 0, rank - 1);
}

/* Rows of each expert's weight [experts, rows, …]; 0 where it is omitted. */
static int64_t expert_rows(const struct rule *rule, size_t i) {
    if (!rule_has_input(rule, i)) return 0;
    return rule_rank(rule, i) == 3 ? rule_dim(rule, i, 1) : DIM_UNKNOWN;
}

/*
 * Each token meets k experts. fc1 [E, f, hidden], fc3 the same, fc2 [E, hidden, inner]: where
 * fc1 makes gates and values at once f is twice inner, else they are equal. Packed weights keep
 * their second axis as it is, so inner is told by fc1 and the way it is fused.
 */
static void add_experts(const struct rule *rule, int64_t inner, int64_t rows,
                        struct product *ret) {
    product_add(ret, "tokens", n_tokens(rule));
    product_add(ret, "experts of a token", rule_attr_int(rule, "k"));
    product_add(ret, "hidden", hidden_size(rule));
    product_add(ret, "rows of all weights", checked_add(rows, inner));
}

static int infer_experts(struct rule *rule) {
    const int64_t k = rule_attr_int(rule, "k");
    if (k >= 1) return common_infer_same(rule);
    return rule_fail(rule, DIAG_ATTRIBUTE, "k is %lld, 1 or more is wanted", (long long)k);
}

static void macs_moe(const struct rule *rule, struct product *ret) {
    const int64_t inner = rule_rank(rule, 4) == 3 ? rule_dim(rule, 4, 2) : DIM_UNKNOWN;
    add_experts(rule, inner, checked_add(expert_rows(rule, 2), expert_rows(rule, 6)), ret);
}

/* Bits of an element of fc2, by its own attribute or that of all. */
static int64_t fc2_bits(const struct rule *rule) {
    const int64_t own = rule_attr_int(rule, "fc2_expert_weight_bits");
    return own > 0 ? own : rule_attr_int(rule, "expert_weight_bits");
}

static void macs_qmoe(const struct rule *rule, struct product *ret) {
    const int64_t bytes = rule_rank(rule, 5) == 3 ? rule_dim(rule, 5, 2) : DIM_UNKNOWN;
    const int64_t bits = fc2_bits(rule);
    const int64_t inner =
        bits < 1 ? DIM_UNKNOWN : checked_div_floor(checked_mul(bytes, 8), bits);
    add_experts(rule, inner, checked_add(expert_rows(rule, 2), expert_rows(rule, 8)), ret);
}

static const struct op_attr fused_mat_mul[] = {
    FLOAT_ATTR("alpha", 1),     INT_ATTR("transA", 0),      INT_ATTR("transB", 0),
    INT_ATTR("transBatchA", 0), INT_ATTR("transBatchB", 0), {0}};
static const struct op_attr transpose_mat_mul[] = {
    FLOAT_ATTR("alpha", 1), INT_ATTR("transA", 0), INT_ATTR("transB", 0), {0}};
static const struct op_attr fused_mat_mul_activation[] = {
    REQUIRED_ATTR("activation", ATTR_STRING),
    OPTIONAL_ATTR("activation_alpha", ATTR_FLOAT),
    OPTIONAL_ATTR("activation_axis", ATTR_INT),
    OPTIONAL_ATTR("activation_beta", ATTR_FLOAT),
    OPTIONAL_ATTR("activation_gamma", ATTR_FLOAT),
    FLOAT_ATTR("alpha", 1),
    INT_ATTR("transA", 0),
    INT_ATTR("transB", 0),
    INT_ATTR("transBatchA", 0),
    INT_ATTR("transBatchB", 0),
    {0}};
static const struct op_attr fused_gemm[] = {OPTIONAL_ATTR("activation", ATTR_STRING),
                                            OPTIONAL_ATTR("activation_alpha", ATTR_FLOAT),
                                            OPTIONAL_ATTR("activation_beta", ATTR_FLOAT),
                                            OPTIONAL_ATTR("activation_gamma", ATTR_FLOAT),
                                            FLOAT_ATTR("alpha", 1),
                                            FLOAT_ATTR("beta", 1),
                                            INT_ATTR("transA", 0),
                                            INT_ATTR("transB", 0),
                                            {0}};
static const struct op_attr q_gemm[] = {
    FLOAT_ATTR("alpha", 1), INT_ATTR("transA", 0), INT_ATTR("transB", 0), {0}};
static const struct op_attr mat_mul_n_bits[] = {REQUIRED_ATTR("K", ATTR_INT),
                                                REQUIRED_ATTR("N", ATTR_INT),
                                                INT_ATTR("accuracy_level", 0),
                                                INT_ATTR("bits", 4),
                                                REQUIRED_ATTR("block_size", ATTR_INT),
                                                INT_ATTR("weight_prepacked", 0),
                                                {0}};
static const struct op_attr mat_mul_bnb4[] = {REQUIRED_ATTR("K", ATTR_INT),
                                              REQUIRED_ATTR("N", ATTR_INT),
                                              REQUIRED_ATTR("block_size", ATTR_INT),
                                              REQUIRED_ATTR("quant_type", ATTR_INT),
                                              INT_ATTR("training_mode", 0),
                                              INT_ATTR("transB", 1),
                                              {0}};
static const struct op_attr fused_conv[] = {OPTIONAL_ATTR("activation", ATTR_STRING),
                                            OPTIONAL_ATTR("activation_params", ATTR_FLOATS),
                                            STRING_ATTR("auto_pad", "NOTSET"),
                                            OPTIONAL_ATTR("dilations", ATTR_INTS),
                                            INT_ATTR("group", 1),
                                            OPTIONAL_ATTR("kernel_shape", ATTR_INTS),
                                            OPTIONAL_ATTR("pads", ATTR_INTS),
                                            OPTIONAL_ATTR("strides", ATTR_INTS),
                                            {0}};
static const struct op_attr nhwc_conv[] = {STRING_ATTR("auto_pad", "NOTSET"),
                                           OPTIONAL_ATTR("dilations", ATTR_INTS),
                                           INT_ATTR("group", 1),
                                           OPTIONAL_ATTR("kernel_shape", ATTR_INTS),
                                           OPTIONAL_ATTR("pads", ATTR_INTS),
                                           OPTIONAL_ATTR("strides", ATTR_INTS),
                                           {0}};
static const struct op_attr q_linear_conv[] = {
    STRING_ATTR("auto_pad", "NOTSET"),        INT_ATTR("channels_last", 0),
    OPTIONAL_ATTR("dilations", ATTR_INTS),    INT_ATTR("group", 1),
    OPTIONAL_ATTR("kernel_shape", ATTR_INTS), OPTIONAL_ATTR("pads", ATTR_INTS),
    OPTIONAL_ATTR("strides", ATTR_INTS),      {0}};
static const struct op_attr mo_e[] = {FLOAT_ATTR("activation_alpha", 1),
                                      FLOAT_ATTR("activation_beta", 0),
                                      STRING_ATTR("activation_type", "relu"),
                                      INT_ATTR("k", 1),
                                      INT_ATTR("normalize_routing_weights", 0),
                                      INT_ATTR("swiglu_fusion", 0),
                                      OPTIONAL_ATTR("swiglu_limit", ATTR_FLOAT),
                                      INT_ATTR("use_sparse_mixer", 0),
                                      {0}};
static const struct op_attr q_mo_e[] = {INT_ATTR("accuracy_level", 0),
                                        FLOAT_ATTR("activation_alpha", 1),
                                        FLOAT_ATTR("activation_beta", 0),
                                        STRING_ATTR("activation_type", "relu"),
                                        OPTIONAL_ATTR("block_size", ATTR_INT),
                                        INT_ATTR("expert_weight_bits", 4),
                                        OPTIONAL_ATTR("fc1_expert_weight_bits", ATTR_INT),
                                        OPTIONAL_ATTR("fc2_expert_weight_bits", ATTR_INT),
                                        OPTIONAL_ATTR("fc3_expert_weight_bits", ATTR_INT),
                                        INT_ATTR("k", 1),
                                        INT_ATTR("normalize_routing_weights", 0),
                                        STRING_ATTR("quant_type", "int"),
                                        INT_ATTR("swiglu_fusion", 0),
                                        OPTIONAL_ATTR("swiglu_limit", ATTR_FLOAT),
                                        INT_ATTR("use_sparse_mixer", 0),
                                        INT_ATTR("weights_prepacked", -1),
                                        {0}};
#define VENDOR(name, least, most, attributes, rule, count, are, letters, class, ...)           \
    {                                                                                          \
        .domain = "com.microsoft", .type = name, .since = 1, .min_inputs = least,              \
        .max_inputs = most, .min_outputs = 1, .max_outputs = 1, .attrs = attributes,           \
        .infer = rule, .cost = {.macs = count, .macs_are = are, __VA_ARGS__},                  \
        .roles = letters, .module = class, .backward.gradients = "-"                           \
    }
#define MATMUL          "out x inner axis"
#define CONV            "out x input channels of a group x kernel"
#define EXPERTS         "tokens x experts of a token x hidden x rows of their weights"
#define EXTRA(what, is) .extra = what, .extra_is = is

/* clang-format off */
static const struct op rows[] = {
    /*      type                   in    attributes               rule                    MACs               roles       module */
    VENDOR("FusedMatMul",           2, 2, fused_mat_mul,            infer_fused_matmul,     macs_fused_matmul, MATMUL, "ww",       "Linear",   .extra = NULL),
    VENDOR("TransposeMatMul",       2, 2, transpose_mat_mul,        infer_fused_matmul,     macs_fused_matmul, MATMUL, "ww",       "Linear",   .extra = NULL),
    VENDOR("FusedMatMulActivation", 2, 2, fused_mat_mul_activation, infer_fused_matmul,     macs_fused_matmul, MATMUL, "ww",       "Linear",   EXTRA(activation_flops, "activations")),
    VENDOR("FusedGemm",             2, 3, fused_gemm,               infer_fused_gemm,       macs_gemm, MATMUL, "www",      "Linear",   EXTRA(activation_flops, "activations")),
    VENDOR("QGemm",                 6, 9, q_gemm,                   infer_qgemm,            macs_gemm, MATMUL, "wiiwiiWii","Linear",   .extra = NULL),
    VENDOR("MatMulNBits",           3, 6, mat_mul_n_bits,           infer_packed,           macs_packed, MATMUL, "xWiiiW",   "Linear",   .extra = NULL),
    VENDOR("MatMulBnb4",            3, 3, mat_mul_bnb4,             infer_packed,           macs_packed, MATMUL, "xWi",      "Linear",   .extra = NULL),
    VENDOR("MatMulIntegerToFloat",  4, 7, NULL,                     infer_integer_to_float, macs_matmul, MATMUL, "wwiiiiW",  "Linear",   .extra = NULL),
    VENDOR("DynamicQuantizeMatMul", 3, 5, NULL,                     infer_dynamic_matmul,   macs_matmul, MATMUL, "wwiiW",    "Linear",   .extra = NULL),
    VENDOR("MatMulInteger16",       2, 2, NULL,                     infer_integer16,        macs_matmul, MATMUL, "ww",       "Linear",   .extra = NULL),
    VENDOR("FusedConv",             2, 4, fused_conv,               infer_conv,             macs_conv, CONV, "xWWx",     "Conv{n}d", EXTRA(fused_flops, "biases, sums and activations")),
    VENDOR("NhwcFusedConv",         2, 4, fused_conv,               infer_nhwc_conv,        macs_conv, CONV, "xWWx",     "Conv{n}d", EXTRA(fused_flops, "biases, sums and activations")),
    VENDOR("NhwcConv",              2, 3, nhwc_conv,                infer_nhwc_conv,        macs_conv, CONV, "xWW",      "Conv{n}d", EXTRA(bias_flops, "biases")),
    VENDOR("QLinearConv",           8, 9, q_linear_conv,            infer_qlinear_conv,     macs_qlinear_conv, CONV, "xiiWiiiiW","Conv{n}d", EXTRA(quantized_bias_flops, "biases")),
    VENDOR("MoE",                   5, 8, mo_e,                     infer_experts,          macs_moe, EXPERTS, "xxWWWWWW", NULL,       .extra = NULL),
    VENDOR("QMoE",                  6,21, q_mo_e,                   infer_experts,          macs_qmoe, EXPERTS, "xxWiWWiWWiWiiixi", NULL, .extra = NULL),
};
/* clang-format on */

const struct op_family family_vendor_product = {"vendor_product", rows,
                                                sizeof rows / sizeof *rows, NULL};
