/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass advice: applies each rule to the times. Without times nobody knows what is worth doing,
 * and nothing is said.
 */
#include "passes/latency/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/latency/estimate.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

void advice_pick(struct advice_case *advice, uint32_t node, double gain_s) {
    if (!advice->picked[node]) {
        advice->picked[node] = true;
        advice->n_picked++;
        advice->picked_s += advice->seconds[node];
    }
    if (gain_s < 0) return;
    advice->gain_s += gain_s;
    advice->has_gain = true;
}

void advice_append_picked(struct advice_case *advice, const char *what) {
    text_printf(&advice->text, "%zu %s%s (%.2f%% of latency)", advice->n_picked, what,
                text_plural((int64_t)advice->n_picked),
                100 * advice->picked_s / advice->total_s);
}

void advice_append_bytes(struct advice_case *advice, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    text_printf(&advice->text, "%.*f %s", unit == 0 ? 0 : 2, bytes, units[unit]);
}

static void find_seconds(const struct analysis *analysis, struct advice_case *ret) {
    for (uint32_t node = 0; node < analysis->model->n_nodes; node++) {
        const struct cm_measurement *measurement = estimate_of_node(analysis, node);
        const int64_t runs = analysis->count.runs[analysis->model->nodes[node].graph];
        if (measurement == NULL || !is_known(runs)) continue;
        ret->seconds[node] = measurement->cold.median * (double)runs;
        ret->total_s += ret->seconds[node];
    }
}

/* Each node, and the module that it stands in, once. */
static int list_picked(const struct advice_case *advice, struct advice *ret) {
    const struct analysis *analysis = advice->analysis;
    const struct modules_table *modules = &analysis->modules;
    uint32_t *nodes = arena_array(analysis->arena, advice->n_picked, sizeof *nodes);
    uint32_t *list = arena_array(analysis->arena, modules->n_modules, sizeof *list);
    bool *has = arena_array(analysis->arena, modules->n_modules, sizeof *has);
    if (!nodes || !list || !has) return diag_no_memory(analysis->diag);
    for (uint32_t node = 0; node < analysis->model->n_nodes; node++) {
        if (!advice->picked[node]) continue;
        nodes[ret->n_nodes++] = node;
        has[modules->of_node[node]] = true;
    }
    for (uint32_t i = 0; i < modules->n_modules; i++)
        if (has[i]) list[ret->n_modules++] = i;
    ret->nodes = nodes;
    ret->modules = list;
    return CM_OK;
}

/* No gain is more than the time of what it is about. */
static int64_t gain_of(const struct advice_case *advice) {
    return advice->has_gain ? estimate_ps(fmin(advice->gain_s, advice->picked_s)) : DIM_UNKNOWN;
}

static void clear(struct advice_case *advice) {
    memset(advice->picked, 0, advice->analysis->model->n_nodes * sizeof *advice->picked);
    advice->n_picked = 0;
    advice->picked_s = 0;
    advice->gain_s = 0;
    advice->has_gain = false;
    text_init(&advice->text, advice->analysis->arena);
}

static int apply(struct advice_case *advice, const struct advice_rule *rule,
                 struct advice_table *table) {
    clear(advice);
    rule->pick(advice);
    if (advice->n_picked == 0 || advice->picked_s < rule->least * advice->total_s) return CM_OK;
    rule->tell(advice);
    if (advice->text.failed) return diag_no_memory(advice->analysis->diag);
    struct advice *item = &table->items[table->n++];
    *item = (struct advice){
        .rule = rule, .text = text_string(&advice->text), .gain_ps = gain_of(advice)};
    return list_picked(advice, item);
}

/* An unknown gain is the least of all. */
static int compare(const void *left, const void *right) {
    const struct advice *a = left;
    const struct advice *b = right;
    if (a->gain_ps != b->gain_ps) return a->gain_ps > b->gain_ps ? -1 : 1;
    return strcmp(a->rule->id, b->rule->id);
}

static int apply_all(const struct analysis *analysis, struct advice_table *table) {
    const size_t n_nodes = analysis->model->n_nodes;
    struct advice_case advice = {.analysis = analysis};
    size_t n_rules = 0;
    while (advice_rule_at(n_rules) != NULL) n_rules++;
    advice.seconds = arena_array(analysis->arena, n_nodes, sizeof *advice.seconds);
    advice.picked = arena_array(analysis->arena, n_nodes, sizeof *advice.picked);
    table->items = arena_array(analysis->arena, n_rules, sizeof *table->items);
    if (!advice.seconds || !advice.picked || !table->items)
        return diag_no_memory(analysis->diag);
    find_seconds(analysis, &advice);
    if (advice.total_s <= 0) return CM_OK;
    for (size_t i = 0; i < n_rules; i++) {
        int status = apply(&advice, advice_rule_at(i), table);
        if (status < 0) return status;
    }
    if (table->n > 0) qsort(table->items, table->n, sizeof *table->items, compare);
    return CM_OK;
}

int pass_advice(const struct analysis *analysis, void *own) {
    return analysis->bounds.done ? apply_all(analysis, own) : CM_OK;
}
