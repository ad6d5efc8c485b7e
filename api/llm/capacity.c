/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the sequences that fit at some contexts, and the curve of a step's time. */
#include <math.h>

#include "api/llm/figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_CONTEXT ((int64_t)1 << 40)
#define N_CURVE     11 /* contexts from 1024 to 1048576 */

int figures_list_capacity(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    const int64_t request = checked_add(options->prompt, options->new_tokens);
    int64_t contexts[4] = {request};
    size_t n = 1;
    for (int64_t context = 8192; n < 4 && context <= 131072; context *= 4)
        if (context > request) contexts[n++] = context;
    const int64_t *list = options->n_contexts > 0 ? options->contexts : contexts;
    if (options->n_contexts > 0) n = options->n_contexts;
    result->request_bytes =
        figures_whole(llm_cache_bytes(&serving->language, &serving->setup, request,
                                      serving->memory.source, serving->memory.page));
    if (serving->memory.limit <= 0) return CM_OK;
    result->request_sequences =
        llm_sequences(&serving->language, &serving->setup, &serving->memory, request);
    struct cm_llm_capacity *rows = arena_array(serving->arena, n, sizeof *rows);
    if (!rows) return diag_no_memory(serving->diag);
    result->capacity = rows;
    for (size_t i = 0; i < n; i++) {
        struct cm_llm_capacity *row = &rows[result->n_capacity++];
        row->context = list[i];
        row->tokens_per_s = row->expected_tokens_per_s = CM_UNKNOWN;
        row->sequences =
            llm_sequences(&serving->language, &serving->setup, &serving->memory, list[i]);
        if (row->sequences < 1 || !serving->machine.name) continue;
        const int64_t past = list[i] == request ? figures_mean_past(options) : list[i] - 1;
        /* each stage of a pipeline runs a part of the sequences while the others run theirs */
        const struct llm_costs costs =
            figures_costs(serving, (row->sequences + options->pp - 1) / options->pp, 1, past);
        row->tokens_per_s = figures_whole(floor((double)row->sequences / costs.bound));
        if (!costs.is_untimed)
            row->expected_tokens_per_s =
                figures_whole(floor((double)row->sequences / costs.expected));
    }
    result->longest_context =
        llm_longest(&serving->language, &serving->setup, &serving->memory, MAX_CONTEXT);
    return CM_OK;
}

/* Sets the bound and expected time of a step of decode; neither if the batch does not fit. */
static void time_step(const struct serving *serving, int64_t batch, int64_t context,
                      int64_t *ret_bound, int64_t *ret_expected) {
    const int64_t fits =
        llm_sequences(&serving->language, &serving->setup, &serving->memory, context);
    *ret_bound = *ret_expected = CM_UNKNOWN;
    if (!serving->machine.name || (fits >= 0 && fits < batch)) return;
    const struct llm_costs costs = figures_costs(serving, batch, 1, context - 1);
    *ret_bound = figures_ps(costs.bound);
    if (!costs.is_untimed) *ret_expected = figures_ps(costs.expected);
}

int figures_list_curve(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    struct cm_llm_point *points = arena_array(serving->arena, N_CURVE, sizeof *points);
    if (!points) return diag_no_memory(serving->diag);
    int64_t last = is_known(result->longest_context) ? result->longest_context : 131072;
    if (is_known(result->max_context) && result->max_context < last) last = result->max_context;
    result->curve = points;
    for (size_t i = 0; i < serving->n_batches; i++)
        if (serving->batches[i] > result->curve_batch)
            result->curve_batch = serving->batches[i];
    for (int64_t context = 1024; result->n_curve < N_CURVE && context <= last; context *= 2) {
        struct cm_llm_point *point = &points[result->n_curve++];
        point->context = context;
        point->request_bytes = figures_whole(llm_cache_bytes(
            language, &serving->setup, context, serving->memory.source, serving->memory.page));
        time_step(serving, 1, context, &point->lower_bound_ps, &point->latency_ps);
        time_step(serving, result->curve_batch, context, &point->batch_lower_bound_ps,
                  &point->batch_latency_ps);
    }
    return CM_OK;
}
