/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the kinds of layers of attention, and sums the bytes of their caches. */
#include <math.h>

#include "api/llm/figures.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

static struct cm_llm_layers layers_of(const struct serving *serving,
                                      const struct llm_attention *attention) {
    static const char *const caches[] = {[CACHE_NONE] = "none",
                                         [CACHE_GROWS] = "grows",
                                         [CACHE_BUFFER] = "buffer",
                                         [CACHE_STATE] = "buffer",
                                         [CACHE_SOURCE] = "source"};
    const double bits = llm_cached_bits(&serving->setup, attention);
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
        .bytes_per_token = figures_whole((double)attention->cached * bits / 8),
        .latent_bytes = figures_whole((double)attention->latent * bits / 8),
        .expanded_bytes = figures_whole((double)attention->expanded * bits / 8),
    };
}

static bool same_layers(const struct cm_llm_layers *a, const struct cm_llm_layers *b) {
    return text_equal(a->kind, b->kind) && text_equal(a->cache, b->cache) &&
           a->heads == b->heads && a->kv_heads == b->kv_heads &&
           a->key_columns == b->key_columns && a->value_columns == b->value_columns &&
           a->window == b->window && a->bytes_per_token == b->bytes_per_token &&
           a->latent_bytes == b->latent_bytes;
}

int figures_list_layers(struct serving *serving) {
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
void figures_sum_cache(const struct language *language, const struct llm_setup *setup,
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
    ret->kv_bytes_per_token = figures_whole(ceil(full * share));
    ret->kv_bytes_per_token_window = figures_whole(ceil(window * share));
    ret->cross_bytes_per_token = figures_whole(ceil(cross * share));
    ret->kv_bytes_per_token_latent = has_latent ? figures_whole(ceil(latent * share)) : 0;
    ret->kv_bytes_per_token_expanded = has_latent ? figures_whole(ceil(expanded * share)) : 0;
    ret->state_bytes_per_sequence =
        language->lacks_state ? CM_UNKNOWN
                              : figures_whole(ceil((double)language->state_bytes * share));
}
