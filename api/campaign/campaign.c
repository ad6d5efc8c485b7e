/* SPDX-License-Identifier: Apache-2.0 */
/* Plans campaigns, reads and checks their manifests, numbers their combinations, and converts
 * combinations to the options of a profile. */
#include "costmodel/campaign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/campaign/campaign.h"
#include "api/handle.h"
#include "backends/device/devices.h"
#include "backends/primitive.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

/* Returns the number of points on an axis with `n` given values; 1, the default, if n is 0. */
static size_t axis(size_t n) {
    return n > 0 ? n : 1;
}

static size_t count_devices(const struct cm_campaign *campaign) {
    return axis(campaign->n_devices + (campaign->measure[0] != '\0'));
}

/* Returns a * b; SIZE_MAX if it overflows. */
static size_t product(size_t a, size_t b) {
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

static size_t count_of_model(const struct cm_campaign *campaign, size_t model) {
    const struct cm_campaign_model *of = &campaign->models[model];
    size_t n = product(axis(campaign->n_batches), axis(campaign->n_precisions));
    n = product(n, count_devices(campaign));
    for (size_t i = 0; i < of->n_dims; i++) n = product(n, of->dims[i].n);
    return n;
}

size_t cm_campaign_count(const struct cm_campaign *campaign) {
    size_t n = 0;
    if (arguments_check(ARGUMENT_cm_campaign, campaign, 1, true, NULL) < 0) return 0;
    for (size_t i = 0; i < campaign->n_models; i++) {
        const size_t more = count_of_model(campaign, i);
        n = more > SIZE_MAX - n ? SIZE_MAX : n + more;
    }
    return n;
}

/* Removes the last digit, of radix n, from *index, a mixed-radix number. Returns the digit. */
static size_t next_digit(size_t *index, size_t n) {
    const size_t at = *index % n;
    *index /= n;
    return at;
}

void cm_campaign_at(const struct cm_campaign *campaign, size_t index, size_t *dims,
                    struct cm_combination *ret) {
    size_t model = 0;
    if (campaign == NULL || dims == NULL || ret == NULL) return;
    for (; model < campaign->n_models && index >= count_of_model(campaign, model); model++)
        index -= count_of_model(campaign, model);
    if (model == campaign->n_models) return;
    const struct cm_campaign_model *of = &campaign->models[model];
    const size_t device = next_digit(&index, count_devices(campaign));
    const size_t precision = next_digit(&index, axis(campaign->n_precisions));
    const size_t batch = next_digit(&index, axis(campaign->n_batches));
    for (size_t i = of->n_dims; i-- > 0;)
        dims[i] = of->dims[i].sizes[next_digit(&index, of->dims[i].n)];
    *ret = (struct cm_combination){
        .model = of,
        .n_dims = of->n_dims,
        .dims = dims,
        .batch = campaign->n_batches > 0 ? (int64_t)campaign->batches[batch] : 0,
        .precision = campaign->n_precisions > 0 ? campaign->precisions[precision] : "file",
        .device = device < campaign->n_devices ? campaign->devices[device] : "",
    };
}

/* Refuses a text that JSON cannot represent. `what` is the kind of text: "path". */
static int check_utf8(const char *what, const char *text, struct cm_diagnostics *diag) {
    if (text_is_utf8(text, strlen(text))) return CM_OK;
    return diag_error(diag, DIAG_USAGE, "%s '%s' must be UTF-8, as in a manifest", what, text);
}

static int check_devices(const struct cm_campaign *campaign, struct arena *arena,
                         struct cm_diagnostics *diag) {
    struct device_model model;
    struct cm_reason reason = {""};
    int status = check_utf8("backend", campaign->measure, diag);
    for (size_t i = 0; i < campaign->n_devices && status == CM_OK; i++)
        status = check_utf8("device", campaign->devices[i], diag);
    if (status < 0) return status;
    for (size_t i = 0; i < campaign->n_devices; i++) {
        const int found = device_find(campaign->devices[i], arena, &model, &reason);
        if (found == CM_BACKEND_NO_MEMORY) return diag_no_memory(diag);
        if (found != CM_BACKEND_OK) return diag_error(diag, DIAG_USAGE, "%s", reason.text);
    }
    return CM_OK;
}

static int check_path(const char *path, struct cm_diagnostics *diag) {
    if (!text_equal(path, "-")) return check_utf8("path", path, diag);
    return diag_error(diag, DIAG_USAGE, "sweep requires files, not standard input");
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses equal values in a list. `what` is the kind of value: "device". */
static int check_texts(const char *what, const char *const *texts, size_t n,
                       struct arena *arena, struct cm_diagnostics *diag) {
    if (n < 2) return CM_OK;
    const char **sorted = arena_copy(arena, texts, n * sizeof(*texts));
    if (sorted == NULL) return CM_NO_MEMORY;
    qsort(sorted, n, sizeof(*sorted), compare_texts);
    for (size_t i = 1; i < n; i++)
        if (text_equal(sorted[i - 1], sorted[i]))
            return diag_error(diag, DIAG_USAGE, "%s '%s' is given twice", what, sorted[i]);
    return CM_OK;
}

static int compare_sizes(const void *a, const void *b) {
    const size_t one = *(const size_t *)a;
    const size_t two = *(const size_t *)b;
    return (one > two) - (one < two);
}

static int check_sizes(const char *what, const size_t *sizes, size_t n, struct arena *arena,
                       struct cm_diagnostics *diag) {
    if (n < 2) return CM_OK;
    size_t *sorted = arena_copy(arena, sizes, n * sizeof(*sizes));
    if (sorted == NULL) return CM_NO_MEMORY;
    qsort(sorted, n, sizeof(*sorted), compare_sizes);
    for (size_t i = 1; i < n; i++)
        if (sorted[i - 1] == sorted[i])
            return diag_error(diag, DIAG_USAGE, "%s %zu is given twice", what, sorted[i]);
    return CM_OK;
}

/* Refuses repeated values of an axis and repeated models without dims. A manifest may repeat a
 * model that has dims, to give it other sizes. */
static int check_unique(const struct cm_campaign *campaign, struct arena *arena,
                        struct cm_diagnostics *diag) {
    const char **fixed = arena_array(arena, campaign->n_models, sizeof(*fixed));
    size_t n_fixed = 0;
    if (fixed == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < campaign->n_models; i++) {
        const struct cm_campaign_model *model = &campaign->models[i];
        const char *names[CM_CAMPAIGN_MAX_DIMS];
        if (model->n_dims == 0) fixed[n_fixed++] = model->path;
        for (size_t k = 0; k < model->n_dims; k++) {
            const struct cm_campaign_dim *dim = &model->dims[k];
            const struct arena_mark mark = arena_save(arena);
            names[k] = dim->name;
            const int status = check_sizes("size", dim->sizes, dim->n, arena, diag);
            if (status < 0) return status;
            arena_restore(arena, mark);
        }
        const int status = check_texts("dim", names, model->n_dims, arena, diag);
        if (status < 0) return status;
    }
    int status = check_texts("model", fixed, n_fixed, arena, diag);
    if (status == CM_OK)
        status = check_sizes("batch", campaign->batches, campaign->n_batches, arena, diag);
    if (status == CM_OK)
        status =
            check_texts("precision", campaign->precisions, campaign->n_precisions, arena, diag);
    if (status == CM_OK)
        status = check_texts("device", campaign->devices, campaign->n_devices, arena, diag);
    return status;
}

static const char *const mode_names[] = {
    [CM_MODE_MODEL] = "model",
    [CM_MODE_TRAINING] = "training",
    [CM_MODE_INFERENCE] = "inference",
};

static const char *mode_name(int32_t i) {
    return mode_names[i];
}

/* Sets *ret to the index of `name` among n names; leaves *ret unchanged if `name` is empty. */
static int find_name(const char *what, const char *name, const char *(*name_at)(int32_t), int n,
                     struct cm_diagnostics *diag, int *ret) {
    if (name[0] == '\0') return CM_OK;
    for (int i = 0; i < n; i++) {
        if (!text_equal(name, name_at(i))) continue;
        *ret = i;
        return CM_OK;
    }
    return diag_error(diag, DIAG_USAGE, "unknown %s '%s'", what, name);
}

static int find_precision(const char *name, struct cm_diagnostics *diag,
                          enum cm_precision *ret) {
    int precision = CM_PRECISION_AS_STORED;
    const int status = find_name("precision", name, primitive_precision_name, CM_N_PRECISIONS,
                                 diag, &precision);
    *ret = (enum cm_precision)precision;
    return status;
}

int campaign_options(const struct cm_campaign *campaign, struct arena *arena,
                     struct cm_diagnostics *diag, struct cm_options *ret) {
    enum cm_precision precision = CM_PRECISION_AS_STORED;
    cm_options_init(ret);
    int mode = (int)ret->mode;
    int runtime = (int)ret->runtime;
    int status = find_name("mode", campaign->mode, mode_name,
                           (int)(sizeof(mode_names) / sizeof(*mode_names)), diag, &mode);
    if (status == CM_OK)
        status = find_name("runtime", campaign->runtime, primitive_runtime_name, CM_N_RUNTIMES,
                           diag, &runtime);
    for (size_t i = 0; status == CM_OK && i < campaign->n_precisions; i++)
        status = find_precision(campaign->precisions[i], diag, &precision);
    if (status < 0) return status;
    ret->mode = (enum cm_mode)mode;
    ret->runtime = (enum cm_runtime)runtime;
    if (campaign->convention[0] != '\0') ret->convention = campaign->convention;
    if (campaign->optimizer[0] != '\0') ret->optimizer = campaign->optimizer;
    return profile_options_check(ret, arena, diag);
}

const char *campaign_difference(const struct cm_options *a, const struct cm_options *b) {
    const char *optimizers[] = {a->optimizer ? a->optimizer : "",
                                b->optimizer ? b->optimizer : ""};
    if (!text_equal(a->convention, b->convention)) return "conventions";
    if (a->mode != b->mode) return "modes";
    if (!text_equal(optimizers[0], optimizers[1])) return "optimizers";
    return a->runtime != b->runtime ? "runtimes" : NULL;
}

int campaign_point(const struct cm_campaign *campaign, const struct cm_combination *at,
                   struct arena *arena, struct cm_sweep_point *ret) {
    struct cm_dim_option *dims = arena_array(arena, at->n_dims, sizeof(*dims));
    const char *backend = campaign->measure[0] != '\0' ? campaign->measure : NULL;
    if (at->device[0] != '\0') backend = arena_printf(arena, "roofline:device=%s", at->device);
    for (size_t i = 0; dims != NULL && i < at->n_dims; i++)
        dims[i] = (struct cm_dim_option){at->model->dims[i].name, (int64_t)at->dims[i]};
    *ret = (struct cm_sweep_point){
        .batch = at->batch, .n_dims = at->n_dims, .dims = dims, .backend = backend};
    if (find_precision(at->precision, NULL, &ret->precision) < 0) BUG("unchecked precision");
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}

int campaign_check(const struct cm_campaign *campaign, struct cm_diagnostics *diag) {
    struct cm_options options;
    if (campaign->n_models == 0)
        return diag_error(diag, DIAG_USAGE, "a campaign requires a model");
    for (size_t i = 0; i < campaign->n_models; i++) {
        const struct cm_campaign_model *model = &campaign->models[i];
        const int status = check_path(model->path, diag);
        if (status < 0) return status;
        if (model->n_dims > CM_CAMPAIGN_MAX_DIMS)
            return diag_error(diag, DIAG_USAGE, "model '%s' must vary at most %d dims, got %zu",
                              model->path, CM_CAMPAIGN_MAX_DIMS, model->n_dims);
        for (size_t k = 0; k < model->n_dims; k++)
            if (model->dims[k].n == 0)
                return diag_error(diag, DIAG_USAGE, "dim '%s' of model '%s' requires a size",
                                  model->dims[k].name, model->path);
    }
    for (size_t i = 0; i < campaign->n_batches; i++)
        if (campaign->batches[i] == 0)
            return diag_error(diag, DIAG_USAGE, "batch must be >= 1, got 0");
    if (campaign->amp)
        return diag_error(diag, DIAG_USAGE, "'amp' must be a value of 'precisions'");
    if (cm_campaign_count(campaign) > CAMPAIGN_MAX_COMBINATIONS)
        return diag_error(diag, DIAG_LIMIT, "a campaign has at most %d combinations",
                          CAMPAIGN_MAX_COMBINATIONS);
    struct arena *arena = arena_new("campaign", 0);
    int status = arena ? campaign_options(campaign, arena, diag, &options) : CM_NO_MEMORY;
    if (status == CM_OK) status = check_devices(campaign, arena, diag);
    if (status == CM_OK) status = check_unique(campaign, arena, diag);
    if (arena == NULL) return diag_no_memory(diag);
    return diag_finish(diag, arena_end(arena, status));
}

int cm_campaign_read_file(const char *path, struct cm_diagnostics *diagnostics,
                          struct cm_campaign **ret_campaign) {
    if (path == NULL || ret_campaign == NULL) return diag_null(diagnostics);
    struct source *source = NULL;
    struct cm_campaign *campaign = NULL;
    int status = source_open(path, diagnostics, &source);
    if (status < 0) return status;
    struct arena *arena = arena_new("manifest", 0);
    char *text = NULL;
    size_t size = 0;
    status = arena ? source_read_all(source, FILE_MAX_JSON, arena, diagnostics, &text, &size)
                   : diag_no_memory(diagnostics);
    if (status == CM_OK)
        status = json_document_read(&json_campaign, text, size, source_name(source),
                                    diagnostics, &campaign);
    arena_free(arena);
    source_close(source);
    if (status == CM_OK) status = campaign_check(campaign, diagnostics);
    if (status == CM_OK)
        *ret_campaign = campaign;
    else
        cm_campaign_free(campaign);
    return status;
}

int64_t campaign_file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size
                                                               : CM_UNKNOWN;
}

const char *campaign_digest(const struct cm_model *model, struct arena *arena) {
    return arena_printf(arena, "%016" PRIx64, source_digest(model->source));
}

/* Records the size and digest of a model's file, unless it is missing. Sets *ret_loaded to the
 * model; NULL if it cannot be read. */
static int record_file(struct cm_campaign_model *model, struct arena *arena,
                       struct cm_model **ret_loaded) {
    const int64_t bytes = campaign_file_bytes(model->path);
    *ret_loaded = NULL;
    if (!is_known(bytes)) return CM_OK;
    model->bytes = bytes;
    model->digest = NULL;
    const int status = model_load(model->path, true, NULL, ret_loaded);
    if (status == CM_OK) model->digest = campaign_digest(*ret_loaded, arena);
    return status == CM_NO_MEMORY ? status : CM_OK;
}

int campaign_record(const struct cm_campaign *campaign, bool again, struct arena *arena,
                    struct cm_campaign *ret) {
    struct cm_campaign_model *models =
        arena_copy(arena, campaign->models, campaign->n_models * sizeof(*models));
    if (models == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < campaign->n_models; i++) {
        struct cm_model *loaded = NULL;
        struct cm_campaign_model now = models[i];
        if (!again && models[i].digest != NULL) continue;
        const int status = record_file(&now, arena, &loaded);
        cm_model_free(loaded);
        if (status < 0) return status;
        if (again || !is_known(models[i].bytes) || models[i].bytes == now.bytes)
            models[i] = now;
    }
    *ret = *campaign;
    ret->models = models;
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}

static const struct cm_campaign_dim *find_dim(const struct cm_campaign_dim *dims, size_t n,
                                              const char *name) {
    for (size_t i = 0; i < n; i++)
        if (text_equal(dims[i].name, name)) return &dims[i];
    return NULL;
}

/* Plans a model with the wanted dims that it has; one that cannot be read has none. */
static int plan_model(const char *path, const struct cm_campaign_dim *wanted, size_t n_wanted,
                      struct arena *arena, struct cm_diagnostics *diag,
                      struct cm_campaign_model *ret) {
    struct cm_model *loaded = NULL;
    struct cm_dims *known = NULL;
    struct cm_options options;
    struct cm_campaign_dim *dims = arena_array(arena, n_wanted, sizeof(*dims));
    cm_options_init(&options);
    if (dims == NULL) return CM_NO_MEMORY;
    *ret = (struct cm_campaign_model){.path = path, .bytes = CM_UNKNOWN, .dims = dims};
    int status = check_path(path, diag);
    if (status == CM_OK) status = record_file(ret, arena, &loaded);
    if (loaded == NULL) return status;
    if (n_wanted > 0) status = cm_model_dims(loaded, &options, NULL, &known);
    for (size_t i = 0; status == CM_OK && i < n_wanted; i++) {
        bool is_known_dim = false;
        for (size_t k = 0; k < known->n; k++)
            is_known_dim = is_known_dim || text_equal(known->dims[k].name, wanted[i].name);
        if (is_known_dim) dims[ret->n_dims++] = wanted[i];
    }
    cm_dims_free(known);
    cm_model_free(loaded);
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* Refuses dims that no model has. */
static int check_dims(const struct cm_campaign *campaign, const struct cm_campaign_dim *dims,
                      size_t n, struct cm_diagnostics *diag) {
    for (size_t i = 0; i < n; i++) {
        bool is_used = false;
        for (size_t k = 0; k < campaign->n_models && !is_used; k++)
            is_used = find_dim(campaign->models[k].dims, campaign->models[k].n_dims,
                               dims[i].name) != NULL;
        if (!is_used)
            return diag_error(diag, DIAG_USAGE, "no model has the symbolic dim '%s'",
                              dims[i].name);
    }
    return CM_OK;
}

/* Resolves the names of the devices; "all" becomes every built-in device. */
static int plan_devices(const struct cm_campaign *wanted, struct arena *arena,
                        struct cm_diagnostics *diag, struct cm_campaign *ret) {
    size_t n = 0;
    size_t n_all = 0;
    while (device_name_at(n_all) != NULL) n_all++;
    const char **names = arena_array(arena, wanted->n_devices * axis(n_all), sizeof(*names));
    if (names == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < wanted->n_devices; i++) {
        const char *name = NULL;
        if (text_equal(wanted->devices[i], "all")) {
            for (size_t k = 0; k < n_all; k++) names[n++] = device_name_at(k);
            continue;
        }
        const int status = cm_device_resolve(wanted->devices[i], diag, &name);
        if (status < 0) return status;
        names[n++] = arena_strdup(arena, name);
    }
    ret->n_devices = n;
    ret->devices = names;
    return CM_OK;
}

/* Copies the lists and texts of `wanted` into `arena`. Each model gets its own of `dims`. */
static int plan(const struct cm_campaign *wanted, const struct cm_campaign_dim *dims,
                size_t n_dims, struct arena *arena, struct cm_diagnostics *diag,
                struct cm_campaign *ret) {
    const char **paths = arena_array(arena, wanted->n_models, sizeof(*paths));
    struct cm_campaign_dim *own = arena_array(arena, n_dims, sizeof(*own));
    struct cm_campaign_model *models = arena_array(arena, wanted->n_models, sizeof(*models));
    const char **precisions = arena_array(arena, wanted->n_precisions, sizeof(*precisions));
    if (!paths || !own || !models || !precisions) return CM_NO_MEMORY;
    *ret = *wanted;
    for (size_t i = 0; i < wanted->n_models; i++) paths[i] = wanted->models[i].path;
    int status = check_texts("model", paths, wanted->n_models, arena, diag);
    if (status < 0) return status;
    for (size_t i = 0; i < n_dims; i++) {
        own[i] = dims[i];
        own[i].name = arena_strdup(arena, dims[i].name);
        own[i].sizes = arena_copy(arena, dims[i].sizes, dims[i].n * sizeof(*dims[i].sizes));
    }
    for (size_t i = 0; i < wanted->n_models; i++) {
        const char *path = arena_strdup(arena, wanted->models[i].path);
        if (path == NULL) return CM_NO_MEMORY;
        status = plan_model(path, own, n_dims, arena, diag, &models[i]);
        if (status < 0) return status;
    }
    ret->models = models;
    status = check_dims(ret, own, n_dims, diag);
    if (status < 0) return status;
    for (size_t i = 0; i < wanted->n_precisions; i++)
        precisions[i] = arena_strdup(arena, wanted->precisions[i]);
    ret->precisions = precisions;
    ret->batches =
        arena_copy(arena, wanted->batches, wanted->n_batches * sizeof(*wanted->batches));
    ret->measure = arena_strdup(arena, wanted->measure);
    ret->runtime = arena_strdup(arena, wanted->runtime);
    ret->convention = arena_strdup(arena, wanted->convention);
    ret->mode = arena_strdup(arena, wanted->mode);
    ret->optimizer = arena_strdup(arena, wanted->optimizer);
    ret->arena = arena;
    status = plan_devices(wanted, arena, diag, ret);
    return arena_failed(arena) ? CM_NO_MEMORY : status;
}

/* Returns a list of *n items of `size` bytes, and of those of `more` that it lacks; NULL if out
 * of memory. */
static void *unite(const void *list, size_t *n, const void *more, size_t n_more, size_t size,
                   int (*compare)(const void *, const void *), struct arena *arena) {
    char *all = arena_array(arena, *n + n_more, size);
    if (all == NULL) return NULL;
    if (*n > 0) memcpy(all, list, *n * size);
    for (size_t i = 0; i < n_more; i++) {
        const char *item = (const char *)more + i * size;
        size_t at = 0;
        while (at < *n && compare(all + at * size, item) != 0) at++;
        if (at == *n) memcpy(all + (*n)++ * size, item, size);
    }
    return all;
}

/* Adds the sizes of `more` to those of the list; `appends`: also dims that it lacks, for which
 * it has room. */
static int unite_dims(const struct cm_campaign_dim *more, size_t n_more, bool appends,
                      struct arena *arena, size_t *n, struct cm_campaign_dim *list) {
    for (size_t i = 0; i < n_more; i++) {
        size_t at = 0;
        while (at < *n && !text_equal(list[at].name, more[i].name)) at++;
        if (at == *n && !appends) continue;
        if (at == *n) list[(*n)++] = (struct cm_campaign_dim){.name = more[i].name};
        list[at].sizes = unite(list[at].sizes, &list[at].n, more[i].sizes, more[i].n,
                               sizeof(size_t), compare_sizes, arena);
        if (list[at].sizes == NULL) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* Refuses options other than those of `before`, and values of an axis that it lacks: its
 * combinations have none of these, and would not be part of the larger campaign. */
static int check_extension(const struct cm_campaign *before, const struct cm_campaign *wanted,
                           struct arena *arena, struct cm_diagnostics *diag) {
    struct cm_options options[2];
    struct cm_campaign own = *wanted;
    const char *lacks = NULL;
    if (own.convention[0] == '\0') own.convention = before->convention;
    if (own.mode[0] == '\0') own.mode = before->mode;
    if (own.optimizer[0] == '\0') own.optimizer = before->optimizer;
    if (own.runtime[0] == '\0') own.runtime = before->runtime;
    int status = campaign_options(before, arena, diag, &options[0]);
    if (status == CM_OK) status = campaign_options(&own, arena, diag, &options[1]);
    if (status < 0) return status;
    const char *what = campaign_difference(&options[0], &options[1]);
    if (own.measure[0] != '\0' && !text_equal(own.measure, before->measure)) what = "backends";
    if (wanted->n_batches > 0 && before->n_batches == 0) lacks = "batches";
    if (wanted->n_precisions > 0 && before->n_precisions == 0) lacks = "precisions";
    if (wanted->n_devices > 0 && before->n_devices == 0 && before->measure[0] == '\0')
        lacks = "devices";
    if (what == NULL && lacks == NULL) return CM_OK;
    status = what != NULL
                 ? diag_error(diag, DIAG_USAGE, "the campaign to extend has other %s", what)
                 : diag_error(diag, DIAG_USAGE, "the campaign to extend was planned without %s",
                              lacks);
    diag_hint(diag, "use another folder");
    return status;
}

static bool has_path(const struct cm_campaign_model *models, size_t n, const char *path) {
    size_t i = 0;
    while (i < n && !text_equal(models[i].path, path)) i++;
    return i < n;
}

/* Unites the models. Those before get more sizes of the dims that they vary, unless an earlier
 * one of the same file has; new models get all sizes of the dims that they have. */
static int extend_models(const struct cm_campaign *before, const struct cm_campaign *wanted,
                         const struct cm_campaign_dim *dims, size_t n_dims, struct arena *arena,
                         struct cm_diagnostics *diag, struct cm_campaign *ret) {
    size_t n_all = 0;
    size_t room = n_dims;
    for (size_t i = 0; i < before->n_models; i++) room += before->models[i].n_dims;
    struct cm_campaign_dim *all = arena_array(arena, room, sizeof(*all));
    struct cm_campaign_model *models =
        arena_array(arena, before->n_models + wanted->n_models, sizeof(*models));
    if (all == NULL || models == NULL) return CM_NO_MEMORY;
    int status = CM_OK;
    for (size_t i = 0; i < before->n_models && status == CM_OK; i++) {
        const struct cm_campaign_model *old = &before->models[i];
        struct cm_campaign_dim *own = arena_copy(arena, old->dims, old->n_dims * sizeof(*own));
        models[i] = *old;
        models[i].dims = own;
        if (own == NULL) return CM_NO_MEMORY;
        status = unite_dims(old->dims, old->n_dims, true, arena, &n_all, all);
        if (status == CM_OK && !has_path(models, i, old->path))
            status = unite_dims(dims, n_dims, false, arena, &models[i].n_dims, own);
    }
    if (status == CM_OK) status = unite_dims(dims, n_dims, true, arena, &n_all, all);
    ret->models = models;
    for (size_t i = 0; i < wanted->n_models && status == CM_OK; i++) {
        const char *path = wanted->models[i].path;
        if (has_path(models, ret->n_models, path)) continue;
        status = plan_model(path, all, n_all, arena, diag, &models[ret->n_models++]);
    }
    return status < 0 ? status : check_dims(ret, dims, n_dims, diag);
}

static int extend(const struct cm_campaign *before, const struct cm_campaign *wanted,
                  const struct cm_campaign_dim *dims, size_t n_dims, struct arena *arena,
                  struct cm_diagnostics *diag, struct cm_campaign *ret) {
    struct cm_campaign own;
    int status = check_extension(before, wanted, arena, diag);
    if (status == CM_OK) status = plan_devices(wanted, arena, diag, &own);
    if (status < 0) return status;
    *ret = *before;
    ret->arena = arena;
    ret->batches = unite(before->batches, &ret->n_batches, wanted->batches, wanted->n_batches,
                         sizeof(size_t), compare_sizes, arena);
    ret->precisions = unite(before->precisions, &ret->n_precisions, wanted->precisions,
                            wanted->n_precisions, sizeof(char *), compare_texts, arena);
    ret->devices = unite(before->devices, &ret->n_devices, own.devices, own.n_devices,
                         sizeof(char *), compare_texts, arena);
    status = extend_models(before, wanted, dims, n_dims, arena, diag, ret);
    return arena_failed(arena) ? CM_NO_MEMORY : status;
}

/* Makes a campaign of its own, or one that extends `before`; NULL: none. */
static int make(const struct cm_campaign *before, const struct cm_campaign *wanted,
                const struct cm_campaign_dim *dims, size_t n_dims, struct cm_diagnostics *diag,
                struct cm_campaign **ret) {
    struct arena *arena = arena_new("campaign", 0);
    struct cm_campaign *campaign = arena ? arena_alloc(arena, sizeof(*campaign)) : NULL;
    int status = CM_NO_MEMORY;
    if (campaign != NULL && before == NULL)
        status = plan(wanted, dims, n_dims, arena, diag, campaign);
    else if (campaign != NULL)
        status = extend(before, wanted, dims, n_dims, arena, diag, campaign);
    if (status == CM_OK) status = campaign_check(campaign, diag);
    if (status == CM_OK)
        *ret = campaign;
    else
        arena_free(arena);
    return diag_finish(diag, status);
}

int cm_campaign_plan(const struct cm_campaign *wanted, const struct cm_campaign_dim *dims,
                     size_t n_dims, struct cm_diagnostics *diagnostics,
                     struct cm_campaign **ret_campaign) {
    int status = arguments_check(ARGUMENT_cm_campaign_dim, dims, n_dims, wanted && ret_campaign,
                                 diagnostics);
    if (status == CM_OK)
        status = arguments_check(ARGUMENT_cm_campaign, wanted, 1, true, diagnostics);
    if (status < 0) return status;
    return make(NULL, wanted, dims, n_dims, diagnostics, ret_campaign);
}

int cm_campaign_extend(const struct cm_campaign *before, const struct cm_campaign *wanted,
                       const struct cm_campaign_dim *dims, size_t n_dims,
                       struct cm_diagnostics *diagnostics, struct cm_campaign **ret_campaign) {
    int status = arguments_check(ARGUMENT_cm_campaign_dim, dims, n_dims,
                                 before && wanted && ret_campaign, diagnostics);
    if (status == CM_OK)
        status = arguments_check(ARGUMENT_cm_campaign, before, 1, true, diagnostics);
    if (status == CM_OK)
        status = arguments_check(ARGUMENT_cm_campaign, wanted, 1, true, diagnostics);
    if (status < 0) return status;
    return make(before, wanted, dims, n_dims, diagnostics, ret_campaign);
}
