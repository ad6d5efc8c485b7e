/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of one step of a language model: MACs, bytes, times. */
#pragma once

#include "llm/formats.h"
#include "llm/language.h"
#include "llm/machine.h"

/* How the model is stored and divided. */
struct llm_setup {
    const struct llm_format *const *formats; /* by weight; NULL: as stored */
    const struct llm_format *cache;          /* of keys and values; NULL: as in the file */
    int64_t tp, pp, ep;                      /* GPUs; 1: not divided */
    bool last_logits; /* only the logits of the last token of each sequence */
};

struct llm_step {
    int64_t batch;  /* sequences */
    int64_t tokens; /* new ones of each sequence */
    int64_t past;   /* in the cache of each sequence */
    int64_t source; /* tokens of the source of an encoder-decoder */
};

/* Of one GPU, the one with the most work. */
struct llm_costs {
    double macs;
    double flops;        /* at least: causal attention computes no masked score */
    double compute;      /* seconds of the arithmetic at the peak rates; 0 without a device */
    double weight_bytes; /* that the step reads */
    double kv_bytes;     /* read and written */
    double state_bytes;
    double activation_bytes; /* largest operand and result of a product, and the residual */
    double expected, bound;  /* seconds; 0 without a device */
    double communication;    /* part of `expected`: collectives */
    double communication_bound;
    int64_t n_collectives[N_COLLECTIVES];
    double collective_bytes[N_COLLECTIVES]; /* of one each */
    bool is_untimed; /* the device cannot compute with the elements of some products */
};

static inline double llm_moved(const struct llm_costs *costs) {
    return costs->weight_bytes + costs->kv_bytes + costs->state_bytes;
}

/* Returns how many groups of GPUs have all layers but the experts, for parts of sequences. */
double llm_replicas(const struct llm_setup *setup);
/* Returns the costs of one step. */
struct llm_costs llm_step_costs(const struct language *language, const struct llm_setup *setup,
                                const struct llm_machine *machine, const struct llm_step *step);

/* Returns the expected seconds of the product whose weights begin at `weight`; 0: no device. */
double llm_product_seconds(const struct language *language, const struct llm_setup *setup,
                           const struct llm_machine *machine, const struct llm_step *step,
                           size_t weight);

/* Returns the bytes that the caches of one sequence of `context` tokens take per GPU. `paged`:
 * tokens of a block, also of layers with a window; 0: exactly the tokens, or those of the
 * window. */
double llm_cache_bytes(const struct language *language, const struct llm_setup *setup,
                       int64_t context, int64_t source, int64_t paged);
/* Returns the part of the layers of the stage with the most; 1 without pipeline parallelism. */
double llm_stage_share(const struct language *language, const struct llm_setup *setup);
/* Returns the bits of an element of the cache, with its part of the scales. */
double llm_cached_bits(const struct llm_setup *setup, const struct llm_attention *attention);
/* Returns the bytes per token that one layer stores on one GPU. */
double llm_row_bytes(const struct llm_setup *setup, const struct llm_attention *attention);
/* Returns the bytes of all stored tensors per GPU, in the formats of the setup. */
double llm_stored_bytes(const struct language *language, const struct llm_setup *setup);

/* Returns those of weights, with their scales and zero points. */
double llm_learned_bytes(const struct language *language, const struct llm_setup *setup);

/* Returns the learned elements per GPU. */
double llm_learned_elements(const struct language *language, const struct llm_setup *setup);

/* Returns the experts that `tokens` tokens choose, if they choose uniformly. */
double llm_touched(int64_t experts, int64_t chosen, double tokens);
/* Returns the bytes of a weight in the format of the setup. */
int64_t llm_weight_size(const struct language *language, const struct llm_setup *setup,
                        size_t weight);
