/* SPDX-License-Identifier: Apache-2.0 */
/* Calibrations of a device: their keys in device files, the choice of one for a runtime and a
 * width, and default efficiencies by device generation. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/device/devices.h"
#include "backends/device/runtimes.h"
#include "support/json/json_writer.h"
#include "support/option_names.h"
#include "support/text.h"

/* Values of an RTX 3090, the only device with measured training steps. */
#define GRADIENT         0.78
#define GROUPED_GRADIENT 0.29

/* Of a runtime that replays its kernels. One that interprets the graph takes HOST_EAGER. */
#define GROUP_LAUNCH 1e-7
#define HOST         1e-6
#define HOST_EAGER   8e-6
#define RUN          1e-5

/* Medians of H100, A100 and L40S. */
#define ATTENTION_TILE  6.4e-6
#define ATTENTION_CACHE 8.9e-6

/* Of processors, where no host waits for a device. */
#define CORE_GROUP_LAUNCH 5e-6
#define CORE_HOST         1e-9
#define CORE_ATTENTION    1e-6
#define TRANSFER          1e12 /* above any link: inputs are on the device already */

/* Weights of a fit. Constants of a runtime differ by powers of ten; shares of a rate do not. */
#define SHARE    0.25
#define CONSTANT 0.03

#define MEMBER(name, prior)                                                                    \
    { #name, offsetof(struct device_efficiency, name), prior }

static const struct {
    const char *name;
    size_t offset;
    double prior;
} members[] = {
    MEMBER(product, SHARE),          MEMBER(convolution, SHARE),
    MEMBER(attention, SHARE),        MEMBER(bandwidth, SHARE),
    MEMBER(reduction, SHARE),        MEMBER(pool, SHARE),
    MEMBER(depthwise, SHARE),        MEMBER(cache_bandwidth, SHARE),
    MEMBER(resident, SHARE),         MEMBER(group_tile, SHARE),
    MEMBER(winograd, SHARE),         MEMBER(tile_seconds, SHARE),
    MEMBER(launch, SHARE),           MEMBER(group_launch, CONSTANT),
    MEMBER(host, CONSTANT),          MEMBER(run, CONSTANT),
    MEMBER(transfer, CONSTANT),      MEMBER(gradient, SHARE),
    MEMBER(grouped_gradient, SHARE), MEMBER(int8_product, SHARE),
    MEMBER(attention_tile, SHARE),   MEMBER(attention_cache, SHARE),
};

double device_efficiency_prior(size_t index) {
    return members[index].prior;
}

static const char *const width_names[N_WIDTHS] = {
    [WIDTH_ANY] = "",      [WIDTH_FP32] = "fp32", [WIDTH_TF32] = "tf32",
    [WIDTH_FP16] = "fp16", [WIDTH_FP8] = "fp8",   [WIDTH_INT8] = "int8",
};

static const char *const kind_names[CM_N_TIME_KINDS] = {
    [CM_TIME_CONVOLUTION] = "convolution", [CM_TIME_GROUPED] = "grouped",
    [CM_TIME_PRODUCT] = "product",         [CM_TIME_OTHER] = "other",
    [CM_TIME_LAUNCH] = "launch",
};

const char *device_width_name(enum device_width width) {
    return width_names[width];
}

const char *device_time_kind_name(enum cm_time_kind kind) {
    return kind_names[kind];
}

enum device_width device_width_of(enum cm_element element, enum cm_precision precision) {
    if (element == CM_F32 && precision == CM_PRECISION_TF32) return WIDTH_TF32;
    if (element == CM_F16 || element == CM_BF16) return WIDTH_FP16;
    if (element == CM_F8E4M3 || element == CM_F8E5M2) return WIDTH_FP8;
    if (element == CM_I8 || element == CM_U8) return WIDTH_INT8;
    return element == CM_ELEMENT_NONE ? WIDTH_ANY : WIDTH_FP32;
}

const char *device_efficiency_name(size_t index) {
    return index < sizeof(members) / sizeof(*members) ? members[index].name : NULL;
}

double *device_efficiency_at(struct device_efficiency *efficiency, size_t index) {
    void *member = (char *)efficiency + members[index].offset;
    return member;
}

/* Writes a value above 0; others are left out, as unknown. */
static void write_figure(struct json_writer *json, const char *key, double value, int digits) {
    if (value <= 0) return;
    json_write_key(json, key);
    json_write_double(json, value, digits);
}

static void write_error(const struct cm_calibration *fit, struct json_writer *json) {
    if (fit->n_times <= 0) return;
    json_key_integer(json, "times", fit->n_times);
    write_figure(json, "median_error", fit->median_error, 3);
    write_figure(json, "p90_error", fit->p90_error, 3);
    write_figure(json, "coverage", fit->coverage, 3);
    json_open(json, "intervals", '{');
    for (int kind = 0; kind < CM_N_TIME_KINDS; kind++) {
        if (fit->intervals[kind].high <= 0) continue;
        json_open(json, kind_names[kind], '[');
        json_write_double(json, fit->intervals[kind].low, 3);
        json_write_double(json, fit->intervals[kind].high, 3);
        json_end(json, ']');
    }
    json_end(json, '}');
}

void device_calibration_write(const struct device_calibration *calibration,
                              struct json_writer *json) {
    struct device_efficiency efficiency = calibration->efficiency;
    char key[CM_WORD_SIZE];
    const char *width = width_names[calibration->width];
    (void)snprintf(key, sizeof(key), "%s%s%s",
                   option_runtime_name((int32_t)calibration->runtime), *width ? " " : "",
                   width);
    json_open(json, key, '{');
    if (calibration->basis) json_key_string(json, "basis", calibration->basis);
    write_error(&calibration->fit, json);
    for (size_t i = 0; device_efficiency_name(i) != NULL; i++)
        write_figure(json, device_efficiency_name(i), *device_efficiency_at(&efficiency, i), 4);
    json_end(json, '}');
}

/* Rounded fits to the measured devices of a generation (devices/, docs/times.md). Values that
 * were not measured are copied from the nearest measured generation. `cache` is a multiple of
 * the memory bandwidth. */
static const struct generation {
    const char *architecture; /* prefix of the architecture's name */
    bool sums_in_fp16;        /* its libraries: products of fp16 */
    double int8_product;
    struct device_efficiency efficiency[2]; /* compiled, eager */
} generations[] = {
/* clang-format off */
#define ROW(product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch) \
    {product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch, GROUP_LAUNCH, HOST, RUN, TRANSFER, GRADIENT, GROUPED_GRADIENT, 0, ATTENTION_TILE, ATTENTION_CACHE}
#define CORES(product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch) \
    {product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch, CORE_GROUP_LAUNCH, CORE_HOST, RUN, TRANSFER, GRADIENT, GROUPED_GRADIENT, 0, CORE_ATTENTION, CORE_ATTENTION}
#define SMALL_CORES(product) CORES(product, 0.8 * (product), 0.50, 0.35, 0.44, 0.34, 0.65, 2.8, 0.075, 256, 1.90, 1.45e-6, 9.0e-6)
    /*              product conv. attn. bandw. reduce pool  depthw. cache res.  group wino. tile  launch */
    {"sm_6",   false, 1, {ROW(0.90, 0.75, 0.50, 0.45, 0.45, 0.37, 0.90, 3.4, 0.10, 256, 1.65, 1.0e-6, 4.5e-6),    /* Pascal */
                ROW(0.80, 0.60, 0.50, 0.60, 0.30, 0.35, 0.60, 3.4, 0.10, 200, 1.65, 1.0e-6, 5.5e-6)}},
    {"sm_7",   false, 1, {ROW(0.75, 0.70, 0.50, 0.73, 0.45, 0.37, 0.90, 2.1, 0.10, 256, 1.60, 1.7e-6, 4.7e-6),    /* Volta, Turing */
                ROW(0.68, 0.60, 0.50, 0.90, 0.30, 0.35, 0.60, 2.1, 0.10, 200, 1.60, 1.7e-6, 5.0e-6)}},
    {"sm_89",  false, 1, {ROW(0.90, 1.00, 0.65, 0.80, 0.45, 0.36, 0.95, 6.0, 0.15, 256, 1.70, 0.7e-6, 2.8e-6),    /* Ada */
                ROW(0.80, 0.80, 0.56, 1.00, 0.30, 0.34, 0.65, 6.0, 0.13, 220, 1.70, 0.7e-6, 3.4e-6)}},
    {"sm_8",   false, 1, {ROW(0.90, 0.95, 0.60, 0.75, 0.45, 0.37, 0.90, 3.0, 0.10, 256, 1.70, 1.5e-6, 2.5e-6),    /* Ampere */
                ROW(0.80, 0.80, 0.60, 1.00, 0.28, 0.37, 0.55, 3.0, 0.10, 180, 1.70, 1.3e-6, 4.0e-6)}},
    {"sm_9",   false, 1, {ROW(0.89, 0.90, 0.60, 0.80, 0.45, 0.37, 0.95, 4.2, 0.06, 256, 1.70, 0.7e-6, 2.4e-6),    /* Hopper */
                ROW(0.80, 0.75, 0.50, 1.00, 0.30, 0.35, 0.65, 4.2, 0.06, 200, 1.70, 0.7e-6, 3.3e-6)}},
    {"sm_1",   false, 1, {ROW(0.90, 1.00, 0.65, 0.78, 0.45, 0.37, 0.90, 4.2, 0.08, 280, 1.70, 0.6e-6, 2.5e-6),    /* Blackwell */
                ROW(0.65, 0.77, 0.40, 1.10, 0.30, 0.32, 0.90, 4.5, 0.10, 150, 1.70, 0.9e-6, 3.2e-6)}},
    {"x86_64", false, 0.5, {CORES(0.45, 0.52, 0.50, 0.20, 0.55, 0.40, 0.70, 2.0, 0.07, 120, 1.15, 1.0e-6, 1.8e-5),    /* CPU */
                CORES(0.45, 0.48, 0.40, 0.22, 0.50, 0.42, 0.60, 2.0, 0.09, 120, 1.30, 1.0e-6, 1.5e-5)}},
    {"aarch64", true, 0.5, {SMALL_CORES(0.6), SMALL_CORES(0.6)}},
    {"armv7", false, 0.5, {SMALL_CORES(0.6), SMALL_CORES(0.6)}},
    {"loongarch", false, 0.5, {SMALL_CORES(0.45), SMALL_CORES(0.45)}},
    /* ncnn has no kernels for int8 on RISC-V: its generic loops are slower than fp32 */
    {"riscv", true, 0.125, {SMALL_CORES(0.15), SMALL_CORES(0.15)}},
    {"",       false, 1, {ROW(0.80, 0.80, 0.50, 0.75, 0.45, 0.37, 0.85, 3.0, 0.10, 256, 1.60, 1.5e-6, 4.0e-6),    /* others */
                ROW(0.70, 0.65, 0.45, 0.80, 0.30, 0.35, 0.60, 3.0, 0.10, 200, 1.60, 1.5e-6, 5.0e-6)}},
#undef SMALL_CORES
#undef CORES
#undef ROW
    /* clang-format on */
};

static const struct generation *generation_of(const struct device_model *model) {
    const char *architecture = model->architecture ? model->architecture : "";
    const struct generation *generation = generations;
    while (!text_starts_with(architecture, generation->architecture)) generation++;
    return generation;
}

bool device_sums_in_fp16(const struct device_model *model) {
    return generation_of(model)->sums_in_fp16;
}

static struct device_efficiency defaults(const struct device_model *model, bool eager) {
    const struct generation *generation = generation_of(model);
    struct device_efficiency ret = generation->efficiency[eager];
    ret.int8_product = generation->int8_product;
    ret.cache_bandwidth *= model->bandwidth;
    if (eager && ret.host > CORE_HOST) ret.host = HOST_EAGER;
    return ret;
}

/* Returns how well a calibration fits the request; 0: nothing in common. The runtime matters
 * more than the width, and that more than whether chains are fused; then the nearest width is
 * best: int8 behaves more like fp16 than like fp32. */
static int closeness(const struct device_calibration *calibration, enum cm_runtime runtime,
                     enum device_width width) {
    const bool same_fusion = runtime_rule(calibration->runtime, RUNTIME_FUSES_CHAINS) ==
                             runtime_rule(runtime, RUNTIME_FUSES_CHAINS);
    const int of_width = calibration->width == width       ? 3
                         : calibration->width == WIDTH_ANY ? 2
                                                           : 0;
    const int common = 8 * (calibration->runtime == runtime) + of_width + same_fusion;
    return common * N_WIDTHS - (common > 0) * abs((int)calibration->width - (int)width);
}

struct device_calibration device_calibration_find(const struct device_model *model,
                                                  enum cm_runtime runtime,
                                                  enum device_width width) {
    struct device_calibration ret = {.runtime = runtime, .width = width};
    const struct device_calibration *best = NULL;
    struct device_efficiency missing =
        defaults(model, !runtime_rule(runtime, RUNTIME_FUSES_CHAINS));
    int closest = 0;
    for (size_t i = 0; i < model->n_calibrations; i++) {
        const int close = closeness(&model->calibrations[i], runtime, width);
        if (close > closest) best = &model->calibrations[i];
        if (close > closest) closest = close;
    }
    if (best) {
        ret = *best;
        if (!ret.basis) ret.basis = model->basis;
        ret.fit.match = best->runtime != runtime ? CM_CALIBRATION_RUNTIME
                        : best->width != WIDTH_ANY && best->width != width
                            ? CM_CALIBRATION_WIDTH
                            : CM_CALIBRATION_EXACT;
    }
    for (size_t i = 0; device_efficiency_name(i) != NULL; i++) {
        double *value = device_efficiency_at(&ret.efficiency, i);
        if (*value <= 0) *value = *device_efficiency_at(&missing, i);
    }
    for (int kind = 0; kind < CM_N_TIME_KINDS; kind++) {
        if (ret.fit.match == CM_CALIBRATION_EXACT && ret.fit.intervals[kind].high > 0) continue;
        ret.fit.intervals[kind].low = DEVICE_UNSEEN_LOW;
        ret.fit.intervals[kind].high = DEVICE_UNSEEN_HIGH;
    }
    ret.fit.host = ret.efficiency.host;
    ret.fit.run = ret.efficiency.run;
    if (ret.efficiency.transfer <= model->host_link) ret.fit.transfer = ret.efficiency.transfer;
    return ret;
}

enum cm_runtime device_default_runtime(const struct device_model *model) {
    return model->n_calibrations > 0 ? model->calibrations[0].runtime
                                     : CM_RUNTIME_TORCH_COMPILE;
}
