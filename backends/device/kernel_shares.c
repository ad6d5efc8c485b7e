/* SPDX-License-Identifier: Apache-2.0 */
/* Measures each kernel with a growing batch, until its launch time is negligible. */
#include "backends/device/kernel_shares.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "backends/device/kernel_time.h"
#include "backends/primitive.h"
#include "support/checked.h"

#include "support/banned.h"

#define SMALLEST_BATCH 8
#define LARGEST_BATCH  4096
#define GROWTH         8
#define LONG_S         2e-3 /* a launch is less than a percent of it */

/* One kernel per efficiency, on images [batch, channels, size, size]; `filter` 0: no window. */
static const struct kernel {
    size_t member; /* offset in struct device_efficiency */
    enum cm_primitive_kind kind;
    enum cm_algorithm algorithm;
    int64_t channels, size; /* of the input images */
    int64_t filter, stride;
    int64_t groups;
} kernels[] = {
/* clang-format off */
#define AT(member) offsetof(struct device_efficiency, member)
    {AT(convolution), CM_CONV,    CM_ALGORITHM_NONE, 256, 28, 1, 1, 1},
    {AT(depthwise),   CM_CONV,    CM_ALGORITHM_NONE, 256, 28, 3, 1, 256},
    {AT(pool),        CM_POOL,    CM_POOL_MAX,       256, 28, 2, 2, 1},
    {AT(reduction),   CM_SOFTMAX, CM_SOFTMAX_PLAIN,  256, 28, 0, 0, 1},
    {AT(bandwidth),   CM_ELTWISE, CM_ALGORITHM_NONE, 256, 28, 0, 0, 1},
#undef AT
    /* clang-format on */
};

static struct cm_tensor tensor(int32_t element, int64_t batch, int64_t channels, int64_t height,
                               int64_t width) {
    struct cm_tensor ret;
    memset(&ret, 0, sizeof(ret));
    ret.element = element;
    ret.rank = 4;
    ret.dims[0] = batch;
    ret.dims[1] = channels;
    ret.dims[2] = height;
    ret.dims[3] = width;
    primitive_pack(&ret);
    return ret;
}

static int64_t bytes_of(const struct cm_tensor *tensor) {
    return checked_mul(primitive_elements(tensor), primitive_element_size(tensor->element));
}

static struct cm_window window_of(const struct kernel *kernel) {
    const int64_t pad = kernel->stride == 1 ? kernel->filter / 2 : 0;
    return (struct cm_window){.n_spatial = 2,
                              .kernel = {kernel->filter, kernel->filter},
                              .strides = {kernel->stride, kernel->stride},
                              .dilations = {1, 1},
                              .pads_begin = {pad, pad},
                              .pads_end = {pad, pad}};
}

static struct cm_primitive primitive_of(const struct kernel *kernel, int32_t element,
                                        int64_t batch) {
    struct cm_primitive ret;
    const int64_t stride = kernel->stride > 0 ? kernel->stride : 1;
    const int64_t channels = kernel->channels / kernel->groups;
    memset(&ret, 0, sizeof(ret));
    ret.kind = (int32_t)kernel->kind;
    ret.algorithm = (int32_t)kernel->algorithm;
    ret.n_inputs = ret.n_outputs = 1;
    ret.groups = kernel->groups;
    ret.axis = kernel->kind == CM_SOFTMAX ? 3 : 0;
    ret.inputs[0] = tensor(element, batch, kernel->channels, kernel->size, kernel->size);
    ret.outputs[0] =
        tensor(element, batch, kernel->channels, kernel->size / stride, kernel->size / stride);
    if (kernel->filter > 0) ret.window = window_of(kernel);
    if (kernel->kind == CM_CONV) {
        ret.n_inputs = 2;
        ret.inputs[1] =
            tensor(element, kernel->channels, channels, kernel->filter, kernel->filter);
        ret.flops = 2 * primitive_elements(&ret.outputs[0]) * channels * kernel->filter *
                    kernel->filter;
    }
    if (kernel->kind == CM_ELTWISE) {
        ret.n_steps = 1;
        ret.steps[0].function = CM_RELU;
    }
    for (int32_t i = 0; i < ret.n_inputs; i++)
        ret.bytes_read = checked_add(ret.bytes_read, bytes_of(&ret.inputs[i]));
    ret.bytes_written = bytes_of(&ret.outputs[0]);
    return ret;
}

/* Returns the seconds of the work at the measured ceilings. */
static double least_seconds(const struct device_model *model,
                            const struct cm_primitive *primitive) {
    const double bytes = (double)(primitive->bytes_read + primitive->bytes_written);
    const enum device_rate rate = kernel_rate(model, primitive, CM_PRECISION_AS_STORED);
    const bool is_product = primitive_is_product(primitive) && primitive->groups == 1;
    if (!is_product) return bytes / model->bandwidth;
    return model->rates[rate] > 0 ? (double)primitive->flops / model->rates[rate] : 0;
}

/* Returns the share of the ceilings that the kernel reaches with the largest batch that could
 * be measured; 0 if none could. */
static double measure_share(const struct ceilings_job *job, const struct cm_device_facts *facts,
                            const struct device_model *model, const struct kernel *kernel) {
    const bool is_narrow = facts->has_tensor_cores && model->rates[RATE_MATRIX_FP16] > 0;
    double share = 0;
    for (int64_t batch = SMALLEST_BATCH; batch <= LARGEST_BATCH; batch *= GROWTH) {
        struct cm_measurement got;
        const struct cm_primitive primitive =
            primitive_of(kernel, is_narrow ? CM_F16 : CM_F32, batch);
        const int64_t bytes = primitive.bytes_read + primitive.bytes_written;
        if (facts->memory_bytes > 0 && bytes > facts->memory_bytes / 4) break;
        job->measure(job->context, &primitive, &got);
        if (got.state != CM_MEASURED && got.state != CM_INVENTED) break;
        if (!(got.cold.median > 0)) break;
        share = least_seconds(model, &primitive) /
                fmax(got.cold.median - model->floor, 0.5 * got.cold.median);
        if (got.cold.median >= LONG_S) break;
    }
    return share;
}

void kernel_shares_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                           struct device_model *model) {
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        const double share = measure_share(job, facts, model, &kernels[i]);
        for (int runtime = 0; runtime < CM_N_RUNTIMES; runtime++) {
            void *member = (char *)&model->efficiency[runtime] + kernels[i].member;
            *(double *)member = share;
        }
    }
    for (int runtime = 0; runtime < CM_N_RUNTIMES; runtime++)
        model->efficiency[runtime].product = 1; /* the rates are those of products */
}
