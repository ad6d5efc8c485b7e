/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/serving.h"

#include <math.h>

int64_t llm_sequences(const struct language *language, const struct llm_setup *setup,
                      const struct llm_memory *memory, int64_t context) {
    const double each = llm_cache_bytes(language, setup, context, memory->source, memory->page);
    const double left = memory->limit - memory->stored - memory->arena;
    if (memory->limit <= 0) return -1;
    if (left <= 0 || each <= 0) return 0;
    return (int64_t)fmin(floor(left / each) * llm_replicas(setup), 9e15);
}

int64_t llm_longest(const struct language *language, const struct llm_setup *setup,
                    const struct llm_memory *memory, int64_t most) {
    int64_t low = 0, high = most;
    if (memory->limit <= 0) return -1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (llm_sequences(language, setup, memory, middle) >= 1)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns how much longer a sequence's token takes to read than to compute, in seconds. Its
 * share of reading the weights vanishes with the batch. */
static double excess(const struct language *language, const struct llm_setup *setup,
                     const struct llm_machine *machine, int64_t source, int64_t context) {
    struct llm_machine rates = *machine;
    rates.time = NULL;
    const struct llm_step step = {
        .batch = 1, .tokens = 1, .past = context - 1, .source = source};
    const struct llm_costs costs = llm_step_costs(language, setup, &rates, &step);
    return (costs.kv_bytes + costs.state_bytes) / machine->bandwidth - costs.compute;
}

int64_t llm_memory_bound(const struct language *language, const struct llm_setup *setup,
                         const struct llm_machine *machine, int64_t source, int64_t most) {
    int64_t low = 1, high = most;
    if (!machine->name || excess(language, setup, machine, source, most) <= 0) return -1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (excess(language, setup, machine, source, middle) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
