/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the source of kernels and compiles it with NVRTC. */
#include "backends/cuda/jit/jit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"
#include "support/checked.h"

/* Helper functions of all kernels. They convert 16-bit and 8-bit floats without NVIDIA's
 * headers, which NVRTC lacks. Conversion of 8-bit floats in software costs little time. */
const char jit_prelude[] =
    "typedef long long i64;\n"
    "typedef unsigned long long u64;\n"
    "struct f16 { unsigned short bits; };\n"
    "struct bf16 { unsigned short bits; };\n"
    "struct e4m3 { unsigned char bits; };\n"
    "struct e5m2 { unsigned char bits; };\n"
    "template <class T> __device__ C get(T x) { return (C)x; }\n"
    "__device__ C get(f16 x) {\n"
    "    float f;\n"
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(x.bits));\n"
    "    return (C)f;\n"
    "}\n"
    "__device__ C get(bf16 x) { return (C)__uint_as_float((unsigned)x.bits << 16); }\n"
    "__device__ float small(unsigned bits, int mantissa, unsigned bias) {\n"
    "    const unsigned rest = bits & 127, e = rest >> mantissa;\n"
    "    const unsigned m = rest & ((1u << mantissa) - 1);\n"
    "    const float f = e ? __uint_as_float((e + 127 - bias) << 23 | m << (23 - mantissa))\n"
    "                      : m * __uint_as_float((128 - bias - mantissa) << 23);\n"
    "    return bits & 128 ? -f : f;\n"
    "}\n"
    "__device__ unsigned char shrink(float f, int mantissa, unsigned bias, float most) {\n"
    "    unsigned u = __float_as_uint(fminf(fabsf(f), most));\n"
    "    u += (1u << (22 - mantissa)) - 1 + (u >> (23 - mantissa) & 1);\n"
    "    const int e = (int)(u >> 23) - 127 + (int)bias;\n"
    "    const unsigned m = u >> (23 - mantissa) & ((1u << mantissa) - 1);\n"
    "    return (unsigned char)((f < 0 ? 128 : 0) | (e > 0 ? e << mantissa | m : 0));\n"
    "}\n"
    "__device__ C get(e4m3 x) { return (C)small(x.bits, 3, 7); }\n"
    "__device__ C get(e5m2 x) { return (C)small(x.bits, 2, 15); }\n"
    "template <class T> __device__ void put(T &x, C v) { x = (T)v; }\n"
    "__device__ void put(bool &x, C v) { x = v != 0; }\n"
    "__device__ void put(f16 &x, C v) {\n"
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(x.bits) : \"f\"((float)v));\n"
    "}\n"
    "__device__ void put(bf16 &x, C v) {\n"
    "    const unsigned u = __float_as_uint((float)v);\n"
    "    x.bits = (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);\n"
    "}\n"
    "__device__ void put(e4m3 &x, C v) { x.bits = shrink((float)v, 3, 7, 448); }\n"
    "__device__ void put(e5m2 &x, C v) { x.bits = shrink((float)v, 2, 15, 57344); }\n"
    "template <class T, int N> struct alignas(sizeof(T) * N) vec { T at[N]; };\n"
    /* Reduces v over the TPR threads of a row; each thread gets the result. TPR: 2^n. */
    "template <int TPR, class F> __device__ C fold(C v, F f) {\n"
    "    for (int i = TPR < 32 ? TPR / 2 : 16; i > 0; i /= 2)\n"
    "        v = f(v, __shfl_xor_sync(0xffffffffu, v, i));\n"
    "    if (TPR <= 32) return v;\n"
    "    __shared__ C warps[32];\n"
    "    const int n = TPR / 32, first = threadIdx.x / TPR * n;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
    "    __syncthreads();\n"
    "    v = warps[first];\n"
    "    for (int i = 1; i < n; i++) v = f(v, warps[first + i]);\n"
    "    return v;\n"
    "}\n"
    "struct plus { __device__ C operator()(C a, C b) const { return a + b; } };\n"
    "struct times { __device__ C operator()(C a, C b) const { return a * b; } };\n"
    "struct most { __device__ C operator()(C a, C b) const { return a > b ? a : b; } };\n"
    "struct least { __device__ C operator()(C a, C b) const { return a < b ? a : b; } };\n";

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
