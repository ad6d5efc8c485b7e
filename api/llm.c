/* SPDX-License-Identifier: Apache-2.0 */
/* cm_model_llm: finds the roles of the dims, runs the passes once, describes the language model
 * and computes its phases, capacity and changes. */
#include "costmodel/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/half.h"
#include "api/handle.h"
#include "ir/dtype.h"
#include "llm/language.h"
#include "llm/phases.h"
#include "llm/serving.h"
#include "passes/pipeline/pipeline.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/map.h"
#include "support/text.h"

/* Numbers of tokens of the analysis from which the counts of one token follow. */
static const struct {
    int64_t tokens, past;
} probes[] = {{509, 127}, {61, 31}, {13, 7}}; /* fewer, if constants of the model do not fit */

#define MAX_CONTEXT ((int64_t)1 << 40)
#define MAX_TOKENS  ((int64_t)1 << 32) /* of an option */
#define MAX_GPUS    4096
#define MAX_BATCH   ((int64_t)1 << 20)
#define MAX_BENDS   64 /* windows at which the costs of a generation bend */
#define N_CURVE     11 /* contexts from 1024 to 1048576 */
#define N_ACTIVE    8  /* numbers of tokens for which active params are listed: 1, 2, 4, ... */
#define N_SAMPLES   9  /* steps of a generation whose times are modelled */

struct serving {
    struct cm_llm *result;
    const struct cm_llm_options *options;
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct language language;
    struct llm_roles roles;
    struct llm_machine machine;
    struct llm_setup setup;
    struct llm_memory memory;
    struct llm_format cache;
    const int64_t *batches;
    size_t n_batches;
};

static int64_t picoseconds(double seconds) {
    const double ps = seconds * 1e12;
    return ps > 0 && ps < 9e18 ? (int64_t)llround(ps) : CM_UNKNOWN;
}

static int64_t whole(double value) {
    return value < 9e18 ? llround(value) : CM_UNKNOWN;
}

/* --- Options. --- */

static int check_range(const struct serving *serving, const char *what, int64_t value,
                       int64_t low, int64_t high) {
    if (value >= low && value <= high) return CM_OK;
    return diag_error(serving->diag, DIAG_USAGE, "%s must be from %lld to %lld, got %lld", what,
                      (long long)low, (long long)high, (long long)value);
}

static int check_options(const struct serving *serving) {
    const struct cm_llm_options *options = serving->options;
    int status = check_range(serving, "the prompt", options->prompt, 1, MAX_TOKENS);
    if (status == CM_OK)
        status = check_range(serving, "the number of new tokens", options->new_tokens, 1,
                             MAX_TOKENS);
    if (status == CM_OK) status = check_range(serving, "tp", options->tp, 1, MAX_GPUS);
    if (status == CM_OK) status = check_range(serving, "pp", options->pp, 1, MAX_GPUS);
    if (status == CM_OK) status = check_range(serving, "ep", options->ep, 1, MAX_GPUS);
    if (status == CM_OK)
        status = check_range(serving, "the page", options->page, 0, MAX_TOKENS);
    for (size_t i = 0; i < options->n_batches && status == CM_OK; i++)
        status = check_range(serving, "the batch", options->batches[i], 1, MAX_BATCH);
    for (size_t i = 0; i < options->n_contexts && status == CM_OK; i++)
        status = check_range(serving, "the context", options->contexts[i], 1, MAX_TOKENS);
    if (status == CM_OK && !(options->reserve >= 0 && options->reserve < 1))
        status = diag_error(serving->diag, DIAG_USAGE,
                            "the reserved share must be at least 0 and below 1");
    if (status == CM_OK && options->ep > options->tp && options->ep % options->tp != 0)
        status = diag_error(serving->diag, DIAG_USAGE, "ep must be a multiple of tp");
    return status;
}

/* Finds the format of a text; an error lists the formats. */
static int find_format(const struct serving *serving, const char *name,
                       struct llm_format *ret) {
    struct text names;
    if (llm_format_find(name, ret)) return CM_OK;
    int status = diag_error(serving->diag, DIAG_USAGE, "unknown format '%s'", name);
    text_init(&names, serving->arena);
    for (int i = 0; llm_format_name(i); i++)
        text_printf(&names, "%s%s", i > 0 ? ", " : "", llm_format_name(i));
    diag_hint(
        serving->diag,
        "formats: %s; suffixes: :gN (blocks of N), :bN (square blocks), :t (one scale), :sym "
        "(no zero points)",
        text_string(&names));
    return status;
}

/* Sets the format of each weight whose name matches a pattern. */
static int read_quantize(struct serving *serving) {
    const struct cm_llm_options *options = serving->options;
    const struct language *language = &serving->language;
    if (options->n_quantize == 0) return CM_OK;
    const struct llm_format **formats =
        arena_array(serving->arena, language->n_weights + 1, sizeof *formats);
    if (!formats) return diag_no_memory(serving->diag);
    serving->setup.formats = formats;
    for (size_t i = 0; i < options->n_quantize; i++) {
        const char *text = options->quantize[i];
        const char *equals = strrchr(text, '=');
        const char *name = equals ? equals + 1 : text;
        const char *pattern =
            equals ? arena_strndup(serving->arena, text, (size_t)(equals - text)) : "*";
        struct llm_format *format = arena_alloc(serving->arena, sizeof *format);
        if (!pattern || !format) return diag_no_memory(serving->diag);
        const int status = find_format(serving, name, format);
        if (status < 0) return status;
        format->name = arena_strdup(serving->arena, name);
        if (!format->name) return diag_no_memory(serving->diag);
        size_t n = 0;
        for (size_t w = 0; w < language->n_weights; w++) {
            const bool is_table = language->weights[w].product == LLM_TABLE;
            if ((is_table && !equals) || !glob_matches(pattern, language->weights[w].name))
                continue;
            formats[w] = format;
            n++;
        }
        if (n > 0) continue;
        const int missing = diag_error(serving->diag, DIAG_USAGE,
                                       "no weight of a matrix product matches '%s'", pattern);
        if (language->n_weights > 0)
            diag_hint(serving->diag, "the first weight is '%s'", language->weights[0].name);
        return missing;
    }
    return CM_OK;
}

/* --- Analysis. --- */

/* Returns true if the dim follows from the prompt, the new tokens and the batch. */
static bool has_role(const struct llm_roles *roles, const char *symbol) {
    for (size_t i = 0; i < roles->n_dims; i++)
        if (roles->dims[i].role != ROLE_NONE && text_equal(roles->dims[i].symbol, symbol))
            return true;
    return false;
}

static int find_roles(struct serving *serving, struct cm_model *model,
                      const struct cm_options *options) {
    struct analysis bound = {.model = model->model,
                             .arena = serving->arena,
                             .diag = serving->diag,
                             .options = options};
    int status = pipeline_run_to(&bound, TABLE_BIND);
    if (status == CM_OK) status = llm_roles_find(&bound, &serving->roles);
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
static int describe(struct serving *serving, struct cm_model *model,
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
    if (status == CM_OK && serving->language.n_attentions == 0 &&
        serving->language.state_bytes == 0 && !serving->options->weights_only)
        status = diag_error(serving->diag, DIAG_GRAPH,
                            "the model has neither attention nor a state");
    if (status == CM_OK && serving->language.is_bidirectional &&
        !serving->options->weights_only)
        diag_warn(serving->diag, DIAG_ASSUMPTION,
                  "no attention has a causal mask: an encoder generates no tokens");
    return status;
}

/* --- Results. --- */

static struct cm_llm_layers layers_of(const struct serving *serving,
                                      const struct llm_attention *attention) {
    static const char *const caches[] = {[CACHE_NONE] = "none",
                                         [CACHE_GROWS] = "grows",
                                         [CACHE_BUFFER] = "buffer",
                                         [CACHE_STATE] = "buffer",
                                         [CACHE_SOURCE] = "source"};
    const double bits = serving->setup.cache ? serving->setup.cache->bits
                                             : (double)dtype_bits(attention->dtype);
    return (struct cm_llm_layers){
        .n = 1,
        .kind = attention->is_cross              ? "cross"
                : attention->window > 0          ? "window"
                : attention->is_causal           ? "full"
                : attention->cache != CACHE_NONE ? "full"
                                                 : "bidirectional",
        .cache = attention->cached == 0 ? "shared" : caches[attention->cache],
        .heads = attention->heads,
        .kv_heads = attention->kv_heads,
        .key_columns = attention->key_columns,
        .value_columns = attention->value_columns,
        .window = attention->window,
        .bytes_per_token = whole((double)attention->cached * bits / 8),
        .latent_bytes = whole((double)attention->latent * bits / 8),
        .expanded_bytes = whole((double)attention->expanded * bits / 8),
    };
}

static bool same_layers(const struct cm_llm_layers *a, const struct cm_llm_layers *b) {
    return text_equal(a->kind, b->kind) && text_equal(a->cache, b->cache) &&
           a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->key_columns == b->key_columns && a->value_columns == b->value_columns &&
           a->window == b->window && a->bytes_per_token == b->bytes_per_token &&
           a->latent_bytes == b->latent_bytes;
}

static int list_layers(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    struct cm_llm_layers *kinds =
        arena_array(serving->arena, language->n_attentions + 1, sizeof *kinds);
    if (!kinds) return diag_no_memory(serving->diag);
    result->layer_kinds = kinds;
    result->n_layers = (int64_t)language->n_attentions;
    for (size_t i = 0; i < language->n_attentions; i++) {
        const struct cm_llm_layers layer = layers_of(serving, &language->attentions[i]);
        size_t k = 0;
        while (k < result->n_layer_kinds && !same_layers(&kinds[k], &layer)) k++;
        if (k == result->n_layer_kinds)
            kinds[result->n_layer_kinds++] = layer;
        else
            kinds[k].n++;
        result->has_cache = result->has_cache || language->attentions[i].cache != CACHE_NONE;
    }
    return CM_OK;
}

/* Sums the bytes per token of layers of attention on one GPU, the most loaded stage. */
static void sum_cache(const struct language *language, const struct llm_setup *setup,
                      struct cm_llm *ret) {
    double full = 0, window = 0, cross = 0, latent = 0, expanded = 0;
    for (size_t i = 0; i < language->n_attentions; i++) {
        const struct llm_attention *attention = &language->attentions[i];
        const double bytes = llm_row_bytes(setup, attention);
        const double each = attention->cached > 0 ? bytes / (double)attention->cached : 0;
        if (attention->is_cross)
            cross += bytes;
        else if (attention->window > 0)
            window += bytes;
        else
            full += bytes;
        latent += attention->latent > 0 ? (double)attention->latent * each : bytes;
        expanded += attention->expanded > 0 ? (double)attention->expanded * each : bytes;
        if (attention->window > ret->window) ret->window = attention->window;
    }
    const bool has_latent = latent != expanded;
    const double share = llm_stage_share(language, setup);
    ret->kv_bytes_per_token = whole(ceil(full * share));
    ret->kv_bytes_per_token_window = whole(ceil(window * share));
    ret->cross_bytes_per_token = whole(ceil(cross * share));
    ret->kv_bytes_per_token_latent = has_latent ? whole(ceil(latent * share)) : 0;
    ret->kv_bytes_per_token_expanded = has_latent ? whole(ceil(expanded * share)) : 0;
    ret->state_bytes_per_sequence = whole(ceil((double)language->state_bytes * share));
}

static struct llm_costs costs_of(const struct serving *serving, int64_t batch, int64_t tokens,
                                 int64_t past) {
    const struct llm_step step = {batch, tokens, past, serving->memory.source};
    return llm_step_costs(&serving->language, &serving->setup, &serving->machine, &step);
}

static struct cm_llm_phase phase_of(const struct serving *serving, const char *name,
                                    int64_t batch, int64_t tokens, int64_t past,
                                    const struct llm_costs *costs) {
    const struct llm_machine *machine = &serving->machine;
    struct cm_llm_phase phase = {.name = name,
                                 .batch = batch,
                                 .tokens = tokens,
                                 .past = past,
                                 .macs = whole(costs->macs),
                                 .bytes = whole(llm_moved(costs)),
                                 .weight_bytes = whole(costs->weight_bytes),
                                 .kv_bytes = whole(costs->kv_bytes),
                                 .state_bytes = whole(costs->state_bytes),
                                 .lower_bound_ps = CM_UNKNOWN,
                                 .latency_ps = CM_UNKNOWN,
                                 .latency_low_ps = CM_UNKNOWN,
                                 .latency_high_ps = CM_UNKNOWN,
                                 .communication_ps = CM_UNKNOWN,
                                 .limited_by = ""};
    if (!machine->name) return phase;
    phase.lower_bound_ps = picoseconds(costs->bound);
    phase.communication_ps = costs->communication > 0 ? picoseconds(costs->communication) : 0;
    phase.limited_by =
        costs->compute >= llm_moved(costs) / machine->bandwidth ? "compute" : "memory";
    if (costs->is_untimed) return phase;
    phase.latency_ps = picoseconds(costs->expected);
    phase.latency_low_ps = picoseconds(fmax(costs->expected * machine->low, costs->bound));
    phase.latency_high_ps = picoseconds(costs->expected * machine->high);
    return phase;
}

static void add_costs(struct llm_costs *sum, const struct llm_costs *costs, double times) {
    sum->macs += times * costs->macs;
    sum->compute += times * costs->compute;
    sum->weight_bytes += times * costs->weight_bytes;
    sum->kv_bytes += times * costs->kv_bytes;
    sum->state_bytes += times * costs->state_bytes;
    sum->expected += times * costs->expected;
    sum->bound += times * costs->bound;
    sum->communication += times * costs->communication;
    sum->is_untimed = sum->is_untimed || costs->is_untimed;
}

/* Returns prefill, in chunks if requested. */
static struct llm_costs prefill(const struct serving *serving, int64_t batch) {
    const struct cm_llm_options *options = serving->options;
    const int64_t chunk = options->chunk > 0 && options->chunk < options->prompt
                              ? options->chunk
                              : options->prompt;
    struct llm_costs sum = {.macs = 0};
    for (int64_t done = 0; done < options->prompt; done += chunk) {
        const int64_t left = options->prompt - done;
        const struct llm_costs costs =
            costs_of(serving, batch, left < chunk ? left : chunk, done);
        add_costs(&sum, &costs, 1);
        if (costs.activation_bytes > sum.activation_bytes)
            sum.activation_bytes = costs.activation_bytes;
    }
    return sum;
}

/*
 * Returns the steps that decode new_tokens - 1 tokens after prefill, which gives the first.
 * MACs and bytes are piecewise linear in the past, and their sums are exact: between the
 * windows of layers, the mean of the first and last step, times their number. The times are
 * sampled.
 */
static struct llm_costs decode_all(const struct serving *serving, int64_t batch) {
    const struct cm_llm_options *options = serving->options;
    const struct language *language = &serving->language;
    const int64_t end = options->prompt + options->new_tokens - 1;
    struct llm_costs sum = {.macs = 0};
    int n_bends = 0;
    for (int64_t from = options->prompt; from < end;) {
        int64_t to = end; /* the next window at which the costs bend */
        for (size_t i = 0; i < language->n_attentions && n_bends < MAX_BENDS; i++) {
            const int64_t bend = language->attentions[i].window;
            if (bend > from && bend < to) to = bend;
        }
        const double n = (double)(to - from);
        const int64_t samples = to - from < N_SAMPLES ? to - from : N_SAMPLES;
        struct llm_costs ends = {.macs = 0};
        struct llm_costs first = costs_of(serving, batch, 1, from);
        struct llm_costs last = costs_of(serving, batch, 1, to - 1);
        add_costs(&ends, &first, n / 2);
        add_costs(&ends, &last, n / 2);
        double expected = 0, bound = 0;
        for (int64_t i = 0; i < samples; i++) {
            const struct llm_costs at =
                costs_of(serving, batch, 1, from + (to - from) * (2 * i + 1) / (2 * samples));
            expected += at.expected * n / (double)samples;
            bound += at.bound * n / (double)samples;
        }
        ends.expected = expected;
        ends.bound = bound;
        add_costs(&sum, &ends, 1);
        from = to;
        n_bends++;
    }
    return sum;
}

/* The past in the middle of decoding. */
static int64_t mean_past(const struct cm_llm_options *options) {
    return checked_add(options->prompt, options->new_tokens / 2);
}

static int list_phases(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    struct cm_llm_phase *phases =
        arena_array(serving->arena, serving->n_batches + 2, sizeof *phases);
    if (!phases) return diag_no_memory(serving->diag);
    result->phases = phases;
    const int64_t batch = serving->batches[0];
    struct llm_costs whole_run = prefill(serving, 1);
    serving->memory.arena =
        options->arena >= 0 ? (double)options->arena : whole_run.activation_bytes;
    phases[result->n_phases++] =
        phase_of(serving, "prefill", 1, options->prompt, 0, &whole_run);
    for (size_t i = 0; i < serving->n_batches; i++) {
        const struct llm_costs costs =
            costs_of(serving, serving->batches[i], 1, mean_past(options));
        phases[result->n_phases++] =
            phase_of(serving, "decode", serving->batches[i], 1, mean_past(options), &costs);
    }
    if (batch > 1) whole_run = prefill(serving, batch);
    const struct llm_costs decoded = decode_all(serving, batch);
    add_costs(&whole_run, &decoded, 1);
    phases[result->n_phases++] =
        phase_of(serving, "generate", batch, options->new_tokens, options->prompt, &whole_run);
    return CM_OK;
}

static int list_capacity(struct serving *serving) {
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
        whole(llm_cache_bytes(&serving->language, &serving->setup, request,
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
        const int64_t past = list[i] == request ? mean_past(options) : list[i] - 1;
        const struct llm_costs costs = costs_of(serving, row->sequences, 1, past);
        row->tokens_per_s = whole(floor((double)row->sequences / costs.bound));
        if (!costs.is_untimed)
            row->expected_tokens_per_s = whole(floor((double)row->sequences / costs.expected));
    }
    result->longest_context =
        llm_longest(&serving->language, &serving->setup, &serving->memory, MAX_CONTEXT);
    return CM_OK;
}

/* Sets the bound and the expected time of a step of decode; neither if the batch does not fit.
 */
static void time_step(const struct serving *serving, int64_t batch, int64_t context,
                      int64_t *ret_bound, int64_t *ret_expected) {
    const int64_t fits =
        llm_sequences(&serving->language, &serving->setup, &serving->memory, context);
    *ret_bound = *ret_expected = CM_UNKNOWN;
    if (!serving->machine.name || (fits >= 0 && fits < batch)) return;
    const struct llm_costs costs = costs_of(serving, batch, 1, context - 1);
    *ret_bound = picoseconds(costs.bound);
    if (!costs.is_untimed) *ret_expected = picoseconds(costs.expected);
}

static int list_curve(struct serving *serving) {
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
        point->request_bytes = whole(llm_cache_bytes(
            language, &serving->setup, context, serving->memory.source, serving->memory.page));
        time_step(serving, 1, context, &point->lower_bound_ps, &point->latency_ps);
        time_step(serving, result->curve_batch, context, &point->batch_lower_bound_ps,
                  &point->batch_latency_ps);
    }
    return CM_OK;
}

/* Evaluates a change of the setup. */
static int add_what_if(struct serving *serving, struct cm_llm_what_if *rows, const char *name,
                       const struct llm_setup *setup) {
    struct cm_llm *result = serving->result;
    const struct llm_setup before = serving->setup;
    const struct llm_memory memory = serving->memory;
    const int64_t request = checked_add(serving->options->prompt, serving->options->new_tokens);
    struct cm_llm sums = {.window = 0};
    serving->setup = *setup;
    serving->memory.stored = llm_stored_bytes(&serving->language, setup);
    const struct llm_costs costs = costs_of(serving, 1, 1, mean_past(serving->options));
    sum_cache(&serving->language, setup, &sums);
    const char *note = "";
    if (costs.n_collectives[COLLECTIVE_ALL_REDUCE] > 0)
        note = arena_printf(serving->arena, "%lld all-reduces per token",
                            (long long)costs.n_collectives[COLLECTIVE_ALL_REDUCE]);
    else if (costs.n_collectives[COLLECTIVE_ALL_TO_ALL] > 0)
        note = arena_printf(serving->arena, "%lld all-to-alls per token",
                            (long long)costs.n_collectives[COLLECTIVE_ALL_TO_ALL]);
    const int64_t sequences =
        llm_sequences(&serving->language, setup, &serving->memory, request);
    rows[result->n_what_ifs++] = (struct cm_llm_what_if){
        .name = name,
        .weight_bytes = whole(serving->memory.stored),
        .kv_bytes_per_token = sums.kv_bytes_per_token + sums.kv_bytes_per_token_window,
        .sequences = sequences < 0 ? CM_UNKNOWN : sequences,
        .lower_bound_ps = serving->machine.name ? picoseconds(costs.bound) : CM_UNKNOWN,
        .latency_ps = serving->machine.name && !costs.is_untimed ? picoseconds(costs.expected)
                                                                 : CM_UNKNOWN,
        .note = note,
    };
    serving->setup = before;
    serving->memory = memory;
    return note && name ? CM_OK : diag_no_memory(serving->diag);
}

/* Sets every weight that is stored with more bits to the format. */
static const struct llm_format **all_in(const struct serving *serving,
                                        const struct llm_format *format) {
    const struct language *language = &serving->language;
    const struct llm_format **formats =
        arena_array(serving->arena, language->n_weights + 1, sizeof *formats);
    for (size_t i = 0; formats && i < language->n_weights; i++)
        if (language->weights[i].product != LLM_TABLE &&
            (double)language->weights[i].bytes * 8 / (double)language->weights[i].elements >
                format->bits + 1)
            formats[i] = format;
    return formats;
}

static int list_what_ifs(struct serving *serving) {
    static const char *const formats[] = {"fp8", "int4:g128"};
    struct llm_format format[2], fp8;
    struct cm_llm_what_if *rows = arena_array(serving->arena, 8, sizeof *rows);
    if (!rows) return diag_no_memory(serving->diag);
    serving->result->what_ifs = rows;
    struct llm_setup setup = serving->setup;
    int status = CM_OK;
    if (!serving->setup.cache && llm_format_find("fp8", &fp8)) {
        setup.cache = &fp8;
        status = add_what_if(serving, rows, "kv fp8", &setup);
    }
    for (int i = 0; i < 2 && status == CM_OK && !serving->setup.formats; i++) {
        setup = serving->setup;
        if (!llm_format_find(formats[i], &format[i])) continue;
        setup.formats = all_in(serving, &format[i]);
        if (!setup.formats) return diag_no_memory(serving->diag);
        status = add_what_if(serving, rows, formats[i], &setup);
    }
    if (status == CM_OK && serving->setup.tp == 1 && serving->setup.pp == 1 &&
        serving->setup.ep == 1) {
        setup = serving->setup;
        setup.tp = 2;
        status = add_what_if(serving, rows, "tp=2", &setup);
    }
    return status;
}

/* Replaces each number in a name by "*". */
static const char *generic_name(struct arena *arena, const char *name) {
    struct text text;
    text_init(&text, arena);
    for (const char *at = name; *at; at++) {
        const bool starts =
            text_is_digit(*at) && (at == name || at[-1] == '.' || at[-1] == '/');
        size_t length = 0;
        while (starts && text_is_digit(at[length])) length++;
        if (length > 0 && (at[length] == '.' || at[length] == '/')) {
            text_append(&text, "*");
            at += length - 1;
            continue;
        }
        text_append_n(&text, at, 1);
    }
    return text_string(&text);
}

static int by_gain(const void *a, const void *b) {
    const struct cm_llm_gain *left = a, *right = b;
    const int64_t x = left->gain_ps > 0 ? left->gain_ps : left->bytes - left->quantized_bytes;
    const int64_t y =
        right->gain_ps > 0 ? right->gain_ps : right->bytes - right->quantized_bytes;
    return x > y ? -1 : x < y;
}

/* The group of a weight: those whose names differ in numbers only. Adds it if it is new. NULL
 * if out of memory. */
static struct cm_llm_gain *group_of(struct cm_llm *result, struct cm_llm_gain *gains,
                                    struct map *names, const char *name, const char *format) {
    uint32_t k = MAP_NONE;
    if (!name || map_add(names, name, (uint32_t)result->n_gains, &k) < 0) return NULL;
    if (k != MAP_NONE) return &gains[k];
    gains[result->n_gains] =
        (struct cm_llm_gain){.weights = name, .gain_ps = CM_UNKNOWN, .format = format};
    return &gains[result->n_gains++];
}

/*
 * Ranks groups of weights by the time that their formats save in the first step of decode, or
 * in a run: those of the options, or int4 in blocks of 128. Products that share an operand run
 * as one, so each of its weights gets its share of the time by bytes.
 */
static int list_gains(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    const struct llm_machine *machine = &serving->machine;
    const struct llm_step step = {serving->batches[0], 1,
                                  serving->options->weights_only ? 0
                                                                 : mean_past(serving->options),
                                  serving->memory.source};
    struct llm_format *four = arena_alloc(serving->arena, sizeof *four);
    struct map names;
    const struct llm_format **formats =
        arena_array(serving->arena, language->n_weights + 1, sizeof *formats);
    struct cm_llm_gain *gains =
        arena_array(serving->arena, language->n_weights + 1, sizeof *gains);
    if (!gains || !four || !formats) return diag_no_memory(serving->diag);
    if (!llm_format_find("int4:g128", four)) return CM_OK;
    four->name = "int4:g128";
    const bool is_given = serving->setup.formats != NULL;
    const struct llm_format **usual = all_in(serving, four);
    if (!usual) return diag_no_memory(serving->diag);
    for (size_t i = 0; i < language->n_weights; i++)
        formats[i] = is_given ? serving->setup.formats[i] : usual[i];
    struct llm_setup stored = serving->setup, quantized = serving->setup;
    stored.formats = NULL;
    quantized.formats = formats;
    result->gains = gains;
    map_init(&names, serving->arena);
    for (size_t i = 0; i < language->n_weights; i++) {
        const struct llm_weight *weight = &language->weights[i];
        const char *name = generic_name(serving->arena, weight->name);
        struct cm_llm_gain *gain =
            group_of(result, gains, &names, name, formats[i] ? formats[i]->name : "as stored");
        if (!gain) return diag_no_memory(serving->diag);
        const int64_t bytes = llm_weight_size(language, &quantized, i);
        gain->n++;
        gain->elements = checked_add(gain->elements, weight->elements);
        gain->bytes = checked_add(gain->bytes, weight->bytes);
        gain->quantized_bytes = checked_add(gain->quantized_bytes, bytes);
        if (!machine->time || weight->product == LLM_TABLE) continue;
        const double share =
            (double)weight->elements / (double)language->products[weight->product].elements;
        const double saved =
            llm_product_seconds(language, &stored, machine, &step, weight->product) -
            llm_product_seconds(language, &quantized, machine, &step, weight->product);
        const int64_t before = gain->gain_ps == CM_UNKNOWN ? 0 : gain->gain_ps;
        gain->gain_ps = before + (int64_t)llround(fmin(fmax(saved * share, -1e3), 1e3) * 1e12);
    }
    struct llm_setup all = quantized;
    all.tp = all.pp = all.ep = 1;
    result->quantized_bytes = whole(llm_stored_bytes(language, &all));
    if (result->n_gains > 1) qsort(gains, result->n_gains, sizeof *gains, by_gain);
    return CM_OK;
}

static int list_collectives(struct serving *serving) {
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
            phase == 0 ? costs_of(serving, 1, serving->options->prompt, 0)
                       : costs_of(serving, serving->batches[0], 1, mean_past(serving->options));
        for (int kind = 0; kind < N_COLLECTIVES; kind++)
            if (costs.n_collectives[kind] > 0)
                rows[result->n_collectives++] = (struct cm_llm_collective){
                    kinds[kind], phase == 0 ? "prefill" : "decode", costs.n_collectives[kind],
                    whole(costs.collective_bytes[kind])};
    }
    for (size_t i = 0; i < language->n_weights && serving->setup.tp > 1; i++) {
        if (language->weights[i].product != LLM_TABLE &&
            language->products[language->weights[i].product].split != SPLIT_NONE)
            continue;
        const char *name = generic_name(serving->arena, language->weights[i].name);
        size_t k = 0;
        while (k < result->n_replicated && !text_equal(replicated[k], name)) k++;
        if (k == result->n_replicated) replicated[result->n_replicated++] = name;
    }
    return CM_OK;
}

/* Lists the params that several tokens need, which may choose the same experts. */
static int list_active(struct serving *serving) {
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
        rows[result->n_active++] =
            (struct cm_llm_active){tokens, whole(others + expected), whole(others + most)};
    }
    return CM_OK;
}

static void set_price(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    const double gpus =
        (double)((options->tp > options->ep ? options->tp : options->ep) * options->pp);
    result->price_per_million_tokens = result->joules_per_token = CM_UNKNOWN;
    if (result->n_capacity == 0 || result->capacity[0].tokens_per_s <= 0) return;
    const double most = (double)result->capacity[0].tokens_per_s;
    if (options->price > 0)
        result->price_per_million_tokens = whole(options->price * gpus / 3600 / most * 1e12);
    if (options->watts > 0 && result->capacity[0].expected_tokens_per_s > 0)
        result->joules_per_token = whole(
            options->watts * gpus / (double)result->capacity[0].expected_tokens_per_s * 1e6);
}

/* Returns the format of most weights: "bf16", "int4" if several are packed into an element. */
static const char *weight_format(const struct serving *serving) {
    const struct language *language = &serving->language;
    const struct llm_weight *largest = NULL;
    for (size_t i = 0; i < language->n_weights; i++)
        if (language->weights[i].product != LLM_TABLE &&
            (!largest || language->weights[i].elements > largest->elements))
            largest = &language->weights[i];
    if (!largest) return dtype_short_name(language->dtype);
    const size_t index = (size_t)(largest - language->weights);
    if (serving->setup.formats && serving->setup.formats[index])
        return serving->setup.formats[index]->name;
    const int bits = (int)(largest->bytes * 8 / largest->elements);
    return bits < dtype_bits(largest->dtype) ? arena_printf(serving->arena, "int%d", bits)
                                             : dtype_short_name(largest->dtype);
}

static void set_totals(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    const struct cm_llm_options *options = serving->options;
    result->weight_dtype = weight_format(serving);
    result->kv_dtype = serving->setup.cache ? serving->setup.cache->name
                       : language->n_attentions > 0
                           ? dtype_short_name(language->attentions[0].dtype)
                           : "";
    result->params = language->params;
    result->params_per_gpu = whole(ceil(llm_learned_elements(language, &serving->setup)));
    result->expert_params = language->expert_params;
    result->active_params =
        language->params - language->expert_params + language->chosen_params;
    result->active_without_input_embedding = result->active_params - language->embedding;
    result->experts = (int64_t)language->n_experts;
    result->experts_per_token = (int64_t)language->n_chosen;
    result->stored_bytes = whole(serving->memory.stored);
    result->weight_bytes = whole(llm_learned_bytes(language, &serving->setup));
    result->last_logits = options->last_logits;
    for (size_t i = 0; i < language->n_products; i++)
        if (language->products[i].rows <= 0) result->last_logits = true;
    result->prompt = options->prompt;
    result->new_tokens = options->new_tokens;
    result->reserve = whole(options->reserve * 1e6);
    result->page = options->page;
    result->tp = options->tp;
    result->pp = options->pp;
    result->ep = options->ep;
    result->max_context = language->max_context > 0 ? language->max_context : CM_UNKNOWN;
    result->longest_context = CM_UNKNOWN;
    result->request_sequences = CM_UNKNOWN;
    result->memory_bound_context = CM_UNKNOWN;
}

/* Computes the figures of weights alone. */
static int list_weights(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct llm_setup stored = {.tp = 1, .pp = 1, .ep = 1};
    result->weights_only = true;
    result->stored_bytes = whole(llm_stored_bytes(&serving->language, &stored));
    result->memory_limit = result->max_context = result->longest_context = CM_UNKNOWN;
    result->memory_bound_context = CM_UNKNOWN;
    result->price_per_million_tokens = result->joules_per_token = CM_UNKNOWN;
    return list_gains(serving);
}

static int compute(struct serving *serving) {
    static const int64_t usual[] = {1, 32};
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    serving->batches = options->n_batches > 0 ? options->batches : usual;
    serving->n_batches = options->n_batches > 0 ? options->n_batches : 2;
    serving->setup.tp = options->tp;
    serving->setup.pp = options->pp;
    serving->setup.ep = options->ep;
    serving->setup.last_logits = options->last_logits;
    int status = read_quantize(serving);
    if (status == CM_OK && options->kv_dtype) {
        status = find_format(serving, options->kv_dtype, &serving->cache);
        serving->setup.cache = &serving->cache;
    }
    if (status < 0) return status;
    const double limit = options->memory_limit > 0 ? (double)options->memory_limit
                                                   : (double)serving->machine.memory_bytes;
    serving->memory =
        (struct llm_memory){.limit = limit * (1 - options->reserve),
                            .stored = llm_stored_bytes(&serving->language, &serving->setup),
                            .page = options->page,
                            .source = options->source > 0 ? options->source : options->prompt};
    result->memory_limit = limit > 0 ? whole(limit) : CM_UNKNOWN;
    const int64_t request = checked_add(options->prompt, options->new_tokens);
    if (!options->weights_only && serving->language.max_context > 0 &&
        request > serving->language.max_context)
        diag_warn(serving->diag, DIAG_ASSUMPTION,
                  "the request has %lld tokens, but caches or tables of positions of the "
                  "file have room for %lld",
                  (long long)request, (long long)serving->language.max_context);
    set_totals(serving);
    result->stored_elements = serving->language.stored_elements;
    if (options->weights_only) return list_weights(serving);
    sum_cache(&serving->language, &serving->setup, result);
    status = list_layers(serving);
    if (status == CM_OK) status = list_phases(serving);
    result->arena_bytes = whole(serving->memory.arena);
    if (status == CM_OK) status = list_capacity(serving);
    if (status == CM_OK) status = list_curve(serving);
    if (status == CM_OK) status = list_what_ifs(serving);
    if (status == CM_OK) status = list_gains(serving);
    if (status == CM_OK) status = list_collectives(serving);
    if (status == CM_OK) status = list_active(serving);
    const int64_t bound =
        llm_memory_bound(&serving->language, &serving->setup, &serving->machine,
                         serving->memory.source, MAX_TOKENS);
    if (bound >= 0) result->memory_bound_context = bound;
    set_price(serving);
    return status;
}

int cm_model_llm(struct cm_model *model, const struct cm_options *options,
                 const struct cm_llm_options *llm, struct cm_diagnostics *diagnostics,
                 struct cm_llm **ret) {
    options = ARGUMENTS_TAKE(cm_options, options, model && llm && ret, diagnostics);
    llm = options ? ARGUMENTS_TAKE(cm_llm_options, llm, true, diagnostics) : NULL;
    if (llm == NULL) return CM_USAGE;
    struct arena *arena = arena_new("llm", 0);
    struct serving *serving = arena ? arena_alloc(arena, sizeof *serving) : NULL;
    struct cm_llm *result = arena ? arena_alloc(arena, sizeof *result) : NULL;
    if (!serving || !result) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    *result =
        (struct cm_llm){.path = arena_strdup(arena, cm_model_path(model)), .arena = arena};
    *serving =
        (struct serving){.result = result, .options = llm, .arena = arena, .diag = diagnostics};
    int status = check_options(serving);
    if (status == CM_OK) status = find_roles(serving, model, options);
    if (status == CM_OK) status = describe(serving, model, options);
    if (status == CM_OK && options->backend) {
        const char *device = strstr(options->backend, "device=");
        status = device ? half_machine(device + strlen("device="), options->runtime, arena,
                                       diagnostics, &serving->machine)
                        : diag_error(diagnostics, DIAG_USAGE, "llm requires --device");
        result->device = serving->machine.name;
        result->device_basis = serving->machine.basis;
    }
    if (status == CM_OK) status = compute(serving);
    if (status == CM_OK && arena_failed(arena)) status = diag_no_memory(diagnostics);
    if (status < 0) {
        arena_free(arena);
        return diag_finish(diagnostics, status);
    }
    *ret = result;
    return CM_OK;
}

void cm_llm_free(struct cm_llm *llm) {
    if (llm != NULL) arena_free(llm->arena);
}
