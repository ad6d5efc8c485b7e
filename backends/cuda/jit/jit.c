/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the source of kernels and compiles it with NVRTC. */
#include "backends/cuda/jit/jit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"
#include "support/checked.h"

/* C++ types of the elements; `bits` are unsigned types of the same size. */
static const struct {
    const char *type, *bits;
} types[CM_N_ELEMENTS] = {
    [CM_F64] = {"double", "u64"},
    [CM_F32] = {"float", "unsigned"},
    [CM_F16] = {"f16", "unsigned short"},
    [CM_BF16] = {"bf16", "unsigned short"},
    [CM_F8E4M3] = {"e4m3", "unsigned char"},
    [CM_F8E5M2] = {"e5m2", "unsigned char"},
    [CM_I64] = {"i64", "u64"},
    [CM_I32] = {"int", "unsigned"},
    [CM_I16] = {"short", "unsigned short"},
    [CM_I8] = {"signed char", "unsigned char"},
    [CM_U64] = {"u64", "u64"},
    [CM_U32] = {"unsigned", "unsigned"},
    [CM_U16] = {"unsigned short", "unsigned short"},
    [CM_U8] = {"unsigned char", "unsigned char"},
    [CM_BOOL] = {"bool", "unsigned char"},
};

const char *jit_type(int32_t element) {
    return types[element].type;
}

const char *jit_bits(int32_t element) {
    return types[element].bits;
}

const char *jit_float_type(const struct cm_primitive *primitive) {
    return primitive->inputs[0].element == CM_F64 ? "double" : "float";
}

void jit_add(struct jit *jit, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(jit->text + jit->used, JIT_SOURCE - jit->used, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= JIT_SOURCE - jit->used)
        jit->full = true;
    else
        jit->used += (size_t)length;
}

void jit_begin(struct jit *jit, bool as_bits, int64_t threads) {
    const struct cm_primitive *primitive = jit->primitive;
    const char *(*type)(int32_t) = as_bits ? jit_bits : jit_type;
    jit_add(jit, "extern \"C\" __global__ void __launch_bounds__(%d) costmodel_%s_%d(",
            JIT_BLOCK, jit->what, jit->n_kernels);
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        jit_add(jit, "const %s *__restrict__ x%d, ", type(primitive->inputs[i].element),
                (int)i);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        jit_add(jit, "%s%s *__restrict__ y%d", i > 0 ? ", " : "",
                type(primitive->outputs[i].element), (int)i);
    jit_add(jit, ") {\n");
    jit->threads[jit->n_kernels++] = threads;
}

void jit_begin_rows(struct jit *jit, const char *row, int64_t n_rows, int64_t length) {
    int threads = 32;
    while (threads < JIT_BLOCK && threads < length) threads *= 2;
    jit_begin(jit, false, checked_mul(n_rows, threads));
    jit_add(jit,
            "    const int TPR = %d;\n    const i64 N = %lldll, L = %lldll;\n"
            "    const i64 %s = blockIdx.x * (i64)(%d / TPR) + threadIdx.x / TPR;\n"
            "    const int t = threadIdx.x %% TPR;\n    const bool mine = %s < N;\n",
            threads, (long long)n_rows, (long long)length, row, JIT_BLOCK, row);
}

/* Sets the reason to the first line of the compiler's log. Returns CM_BACKEND_REFUSED. */
static int refuse_program(const struct cuda_nvrtc *nvrtc, nvrtcProgram program,
                          nvrtcResult result, struct cm_reason *reason) {
    size_t size = 0;
    char *log = NULL;
    if (nvrtc->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1)
        log = malloc(size);
    if (log != NULL && nvrtc->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) log[0] = '\0';
    const int length = log ? (int)strcspn(log, "\n") : 0;
    const int status = cuda_refuse(reason, CM_BACKEND_REFUSED, "NVRTC: %s%s%.*s",
                                   nvrtc->nvrtcGetErrorString(result), length > 0 ? ": " : "",
                                   length, log ? log : "");
    free(log);
    return status;
}

static nvrtcResult take_image(const struct cuda_nvrtc *nvrtc, nvrtcProgram program, bool ptx,
                              char **ret) {
    size_t size = 0;
    nvrtcResult result =
        ptx ? nvrtc->nvrtcGetPTXSize(program, &size) : nvrtc->nvrtcGetCUBINSize(program, &size);
    if (result != NVRTC_SUCCESS) return result;
    char *image = malloc(size);
    if (image == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    result = ptx ? nvrtc->nvrtcGetPTX(program, image) : nvrtc->nvrtcGetCUBIN(program, image);
    if (result == NVRTC_SUCCESS)
        *ret = image;
    else
        free(image);
    return result;
}

int jit_compile(const struct cm_device *device, const char *source, char **ret_image,
                struct cm_reason *reason) {
    const struct cuda_nvrtc *nvrtc = &device->nvrtc;
    const bool ptx = device->jit_sm < device->sm;
    char architecture[48];
    const char *const arguments[] = {architecture};
    nvrtcProgram program = NULL;
    (void)snprintf(architecture, sizeof(architecture), "--gpu-architecture=%s_%d",
                   ptx ? "compute" : "sm", device->jit_sm);
    nvrtcResult result =
        nvrtc->nvrtcCreateProgram(&program, source, "costmodel.cu", 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "NVRTC: %s",
                           nvrtc->nvrtcGetErrorString(result));
    int status = CM_BACKEND_OK;
    result = nvrtc->nvrtcCompileProgram(program, 1, arguments);
    if (result == NVRTC_SUCCESS) result = take_image(nvrtc, program, ptx, ret_image);
    if (result != NVRTC_SUCCESS) status = refuse_program(nvrtc, program, result, reason);
    (void)nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
