/* SPDX-License-Identifier: Apache-2.0 */
/* Pass explain: finds the requested nodes and modules, and lists the factors and terms of their
 * figures, and the figures by every convention. Pass count computes the terms. */
#include "passes/summary/explain.h"

#include <inttypes.h>
#include <string.h>

#include "ops/flops/names/convention_names.h"
#include "passes/cost/count.h"
#include "passes/modules/modules.h"
#include "passes/pass.h"
#include "passes/public_figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

/* Returns the first node that has the name, or an output of the name; ID_NONE if there is none.
 * Sets *ret_n to the number of such nodes. */
static uint32_t find_name(const struct analysis *analysis, const char *name, size_t *ret_n) {
    const struct model *model = analysis->model;
    uint32_t found = ID_NONE;
    *ret_n = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct node *node = &model->nodes[id];
        bool is_called = text_equal(node->name, name);
        for (size_t i = 0; i < node->n_outputs && !is_called; i++)
            is_called = node->outputs[i] != ID_NONE &&
                        text_equal(value_name(model, node->outputs[i]), name);
        if (is_called && (*ret_n)++ == 0) found = id;
    }
    return found;
}

static bool is_inside(const struct modules_table *table, uint32_t module, uint32_t outer) {
    while (module != ID_NONE && module != outer) module = table->parents[module];
    return module == outer;
}

static const struct cm_term *copy_terms(const struct analysis *analysis,
                                        const struct count_terms *from) {
    struct cm_term *terms = arena_array(analysis->result_arena, from->n, sizeof(*terms));
    for (size_t i = 0; terms && i < from->n; i++)
        terms[i] = (struct cm_term){
            .factor = from->terms[i].factor,
            .of = arena_strdup(analysis->result_arena, from->terms[i].of),
            .count = public_count(from->terms[i].count),
            .of_integers = from->terms[i].of_integers,
        };
    return terms;
}

static void explain_node(const struct analysis *analysis, uint32_t id,
                         struct cm_explained_node *ret) {
    const struct convention *convention = convention_find(analysis->options->convention);
    struct count_terms terms;
    count_terms(analysis, convention, id, &terms);
    struct cm_named_size *factors =
        arena_array(analysis->result_arena, terms.macs.n, sizeof(*factors));
    for (size_t i = 0; factors && i < terms.macs.n; i++)
        factors[i] = (struct cm_named_size){
            arena_strdup(analysis->result_arena, terms.macs.factors[i].name),
            public_count(terms.macs.factors[i].size)};
    *ret = (struct cm_explained_node){
        .node = id,
        .runs = public_count(terms.runs),
        .n_factors = terms.macs.n,
        .factors = factors,
        .n_terms = terms.n,
        .terms = copy_terms(analysis, &terms),
    };
}

/* Sums over all nodes of the module, not only the listed ones, because another convention may
 * count other nodes. Unknown figures are left out. */
static void sum_module(const struct analysis *analysis, uint32_t module,
                       const struct convention *convention, struct cm_explained_by *ret) {
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        struct count_terms terms;
        if (!is_inside(analysis->modules, analysis->modules->of_node[id], module)) continue;
        count_terms(analysis, convention, id, &terms);
        checked_add_known_to(&ret->flops, count_flops(&terms));
        checked_add_known_to(&ret->int_ops, count_int_ops(&terms));
    }
}

/* Fills the figures by every convention. The terms of a module are not listed. */
static void explain_by(const struct analysis *analysis, struct cm_explanation *ret) {
    struct cm_explained_by *by;
    ret->n_by = conventions_count();
    ret->by = by = arena_array(analysis->result_arena, ret->n_by, sizeof(*by));
    for (size_t i = 0; i < ret->n_by && by; i++) {
        const struct cm_convention *public = conventions_at(i);
        const struct convention *convention = convention_find(public->name);
        struct count_terms terms = {.n = 0};
        if (ret->of_module)
            sum_module(analysis, (uint32_t)ret->module, convention, &by[i]);
        else
            count_terms(analysis, convention, (uint32_t)ret->nodes[0].node, &terms);
        by[i].convention = public->name;
        by[i].unit = public->unit;
        by[i].flops = public_count(ret->of_module ? by[i].flops : count_flops(&terms));
        by[i].int_ops = public_count(ret->of_module ? by[i].int_ops : count_int_ops(&terms));
        by[i].n_terms = terms.n;
        by[i].terms = copy_terms(analysis, &terms);
    }
}

/* Lists one node, or the nodes of a module that have MACs or operations. */
static int explain(const struct analysis *analysis, const char *name, uint32_t module,
                   uint32_t node, struct cm_explanation *ret) {
    const struct modules_table *table = analysis->modules;
    const size_t n = analysis->model->n_nodes;
    struct cm_explained_node *nodes =
        arena_array(analysis->result_arena, node == ID_NONE ? n : 1, sizeof(*nodes));
    *ret = (struct cm_explanation){
        .name = arena_strdup(analysis->result_arena, name),
        .of_module = node == ID_NONE,
        .module = node == ID_NONE ? module : table->of_node[node],
        .nodes = nodes,
    };
    if (!nodes || !ret->name) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n; id++) {
        if (ret->of_module ? !is_inside(table, table->of_node[id], module) : id != node)
            continue;
        const struct cm_costs *costs = &analysis->count->nodes[id].costs;
        if (ret->of_module && costs->macs == 0 && costs->flops == 0 && costs->int_ops == 0) {
            ret->n_free++;
            continue;
        }
        explain_node(analysis, id, &nodes[ret->n_nodes++]);
    }
    explain_by(analysis, ret);
    return arena_failed(analysis->arena) || arena_failed(analysis->result_arena)
               ? diag_no_memory(analysis->diag)
               : CM_OK;
}

#define MAX_PATHS 5 /* listed in a hint */

/* Explains the only module whose path ends with `name`, as reports shorten it: "conv3" is
 * "block.conv3". Fails if there is none or several; the hint then lists their paths, for "0-5"
 * of a table those that end with "0". */
static int find_end(const struct analysis *analysis, const char *name,
                    struct cm_explanation *ret) {
    const struct modules_table *table = analysis->modules;
    const char *dash = strrchr(name, '-');
    const bool is_range = dash && dash[1] && text_is_digits(dash + 1);
    const size_t length = is_range ? (size_t)(dash - name) : strlen(name);
    uint32_t found = ID_NONE;
    size_t n = 0;
    struct text paths;
    text_init(&paths, analysis->arena);
    for (uint32_t id = 1; id < table->n_modules && length > 0; id++) {
        const char *path = table->modules[id].path;
        const size_t size = strlen(path);
        if (size < length || memcmp(path + size - length, name, length) != 0 ||
            (size > length && path[size - length - 1] != '.'))
            continue;
        found = id;
        if (n++ < MAX_PATHS) text_printf(&paths, "%s%s", n > 1 ? ", " : "", path);
    }
    if (n == 1 && !is_range)
        return explain(analysis, table->modules[found].path, found, ID_NONE, ret);
    int status = n > 1 ? diag_error(analysis->diag, DIAG_USAGE,
                                    "--explain: %zu modules are named '%s'", n, name)
                       : diag_error(analysis->diag, DIAG_USAGE,
                                    "--explain: no node or module named '%s'", name);
    if (n > 0)
        diag_hint(analysis->diag, "give a path: %s%s", text_string(&paths),
                  n > MAX_PATHS ? ", ..." : "");
    else
        diag_hint(analysis->diag, "--format json lists the nodes and their modules");
    return status;
}

/* Explains the module of that path, or the node of that name or number (17, #17). */
static int find(const struct analysis *analysis, const char *name, struct cm_explanation *ret) {
    size_t n = 0;
    for (uint32_t id = 1; id < analysis->modules->n_modules; id++)
        if (text_equal(analysis->modules->modules[id].path, name))
            return explain(analysis, name, id, ID_NONE, ret);
    uint32_t node = find_name(analysis, name, &n);
    if (n > 1) {
        int status =
            diag_error(analysis->diag, DIAG_USAGE, "%zu nodes are named '%s'", n, name);
        diag_hint(analysis->diag, "use the number of the node: the first is #%" PRIu32, node);
        return status;
    }
    const char *digits = name + (name[0] == '#');
    int64_t number = 0;
    if (node == ID_NONE && text_to_int64(digits, strlen(digits), &number) && number >= 0 &&
        (uint64_t)number < analysis->model->n_nodes)
        node = (uint32_t)number;
    if (node == ID_NONE) return find_end(analysis, name, ret);
    return explain(analysis, name, ID_NONE, node, ret);
}

int pass_explain(const struct analysis *analysis, void *own) {
    struct explain_table *table = own;
    const size_t n = analysis->options->n_explain;
    int status = CM_OK;
    table->items = arena_array(analysis->result_arena, n, sizeof(*table->items));
    if (!table->items) return diag_no_memory(analysis->diag);
    table->n = n;
    for (size_t i = 0; status == CM_OK && i < n; i++)
        status = find(analysis, analysis->options->explain[i], &table->items[i]);
    return status;
}
