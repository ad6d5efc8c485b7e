/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the costs of modules. Work and traffic are sums over the nodes inside. Parameters
 * are a union: each tensor counts once if its name is in the module or a node of it uses it. */
#include "passes/cost/count.h"
#include "passes/costs.h"
#include "passes/modules/module_tree.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* A parent precedes its children: the later of two modules cannot contain the other. */
uint32_t module_common(const struct modules_table *table, const uint32_t *nodes, size_t n) {
    uint32_t common = n > 0 ? table->of_node[nodes[0]] : 0;
    for (size_t i = 1; i < n; i++) {
        uint32_t other = table->of_node[nodes[i]];
        while (common != other) {
            uint32_t *later = common > other ? &common : &other;
            *later = table->parents[*later];
        }
    }
    return common;
}

static void add_known(int64_t *sum, int64_t value) {
    checked_add_known_to(sum, value);
}

/* Adds the parameter to a module and its parents, up to the first that has it already. */
static void own_param(const struct module_tree *tree, uint32_t *stamps, uint32_t module,
                      uint32_t param) {
    const struct modules_table *table = tree->table;
    while (module != ID_NONE && stamps[module] != param + 1) {
        stamps[module] = param + 1;
        const struct param *added = &tree->analysis->params->params[param];
        struct cm_costs *costs = &table->modules[module].costs;
        add_known(added->kind == PARAM_LEARNED ? &costs->params : &costs->buffers,
                  added->elements);
        add_known(&costs->weight_bytes, added->bytes);
        module = table->parents[module];
    }
}

/* Returns how many parameters the node uses; 0 if it only renames a parameter. */
static size_t n_used(const struct module_tree *tree, uint32_t node) {
    size_t n = tree->analysis->params->n_used[node];
    return n > 0 && scopes_makes_param(tree->analysis, node) ? 0 : n;
}

static int unite_params(const struct module_tree *tree) {
    const struct params_table *params = tree->analysis->params;
    const size_t n_nodes = tree->analysis->model->n_nodes;
    struct arena *arena = tree->analysis->arena;
    const struct arena_mark mark = arena_save(arena);
    uint32_t *stamps = arena_array(arena, tree->table->n_modules, sizeof *stamps);
    /* the modules that use parameter i: users[from[i] .. from[i + 1]) */
    size_t *from = arena_array(arena, params->n_params + 1, sizeof *from);
    if (!stamps || !from) return diag_no_memory(tree->analysis->diag);
    for (uint32_t node = 0; node < n_nodes; node++)
        for (size_t i = 0; i < n_used(tree, node); i++) from[params->used[node][i]]++;
    for (size_t i = 0; i < params->n_params; i++) from[i + 1] += from[i]; /* where each ends */
    uint32_t *users = arena_array(arena, from[params->n_params], sizeof *users);
    if (!users) return diag_no_memory(tree->analysis->diag);
    for (uint32_t node = 0; node < n_nodes; node++)
        for (size_t i = 0; i < n_used(tree, node); i++)
            users[--from[params->used[node][i]]] = tree->table->of_node[node];
    for (uint32_t param = 0; param < params->n_params; param++) {
        own_param(tree, stamps, tree->of_param[param], param);
        for (size_t i = from[param]; i < from[param + 1]; i++)
            own_param(tree, stamps, users[i], param);
    }
    arena_restore(arena, mark);
    return CM_OK;
}

/* Returns the name of the first total that overflows, or NULL. */
static const char *overflowing(const struct cm_costs *costs) {
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"parameters", costs->params},
        {"buffers", costs->buffers},
        {"MACs", costs->macs},
        {"FLOPs", costs->flops},
        {"integer operations", costs->int_ops},
        {"bytes read", costs->bytes_read},
        {"bytes written", costs->bytes_written},
        {"weight bytes", costs->weight_bytes},
        {"activation bytes", costs->activation_bytes},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (is_overflow(fields[i].value)) return fields[i].name;
    return NULL;
}

int module_totals(const struct module_tree *tree) {
    const struct analysis *analysis = tree->analysis;
    struct modules_table *table = tree->table;
    for (size_t i = 0; i < tree->scopes->n_nodes; i++) {
        uint32_t node = tree->scopes->nodes[i];
        costs_add(&table->modules[table->of_node[node]].costs,
                  &analysis->count->nodes[node].costs, ~COSTS_OF_PARAMS);
    }
    for (size_t i = table->n_modules; i-- > 1;)
        costs_add(&table->modules[table->parents[i]].costs, &table->modules[i].costs,
                  ~COSTS_OF_PARAMS);
    const int status = unite_params(tree);
    if (status < 0) return status;
    const char *what = overflowing(&table->modules[0].costs);
    if (!what) return CM_OK;
    return diag_error(analysis->diag, DIAG_OVERFLOW, "the model's %s exceed 2^63", what);
}
