/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubles of cuBLASLt, NVRTC, NVML and cuDNN, one a library by what is defined. Each asks the
 * driver's double whether it shall fail.
 */
#include <stdlib.h>
#include <string.h>

#include "double.h"

#define EXPORT __attribute__((visibility("default")))

#ifdef DOUBLE_CUBLASLT
#include <cublasLt.h>

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *ret) {
    int with = 0;
    if (double_fails("cublasLtCreate", &with)) return (cublasStatus_t)with;
    *ret = (cublasLtHandle_t)&double_state;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    (void)handle;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT size_t cublasLtGetVersion(void) {
    return 130001;
}

EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *ret,
                                               cublasComputeType_t compute,
                                               cudaDataType_t scale) {
    (void)compute, (void)scale;
    *ret = calloc(1, sizeof(**ret));
    double_state.n_objects++;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t drop(void *object) {
    double_state.n_objects--;
    free(object);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    return drop(desc);
}

EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                                     cublasLtMatmulDescAttributes_t which,
                                                     const void *value, size_t size) {
    (void)desc, (void)which, (void)value, (void)size;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *ret, cudaDataType type,
                                                 uint64_t rows, uint64_t columns,
                                                 int64_t leading) {
    int with = 0;
    (void)type;
    if (double_fails("cublasLtMatrixLayoutCreate", &with)) return (cublasStatus_t)with;
    if (leading < (int64_t)rows || columns == 0) return CUBLAS_STATUS_INVALID_VALUE;
    *ret = calloc(1, sizeof(**ret));
    double_state.n_objects++;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return drop(layout);
}

EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t which,
                                                       const void *value, size_t size) {
    (void)layout, (void)which, (void)value, (void)size;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *ret) {
    *ret = calloc(1, sizeof(**ret));
    double_state.n_objects++;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return drop(preference);
}

EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t which,
    const void *value, size_t size) {
    (void)preference, (void)which, (void)value, (void)size;
    return CUBLAS_STATUS_SUCCESS;
}

/* Two that work with one between them that does not; the first wants more workspace. */
EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int n, cublasLtMatmulHeuristicResult_t *ret,
    int *ret_n) {
    int with = 0;
    (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d, (void)preference;
    if (double_fails("cublasLtMatmulAlgoGetHeuristic", &with)) return (cublasStatus_t)with;
    memset(ret, 0, (size_t)n * sizeof(*ret));
    for (int i = 0; i < 3; i++) ret[i].algo.data[0] = (uint64_t)i;
    ret[0].workspaceSize = 1 << 20;
    ret[1].state = CUBLAS_STATUS_NOT_SUPPORTED;
    ret[2].workspaceSize = 1 << 10;
    *ret_n = 3;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
                                                        cublasLtMatmulAlgoCapAttributes_t which,
                                                        void *ret, size_t size,
                                                        size_t *written) {
    const uint64_t flags = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA;
    (void)algorithm, (void)which, (void)size, (void)written;
    memcpy(ret, &flags, sizeof(flags));
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoConfigAttributes_t which,
    void *ret, size_t size, size_t *written) {
    const uint32_t value =
        which == CUBLASLT_ALGO_CONFIG_ID ? 60 + (uint32_t)algorithm->data[0] : 1;
    (void)size, (void)written;
    memcpy(ret, &value, sizeof(value));
    return CUBLAS_STATUS_SUCCESS;
}

/* The first algorithm is the slower one: it launches twice. */
EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                     const void *alpha, const void *a,
                                     cublasLtMatrixLayout_t la, const void *b,
                                     cublasLtMatrixLayout_t lb, const void *beta, const void *c,
                                     cublasLtMatrixLayout_t lc, void *d,
                                     cublasLtMatrixLayout_t ld,
                                     const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream) {
    int with = 0;
    (void)handle, (void)desc, (void)alpha, (void)la, (void)lb, (void)beta, (void)c, (void)lc;
    (void)ld, (void)stream, (void)d;
    if (double_fails("cublasLtMatmul", &with)) return (cublasStatus_t)with;
    memset(workspace, 1, workspace_bytes);
    for (uint64_t i = 0; i < 2 - algorithm->data[0] / 2; i++)
        double_launched("nvjet_double", 8, 128, (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b);
    return CUBLAS_STATUS_SUCCESS;
}
#endif

#ifdef DOUBLE_NVRTC
#include <nvrtc.h>

struct _nvrtcProgram {
    char *text;
};

EXPORT nvrtcResult nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

EXPORT const char *nvrtcGetErrorString(nvrtcResult result) {
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *ret, const char *text, const char *name,
                                      int n, const char *const *headers,
                                      const char *const *names) {
    int with = 0;
    if (double_fails("nvrtcCreateProgram", &with)) return (nvrtcResult)with;
    (void)name, (void)n, (void)headers, (void)names;
    *ret = calloc(1, sizeof(**ret));
    (*ret)->text = malloc(strlen(text) + 1);
    memcpy((*ret)->text, text, strlen(text) + 1);
    double_state.n_objects++;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    free((*program)->text);
    free(*program);
    double_state.n_objects--;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n,
                                       const char *const *options) {
    int with = 0;
    (void)program, (void)n;
    if (strcmp(options[0], "--gpu-architecture=sm_90") != 0) return NVRTC_ERROR_INVALID_OPTION;
    return double_fails("nvrtcCompileProgram", &with) ? (nvrtcResult)with : NVRTC_SUCCESS;
}

static const char log_text[] = "costmodel.cu(1): error: failure requested\nmore";

EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *ret) {
    (void)program;
    *ret = sizeof(log_text);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *ret) {
    (void)program;
    memcpy(ret, log_text, sizeof(log_text));
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *ret) {
    *ret = strlen(program->text) + 1;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *ret) {
    memcpy(ret, program->text, strlen(program->text) + 1);
    return NVRTC_SUCCESS;
}
#endif

#ifdef DOUBLE_NVML
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **);
EXPORT int nvmlDeviceGetClockInfo(void *, int, unsigned *);
EXPORT int nvmlDeviceGetMaxClockInfo(void *, int, unsigned *);
EXPORT int nvmlDeviceGetTemperature(void *, int, unsigned *);
EXPORT int nvmlDeviceGetPowerUsage(void *, unsigned *);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *, unsigned long long *);
EXPORT int nvmlSystemGetDriverVersion(char *, unsigned);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *, void *);
EXPORT int nvmlDeviceGetMigMode(void *, unsigned *, unsigned *);

int nvmlInit_v2(void) {
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret) {
    *ret = &double_state;
    return strcmp(address, "0000:1B:00.0") == 0 ? 0 : 6;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *ret) {
    (void)device;
    *ret = which == 1 ? 1500 : 2600;
    return 0;
}

int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *ret) {
    (void)device, (void)which;
    *ret = 1980;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int which, unsigned *ret) {
    (void)device, (void)which;
    *ret = 51;
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *ret) {
    (void)device;
    *ret = 123456;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret) {
    (void)device;
    *ret = double_state.throttle;
    return 0;
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size) {
    static const char version[] = "580.1";
    if (size < sizeof(version)) return 7;
    memcpy(ret, version, sizeof(version));
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, void *ret) {
    (void)device, (void)ret;
    *n = double_state.n_processes;
    return 7;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) {
    (void)device;
    *now = *pending = 0;
    return 0;
}
#endif
