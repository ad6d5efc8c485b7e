/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes with numbers of tokens, and describes the language model. */
#include "api/handle.h"
#include "api/llm/figures.h"
#include "passes/pipeline/pipeline.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* Numbers of tokens of the analysis from which the counts of one token follow. */
static const struct {
    int64_t tokens, past;
} probes[] = {{509, 127}, {61, 31}, {13, 7}}; /* fewer, if constants of the model do not fit */

/* Returns true if the dim follows from the prompt, the new tokens and the batch. */
static bool has_role(const struct llm_roles *roles, const char *symbol) {
    for (size_t i = 0; i < roles->n_dims; i++)
        if (roles->dims[i].role != ROLE_NONE && text_equal(roles->dims[i].symbol, symbol))
            return true;
    return false;
}

int figures_find_roles(struct serving *serving, struct cm_model *model,
                       const struct cm_options *options) {
    struct analysis bound = {.model = model->model,
                             .arena = serving->arena,
                             .diag = serving->diag,
                             .options = options};
    int status = pipeline_run_to(&bound, TABLE_BIND);
    if (status == CM_OK) status = llm_roles_find(&bound, &serving->roles);
    if (serving->options->weights_only && options->n_dims > 0) /* a run of these sizes */
        serving->roles = (struct llm_roles){.tokens = ID_NONE,
                                            .batch = DIM_UNKNOWN,
                                            .sequence = DIM_UNKNOWN,
                                            .cache = serving->roles.cache};
    serving->roles.is_whole = serving->options->weights_only;
    if (status == CM_OK && serving->roles.tokens == ID_NONE && !serving->options->weights_only)
        status = diag_error(serving->diag, DIAG_GRAPH,
                            "no input has token ids that are looked up, or their embeddings");
    for (size_t i = 0; i < options->n_dims && status == CM_OK; i++)
        if (!serving->options->ignore_dims && has_role(&serving->roles, options->dims[i].name))
            status = diag_error(serving->diag, DIAG_USAGE,
                                "dim '%s' follows from the prompt, the new tokens and the "
                                "batch",
                                options->dims[i].name);
    return status;
}

/* Runs the passes with numbers of tokens, and describes the model. */
static int describe_at(struct serving *serving, struct cm_model *model,
                       const struct cm_options *options, size_t probe,
                       struct cm_diagnostics *diag) {
    const struct llm_roles *roles = &serving->roles;
    const int64_t tokens = roles->tokens == ID_NONE    ? 1
                           : is_known(roles->sequence) ? roles->sequence
                                                       : probes[probe].tokens;
    const int64_t batch = is_known(roles->batch) ? roles->batch : 1;
    const int64_t past = roles->has_past ? probes[probe].past : 0;
    size_t n = 0;
    struct cm_dim_option *dims =
        llm_roles_bind(roles, serving->arena, 1, tokens, past, probes[probe].tokens, &n);
    struct cm_dim_option *all =
        arena_array(serving->arena, n + options->n_dims + 1, sizeof *all);
    struct analysis *analysis = arena_alloc(serving->arena, sizeof *analysis);
    struct cm_options *bound = arena_alloc(serving->arena, sizeof *bound);
    if (!dims || !all || !analysis || !bound) return diag_no_memory(diag);
    for (size_t i = 0; i < n; i++) all[i] = dims[i];
    for (size_t i = 0; i < options->n_dims; i++)
        if (!has_role(roles, options->dims[i].name)) all[n++] = options->dims[i];
    *bound = *options;
    bound->dims = all;
    bound->n_dims = n;
    bound->batch = roles->tokens == ID_NONE ? 1 : 0;
    bound->optimizer = NULL;
    *analysis = (struct analysis){
        .model = model->model, .arena = serving->arena, .diag = diag, .options = bound};
    const int status = pipeline_run_to(analysis, TABLE_COUNT);
    return status < 0 ? status
                      : llm_describe(analysis, roles, tokens * batch, past, &serving->language);
}

/* The messages of the last attempt are kept, and those of the first that succeeds. */
int figures_describe(struct serving *serving, struct cm_model *model,
                     const struct cm_options *options) {
    int status = CM_REFUSED;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && status == CM_REFUSED; i++) {
        const bool is_last = i + 1 == sizeof probes / sizeof *probes;
        struct cm_diagnostics *unheard = is_last ? NULL : cm_diagnostics_new();
        if (!is_last && !unheard) return diag_no_memory(serving->diag);
        status = describe_at(serving, model, options, i, is_last ? serving->diag : unheard);
        for (size_t k = 0; unheard && status != CM_REFUSED && k < cm_diagnostics_count(unheard);
             k++)
            diag_repeat(serving->diag, cm_diagnostics_get(unheard, k));
        cm_diagnostics_free(unheard);
    }
    const struct language *language = &serving->language;
    if (status < 0 || serving->options->weights_only) return status;
    if (language->n_attentions == 0 && language->state_bytes == 0) {
        status = diag_error(serving->diag, DIAG_GRAPH,
                            "the model has neither attention nor a state");
        diag_hint(serving->diag, "a recurrent model needs its cache as inputs; see 'costmodel "
                                 "guide llm-prefill-decode-kv-cache'");
        return status;
    }
    if (language->lacks_state) {
        diag_warn(
            serving->diag, DIAG_ASSUMPTION,
            "the file lacks the state of its recurrences or convolutions, which bytes and "
            "capacity do not include");
        diag_hint(serving->diag, "export the model with its cache");
    }
    if (language->is_bidirectional)
        diag_warn(serving->diag, DIAG_ASSUMPTION,
                  "no attention has a causal mask: an encoder generates no tokens");
    return CM_OK;
}
