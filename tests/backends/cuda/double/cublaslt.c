/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double of cuBLASLt. It supports the data types, epilogues and layouts that NVIDIA's cuBLAS
 * documentation lists for cublasLtMatmul(): tables 1 and 3 of data types, and the requirements
 * below them.
 */
#include <cublasLt.h>
#include <string.h>

#include "double.h"

#define EXPORT            __attribute__((visibility("default")))
#define DEFAULT_ALIGNMENT 256

struct desc {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t transa, transb, epilogue;
    const void *bias;
};

struct layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t leading, stride;
    int32_t batch;
};

struct preference {
    uint64_t workspace;
    uint32_t alignments[4];
};

/* An algorithm and the problem that it was found for. */
struct algorithm {
    uint32_t id;
    uint32_t alignment; /* of all matrices */
    uint64_t workspace;
    uint64_t hash;
};
_Static_assert(sizeof(struct algorithm) <= sizeof(((cublasLtMatmulAlgo_t *)0)->data), "size");

/* clang-format off */
static const struct products {
    cublasComputeType_t compute;
    cudaDataType_t scale, operands, result;
    bool epilogues; /* other than the default one */
    uint64_t multiple;   /* of leading dims and of m and k; > 1 requires TN */
} supported[] = {
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, true, 1},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true, 1},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true, 1},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, true, 1},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, true, 1},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, true, 1},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, true, 1},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, false, 4},
    {CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, false, 4},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_32F, false, 16}, /* bias: bf16 only */
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16F, true, 16},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, true, 16},
};
/* clang-format on */

static bool is(const char *kind, const void *object, const char *call) {
    return double_is(kind, object, call);
}

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *ret) {
    int with = 0;
    if (double_fails("cublasLtCreate", &with)) return (cublasStatus_t)with;
    if (double_needs_context("cublasLtCreate") != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *ret = double_make("cublasLt handle", 1);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    double_drop("cublasLt handle", handle, "cublasLtDestroy");
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT size_t cublasLtGetVersion(void) {
    return 130001;
}

EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *ret,
                                               cublasComputeType_t compute,
                                               cudaDataType_t scale) {
    struct desc *desc = double_make("desc", sizeof(*desc));
    *desc = (struct desc){.compute = compute,
                          .scale = scale,
                          .transa = CUBLAS_OP_N,
                          .transb = CUBLAS_OP_N,
                          .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    *ret = (cublasLtMatmulDesc_t)desc;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    double_drop("desc", desc, "cublasLtMatmulDescDestroy");
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t take(void *ret, size_t wanted, const void *value, size_t size) {
    if (value == NULL || size != wanted) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(ret, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t object,
                                                     cublasLtMatmulDescAttributes_t which,
                                                     const void *value, size_t size) {
    struct desc *desc = (struct desc *)object;
    if (!is("desc", desc, "cublasLtMatmulDescSetAttribute")) return CUBLAS_STATUS_INVALID_VALUE;
    if (which == CUBLASLT_MATMUL_DESC_TRANSA)
        return take(&desc->transa, sizeof(desc->transa), value, size);
    if (which == CUBLASLT_MATMUL_DESC_TRANSB)
        return take(&desc->transb, sizeof(desc->transb), value, size);
    if (which == CUBLASLT_MATMUL_DESC_EPILOGUE)
        return take(&desc->epilogue, sizeof(desc->epilogue), value, size);
    if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
        return take(&desc->bias, sizeof(desc->bias), value, size);
    return CUBLAS_STATUS_INVALID_VALUE;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *ret, cudaDataType type,
                                                 uint64_t rows, uint64_t columns,
                                                 int64_t leading) {
    int with = 0;
    if (double_fails("cublasLtMatrixLayoutCreate", &with)) return (cublasStatus_t)with;
    if (rows == 0 || columns == 0 || leading < (int64_t)rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct layout *layout = double_make("layout", sizeof(*layout));
    *layout = (struct layout){type, rows, columns, leading, 0, 1};
    *ret = (cublasLtMatrixLayout_t)layout;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    double_drop("layout", layout, "cublasLtMatrixLayoutDestroy");
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t object,
                                                       cublasLtMatrixLayoutAttribute_t which,
                                                       const void *value, size_t size) {
    struct layout *layout = (struct layout *)object;
    if (!is("layout", layout, "cublasLtMatrixLayoutSetAttribute"))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
        return take(&layout->batch, sizeof(layout->batch), value, size);
    if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
        return take(&layout->stride, sizeof(layout->stride), value, size);
    return CUBLAS_STATUS_INVALID_VALUE;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *ret) {
    struct preference *preference = double_make("preference", sizeof(*preference));
    for (int i = 0; i < 4; i++) preference->alignments[i] = DEFAULT_ALIGNMENT;
    *ret = (cublasLtMatmulPreference_t)preference;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    double_drop("preference", preference, "cublasLtMatmulPreferenceDestroy");
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t object, cublasLtMatmulPreferenceAttributes_t which,
    const void *value, size_t size) {
    struct preference *preference = (struct preference *)object;
    if (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return take(&preference->workspace, sizeof(preference->workspace), value, size);
    if (which < CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES ||
        which > CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)
        return CUBLAS_STATUS_INVALID_VALUE;
    return take(&preference->alignments[which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                sizeof(uint32_t), value, size);
}

struct problem {
    const struct desc *desc;
    const struct layout *a, *b, *c, *d;
    uint64_t m, n, k;
};

static bool read_problem(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                         cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                         cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                         struct problem *ret) {
    static const char call[] = "cublasLtMatmul";
    if (!is("cublasLt handle", handle, call) || !is("desc", desc, call) ||
        !is("layout", a, call) || !is("layout", b, call) || !is("layout", c, call) ||
        !is("layout", d, call))
        return false;
    *ret = (struct problem){(const struct desc *)desc,
                            (const struct layout *)a,
                            (const struct layout *)b,
                            (const struct layout *)c,
                            (const struct layout *)d,
                            0,
                            0,
                            0};
    const bool ta = ret->desc->transa == CUBLAS_OP_T;
    const bool tb = ret->desc->transb == CUBLAS_OP_T;
    ret->m = ret->d->rows;
    ret->n = ret->d->columns;
    ret->k = ta ? ret->a->rows : ret->a->columns;
    return (ta ? ret->a->columns : ret->a->rows) == ret->m &&
           (tb ? ret->b->columns : ret->b->rows) == ret->k &&
           (tb ? ret->b->rows : ret->b->columns) == ret->n && ret->c->rows == ret->m &&
           ret->c->columns == ret->n && ret->a->batch == ret->d->batch &&
           ret->b->batch == ret->d->batch && ret->c->batch == ret->d->batch;
}

static bool is_aligned(const struct problem *problem, uint64_t multiple) {
    const struct layout *const all[] = {problem->a, problem->b, problem->c, problem->d};
    if (multiple == 1) return true;
    if (problem->desc->transa != CUBLAS_OP_T || problem->desc->transb != CUBLAS_OP_N)
        return false;
    for (int i = 0; i < 4; i++)
        if ((uint64_t)all[i]->leading % multiple != 0) return false;
    return problem->m % multiple == 0 && problem->k % multiple == 0;
}

static bool is_supported(const struct problem *problem) {
    for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++) {
        const struct products *row = &supported[i];
        if (row->compute != problem->desc->compute || row->scale != problem->desc->scale ||
            row->operands != problem->a->type || row->operands != problem->b->type ||
            row->result != problem->c->type || row->result != problem->d->type)
            continue;
        return (row->epilogues || problem->desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT) &&
               is_aligned(problem, row->multiple);
    }
    return false;
}

static uint64_t add_hash(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x100000001B3u;
}

static uint64_t hash_of(const struct problem *problem) {
    const struct layout *const all[] = {problem->a, problem->b, problem->c, problem->d};
    uint64_t hash = add_hash(problem->desc->compute, problem->desc->scale);
    hash = add_hash(hash, (uint64_t)problem->desc->transa);
    hash = add_hash(hash, (uint64_t)problem->desc->transb);
    hash = add_hash(hash, (uint64_t)problem->desc->epilogue);
    for (int i = 0; i < 4; i++) {
        hash = add_hash(add_hash(hash, all[i]->type), all[i]->rows);
        hash = add_hash(add_hash(hash, all[i]->columns), (uint64_t)all[i]->leading);
        hash = add_hash(add_hash(hash, (uint64_t)all[i]->batch), (uint64_t)all[i]->stride);
    }
    return hash;
}

/* Lists three algorithms. The second does not work; the first requires more workspace than the
 * third. */
EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t object, int n, cublasLtMatmulHeuristicResult_t *ret,
    int *ret_n) {
    static const uint64_t workspaces[] = {1 << 20, 0, 1 << 10};
    const struct preference *preference = (const struct preference *)object;
    struct problem problem;
    int with = 0;
    *ret_n = 0;
    if (double_fails("cublasLtMatmulAlgoGetHeuristic", &with)) return (cublasStatus_t)with;
    if (!is("preference", preference, "cublasLtMatmulAlgoGetHeuristic") ||
        !read_problem(handle, desc, a, b, c, d, &problem))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!is_supported(&problem)) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (uint32_t i = 0; i < 3 && *ret_n < n; i++) {
        struct algorithm algorithm = {i, preference->alignments[0], workspaces[i],
                                      hash_of(&problem)};
        for (int j = 1; j < 4; j++)
            if (preference->alignments[j] < algorithm.alignment)
                algorithm.alignment = preference->alignments[j];
        if (workspaces[i] > preference->workspace) continue;
        cublasLtMatmulHeuristicResult_t *result = &ret[(*ret_n)++];
        memset(result, 0, sizeof(*result));
        memcpy(result->algo.data, &algorithm, sizeof(algorithm));
        result->workspaceSize = (size_t)workspaces[i];
        result->state = i == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    }
    return *ret_n > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
                                                        cublasLtMatmulAlgoCapAttributes_t which,
                                                        void *ret, size_t size,
                                                        size_t *written) {
    const uint64_t flags = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA;
    (void)algorithm;
    if (which != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS || size != sizeof(flags))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(ret, &flags, sizeof(flags));
    *written = sizeof(flags);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t which, void *ret,
    size_t size, size_t *written) {
    struct algorithm algorithm;
    memcpy(&algorithm, algo->data, sizeof(algorithm));
    const uint32_t value = which == CUBLASLT_ALGO_CONFIG_ID        ? 60 + algorithm.id
                           : which == CUBLASLT_ALGO_CONFIG_TILE_ID ? CUBLASLT_MATMUL_TILE_128x64
                           : which == CUBLASLT_ALGO_CONFIG_STAGES_ID
                               ? CUBLASLT_MATMUL_STAGES_64x4
                               : 1;
    if (size != sizeof(value)) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(ret, &value, sizeof(value));
    *written = sizeof(value);
    return CUBLAS_STATUS_SUCCESS;
}

static size_t size_of(cudaDataType_t type) {
    switch ((int)type) {
    case CUDA_R_64F:
        return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    default:
        return 1;
    }
}

/* Returns the bytes from the first to the last element of all batches. */
static size_t bytes_of(const struct layout *layout) {
    const uint64_t last = (layout->columns - 1) * (uint64_t)layout->leading + layout->rows;
    return (size_t)(((uint64_t)(layout->batch - 1) * (uint64_t)layout->stride + last)) *
           size_of(layout->type);
}

static double scale_at(const void *at, cudaDataType_t type) {
    double wide = 0;
    float narrow = 0;
    int32_t integer = 0;
    if (type == CUDA_R_64F) memcpy(&wide, at, sizeof(wide));
    if (type == CUDA_R_32F) memcpy(&narrow, at, sizeof(narrow));
    if (type == CUDA_R_32I) memcpy(&integer, at, sizeof(integer));
    return wide + (double)narrow + integer;
}

/* Returns true if the batches of the result overlap: elements would be written twice. */
static bool overlaps(const struct layout *d) {
    const struct layout one = {d->type, d->rows, d->columns, d->leading, 0, 1};
    return d->batch > 1 && (size_t)d->stride * size_of(d->type) < bytes_of(&one);
}

static bool are_aligned(const void *const *pointers, uint32_t alignment) {
    for (int i = 0; i < 4; i++) {
        if ((uintptr_t)pointers[i] % alignment == 0) continue;
        double_misuse(
            "cublasLtMatmul: a matrix is not aligned to the %u bytes of its algorithm",
            alignment);
        return false;
    }
    return true;
}

/* The first algorithm is the slower one: it launches twice. */
EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                     const void *alpha, const void *a,
                                     cublasLtMatrixLayout_t la, const void *b,
                                     cublasLtMatrixLayout_t lb, const void *beta, const void *c,
                                     cublasLtMatrixLayout_t lc, void *d,
                                     cublasLtMatrixLayout_t ld,
                                     const cublasLtMatmulAlgo_t *algo, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream) {
    const void *const pointers[] = {a, b, c, d};
    struct double_launch launch = {.name = "nvjet_double", .grid = 8, .block = 128};
    struct problem problem;
    struct algorithm algorithm;
    int with = 0;
    if (double_fails("cublasLtMatmul", &with)) return (cublasStatus_t)with;
    if (alpha == NULL || beta == NULL || algo == NULL ||
        !read_problem(handle, desc, la, lb, lc, ld, &problem) || overlaps(problem.d))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&algorithm, algo->data, sizeof(algorithm));
    if (algorithm.hash != hash_of(&problem) || workspace_bytes < algorithm.workspace ||
        !are_aligned(pointers, algorithm.alignment))
        return CUBLAS_STATUS_INVALID_VALUE;
    launch.first = (uint64_t)(uintptr_t)a;
    launch.last = (uint64_t)(uintptr_t)b;
    launch.alpha = scale_at(alpha, problem.desc->scale);
    launch.beta = scale_at(beta, problem.desc->scale);
    double_add_access(&launch, a, bytes_of(problem.a), false);
    double_add_access(&launch, b, bytes_of(problem.b), false);
    if (launch.beta != 0) double_add_access(&launch, c, bytes_of(problem.c), false);
    launch.epilogue = (int)problem.desc->epilogue;
    if (((unsigned)problem.desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
        double_add_access(&launch, problem.desc->bias, problem.m * size_of(problem.d->type),
                          false);
    double_add_access(&launch, d, bytes_of(problem.d), true);
    if (algorithm.workspace > 0)
        double_add_access(&launch, workspace, algorithm.workspace, true);
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = algorithm.id / 2; i < 2 && result == CUDA_SUCCESS; i++)
        result = double_launch(stream, &launch);
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
