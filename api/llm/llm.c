/* SPDX-License-Identifier: Apache-2.0 */
/* cm_model_llm: finds the roles of the dims, runs the passes once, describes the language model
 * and computes its phases, capacity and changes. */
#include "costmodel/llm.h"

#include <math.h>
#include <string.h>

#include "api/half.h"
#include "api/handle.h"
#include "api/llm/figures.h"
#include "ir/dtype.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/text.h"

#define MAX_TOKENS ((int64_t)1 << 32) /* of an option */
#define MAX_GPUS   4096
#define MAX_CHUNKS 4096
#define MAX_BATCH  ((int64_t)1 << 20)

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
    if (status == CM_OK && options->ep % options->tp != 0 && options->tp % options->ep != 0)
        status =
            diag_error(serving->diag, DIAG_USAGE, "ep must be a multiple of tp, or divide it");
    if (status == CM_OK && options->chunk > 0 && options->prompt / options->chunk >= MAX_CHUNKS)
        status =
            diag_error(serving->diag, DIAG_USAGE, "a prompt has at most %d chunks", MAX_CHUNKS);
    return status;
}

/* Refuses divisions that leave GPUs with parts of heads, without experts or without layers. */
static int check_division(const struct serving *serving) {
    const struct cm_llm_options *options = serving->options;
    const struct language *language = &serving->language;
    if (options->ep > 1 && language->n_experts == 0)
        return diag_error(serving->diag, DIAG_USAGE, "ep requires a model with experts");
    if (options->ep > 1 && options->ep > (int64_t)language->n_experts)
        return diag_error(serving->diag, DIAG_USAGE,
                          "ep must be at most the %zu experts, got %lld", language->n_experts,
                          (long long)options->ep);
    if (options->pp > 1 && options->pp > (int64_t)language->n_attentions)
        return diag_error(serving->diag, DIAG_USAGE,
                          "pp must be at most the %zu layers of attention, got %lld",
                          language->n_attentions, (long long)options->pp);
    for (size_t i = 0; i < language->n_attentions; i++) {
        const struct llm_attention *attention = &language->attentions[i];
        const int64_t keys = attention->kv_heads;
        if (attention->is_split && (attention->heads % options->tp != 0 ||
                                    (keys % options->tp != 0 && options->tp % keys != 0)))
            return diag_error(serving->diag, DIAG_USAGE,
                              "tp=%lld does not divide %lld heads of queries and %lld of keys",
                              (long long)options->tp, (long long)attention->heads,
                              (long long)keys);
    }
    return CM_OK;
}

/* Finds the format of a text, whose copy is its name; an error lists the formats. */
static int find_format(const struct serving *serving, const char *name,
                       struct llm_format *ret) {
    struct text names;
    if (llm_format_find(name, ret)) {
        ret->name = arena_strdup(serving->arena, name);
        return ret->name ? CM_OK : diag_no_memory(serving->diag);
    }
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

static void set_price(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    const double gpus = (double)cm_llm_gpus(result);
    if (result->n_capacity == 0 || result->capacity[0].tokens_per_s <= 0) return;
    const double most = (double)result->capacity[0].tokens_per_s;
    if (options->price > 0)
        result->price_per_million_tokens =
            figures_whole(options->price * gpus / 3600 / most * 1e12);
    if (options->watts > 0 && result->capacity[0].expected_tokens_per_s > 0)
        result->joules_per_token = figures_whole(
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
    result->params_per_gpu =
        figures_whole(ceil(llm_learned_elements(language, &serving->setup)));
    result->expert_params = language->expert_params;
    result->active_params =
        language->params - language->expert_params + language->chosen_params;
    result->active_without_input_embedding = result->active_params - language->embedding;
    result->experts = (int64_t)language->n_experts;
    result->experts_per_token = (int64_t)language->n_chosen;
    result->stored_bytes = figures_whole(serving->memory.stored);
    result->weight_bytes = figures_whole(llm_learned_bytes(language, &serving->setup));
    result->last_logits = options->last_logits;
    for (size_t i = 0; i < language->n_products; i++)
        if (language->products[i].rows <= 0) result->last_logits = true;
    result->prompt = options->prompt;
    result->new_tokens = options->new_tokens;
    result->reserve = figures_whole(options->reserve * 1e6);
    result->page = options->page;
    result->tp = options->tp;
    result->pp = options->pp;
    result->ep = options->ep;
    result->max_context = language->max_context > 0 ? language->max_context : CM_UNKNOWN;
    result->longest_context = CM_UNKNOWN;
    result->request_sequences = CM_UNKNOWN;
    result->memory_bound_context = CM_UNKNOWN;
    result->price_per_million_tokens = result->joules_per_token = CM_UNKNOWN;
}

/* Computes the figures of weights alone. */
static int list_weights(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct llm_setup stored = {.tp = 1, .pp = 1, .ep = 1};
    result->weights_only = true;
    result->stored_bytes = figures_whole(llm_stored_bytes(&serving->language, &stored));
    result->memory_limit = result->max_context = CM_UNKNOWN;
    return figures_list_gains(serving);
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
    int status = check_division(serving);
    if (status == CM_OK) status = read_quantize(serving);
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
    result->memory_limit = limit > 0 ? figures_whole(limit) : CM_UNKNOWN;
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
    figures_sum_cache(&serving->language, &serving->setup, result);
    status = figures_list_layers(serving);
    if (status == CM_OK) status = figures_list_phases(serving);
    result->arena_bytes = figures_whole(serving->memory.arena);
    if (status == CM_OK) status = figures_list_capacity(serving);
    if (status == CM_OK) status = figures_list_curve(serving);
    if (status == CM_OK) status = figures_list_changes(serving);
    if (status == CM_OK) status = figures_list_gains(serving);
    if (status == CM_OK) status = figures_list_collectives(serving);
    if (status == CM_OK) status = figures_list_active(serving);
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
    if (status == CM_OK) status = figures_find_roles(serving, model, options);
    if (status == CM_OK) status = figures_describe(serving, model, options);
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
