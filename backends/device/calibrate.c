/* SPDX-License-Identifier: Apache-2.0 */
/* Calibrates a device: measured rates replace the peak rates of data sheets, which no kernel
 * reaches. The rates of fp64 and fp32 products are stored as vector rates, those of narrower
 * types as matrix rates, whether or not the device has matrix units: the roofline reads them
 * there. One large kernel of each other kind shows the share of the rates that it reaches. */
#include "backends/device/calibrate.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "backends/device/ceilings.h"
#include "backends/device/devices.h"
#include "backends/device/kernel_time.h"
#include "backends/plugin/reason.h"
#include "backends/primitive.h"
#include "backends/process/subprocess.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/json/json_writer.h"
#include "support/text.h"

static const enum device_rate rates[CM_N_ELEMENTS] = {
    [CM_F64] = RATE_FP64,         [CM_F32] = RATE_FP32,          [CM_F16] = RATE_MATRIX_FP16,
    [CM_BF16] = RATE_MATRIX_BF16, [CM_F8E4M3] = RATE_MATRIX_FP8, [CM_I8] = RATE_MATRIX_INT8,
};

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

static struct cm_tensor tensor(int32_t element, int64_t batch, int64_t channels, int64_t size) {
    struct cm_tensor ret;
    memset(&ret, 0, sizeof(ret));
    ret.element = element;
    ret.rank = 4;
    ret.dims[0] = batch;
    ret.dims[1] = channels;
    ret.dims[2] = ret.dims[3] = size;
    primitive_pack(&ret);
    return ret;
}

static struct cm_primitive primitive_of(const struct kernel *kernel, int32_t element,
                                        int64_t batch) {
    struct cm_primitive ret;
    const int64_t stride = kernel->stride > 0 ? kernel->stride : 1;
    const int64_t pad = kernel->stride == 1 ? kernel->filter / 2 : 0;
    const int64_t channels = kernel->channels / kernel->groups;
    memset(&ret, 0, sizeof(ret));
    ret.kind = (int32_t)kernel->kind;
    ret.algorithm = (int32_t)kernel->algorithm;
    ret.n_inputs = ret.n_outputs = 1;
    ret.groups = kernel->groups;
    ret.axis = kernel->kind == CM_SOFTMAX ? 3 : 0;
    ret.inputs[0] = tensor(element, batch, kernel->channels, kernel->size);
    ret.outputs[0] = tensor(element, batch, kernel->channels, kernel->size / stride);
    if (kernel->filter > 0)
        ret.window = (struct cm_window){.n_spatial = 2,
                                        .kernel = {kernel->filter, kernel->filter},
                                        .strides = {kernel->stride, kernel->stride},
                                        .dilations = {1, 1},
                                        .pads_begin = {pad, pad},
                                        .pads_end = {pad, pad}};
    if (kernel->kind == CM_CONV) {
        ret.n_inputs = 2;
        ret.inputs[1] = tensor(element, kernel->channels, channels, kernel->filter);
        ret.flops = 2 * primitive_elements(&ret.outputs[0]) * channels * kernel->filter *
                    kernel->filter;
    }
    if (kernel->kind == CM_ELTWISE) {
        ret.n_steps = 1;
        ret.steps[0].function = CM_RELU;
    }
    for (int32_t i = 0; i < ret.n_inputs; i++)
        checked_add_to(&ret.bytes_read, primitive_bytes(&ret.inputs[i]));
    ret.bytes_written = primitive_bytes(&ret.outputs[0]);
    return ret;
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
        double seconds = (double)bytes / model->bandwidth; /* at the measured ceilings */
        if (primitive_is_product(&primitive) && primitive.groups == 1) {
            const double rate =
                model->rates[kernel_rate(model, &primitive, CM_PRECISION_AS_STORED)];
            seconds = rate > 0 ? (double)primitive.flops / rate : 0;
        }
        share = seconds / fmax(got.cold.median - model->floor, 0.5 * got.cold.median);
        if (got.cold.median >= LONG_S) break;
    }
    return share;
}

/* Sets the shares of model->rates and model->bandwidth that kernels reach, and 0 for kinds that
 * the device refuses. The rates and the bandwidth must have been measured. Kernels run in fp16
 * if the device has tensor cores with an fp16 rate, else in fp32, with a growing batch, until
 * their launch time is negligible. */
static void measure_shares(const struct ceilings_job *job, const struct cm_device_facts *facts,
                           struct device_model *model) {
    model->calibrations->efficiency.product = 1; /* the rates are those of products */
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        void *member = (char *)&model->calibrations->efficiency + kernels[i].member;
        *(double *)member = measure_share(job, facts, model, &kernels[i]);
    }
}

static void measure(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret) {
    subprocess_measure(context, primitive, ret);
}

/* Measures, in a child process, the ceilings and, unless `ret_shares` is NULL, the shares of
 * the ceilings that kernels reach. The child ends before this returns, because a device may be
 * limited to one process. */
static int survey(const struct subprocess_setup *setup, struct arena *arena, const bool *wanted,
                  struct cm_device_facts *ret_facts, struct ceilings *ret,
                  struct device_model *ret_shares, struct cm_reason *reason) {
    struct subprocess *subprocess = NULL;
    const int status = subprocess_start(setup, arena, &subprocess, reason);
    if (status != CM_BACKEND_OK) return status;
    const struct ceilings_job job = {measure, subprocess};
    *ret_facts = *subprocess_facts(subprocess);
    if (!ret_facts->modelled) ceilings_measure(&job, ret_facts, wanted, ret);
    if (!ret_facts->modelled && ret_shares != NULL) {
        for (int i = 0; i < CM_N_ELEMENTS; i++)
            if (rates[i] != RATE_NONE) ret_shares->rates[rates[i]] = ret->flops_per_s[i];
        ret_shares->bandwidth = ret->copy_bytes_per_s;
        ret_shares->floor = ret->floor_s;
        if (ret_shares->bandwidth > 0) measure_shares(&job, ret_facts, ret_shares);
    }
    subprocess_stop(subprocess);
    if (ret_facts->modelled)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "a backend that models a device cannot be calibrated");
    return CM_BACKEND_OK;
}

int calibrate_run(const struct subprocess_setup *setup, struct arena *arena,
                  struct device_model *ret, struct cm_reason *reason) {
    struct cm_device_facts facts;
    struct ceilings ceilings;
    struct device_model model;
    bool wanted[CM_N_ELEMENTS];
    double largest = 0;
    memset(&model, 0, sizeof(model));
    model.calibrations = arena_array(arena, 1, sizeof(*model.calibrations));
    if (!model.calibrations) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    for (int i = 0; i < CM_N_ELEMENTS; i++) wanted[i] = rates[i] != RATE_NONE;
    int status = survey(setup, arena, wanted, &facts, &ceilings, &model, reason);
    if (status != CM_BACKEND_OK) return status;
    model.memory_bytes = facts.memory_bytes;
    model.title = arena_strdup(arena, facts.name);
    model.source = arena_printf(arena, "%s by costmodel %s with %s: %s%s%s",
                                ceilings.invented ? "invented" : "measured", cm_version(),
                                setup->backend->name, facts.version,
                                facts.warning[0] != '\0' ? "; " : "", facts.warning);
    if (facts.has_tensor_cores) {
        struct subprocess_setup rounding = *setup;
        const bool only_fp32[CM_N_ELEMENTS] = {[CM_F32] = true};
        rounding.settings.precision = CM_PRECISION_TF32;
        status = survey(&rounding, arena, only_fp32, &facts, &ceilings, NULL, reason);
        if (status != CM_BACKEND_OK) return status;
        model.rates[RATE_MATRIX_TF32] = ceilings.flops_per_s[CM_F32];
    }
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        if (model.rates[i] > largest) largest = model.rates[i];
    if (model.title == NULL || model.source == NULL)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (largest <= 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "no product could be measured");
    if (model.bandwidth <= 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "no copy could be measured");
    *ret = model;
    return CM_BACKEND_OK;
}

/* Writes a value above 0 with six digits, which exceed the accuracy of any figure. */
static void write_figure(struct json_writer *json, int n_spaces, const char *key,
                         double value) {
    if (value <= 0) return;
    json_break_line(json, n_spaces, false);
    json_write_key(json, key);
    json_write_double(json, value, 6);
}

static void write_text(struct json_writer *json, const char *key, const char *text) {
    json_break_line(json, 2, false);
    json_key_string(json, key, text);
}

void calibrate_write(const struct device_model *model, FILE *out) {
    struct json_writer json = {.out = out};
    char source[1024];
    char date[UTC_SIZE];
    (void)text_utc((int64_t)time(NULL), date);
    (void)snprintf(source, sizeof(source), "%s; on %.*s", model->source, UTC_DAY, date);
    json_begin(&json, '{');
    write_text(&json, "schema", "costmodel/device/1");
    write_text(&json, "name", model->title);
    write_text(&json, "source", source);
    json_break_line(&json, 2, false);
    json_open(&json, "rates", '{');
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        write_figure(&json, 4, device_rate_name((enum device_rate)i), model->rates[i]);
    json_break_line(&json, 2, true);
    json_end(&json, '}');
    write_figure(&json, 2, "bandwidth", model->bandwidth);
    if (model->memory_bytes > 0) {
        json_break_line(&json, 2, false);
        json_key_integer(&json, "memory_bytes", model->memory_bytes);
    }
    write_figure(&json, 2, "floor", model->floor);
    json_break_line(&json, 2, false);
    json_open(&json, "calibration", '{'); /* in the format of `costmodel fit` */
    json_break_line(&json, 4, false);
    json_key_string(&json, "basis", source);
    struct device_calibration calibration = *model->calibrations;
    for (int i = 0; i < 2; i++) {
        calibration.runtime = i == 0 ? CM_RUNTIME_TORCH_COMPILE : CM_RUNTIME_TORCH_EAGER;
        json_break_line(&json, 4, false);
        device_calibration_write(&calibration, &json);
    }
    json_break_line(&json, 2, true);
    json_end(&json, '}');
    json_break_line(&json, 0, true);
    json_end(&json, '}');
    fputc('\n', out);
}
