/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates changes of the set-up, and ranks what quantized weights save. */
#include <math.h>
#include <stdlib.h>

#include "api/llm/figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"

/* Evaluates a change of the setup. */
static int add_what_if(struct serving *serving, struct cm_llm_what_if *rows, const char *name,
                       const struct llm_setup *setup) {
    struct cm_llm *result = serving->result;
    const struct llm_setup before = serving->setup;
    const struct llm_memory memory = serving->memory;
    const struct cm_llm_options *options = serving->options;
    const int64_t request = options->n_contexts > 0
                                ? options->contexts[0]
                                : checked_add(options->prompt, options->new_tokens);
    struct cm_llm sums = {.window = 0};
    serving->setup = *setup;
    serving->memory.stored = llm_stored_bytes(&serving->language, setup);
    const struct llm_costs costs =
        figures_costs(serving, serving->batches[0], 1, figures_mean_past(options));
    figures_sum_cache(&serving->language, setup, &sums);
    const char *note = "";
    if (costs.n_collectives[COLLECTIVE_ALL_REDUCE] > 0)
        note = arena_printf(serving->arena, "%lld all-reduce%s per token",
                            (long long)costs.n_collectives[COLLECTIVE_ALL_REDUCE],
                            costs.n_collectives[COLLECTIVE_ALL_REDUCE] > 1 ? "s" : "");
    else if (costs.n_collectives[COLLECTIVE_ALL_TO_ALL] > 0)
        note = arena_printf(serving->arena, "%lld all-to-all%s per token",
                            (long long)costs.n_collectives[COLLECTIVE_ALL_TO_ALL],
                            costs.n_collectives[COLLECTIVE_ALL_TO_ALL] > 1 ? "s" : "");
    const int64_t sequences =
        llm_sequences(&serving->language, setup, &serving->memory, request);
    rows[result->n_what_ifs++] = (struct cm_llm_what_if){
        .name = name,
        .weight_bytes = figures_whole(serving->memory.stored),
        .kv_bytes_per_token = sums.kv_bytes_per_token + sums.kv_bytes_per_token_window,
        .sequences = sequences < 0 ? CM_UNKNOWN : sequences,
        .lower_bound_ps = serving->machine.name ? figures_ps(costs.bound) : CM_UNKNOWN,
        .latency_ps = serving->machine.name && !costs.is_untimed ? figures_ps(costs.expected)
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

int figures_list_changes(struct serving *serving) {
    static const char *const formats[] = {"fp8", "int4:g128"};
    struct llm_format format[2], fp8;
    struct cm_llm_what_if *rows = arena_array(serving->arena, 8, sizeof *rows);
    if (!rows) return diag_no_memory(serving->diag);
    serving->result->what_ifs = rows;
    struct llm_setup setup = serving->setup;
    int status = add_what_if(serving, rows, "as is", &setup);
    if (status == CM_OK && !serving->setup.cache && llm_format_find("fp8", &fp8)) {
        setup.cache = &fp8;
        status = add_what_if(serving, rows, "kv fp8", &setup);
    }
    for (int i = 0; i < 2 && status == CM_OK && !serving->setup.formats; i++) {
        setup = serving->setup;
        if (!llm_format_find(formats[i], &format[i])) continue;
        setup.formats = all_in(serving, &format[i]);
        if (!setup.formats) return diag_no_memory(serving->diag);
        status = add_what_if(serving, rows, formats[i], &setup);
        if (rows[serving->result->n_what_ifs - 1].weight_bytes == rows[0].weight_bytes)
            serving->result->n_what_ifs--; /* nothing is stored with more bits */
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
const char *figures_generic_name(struct arena *arena, const char *name) {
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

/* Ranks groups of weights by the time that their formats save in the first step of decode, or
 * in a run: those of the options, or int4 in blocks of 128. Products that share an operand run
 * as one, so each of its weights gets its share of the time by elements. */
int figures_list_gains(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct language *language = &serving->language;
    const struct llm_machine *machine = &serving->machine;
    const struct llm_step step = {
        serving->batches[0], 1,
        serving->options->weights_only ? 0 : figures_mean_past(serving->options),
        serving->memory.source};
    struct llm_format *four = arena_alloc(serving->arena, sizeof *four);
    struct map names;
    struct cm_llm_gain *gains =
        arena_array(serving->arena, language->n_weights + 1, sizeof *gains);
    if (!gains || !four) return diag_no_memory(serving->diag);
    if (!llm_format_find("int4:g128", four)) return CM_OK;
    four->name = "int4:g128";
    const struct llm_format *const *formats =
        serving->setup.formats ? serving->setup.formats : all_in(serving, four);
    if (!formats) return diag_no_memory(serving->diag);
    struct llm_setup stored = serving->setup, quantized = serving->setup;
    stored.formats = NULL;
    quantized.formats = formats;
    result->gains = gains;
    map_init(&names, serving->arena);
    double saved = 0; /* by the product of the weight: weights are sorted by product */
    for (size_t i = 0; i < language->n_weights; i++) {
        const struct llm_weight *weight = &language->weights[i];
        const char *name = figures_generic_name(serving->arena, weight->name);
        struct cm_llm_gain *gain =
            group_of(result, gains, &names, name, formats[i] ? formats[i]->name : "as stored");
        if (!gain) return diag_no_memory(serving->diag);
        const int64_t bytes = llm_weight_size(language, &quantized, i);
        gain->n++;
        checked_add_to(&gain->elements, weight->elements);
        checked_add_to(&gain->bytes, weight->bytes);
        checked_add_to(&gain->quantized_bytes, bytes);
        if (!machine->time || weight->product == LLM_TABLE) continue;
        const double share =
            (double)weight->elements / (double)language->products[weight->product].elements;
        if (i == 0 || weight->product != weight[-1].product)
            saved = llm_product_seconds(language, &stored, machine, &step, i) -
                    llm_product_seconds(language, &quantized, machine, &step, i);
        const int64_t before = gain->gain_ps == CM_UNKNOWN ? 0 : gain->gain_ps;
        gain->gain_ps = before + (int64_t)llround(fmin(fmax(saved * share, -1e3), 1e3) * 1e12);
    }
    struct llm_setup all = quantized;
    all.tp = all.pp = all.ep = 1;
    result->quantized_bytes = figures_whole(llm_stored_bytes(language, &all));
    if (result->n_gains > 1) sort_stable(gains, result->n_gains, sizeof *gains, by_gain);
    return CM_OK;
}
