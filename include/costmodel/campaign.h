/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Campaigns: many models at many batches on many devices, in shards that may run on different
 * machines (docs/cluster.md).
 *
 *     struct cm_campaign_run run = {
 *         .size = sizeof run, .folder = "results", .shard = 1, .n_shards = 4};
 *     if (cm_campaign_read_file("campaign.json", diagnostics, &campaign) == CM_OK &&
 *         cm_campaign_run(campaign, &run, diagnostics, &outcome) == CM_OK)
 *         printf("%zu combinations\n", outcome.n);
 *
 * The combinations are numbered from 0, in the order of the models. For each model the device
 * varies fastest, then the precision, the batch and the sizes of the dims.
 */
#ifndef COSTMODEL_CAMPAIGN_H
#define COSTMODEL_CAMPAIGN_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of a symbolic dim. */
struct cm_campaign_dim {
    const char *name;
    size_t n;
    const size_t *sizes;
};

struct cm_campaign_model {
    const char *path;
    int64_t bytes; /* size of the file; CM_UNKNOWN: not recorded */
    size_t n_dims;
    const struct cm_campaign_dim *dims;
    const char *digest; /* hash of the file without its weights; NULL: not recorded */
};

/* The contents of a manifest, schema "costmodel/campaign/1". Texts are never NULL; "": not
 * given. */
struct cm_campaign {
    size_t n_models;
    const struct cm_campaign_model *models;
    size_t n_batches;
    const size_t *batches; /* none: the batch of each file */
    size_t n_precisions;
    const char *const *precisions; /* none: "file" */
    size_t n_devices;
    const char *const *devices; /* modelled: built-in names or files (.json) */
    const char *measure;        /* backend that measures, in addition to the devices: "cuda" */
    const char *runtime;        /* of the modelled devices: "eager" */
    const char *convention;
    const char *mode;
    const char *optimizer;
    bool amp;    /* refused: now a value of `precisions` */
    void *arena; /* private */
};

/* Reads a manifest. CM_OK, CM_REFUSED, CM_USAGE (as cm_campaign_plan), CM_IO, CM_NO_MEMORY.
 * Free with cm_campaign_free. */
CM_API int cm_campaign_read_file(const char *path, struct cm_diagnostics *diagnostics,
                                 struct cm_campaign **ret_campaign) CM_MUST_CHECK;
CM_API void cm_campaign_free(struct cm_campaign *campaign);

/* Writes the manifest. CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_campaign_write_json(const struct cm_campaign *campaign, FILE *out) CM_MUST_CHECK;

/*
 * Makes the manifest of a campaign whose models are only paths: records the sizes of the files,
 * gives each model those of `dims` that it has as symbolic dims, and replaces the device "all"
 * by all built-in devices. Models that cannot be read have no dims. CM_OK, CM_USAGE (invalid or
 * repeated model, batch, precision, device or other option; a dim that no model has),
 * CM_NO_MEMORY. Free with cm_campaign_free; pointers of `wanted` are not kept.
 */
CM_API int cm_campaign_plan(const struct cm_campaign *wanted,
                            const struct cm_campaign_dim *dims, size_t n_dims,
                            struct cm_diagnostics *diagnostics,
                            struct cm_campaign **ret_campaign) CM_MUST_CHECK;

/*
 * Makes the manifest of a larger campaign: that of `before` with the models, batches,
 * precisions, devices and sizes of dims that `wanted` and `dims` (as of cm_campaign_plan) add
 * to it. Other members of `wanted` are those of `before` or "". CM_OK, CM_USAGE (as
 * cm_campaign_plan; another convention, mode, optimizer, runtime or backend; values of an axis
 * that `before` lacks), CM_NO_MEMORY. Free with cm_campaign_free, before the arguments: lists
 * and texts may be theirs.
 */
CM_API int cm_campaign_extend(const struct cm_campaign *before,
                              const struct cm_campaign *wanted,
                              const struct cm_campaign_dim *dims, size_t n_dims,
                              struct cm_diagnostics *diagnostics,
                              struct cm_campaign **ret_campaign) CM_MUST_CHECK;

/* Returns the number of combinations; SIZE_MAX if it overflows. */
CM_API size_t cm_campaign_count(const struct cm_campaign *campaign);

/* One combination; texts belong to the campaign. */
struct cm_combination {
    const struct cm_campaign_model *model;
    size_t n_dims;
    const size_t *dims; /* sizes, in the order of model->dims; in the caller's array */
    int64_t batch;      /* 0: the batch of the file */
    const char *precision;
    const char *device; /* "": measured, or without times */
};

#define CM_CAMPAIGN_MAX_DIMS 8 /* of a model */

/* Computes combination `index`; *ret is unchanged if it is >= cm_campaign_count; `dims` has
 * room for CM_CAMPAIGN_MAX_DIMS sizes. */
CM_API void cm_campaign_at(const struct cm_campaign *campaign, size_t index, size_t *dims,
                           struct cm_combination *ret);

struct cm_campaign_run {
    size_t size;        /* sizeof(struct cm_campaign_run) */
    const char *folder; /* created with its parents if missing */
    size_t shard; /* 1 .. n_shards: runs the combinations k with k % n_shards = shard - 1 */
    size_t n_shards;
    size_t jobs;       /* processes at a time; 0: one per available core */
    bool retry;        /* run failed combinations again, and those of models that changed */
    const char *cache; /* as in cm_options */
    /* Called after each group of combinations; may be NULL. */
    void (*progress)(void *context, size_t done, size_t total);
    void *progress_context;
    bool extends; /* the campaign replaces that of the folder, which has part of it; 1 shard */
};

/* Outcome of a shard. */
struct cm_campaign_outcome {
    size_t n;        /* combinations of the shard */
    size_t n_before; /* finished by earlier runs */
    size_t n_failed; /* neither "done" nor "misfit", in any run */
};

/*
 * Runs one shard and writes FOLDER/shard-I-of-N.jsonl atomically, and FOLDER/campaign.json if
 * it is missing, with the sizes and digests of the models. Combinations that an earlier,
 * perhaps killed, run finished with the same models are not repeated. A combination that fails
 * is recorded with its message. Each group of combinations runs in a forked child process.
 * CM_OK, CM_USAGE (invalid shard; the folder has another campaign; a model has changed since,
 * without `retry`; several jobs for a measurement), CM_REFUSED (another run changed the
 * campaign of the folder meanwhile), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_campaign_run(const struct cm_campaign *campaign,
                           const struct cm_campaign_run *run,
                           struct cm_diagnostics *diagnostics,
                           struct cm_campaign_outcome *ret) CM_MUST_CHECK;

/*
 * Reads the results of complete campaigns, one per folder, in the order of the folders and of
 * the combinations. CM_OK, CM_REFUSED (a shard is missing, duplicate or of another campaign;
 * a row does not belong to its combination; the versions of the program or the options of the
 * campaigns differ), CM_USAGE (invalid manifest), CM_IO, CM_NO_MEMORY. Free with cm_sweep_free.
 */
CM_API int cm_campaign_merge(const char *const *folders, size_t n,
                             struct cm_diagnostics *diagnostics,
                             struct cm_sweep **ret_sweep) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
