/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by cuBLASLt. cuBLASLt is column-major: a row-major y = a b is computed as the
 * column-major y' = b' a' (' is the transpose), so its first operand is b. 8-bit types require
 * both operands to be contiguous along k. They are treated as if they had this layout,
 * because a runtime transposes weights once, when it loads them. */
#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/cublaslt_tiles.gen.h"
#include "backends/cuda/gemm.h"
#include "backends/cuda/provider.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

#define MAX_RESULTS   16
#define MAX_WORKSPACE ((int64_t)32 << 20) /* bytes; recommended by NVIDIA for sm_90 */
#define MAX_ALIGNMENT 256                 /* bytes; alignment of each operand */

/* A supported combination of data types: `a` of both operands, `y` of the result. */
struct type_combination {
    int32_t a, y;
    cublasComputeType_t compute;
    cudaDataType_t scale;
    bool along_k;   /* both operands must be contiguous along k */
    bool adds_bias; /* the epilogue can add a bias of type `y` */
};

/* clang-format off */
static const struct type_combination type_combinations[] = {
    {CM_F64,    CM_F64,  CUBLAS_COMPUTE_64F, CUDA_R_64F, false, true},
    {CM_F32,    CM_F32,  CUBLAS_COMPUTE_32F, CUDA_R_32F, false, true},
    {CM_F16,    CM_F16,  CUBLAS_COMPUTE_32F, CUDA_R_32F, false, true},
    {CM_F16,    CM_F32,  CUBLAS_COMPUTE_32F, CUDA_R_32F, false, true},
    {CM_BF16,   CM_BF16, CUBLAS_COMPUTE_32F, CUDA_R_32F, false, true},
    {CM_BF16,   CM_F32,  CUBLAS_COMPUTE_32F, CUDA_R_32F, false, true},
    {CM_I8,     CM_I32,  CUBLAS_COMPUTE_32I, CUDA_R_32I, true, false},
    {CM_I8,     CM_I8,   CUBLAS_COMPUTE_32I, CUDA_R_32F, true, false},
    {CM_F8E4M3, CM_F32,  CUBLAS_COMPUTE_32F, CUDA_R_32F, true, false},
    {CM_F8E4M3, CM_F16,  CUBLAS_COMPUTE_32F, CUDA_R_32F, true, true},
    {CM_F8E4M3, CM_BF16, CUBLAS_COMPUTE_32F, CUDA_R_32F, true, true},
};
/* clang-format on */

/* Post-ops that an epilogue computes. The GELU epilogue is used for the tanh approximation
 * only, as in PyTorch (_addmm_activation). */
static const struct epilogue {
    int32_t function;
    cublasLtEpilogue_t alone, with_bias;
} epilogues[] = {
    {CM_FUNCTION_NONE, CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS},
    {CM_RELU, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS},
    {CM_GELU_TANH, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS},
};

static const cudaDataType_t data_types[CM_N_ELEMENTS] = {
    [CM_F64] = CUDA_R_64F,        [CM_F32] = CUDA_R_32F, [CM_F16] = CUDA_R_16F,
    [CM_BF16] = CUDA_R_16BF,      [CM_I8] = CUDA_R_8I,   [CM_I32] = CUDA_R_32I,
    [CM_F8E4M3] = CUDA_R_8F_E4M3,
};

struct cublaslt {
    const struct cm_device *device;
    struct gemm gemm;
    const struct type_combination *types;
    const struct epilogue *epilogue;
    int64_t sizes[GEMM_OPERANDS]; /* bytes per element */
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layouts[GEMM_OPERANDS];
    cublasLtMatmulHeuristicResult_t chosen;
    int64_t workspace_bytes;
    struct cuda_step add; /* adds the bias if the epilogue cannot; else own is NULL */
};

static void drop(void *own) {
    struct cublaslt *lt = own;
    const struct cuda_cublaslt *api = &lt->device->cublaslt;
    if (lt->add.drop != NULL) lt->add.drop(lt->add.own);
    for (int i = 0; i < GEMM_OPERANDS; i++)
        if (lt->layouts[i] != NULL) (void)api->cublasLtMatrixLayoutDestroy(lt->layouts[i]);
    if (lt->desc != NULL) (void)api->cublasLtMatmulDescDestroy(lt->desc);
    free(lt);
}

/* Returns the address of `value`, 0 or 1, as a number of the scale type. */
static const void *scale_of(cudaDataType_t type, int value) {
    static const double doubles[] = {0, 1};
    static const float floats[] = {0, 1};
    static const int32_t integers[] = {0, 1};
    if (type == CUDA_R_64F) return &doubles[value];
    return type == CUDA_R_32I ? (const void *)&integers[value] : (const void *)&floats[value];
}

static void *part(const struct cublaslt *lt, enum gemm_operand which, CUdeviceptr base,
                  int64_t call) {
    return provider_pointer(
        base + (CUdeviceptr)(gemm_offset(&lt->gemm, which, call) * lt->sizes[which]));
}

static cublasStatus_t launch_call(struct cublaslt *lt, const struct cuda_operands *operands,
                                  int64_t call, CUstream stream) {
    const bool adds = lt->gemm.addend == GEMM_MATRIX;
    const cublasLtMatrixLayout_t *layouts = lt->layouts;
    void *y = part(lt, GEMM_Y, operands->outputs[0], call);
    return lt->device->cublaslt.cublasLtMatmul(
        lt->device->cublaslt_handle, lt->desc, scale_of(lt->types->scale, 1),
        part(lt, GEMM_B, operands->inputs[1], call), layouts[GEMM_B],
        part(lt, GEMM_A, operands->inputs[0], call), layouts[GEMM_A],
        scale_of(lt->types->scale, adds ? 1 : 0),
        adds ? part(lt, GEMM_C, operands->inputs[2], call) : y, layouts[adds ? GEMM_C : GEMM_Y],
        y, layouts[GEMM_Y], &lt->chosen.algo, provider_pointer(operands->workspace),
        (size_t)lt->workspace_bytes, stream);
}

/* Returns true if the epilogue adds the bias. */
static bool has_epilogue(const struct cublaslt *lt) {
    return lt->gemm.addend == GEMM_BIAS && lt->types->adds_bias;
}

static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    struct cublaslt *lt = own;
    const struct cuda_cublaslt *api = &lt->device->cublaslt;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (has_epilogue(lt)) {
        const void *bias = provider_pointer(operands->inputs[2]);
        status = api->cublasLtMatmulDescSetAttribute(
            lt->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
    }
    for (int64_t i = 0; i < lt->gemm.n_calls && status == CUBLAS_STATUS_SUCCESS; i++)
        status = launch_call(lt, operands, i, stream);
    if (status != CUBLAS_STATUS_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "cuBLASLt cannot run the product: status %d", (int)status);
    if (lt->add.own == NULL) return CM_BACKEND_OK;
    const struct cuda_operands add = {.inputs = {operands->outputs[0], operands->inputs[2]},
                                      .outputs = {operands->outputs[0]},
                                      .workspace = operands->workspace};
    return lt->add.launch(lt->add.own, &add, stream, reason);
}

static const struct type_combination *
find_type_combination(const struct cm_primitive *primitive) {
    const int32_t a = primitive->inputs[0].element;
    if (primitive->inputs[1].element != a) return NULL;
    for (size_t i = 0; i < sizeof(type_combinations) / sizeof(type_combinations[0]); i++)
        if (type_combinations[i].a == a &&
            type_combinations[i].y == primitive->outputs[0].element)
            return &type_combinations[i];
    return NULL;
}

/* Returns NULL if no epilogue computes the post-ops. */
static const struct epilogue *find_epilogue(const struct cm_primitive *primitive,
                                            const struct type_combination *types) {
    const bool has_steps = primitive->n_steps > 0;
    const int32_t function = has_steps ? primitive->steps[0].function : CM_FUNCTION_NONE;
    if (primitive->n_steps > 1 || (has_steps && !types->adds_bias)) return NULL;
    for (size_t i = 0; i < sizeof(epilogues) / sizeof(epilogues[0]); i++)
        if (epilogues[i].function == function) return &epilogues[i];
    return NULL;
}

/* Replaces the layouts of 8-bit operands by layouts that are contiguous along k. */
static void lay_along_k(struct gemm *gemm) {
    gemm->matrices[GEMM_A].column_major = false;
    gemm->matrices[GEMM_B].column_major = true;
    gemm->matrices[GEMM_A].leading = gemm->matrices[GEMM_B].leading = gemm->k;
}

static cublasStatus_t set_desc(struct cublaslt *lt, cublasLtMatmulDescAttributes_t which,
                               int32_t value) {
    return lt->device->cublaslt.cublasLtMatmulDescSetAttribute(lt->desc, which, &value,
                                                               sizeof(value));
}

static cublasStatus_t make_desc(struct cublaslt *lt) {
    const bool tf32 =
        lt->types->a == CM_F32 && lt->device->options.precision == CM_PRECISION_TF32;
    const cublasLtEpilogue_t epilogue =
        has_epilogue(lt) ? lt->epilogue->with_bias : lt->epilogue->alone;
    cublasStatus_t status = lt->device->cublaslt.cublasLtMatmulDescCreate(
        &lt->desc, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : lt->types->compute, lt->types->scale);
    /* A row-major b has the layout of a column-major b': no transposition is needed. */
    if (status == CUBLAS_STATUS_SUCCESS)
        status = set_desc(lt, CUBLASLT_MATMUL_DESC_TRANSA,
                          lt->gemm.matrices[GEMM_B].column_major ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = set_desc(lt, CUBLASLT_MATMUL_DESC_TRANSB,
                          lt->gemm.matrices[GEMM_A].column_major ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (status == CUBLAS_STATUS_SUCCESS && epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        status = set_desc(lt, CUBLASLT_MATMUL_DESC_EPILOGUE, (int32_t)epilogue);
    return status;
}

/* Creates the column-major layout of each matrix; of a row-major one, of its transpose. */
static cublasStatus_t make_layouts(struct cublaslt *lt) {
    const struct cuda_cublaslt *api = &lt->device->cublaslt;
    const struct gemm *gemm = &lt->gemm;
    const int64_t rows[GEMM_OPERANDS] = {gemm->m, gemm->k, gemm->m, gemm->m};
    const int64_t columns[GEMM_OPERANDS] = {gemm->k, gemm->n, gemm->n, gemm->n};
    const int32_t batch = (int32_t)gemm->batch;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < GEMM_OPERANDS && status == CUBLAS_STATUS_SUCCESS; i++) {
        const struct gemm_matrix *matrix = &gemm->matrices[i];
        const int32_t element = i == GEMM_A || i == GEMM_B ? lt->types->a : lt->types->y;
        const uint64_t down = (uint64_t)(matrix->column_major ? rows[i] : columns[i]);
        const uint64_t right = (uint64_t)(matrix->column_major ? columns[i] : rows[i]);
        cublasLtMatrixLayout_t *layout = &lt->layouts[i];
        status = api->cublasLtMatrixLayoutCreate(layout, data_types[element], down, right,
                                                 matrix->leading);
        if (status == CUBLAS_STATUS_SUCCESS && batch > 1)
            status = api->cublasLtMatrixLayoutSetAttribute(
                *layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch));
        if (status == CUBLAS_STATUS_SUCCESS && batch > 1)
            status = api->cublasLtMatrixLayoutSetAttribute(
                *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &matrix->batch,
                sizeof(matrix->batch));
    }
    return status;
}

static cublasStatus_t prefer(const struct cublaslt *lt, cublasLtMatmulPreference_t preference) {
    /* cuBLASLt's A, B, C, D are b, a, c, y. */
    static const cublasLtMatmulPreferenceAttributes_t alignments[GEMM_OPERANDS] = {
        [GEMM_B] = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        [GEMM_A] = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        [GEMM_C] = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        [GEMM_Y] = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    };
    const struct cuda_cublaslt *api = &lt->device->cublaslt;
    const int64_t wished = lt->device->options.workspace_bytes;
    const uint64_t most = (uint64_t)(wished < MAX_WORKSPACE ? wished : MAX_WORKSPACE);
    cublasStatus_t status = api->cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most));
    for (int i = 0; i < GEMM_OPERANDS && status == CUBLAS_STATUS_SUCCESS; i++) {
        /* An operand starts at a multiple of MAX_ALIGNMENT, and each call adds an offset. */
        uint32_t alignment = MAX_ALIGNMENT;
        for (int32_t k = 0; k < lt->gemm.n_loops; k++)
            while (lt->gemm.matrices[i].loops[k] * lt->sizes[i] % alignment != 0)
                alignment /= 2;
        status = api->cublasLtMatmulPreferenceSetAttribute(preference, alignments[i],
                                                           &alignment, sizeof(alignment));
    }
    return status;
}

/* Sets lt->chosen to usable result number `candidate`, counted from 0. cuBLASLt orders results
 * by estimated time. */
static int search(struct cublaslt *lt, int32_t candidate, struct cm_reason *reason) {
    const struct cuda_cublaslt *api = &lt->device->cublaslt;
    cublasLtMatmulHeuristicResult_t results[MAX_RESULTS];
    cublasLtMatmulPreference_t preference = NULL;
    int n = 0;
    const cublasLtMatrixLayout_t *layouts = lt->layouts;
    const bool adds = lt->gemm.addend == GEMM_MATRIX;
    cublasStatus_t status = api->cublasLtMatmulPreferenceCreate(&preference);
    if (status == CUBLAS_STATUS_SUCCESS) status = prefer(lt, preference);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = api->cublasLtMatmulAlgoGetHeuristic(
            lt->device->cublaslt_handle, lt->desc, layouts[GEMM_B], layouts[GEMM_A],
            layouts[adds ? GEMM_C : GEMM_Y], layouts[GEMM_Y], preference, MAX_RESULTS, results,
            &n);
    if (preference != NULL) (void)api->cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no algorithm: status %d", (int)status);
    for (int i = 0; i < n; i++) {
        if (results[i].state != CUBLAS_STATUS_SUCCESS || candidate-- > 0) continue;
        lt->chosen = results[i];
        lt->workspace_bytes = (int64_t)results[i].workspaceSize;
        return CM_BACKEND_OK;
    }
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "no further candidate");
}

static uint32_t config(const struct cublaslt *lt, cublasLtMatmulAlgoConfigAttributes_t which) {
    uint32_t value = 0;
    size_t written = 0;
    if (lt->device->cublaslt.cublasLtMatmulAlgoConfigGetAttribute(
            &lt->chosen.algo, which, &value, sizeof(value), &written) != CUBLAS_STATUS_SUCCESS)
        return 0;
    return value;
}

/* Prints the tile as "128x64", or as its ID if the table lacks it. */
static void print_tile(const struct cublaslt *lt, char *ret, size_t size) {
    const uint32_t tile = config(lt, CUBLASLT_ALGO_CONFIG_TILE_ID);
    if (tile < sizeof(cublaslt_tiles) / sizeof(cublaslt_tiles[0]) &&
        cublaslt_tiles[tile][0] > 0)
        (void)snprintf(ret, size, "%ux%u", (unsigned)cublaslt_tiles[tile][0],
                       (unsigned)cublaslt_tiles[tile][1]);
    else
        (void)snprintf(ret, size, "%u", tile);
}

/* Prints the stages as "64x4": elements of k per stage x number of stages. */
static void print_stages(const struct cublaslt *lt, char *ret, size_t size) {
    static const uint8_t depths[] = {16, 32, 64, 128};
    const uint32_t stages = config(lt, CUBLASLT_ALGO_CONFIG_STAGES_ID);
    if (stages >= 1 && stages <= 24) /* cublasLtMatmulStages_t: 16x1, .. 16x6, 32x1, .. 128x6 */
        (void)snprintf(ret, size, "%ux%u", (unsigned)depths[(stages - 1) / 6],
                       (stages - 1) % 6 + 1);
    else if (stages >= 32 && stages <= 36) /* 8xAUTO, .. 128xAUTO */
        (void)snprintf(ret, size, "%uxauto", 8U << (stages - 32));
    else
        (void)snprintf(ret, size, "%u", stages);
}

static void facts(const void *own, struct cm_how *ret) {
    const struct cublaslt *lt = own;
    char tile[24]; /* two 32-bit numbers and "x" */
    char stages[24];
    uint64_t flags = 0;
    size_t written = 0;
    print_tile(lt, tile, sizeof(tile));
    print_stages(lt, stages, sizeof(stages));
    (void)snprintf(ret->algorithm, sizeof(ret->algorithm),
                   "algorithm %u, tile %s, stages %s, split-k %u, %.2f waves%s",
                   config(lt, CUBLASLT_ALGO_CONFIG_ID), tile, stages,
                   config(lt, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), (double)lt->chosen.wavesCount,
                   lt->add.own != NULL ? ", unfused addend" : "");
    if (lt->device->cublaslt.cublasLtMatmulAlgoCapGetAttribute(
            &lt->chosen.algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof(flags),
            &written) != CUBLAS_STATUS_SUCCESS)
        return;
    ret->tensor_cores = (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0
                            ? CM_TENSOR_CORES_YES
                            : CM_TENSOR_CORES_NO;
}

/* Makes a kernel that adds the bias to the result in place. */
static int make_add(struct cm_device *device, const struct cm_primitive *primitive,
                    struct cuda_step *ret, struct cm_reason *reason) {
    struct cm_primitive add = {
        .kind = CM_ELTWISE, .n_inputs = 2, .n_outputs = 1, .groups = 1, .n_steps = 1};
    add.inputs[0] = add.outputs[0] = primitive->outputs[0];
    add.inputs[1] = primitive->inputs[2];
    add.steps[0] = (struct cm_eltwise){.function = CM_ADD, .operand = 1};
    return nvrtc_provider.make(device, &add, 0, ret, reason);
}

static int build(struct cublaslt *lt, const struct cm_primitive *primitive, int32_t candidate,
                 struct cm_reason *reason) {
    if (!lt->device->has_cublaslt.available) {
        *reason = lt->device->has_cublaslt.reason;
        return CM_BACKEND_REFUSED;
    }
    lt->types = find_type_combination(primitive);
    if (lt->types == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "data types not supported by cuBLASLt");
    lt->epilogue = find_epilogue(primitive, lt->types);
    if (lt->epilogue == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no epilogue for these post-ops");
    const int read = gemm_read(primitive, &lt->gemm, reason);
    if (read != CM_BACKEND_OK) return read;
    if (lt->gemm.batch > INT32_MAX)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "the batch must be below 2^31");
    if (lt->types->along_k) lay_along_k(&lt->gemm);
    lt->sizes[GEMM_A] = lt->sizes[GEMM_B] = primitive_element_size(lt->types->a);
    lt->sizes[GEMM_Y] = lt->sizes[GEMM_C] = primitive_element_size(lt->types->y);
    cublasStatus_t status = make_desc(lt);
    if (status == CUBLAS_STATUS_SUCCESS) status = make_layouts(lt);
    if (status != CUBLAS_STATUS_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "cuBLASLt cannot describe the product: status %d", (int)status);
    return search(lt, candidate, reason);
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    struct cublaslt *lt = calloc(1, sizeof(*lt));
    if (lt == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    lt->device = device;
    int status = build(lt, primitive, candidate, reason);
    if (status == CM_BACKEND_OK && lt->gemm.addend == GEMM_BIAS && !has_epilogue(lt))
        status = make_add(device, primitive, &lt->add, reason);
    if (status != CM_BACKEND_OK) {
        drop(lt);
        return status;
    }
    ret->own = lt;
    ret->launch = launch;
    ret->facts = facts;
    ret->drop = drop;
    ret->workspace_bytes = lt->workspace_bytes > lt->add.workspace_bytes
                               ? lt->workspace_bytes
                               : lt->add.workspace_bytes;
    ret->state = CM_MEASURED;
    return CM_BACKEND_OK;
}

const struct cuda_provider cublaslt_provider = {
    .name = "cublaslt",
    .tensor_core_rule = "cublaslt flags",
    .device_only = "cuBLASLt chooses algorithms on a device only",
    .make = make,
};
