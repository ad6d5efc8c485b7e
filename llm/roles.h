/* SPDX-License-Identifier: Apache-2.0 */
/* The roles of the symbolic dims of a language model: batch, tokens of this step, tokens of
 * earlier steps, and their sum. They follow from the graph: the token ids are the integers that
 * are looked up in a table, and a cache is an input that an output of its shape extends. */
#pragma once

#include "passes/pass.h"

enum llm_role {
    ROLE_NONE,     /* none of the following: an option must bind the dim */
    ROLE_BATCH,    /* sequences */
    ROLE_SEQUENCE, /* tokens of this step */
    ROLE_PAST,     /* tokens in the cache before this step */
    ROLE_TOTAL,    /* past + sequence */
    ROLE_SOURCE,   /* tokens of the source of an encoder-decoder */
};

struct llm_dim {
    const char *symbol;
    enum llm_role role;
};

struct llm_roles {
    uint32_t tokens;  /* the input with the token ids or their embeddings; ID_NONE */
    int64_t batch;    /* in the file, DIM_UNKNOWN if symbolic */
    int64_t sequence; /* likewise */
    size_t n_dims;
    const struct llm_dim *dims;
    bool has_past;  /* a dim has ROLE_PAST */
    bool is_whole;  /* steps compute all products, those of an encoder too */
    uint8_t *cache; /* by value: enum llm_cache */
};

/* The contents of an input between the steps of a generation. */
enum llm_cache {
    CACHE_NONE,
    CACHE_GROWS,  /* one row per token */
    CACHE_BUFFER, /* rows for a fixed number of tokens */
    CACHE_STATE,  /* a state of fixed size: of a recurrence, of a convolution */
    CACHE_SOURCE, /* keys and values of the source, which no step changes */
};

/* Finds the roles; reads TABLE_BIND. Returns CM_OK or CM_NO_MEMORY (reported). */
int llm_roles_find(const struct analysis *analysis, struct llm_roles *ret) CM_MUST_CHECK;

/* Returns `dims`, an array of n_dims options in the arena, with the sizes of the roles. */
struct cm_dim_option *llm_roles_bind(const struct llm_roles *roles, struct arena *arena,
                                     int64_t batch, int64_t sequence, int64_t past,
                                     int64_t source, size_t *ret_n);
