/* SPDX-License-Identifier: Apache-2.0 */
/* Lists collectives, what tensor parallelism replicates, and the params of chosen experts. */
#include <math.h>

#include "api/llm/figures.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define N_ACTIVE 8 /* numbers of tokens for which active params are listed: 1, 2, 4, ... */

int figures_list_collectives(struct serving *serving) {
    static const char *const kinds[N_COLLECTIVES] = {"all-reduce", "all-gather", "all-to-all",
                                                     "send"};
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    struct cm_llm_collective *rows =
        arena_array(serving->arena, 2 * N_COLLECTIVES, sizeof *rows);
    const char **replicated =
        arena_array(serving->arena, language->n_weights + 1, sizeof *replicated);
    if (!rows || !replicated) return diag_no_memory(serving->diag);
    result->collectives = rows;
    result->replicated = replicated;
    for (int phase = 0; phase < 2; phase++) {
        const struct llm_costs costs =
            phase == 0 ? figures_costs(serving, 1, serving->options->prompt, 0)
                       : figures_costs(serving, serving->batches[0], 1,
                                       figures_mean_past(serving->options));
        for (int kind = 0; kind < N_COLLECTIVES; kind++)
            if (costs.n_collectives[kind] > 0)
                rows[result->n_collectives++] = (struct cm_llm_collective){
                    kinds[kind], phase == 0 ? "prefill" : "decode", costs.n_collectives[kind],
                    figures_whole(costs.collective_bytes[kind])};
    }
    for (size_t i = 0; i < language->n_weights && serving->setup.tp > 1; i++) {
        const struct llm_product *product =
            language->weights[i].product == LLM_TABLE
                ? NULL
                : &language->products[language->weights[i].product];
        if (product &&
            (product->split != SPLIT_NONE || (product->experts > 0 && serving->setup.ep > 1)))
            continue;
        const char *name = figures_generic_name(serving->arena, language->weights[i].name);
        size_t k = 0;
        while (k < result->n_replicated && !text_equal(replicated[k], name)) k++;
        if (k == result->n_replicated) replicated[result->n_replicated++] = name;
    }
    return CM_OK;
}

/* Lists the params that several tokens need, which may choose the same experts. */
int figures_list_active(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    struct cm_llm_active *rows = arena_array(serving->arena, N_ACTIVE, sizeof *rows);
    if (!rows) return diag_no_memory(serving->diag);
    result->active = rows;
    for (int64_t tokens = 1; language->n_experts > 0 && result->n_active < N_ACTIVE;
         tokens *= 2) {
        double expected = 0, most = 0;
        for (size_t i = 0; i < language->n_products; i++) {
            const struct llm_product *product = &language->products[i];
            if (product->experts == 0) continue;
            const double matrix = (double)product->elements / (double)product->experts;
            const double chosen = (double)tokens * (double)product->chosen;
            expected += matrix * llm_touched(product->experts, product->chosen, (double)tokens);
            most += matrix * fmin(chosen, (double)product->experts);
        }
        const double others = (double)(language->params - language->expert_params);
        rows[result->n_active++] = (struct cm_llm_active){
            tokens, figures_whole(others + expected), figures_whole(others + most)};
    }
    return CM_OK;
}
