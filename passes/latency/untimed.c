/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes without a time, grouped by operator and reason: a sum that leaves them out says so. */
#include "passes/latency/untimed.h"

#include <stdlib.h>
#include <string.h>

#include "passes/latency/estimate.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

#include "support/banned.h"

const char *operator_name(const struct analysis *analysis, const struct node *node) {
    const bool is_plain = node->domain[0] == '\0' || text_equal(node->domain, "ai.onnx");
    if (is_plain) return node->type;
    return arena_printf(analysis->arena, "%s::%s", node->domain, node->type);
}

/* NULL: it has a time, or nothing to do, or nobody was to give it one. */
static const char *reason_of(const struct analysis *analysis, uint32_t node) {
    const struct primitives_table *primitives = &analysis->primitives;
    if (primitives->lowered[node] == LOWERED_NOTHING) return NULL;
    if (primitives->lowered[node] == LOWERED_NOT) return primitives->why_not[node];
    const struct cm_measurement *measurement =
        &analysis->estimate.items[primitives->of_node[node]];
    const bool is_fine = estimate_has_time(measurement) || measurement->state == CM_VIEW ||
                         measurement->state == CM_PLANNED;
    return is_fine ? NULL : measurement->reason.text;
}

static int compare_rows(const void *left, const void *right) {
    const struct untimed_row *a = left;
    const struct untimed_row *b = right;
    if (a->macs != b->macs) return a->macs > b->macs ? -1 : 1;
    if (a->nodes != b->nodes) return a->nodes > b->nodes ? -1 : 1;
    const int order = strcmp(a->op, b->op);
    return order != 0 ? order : strcmp(a->reason, b->reason);
}

static int add_node(const struct analysis *analysis, uint32_t node, const char *reason,
                    struct map *index, struct breakdown_table *table) {
    const char *op = operator_name(analysis, &analysis->model->nodes[node]);
    const char *key = op ? arena_printf(analysis->arena, "%s\n%s", op, reason) : NULL;
    uint32_t at = MAP_NONE;
    if (!key || map_add(index, key, (uint32_t)table->n_untimed, &at) < 0)
        return diag_no_memory(analysis->diag);
    if (at == MAP_NONE) {
        at = (uint32_t)table->n_untimed++;
        table->untimed[at] = (struct untimed_row){.op = op, .reason = reason};
    }
    struct untimed_row *row = &table->untimed[at];
    row->nodes++;
    row->macs = checked_add_known(row->macs, analysis->count.nodes[node].costs.macs);
    return CM_OK;
}

int untimed_list(const struct analysis *analysis, struct breakdown_table *table) {
    struct map index;
    map_init(&index, analysis->arena);
    table->untimed =
        arena_array(analysis->arena, analysis->model->n_nodes, sizeof *table->untimed);
    if (!table->untimed) return diag_no_memory(analysis->diag);
    for (uint32_t node = 0; node < analysis->model->n_nodes; node++) {
        const char *reason = reason_of(analysis, node);
        if (!reason) continue;
        const int status = add_node(analysis, node, reason, &index, table);
        if (status < 0) return status;
    }
    if (table->n_untimed > 0)
        qsort(table->untimed, table->n_untimed, sizeof *table->untimed, compare_rows);
    return CM_OK;
}
