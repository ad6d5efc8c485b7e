/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks manifests of campaigns, numbers their combinations, and converts
 * combinations to the options of a profile. */
#include "costmodel/campaign.h"

#include <stdlib.h>
#include <string.h>

#include "api/campaign/campaign.h"
#include "api/half.h"
#include "api/handle.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/option_names.h"
#include "support/sort.h"
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
    int status = check_utf8("backend", campaign->measure, diag);
    for (size_t i = 0; i < campaign->n_devices && status == CM_OK; i++)
        status = check_utf8("device", campaign->devices[i], diag);
    for (size_t i = 0; i < campaign->n_devices && status == CM_OK; i++)
        status = half_check_device(campaign->devices[i], arena, diag);
    return status;
}

static int check_path(const char *path, struct cm_diagnostics *diag) {
    if (!text_equal(path, "-")) return check_utf8("path", path, diag);
    return diag_error(diag, DIAG_USAGE, "sweep requires files, not standard input");
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int campaign_check_texts(const char *what, const char *const *texts, size_t n,
                         struct arena *arena, struct cm_diagnostics *diag) {
    if (n < 2) return CM_OK;
    const char **sorted = arena_copy(arena, texts, n * sizeof(*texts));
    if (sorted == NULL) return CM_NO_MEMORY;
    sort_stable(sorted, n, sizeof(*sorted), compare_texts);
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
    sort_stable(sorted, n, sizeof(*sorted), compare_sizes);
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
        const int status = campaign_check_texts("dim", names, model->n_dims, arena, diag);
        if (status < 0) return status;
    }
    int status = campaign_check_texts("model", fixed, n_fixed, arena, diag);
    if (status == CM_OK)
        status = check_sizes("batch", campaign->batches, campaign->n_batches, arena, diag);
    if (status == CM_OK)
        status = campaign_check_texts("precision", campaign->precisions, campaign->n_precisions,
                                      arena, diag);
    if (status == CM_OK)
        status =
            campaign_check_texts("device", campaign->devices, campaign->n_devices, arena, diag);
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
    const int status =
        find_name("precision", name, option_precision_name, CM_N_PRECISIONS, diag, &precision);
    *ret = (enum cm_precision)precision;
    return status;
}

int campaign_options(const struct cm_campaign *campaign, struct arena *arena,
                     struct cm_diagnostics *diag, struct cm_options *ret) {
    enum cm_precision precision = CM_PRECISION_AS_STORED;
    cm_options_init(ret);
    int mode = (int)ret->mode;
    int status = find_name("mode", campaign->mode, mode_name,
                           (int)(sizeof(mode_names) / sizeof(*mode_names)), diag, &mode);
    if (campaign->runtime[0] != '\0')
        ret->runtime = (enum cm_runtime)option_runtime_find(campaign->runtime);
    if (status == CM_OK && ret->runtime >= CM_N_RUNTIMES)
        status = diag_error(diag, DIAG_USAGE, "unknown runtime '%s'", campaign->runtime);
    for (size_t i = 0; status == CM_OK && i < campaign->n_precisions; i++)
        status = find_precision(campaign->precisions[i], diag, &precision);
    if (status < 0) return status;
    ret->mode = (enum cm_mode)mode;
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
    struct cm_campaign *campaign = NULL;
    struct arena *arena = arena_new("manifest", 0);
    char *text = NULL;
    size_t size = 0;
    int status = source_read_file(path, FILE_MAX_JSON, arena, diagnostics, &text, &size);
    if (status == CM_OK)
        status = json_document_read(&json_campaign, text, size, path, diagnostics, &campaign);
    arena_free(arena);
    if (status == CM_OK) status = campaign_check(campaign, diagnostics);
    if (status == CM_OK)
        *ret_campaign = campaign;
    else
        cm_campaign_free(campaign);
    return status;
}
