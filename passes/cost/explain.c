/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass explain: finds the nodes and modules that were asked about, and what every convention
 * makes of them. The factors and terms themselves are pass count's: see count.h.
 */
#include <inttypes.h>
#include <string.h>

#include "ops/flops/names/convention_names.h"
#include "passes/cost/count.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static uint32_t find_module(const struct analysis *analysis, const char *name) {
    const struct modules_table *table = &analysis->modules;
    for (uint32_t id = 1; id < table->n_modules; id++)
        if (text_equal(table->modules[id].path, name)) return id;
    return ID_NONE;
}

static uint32_t find_number(const struct analysis *analysis, const char *name) {
    const char *digits = name + (name[0] == '#');
    int64_t number = 0;
    if (!text_to_int64(digits, strlen(digits), &number)) return ID_NONE;
    const bool has = number >= 0 && (uint64_t)number < analysis->model->n_nodes;
    return has ? (uint32_t)number : ID_NONE;
}

static bool makes(const struct analysis *analysis, uint32_t id, const char *name) {
    const struct node *node = &analysis->model->nodes[id];
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE &&
            text_equal(value_name(analysis->model, node->outputs[i]), name))
            return true;
    return false;
}

/* By its name, or by that of a value that it makes; *ret_n says how many bear it. */
static uint32_t find_name(const struct analysis *analysis, const char *name, size_t *ret_n) {
    const struct model *model = analysis->model;
    uint32_t found = ID_NONE;
    *ret_n = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (!text_equal(model->nodes[id].name, name) && !makes(analysis, id, name)) continue;
        if ((*ret_n)++ == 0) found = id;
    }
    return found;
}

static int refuse_unknown(const struct analysis *analysis, const char *name) {
    int status = diag_error(analysis->diag, DIAG_USAGE,
                            "there is no node and no module '%s' to explain", name);
    diag_hint(analysis->diag, "--format json lists the nodes, with their modules");
    return status;
}

static int refuse_ambiguous(const struct analysis *analysis, const char *name, size_t n,
                            uint32_t first) {
    int status =
        diag_error(analysis->diag, DIAG_USAGE, "%zu nodes bear the name '%s'", n, name);
    diag_hint(analysis->diag, "ask by number: the first is #%" PRIu32, first);
    return status;
}

static bool is_inside(const struct modules_table *table, uint32_t module, uint32_t outer) {
    while (module != ID_NONE && module != outer) module = table->parents[module];
    return module == outer;
}

static bool costs_nothing(const struct cm_costs *costs) {
    return costs->macs == 0 && costs->flops == 0 && costs->int_ops == 0;
}

static int list_module(const struct analysis *analysis, uint32_t module,
                       struct explained *ret) {
    const struct modules_table *table = &analysis->modules;
    const size_t n = analysis->model->n_nodes;
    uint32_t *nodes = arena_array(analysis->arena, n, sizeof(*nodes));
    if (!nodes) return diag_no_memory(analysis->diag);
    ret->nodes = nodes;
    ret->of_module = true;
    ret->module = module;
    for (uint32_t id = 0; id < n; id++) {
        if (!is_inside(table, table->of_node[id], module)) continue;
        if (costs_nothing(&analysis->count.nodes[id].costs))
            ret->n_free++;
        else
            nodes[ret->n_nodes++] = id;
    }
    return CM_OK;
}

static int list_node(const struct analysis *analysis, uint32_t id, struct explained *ret) {
    uint32_t *nodes = arena_copy(analysis->arena, &id, sizeof(id));
    if (!nodes) return diag_no_memory(analysis->diag);
    ret->nodes = nodes;
    ret->n_nodes = 1;
    ret->module = analysis->modules.of_node[id];
    return CM_OK;
}

static int find(const struct analysis *analysis, const char *name, struct explained *ret) {
    size_t n = 0;
    const uint32_t module = find_module(analysis, name);
    uint32_t node = ID_NONE;
    *ret = (struct explained){.name = name};
    if (module != ID_NONE) return list_module(analysis, module, ret);
    node = find_name(analysis, name, &n);
    if (n > 1) return refuse_ambiguous(analysis, name, n, node);
    if (node == ID_NONE) node = find_number(analysis, name);
    if (node == ID_NONE) return refuse_unknown(analysis, name);
    return list_node(analysis, node, ret);
}

/* Over all nodes of the module, since another convention counts others; without what is
 * unknown, as everywhere. */
static int sum_nodes(const struct analysis *analysis, const struct explained *explained,
                     const struct convention *convention, int64_t *ret_flops,
                     int64_t *ret_int_ops) {
    const struct modules_table *table = &analysis->modules;
    *ret_flops = 0;
    *ret_int_ops = 0;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        if (!is_inside(table, table->of_node[id], explained->module)) continue;
        struct count_terms terms;
        int status = count_terms(analysis, convention, id, &terms);
        if (status < 0) return status;
        *ret_flops = checked_add_known(*ret_flops, count_flops(&terms));
        *ret_int_ops = checked_add_known(*ret_int_ops, count_int_ops(&terms));
    }
    return CM_OK;
}

/* What the figures of the listed nodes are made of. */
static int keep_terms(const struct analysis *analysis, struct explained *ret) {
    const struct convention *convention = convention_find(analysis->options->convention);
    int status = CM_OK;
    ret->terms = arena_array(analysis->arena, ret->n_nodes, sizeof(*ret->terms));
    if (!ret->terms) return diag_no_memory(analysis->diag);
    for (size_t i = 0; status == CM_OK && i < ret->n_nodes; i++)
        status = count_terms(analysis, convention, ret->nodes[i], &ret->terms[i]);
    return status;
}

/* A module's terms would be as many as its nodes have: of it there are sums alone. */
static int explain_by(const struct analysis *analysis, struct explained *ret) {
    const size_t n = conventions_count();
    int status = CM_OK;
    ret->flops = arena_array(analysis->arena, n, sizeof(*ret->flops));
    ret->int_ops = arena_array(analysis->arena, n, sizeof(*ret->int_ops));
    if (!ret->of_module) ret->by = arena_array(analysis->arena, n, sizeof(*ret->by));
    if (!ret->flops || !ret->int_ops || (!ret->of_module && !ret->by))
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; status == CM_OK && i < n; i++) {
        const struct convention *convention = convention_find(conventions_at(i)->name);
        if (ret->of_module) {
            status = sum_nodes(analysis, ret, convention, &ret->flops[i], &ret->int_ops[i]);
            continue;
        }
        status = count_terms(analysis, convention, ret->nodes[0], &ret->by[i]);
        if (status < 0) continue;
        ret->flops[i] = count_flops(&ret->by[i]);
        ret->int_ops[i] = count_int_ops(&ret->by[i]);
    }
    return status;
}

static int explain(const struct analysis *analysis, const char *name, struct explained *ret) {
    int status = find(analysis, name, ret);
    if (status == CM_OK) status = keep_terms(analysis, ret);
    return status < 0 ? status : explain_by(analysis, ret);
}

int pass_explain(const struct analysis *analysis, void *own) {
    struct explain_table *table = own;
    const size_t n = analysis->options->n_explain;
    int status = CM_OK;
    table->items = arena_array(analysis->arena, n, sizeof(*table->items));
    if (!table->items) return diag_no_memory(analysis->diag);
    table->n = n;
    for (size_t i = 0; status == CM_OK && i < n; i++)
        status = explain(analysis, analysis->options->explain[i], &table->items[i]);
    return status;
}
