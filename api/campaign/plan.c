/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and extends campaigns, and records the files of their models. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "api/campaign/campaign.h"
#include "api/half.h"
#include "api/handle.h"
#include "costmodel/campaign.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

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
                      struct arena *arena, struct cm_campaign_model *ret) {
    struct cm_model *loaded = NULL;
    struct cm_dims *known = NULL;
    struct cm_options options;
    struct cm_campaign_dim *dims = arena_array(arena, n_wanted, sizeof(*dims));
    cm_options_init(&options);
    if (dims == NULL) return CM_NO_MEMORY;
    *ret = (struct cm_campaign_model){.path = path, .bytes = CM_UNKNOWN, .dims = dims};
    int status = record_file(ret, arena, &loaded);
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
    while (half_device_name(n_all) != NULL) n_all++;
    const char **names = arena_array(arena, wanted->n_devices * (n_all + 1), sizeof(*names));
    if (names == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < wanted->n_devices; i++) {
        const char *name = NULL;
        if (text_equal(wanted->devices[i], "all")) {
            for (size_t k = 0; k < n_all; k++) names[n++] = half_device_name(k);
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
    int status = campaign_check_texts("model", paths, wanted->n_models, arena, diag);
    if (status < 0) return status;
    for (size_t i = 0; i < n_dims; i++) {
        own[i] = dims[i];
        own[i].name = arena_strdup(arena, dims[i].name);
        own[i].sizes = arena_copy(arena, dims[i].sizes, dims[i].n * sizeof(*dims[i].sizes));
    }
    for (size_t i = 0; i < wanted->n_models; i++) {
        const char *path = arena_strdup(arena, wanted->models[i].path);
        if (path == NULL) return CM_NO_MEMORY;
        status = plan_model(path, own, n_dims, arena, &models[i]);
        if (status < 0) return status;
    }
    ret->models = models;
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

static bool equal_texts(const void *a, const void *b) {
    return text_equal(*(const char *const *)a, *(const char *const *)b);
}

static bool equal_sizes(const void *a, const void *b) {
    return *(const size_t *)a == *(const size_t *)b;
}

/* Returns a list of *n items of `size` bytes, and of those of `more` that it lacks; NULL if out
 * of memory. */
static void *unite(const void *list, size_t *n, const void *more, size_t n_more, size_t size,
                   bool (*equal)(const void *, const void *), struct arena *arena) {
    char *all = arena_array(arena, *n + n_more, size);
    if (all == NULL) return NULL;
    if (*n > 0) memcpy(all, list, *n * size);
    for (size_t i = 0; i < n_more; i++) {
        const char *item = (const char *)more + i * size;
        size_t at = 0;
        while (at < *n && !equal(all + at * size, item)) at++;
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
                               sizeof(size_t), equal_sizes, arena);
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
                         struct cm_campaign *ret) {
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
        status = plan_model(path, all, n_all, arena, &models[ret->n_models++]);
    }
    return status;
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
                         sizeof(size_t), equal_sizes, arena);
    ret->precisions = unite(before->precisions, &ret->n_precisions, wanted->precisions,
                            wanted->n_precisions, sizeof(char *), equal_texts, arena);
    ret->devices = unite(before->devices, &ret->n_devices, own.devices, own.n_devices,
                         sizeof(char *), equal_texts, arena);
    status = extend_models(before, wanted, dims, n_dims, arena, ret);
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
    if (status == CM_OK) status = check_dims(campaign, dims, n_dims, diag);
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
