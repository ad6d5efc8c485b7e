/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one shard of a campaign. */
#include "costmodel/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/campaign/campaign.h"
#include "api/campaign/shard.h"
#include "api/campaign/workers.h"
#include "api/handle.h"
#include "api/sweep.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/map.h"
#include "support/system.h"
#include "support/text.h"

/* The manifest of the folder. */
struct manifest {
    struct cm_campaign *campaign; /* NULL: missing */
    const char *identity;
};

/* State of one run of a shard. An index in the shard numbers its combinations from 0. */
struct running {
    const struct cm_campaign *campaign;
    const struct cm_campaign_run *run;
    struct manifest before;      /* when the run began */
    struct cm_campaign recorded; /* `campaign` with the files of its models */
    struct cm_options options;
    struct cm_diagnostics *diag;
    struct arena *arena;
    struct shard_header header;
    const char *part;          /* path of the unfinished file */
    const char *path;          /* path of the complete file */
    const char *manifest;      /* path of the manifest */
    const char **descriptions; /* by device: hash of its file; "": built in */
    size_t n_all;              /* combinations of the campaign */
    struct map keys;           /* by key: index in the shard; empty until it is needed */
    bool is_current;           /* the complete file is of this campaign */
    size_t n_part;             /* combinations of the unfinished file */
    int fd;                    /* of the unfinished file, to append */
    size_t n;                  /* combinations of the shard */
    const char **lines;        /* by index in the shard: JSON line; NULL if not finished */
    bool *failed;              /* by index in the shard */
    size_t n_done;             /* finished combinations, including failed ones */
    size_t *todo;              /* indices in the shard of the combinations to run */
    size_t n_todo;
    size_t n_transient;  /* items that were not run because of a fault of the system */
    const char *problem; /* message of the first of them */
};

/* Returns the campaign index of a combination: shard 2 of 3 has 1, 4, 7, ... */
static size_t combination_index(const struct running *running, size_t index_in_shard) {
    return index_in_shard * running->run->n_shards + running->run->shard - 1;
}

/* Returns the campaign index of item `item` of `todo`. */
static size_t todo_index(const struct running *running, size_t item) {
    return combination_index(running, running->todo[item]);
}

/* Stores the line of a finished combination; ignores those of other shards and duplicates. */
static void store_line(struct running *running, const struct cm_sweep_row *row,
                       const char *line) {
    const size_t n_shards = running->run->n_shards;
    const size_t index_in_shard = row->combination / n_shards;
    if (row->combination == CM_NO_INDEX || index_in_shard >= running->n) return;
    if (combination_index(running, index_in_shard) != row->combination ||
        running->lines[index_in_shard] != NULL)
        return;
    running->lines[index_in_shard] = line;
    running->failed[index_in_shard] = shard_row_failed(row);
    running->n_done++;
}

/* Sets *ret to the line of a row without its newline. CM_OK, CM_NO_MEMORY. */
static int print_row(const struct cm_sweep_row *row, struct arena *arena, const char **ret) {
    struct memory_stream stream;
    if (!memory_stream_open(&stream)) return CM_NO_MEMORY;
    int status = json_line_write(&json_sweep_row, row, stream.out);
    if (!memory_stream_close(&stream) || status != CM_OK) status = CM_NO_MEMORY;
    if (status == CM_OK) *ret = arena_strndup(arena, stream.text, stream.size - 1);
    free(stream.text);
    return status == CM_OK && *ret ? CM_OK : CM_NO_MEMORY;
}

/* Hashes the files that describe devices, so that rows of a former description are not kept. */
static int hash_descriptions(struct running *running) {
    const struct cm_campaign *campaign = running->campaign;
    running->descriptions =
        arena_array(running->arena, campaign->n_devices, sizeof(*running->descriptions));
    if (running->descriptions == NULL) return diag_no_memory(running->diag);
    for (size_t i = 0; i < campaign->n_devices; i++) {
        char *text = NULL;
        size_t size = 0;
        running->descriptions[i] = "";
        if (!text_ends_with(campaign->devices[i], ".json")) continue;
        const int status = source_read_file(campaign->devices[i], FILE_MAX_JSON, running->arena,
                                            running->diag, &text, &size);
        if (status < 0) return status;
        running->descriptions[i] =
            arena_printf(running->arena, "%016" PRIx64, hash_text(text, size, 0));
    }
    return arena_failed(running->arena) ? diag_no_memory(running->diag) : CM_OK;
}

static const char *key_at(const struct running *running, const struct cm_combination *at) {
    size_t i = 0;
    while (i < running->campaign->n_devices && running->campaign->devices[i] != at->device) i++;
    return shard_key(running->campaign, at,
                     i < running->campaign->n_devices ? running->descriptions[i] : "",
                     running->arena);
}

/* Returns the key of a combination of the campaign; NULL if out of memory. */
static const char *key_of(const struct running *running, size_t combination) {
    size_t sizes[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination at;
    cm_campaign_at(running->campaign, combination, sizes, &at);
    return key_at(running, &at);
}

/* Sets *ret to the combination with the key of the row, which has another number if the
 * campaign was extended. CM_NO_INDEX: none, or its model has changed. CM_OK, CM_NO_MEMORY. */
static int find_combination(struct running *running, const struct cm_sweep_row *row,
                            size_t *ret) {
    *ret = CM_NO_INDEX;
    if (row->key == NULL) return CM_OK;
    if (row->combination < running->n_all) {
        const struct arena_mark mark = arena_save(running->arena);
        const char *key = key_of(running, row->combination);
        if (key == NULL) return CM_NO_MEMORY;
        if (text_equal(key, row->key)) *ret = row->combination;
        arena_restore(running->arena, mark);
        if (*ret != CM_NO_INDEX) return CM_OK;
    }
    if (running->keys.arena == NULL) {
        map_init(&running->keys, running->arena);
        for (size_t i = 0; i < running->n; i++) {
            const char *key = key_of(running, combination_index(running, i));
            if (key == NULL || map_set(&running->keys, key, (uint32_t)i) < 0)
                return CM_NO_MEMORY;
        }
    }
    const uint32_t found = map_get(&running->keys, row->key);
    if (found != MAP_NONE) *ret = combination_index(running, found);
    return CM_OK;
}

/* Loads the finished combinations of an earlier run with the same counting rules. Sets
 * is_current if the file is of this campaign. */
static int resume(struct running *running, const char *path) {
    struct shard_file file;
    int status = shard_read(path, true, running->arena, running->diag, &file);
    if (status < 0) return status;
    const struct shard_header *own = &running->header;
    running->is_current = false;
    if (file.header.schema == NULL || file.header.counting != own->counting) return CM_OK;
    running->is_current = text_equal(file.header.campaign, own->campaign);
    for (size_t i = 0; i < file.n && status == CM_OK; i++) {
        struct cm_sweep_row *row = &file.rows[i];
        size_t at = CM_NO_INDEX;
        if (running->run->retry && shard_row_failed(row)) continue;
        status = find_combination(running, row, &at);
        if (status == CM_OK && at != CM_NO_INDEX && at != row->combination) {
            row->combination = at;
            status = print_row(row, running->arena, &file.lines[i]);
        }
        if (status == CM_OK && at != CM_NO_INDEX) store_line(running, row, file.lines[i]);
    }
    return status < 0 ? diag_no_memory(running->diag) : CM_OK;
}

/* Atomically writes the header and the finished combinations to `path`. Sets *ret_fd, unless it
 * is NULL, to a descriptor that appends to this file, even if another run replaces it. */
static int write_lines(const struct running *running, const char *path, int *ret_fd) {
    struct output *output = NULL;
    int status = output_open(path, running->diag, &output);
    if (status < 0) return status;
    FILE *out = output_stream(output);
    status = json_line_write(&json_shard, &running->header, out);
    for (size_t i = 0; i < running->n; i++)
        if (running->lines[i] != NULL) fprintf(out, "%s\n", running->lines[i]);
    if (output_flush(out) != CM_OK) status = diag_system(running->diag, "write", path, errno);
    if (status == CM_OK)
        return ret_fd != NULL ? output_commit_open(output, running->diag, ret_fd)
                              : output_commit(output, running->diag);
    output_abandon(output);
    return status;
}

/* Appends complete lines to the unfinished file. */
static int append(const struct running *running, const char *text, size_t size) {
    while (size > 0) {
        const ptrdiff_t written = write(running->fd, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return diag_system(running->diag, "write", running->part, errno);
        text += written;
        size -= (size_t)written;
    }
    return CM_OK;
}

/* Returns the number of combinations in the task that starts at `first`: those that share one
 * analysis of a model. A measured combination is a separate task, so a killed run loses at most
 * one measurement. */
static size_t task_of(void *context, size_t first) {
    const struct running *running = context;
    size_t dims[2][CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination a;
    struct cm_combination b;
    size_t n = 1;
    cm_campaign_at(running->campaign, todo_index(running, first), dims[0], &a);
    if (a.device[0] == '\0') return 1;
    for (; first + n < running->n_todo; n++) {
        cm_campaign_at(running->campaign, todo_index(running, first + n), dims[1], &b);
        if (a.model != b.model || a.batch != b.batch || b.device[0] == '\0' ||
            memcmp(dims[0], dims[1], a.n_dims * sizeof(size_t)) != 0)
            break;
    }
    return n;
}

/* Sets model, dims, precision and device of the row of an item, and writes it. */
static int write_row(const struct running *running, size_t item, const struct cm_sweep_row *row,
                     FILE *out) {
    size_t sizes[CM_CAMPAIGN_MAX_DIMS];
    struct cm_named_size dims[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination at;
    struct cm_sweep_row complete = *row;
    const bool is_timed = running->campaign->n_devices > 0 || running->campaign->measure[0];
    complete.combination = todo_index(running, item);
    cm_campaign_at(running->campaign, complete.combination, sizes, &at);
    complete.key = key_at(running, &at);
    if (complete.key == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < at.n_dims; i++)
        dims[i] = (struct cm_named_size){at.model->dims[i].name, (int64_t)sizes[i]};
    complete.model = at.model->path;
    complete.n_dims = at.n_dims;
    complete.dims = dims;
    if (is_timed || running->campaign->n_precisions > 0) complete.precision = at.precision;
    if (at.device[0] != '\0')
        complete.device = at.device;
    else if (is_timed && row->device == NULL)
        complete.device = running->campaign->measure;
    return json_line_write(&json_sweep_row, &complete, out);
}

/* Writes a row with the same state and problem for each of `n` failed items. */
static int write_failed(const struct running *running, size_t first, size_t n,
                        const char *state, const char *problem, FILE *out) {
    size_t sizes[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination at;
    for (size_t i = 0; i < n; i++) {
        cm_campaign_at(running->campaign, todo_index(running, first + i), sizes, &at);
        struct cm_sweep_row row = sweep_empty_row(at.batch);
        row.state = state;
        row.problem = problem;
        const int status = write_row(running, first + i, &row, out);
        if (status < 0) return status;
    }
    return CM_OK;
}

/* Sweeps the combinations of a task with one loaded model. */
static int run_points(const struct running *running, struct cm_model *model, size_t first,
                      size_t n, struct arena *arena, FILE *out) {
    struct cm_sweep_point *points = arena_array(arena, n, sizeof(*points));
    struct cm_sweep *sweep = NULL;
    if (points == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        size_t *sizes = arena_array(arena, CM_CAMPAIGN_MAX_DIMS, sizeof(*sizes));
        struct cm_combination at;
        if (sizes == NULL) return CM_NO_MEMORY;
        cm_campaign_at(running->campaign, todo_index(running, first + i), sizes, &at);
        const int status = campaign_point(running->campaign, &at, arena, &points[i]);
        if (status < 0) return status;
    }
    int status = cm_model_sweep_points(model, &running->options, points, n, NULL, &sweep);
    for (size_t i = 0; i < n && status == CM_OK; i++)
        status = write_row(running, first + i, &sweep->rows[i], out);
    cm_sweep_free(sweep);
    return status;
}

/* Returns true if the file of a model is not the one that was planned, as far as recorded. */
static bool has_changed(const struct cm_campaign_model *now,
                        const struct cm_campaign_model *then) {
    if (is_known(now->bytes) && now->bytes != then->bytes) return true;
    if (now->digest == NULL) return false;
    return then->digest == NULL || !text_equal(now->digest, then->digest);
}

/* Runs a task; called in a child process. If the model cannot be loaded, all items fail. */
static int run_task(void *context, size_t first, size_t n, FILE *out) {
    const struct running *running = context;
    size_t sizes[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination at;
    struct cm_model *model = NULL;
    struct arena *arena = arena_new("task", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (arena == NULL || diag == NULL) return CM_NO_MEMORY;
    cm_campaign_at(running->campaign, todo_index(running, first), sizes, &at);
    struct cm_campaign_model now = {.bytes = campaign_file_bytes(at.model->path)};
    int status = CM_OK;
    if (!has_changed(&now, at.model)) status = model_load(at.model->path, true, diag, &model);
    if (model != NULL) now.digest = campaign_digest(model, arena);
    if (status == CM_OK && has_changed(&now, at.model))
        status = diag_error(diag, DIAG_COMPARE,
                            "the file has changed since the campaign was planned, 'sweep "
                            "--retry' runs all combinations of the model again");
    if (status == CM_OK)
        status = run_points(running, model, first, n, arena, out);
    else if (status != CM_NO_MEMORY)
        status = write_failed(running, first, n, sweep_state(status, diag),
                              sweep_first_message(diag), out);
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return arena_end(arena, status);
}

/* Appends the lines of `n` items to the unfinished file and stores them in memory, except those
 * of faults of the system, which another run may not have. */
static int store_lines(void *context, size_t first, size_t n, char *lines, size_t size) {
    struct running *running = context;
    (void)first;
    char *text = arena_copy(running->arena, lines, size);
    if (text == NULL) return diag_no_memory(running->diag);
    for (size_t i = 0; i < n; i++) {
        struct cm_sweep_row row = {.combination = 0};
        const struct arena_mark mark = arena_save(running->arena);
        char *end = memchr(text, '\n', size);
        const int parsed = json_line_read(&json_sweep_row, text, (size_t)(end - text),
                                          running->arena, running->diag, &row);
        if (parsed < 0) return parsed;
        if (text_equal(row.state, "transient")) {
            if (running->n_transient++ == 0) running->problem = row.problem;
        } else {
            const int status = append(running, text, (size_t)(end + 1 - text));
            if (status < 0) return status;
            *end = '\0';
            store_line(running, &row, text);
            arena_restore(running->arena, mark);
        }
        size -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    if (running->run->progress != NULL)
        running->run->progress(running->run->progress_context, running->n_done, running->n);
    return CM_OK;
}

/* Records a combination as failed because its process terminated abnormally, or counts it as
 * not run if the cause was not a crash of the program. */
static int record_lost_item(void *context, size_t item, const char *how, bool is_crash) {
    struct running *running = context;
    struct memory_stream stream;
    if (how == NULL) return diag_no_memory(running->diag);
    if (!memory_stream_open(&stream)) return diag_no_memory(running->diag);
    int status =
        write_failed(running, item, 1, is_crash ? "failed" : "transient", how, stream.out);
    if (!memory_stream_close(&stream) || status != CM_OK)
        status = diag_no_memory(running->diag);
    if (status == CM_OK) status = store_lines(running, item, 1, stream.text, stream.size);
    free(stream.text);
    return status;
}

/* Reads the manifest of the folder; its identity is NULL if it is missing. */
static int read_manifest(struct running *running, struct manifest *ret) {
    *ret = (struct manifest){.campaign = NULL};
    if (access(running->manifest, F_OK) != 0) return CM_OK;
    int status = shard_check_file(running->manifest, running->diag);
    if (status == CM_OK)
        status = cm_campaign_read_file(running->manifest, running->diag, &ret->campaign);
    if (status < 0) return status;
    ret->identity = shard_identity(ret->campaign, true, running->arena);
    return ret->identity ? CM_OK : diag_no_memory(running->diag);
}

/* Refuses to write results of a campaign that another run has replaced; the unfinished file
 * keeps them. */
static int check_manifest(struct running *running) {
    struct manifest now;
    int status = read_manifest(running, &now);
    if (status == CM_OK &&
        (now.identity == NULL || !text_equal(now.identity, running->header.campaign))) {
        status = diag_error(running->diag, DIAG_COMPARE,
                            "another run has changed '%s' meanwhile", running->manifest);
        diag_hint(running->diag, "run the same command again");
    }
    cm_campaign_free(now.campaign);
    return status;
}

/* Runs the combinations that earlier runs did not finish, and writes the complete file. */
static int run_missing(struct running *running) {
    for (size_t i = 0; i < running->n; i++)
        if (running->lines[i] == NULL) running->todo[running->n_todo++] = i;
    const bool is_complete =
        running->n_todo == 0 && running->n_part == 0 && running->is_current;
    int status = is_complete ? CM_OK : write_lines(running, running->part, &running->fd);
    if (status == CM_OK && !is_complete) {
        const struct workers_job job = {
            .n = running->n_todo,
            .task = task_of,
            .run = run_task,
            .done = store_lines,
            .lost = record_lost_item,
            .context = running,
        };
        size_t jobs = running->run->jobs > 0 ? running->run->jobs : workers_cores();
        if (running->campaign->measure[0] != '\0') jobs = 1; /* parallel jobs distort times */
        status = workers_run(&job, jobs, running->diag);
        (void)close(running->fd);
        if (status == CM_OK && running->n_transient > 0) {
            status = diag_error(running->diag, DIAG_IO,
                                "%zu of %zu combinations could not be run: %s",
                                running->n_transient, running->n, running->problem);
            diag_hint(running->diag, "run the same command again");
        }
    }
    if (status == CM_OK) status = check_manifest(running);
    if (status == CM_OK && !is_complete) status = write_lines(running, running->path, NULL);
    if (status == CM_OK) (void)unlink(running->part);
    return status;
}

static int write_manifest(const struct cm_campaign *campaign, const char *path,
                          struct cm_diagnostics *diag) {
    struct output *output = NULL;
    int status = output_open(path, diag, &output);
    if (status < 0) return status;
    status = cm_campaign_write_json(campaign, output_stream(output));
    if (status == CM_IO) status = diag_system(diag, "write", path, errno);
    if (status == CM_OK) return output_commit(output, diag);
    output_abandon(output);
    return status;
}

/* Refuses a folder of another campaign, and models that have changed since it was planned,
 * unless they are run again; these may have other dims. */
static int check_before(const struct running *running) {
    struct cm_diagnostics *diag = running->diag;
    const struct cm_campaign *given = running->campaign;
    struct cm_campaign before = *running->before.campaign;
    const char *changed = NULL;
    int status = CM_OK;
    struct cm_campaign_model *models =
        arena_copy(running->arena, before.models, before.n_models * sizeof(*models));
    if (models == NULL) return diag_no_memory(diag);
    before.models = models;
    for (size_t i = 0; i < before.n_models && i < given->n_models; i++) {
        if (!has_changed(&given->models[i], &models[i])) continue;
        models[i].n_dims = given->models[i].n_dims;
        models[i].dims = given->models[i].dims;
        if (changed == NULL) changed = models[i].path;
    }
    const char *plans[] = {shard_identity(&before, false, running->arena),
                           shard_identity(given, false, running->arena)};
    if (plans[0] == NULL || plans[1] == NULL) return diag_no_memory(diag);
    if (!text_equal(plans[0], plans[1])) {
        status = diag_error(diag, DIAG_USAGE, "folder '%s' contains a different campaign",
                            running->run->folder);
        diag_hint(diag, "models or options differ from %s; use another folder, or --add",
                  running->manifest);
    } else if (changed != NULL && !running->run->retry) {
        status = diag_error(diag, DIAG_USAGE,
                            "model '%s' has changed since the campaign was planned", changed);
        diag_hint(diag, "--retry runs all its combinations again");
    }
    return status;
}

/* Refuses to extend a campaign in shards: its combinations would change their numbers, and thus
 * shards, while other runs may write these. */
static int check_extends(const struct running *running) {
    const struct cm_campaign_run *run = running->run;
    bool has_shards = run->n_shards > 1;
    DIR *folder = run->extends ? opendir(run->folder) : NULL;
    if (folder == NULL) return CM_OK;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (strncmp(entry->d_name, "shard-", 6) == 0 &&
            strncmp(entry->d_name, "shard-1-of-1.", 13) != 0)
            has_shards = true;
    (void)closedir(folder);
    if (!has_shards) return CM_OK;
    const int status = diag_error(
        running->diag, DIAG_USAGE,
        "a campaign in shards cannot be extended, because its combinations change shards");
    diag_hint(running->diag, "sweep the additions in another folder; 'costmodel merge' takes "
                             "several folders");
    return status;
}

/* Creates the folder, and determines the campaign to run: that of its manifest, unless models
 * changed and are run again, or models or values are added. Writes the manifest if it differs.
 */
static int prepare_folder(struct running *running) {
    const struct cm_campaign_run *run = running->run;
    const int error = output_make_folder(run->folder, 0777);
    if (error != 0) return diag_system(running->diag, "create", run->folder, error);
    running->manifest = arena_printf(running->arena, "%s/%s", run->folder, CAMPAIGN_FILE);
    if (running->manifest == NULL) return diag_no_memory(running->diag);
    int status = read_manifest(running, &running->before);
    const bool has_manifest = running->before.campaign != NULL;
    if (status == CM_OK) status = check_extends(running);
    if (status == CM_OK && has_manifest && !run->extends) status = check_before(running);
    if (status < 0) return status;
    if (has_manifest && !run->retry && !run->extends) {
        running->campaign = running->before.campaign;
    } else {
        status =
            campaign_record(running->campaign, run->retry, running->arena, &running->recorded);
        running->campaign = &running->recorded;
    }
    running->header.campaign =
        status == CM_OK ? shard_identity(running->campaign, true, running->arena) : NULL;
    if (running->header.campaign == NULL) return diag_no_memory(running->diag);
    if (has_manifest && text_equal(running->before.identity, running->header.campaign))
        return CM_OK;
    return write_manifest(running->campaign, running->manifest, running->diag);
}

static int prepare(struct running *running) {
    const struct cm_campaign_run *run = running->run;
    struct arena *arena = running->arena;
    const size_t count = cm_campaign_count(running->campaign);
    running->n_all = count;
    running->n = count >= run->shard ? (count - run->shard) / run->n_shards + 1 : 0;
    running->lines = arena_array(arena, running->n, sizeof(*running->lines));
    running->failed = arena_array(arena, running->n, sizeof(*running->failed));
    running->todo = arena_array(arena, running->n, sizeof(*running->todo));
    running->path = arena_printf(arena, "%s/shard-%zu-of-%zu" SHARD_SUFFIX, run->folder,
                                 run->shard, run->n_shards);
    running->part =
        arena_printf(arena, "%s/shard-%zu-of-%zu.part", run->folder, run->shard, run->n_shards);
    running->header = (struct shard_header){
        .schema = SHARD_SCHEMA,
        .counting = CM_COUNTING_VERSION,
        .campaign = running->header.campaign,
        .shard = (int64_t)run->shard,
        .n_shards = (int64_t)run->n_shards,
        .n = (int64_t)running->n,
    };
    if (arena_failed(arena)) return diag_no_memory(running->diag);
    const int status = hash_descriptions(running);
    if (status < 0) return status;
    return campaign_options(running->campaign, arena, running->diag, &running->options);
}

static int run_shard(struct running *running, struct cm_campaign_outcome *ret) {
    int status = prepare_folder(running);
    if (status == CM_OK) status = prepare(running);
    if (status == CM_OK) status = resume(running, running->part); /* has the newer lines */
    running->n_part = running->n_done;
    if (status == CM_OK) status = resume(running, running->path);
    if (status < 0) return status;
    running->options.cache = running->run->cache;
    *ret = (struct cm_campaign_outcome){.n = running->n, .n_before = running->n_done};
    status = run_missing(running);
    for (size_t i = 0; i < running->n; i++) ret->n_failed += running->failed[i];
    return status;
}

int cm_campaign_run(const struct cm_campaign *campaign, const struct cm_campaign_run *run,
                    struct cm_diagnostics *diagnostics, struct cm_campaign_outcome *ret) {
    run = ARGUMENTS_TAKE(cm_campaign_run, run, campaign && ret, diagnostics);
    if (run == NULL) return CM_USAGE;
    int status = arguments_check(ARGUMENT_cm_campaign, campaign, 1, true, diagnostics);
    if (status < 0) return status;
    if (run->n_shards == 0 || run->shard == 0 || run->shard > run->n_shards)
        return diag_error(diagnostics, DIAG_USAGE, "shard must be from 1 to %zu, got %zu",
                          run->n_shards, run->shard);
    if (campaign->measure[0] != '\0' && run->jobs > 1)
        return diag_error(
            diagnostics, DIAG_USAGE,
            "measurements require 1 job, got %zu: parallel jobs distort the times", run->jobs);
    status = campaign_check(campaign, diagnostics);
    if (status < 0) return status;
    struct arena *arena = arena_new("shard", 0);
    struct running running = {
        .campaign = campaign, .run = run, .diag = diagnostics, .arena = arena};
    status = arena ? run_shard(&running, ret) : diag_no_memory(diagnostics);
    cm_campaign_free(running.before.campaign);
    return diag_finish(diagnostics, arena_end(arena, status));
}
