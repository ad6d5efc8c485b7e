/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data sheets give rates that no kernel reaches; these are reached. They are stored where the
 * roofline reads them: fp32 products at the vector rate, narrower ones at the matrix rate,
 * whether or not the device has matrix units.
 */
#include "backends/device/calibrate.h"

#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "backends/device/ceilings.h"
#include "backends/device/devices.h"
#include "backends/plugin/reason.h"
#include "backends/process/subprocess.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"

#include "support/banned.h"

static const enum device_rate rates[CM_N_ELEMENTS] = {
    [CM_F64] = RATE_FP64,         [CM_F32] = RATE_FP32,          [CM_F16] = RATE_MATRIX_FP16,
    [CM_BF16] = RATE_MATRIX_BF16, [CM_F8E4M3] = RATE_MATRIX_FP8, [CM_I8] = RATE_MATRIX_INT8,
};

static void measure(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret) {
    subprocess_measure(context, primitive, ret);
}

/* The process ends before the next one starts: a device may be exclusive. */
static int survey(const struct subprocess_setup *setup, struct arena *arena, const bool *wanted,
                  struct cm_device_facts *ret_facts, struct ceilings *ret,
                  struct cm_reason *reason) {
    struct subprocess *subprocess = NULL;
    const int status = subprocess_start(setup, arena, &subprocess, reason);
    if (status != CM_BACKEND_OK) return status;
    const struct ceilings_job job = {measure, subprocess};
    *ret_facts = *subprocess_facts(subprocess);
    if (!ret_facts->modelled) ceilings_measure(&job, ret_facts, wanted, ret);
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
    const int status = survey(&rounding, arena, wanted, &facts, &ceilings, reason);
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
    double most = 0;
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        if (model->rates[i] > most) most = model->rates[i];
    if (model->title == NULL || model->source == NULL)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (most <= 0)
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
    int status = survey(setup, arena, wanted, &facts, &ceilings, reason);
    if (status != CM_BACKEND_OK) return status;
    for (int i = 0; i < CM_N_ELEMENTS; i++)
        if (wanted[i]) model.rates[rates[i]] = ceilings.flops_per_s[i];
    model.bandwidth = ceilings.copy_bytes_per_s;
    model.floor = ceilings.floor_s;
    model.memory_bytes = facts.memory_bytes;
    model.title = arena_strdup(arena, facts.name);
    model.source = source_text(setup, arena, &facts, ceilings.invented);
    if (facts.has_tensor_cores) status = take_tf32(setup, arena, &model, reason);
    if (status == CM_BACKEND_OK) status = check_whole(&model, reason);
    if (status == CM_BACKEND_OK) *ret = model;
    return status;
}

/* Six digits exceed the precision of any measurement. */
static bool add_figure(cJSON *object, const char *key, double value) {
    char digits[32];
    if (value <= 0) return true;
    (void)snprintf(digits, sizeof(digits), "%.6g", value);
    return cJSON_AddRawToObject(object, key, digits) != NULL;
}

static bool add_bytes(cJSON *object, const char *key, int64_t bytes) {
    char digits[32];
    if (bytes <= 0) return true;
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)bytes);
    return cJSON_AddRawToObject(object, key, digits) != NULL;
}

static bool add_source(cJSON *root, const char *source) {
    char text[1024];
    char date[32] = "";
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL) (void)strftime(date, sizeof(date), "%Y-%m-%d", &parts);
    (void)snprintf(text, sizeof(text), "%s; on %s", source, date);
    return cJSON_AddStringToObject(root, "source", text) != NULL;
}

static bool add_rates(cJSON *root, const struct device_model *model) {
    cJSON *object = cJSON_AddObjectToObject(root, "rates");
    bool added = object != NULL;
    for (int i = RATE_NONE + 1; added && i < N_RATES; i++)
        added = add_figure(object, device_rate_name((enum device_rate)i), model->rates[i]);
    return added;
}

static bool add_all(cJSON *root, const struct device_model *model) {
    return cJSON_AddStringToObject(root, "schema", "costmodel/device/1") != NULL &&
           cJSON_AddStringToObject(root, "name", model->title) != NULL &&
           add_source(root, model->source) && add_rates(root, model) &&
           add_figure(root, "bandwidth", model->bandwidth) &&
           add_bytes(root, "memory_bytes", model->memory_bytes) &&
           add_figure(root, "floor", model->floor);
}

int calibrate_write(const struct device_model *model, FILE *out) {
    cJSON *root = cJSON_CreateObject();
    char *text = root != NULL && add_all(root, model) ? cJSON_Print(root) : NULL;
    if (text != NULL) fprintf(out, "%s\n", text);
    const int status = text != NULL ? CM_BACKEND_OK : CM_BACKEND_NO_MEMORY;
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}
