/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More products of ONNX Runtime's own domain (com.microsoft): of weights in blocks of few bits,
 * of several weights at once, with what stands around them; distances and inverses. MACs are
 * those of the plain product, whatever the weight is packed into.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/onnx/matmul.h"
#include "ops/product.h"
#include "ops/signatures.gen.h"

#include "support/banned.h"

static int64_t last_dim(const struct op_context *context, size_t i) {
    const int rank = op_rank(context, i);
    return rank < 1 ? DIM_UNKNOWN : op_dim(context, i, rank - 1);
}

/* Rows of operand 0: what is in front of its columns. */
static int64_t n_rows(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    return x->rank < 1 ? DIM_UNKNOWN : shape_product(x, 0, x->rank - 1);
}

/* Output i: the shape of operand 0, but n columns in place of k. */
static int output_columns(struct op_context *context, size_t i, int64_t k, int64_t n) {
    const struct shape *a = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 1);
    if (status < 0) return status;
    if ((is_known(k) && k < 0) || (is_known(n) && n < 0))
        return op_fail(context, DIAG_VALUE, "no weight has %lld rows and %lld columns",
                       (long long)k, (long long)n);
    if (!shape_has_rank(a))
        return op_output_dims(context, i, op_dtype(context, 0), RANK_UNKNOWN, NULL);
    const int64_t have = a->dims[a->rank - 1];
    if (is_known(have) && is_known(k) && have != k)
        return op_fail(context, DIAG_SHAPE,
                       "input 0 has %lld columns, the weight has %lld rows", (long long)have,
                       (long long)k);
    for (int axis = 0; axis < a->rank; axis++) dims[axis] = a->dims[axis];
    dims[a->rank - 1] = n;
    return op_output_dims(context, i, op_dtype(context, 0), a->rank, dims);
}

static void add_rows(const struct op_context *context, int64_t k, int64_t n,
                     struct product *ret) {
    product_add(ret, "rows", n_rows(context));
    product_add(ret, "inner axis", k);
    product_add(ret, "columns of the weights", n);
}

static int infer_gelu_product(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    return status < 0 ? status : matmul_infer(context, 0, 1, common_dtype(context, 0));
}

static void macs_matmul(const struct op_context *context, struct product *ret) {
    matmul_macs(context, 0, 1, ret);
}

/* Axis 0 or 1 of a matrix as the product sees it. */
static int64_t matrix_dim(const struct op_context *context, size_t i, int axis) {
    const bool turned = op_attr_int(context, i == 0 ? "transA" : "transB") != 0;
    return common_dim(context, i, 2, turned ? 1 - axis : axis);
}

static int output_matrices(struct op_context *context, enum dtype dtype) {
    const int64_t dims[] = {matrix_dim(context, 0, 0), matrix_dim(context, 1, 1)};
    const int64_t k_a = matrix_dim(context, 0, 1);
    const int64_t k_b = matrix_dim(context, 1, 0);
    if (is_known(k_a) && is_known(k_b) && k_a != k_b)
        return op_fail(context, DIAG_SHAPE, "the matrices have %lld columns and %lld rows",
                       (long long)k_a, (long long)k_b);
    return op_output_dims(context, 0, dtype, 2, dims);
}

static int infer_gemm_float8(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = common_dtype_attr(context, "dtype", &dtype);
    return status < 0 ? status : output_matrices(context, dtype);
}

/* A sparse matrix costs as if it were dense: what it leaves out is data. */
static int infer_sparse_product(struct op_context *context) {
    return output_matrices(context, op_dtype(context, 1));
}

static void macs_matrices(const struct op_context *context, struct product *ret) {
    const int64_t k = matrix_dim(context, 0, 1);
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", is_known(k) ? k : matrix_dim(context, 1, 0));
}

/* Weight [N, K], in a byte a number (float8) or two of them (float4). */
static int infer_float8_weight(struct op_context *context) {
    return output_columns(context, 0, common_dim(context, 1, 2, 1),
                          common_dim(context, 1, 2, 0));
}

static void macs_float8_weight(const struct op_context *context, struct product *ret) {
    add_rows(context, last_dim(context, 0), common_dim(context, 1, 2, 0), ret);
}

static int infer_float4_weight(struct op_context *context) {
    const int64_t k = checked_mul(2, common_dim(context, 1, 2, 1));
    return output_columns(context, 0, k, common_dim(context, 1, 2, 0));
}

/* A blob, whose dims [K, N] stand in operand 2. */
static int64_t blob_dim(const struct op_context *context, int64_t axis) {
    const struct constant *shape = common_contents(context, 2);
    const bool readable = shape && shape->n_elements == 2 && constant_has_ints(shape);
    return readable ? constant_int_at(shape, axis) : DIM_UNKNOWN;
}

static int infer_blob(struct op_context *context) {
    return output_columns(context, 0, blob_dim(context, 0), blob_dim(context, 1));
}

static void macs_blob(const struct op_context *context, struct product *ret) {
    add_rows(context, last_dim(context, 0), blob_dim(context, 1), ret);
}

/* Gate and value [K, N] each of one input, which may be added to another first. */
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

/* Where the matrices lie as cuBLASLt likes it; their dims are those of the plain product. */
static int infer_ordered(struct op_context *context) {
    return matmul_infer(context, 0, 2, op_dtype(context, 0));
}

static void macs_ordered(const struct op_context *context, struct product *ret) {
    matmul_macs(context, 0, 2, ret);
}

/* Each row of A against each row of B. */
static int infer_distances(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 0, 2, 0), common_dim(context, 1, 2, 0)};
    return op_output_dims(context, 0, common_dtype(context, 0), 2, dims);
}

static void macs_distances(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "columns", last_dim(context, 0));
}

static int infer_inverse(struct op_context *context) {
    int status = common_check_rank(context, 0, 2);
    return status < 0 ? status : common_infer_same(context);
}

/* m^3 / 3 to eliminate, and 2 m^3 / 3 to solve for the m unit vectors. */
static void macs_inverse(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "rows", last_dim(context, 0));
}

/*
 * Queries [B, S, heads d], or without padding [tokens, heads d] whose [B, S] is then that of
 * operand 6: their gates are d x D products, and weigh a bias of positions.
 */
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

/* Words of letters [.., letters]; a window [filters, 1, k, columns] over the letters' vectors.
 */
static int infer_word_embedding(struct op_context *context) {
    const struct shape *words = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 1);
    if (status < 0) return status;
    if (!shape_has_rank(words))
        return op_output_dims(context, 0, op_dtype(context, 1), RANK_UNKNOWN, NULL);
    for (int axis = 0; axis < words->rank; axis++) dims[axis] = words->dims[axis];
    dims[words->rank - 1] = common_dim(context, 1, 4, 0);
    return op_output_dims(context, 0, op_dtype(context, 1), words->rank, dims);
}

static void macs_word_embedding(const struct op_context *context, struct product *ret) {
    const int64_t room = checked_sub(last_dim(context, 0), common_dim(context, 1, 4, 2));
    const int64_t columns =
        checked_mul(common_dim(context, 1, 4, 1), common_dim(context, 1, 4, 3));
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "windows in a word",
                is_known(room) && room < 0 ? 0 : checked_add(room, 1));
    product_add(ret, "kernel", checked_mul(common_dim(context, 1, 4, 2), columns));
}

/* clang-format off */
#define CONTRIB(name, infer_fn, count, are, result, letters, class)                            \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1), .infer = infer_fn,                                        \
        .cost = {.macs = count, .macs_formula = are, .per_output = result},                    \
        .param_roles = letters, .module = class, .backward.saved_for_backward = "-"            \
    }
#define MATMUL "out x inner axis"
#define ROWS   "rows x inner axis x columns of all weights"

static const struct op rows[] = {
    /*      type                           shape rule            MACs                 are                                               result roles           module */
    CONTRIB(GemmFastGelu,                  infer_gelu_product,   macs_matmul,         MATMUL,                                               1, "wwW",          NULL),
    CONTRIB(GemmFloat8,                    infer_gemm_float8,    macs_matrices,       MATMUL,                                               0, "wwWiii",       "Linear"),
    CONTRIB(MatMulBlockQuantizedFp8Weight, infer_float8_weight,  macs_float8_weight,  ROWS,                                                 0, "xWWiW",        "Linear"),
    CONTRIB(MatMulBlockQuantizedFp4Weight, infer_float4_weight,  macs_float8_weight,  ROWS,                                                 0, "xWWWiW",       "Linear"),
    CONTRIB(MatMulFpQ4,                    infer_blob,           macs_blob,           ROWS,                                                 0, "xWi",          "Linear"),
    CONTRIB(MatMulNBitsMlp,                infer_mlp,            macs_mlp,            ROWS,                                                 1, "xxnWiWWiW",    NULL),
    CONTRIB(MatMulNBitsQkv,                infer_qkv,            macs_qkv,            ROWS,                                                 0, "xxnWiWWiWWiW", NULL),
    CONTRIB(SparseToDenseMatMul,           infer_sparse_product, macs_matrices,       "out x inner axis, as if dense",                      0, "ww",           "Linear"),
    CONTRIB(QOrderedMatMul,                infer_ordered,        macs_ordered,        MATMUL,                                               0, "wiwiiWxi",     "Linear"),
    CONTRIB(CDist,                         infer_distances,      macs_distances,      "out x columns",                                      0, "x",            NULL),
    CONTRIB(Inverse,                       infer_inverse,        macs_inverse,        "out x rows: an elimination and its solutions",       0, "x",            NULL),
    CONTRIB(GatedRelativePositionBias,     infer_gated_bias,     macs_gated_bias,     "elements of the queries x columns of the gates",     0, "xnxWWni",      NULL),
    CONTRIB(WordConvEmbedding,             infer_word_embedding, macs_word_embedding, "out x windows in a word x kernel",                   0, "iWWn",         NULL),
};
/* clang-format on */

const struct op_family family_vendor_linear = {"vendor_linear", rows,
                                               sizeof rows / sizeof *rows, NULL};
