/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the largest batch that fits by profiling: N fits and N + 1 does not. Required memory is
 * nearly linear in the batch (the maximum of linear functions, plus gaps in the arena), so
 * linear interpolation between two batches usually finds it at once. */
#include "api/assemble.h"

#include "passes/batch/batch.h"
#include "passes/device/device_memory.h"
#include "passes/pipeline/pipeline.h"
#include "passes/summary/memory_required.h"
#include "passes/work.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_BATCH INT32_MAX /* the search ends here */
#define TOO_MUCH  INT64_MAX /* required bytes if a size exceeds 2^63 */

struct trial {
    int64_t batch;
    int64_t bytes;
    int64_t high_bytes; /* that the step needs at most, with confidence */
};

struct search {
    const struct analysis *analysis; /* at the requested batch */
    int64_t limit;
    struct trial fits;  /* the largest so far; batch 0: none */
    struct trial fails; /* the smallest so far; batch 0: none */
    bool uneven;        /* a larger batch required less memory */
    bool is_confident;  /* high_bytes are within the limit */
    const char *why;    /* why the batch cannot be changed; NULL if it can */
    bool is_ended;      /* the work limit allows no further trial */
};

static struct trial trial_of(const struct analysis *analysis, int64_t batch) {
    const int64_t required = analysis->memory_required->required_bytes;
    const struct cm_device_memory *memory = &analysis->device_memory->estimate;
    const int64_t bytes = is_known(required) ? required : TOO_MUCH;
    return (struct trial){batch, bytes, memory->present ? memory->high_bytes : bytes};
}

/* Sets *ret to the required bytes at this batch, TOO_MUCH if unknown; sets search->why if the
 * passes refuse the batch. */
static int try_batch(struct search *search, int64_t batch, struct trial *ret) {
    struct cm_options options = *search->analysis->options;
    struct arena *arena = arena_new("trial", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct analysis trial = {.model = search->analysis->model,
                             .options = &options,
                             .work = search->analysis->work,
                             .arena = arena,
                             .diag = diag};
    int status = CM_NO_MEMORY;
    options.batch = batch;
    options.memory_plan = false;
    options.backend = NULL; /* trials are not measured */
    options.n_times = 0;
    options.dump_after = NULL;
    options.dump = NULL;
    *ret = (struct trial){batch, TOO_MUCH, TOO_MUCH};
    if (arena && diag) status = pipeline_run_to(&trial, TABLE_MEMORY_REQUIRED);
    if (status == CM_OK) *ret = trial_of(&trial, batch);
    bool is_past_range = false;
    for (size_t i = 0; status < 0 && i < cm_diagnostics_count(diag); i++)
        is_past_range |= cm_diagnostics_get(diag, i)->severity == CM_ERROR &&
                         cm_diagnostics_get(diag, i)->code == diag_code_name(DIAG_OVERFLOW);
    if (status < 0 && status != CM_NO_MEMORY) {
        const struct cm_diagnostic *error = diag_first_error(diag);
        status = CM_OK;
        if (!is_past_range)
            search->why = error ? arena_strdup(search->analysis->arena, error->message) : "";
        if (!is_past_range && !search->why) status = CM_NO_MEMORY;
    }
    arena_free(arena);
    cm_diagnostics_free(diag);
    return status;
}

/* Replaces `fits` or `fails` by a trial; sets `uneven` if a larger batch needs less memory. */
static void narrow_interval(struct search *search, struct trial trial) {
    if (search->is_confident) trial.bytes = trial.high_bytes;
    if (search->fits.batch > 0 &&
        (trial.batch > search->fits.batch) != (trial.bytes >= search->fits.bytes))
        search->uneven = true;
    if (search->fails.batch > 0 &&
        (trial.batch < search->fails.batch) != (trial.bytes <= search->fails.bytes))
        search->uneven = true;
    if (trial.bytes <= search->limit)
        search->fits = trial;
    else
        search->fails = trial;
}

static int try_and_narrow(struct search *search, int64_t batch) {
    const struct analysis *analysis = search->analysis;
    struct trial trial = {0};
    search->is_ended = !work_run(analysis->work, analysis->model->n_nodes);
    if (search->is_ended) return CM_OK;
    int status = try_batch(search, batch, &trial);
    if (status == CM_OK && !search->why) narrow_interval(search, trial);
    return status;
}

/* Returns the batch at which a line through two trials meets the limit. */
static int64_t meet_limit(const struct trial *a, const struct trial *b, int64_t limit) {
    double slope = ((double)b->bytes - (double)a->bytes) / (double)(b->batch - a->batch);
    if (slope <= 0) return MAX_BATCH;
    double batch = (double)a->batch + ((double)limit - (double)a->bytes) / slope;
    if (batch < 1) return 1;
    return batch < MAX_BATCH ? (int64_t)batch : MAX_BATCH;
}

/* Tries larger batches until one does not fit. */
static int find_upper(struct search *search) {
    struct trial before = search->fits;
    int64_t next = before.batch < MAX_BATCH ? 2 * before.batch : MAX_BATCH;
    int status = CM_OK;
    while (status == CM_OK && !search->why && !search->is_ended && search->fails.batch == 0 &&
           search->fits.batch < MAX_BATCH) {
        before = search->fits;
        status = try_and_narrow(search, next < MAX_BATCH ? next : MAX_BATCH);
        if (search->fails.batch > 0 || search->fits.batch == before.batch) continue;
        /* Extrapolate to just above the limit; if that is not larger, double the batch. */
        next = meet_limit(&before, &search->fits, search->limit) + 1;
        if (next <= search->fits.batch) next = 2 * search->fits.batch;
    }
    return status;
}

/* Returns a batch between the largest that fits and the smallest that fails. Every third guess
 * is the middle, so that the search ends after a logarithmic number of rounds. */
static int64_t guess(const struct search *search, int round) {
    const struct trial *low = &search->fits;
    const struct trial *high = &search->fails;
    int64_t middle = low->batch + (high->batch - low->batch) / 2;
    if (round % 3 == 2 || high->bytes == TOO_MUCH) return middle;
    int64_t batch = meet_limit(low, high, search->limit) + round % 3;
    if (batch <= low->batch) return low->batch + 1;
    return batch < high->batch ? batch : high->batch - 1;
}

static int find_largest(struct search *search) {
    int status = CM_OK;
    if (search->fits.batch == 0 && search->fails.batch != 1) status = try_and_narrow(search, 1);
    if (status == CM_OK && search->fits.batch > 0 && search->fails.batch == 0)
        status = find_upper(search);
    for (int round = 0; status == CM_OK && !search->why && !search->is_ended &&
                        search->fits.batch > 0 && search->fails.batch - search->fits.batch > 1;
         round++)
        status = try_and_narrow(search, guess(search, round));
    return status;
}

static void report_search(const struct search *search, struct cm_fit *fit) {
    if (search->why) {
        fit->search = "fixed";
        fit->why = search->why;
        return;
    }
    /* Trials have the batch of a micro-batch. */
    const int64_t micro_batches = pass_micro_batches(search->analysis);
    fit->search = search->uneven ? "uneven" : "exact";
    if (search->fits.batch == 0) fit->search = "none";
    if (search->fails.batch == 0) fit->search = "unbounded";
    if (search->analysis->work && search->analysis->work->is_exhausted)
        fit->search = "exhausted";
    const bool is_found = search->fails.batch > 0 || search->is_ended;
    if (is_found && (search->fits.batch > 0 || !search->is_ended))
        fit->largest_batch = checked_mul(search->fits.batch, micro_batches);
    if (is_found && search->fits.batch > 0) fit->largest_bytes = search->fits.bytes;
    if (search->fails.batch == search->fits.batch + 1 && search->fails.bytes < TOO_MUCH)
        fit->next_bytes = search->fails.bytes;
}

/* Finds the largest batch that fits with confidence, from the trials of the other search. */
static int find_confident(const struct search *search, struct cm_fit *fit) {
    struct search confident = {
        .analysis = search->analysis, .limit = search->limit, .is_confident = true};
    if (search->why) return CM_OK;
    if (search->fails.batch > 0) narrow_interval(&confident, search->fails);
    if (search->fits.batch > 0) narrow_interval(&confident, search->fits);
    if (find_largest(&confident) < 0) return diag_no_memory(search->analysis->diag);
    if (confident.fails.batch > 0 && (confident.fits.batch > 0 || !confident.is_ended))
        fit->confident_batch =
            checked_mul(confident.fits.batch, pass_micro_batches(search->analysis));
    return CM_OK;
}

int fit_find(const struct analysis *analysis, int64_t device_bytes, const struct cm_fit **ret) {
    int64_t batch = analysis->batch->batch;
    int64_t required = analysis->memory_required->required_bytes;
    struct search search = {.analysis = analysis, .limit = analysis->options->memory_limit};
    if (search.limit == 0 && analysis->options->fit_device) search.limit = device_bytes;
    if (search.limit <= 0) return CM_OK;
    struct cm_fit *fit = arena_alloc(analysis->arena, sizeof *fit);
    if (!fit) return diag_no_memory(analysis->diag);
    *fit = (struct cm_fit){
        .limit_bytes = search.limit,
        .fits = is_known(required) && required <= search.limit,
        .largest_batch = CM_UNKNOWN,
        .largest_bytes = CM_UNKNOWN,
        .next_bytes = CM_UNKNOWN,
        .confident_batch = CM_UNKNOWN,
        .search = "no-batch",
        .why = "",
    };
    *ret = fit;
    if (!is_known(batch)) return CM_OK;
    if (batch > 0) narrow_interval(&search, trial_of(analysis, batch));
    if (find_largest(&search) < 0) return diag_no_memory(analysis->diag);
    report_search(&search, fit);
    return analysis->device_memory->estimate.present ? find_confident(&search, fit) : CM_OK;
}
