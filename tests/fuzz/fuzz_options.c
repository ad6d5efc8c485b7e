/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax of the command line: options, sizes and shapes, lists of values and batches,
 * columns, filters and limits. An input is a command line, one word per line: first the command
 * (`check`, or anything else for profile), then the arguments.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check_command.h"
#include "cli/command.h"
#include "cli/request.h"
#include "cli/timing.h"
#include "compare/limit.h"
#include "fuzz.h"
#include "report/table/cell.h"
#include "report/table/filter.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/glob.h"

#define N(array)  (sizeof(array) / sizeof((array)[0]))
#define MAX_WORDS 64

/* MAX_WORDS also limits the number of values of each list. */
struct line {
    struct invocation call;
    const char *words[MAX_WORDS];
};

static void take_words(char *text, struct line *ret) {
    ret->call.argv = ret->words;
    for (char *word = text; word != NULL && ret->call.argc < MAX_WORDS;) {
        char *end = strchr(word, '\n');
        if (end != NULL) *end = '\0';
        ret->words[ret->call.argc++] = word;
        word = end == NULL ? NULL : end + 1;
    }
}

static void require_dims(size_t n, const struct cm_dim_option *dims) {
    for (size_t i = 0; i < n; i++) FUZZ_REQUIRE(dims[i].name[0] != '\0' && dims[i].size >= 0);
}

static void require_options(const struct cm_options *options,
                            const struct option_integers *batches) {
    require_dims(options->n_dims, options->dims);
    require_dims(options->n_trip_counts, options->trip_counts);
    for (size_t i = 0; i < batches->n; i++) FUZZ_REQUIRE(batches->values[i] >= 1);
    for (size_t i = 0; i < options->n_inputs; i++) {
        FUZZ_REQUIRE(options->inputs[i].name[0] != '\0' && options->inputs[i].n_dims > 0);
        for (size_t k = 0; k < options->inputs[i].n_dims; k++)
            FUZZ_REQUIRE(options->inputs[i].dims[k] >= 0);
    }
    for (size_t i = 0; i < options->n_values; i++) {
        FUZZ_REQUIRE(options->values[i].name[0] != '\0');
        for (size_t k = 0; k < options->values[i].n; k++)
            FUZZ_REQUIRE(options->values[i].elements[k] != NULL);
    }
}

/* A relative bound is never below the baseline. */
static void require_bound(const struct bound *bound) {
    static const int64_t olds[] = {0, 1, 99, 12345678901, INT64_MAX - 1, INT64_MAX};
    FUZZ_REQUIRE(bound->value >= 0);
    for (size_t i = 0; i < N(olds); i++) {
        const int64_t most = bound_most(bound, olds[i]);
        if (bound->kind == BOUND_ABSOLUTE)
            FUZZ_REQUIRE(most == bound->value);
        else
            FUZZ_REQUIRE(most >= olds[i]);
    }
    FUZZ_REQUIRE((bound_most(bound, CM_UNKNOWN) == CM_UNKNOWN) ==
                 (bound->kind != BOUND_ABSOLUTE));
}

static void read_limit(const struct invocation *call, const char *text) {
    struct limit limit;
    const int status = limit_parse(text, "--limit", call->arena, call->diag, &limit);
    fuzz_require_status(status, call->diag);
    if (status != CM_OK) return;
    FUZZ_REQUIRE(limit.n_bounds >= 1 && limit.n_bounds <= LIMIT_MAX_BOUNDS);
    FUZZ_REQUIRE(limit.batch == CM_UNKNOWN || limit.batch >= 1);
    FUZZ_REQUIRE(limit.modules[0] == '\0' || limit.of.of_modules);
    for (size_t i = 0; i < limit.n_bounds; i++) require_bound(&limit.bounds[i]);
}

/* Agrees with fnmatch, except for brackets, which only fnmatch supports. */
static void require_glob(const char *pattern) {
    static const char *const texts[] = {"", "a", "layer1.0.conv1", "conv", "aXbXc", "?*"};
    const bool is_plain = strpbrk(pattern, "[]\\") == NULL && strlen(pattern) < 20;
    FUZZ_REQUIRE(strpbrk(pattern, "*?") != NULL || glob_matches(pattern, pattern));
    for (size_t i = 0; i < N(texts); i++) {
        const bool matches = glob_matches(pattern, texts[i]);
        if (is_plain) FUZZ_REQUIRE(matches == (fnmatch(pattern, texts[i], 0) == 0));
    }
}

static void require_opposite(const struct filter *filter, const struct cell *cell) {
    struct filter opposite = *filter;
    opposite.comparison = (struct comparison){
        !filter->comparison.if_less, !filter->comparison.if_equal, !filter->comparison.if_more};
    FUZZ_REQUIRE(filter_holds(filter, cell) != filter_holds(&opposite, cell));
}

static void require_filter(const struct filter *filter) {
    static const int64_t values[] = {0, 1, 1000, INT64_MAX};
    if (filter->field.is_text) {
        require_glob(filter->pattern);
        return;
    }
    for (size_t i = 0; i < N(values); i++) {
        const struct cell figure = {.kind = CELL_FIGURE, .value = values[i]};
        const struct cell share = {.kind = CELL_SHARE, .value = values[i], .whole = 7};
        require_opposite(filter, filter->field.is_share ? &share : &figure);
    }
}

static void read_filter(const struct invocation *call, const char *text) {
    static const enum rows all[] = {ROWS_MODULES, ROWS_NODES, ROWS_OPERATORS, ROWS_BATCHES};
    for (size_t i = 0; i < N(all); i++) {
        struct filter filter;
        const int status = filter_parse(text, all[i], call->arena, call->diag, &filter);
        fuzz_require_status(status, call->diag);
        if (status == CM_OK) require_filter(&filter);
    }
}

static int read_model(const struct invocation *call, struct binding *binding,
                      struct timing *timing) {
    struct cm_options options;
    int status = binding_read(call, binding, &options);
    if (status == CM_OK) require_options(&options, &binding->batches);
    if (status == CM_OK) status = timing_read(call, timing, &options);
    timing_free(timing);
    return status;
}

static int read_profile(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    struct request request;
    request_defaults(&request);
    int status = options_parse(profile_options, call, &request, &operands);
    if (status == CM_OK) status = read_model(call, &request.binding, &request.timing);
    for (size_t i = 0; i < request.filters.n; i++) read_filter(call, request.filters.values[i]);
    if (status == CM_OK) status = format_find(call, &request);
    return status == CM_OK ? format_check(call, &request) : status;
}

static int read_check(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    const struct check_item item = {.call = *call};
    struct check_request request;
    struct check_report report;
    int status = check_request_parse(call, &request, &operands);
    if (status == CM_OK && operands.n == 1) status = check_request_read(&item, &request);
    for (size_t i = 0; i < request.limits.n; i++) read_limit(call, request.limits.values[i]);
    for (size_t i = 0; i < request.reports.n && status == CM_OK; i++)
        status = check_report_read(call, request.reports.values[i], &report);
    return status == CM_OK ? read_model(call, &request.binding, &request.timing) : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct line line = {.call = {.name = "check"}};
    struct arena *arena = arena_new("line", 0);
    const double since = fuzz_now();
    FUZZ_REQUIRE(arena != NULL);
    line.call.arena = arena;
    line.call.diag = cm_diagnostics_new();
    char *text = arena_strndup(arena, (const char *)data, size);
    FUZZ_REQUIRE(text != NULL && line.call.diag != NULL);
    take_words(text, &line);
    const bool is_check = strcmp(line.words[0], "check") == 0;
    line.call.argv++;
    line.call.argc--;
    fuzz_require_status(is_check ? read_check(&line.call) : read_profile(&line.call),
                        line.call.diag);
    cm_diagnostics_free(line.call.diag);
    arena_free(arena);
    fuzz_require_fast(since);
    return 0;
}
