/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products.
 *     MACs = out * K, FLOPs = 2 * MACs; a Gemm's bias is not counted, as the default convention
 *     has it
 * K is the axis that is summed over: the last of A, or the first where Gemm has transA.
 * Counting from the output gives every broadcast of batch axes right, and 1-D operands too.
 * A determinant is an elimination, whose products are a third of those of M x M x M.
 */
#include "ops/onnx/matmul.h"

#include "ops/common.h"
#include "ops/families.h"
#include "ops/product.h"

#include "support/banned.h"

static bool differ(int64_t a, int64_t b) {
    return is_known(a) && is_known(b) && a != b;
}

/* The axis of b that is summed over: the last but one, or the only one. */
static int64_t summed_axis(const struct shape *b) {
    return b->dims[b->rank > 1 ? b->rank - 2 : 0];
}

static int refuse_scalar(const struct rule *rule, size_t i) {
    return rule_fail(rule, DIAG_SHAPE, "input %zu is a scalar, rank 1 or more is wanted", i);
}

/* Batch axes broadcast; the axes that a 1-D operand lends are left out again. */
static int infer_product(struct rule *rule, const struct shape *a, const struct shape *b,
                         enum dtype dtype) {
    int64_t dims[SHAPE_MAX_RANK];
    const struct shape batch_a = {a->rank > 2 ? a->rank - 2 : 0, a->dims};
    const struct shape batch_b = {b->rank > 2 ? b->rank - 2 : 0, b->dims};
    struct shape batch;
    int status = rule_broadcast(rule, &batch_a, &batch_b, &batch);
    if (status < 0) return status;
    int rank = batch.rank;
    for (int axis = 0; axis < rank; axis++) dims[axis] = batch.dims[axis];
    if (a->rank > 1) dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1) dims[rank++] = b->dims[b->rank - 1];
    return rule_output_dims(rule, 0, dtype, rank, dims);
}

int matmul_infer(struct rule *rule, size_t a, size_t b, enum dtype dtype) {
    if (rule_rank(rule, a) == 0) return refuse_scalar(rule, a);
    if (rule_rank(rule, b) == 0) return refuse_scalar(rule, b);
    return matmul_infer_shapes(rule, rule_shape(rule, a), rule_shape(rule, b), dtype);
}

int matmul_infer_shapes(struct rule *rule, const struct shape *shape_a,
                        const struct shape *shape_b, enum dtype dtype) {
    if (shape_a->rank == 0) return refuse_scalar(rule, 0);
    if (shape_b->rank == 0) return refuse_scalar(rule, 1);
    if (!shape_has_rank(shape_a) || !shape_has_rank(shape_b))
        return rule_output_dims(rule, 0, dtype, RANK_UNKNOWN, NULL);
    int64_t k = shape_a->dims[shape_a->rank - 1];
    if (differ(k, summed_axis(shape_b)))
        return rule_fail(rule, DIAG_SHAPE, "the inner axes of %s and %s differ: %lld and %lld",
                         rule_shape_text(rule, shape_a), rule_shape_text(rule, shape_b),
                         (long long)k, (long long)summed_axis(shape_b));
    return infer_product(rule, shape_a, shape_b, dtype);
}

void matmul_macs(const struct rule *rule, size_t a, size_t b, struct product *ret) {
    const struct shape *shape_a = rule_shape(rule, a);
    const struct shape *shape_b = rule_shape(rule, b);
    int64_t k = shape_a->rank > 0 ? shape_a->dims[shape_a->rank - 1] : DIM_UNKNOWN;
    if (!is_known(k) && shape_b->rank > 0) k = summed_axis(shape_b);
    product_add(ret, "output elements", rule_output_elements(rule, 0));
    product_add(ret, "inner axis", k);
}

static int infer_matmul(struct rule *rule) {
    int status = common_check_same_type(rule, 0);
    return status < 0 ? status : matmul_infer(rule, 0, 1, common_dtype(rule, 0));
}

static void macs_matmul(const struct rule *rule, struct product *ret) {
    matmul_macs(rule, 0, 1, ret);
}

/* A product with a matrix [in, out] is a linear layer whose bias, if any, is another node. */
static int describe_matmul(const struct rule *rule, struct text *out) {
    if (rule_rank(rule, 1) != 2) return CM_OK;
    return describe_linear(rule_dim(rule, 1, 0), rule_dim(rule, 1, 1), false, out);
}

/* Axis 0 or 1 of operand i as Gemm sees it; unknown for what is no matrix. */
static int64_t gemm_dim(const struct rule *rule, size_t i, int axis) {
    if (rule_rank(rule, i) != 2) return DIM_UNKNOWN;
    bool transposed = rule_attr_int(rule, i == 0 ? "transA" : "transB") != 0;
    return rule_dim(rule, i, transposed ? 1 - axis : axis);
}

static int check_matrix(const struct rule *rule, size_t i) {
    int rank = rule_rank(rule, i);
    if (rank == RANK_UNKNOWN || rank == 2) return CM_OK;
    return rule_fail(rule, DIAG_SHAPE, "input %zu has the shape %s, a matrix is wanted", i,
                     rule_shape_text(rule, rule_shape(rule, i)));
}

/* C is broadcast to [M, N], never the other way round. */
static int check_addend(struct rule *rule, int64_t *dims) {
    const struct shape product = {2, dims};
    const struct shape *addend = rule_shape(rule, 2);
    struct shape both;
    int status = rule_broadcast(rule, &product, addend, &both);
    if (status < 0) return status;
    bool larger = shape_has_rank(&both) && (both.rank > 2 || differ(both.dims[0], dims[0]) ||
                                            differ(both.dims[1], dims[1]));
    if (!larger) return CM_OK;
    return rule_fail(rule, DIAG_SHAPE,
                     "input 2 has the shape %s, one that broadcasts to %s is wanted",
                     rule_shape_text(rule, addend), rule_shape_text(rule, &product));
}

static int infer_gemm(struct rule *rule) {
    int status = common_check_same_type(rule, 0);
    if (status == CM_OK) status = check_matrix(rule, 0);
    if (status == CM_OK) status = check_matrix(rule, 1);
    if (status < 0) return status;
    int64_t k_a = gemm_dim(rule, 0, 1);
    int64_t k_b = gemm_dim(rule, 1, 0);
    int64_t dims[2] = {gemm_dim(rule, 0, 0), gemm_dim(rule, 1, 1)};
    if (differ(k_a, k_b))
        return rule_fail(rule, DIAG_SHAPE, "A has %lld columns, B %lld rows", (long long)k_a,
                         (long long)k_b);
    if (rule_has_input(rule, 2)) status = check_addend(rule, dims);
    return status < 0 ? status : rule_output_dims(rule, 0, common_dtype(rule, 0), 2, dims);
}

static void macs_gemm(const struct rule *rule, struct product *ret) {
    int64_t k = gemm_dim(rule, 0, 1);
    if (!is_known(k)) k = gemm_dim(rule, 1, 0);
    product_add(ret, "output elements", rule_output_elements(rule, 0));
    product_add(ret, "inner axis", k);
}

static int describe_gemm(const struct rule *rule, struct text *out) {
    return describe_linear(gemm_dim(rule, 1, 0), gemm_dim(rule, 1, 1), rule_has_input(rule, 2),
                           out);
}

/* [*, M, M] to [*]. */
static int infer_det(struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    int status = common_check_rank(rule, 0, 2);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(rule);
    if (differ(x->dims[x->rank - 2], x->dims[x->rank - 1]))
        return rule_fail(rule, DIAG_SHAPE,
                         "input 0 has the shape %s, square matrices are wanted",
                         rule_shape_text(rule, x));
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), x->rank - 2, x->dims);
}

static int64_t matrix_side(const struct rule *rule) {
    const int rank = rule_rank(rule, 0);
    return rank < 2 ? DIM_UNKNOWN : rule_dim(rule, 0, rank - 1);
}

/* Gauss: column k is taken from the k^2 numbers that are left; in all (m - 1) m (2m - 1) / 6.
 */
static void macs_det(const struct rule *rule, struct product *ret) {
    const int64_t m = matrix_side(rule);
    const int64_t squares =
        checked_mul(checked_mul(checked_sub(m, 1), m), checked_sub(checked_mul(2, m), 1));
    product_add(ret, "matrices", rule_output_elements(rule, 0));
    product_add(ret, "products of an elimination", checked_div_floor(squares, 6));
}

/* The determinant times the inverse: m systems that share one elimination. */
static int64_t det_backward(const struct rule *rule, uint32_t wanted) {
    const int64_t m = matrix_side(rule);
    (void)wanted;
    return checked_mul(rule_output_elements(rule, 0), checked_mul(m, checked_mul(m, m)));
}

static const struct op_attr gemm_1[] = {FLOAT_ATTR("alpha", 1),   FLOAT_ATTR("beta", 1),
                                        INT_ATTR("broadcast", 0), INT_ATTR("transA", 0),
                                        INT_ATTR("transB", 0),    {0}};
static const struct op_attr gemm_7[] = {FLOAT_ATTR("alpha", 1),
                                        FLOAT_ATTR("beta", 1),
                                        INT_ATTR("transA", 0),
                                        INT_ATTR("transB", 0),
                                        {0}};

#define PRODUCT(name, from, least, most, attributes, rule, count, letters, print)              \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = least, .max_inputs = most,    \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule,                \
        .cost = {.macs = count, .macs_are = "out x inner axis"}, .roles = letters,             \
        .module = "Linear", .describe = print, .backward.gradients = "1,0,",                   \
        .backward.factors = 2                                                                  \
    }

/* clang-format off */
static const struct op rows[] = {
    /*       type   since in  attributes rule          MACs         roles  brackets */
    PRODUCT("MatMul", 1, 2, 2, NULL,     infer_matmul, macs_matmul, "ww",  describe_matmul),
    PRODUCT("Gemm",   1, 3, 3, gemm_1,   infer_gemm,   macs_gemm,   "www", describe_gemm),
    PRODUCT("Gemm",   7, 3, 3, gemm_7,   infer_gemm,   macs_gemm,   "www", describe_gemm),
    PRODUCT("Gemm",  11, 2, 3, gemm_7,   infer_gemm,   macs_gemm,   "www", describe_gemm),
    {.domain = "", .type = "Det", .since = 11, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
     .infer = infer_det, .cost = {.macs = macs_det, .macs_are = "matrices x (m - 1) m (2 m - 1) / 6"}, .roles = "x", .backward.gradients = "0y", .backward.macs = det_backward},
};
/* clang-format on */

const struct op_family family_matmul = {"matmul", rows, sizeof(rows) / sizeof(rows[0]), NULL};
