/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the shards of complete campaigns into one table. */
#include "costmodel/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/campaign/campaign.h"
#include "api/campaign/shard.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/hash.h"
#include "support/sort.h"
#include "support/text.h"

struct merging {
    struct arena *arena; /* of the result */
    struct cm_diagnostics *diag;
    size_t n_rows;
    struct cm_sweep_row *rows; /* of all folders read so far */
    const char *
        *results; /* by folder: identity of the campaign; if measured, also of its rows */
};

/* The shards of one folder. */
struct shards {
    struct merging *merging;
    const char *folder;
    const struct cm_campaign *campaign;
    const char *identity; /* hash of the campaign manifest */
    size_t n;             /* combinations of the campaign */
    struct cm_sweep_row *rows;
    bool *is_set; /* by combination: its row is set */
    size_t n_names;
    char **names;        /* file names, sorted */
    int64_t n_shards;    /* 0 if no file was read yet */
    const char **shards; /* path of each shard; NULL if missing */
    uint64_t lines;      /* sum of the hashes of all rows */
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(struct shards *shards) {
    struct arena *arena = shards->merging->arena;
    size_t room = 0;
    DIR *folder = opendir(shards->folder);
    if (folder == NULL)
        return diag_system(shards->merging->diag, "open", shards->folder, errno);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!text_ends_with(entry->d_name, SHARD_SUFFIX)) continue;
        const char *name = arena_strdup(arena, entry->d_name);
        if (!arena_push(arena, &shards->names, &shards->n_names, &room, &name, sizeof(char *)))
            break;
    }
    (void)closedir(folder);
    if (arena_failed(arena)) return diag_no_memory(shards->merging->diag);
    if (shards->n_names > 0)
        sort_stable(shards->names, shards->n_names, sizeof(*shards->names), compare_names);
    return CM_OK;
}

/* Checks that the header of a file matches the campaign and the files read before it. */
static int check_header(struct shards *shards, const char *path,
                        const struct shard_header *header) {
    struct merging *merging = shards->merging;
    struct cm_diagnostics *diag = merging->diag;
    if (!text_equal(header->campaign, shards->identity)) {
        const int status =
            diag_error(diag, DIAG_COMPARE, "'%s' belongs to a different campaign than '%s/%s'",
                       path, shards->folder, CAMPAIGN_FILE);
        diag_hint(diag,
                  "if models changed or were added, run 'costmodel sweep' with --shard "
                  "%" PRId64 "/%" PRId64 " again",
                  header->shard, header->n_shards);
        return status;
    }
    if (header->counting != CM_COUNTING_VERSION) {
        const int status =
            diag_error(diag, DIAG_COMPARE,
                       "'%s' was counted by another version of the counting rules", path);
        diag_hint(diag, "run 'costmodel sweep' again");
        return status;
    }
    if (header->n_shards < 1 || header->shard < 1 || header->shard > header->n_shards ||
        (size_t)header->n_shards > CAMPAIGN_MAX_SHARDS)
        return diag_error(diag, DIAG_FORMAT,
                          "the header of '%s' has an invalid shard: %" PRId64 " of %" PRId64,
                          path, header->shard, header->n_shards);
    if (shards->n_shards == 0) {
        shards->n_shards = header->n_shards;
        shards->shards = arena_array(merging->arena, (size_t)header->n_shards, sizeof(char *));
        if (shards->shards == NULL) return diag_no_memory(diag);
    }
    if (header->n_shards != shards->n_shards)
        return diag_error(diag, DIAG_COMPARE,
                          "'%s' is one of %" PRId64 " shards, earlier files are of %" PRId64,
                          path, header->n_shards, shards->n_shards);
    const char *same = shards->shards[header->shard - 1];
    if (same != NULL)
        return diag_error(diag, DIAG_COMPARE, "'%s' and '%s' are the same shard", same, path);
    shards->shards[header->shard - 1] = path;
    return CM_OK;
}

/* Returns the key of the first value that contradicts the row's combination; NULL if none. */
static const char *invalid_key(const struct cm_campaign *campaign,
                               const struct cm_sweep_row *row) {
    static const char *const states[] = {"done",    "incomplete", "misfit",
                                         "refused", "usage",      "failed"};
    size_t sizes[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination at;
    cm_campaign_at(campaign, row->combination, sizes, &at);
    const bool has_precision =
        campaign->n_devices > 0 || campaign->measure[0] != '\0' || campaign->n_precisions > 0;
    if (!text_equal(row->model, at.model->path)) return "model";
    if (at.batch > 0 && row->batch != at.batch) return "batch";
    if (has_precision && !text_equal(row->precision, at.precision)) return "precision";
    if (at.device[0] != '\0' && !text_equal(row->device, at.device)) return "device";
    if (row->n_dims != at.n_dims) return "dims";
    for (size_t i = 0; i < at.n_dims; i++)
        if (!text_equal(row->dims[i].name, at.model->dims[i].name) ||
            row->dims[i].size != (int64_t)sizes[i])
            return "dims";
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
        if (text_equal(row->state, states[i])) return NULL;
    return "state";
}

/* Stores the rows of a file, and checks that it has each combination of its shard once. */
static int store_rows(struct shards *shards, const char *path, const struct shard_file *file) {
    struct cm_diagnostics *diag = shards->merging->diag;
    const size_t n_shards = (size_t)file->header.n_shards;
    const size_t shard = (size_t)file->header.shard - 1;
    const size_t n = shards->n > shard ? (shards->n - shard - 1) / n_shards + 1 : 0;
    for (size_t i = 0; i < file->n; i++) {
        const size_t at = file->rows[i].combination;
        if (at >= shards->n || at % n_shards != shard || shards->is_set[at])
            return diag_error(
                diag, DIAG_COMPARE,
                "'%s' repeats a combination or has one of another shard in line %zu", path,
                i + 2);
        const char *key = invalid_key(shards->campaign, &file->rows[i]);
        if (key != NULL)
            return diag_error(
                diag, DIAG_COMPARE,
                "'%s' has an invalid value of '%s' for its combination in line %zu", path, key,
                i + 2);
        shards->rows[at] = file->rows[i];
        shards->rows[at].key = NULL;
        shards->lines += hash_text(file->lines[i], strlen(file->lines[i]), 0);
        shards->is_set[at] = true;
    }
    if (file->n == n) return CM_OK;
    return diag_error(diag, DIAG_COMPARE, "'%s' must have %zu combinations, got %zu", path, n,
                      file->n);
}

static int read_shards(struct shards *shards) {
    struct merging *merging = shards->merging;
    int status = list_files(shards);
    for (size_t i = 0; i < shards->n_names && status == CM_OK; i++) {
        struct shard_file file;
        const char *path =
            arena_printf(merging->arena, "%s/%s", shards->folder, shards->names[i]);
        if (path == NULL) return diag_no_memory(merging->diag);
        status = shard_read(path, false, merging->arena, merging->diag, &file);
        if (status == CM_OK) status = check_header(shards, path, &file.header);
        if (status == CM_OK) status = store_rows(shards, path, &file);
    }
    if (status < 0) return status;
    if (shards->n_shards == 0)
        return diag_error(merging->diag, DIAG_COMPARE, "folder '%s' has no complete shard",
                          shards->folder);
    for (int64_t i = 0; i < shards->n_shards; i++) {
        if (shards->shards[i] != NULL) continue;
        status = diag_error(merging->diag, DIAG_COMPARE,
                            "shard %" PRId64 " of %" PRId64 " is missing in '%s'", i + 1,
                            shards->n_shards, shards->folder);
        diag_hint(merging->diag, "run 'costmodel sweep' with --shard %" PRId64 "/%" PRId64,
                  i + 1, shards->n_shards);
        return status;
    }
    return CM_OK;
}

/* Refuses a folder with the results of folder `k` < `i`. Two machines may measure one campaign:
 * then the rows must be the same, too. */
static int check_repeated(const struct shards *shards, const char *const *folders, size_t i) {
    struct merging *merging = shards->merging;
    const bool is_measured = shards->campaign->measure[0] != '\0';
    merging->results[i] = arena_printf(merging->arena, "%s-%" PRIx64, shards->identity,
                                       is_measured ? shards->lines : 0);
    if (merging->results[i] == NULL) return diag_no_memory(merging->diag);
    for (size_t k = 0; k < i; k++)
        if (text_equal(merging->results[k], merging->results[i]))
            return diag_error(merging->diag, DIAG_COMPARE,
                              "folders '%s' and '%s' have the same %s", folders[k], folders[i],
                              is_measured ? "results" : "campaign");
    return CM_OK;
}

/* Appends the rows of folder i, and sets *ret to the options of its campaign. */
static int merge_folder(struct merging *merging, const char *const *folders, size_t i,
                        struct cm_options *ret) {
    const char *folder = folders[i];
    struct cm_campaign *campaign = NULL;
    const char *path = arena_printf(merging->arena, "%s/%s", folder, CAMPAIGN_FILE);
    if (path == NULL) return diag_no_memory(merging->diag);
    int status = shard_check_file(path, merging->diag);
    if (status == CM_OK) status = cm_campaign_read_file(path, merging->diag, &campaign);
    if (status == CM_OK)
        status = campaign_options(campaign, merging->arena, merging->diag, ret);
    const size_t n = cm_campaign_count(campaign);
    if (status == CM_OK) {
        struct arena *arena = merging->arena;
        struct cm_sweep_row *rows = arena_array(arena, merging->n_rows + n, sizeof(*rows));
        struct shards shards = {
            .merging = merging,
            .folder = folder,
            .campaign = campaign,
            .identity = shard_identity(campaign, true, arena),
            .n = n,
            .rows = rows ? rows + merging->n_rows : NULL,
            .is_set = arena_array(arena, n, sizeof(bool)),
        };
        /* Copy the texts: the campaign is freed below. */
        ret->convention = arena_strdup(arena, ret->convention);
        if (ret->optimizer != NULL) ret->optimizer = arena_strdup(arena, ret->optimizer);
        if (rows == NULL || arena_failed(arena) || shards.identity == NULL) {
            status = diag_no_memory(merging->diag);
        } else {
            if (merging->n_rows > 0)
                memcpy(rows, merging->rows, merging->n_rows * sizeof(*rows));
            merging->rows = rows;
            merging->n_rows += n;
            status = read_shards(&shards);
            if (status == CM_OK) status = check_repeated(&shards, folders, i);
        }
    }
    cm_campaign_free(campaign);
    return status;
}

static int merge(struct merging *merging, const char *const *folders, size_t n,
                 struct cm_sweep **ret) {
    struct cm_options options;
    cm_options_init(&options);
    merging->results = arena_array(merging->arena, n, sizeof(*merging->results));
    if (merging->results == NULL) return diag_no_memory(merging->diag);
    for (size_t i = 0; i < n; i++) {
        struct cm_options own;
        const int status = merge_folder(merging, folders, i, &own);
        if (status < 0) return status;
        if (i == 0) options = own;
        const char *what = campaign_difference(&own, &options);
        if (what != NULL)
            return diag_error(merging->diag, DIAG_COMPARE,
                              "folders '%s' and '%s' have different %s", folders[0], folders[i],
                              what);
    }
    struct cm_sweep *sweep = arena_alloc(merging->arena, sizeof(*sweep));
    if (sweep == NULL || arena_failed(merging->arena)) return diag_no_memory(merging->diag);
    *sweep = (struct cm_sweep){
        .model = "",
        .convention = options.convention,
        .backend = "",
        .device = "",
        .times = "",
        .memory_limit = CM_UNKNOWN,
        .n_rows = merging->n_rows,
        .rows = merging->rows,
        .arena = merging->arena,
    };
    *ret = sweep;
    return CM_OK;
}

int cm_campaign_merge(const char *const *folders, size_t n, struct cm_diagnostics *diagnostics,
                      struct cm_sweep **ret_sweep) {
    int status = arguments_check(ARGUMENT_POINTER, folders, n, n > 0 && ret_sweep, diagnostics);
    if (status < 0) return status;
    struct merging merging = {.arena = arena_new("result", 0), .diag = diagnostics};
    if (merging.arena == NULL) return diag_no_memory(diagnostics);
    status = merge(&merging, folders, n, ret_sweep);
    if (status < 0) arena_free(merging.arena);
    return diag_finish(diagnostics, status);
}
