/* SPDX-License-Identifier: Apache-2.0 */
/* Subtracts the operations of nodes without a time from those of their modules: see timed.h. */
#include "report/text/timed.h"

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"

int64_t timed_lacks(const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    int64_t n = 0;
    for (size_t i = 0; measure != NULL && i < measure->n_untimed; i++)
        checked_add_known_to(&n, measure->untimed[i].nodes);
    return n;
}

bool timed_is_partial(const struct cm_result *result) {
    return timed_lacks(result) > 0 || (result->totals.partial & CM_COST_BIT(latency_ps)) != 0;
}

double timed_samples_per_second(const struct cm_result *result, int64_t ps) {
    if (!is_known(result->options.batch) || !is_known(ps) || ps <= 0 ||
        !times_have_rates(result))
        return -1;
    return (double)result->options.batch / ((double)ps * 1e-12);
}

const int64_t *timed_operations(struct page *page, const struct cm_result *result) {
    int64_t *ret = arena_array(page->arena, result->n_modules, sizeof(*ret));
    bool *inside = arena_array(page->arena, result->n_nodes, sizeof(*inside));
    if (ret == NULL || inside == NULL) return NULL;
    for (size_t i = 0; i < result->n_modules; i++) {
        const struct cm_costs *costs = &result->modules[i].costs;
        ret[i] = column_operations(result, costs->flops, costs->int_ops);
    }
    if (timed_lacks(result) == 0) return ret;
    for (size_t i = 0; i < result->measure->n_primitives; i++) {
        /* nodes of opaque blocks are not subtracted: their module has the time of the block */
        const struct cm_import *import = &result->measure->primitives[i].import;
        for (size_t k = 0; k < import->n_inside; k++)
            if (import->inside[k] < result->n_nodes) inside[import->inside[k]] = true;
    }
    for (size_t i = 0; i < result->n_nodes; i++) {
        const struct cm_node *node = &result->nodes[i];
        const int64_t operations =
            column_operations(result, node->costs.flops, node->costs.int_ops);
        if (is_known(node->costs.latency_ps) || !is_known(operations) || operations <= 0 ||
            inside[i])
            continue;
        /* In a stored report, the index of a node's module may be out of range, but a parent
         * always precedes its child. */
        for (size_t at = node->module; at < result->n_modules;) {
            const size_t parent = result->modules[at].parent;
            ret[at] = checked_sub(ret[at], operations);
            if (ret[at] <= 0 && result->modules[at].costs.latency_ps <= 0) ret[at] = CM_UNKNOWN;
            at = parent < at ? parent : result->n_modules;
        }
    }
    return ret;
}
