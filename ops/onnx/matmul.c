/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products.
 *     MACs = out * K, FLOPs = 2 * MACs
 * K is the size of the summed axis: the last of A, or the first if Gemm has transA. `out`
 * counts output elements, batch axes included. The formula also holds for 1-D operands. The
 * default convention does not count the bias of a Gemm. Det is a Gaussian elimination with
 * about M^3 / 3 MACs. */
#include "ops/onnx/shared.h"

#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

/* Returns the summed dim of b: the last but one, or the only one. */
static int64_t summed_axis(const struct shape *b) {
    return b->dims[b->rank > 1 ? b->rank - 2 : 0];
}

int matmul_infer(struct op_context *context, enum dtype dtype) {
    const size_t b = context->op->weight;
    if (op_rank(context, b) == 0)
        return op_fail(context, DIAG_SHAPE, "input %zu must have rank >= 1, got a scalar", b);
    return matmul_infer_shapes(context, op_shape(context, 0), op_shape(context, b), dtype);
}

/* [2,1,M,K] x [3,K,N] -> [2,3,M,N]. A 1-D `a` has no M, a 1-D `b` no N. */
int matmul_infer_shapes(struct op_context *context, const struct shape *a,
                        const struct shape *b, enum dtype dtype) {
    int64_t dims[SHAPE_MAX_RANK];
    struct shape batch;
    if (a->rank == 0 || b->rank == 0)
        return op_fail(context, DIAG_SHAPE, "input %d must have rank >= 1, got a scalar",
                       a->rank == 0 ? 0 : 1);
    if (!shape_has_rank(a) || !shape_has_rank(b))
        return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    const int64_t k = a->dims[a->rank - 1];
    if (common_differ(k, summed_axis(b)))
        return op_fail(context, DIAG_SHAPE, "the inner axes of %s and %s differ: %lld and %lld",
                       op_shape_text(context, a), op_shape_text(context, b), (long long)k,
                       (long long)summed_axis(b));
    const struct shape batch_a = {a->rank > 2 ? a->rank - 2 : 0, a->dims};
    const struct shape batch_b = {b->rank > 2 ? b->rank - 2 : 0, b->dims};
    int status = op_broadcast(context, &batch_a, &batch_b, &batch);
    if (status < 0) return status;
    int rank = batch.rank;
    for (int axis = 0; axis < rank; axis++) dims[axis] = batch.dims[axis];
    if (a->rank > 1) dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1) dims[rank++] = b->dims[b->rank - 1];
    return op_output_dims(context, 0, dtype, rank, dims);
}

void matmul_macs(const struct op_context *context, struct product *ret) {
    const struct shape *shape_a = op_shape(context, 0);
    const struct shape *shape_b = op_shape(context, context->op->weight);
    int64_t k = shape_a->rank > 0 ? shape_a->dims[shape_a->rank - 1] : DIM_UNKNOWN;
    if (!is_known(k) && shape_b->rank > 0) k = summed_axis(shape_b);
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", k);
}

static int infer_matmul(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    return status < 0 ? status : matmul_infer(context, common_dtype(context, 0));
}

/* A product with a constant matrix [in, out] is a linear layer; its bias is a separate Add. */
static int describe_matmul(const struct op_context *context, struct text *out) {
    if (op_rank(context, 1) != 2) return CM_OK;
    return describe_linear(op_dim(context, 1, 0), op_dim(context, 1, 1), false, out);
}

/* Returns dim `axis` of operand i, transposed; DIM_UNKNOWN unless it is a matrix. */
static int64_t gemm_dim(const struct op_context *context, size_t i, int axis) {
    if (op_rank(context, i) != 2) return DIM_UNKNOWN;
    bool transposed = op_attr_int(context, i == 0 ? "transA" : "transB") != 0;
    return op_dim(context, i, transposed ? 1 - axis : axis);
}

static int infer_gemm(struct op_context *context) {
    const struct shape *addend = op_shape(context, 2);
    struct shape both;
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    for (size_t i = 0; i < 2; i++)
        if (op_rank(context, i) != RANK_UNKNOWN && op_rank(context, i) != 2)
            return op_fail(context, DIAG_SHAPE, "input %zu must be a matrix, got %s", i,
                           op_shape_text(context, op_shape(context, i)));
    const int64_t k_a = gemm_dim(context, 0, 1);
    const int64_t k_b = gemm_dim(context, 1, 0);
    if (common_differ(k_a, k_b))
        return op_fail(context, DIAG_SHAPE, "A has %lld columns, B %lld rows", (long long)k_a,
                       (long long)k_b);
    int64_t dims[2] = {gemm_dim(context, 0, 0), gemm_dim(context, 1, 1)};
    const struct shape product = {2, dims};
    status = op_broadcast(context, &product, addend, &both);
    if (status < 0) return status;
    if (shape_has_rank(&both) && (both.rank > 2 || common_differ(both.dims[0], dims[0]) ||
                                  common_differ(both.dims[1], dims[1])))
        return op_fail(context, DIAG_SHAPE, "input 2 must broadcast to %s, got %s",
                       op_shape_text(context, &product), op_shape_text(context, addend));
    return op_output_dims(context, 0, common_dtype(context, 0), 2, dims);
}

static void macs_gemm(const struct op_context *context, struct product *ret) {
    int64_t k = gemm_dim(context, 0, 1);
    if (!is_known(k)) k = gemm_dim(context, 1, 0);
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "inner axis", k);
}

static int describe_gemm(const struct op_context *context, struct text *out) {
    return describe_linear(gemm_dim(context, 1, 0), gemm_dim(context, 1, 1),
                           op_has_input(context, 2), out);
}

/* Infers [..., M, M] -> [...]. */
static int infer_det(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    int status = common_check_rank(context, 0, 2);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    if (common_differ(x->dims[x->rank - 2], x->dims[x->rank - 1]))
        return op_fail(context, DIAG_SHAPE, "input 0 must hold square matrices, got %s",
                       op_shape_text(context, x));
    return common_output(context, x->rank - 2, x->dims);
}

/* Gaussian elimination: k^2 MACs for k = m - 1, ..., 1; in total (m - 1) m (2m - 1) / 6. */
static void macs_det(const struct op_context *context, struct product *ret) {
    const int64_t m = common_last_dim(context, 0);
    const int64_t squares =
        checked_mul(checked_mul(checked_sub(m, 1), m), checked_sub(checked_mul(2, m), 1));
    product_add(ret, "matrices", op_output_elements(context, 0));
    product_add(ret, "products of an elimination", checked_div_floor(squares, 6));
}

/* Returns m^3 MACs per matrix: the gradient is the determinant times the inverse, that is m
 * linear systems that share one elimination. */
static int64_t det_backward(const struct op_context *context) {
    const int64_t m = common_last_dim(context, 0);
    return checked_mul(op_output_elements(context, 0), checked_mul(m, checked_mul(m, m)));
}

/* clang-format off */
#define PRODUCT(name, from, infer_fn, count, bias_, letters, print, ...)                       \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS("d"), __VA_ARGS__), .infer = infer_fn, .weight = 1, \
        .bias = bias_, .cost = {count, "out x inner axis"}, .param_roles = letters,            \
        .module = "Linear", .describe = print, .backward.saved_for_backward = "1,0,",          \
        .backward.factors = 2                                                                  \
    }

static const struct op rows[] = {
    PRODUCT(MatMul, 1,              infer_matmul, matmul_macs, 0, "ww",  describe_matmul,
        THOP(PLUS(thop_matmul, "MACs of a product with a weight")), LOWER(lower_matmul, CM_GEMM, 0, IMAGES_NONE, NULL),
        MULTIPLIES(2, scale_matmul_sums)),
    SINCE3(PRODUCT, Gemm, 1, 7, 11, infer_gemm,   macs_gemm,   2, "www", describe_gemm,
        EXACT(BIASES), PTFLOPS(.per_mac = 1, BIASES), PTFLOPS_ATEN(.per_mac = 1, BIASES), ONNX_TOOL(.per_mac = 1, BIASES),
        LOWER(lower_gemm, CM_GEMM, 0, IMAGES_NONE, NULL), MULTIPLIES(2, scale_gemm_sums)),
    {SIGNATURE(ONNX, Det, 11, AUTOCAST(FLOAT), EXACT(PLUS(exact_determinant, "quotients and the diagonal")),
        UNKNOWN_TO_TORCH_TOOLS, NO_PRIMITIVE("no primitive takes determinants"), BOUNDS("d")),
     .infer = infer_det, .cost = {macs_det, "matrices x (m - 1) m (2 m - 1) / 6"},
     .param_roles = "x", .backward.saved_for_backward = "0y", .backward.macs = det_backward},
};
/* clang-format on */

OP_FAMILY(matmul, .declines = FACETS_RARE);
