/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the figures of struct cm_costs by index, for code that treats them alike. A new
 * metric needs a member of struct cm_costs, a line in passes/cost/count.c that computes it, and
 * a row in report/table/columns.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"
#include "passes/public_figures.h"
#include "support/checked.h"

/* Figures of the static core; the times follow, which the timing half sets. */
#define N_COSTS (offsetof(struct cm_costs, latency_ps) / sizeof(int64_t))

/* Figures of parameters: each tensor counts once, so they are not sums over nodes. */
#define COSTS_OF_PARAMS (CM_COST_BIT(params) | CM_COST_BIT(buffers) | CM_COST_BIT(weight_bytes))

/* Returns a pointer to the figure whose bit in a set is 1 << index. */
static inline int64_t *costs_figure(struct cm_costs *costs, size_t index) {
    return (int64_t *)((char *)costs + index * sizeof(int64_t));
}

static inline int64_t costs_value(const struct cm_costs *costs, size_t index) {
    return *(const int64_t *)((const char *)costs + index * sizeof(int64_t));
}

static inline bool costs_contain(uint32_t set, size_t index) {
    return (set >> index & 1) != 0;
}

/* Adds the figures that are in `set`; skips unknown ones. */
static inline void costs_add(struct cm_costs *sum, const struct cm_costs *costs, uint32_t set) {
    struct cm_costs addend = *costs;
    for (size_t i = 0; i < N_COSTS; i++)
        if (costs_contain(set, i)) {
            int64_t *figure = costs_figure(sum, i);
            checked_add_known_to(figure, *costs_figure(&addend, i));
        }
    sum->upper_bound |= costs->upper_bound;
    sum->partial |= costs->partial;
}

/* Turns unknown and overflowed figures into CM_UNKNOWN; also the times, until they are set. */
static inline void costs_publish(struct cm_costs *costs) {
    for (size_t i = 0; i < N_COSTS; i++) {
        int64_t *figure = costs_figure(costs, i);
        *figure = public_count(*figure);
    }
    costs->latency_ps = costs->lower_bound_ps = CM_UNKNOWN;
}
