/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel sweep`: runs a campaign, or one shard of it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/timing.h"
#include "costmodel/campaign.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

#define PROGRESS_SECONDS 60

#define PLANS 1 /* option.rules: --manifest replaces the option */

struct request {
    const char *batches;
    struct option_list dims;
    struct option_choices precisions;
    bool amp;
    const char *devices;
    int measure; /* enum measure_target */
    const char *backend;
    struct cm_campaign wanted; /* members that the command line sets directly */
    const char *manifest;
    const char *shard;
    int jobs; /* 0: not given */
    bool retry;
    bool add;
    int progress; /* seconds */
    bool cache;
    const char *folder;
};

#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

static const struct cm_campaign no_campaign = {
    .measure = "", .runtime = "", .convention = "", .mode = "", .optimizer = ""};

static const struct option_choice all_devices[] = {{"all", 0, "all built-in devices"},
                                                   {.name = NULL}};

/* clang-format off */
const struct option sweep_options[] = {
    {.heading = "Combinations", .name = "batch", INTO(TEXT, batches), .value = "N[,N...]",
     .rules = PLANS, .choices = choices_batches, .list = true,
     .help = "batch sizes (default: the batch of each file)"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N[,N...]", .parts = parts_dims, .rules = PLANS,
     .help = "sizes of a symbolic dim, for the models that have it; repeatable"},
    {.name = "device", INTO(TEXT, devices), .value = "NAME[,NAME...]", .rules = PLANS,
     .choices = all_devices, .names = names_of_devices, .files = "json", .list = true,
     .help = "devices to model: built-in names, files (.json), or all"},
    {.name = "precision", INTO(CHOICES, precisions), .value = "PRECISION[,...]", .rules = PLANS,
     .choices = timing_precisions, .help = "precisions of floats:"},
    {.name = "measure", INTO(CHOICE, measure), .value = "WHERE", .alone = "cuda",
     .choices = timing_measurers, .rules = PLANS,
     .help = "also measure each model on this machine, one at a time, on:"},
    {.name = "backend", INTO(TEXT, backend), .value = "NAME[:key=value,...]", .rules = PLANS,
     .parts = parts_backend,
     .help = "as --measure, with this backend and these settings"},
    {.name = "manifest", INTO(TEXT, manifest), .value = "FILE.json", .files = "json",
     .help = "take models and options from a manifest (costmodel schema campaign)\n"
             "instead of the command line"},
    {.heading = "Counting", .name = "convention", INTO(NAME, wanted.convention), .value = "NAME",
     .rules = PLANS, .names = names_of_conventions, .brief = true,
     .help = "FLOP-counting convention, the first is the default:"},
    {.name = "mode", INTO(NAME, wanted.mode), .value = "MODE", .rules = PLANS,
     .choices = choices_modes, .help = "mode of BatchNormalization, Dropout, ...:"},
    {.name = "optimizer", INTO(NAME, wanted.optimizer), .value = "NAME", .rules = PLANS,
     .names = names_of_optimizers,
     .help = "add a training step, as of profile, with one of these optimizers:"},
    {.name = "amp", INTO(SET, amp), .rules = PLANS, .help = "short for --precision amp"},
    {.name = "runtime", INTO(NAME, wanted.runtime), .value = "RUNTIME", .rules = PLANS,
     .choices = timing_runtimes, .help = "runtime of the modelled devices, as of profile:"},
    {.heading = "Run", .name = "shard", INTO(TEXT, shard), .value = "I/N",
     .help = "run part I of N: every N-th combination (default 1/1)"},
    {.name = "jobs", .letter = 'j', INTO(INT, jobs), .value = "N", .min = 1, .max = 1024,
     .help = "processes at a time (default: one per core; 1 if models are measured)"},
    {.name = "retry", INTO(SET, retry),
     .help = "run combinations that failed again, and all of models whose file changed"},
    {.name = "add", INTO(SET, add),
     .help = "extend the campaign of the folder by these models, batches, precisions,\n"
             "devices and sizes of dims; runs only what it lacks"},
    {.name = "no-cache", INTO(UNSET, cache),
     .help = "measure all layers again, do not use the cache of measured times"},
    {.name = "progress", INTO(INT, progress), .value = "SECONDS", .max = INT_MAX,
     .help = "in a pipe: seconds between lines of progress (default 60)"},
    {.heading = "Output", .name = "output", .letter = 'o', INTO(TEXT, folder),
     .value = "FOLDER", .files = "/",
     .help = "folder of the results, created with its parents if missing (required)"},
    {.name = NULL},
};
/* clang-format on */

static int read_sizes(const struct invocation *call, const char *option, const char *text,
                      size_t *ret_n, const size_t **ret) {
    const char *const *texts = NULL;
    const int status = options_split(call, option, text, ret_n, &texts);
    if (status < 0) return status;
    size_t *sizes = arena_array(call->arena, *ret_n, sizeof(*sizes));
    if (sizes == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < *ret_n; i++) {
        int64_t size = 0;
        if (!text_to_int64(texts[i], strlen(texts[i]), &size) || size < 1)
            return options_fault(call, "option --%s requires integers >= 1, got '%s'", option,
                                 text);
        sizes[i] = (size_t)size;
    }
    *ret = sizes;
    return CM_OK;
}

static int read_dims(const struct invocation *call, const struct option_list *list,
                     const struct cm_campaign_dim **ret) {
    struct cm_campaign_dim *dims = arena_array(call->arena, list->n, sizeof(*dims));
    if (dims == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < list->n; i++) {
        const char *equals = strrchr(list->values[i], '=');
        if (equals == NULL || equals == list->values[i])
            return options_fault(call, "option --dim requires NAME=N[,N...], got '%s'",
                                 list->values[i]);
        dims[i].name =
            arena_strndup(call->arena, list->values[i], (size_t)(equals - list->values[i]));
        const int status = read_sizes(call, "dim", equals + 1, &dims[i].n, &dims[i].sizes);
        if (status < 0) return status;
    }
    *ret = dims;
    return CM_OK;
}

/* Plans the campaign of the command line, or extends `before`. */
static int plan(const struct invocation *call, const struct request *request,
                const struct option_list *models, const struct cm_campaign *before,
                struct cm_campaign **ret) {
    struct cm_campaign_model *list = arena_array(call->arena, models->n, sizeof(*list));
    const struct cm_campaign_dim *dims = NULL;
    const char *measure =
        request->backend ? request->backend : timing_backends[request->measure];
    struct cm_campaign wanted = request->wanted;
    wanted.n_models = models->n;
    wanted.models = list;
    if (measure != NULL) wanted.measure = measure;
    if (list == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < models->n; i++) list[i].path = models->values[i];
    int status = read_dims(call, &request->dims, &dims);
    if (status == CM_OK && request->batches)
        status =
            read_sizes(call, "batch", request->batches, &wanted.n_batches, &wanted.batches);
    const char *precisions = request->amp ? "amp" : request->precisions.text;
    if (status == CM_OK && precisions)
        status = options_split(call, "precision", precisions, &wanted.n_precisions,
                               &wanted.precisions);
    if (status == CM_OK && request->devices)
        status =
            options_split(call, "device", request->devices, &wanted.n_devices, &wanted.devices);
    if (status < 0) return status;
    if (before != NULL)
        return cm_campaign_extend(before, &wanted, dims, request->dims.n, call->diag, ret);
    return cm_campaign_plan(&wanted, dims, request->dims.n, call->diag, ret);
}

/* Parses "2/8"; NULL is 1/1. */
static int read_shard(const struct invocation *call, const char *text,
                      struct cm_campaign_run *ret) {
    int64_t shard = 1;
    int64_t n_shards = 1;
    const size_t length = text ? strcspn(text, "/") : 0;
    if (text != NULL &&
        (text[length] != '/' || !text_to_int64(text, length, &shard) ||
         !text_to_int64(text + length + 1, strlen(text + length + 1), &n_shards) || shard < 1 ||
         n_shards < shard || n_shards > 1000000))
        return options_fault(
            call, "option --shard requires I/N, 1 <= I <= N <= 1000000, got '%s'", text);
    ret->shard = (size_t)shard;
    ret->n_shards = (size_t)n_shards;
    return CM_OK;
}

/* Checks operands and options that exclude each other. */
static int check(const struct invocation *call, const struct request *request,
                 const struct option_list *models) {
    if (request->folder == NULL) return options_fault(call, "sweep requires --output FOLDER");
    if (request->measure != MEASURE_NONE && request->backend != NULL)
        return options_fault(call, "options --measure and --backend are mutually exclusive");
    if (request->amp && request->precisions.n > 0)
        return options_fault(call, "options --amp and --precision are mutually exclusive");
    if (request->manifest != NULL && request->add)
        return options_fault(call, "options --add and --manifest are mutually exclusive");
    if (request->manifest == NULL && models->n == 0 && !request->add)
        return options_fault(call, "sweep requires a model or --manifest");
    const struct request defaults = {.wanted = no_campaign, .cache = true};
    const bool is_planned =
        models->n > 0 || options_changed(sweep_options, request, &defaults, PLANS) != NULL;
    if (request->manifest != NULL && is_planned)
        return options_fault(call, "option --manifest replaces models and their options, which "
                                   "must not be given");
    return CM_OK;
}

/* Refuses results that would replace the manifest or a model. */
static int check_output(const struct invocation *call, const struct request *request,
                        const struct cm_campaign *campaign, const struct cm_campaign_run *run) {
    static const char *const suffixes[] = {"jsonl", "part"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = arena_printf(call->arena, "%s/shard-%zu-of-%zu.%s", run->folder,
                                        run->shard, run->n_shards, suffixes[i]);
        if (path == NULL) return diag_no_memory(call->diag);
        bool is_input = outputs_is_file(path, request->manifest);
        for (size_t k = 0; k < campaign->n_models && !is_input; k++)
            is_input = outputs_is_file(path, campaign->models[k].path);
        if (is_input) return options_fault(call, "output '%s' is also an input", path);
    }
    return CM_OK;
}

struct sweep_progress {
    const struct cm_campaign_outcome *outcome;
    double interval; /* seconds between lines, unless standard error is a terminal */
    double begin;    /* time, seconds */
    double written;  /* time of the last line */
};

static void show_progress(void *context, size_t done, size_t total) {
    struct sweep_progress *progress = context;
    const double now = progress_now();
    const size_t n = done - progress->outcome->n_before;
    if (system_is_terminal(stderr)) {
        fprintf(stderr, "\r%zu of %zu", done, total);
        if (done == total) fputs("\r\033[K", stderr);
        return;
    }
    struct arena *arena =
        now - progress->written < progress->interval ? NULL : arena_new("progress", 0);
    if (arena == NULL) return;
    struct text text = {.arena = arena};
    progress->written = now;
    text_printf(&text, "%zu of %zu combinations, %.3g per second", done, total,
                (double)n / (now - progress->begin));
    progress_append_left(&text, now - progress->begin, n, n + total - done);
    fprintf(stderr, "costmodel: %s\n", text_string(&text));
    arena_free(arena);
}

/* Reads the campaign of the command line, of the manifest, or, with --add, that of the folder
 * and of the command line; then *ret_before is that of the folder, to free after *ret. */
static int read_campaign(const struct invocation *call, const struct request *request,
                         const struct option_list *models, struct cm_campaign **ret_before,
                         struct cm_campaign **ret) {
    if (request->manifest != NULL)
        return cm_campaign_read_file(request->manifest, call->diag, ret);
    if (request->add) {
        const char *path = arena_printf(call->arena, "%s/campaign.json", request->folder);
        if (path == NULL) return diag_no_memory(call->diag);
        const int status = cm_campaign_read_file(path, call->diag, ret_before);
        if (status < 0) return status;
    }
    return plan(call, request, models, *ret_before, ret);
}

/* Sets *ret_all_failed if no combination has figures. */
static int run(const struct invocation *call, const struct request *request,
               const struct option_list *models, bool *ret_all_failed) {
    struct cm_campaign *campaign = NULL;
    struct cm_campaign *before = NULL;
    struct cm_campaign_outcome outcome = {.n = 0};
    struct sweep_progress progress = {&outcome, request->progress, progress_now(),
                                      progress_now()};
    struct cm_campaign_run options = {.size = sizeof options,
                                      .folder = request->folder,
                                      .jobs = (size_t)request->jobs,
                                      .retry = request->retry,
                                      .progress = show_progress,
                                      .progress_context = &progress,
                                      .extends = request->add};
    int status = check(call, request, models);
    if (status == CM_OK) status = read_shard(call, request->shard, &options);
    if (status == CM_OK && request->cache) status = timing_cache(call->arena, &options.cache);
    if (status < 0) return status;
    status = read_campaign(call, request, models, &before, &campaign);
    if (status == CM_REFUSED) status = CM_USAGE; /* an invalid manifest or too many values */
    if (status == CM_OK) status = check_output(call, request, campaign, &options);
    if (status == CM_OK) status = cm_campaign_run(campaign, &options, call->diag, &outcome);
    cm_campaign_free(campaign);
    cm_campaign_free(before);
    if (status < 0) return status;
    printf("%s/shard-%zu-of-%zu.jsonl: %zu combination%s", options.folder, options.shard,
           options.n_shards, outcome.n, text_plural((int64_t)outcome.n));
    if (outcome.n_before > 0) printf(", %zu finished earlier", outcome.n_before);
    if (outcome.n_failed > 0) printf(", %zu failed", outcome.n_failed);
    printf("\n");
    *ret_all_failed = outcome.n > 0 && outcome.n_failed == outcome.n;
    if (*ret_all_failed)
        (void)diag_error(call->diag, DIAG_COMPARE,
                         "no combination succeeded: see 'costmodel merge %s'", options.folder);
    return CM_OK;
}

int command_sweep(const struct invocation *call) {
    struct request request = {
        .wanted = no_campaign, .cache = true, .progress = PROGRESS_SECONDS};
    struct option_list models = {0, NULL};
    int status = options_parse(sweep_options, call, &request, &models);
    bool all_failed = false;
    if (status == CM_OK) status = run(call, &request, &models, &all_failed);
    return command_finish(call, all_failed ? EXIT_INCOMPLETE : command_exit(status));
}
