/* SPDX-License-Identifier: Apache-2.0 */
/* Results of cm_model_llm as rows of one table. */
#include "costmodel/llm.h"

#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

/* Returns the tokens per second of a step; CM_UNKNOWN without a time. */
static int64_t rate(int64_t batch, int64_t ps) {
    const double tokens = ps > 0 ? (double)batch * 1e12 / (double)ps : 1e19;
    return tokens < 9e18 ? (int64_t)tokens : CM_UNKNOWN;
}

static struct cm_llm_row row_of(const struct cm_llm *llm, const struct cm_llm_phase *prefill,
                                const struct cm_llm_phase *decode) {
    return (struct cm_llm_row){
        .model = llm->path,
        .device = llm->device,
        .tp = llm->tp,
        .pp = llm->pp,
        .ep = llm->ep,
        .prompt = llm->prompt,
        .batch = decode->batch,
        .context = checked_add(llm->prompt, llm->new_tokens),
        .request_bytes = llm->request_bytes,
        .stored_bytes = llm->stored_bytes,
        .request_sequences = llm->request_sequences,
        .prefill_lower_bound_ps = prefill->lower_bound_ps,
        .prefill_ps = prefill->latency_ps,
        .decode_lower_bound_ps = decode->lower_bound_ps,
        .decode_ps = decode->latency_ps,
        .tokens_per_s = rate(decode->batch, decode->lower_bound_ps),
        .expected_tokens_per_s = rate(decode->batch, decode->latency_ps),
    };
}

int cm_llm_sweep_make(const struct cm_llm *const *llms, size_t n,
                      struct cm_diagnostics *diagnostics, struct cm_llm_sweep **ret) {
    int status = arguments_check(ARGUMENT_POINTER, llms, n, ret, diagnostics);
    if (status < 0) return status;
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) n_rows += llms[i]->n_phases;
    struct arena *arena = arena_new("sweep", 0);
    struct cm_llm_sweep *sweep = arena ? arena_alloc(arena, sizeof *sweep) : NULL;
    struct cm_llm_row *rows = arena ? arena_array(arena, n_rows + 1, sizeof *rows) : NULL;
    if (!sweep || !rows) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    *sweep = (struct cm_llm_sweep){.rows = rows, .arena = arena};
    for (size_t i = 0; i < n; i++) /* the first phase is prefill */
        for (size_t k = 1; k < llms[i]->n_phases; k++)
            if (text_equal(llms[i]->phases[k].name, "decode"))
                rows[sweep->n_rows++] =
                    row_of(llms[i], &llms[i]->phases[0], &llms[i]->phases[k]);
    *ret = sweep;
    return CM_OK;
}

void cm_llm_sweep_free(struct cm_llm_sweep *sweep) {
    if (sweep != NULL) arena_free(sweep->arena);
}
