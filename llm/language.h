/* SPDX-License-Identifier: Apache-2.0 */
/* A language model as its costs depend on the numbers of sequences, new tokens and past tokens:
 * products with weights, attention over a cache, lookups, states. Independent of how an
 * exporter decomposed them (docs/llm.md). All counts are of one token unless stated. */
#pragma once

#include "llm/roles.h"
#include "passes/pass.h"

#define LLM_TABLE UINT32_MAX

/* A stored matrix, or one of each expert. */
struct llm_weight {
    const char *name;
    uint32_t value;
    uint32_t node;         /* that reads it */
    uint32_t product;      /* index */
    int64_t elements;      /* of all experts */
    int64_t bytes;         /* as stored, with scales and zero points */
    int64_t learned_bytes; /* part of it that counts as learned */
    int64_t columns;       /* of the result, per expert */
    enum dtype dtype;      /* as stored */
    bool is_first;         /* no earlier product reads the same tensor */
};

/* How ranks of tensor parallelism divide a product. */
enum llm_split {
    SPLIT_NONE,    /* every rank computes it */
    SPLIT_COLUMNS, /* of the result */
    SPLIT_ROWS,    /* of the weight: an all-reduce sums the partial results */
};

/* Matrix products with weights that read the same operand run as one. */
struct llm_product {
    uint32_t node;    /* the first */
    double rows;      /* of the left operand, per token; 0: one per sequence */
    int64_t inner;    /* length of the sums */
    int64_t columns;  /* of the result, over all weights */
    int64_t elements; /* of the weights, of all experts */
    int64_t experts;  /* 0: none */
    int64_t chosen;   /* experts of a token */
    double share;     /* of `experts` that the product has: 1, or 1 / experts in a loop */
    enum dtype dtype; /* of the left operand */
    bool is_logits;
    enum llm_split split;
    bool reduces;  /* an all-reduce follows; partial results that are added share one */
    int64_t moved; /* bytes of the elementwise kernel before it; 0: there is none */
};

struct llm_attention {
    uint32_t node;
    int64_t heads, kv_heads;
    int64_t key_columns, value_columns; /* of a head */
    int64_t window;                     /* keys that a query sees; 0: all before it */
    int64_t cached;       /* elements of keys and values that it stores; 0: those of another */
    int64_t latent;       /* elements from which keys and values can be computed; 0: the same.
                             Without a cache in the file, it stores them */
    int64_t expanded;     /* elements of the keys and values themselves, if latent > 0 */
    enum llm_cache cache; /* CACHE_NONE: the file has no cache */
    bool is_causal;       /* or its mask is unknown: an input */
    bool is_cross;        /* keys and values of the source: `cached` per token of the source */
    enum dtype dtype;     /* of the cache, or of the keys */
    bool is_split;        /* its heads are divided over ranks */
};

struct language {
    const struct analysis *core;
    const struct llm_roles *roles;
    size_t n_weights, n_products, n_attentions;
    struct llm_weight *weights;
    struct llm_product *products;
    struct llm_attention *attentions; /* in execution order */
    int64_t max_context; /* tokens for which caches of fixed size and tables of positions
                            have room; 0: no limit */
    int64_t state_bytes; /* constant state of a sequence */
    int64_t state_elements;
    double other_macs;       /* of products of activations other than attention */
    int64_t params;          /* learned elements */
    int64_t expert_params;   /* of all experts that a token may choose */
    int64_t chosen_params;   /* of those that it does */
    int64_t embedding;       /* elements of the table of token embeddings */
    int64_t embedding_bytes; /* read per token */
    int64_t table_bytes;     /* of tables that only lookups read */
    int64_t weight_bytes;    /* all learned tensors as stored */
    int64_t buffer_bytes;    /* stored tensors that are not learned */
    int64_t stored_elements; /* of all stored tensors */
    int64_t hidden;          /* columns of the embedding */
    enum dtype dtype;        /* of most weights, as stored */
    enum dtype activations;
    bool lacks_state;      /* of recurrences or convolutions, which the file does not have */
    bool is_bidirectional; /* no attention is causal: an encoder */
    size_t n_experts, n_chosen; /* of the first product with experts; 0 */
};

/* Describes the model. `core` has run to TABLE_COUNT with 1 sequence of `tokens` new and `past`
 * earlier tokens. Returns CM_OK or CM_NO_MEMORY (reported). */
int llm_describe(const struct analysis *core, const struct llm_roles *roles, int64_t tokens,
                 int64_t past, struct language *ret) CM_MUST_CHECK;
