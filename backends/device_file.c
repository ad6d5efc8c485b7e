/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device as a small JSON file:
 *     {"schema": "costmodel/device/1", "name": "mine", "source": "where the figures stand",
 *      "rates": {"fp32": 67e12, "matrix_fp16": 989e12}, "bandwidth": 4.8e12,
 *      "memory_bytes": 141e9, "floor": 2e-6}
 * A key that is not known is refused: it is a figure that someone believes is used.
 */
#include "backends/devices.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "backends/reason.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

#define MOST_BYTES ((size_t)65536)

struct reading {
    const char *path;
    struct arena *arena;
    struct device_model *ret;
    struct cm_reason *reason;
};

static int device_fault(const struct reading *reading, const char *what) {
    return reason_fail(reading->reason, CM_BACKEND_REFUSED, "device file '%s': %s",
                       reading->path, what);
}

static int no_memory(const struct reading *reading) {
    return reason_fail(reading->reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

static int take_text(const struct reading *reading, const cJSON *item, const char **ret) {
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
        return reason_fail(reading->reason, CM_BACKEND_REFUSED,
                           "device file '%s': '%s' is no text", reading->path, item->string);
    *ret = arena_strdup(reading->arena, item->valuestring);
    return *ret ? CM_BACKEND_OK : no_memory(reading);
}

static int take_number(const struct reading *reading, const cJSON *item, double *ret) {
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble <= 0 ||
        item->valuedouble > 1e18)
        return reason_fail(reading->reason, CM_BACKEND_REFUSED,
                           "device file '%s': '%s' is no number above 0", reading->path,
                           item->string);
    *ret = item->valuedouble;
    return CM_BACKEND_OK;
}

static int unknown_key(const struct reading *reading, const cJSON *item) {
    return reason_fail(reading->reason, CM_BACKEND_REFUSED,
                       "device file '%s': '%s' is no known key", reading->path, item->string);
}

static int take_rate(const struct reading *reading, const cJSON *item) {
    for (int i = RATE_NONE + 1; i < N_RATES; i++)
        if (text_equal(device_rate_name((enum device_rate)i), item->string))
            return take_number(reading, item, &reading->ret->rates[i]);
    return unknown_key(reading, item);
}

static int take_rates(const struct reading *reading, const cJSON *rates) {
    int status = CM_BACKEND_OK;
    const cJSON *item = NULL;
    if (!cJSON_IsObject(rates)) return device_fault(reading, "'rates' is no object");
    cJSON_ArrayForEach(item, rates) {
        if (status == CM_BACKEND_OK) status = take_rate(reading, item);
    }
    return status;
}

static int take_member(const struct reading *reading, const cJSON *item) {
    struct device_model *ret = reading->ret;
    double bytes = 0;
    if (text_equal(item->string, "schema")) {
        if (cJSON_IsString(item) && text_equal(item->valuestring, "costmodel/device/1"))
            return CM_BACKEND_OK;
        return device_fault(reading, "want the schema \"costmodel/device/1\"");
    }
    if (text_equal(item->string, "name")) return take_text(reading, item, &ret->title);
    if (text_equal(item->string, "source")) return take_text(reading, item, &ret->source);
    if (text_equal(item->string, "rates")) return take_rates(reading, item);
    if (text_equal(item->string, "bandwidth"))
        return take_number(reading, item, &ret->bandwidth);
    if (text_equal(item->string, "floor")) return take_number(reading, item, &ret->floor);
    if (!text_equal(item->string, "memory_bytes")) return unknown_key(reading, item);
    const int status = take_number(reading, item, &bytes);
    ret->memory_bytes = (int64_t)bytes;
    return status;
}

static int check_whole(const struct reading *reading) {
    double most = 0;
    for (int i = RATE_NONE + 1; i < N_RATES; i++) most = fmax(most, reading->ret->rates[i]);
    if (reading->ret->title == NULL) return device_fault(reading, "has no 'name'");
    if (reading->ret->bandwidth <= 0) return device_fault(reading, "has no 'bandwidth'");
    if (most <= 0) return device_fault(reading, "has no rate");
    return CM_BACKEND_OK;
}

static int take_object(const struct reading *reading, const char *text) {
    int status = CM_BACKEND_OK;
    const cJSON *item = NULL;
    cJSON *root = cJSON_Parse(text);
    if (!cJSON_IsObject(root)) status = device_fault(reading, "is no JSON object");
    if (status == CM_BACKEND_OK && cJSON_GetObjectItemCaseSensitive(root, "schema") == NULL)
        status = device_fault(reading, "want the schema \"costmodel/device/1\"");
    if (status == CM_BACKEND_OK) {
        cJSON_ArrayForEach(item, root) {
            if (status == CM_BACKEND_OK) status = take_member(reading, item);
        }
    }
    cJSON_Delete(root);
    return status == CM_BACKEND_OK ? check_whole(reading) : status;
}

/* The whole file, NUL behind it. The sink has the system's reason. */
static int read_text(const struct reading *reading, struct cm_diagnostics *diag,
                     const char **ret) {
    struct source *source = NULL;
    size_t got = 0;
    char *text = arena_alloc(reading->arena, MOST_BYTES + 1);
    if (text == NULL) return no_memory(reading);
    int status = source_open(reading->path, diag, &source);
    if (status == CM_OK) status = source_read(source, text, MOST_BYTES, &got, diag);
    source_close(source);
    if (status != CM_OK) {
        const bool told = cm_diagnostics_count(diag) > 0;
        return reason_fail(reading->reason, CM_BACKEND_REFUSED, "device file: %s",
                           told ? cm_diagnostics_get(diag, 0)->message : "cannot be read");
    }
    if (got == MOST_BYTES) return device_fault(reading, "is larger than a description can be");
    *ret = text;
    return CM_BACKEND_OK;
}

int device_read(const char *path, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) {
    struct device_model model = {.name = path};
    const struct reading reading = {path, arena, &model, reason};
    const char *text = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return no_memory(&reading);
    int status = read_text(&reading, diag, &text);
    cm_diagnostics_free(diag);
    if (status == CM_BACKEND_OK) status = take_object(&reading, text);
    if (status == CM_BACKEND_OK) *ret = model;
    return status;
}
