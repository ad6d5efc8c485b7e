/* SPDX-License-Identifier: Apache-2.0 */
/* The program's text, its way through NVRTC, and the step that launches its kernels. */
#include "backends/cuda/jit/jit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#include "support/banned.h"

#define MOST_BLOCKS ((int64_t)1 << 30)
#define MOST_ARGS   (CM_MAX_INPUTS + CM_MAX_OUTPUTS)

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

static const struct {
    jit_writer *write;
    const char *name;
} writers[CM_N_PRIMITIVES] = {
    [CM_POOL] = {jit_write_pool, "pool"},
    [CM_NORM] = {jit_write_norm, "norm"},
    [CM_ELTWISE] = {jit_write_eltwise, "eltwise"},
    [CM_SOFTMAX] = {jit_write_softmax, "softmax"},
    [CM_REDUCE] = {jit_write_reduce, "reduce"},
    [CM_COPY] = {jit_write_copy, "copy"},
    [CM_GATHER] = {jit_write_gather, "gather"},
    [CM_RESAMPLE] = {jit_write_resample, "resample"},
    [CM_SCATTER] = {jit_write_scatter, "scatter"},
};

static bool has_elements(const struct cm_primitive *primitive) {
    for (int32_t i = 0; i < primitive->n_inputs + primitive->n_outputs; i++) {
        const struct cm_tensor *tensor = i < primitive->n_inputs
                                             ? &primitive->inputs[i]
                                             : &primitive->outputs[i - primitive->n_inputs];
        for (int32_t axis = 0; axis < tensor->rank; axis++)
            if (tensor->dims[axis] == 0) return false;
    }
    return true;
}

int jit_write(const struct cm_primitive *primitive, struct jit *ret, struct cm_reason *reason) {
    struct jit jit = {.primitive = primitive};
    if (primitive->kind <= 0 || primitive->kind >= CM_N_PRIMITIVES ||
        writers[primitive->kind].write == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "there is no kernel of this kind");
    if (!has_elements(primitive))
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "there are no elements");
    jit.what = writers[primitive->kind].name;
    jit.text = malloc(JIT_SOURCE);
    if (jit.text == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    int status = writers[primitive->kind].write(primitive, &jit, reason);
    if (status == CM_BACKEND_OK && jit.full)
        status = cuda_refuse(reason, CM_BACKEND_REFUSED, "its kernel is too long");
    if (status == CM_BACKEND_OK)
        *ret = jit;
    else
        free(jit.text);
    return status;
}

/* The first line of what the compiler has to say. */
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

static nvrtcResult take_cubin(const struct cuda_nvrtc *nvrtc, nvrtcProgram program,
                              char **ret_cubin, size_t *ret_size) {
    nvrtcResult result = nvrtc->nvrtcGetCUBINSize(program, ret_size);
    if (result != NVRTC_SUCCESS) return result;
    char *cubin = malloc(*ret_size);
    if (cubin == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    result = nvrtc->nvrtcGetCUBIN(program, cubin);
    if (result == NVRTC_SUCCESS)
        *ret_cubin = cubin;
    else
        free(cubin);
    return result;
}

int jit_compile(const struct cuda_nvrtc *nvrtc, const char *source, int sm, char **ret_cubin,
                size_t *ret_size, struct cm_reason *reason) {
    char architecture[48];
    const char *const arguments[] = {architecture};
    nvrtcProgram program = NULL;
    (void)snprintf(architecture, sizeof(architecture), "--gpu-architecture=sm_%d", sm);
    nvrtcResult result =
        nvrtc->nvrtcCreateProgram(&program, source, "costmodel.cu", 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "NVRTC: %s",
                           nvrtc->nvrtcGetErrorString(result));
    int status = CM_BACKEND_OK;
    result = nvrtc->nvrtcCompileProgram(program, 1, arguments);
    if (result == NVRTC_SUCCESS) result = take_cubin(nvrtc, program, ret_cubin, ret_size);
    if (result != NVRTC_SUCCESS) status = refuse_program(nvrtc, program, result, reason);
    (void)nvrtc->nvrtcDestroyProgram(&program);
    return status;
}

struct jit_step {
    const struct cm_device *device;
    CUmodule module;
    int32_t n_inputs, n_outputs;
    int n_kernels;
    struct {
        CUfunction function;
        unsigned blocks;
        unsigned threads;
    } kernels[JIT_KERNELS];
};

static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    struct jit_step *step = own;
    struct cuda_operands values = *operands;
    void *args[MOST_ARGS];
    CUresult result = CUDA_SUCCESS;
    for (int32_t i = 0; i < step->n_inputs; i++) args[i] = &values.inputs[i];
    for (int32_t i = 0; i < step->n_outputs; i++) args[step->n_inputs + i] = &values.outputs[i];
    for (int i = 0; i < step->n_kernels && result == CUDA_SUCCESS; i++)
        result = step->device->driver.cuLaunchKernel(
            step->kernels[i].function, step->kernels[i].blocks, 1, 1, step->kernels[i].threads,
            1, 1, 0, stream, args, NULL);
    return device_check(step->device, result, "launch a kernel", reason);
}

static void drop(void *own) {
    struct jit_step *step = own;
    if (step->module != NULL) (void)step->device->driver.cuModuleUnload(step->module);
    free(step);
}

static int load(struct jit_step *step, const struct jit *jit, const char *cubin,
                struct cm_reason *reason) {
    const struct cuda_driver *driver = &step->device->driver;
    CUresult result = driver->cuModuleLoadData(&step->module, cubin);
    for (int i = 0; i < jit->n_kernels && result == CUDA_SUCCESS; i++) {
        char name[64];
        const struct jit_kernel *kernel = &jit->kernels[i];
        const int64_t blocks = (kernel->threads + kernel->block - 1) / kernel->block;
        (void)snprintf(name, sizeof(name), "costmodel_%s_%d", jit->what, i);
        step->kernels[i].blocks = (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
        step->kernels[i].threads = (unsigned)kernel->block;
        result = driver->cuModuleGetFunction(&step->kernels[i].function, step->module, name);
    }
    return device_check(step->device, result, "load a kernel", reason);
}

static int build(struct jit_step *step, const struct cm_primitive *primitive,
                 struct cuda_step *ret, struct cm_reason *reason) {
    struct jit jit;
    char *cubin = NULL;
    size_t size = 0;
    int status = jit_write(primitive, &jit, reason);
    if (status != CM_BACKEND_OK) return status;
    status =
        jit_compile(&step->device->nvrtc, jit.text, step->device->sm, &cubin, &size, reason);
    step->n_kernels = jit.n_kernels;
    if (status == CM_BACKEND_OK && step->device->has_driver)
        status = load(step, &jit, cubin, reason);
    ret->state = jit.instead.text[0] != '\0' ? CM_PROXY : CM_MEASURED;
    ret->instead = jit.instead;
    free(cubin);
    free(jit.text);
    return status;
}

static void facts(const void *own, struct cm_how *ret) {
    const struct jit_step *step = own;
    (void)snprintf(ret->algorithm, sizeof(ret->algorithm), "%d kernel%s", step->n_kernels,
                   step->n_kernels == 1 ? "" : "s");
    ret->tensor_cores = CM_TENSOR_CORES_NO;
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    if (!device->has_nvrtc.here) {
        *reason = device->has_nvrtc.why;
        return CM_BACKEND_REFUSED;
    }
    if (candidate > 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "there are no more");
    struct jit_step *step = calloc(1, sizeof(*step));
    if (step == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    step->device = device;
    step->n_inputs = primitive->n_inputs;
    step->n_outputs = primitive->n_outputs;
    const int status = build(step, primitive, ret, reason);
    if (status != CM_BACKEND_OK) {
        drop(step);
        return status;
    }
    ret->own = step;
    ret->launch = device->has_driver ? launch : NULL;
    ret->facts = facts;
    ret->drop = drop;
    return CM_BACKEND_OK;
}

const struct cuda_provider nvrtc_provider = {.name = "nvrtc", .plans_only = true, .make = make};
