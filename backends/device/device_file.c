/* SPDX-License-Identifier: Apache-2.0 */
/* Device files: small JSON files (docs/devices.md, docs/device.schema.json). A figure is a
 * number, or an object with its source:
 *     "fp32": {"value": 67e12, "source": "data sheet", "where": "FP32", "checked": "copy"}
 * Unknown keys are errors: the user would believe that the figure is used. */
#include "backends/device/devices.h"

#include <math.h>
#include <string.h>

#include "backends/device/collectives.h"
#include "backends/plugin/reason.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_value.h"
#include "support/option_names.h"
#include "support/text.h"

#define MAX_BYTES  ((size_t)65536)
#define MAX_FIGURE 1e18

struct reading {
    const char *path;
    struct arena *arena;
    const struct json_value *root;
    struct device_model *ret;
    struct cm_reason *reason;
};

static int device_fault(const struct reading *reading, const char *what) {
    return reason_fail(reading->reason, CM_BACKEND_REFUSED, "device file '%s': %s",
                       reading->path, what);
}

static int key_fault(const struct reading *reading, const struct json_value *item,
                     const char *what) {
    return reason_fail(reading->reason, CM_BACKEND_REFUSED, "device file '%s': '%s' %s",
                       reading->path, json_key(item), what);
}

static int no_memory(const struct reading *reading) {
    return reason_fail(reading->reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

static int check_text(const struct reading *reading, const struct json_value *item) {
    const char *text = json_string(item);
    if (text != NULL && text[0] != '\0') return CM_BACKEND_OK;
    return key_fault(reading, item, "must be a non-empty string");
}

static int read_string(const struct reading *reading, const struct json_value *item,
                       const char **ret) {
    const int status = check_text(reading, item);
    if (status != CM_BACKEND_OK) return status;
    *ret = arena_strdup(reading->arena, json_string(item));
    return *ret ? CM_BACKEND_OK : no_memory(reading);
}

/* `ret` may be NULL. */
static int read_number(const struct reading *reading, const struct json_value *item,
                       double *ret) {
    double value = 0;
    if (!json_to_double(item, &value) || !(value > 0) || value > MAX_FIGURE)
        return key_fault(reading, item, "must be a number above 0");
    if (ret != NULL) *ret = value;
    return CM_BACKEND_OK;
}

/* Rejects duplicate keys: JSON leaves open which one counts. */
static int check_once(const struct reading *reading, const struct json_value *object,
                      const struct json_value *item) {
    if (json_is_first_of_key(object, item)) return CM_BACKEND_OK;
    return key_fault(reading, item, "is given twice");
}

static int read_sources(const struct reading *reading, const struct json_value *sources) {
    if (!json_is_object(sources)) return key_fault(reading, sources, "must be an object");
    json_each(source, sources) {
        if (!json_is_object(source)) return key_fault(reading, source, "must be an object");
        if (json_get(source, "document") == NULL)
            return key_fault(reading, source, "has no 'document'");
        json_each(item, source) {
            const char *key = json_key(item);
            if (!text_equal(key, "document") && !text_equal(key, "url"))
                return key_fault(reading, item, "is not a known key");
            const int status = check_text(reading, item);
            if (status != CM_BACKEND_OK) return status;
        }
    }
    return CM_BACKEND_OK;
}

/* Checks one member of a figure object. */
static int check_part(const struct reading *reading, const struct json_value *part) {
    static const char *const texts[] = {"source", "where", "derivation", "checked", NULL};
    size_t i = 0;
    if (text_equal(json_key(part), "value")) return read_number(reading, part, NULL);
    while (texts[i] != NULL && !text_equal(texts[i], json_key(part))) i++;
    if (texts[i] == NULL) return key_fault(reading, part, "is not a known key");
    const int status = check_text(reading, part);
    if (status != CM_BACKEND_OK) return status;
    const bool names_source = i == 0 || text_equal(json_key(part), "checked");
    const char *source = json_string(part);
    if (names_source && json_get(json_get(reading->root, "sources"), source) == NULL)
        return reason_fail(reading->reason, CM_BACKEND_REFUSED,
                           "device file '%s': '%s' is not listed in 'sources'", reading->path,
                           source);
    return CM_BACKEND_OK;
}

static int read_figure(const struct reading *reading, const struct json_value *item,
                       double *ret) {
    if (!json_is_object(item)) return read_number(reading, item, ret);
    json_each(part, item) {
        int status = check_once(reading, item, part);
        if (status == CM_BACKEND_OK) status = check_part(reading, part);
        if (status != CM_BACKEND_OK) return status;
    }
    const struct json_value *value = json_get(item, "value");
    if (value == NULL) return key_fault(reading, item, "has no 'value'");
    if (json_get(item, "source") == NULL) return key_fault(reading, item, "has no 'source'");
    return read_number(reading, value, ret);
}

static int read_rates(const struct reading *reading, const struct json_value *rates) {
    if (!json_is_object(rates)) return key_fault(reading, rates, "must be an object");
    json_each(item, rates) {
        int i = RATE_NONE + 1;
        int status = check_once(reading, rates, item);
        if (status != CM_BACKEND_OK) return status;
        while (i < N_RATES &&
               !text_equal(device_rate_name((enum device_rate)i), json_key(item)))
            i++;
        if (i == N_RATES) return key_fault(reading, item, "is not a known key");
        status = read_figure(reading, item, &reading->ret->rates[i]);
        if (status != CM_BACKEND_OK) return status;
    }
    return CM_BACKEND_OK;
}

static int read_count(const struct reading *reading, const struct json_value *item,
                      int32_t *ret) {
    double value = 0;
    const int status = read_figure(reading, item, &value);
    if (status != CM_BACKEND_OK) return status;
    if (value > 1e6) return key_fault(reading, item, "must be <= 1000000");
    *ret = (int32_t)value;
    return CM_BACKEND_OK;
}

static int read_bytes(const struct reading *reading, const struct json_value *item,
                      int64_t *ret) {
    double value = 0;
    const int status = read_figure(reading, item, &value);
    if (status == CM_BACKEND_OK) *ret = (int64_t)value;
    return status;
}

/* Reads "intervals": for each kind of time, the factors [low, high] of the expected time. */
static int read_intervals(const struct reading *reading, const struct json_value *object,
                          struct cm_calibration *ret) {
    if (!json_is_object(object)) return key_fault(reading, object, "must be an object");
    json_each(item, object) {
        int kind = 0;
        double factors[2] = {0, 0};
        size_t n = 0;
        while (kind < CM_N_TIME_KINDS &&
               !text_equal(device_time_kind_name((enum cm_time_kind)kind), json_key(item)))
            kind++;
        if (kind == CM_N_TIME_KINDS) return key_fault(reading, item, "is not a known key");
        json_each(factor, item) {
            if (n == 2 || !json_to_double(factor, &factors[n])) n = 2;
            n++;
        }
        if (n != 2 || !(factors[0] > 0) || !(factors[1] >= factors[0]))
            return key_fault(reading, item, "must be [low, high], two numbers above 0");
        ret->intervals[kind].low = factors[0];
        ret->intervals[kind].high = factors[1];
    }
    return CM_BACKEND_OK;
}

/* Reads one member of the calibration of a runtime. */
static int read_calibrated(const struct reading *reading, const struct json_value *item,
                           struct device_calibration *ret) {
    const char *key = json_key(item);
    struct cm_calibration *fit = &ret->fit;
    size_t i = 0;
    if (text_equal(key, "basis")) return read_string(reading, item, &ret->basis);
    if (text_equal(key, "times")) return read_count(reading, item, &fit->n_times);
    if (text_equal(key, "median_error")) return read_number(reading, item, &fit->median_error);
    if (text_equal(key, "p90_error")) return read_number(reading, item, &fit->p90_error);
    if (text_equal(key, "coverage")) return read_number(reading, item, &fit->coverage);
    if (text_equal(key, "intervals")) return read_intervals(reading, item, fit);
    while (device_efficiency_name(i) != NULL && !text_equal(device_efficiency_name(i), key))
        i++;
    if (device_efficiency_name(i) == NULL)
        return key_fault(reading, item, "is not a known key");
    return read_number(reading, item, device_efficiency_at(&ret->efficiency, i));
}

/* Splits a key of "calibration", as "tensorrt fp16", into runtime and width. */
static bool find_runtime(struct arena *arena, const char *key, struct device_calibration *ret) {
    const char *space = strchr(key, ' ');
    const char *name = space ? arena_printf(arena, "%.*s", (int)(space - key), key) : key;
    int width = WIDTH_ANY;
    if (!name) return false;
    ret->runtime = (enum cm_runtime)option_runtime_find(name);
    if (space)
        for (width++; width < N_WIDTHS; width++)
            if (text_equal(device_width_name((enum device_width)width), space + 1)) break;
    ret->width = (enum device_width)width;
    return ret->runtime != CM_RUNTIME_AUTO && ret->runtime < CM_N_RUNTIMES && width < N_WIDTHS;
}

/* Reads "calibration": the basis of the fits, and the efficiencies by runtime and width. */
static int read_calibration(const struct reading *reading, const struct json_value *object) {
    struct device_model *ret = reading->ret;
    if (!json_is_object(object)) return key_fault(reading, object, "must be an object");
    ret->calibrations =
        arena_array(reading->arena, DEVICE_MAX_CALIBRATIONS, sizeof(*ret->calibrations));
    if (!ret->calibrations) return no_memory(reading);
    json_each(item, object) {
        struct device_calibration calibration = {.runtime = CM_RUNTIME_AUTO};
        int status = check_once(reading, object, item);
        if (status != CM_BACKEND_OK) return status;
        if (text_equal(json_key(item), "basis")) {
            status = read_string(reading, item, &ret->basis);
            if (status != CM_BACKEND_OK) return status;
            continue;
        }
        if (!find_runtime(reading->arena, json_key(item), &calibration))
            return key_fault(reading, item, "is not a known key");
        if (!json_is_object(item)) return key_fault(reading, item, "must be an object");
        json_each(member, item) {
            status = check_once(reading, item, member);
            if (status == CM_BACKEND_OK)
                status = read_calibrated(reading, member, &calibration);
            if (status != CM_BACKEND_OK) return status;
        }
        for (size_t i = 0; i < ret->n_calibrations; i++) /* "eager" and "torch-eager" */
            if (ret->calibrations[i].runtime == calibration.runtime &&
                ret->calibrations[i].width == calibration.width)
                return key_fault(reading, item, "is given twice");
        ret->calibrations[ret->n_calibrations++] = calibration;
    }
    for (size_t i = 0; i < ret->n_calibrations; i++)
        if (ret->basis == NULL && ret->calibrations[i].basis == NULL)
            return key_fault(reading, object, "has no 'basis'");
    if (ret->n_calibrations == 0 && ret->basis == NULL)
        return key_fault(reading, object, "has no 'basis'");
    return CM_BACKEND_OK;
}

/* Reads a constant of a link: seconds, a share or an exponent. */
static int read_constant(const struct reading *reading, const struct json_value *item,
                         double *ret) {
    const int status = read_number(reading, item, ret);
    if (status != CM_BACKEND_OK || *ret <= 100) return status;
    return key_fault(reading, item, "must be <= 100");
}

/* Reads "link" or "network". */
static int read_link(const struct reading *reading, const struct json_value *object,
                     struct device_link *ret) {
    if (!json_is_object(object)) return key_fault(reading, object, "must be an object");
    json_each(item, object) {
        const char *key = json_key(item);
        size_t i = 0;
        int status = check_once(reading, object, item);
        if (status != CM_BACKEND_OK) return status;
        while (device_link_member_name(i) && !text_equal(device_link_member_name(i), key)) i++;
        if (text_equal(key, "name"))
            status = read_string(reading, item, &ret->name);
        else if (text_equal(key, "basis"))
            status = check_text(reading, item);
        else if (text_equal(key, "bytes_per_s"))
            status = read_figure(reading, item, &ret->bytes_per_s);
        else if (device_link_member_name(i))
            status = read_constant(reading, item, device_link_member_at(ret, i));
        else
            status = key_fault(reading, item, "is not a known key");
        if (status != CM_BACKEND_OK) return status;
    }
    if (ret->name == NULL) return key_fault(reading, object, "has no 'name'");
    if (ret->bytes_per_s <= 0) return key_fault(reading, object, "has no 'bytes_per_s'");
    return CM_BACKEND_OK;
}

static int check_schema(const struct reading *reading, const struct json_value *schema) {
    if (text_equal(json_string(schema), "costmodel/device/1")) return CM_BACKEND_OK;
    return device_fault(reading, "schema must be \"costmodel/device/1\"");
}

static int read_member(const struct reading *reading, const struct json_value *item) {
    struct device_model *ret = reading->ret;
    const char *key = json_key(item);
    if (text_equal(key, "schema")) return check_schema(reading, item);
    if (text_equal(key, "name")) return read_string(reading, item, &ret->title);
    if (text_equal(key, "note")) return check_text(reading, item);
    if (text_equal(key, "source")) return read_string(reading, item, &ret->source);
    if (text_equal(key, "sources")) return read_sources(reading, item);
    if (text_equal(key, "architecture")) return read_string(reading, item, &ret->architecture);
    if (text_equal(key, "rates")) return read_rates(reading, item);
    if (text_equal(key, "bandwidth")) return read_figure(reading, item, &ret->bandwidth);
    if (text_equal(key, "calibration")) return read_calibration(reading, item);
    if (text_equal(key, "clock_headroom"))
        return read_figure(reading, item, &ret->clock_headroom);
    if (text_equal(key, "floor")) return read_figure(reading, item, &ret->floor);
    if (text_equal(key, "host_link")) return read_figure(reading, item, &ret->host_link);
    if (text_equal(key, "link")) return read_link(reading, item, &ret->link);
    if (text_equal(key, "network")) return read_link(reading, item, &ret->network);
    if (text_equal(key, "memory_bytes")) return read_bytes(reading, item, &ret->memory_bytes);
    if (text_equal(key, "cache_bytes")) return read_bytes(reading, item, &ret->cache_bytes);
    if (text_equal(key, "units")) return read_count(reading, item, &ret->n_units);
    if (text_equal(key, "threads_per_unit"))
        return read_count(reading, item, &ret->threads_a_unit);
    return key_fault(reading, item, "is not a known key");
}

/* Returns true if a figure of the object has that source. */
static bool any_has_source(const struct json_value *object, const char *source) {
    json_each(item, object) {
        if (json_is_object(item) && text_equal(json_string(json_get(item, "source")), source))
            return true;
    }
    return false;
}

/* Sets the source, unless the file has one, to the documents that figures name as "source": in
 * file order, as many as a report has room for. Omits documents named only as "checked". */
static int join_sources(const struct reading *reading) {
    static const size_t room = CM_NAME_SIZE - sizeof("; ...");
    struct text joined;
    const struct json_value *rates = json_get(reading->root, "rates");
    if (reading->ret->source != NULL) return CM_BACKEND_OK;
    text_init(&joined, reading->arena);
    json_each(item, json_get(reading->root, "sources")) {
        if (!any_has_source(reading->root, json_key(item)) &&
            !any_has_source(rates, json_key(item)))
            continue;
        const char *document = json_string(json_get(item, "document"));
        const bool fits = joined.length + strlen("; ") + strlen(document) <= room;
        if (joined.length > 0) text_append(&joined, "; ");
        text_append(&joined, fits || joined.length == 0 ? document : "...");
        if (!fits) break;
    }
    if (joined.failed) return no_memory(reading);
    if (joined.length > 0) reading->ret->source = text_string(&joined);
    return CM_BACKEND_OK;
}

static int read_root(const struct reading *reading) {
    const struct device_model *ret = reading->ret;
    double largest = 0;
    if (!json_is_object(reading->root)) return device_fault(reading, "is not a JSON object");
    if (json_get(reading->root, "schema") == NULL) return check_schema(reading, NULL);
    json_each(item, reading->root) {
        int status = check_once(reading, reading->root, item);
        if (status == CM_BACKEND_OK) status = read_member(reading, item);
        if (status != CM_BACKEND_OK) return status;
    }
    for (int i = RATE_NONE + 1; i < N_RATES; i++) largest = fmax(largest, ret->rates[i]);
    if (ret->title == NULL) return device_fault(reading, "has no 'name'");
    if (ret->bandwidth <= 0) return device_fault(reading, "has no 'bandwidth'");
    if (largest <= 0) return device_fault(reading, "has no rate");
    return join_sources(reading);
}

int device_parse(const char *path, const char *text, struct arena *arena,
                 struct device_model *ret, struct cm_reason *reason) {
    struct device_model model = {.name = path};
    struct json_value *root = NULL;
    const int parsed = json_parse(text, strlen(text), NULL, &root);
    const struct reading reading = {path, arena, root, &model, reason};
    const int status = parsed == CM_NO_MEMORY ? no_memory(&reading) : read_root(&reading);
    json_free(root);
    if (status == CM_BACKEND_OK) *ret = model;
    return status;
}

int device_read(const char *path, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) {
    const struct reading reading = {path, arena, NULL, NULL, reason};
    struct source *source = NULL;
    size_t got = 0;
    char *text = arena_alloc(arena, MAX_BYTES + 1); /* NUL-terminated */
    struct cm_diagnostics *diag = text ? cm_diagnostics_new() : NULL;
    if (diag == NULL) return no_memory(&reading);
    int status = source_open(path, diag, &source);
    if (status == CM_OK) status = source_read(source, text, MAX_BYTES, &got, diag);
    source_close(source);
    const char *message = "cannot be read";
    if (cm_diagnostics_count(diag) > 0) message = cm_diagnostics_get(diag, 0)->message;
    if (status == CM_NO_MEMORY)
        status = no_memory(&reading);
    else if (status != CM_OK)
        status = reason_fail(reason, CM_BACKEND_REFUSED, "device file: %s", message);
    else if (got == MAX_BYTES)
        status = device_fault(&reading, "is larger than 64 KiB");
    else
        status = device_parse(path, text, arena, ret, reason);
    cm_diagnostics_free(diag);
    return status;
}
