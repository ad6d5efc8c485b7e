/* SPDX-License-Identifier: Apache-2.0 */
/* Source text of kernels and their compilation by NVRTC. */
#include "backends/cuda/jit/jit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#include "support/banned.h"

#define MAX_ARCHITECTURES 64

static const char *const types[CM_N_ELEMENTS] = {
    [CM_F64] = "double",
    [CM_F32] = "float",
    [CM_F16] = "f16",
    [CM_BF16] = "bf16",
    [CM_F8E4M3] = "e4m3",
    [CM_F8E5M2] = "e5m2",
    [CM_I64] = "i64",
    [CM_I32] = "int",
    [CM_I16] = "short",
    [CM_I8] = "signed char",
    [CM_U64] = "u64",
    [CM_U32] = "unsigned",
    [CM_U16] = "unsigned short",
    [CM_U8] = "unsigned char",
    [CM_BOOL] = "bool",
};

static const char *const bits[CM_N_ELEMENTS] = {
    [CM_F64] = "u64",
    [CM_F32] = "unsigned",
    [CM_F16] = "unsigned short",
    [CM_BF16] = "unsigned short",
    [CM_F8E4M3] = "unsigned char",
    [CM_F8E5M2] = "unsigned char",
    [CM_I64] = "u64",
    [CM_I32] = "unsigned",
    [CM_I16] = "unsigned short",
    [CM_I8] = "unsigned char",
    [CM_U64] = "u64",
    [CM_U32] = "unsigned",
    [CM_U16] = "unsigned short",
    [CM_U8] = "unsigned char",
    [CM_BOOL] = "unsigned char",
};

const char *jit_type(int32_t element) {
    return element > 0 && element < CM_N_ELEMENTS ? types[element] : NULL;
}

const char *jit_bits(int32_t element) {
    return element > 0 && element < CM_N_ELEMENTS ? bits[element] : NULL;
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

void jit_begin(struct jit *jit, bool as_bits, int64_t threads, int block) {
    const struct cm_primitive *primitive = jit->primitive;
    const char *(*type)(int32_t) = as_bits ? jit_bits : jit_type;
    jit_add(jit, "extern \"C\" __global__ void __launch_bounds__(%d) costmodel_%s_%d(", block,
            jit->what, jit->n_kernels);
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        jit_add(jit, "const %s *__restrict__ x%d, ", type(primitive->inputs[i].element),
                (int)i);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        jit_add(jit, "%s%s *__restrict__ y%d", i > 0 ? ", " : "",
                type(primitive->outputs[i].element), (int)i);
    jit_add(jit, ") {\n");
    jit->kernels[jit->n_kernels++] = (struct jit_kernel){threads, block};
}

/* Reports the first line of the compiler's log. */
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

int jit_find_sm(const struct cuda_nvrtc *nvrtc, int sm) {
    int architectures[MAX_ARCHITECTURES];
    int n = 0;
    int ret = 0;
    if (nvrtc->nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n > MAX_ARCHITECTURES ||
        nvrtc->nvrtcGetSupportedArchs(architectures) != NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < n; i++)
        if (architectures[i] <= sm && architectures[i] > ret) ret = architectures[i];
    return ret;
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
