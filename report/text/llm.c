/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `costmodel llm`: one screen. */
#include "costmodel/llm.h"

#include <inttypes.h>
#include <string.h>

#include "report/page.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"

/* Writes a cell, aligned to the right; the text may contain characters of several bytes. */
static void cell(struct page *page, size_t width, const char *text) {
    const size_t own = page_width(text);
    page_indent(page, own < width ? width - own : 0);
    page_print(page, STYLE_PLAIN, "%s", text);
}

static const char *bytes(struct page *page, int64_t value) {
    return page_number(page, NUMBER_BYTES, value);
}

static const char *count_or(struct page *page, int64_t value, const char *none) {
    return is_known(value) ? page_exact(page, value) : none;
}

static const char *time_or(struct page *page, int64_t ps, const char *none) {
    return is_known(ps) ? page_time(page, ps) : none;
}

static void write_layers(struct page *page, const struct cm_llm_layers *layers,
                         const char *dtype) {
    const char *heads = layers->kv_heads == layers->heads ? "MHA"
                        : layers->kv_heads == 1           ? "MQA"
                                                          : "GQA";
    page_print(page, STYLE_PLAIN, "  %s, %s %" PRId64 "/%" PRId64 " x %" PRId64,
               page_count(page, layers->n, "layer"), layers->latent_bytes > 0 ? "MLA" : heads,
               layers->heads, layers->kv_heads, layers->key_columns);
    if (layers->value_columns != layers->key_columns)
        page_print(page, STYLE_PLAIN, "+%" PRId64, layers->value_columns);
    if (layers->window > 0)
        page_print(page, STYLE_PLAIN, ", window %s", page_exact(page, layers->window));
    if (text_equal(layers->kind, "cross")) page_print(page, STYLE_PLAIN, ", cross-attention");
    page_print(page, STYLE_PLAIN, ": %s B per token, %s",
               page_exact(page, layers->bytes_per_token), dtype);
    if (layers->latent_bytes > 0)
        page_print(page, STYLE_PLAIN, " (latent %s B, keys and values %s B)",
                   page_exact(page, layers->latent_bytes),
                   page_exact(page, layers->expanded_bytes));
    if (text_equal(layers->cache, "none"))
        page_print(page, STYLE_PLAIN, ", no cache in the file");
    if (text_equal(layers->cache, "buffer"))
        page_print(page, STYLE_PLAIN, ", a buffer of fixed length in the file");
    if (text_equal(layers->cache, "shared"))
        page_print(page, STYLE_PLAIN, ", shares the cache of an earlier layer");
    page_end_line(page);
}

static void write_head(struct page *page, const struct cm_llm *llm) {
    page_print(page, STYLE_TITLE, "%s: %s of attention", llm->path,
               page_count(page, llm->n_layers, "layer"));
    if (is_known(llm->max_context))
        page_print(page, STYLE_TITLE, ", context at most %s",
                   page_exact(page, llm->max_context));
    if (llm->device) page_print(page, STYLE_TITLE, ", %s", llm->device);
    page_end_line(page);
    if (cm_llm_gpus(llm) > 1)
        page_line(page, STYLE_PLAIN,
                  "%s: tp=%" PRId64 ", pp=%" PRId64 ", ep=%" PRId64
                  "; weights and caches of one GPU",
                  page_count(page, cm_llm_gpus(llm), "GPU"), llm->tp, llm->pp, llm->ep);
    page_print(page, STYLE_PLAIN, "weights %s %s", bytes(page, llm->weight_bytes),
               llm->weight_dtype);
    if (llm->stored_bytes > llm->weight_bytes)
        page_print(page, STYLE_PLAIN, ", other stored tensors %s",
                   bytes(page, llm->stored_bytes - llm->weight_bytes));
    page_print(page, STYLE_PLAIN, "   params %s, active %s (%s without input embedding)",
               page_number(page, NUMBER_PARAMS, llm->params),
               page_number(page, NUMBER_PARAMS, llm->active_params),
               page_number(page, NUMBER_PARAMS, llm->active_without_input_embedding));
    page_end_line(page);
    if (llm->experts > 0)
        page_line(page, STYLE_PLAIN, "experts %s of %s per token, %s params of all experts",
                  page_exact(page, llm->experts_per_token), page_exact(page, llm->experts),
                  page_number(page, NUMBER_PARAMS, llm->expert_params));
    for (size_t i = 0; i < llm->n_active; i++)
        page_print(page, STYLE_PLAIN, "%s%s %s", i > 0 ? ", " : "active by tokens of a step: ",
                   page_exact(page, llm->active[i].tokens),
                   page_number(page, NUMBER_PARAMS, llm->active[i].params));
    if (llm->n_active > 0) page_end_line(page);
    page_print(page, STYLE_PLAIN, "KV cache %s B/token",
               page_exact(page, llm->kv_bytes_per_token));
    if (llm->kv_bytes_per_token_window > 0)
        page_print(page, STYLE_PLAIN, ", and %s B/token up to a window of %s",
                   page_exact(page, llm->kv_bytes_per_token_window),
                   page_exact(page, llm->window));
    if (llm->cross_bytes_per_token > 0)
        page_print(page, STYLE_PLAIN, ", and %s B per token of the source",
                   page_exact(page, llm->cross_bytes_per_token));
    page_line(page, STYLE_PLAIN, "   constant state %s",
              llm->state_bytes_per_sequence == 0 ? "0"
              : is_known(llm->state_bytes_per_sequence)
                  ? bytes(page, llm->state_bytes_per_sequence)
                  : "unknown");
    for (size_t i = 0; i < llm->n_layer_kinds; i++)
        write_layers(page, &llm->layer_kinds[i], llm->kv_dtype);
}

static const char *limit_of(struct page *page, const struct cm_llm *llm,
                            const struct cm_llm_phase *phase) {
    struct text text;
    text_init(&text, page->arena);
    const bool by_collectives = text_equal(phase->limited_by, "collectives");
    if (text_equal(phase->limited_by, "compute"))
        text_append(&text, "arithmetic");
    else if (text_equal(phase->limited_by, "memory"))
        text_printf(&text, "memory: weights %s, KV %s",
                    page_percent(page, phase->weight_bytes, phase->bytes),
                    page_percent(page, phase->kv_bytes, phase->bytes));
    if (phase->communication_ps > 0)
        text_printf(&text, "%scollectives %s", by_collectives ? "" : ", ",
                    page_time(page, phase->communication_ps));
    if (text_equal(phase->name, "prefill"))
        text_printf(&text, "%s%s", text_string(&text)[0] ? ", " : "",
                    llm->last_logits ? "last-token logits" : "logits of all tokens");
    return text_string(&text);
}

static void write_phases(struct page *page, const struct cm_llm *llm) {
    page_end_line(page);
    page_print(page, STYLE_TITLE, "%-28s", "phase");
    cell(page, 10, "MACs");
    cell(page, 10, "bytes");
    cell(page, 10, "bound");
    cell(page, 10, "expected");
    page_line(page, STYLE_TITLE, "   limited by");
    for (size_t i = 0; i < llm->n_phases; i++) {
        const struct cm_llm_phase *phase = &llm->phases[i];
        struct text name;
        text_init(&name, page->arena);
        text_append(&name, phase->name);
        if (text_equal(phase->name, "decode"))
            text_printf(&name, ", past %" PRId64, phase->past);
        else
            text_printf(&name, " %" PRId64, phase->tokens);
        if (phase->batch > 1) text_printf(&name, ", batch %" PRId64, phase->batch);
        page_print(page, STYLE_PLAIN, "%-28s", text_string(&name));
        cell(page, 10, page_number(page, NUMBER_PARAMS, phase->macs));
        cell(page, 10, bytes(page, phase->bytes));
        cell(page, 10, time_or(page, phase->lower_bound_ps, "-"));
        cell(page, 10, time_or(page, phase->latency_ps, "-"));
        page_line(page, STYLE_PLAIN, "   %s", limit_of(page, llm, phase));
    }
    const struct cm_llm_phase *first = llm->n_phases > 0 ? llm->phases : NULL;
    if (first && is_known(first->latency_low_ps))
        page_line(page, STYLE_PLAIN,
                  "Eight of ten times are between %s and %s of the expected time.",
                  page_percent(page, first->latency_low_ps, first->latency_ps),
                  page_percent(page, first->latency_high_ps, first->latency_ps));
    if (is_known(llm->memory_bound_context))
        page_line(page, STYLE_PLAIN,
                  "Above %s of context, decode is limited by memory at every batch.",
                  page_count(page, llm->memory_bound_context, "token"));
}

static void write_capacity(struct page *page, const struct cm_llm *llm) {
    if (llm->n_capacity == 0) return;
    page_end_line(page);
    page_print(page, STYLE_TITLE, "%s, %s reserved, %s arena", bytes(page, llm->memory_limit),
               page_percent(page, llm->reserve, 1000000), bytes(page, llm->arena_bytes));
    if (llm->page > 0)
        page_print(page, STYLE_TITLE, ", blocks of %s", page_count(page, llm->page, "token"));
    page_end_line(page);
    for (int row = 0; row < 4; row++) {
        static const char *const names[] = {"context", "sequences", "tokens/s at most",
                                            "tokens/s expected"};
        if (row >= 2 && llm->device == NULL) break;
        page_print(page, STYLE_PLAIN, "%-18s", names[row]);
        for (size_t i = 0; i < llm->n_capacity; i++) {
            const struct cm_llm_capacity *at = &llm->capacity[i];
            const int64_t values[] = {at->context, at->sequences, at->tokens_per_s,
                                      at->expected_tokens_per_s};
            cell(page, 12, count_or(page, values[row], "-"));
        }
        page_end_line(page);
    }
    if (is_known(llm->longest_context))
        page_line(page, STYLE_PLAIN, "Memory has room for %s tokens of one sequence.",
                  page_exact(page, llm->longest_context));
}

static void write_what_ifs(struct page *page, const struct cm_llm *llm) {
    if (llm->n_what_ifs == 0) return;
    page_end_line(page);
    struct text title;
    text_init(&title, page->arena);
    text_printf(&title, "what if, batch %" PRId64,
                llm->n_phases > 1 ? llm->phases[1].batch : 1);
    page_print(page, STYLE_TITLE, "%-18s", text_string(&title));
    cell(page, 12, "weights");
    cell(page, 12, "KV/token");
    cell(page, 12, "sequences");
    cell(page, 14, "decode bound");
    cell(page, 12, "expected");
    page_end_line(page);
    for (size_t i = 0; i < llm->n_what_ifs; i++) {
        const struct cm_llm_what_if *row = &llm->what_ifs[i];
        page_print(page, STYLE_PLAIN, "%-18s", row->name);
        cell(page, 12, bytes(page, row->weight_bytes));
        cell(page, 12, page_exact(page, row->kv_bytes_per_token));
        cell(page, 12, count_or(page, row->sequences, "-"));
        cell(page, 14, time_or(page, row->lower_bound_ps, "-"));
        cell(page, 12, time_or(page, row->latency_ps, "-"));
        if (row->note[0]) page_print(page, STYLE_PLAIN, "   %s", row->note);
        page_end_line(page);
    }
}

#define MAX_GAINS 8 /* rows below the other tables; JSON has all */

static const char *minus(struct page *page, int64_t ps) {
    struct text text;
    text_init(&text, page->arena);
    text_printf(&text, "-%s", page_time(page, ps));
    return text_string(&text);
}

static void write_gains(struct page *page, const struct cm_llm *llm) {
    size_t n = llm->n_gains, width = 44; /* of the names */
    if (n > MAX_GAINS && !llm->weights_only) n = MAX_GAINS;
    for (size_t i = 0; i < n; i++)
        if (page_width(llm->gains[i].weights) > width)
            width = page_width(llm->gains[i].weights);
    if (n == 0) return;
    page_end_line(page);
    page_print(page, STYLE_TITLE, "quantization");
    page_indent(page, width - strlen("quantization"));
    cell(page, 12, "stored");
    cell(page, 12, "quantized");
    cell(page, 12, "saves");
    page_line(page, STYLE_TITLE, "  format");
    for (size_t i = 0; i < n; i++) {
        const struct cm_llm_gain *gain = &llm->gains[i];
        page_print(page, STYLE_PLAIN, "%s", gain->weights);
        page_indent(page, width - page_width(gain->weights));
        cell(page, 12, bytes(page, gain->bytes));
        cell(page, 12, bytes(page, gain->quantized_bytes));
        cell(page, 12,
             gain->gain_ps < 0 && is_known(gain->gain_ps) ? minus(page, -gain->gain_ps)
                                                          : time_or(page, gain->gain_ps, "-"));
        page_line(page, STYLE_PLAIN, "  %s", gain->format);
    }
}

/* The sizes of all stored tensors, as they are and if each element had these bits. */
static void write_sizes(struct page *page, const struct cm_llm *llm) {
    static const struct {
        const char *name;
        int bits;
    } widths[] = {{"32 bits", 32}, {"16", 16}, {"8", 8}, {"4", 4}};
    page_print(page, STYLE_TITLE, "%s: %s stored, %s quantized", llm->path,
               bytes(page, llm->stored_bytes), bytes(page, llm->quantized_bytes));
    if (llm->device) page_print(page, STYLE_TITLE, ", %s", llm->device);
    page_end_line(page);
    page_print(page, STYLE_PLAIN,
               "all %s elements without scales: ", page_exact(page, llm->stored_elements));
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        page_print(page, STYLE_PLAIN, "%s%s %s", i > 0 ? ", " : "", widths[i].name,
                   bytes(page, llm->stored_elements / 8 * widths[i].bits +
                                   llm->stored_elements % 8 * widths[i].bits / 8));
    page_end_line(page);
}

static void write_parallel(struct page *page, const struct cm_llm *llm) {
    if (llm->n_collectives == 0 && llm->n_replicated == 0) return;
    page_end_line(page);
    for (size_t i = 0; i < llm->n_collectives; i++) {
        const struct cm_llm_collective *row = &llm->collectives[i];
        page_line(page, STYLE_PLAIN, "%s: %s of %s", row->phase,
                  page_count(page, row->n, row->kind), bytes(page, row->bytes));
    }
    if (llm->n_replicated > 0) {
        page_print(page, STYLE_PLAIN, "on every GPU: ");
        page_list(page, ", ", 2);
        for (size_t i = 0; i < llm->n_replicated; i++) page_add(page, "%s", llm->replicated[i]);
        page_end_line(page);
    }
}

/* Writes a ratio in millionths. */
static const char *ratio(struct page *page, int64_t value) {
    struct text text;
    text_init(&text, page->arena);
    number_append_real(&text, (double)value / 1e6, 4);
    return text_string(&text);
}

static void write_price(struct page *page, const struct cm_llm *llm) {
    if (!is_known(llm->price_per_million_tokens) && !is_known(llm->joules_per_token)) return;
    page_end_line(page);
    if (is_known(llm->price_per_million_tokens))
        page_line(page, STYLE_PLAIN,
                  "at least $%s per million tokens: %s of %s tokens on %s, decode alone",
                  ratio(page, llm->price_per_million_tokens),
                  page_count(page, llm->capacity[0].sequences, "sequence"),
                  page_exact(page, llm->capacity[0].context),
                  page_count(page, cm_llm_gpus(llm), "GPU"));
    if (is_known(llm->joules_per_token))
        page_line(page, STYLE_PLAIN,
                  "%s J per token at the expected rate, if the GPUs draw this",
                  ratio(page, llm->joules_per_token));
}

int cm_llm_write_text(const struct cm_llm *llm, const struct cm_text_options *options,
                      FILE *out) {
    struct page page;
    options = ARGUMENTS_TAKE(cm_text_options, options, llm && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    page.units = NUMBERS_SI;
    if (llm->weights_only) {
        write_sizes(&page, llm);
        write_gains(&page, llm);
        return arena_end(arena, page_finish(&page));
    }
    write_head(&page, llm);
    write_phases(&page, llm);
    write_capacity(&page, llm);
    write_what_ifs(&page, llm);
    write_gains(&page, llm);
    write_parallel(&page, llm);
    write_price(&page, llm);
    return arena_end(arena, page_finish(&page));
}
