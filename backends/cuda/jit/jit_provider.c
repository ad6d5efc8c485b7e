/* SPDX-License-Identifier: Apache-2.0 */
/* Provider `nvrtc`: the writer of each kind of primitive, and the step that launches the
 * kernels. */
#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

#define MAX_BLOCKS ((int64_t)1 << 30)
#define MAX_ARGS   (CM_MAX_INPUTS + CM_MAX_OUTPUTS)

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

int jit_write(const struct cm_primitive *primitive, struct jit *ret, struct cm_reason *reason) {
    struct jit jit = {.primitive = primitive, .what = writers[primitive->kind].name};
    int64_t n_elements = 1;
    for (int32_t i = 0; i < primitive->n_inputs && n_elements != 0; i++)
        n_elements = primitive_elements(&primitive->inputs[i]);
    for (int32_t i = 0; i < primitive->n_outputs && n_elements != 0; i++)
        n_elements = primitive_elements(&primitive->outputs[i]);
    if (jit.what == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no kernel for this kind");
    if (n_elements == 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "an operand is empty");
    jit.text = malloc(JIT_SOURCE);
    if (jit.text == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    int status = writers[primitive->kind].write(primitive, &jit, reason);
    if (status == CM_BACKEND_OK && jit.full)
        status = cuda_refuse(reason, CM_BACKEND_REFUSED, "its kernel source is too long");
    if (status == CM_BACKEND_OK)
        *ret = jit;
    else
        free(jit.text);
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
    } kernels[JIT_KERNELS];
};

static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    struct jit_step *step = own;
    struct cuda_operands values = *operands;
    void *args[MAX_ARGS];
    CUresult result = CUDA_SUCCESS;
    for (int32_t i = 0; i < step->n_inputs; i++) args[i] = &values.inputs[i];
    for (int32_t i = 0; i < step->n_outputs; i++) args[step->n_inputs + i] = &values.outputs[i];
    for (int i = 0; i < step->n_kernels && result == CUDA_SUCCESS; i++)
        result = step->device->driver.cuLaunchKernel(step->kernels[i].function,
                                                     step->kernels[i].blocks, 1, 1, JIT_BLOCK,
                                                     1, 1, 0, stream, args, NULL);
    return cuda_check(step->device, result, "launch a kernel", reason);
}

static void drop(void *own) {
    struct jit_step *step = own;
    if (step->module != NULL) (void)step->device->driver.cuModuleUnload(step->module);
    free(step);
}

static int load(struct jit_step *step, const struct jit *jit, const char *image,
                struct cm_reason *reason) {
    const struct cuda_driver *driver = &step->device->driver;
    CUresult result = driver->cuModuleLoadData(&step->module, image);
    for (int i = 0; i < jit->n_kernels && result == CUDA_SUCCESS; i++) {
        char name[64];
        const int64_t blocks = (jit->threads[i] + JIT_BLOCK - 1) / JIT_BLOCK;
        (void)snprintf(name, sizeof(name), "costmodel_%s_%d", jit->what, i);
        step->kernels[i].blocks = (unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS);
        result = driver->cuModuleGetFunction(&step->kernels[i].function, step->module, name);
    }
    return cuda_check(step->device, result, "load a kernel", reason);
}

static int build(struct jit_step *step, const struct cm_primitive *primitive,
                 struct cuda_step *ret, struct cm_reason *reason) {
    struct jit jit;
    char *image = NULL;
    int status = jit_write(primitive, &jit, reason);
    if (status != CM_BACKEND_OK) return status;
    status = jit_compile(step->device, jit.text, &image, reason);
    step->n_kernels = jit.n_kernels;
    if (status == CM_BACKEND_OK && step->device->has_driver)
        status = load(step, &jit, image, reason);
    ret->state = jit.proxy_note.text[0] != '\0' ? CM_PROXY : CM_MEASURED;
    ret->note = jit.proxy_note;
    free(image);
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
    if (!device->has_nvrtc.available) {
        *reason = device->has_nvrtc.reason;
        return CM_BACKEND_REFUSED;
    }
    if (candidate > 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "no further candidate");
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

const struct cuda_provider nvrtc_provider = {.name = "nvrtc", .make = make};
