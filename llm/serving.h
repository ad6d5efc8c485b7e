/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences that fit into memory, the longest, and when the cache limits decode. */
#pragma once

#include "llm/phases.h"

struct llm_memory {
    double limit;   /* bytes of one GPU that may be used; 0: unknown */
    double stored;  /* weights and other stored tensors */
    double arena;   /* activations */
    int64_t page;   /* tokens of a block of the cache; 0: none */
    int64_t source; /* tokens of the source of an encoder-decoder */
};

/* Returns the sequences of `context` tokens whose caches fit; -1 without a limit. */
int64_t llm_sequences(const struct language *language, const struct llm_setup *setup,
                      const struct llm_memory *memory, int64_t context);
/* Returns the most tokens of one sequence that fit, at most `most`; -1 without a limit. */
int64_t llm_longest(const struct language *language, const struct llm_setup *setup,
                    const struct llm_memory *memory, int64_t most);
/* Returns the context above which reading the cache of a sequence takes longer than computing
 * its token; -1 if there is none up to `most`. */
int64_t llm_memory_bound(const struct language *language, const struct llm_setup *setup,
                         const struct llm_machine *machine, int64_t source, int64_t most);
