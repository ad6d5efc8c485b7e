/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibrates a device: measured rates replace the peak rates of data sheets, which no kernel
 * reaches. The rates of fp64 and fp32 products are stored as vector rates, those of narrower
 * types as matrix rates, whether or not the device has matrix units: the roofline reads them
 * there.
 */
#include "backends/device/calibrate.h"

#include <string.h>
#include <time.h>

#include "backends/device/ceilings.h"
#include "backends/device/devices.h"
#include "backends/device/kernel_shares.h"
#include "backends/plugin/reason.h"
#include "backends/primitive.h"
#include "backends/process/subprocess.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/json/json_writer.h"

#include "support/banned.h"

static const enum device_rate rates[CM_N_ELEMENTS] = {
    [CM_F64] = RATE_FP64,         [CM_F32] = RATE_FP32,          [CM_F16] = RATE_MATRIX_FP16,
    [CM_BF16] = RATE_MATRIX_BF16, [CM_F8E4M3] = RATE_MATRIX_FP8, [CM_I8] = RATE_MATRIX_INT8,
};

static void measure(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret) {
    subprocess_measure(context, primitive, ret);
}

static void copy_ceilings(const struct ceilings *ceilings, struct device_model *ret) {
    for (int i = 0; i < CM_N_ELEMENTS; i++)
        if (rates[i] != RATE_NONE) ret->rates[rates[i]] = ceilings->flops_per_s[i];
    ret->bandwidth = ceilings->copy_bytes_per_s;
    ret->floor = ceilings->floor_s;
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
        copy_ceilings(ret, ret_shares);
        if (ret_shares->bandwidth > 0) kernel_shares_measure(&job, ret_facts, ret_shares);
    }
    subprocess_stop(subprocess);
    if (ret_facts->modelled)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "a backend that models a device cannot be calibrated");
    return CM_BACKEND_OK;
}

static int take_tf32(const struct subprocess_setup *setup, struct arena *arena,
                     struct device_model *ret, struct cm_reason *reason) {
    struct subprocess_setup rounding = *setup;
    struct cm_device_facts facts;
    struct ceilings ceilings;
    bool wanted[CM_N_ELEMENTS] = {[CM_F32] = true};
    rounding.settings.precision = CM_PRECISION_TF32;
    const int status = survey(&rounding, arena, wanted, &facts, &ceilings, NULL, reason);
    if (status == CM_BACKEND_OK) ret->rates[RATE_MATRIX_TF32] = ceilings.flops_per_s[CM_F32];
    return status;
}

static const char *source_text(const struct subprocess_setup *setup, struct arena *arena,
                               const struct cm_device_facts *facts, bool invented) {
    return arena_printf(arena, "%s by costmodel %s with %s: %s%s%s",
                        invented ? "invented" : "measured", CM_VERSION_STRING,
                        setup->backend->name, facts->version,
                        facts->warning[0] != '\0' ? "; " : "", facts->warning);
}

static int check_whole(const struct device_model *model, struct cm_reason *reason) {
    double largest = 0;
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        if (model->rates[i] > largest) largest = model->rates[i];
    if (model->title == NULL || model->source == NULL)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (largest <= 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "no product could be measured");
    if (model->bandwidth <= 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "no copy could be measured");
    return CM_BACKEND_OK;
}

int calibrate_run(const struct subprocess_setup *setup, struct arena *arena,
                  struct device_model *ret, struct cm_reason *reason) {
    struct cm_device_facts facts;
    struct ceilings ceilings;
    struct device_model model;
    bool wanted[CM_N_ELEMENTS];
    memset(&model, 0, sizeof(model));
    for (int i = 0; i < CM_N_ELEMENTS; i++) wanted[i] = rates[i] != RATE_NONE;
    int status = survey(setup, arena, wanted, &facts, &ceilings, &model, reason);
    if (status != CM_BACKEND_OK) return status;
    model.memory_bytes = facts.memory_bytes;
    model.title = arena_strdup(arena, facts.name);
    model.source = source_text(setup, arena, &facts, ceilings.invented);
    if (facts.has_tensor_cores) status = take_tf32(setup, arena, &model, reason);
    if (status == CM_BACKEND_OK) status = check_whole(&model, reason);
    if (status == CM_BACKEND_OK) *ret = model;
    return status;
}

/* Six digits exceed the accuracy of any figure. */
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

/* Writes the member "calibration" in the format of `costmodel fit`. */
static void write_calibration(struct json_writer *json, const struct device_model *model,
                              const char *source) {
    json_break_line(json, 2, false);
    json_write_key(json, "calibration");
    json_begin(json, '{');
    json_break_line(json, 4, false);
    json_key_string(json, "basis", source);
    for (int runtime = 0; runtime < CM_N_RUNTIMES; runtime++) {
        json_break_line(json, 4, false);
        json_write_key(json, primitive_runtime_name(runtime));
        device_efficiency_write(&model->efficiency[runtime], json);
    }
    json_break_line(json, 2, true);
    json_end(json, '}');
}

void calibrate_write(const struct device_model *model, FILE *out) {
    struct json_writer json = {.out = out};
    char source[1024];
    char date[32] = "";
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL) (void)strftime(date, sizeof(date), "%Y-%m-%d", &parts);
    (void)snprintf(source, sizeof(source), "%s; on %s", model->source, date);
    json_begin(&json, '{');
    write_text(&json, "schema", "costmodel/device/1");
    write_text(&json, "name", model->title);
    write_text(&json, "source", source);
    json_break_line(&json, 2, false);
    json_write_key(&json, "rates");
    json_begin(&json, '{');
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
    write_calibration(&json, model, source);
    json_break_line(&json, 0, true);
    json_end(&json, '}');
    fputc('\n', out);
}
