/* SPDX-License-Identifier: Apache-2.0 */
/* Pass bind: gives each node its operator row and checks the node against the row's signature,
 * so that operator functions never see an attribute of the wrong kind or a missing operand. A
 * node of an unknown operator gets op_unknown: reports list it, and its cost is unknown, not
 * 0. */
#include "passes/walk/bind.h"

#include <string.h>

#include "ops/custom/custom_op.h"
#include "ops/product.h"
#include "ops/registry/registry.h"
#include "passes/pass.h"
#include "passes/walk/context.h"
#include "support/arena.h"
#include "support/map.h"
#include "support/text.h"

static int infer_unknown(struct op_context *context) {
    (void)context; /* the outputs stay unknown */
    return CM_OK;
}

static void macs_unknown(const struct op_context *context, struct product *ret) {
    (void)context;
    product_add(ret, "of an unknown operator", DIM_UNKNOWN);
}

static const struct op op_unknown = {
    .domain = "",
    .type = "",
    .max_inputs = VARIADIC,
    .max_outputs = VARIADIC,
    .infer = infer_unknown,
    .cost = {.macs = macs_unknown},
    .param_roles = "x",
};

bool bind_is_unknown(const struct op *op) {
    return op == &op_unknown;
}

bool bind_hides_gradient(const struct op *op) {
    return bind_is_unknown(op) || (custom_op_is(op) && !op->backward.saved_for_backward);
}

static size_t n_given(const uint32_t *ids, size_t n) {
    while (n > 0 && ids[n - 1] == ID_NONE) n--;
    return n;
}

static int check_count(struct cm_diagnostics *diag, const char *what, size_t have, int32_t min,
                       int32_t max) {
    if (have < (size_t)min)
        return diag_error(diag, DIAG_ARITY, "number of %s must be >= %d, got %zu", what, min,
                          have);
    if (have > (size_t)max)
        return diag_error(diag, DIAG_ARITY, "number of %s must be <= %d, got %zu", what, max,
                          have);
    return CM_OK;
}

/* Checks the node against the signature of its row. */
static int check_node(const struct node *node, const struct op *op,
                      struct cm_diagnostics *diag) {
    int status = check_count(diag, "inputs", n_given(node->inputs, node->n_inputs),
                             op->min_inputs, op->max_inputs);
    if (status < 0) return status;
    /* an empty name omits an output; only an empty list has too few */
    status = check_count(diag, "outputs", n_given(node->outputs, node->n_outputs),
                         node->n_outputs == 0 ? op->min_outputs : 0, op->max_outputs);
    if (status < 0) return status;
    for (const struct op_attr *want = op->attrs; want && want->name; want++) {
        const struct attr *have = node_attr(node, want->name);
        if (!have && want->required)
            return diag_error(diag, DIAG_ATTRIBUTE, "attribute '%s' is missing", want->name);
        if (have && have->kind != want->kind)
            return diag_error(diag, DIAG_ATTRIBUTE, "attribute '%s' must be of kind %s, got %s",
                              want->name, attr_kind_name(want->kind),
                              attr_kind_name(have->kind));
    }
    return CM_OK;
}

/* Entry of the cache of row look-ups. Entries of one type differ in domain or opset. */
struct cached_row {
    const struct node *node; /* the first node that was looked up */
    const struct op *op;
    uint32_t next; /* index of the next entry of the same type, or MAP_NONE */
};

struct row_cache {
    struct map index; /* type -> index of the first entry of its list */
    struct cached_row *rows;
    uint32_t n_rows;
};

static bool is_row_of(const struct cached_row *row, const struct node *node) {
    return row->node->opset == node->opset &&
           (row->node->domain == node->domain || text_equal(row->node->domain, node->domain));
}

/* Sets *ret to the index in `rows` of the node's operator row; adds the row if it is new.
 * Operators of --op-costs take precedence over built-in ones. */
static int find_row(struct row_cache *cache, const struct cm_options *options,
                    const struct node *node, uint32_t *ret) {
    const uint32_t first = map_get(&cache->index, node->type);
    for (*ret = first; *ret != MAP_NONE; *ret = cache->rows[*ret].next)
        if (is_row_of(&cache->rows[*ret], node)) return CM_OK;
    const struct op *op = custom_op_find(options->op_costs, options->n_op_costs, node->domain,
                                         node->type, node->opset);
    if (!op) op = registry_find(node->domain, node->type, node->opset);
    *ret = cache->n_rows++;
    cache->rows[*ret] = (struct cached_row){node, op ? op : &op_unknown, first};
    return map_set(&cache->index, node->type, *ret);
}

static int bind_node(const struct analysis *analysis, struct bind_table *table,
                     struct row_cache *cache, uint32_t id) {
    uint32_t row = 0;
    if (find_row(cache, analysis->options, &analysis->model->nodes[id], &row) < 0)
        return diag_no_memory(analysis->diag);
    const struct op *op = cache->rows[row].op;
    table->ops[id] = op;
    table->kind_of[id] = row;
    table->n_unknown += bind_is_unknown(op);
    struct node_frame place = {.model = analysis->model, .op = op, .pass = "bind", .node = id};
    node_frame_push(&place, analysis->diag);
    const int status = check_node(&analysis->model->nodes[id], op, analysis->diag);
    node_frame_pop(&place, analysis->diag);
    return status;
}

/* --- Trip counts that --trip-count sets. --- */

/* Sets options[id] to the --trip-count that names the node by its name, an output, or its
 * number (17, #17); MAP_NONE if none does. */
static int index_trips(const struct analysis *analysis, uint32_t *options) {
    const struct cm_dim_option *given = analysis->options->trip_counts;
    const struct model *model = analysis->model;
    struct map by_name;
    map_init(&by_name, analysis->arena);
    for (size_t id = 0; id < model->n_nodes; id++) options[id] = MAP_NONE;
    for (uint32_t i = 0; i < analysis->options->n_trip_counts; i++) {
        const char *digits = given[i].name + (given[i].name[0] == '#');
        int64_t number = -1;
        if (map_set(&by_name, given[i].name, i) < 0) return diag_no_memory(analysis->diag);
        if (*digits && text_to_int64(digits, strlen(digits), &number) && number >= 0 &&
            (uint64_t)number < model->n_nodes)
            options[number] = i;
    }
    for (uint32_t id = 0; id < model->n_nodes; id++)
        for (size_t k = 0; k <= model->nodes[id].n_outputs; k++) {
            const struct node *node = &model->nodes[id];
            const char *name = k == 0 ? node->name : value_name(model, node->outputs[k - 1]);
            const uint32_t option = *name ? map_get(&by_name, name) : MAP_NONE;
            if (option != MAP_NONE) options[id] = option;
        }
    return CM_OK;
}

/* Sets table->trips and ->trip_options. Refuses names that no node and no output has. */
static int find_trips(const struct analysis *analysis, struct bind_table *table) {
    const struct cm_options *options = analysis->options;
    const size_t n_nodes = analysis->model->n_nodes;
    if (options->n_trip_counts == 0) return CM_OK;
    int64_t *trips = arena_array(analysis->arena, n_nodes, sizeof *trips);
    uint32_t *of_node = arena_array(analysis->arena, n_nodes, sizeof *of_node);
    bool *found = arena_array(analysis->arena, options->n_trip_counts, sizeof *found);
    if (!trips || !of_node || !found) return diag_no_memory(analysis->diag);
    int status = index_trips(analysis, of_node);
    for (size_t id = 0; id < n_nodes && status == CM_OK; id++) {
        const bool is_named = of_node[id] != MAP_NONE;
        trips[id] = is_named ? options->trip_counts[of_node[id]].size : DIM_UNKNOWN;
        if (is_named) found[of_node[id]] = true;
    }
    for (size_t i = 0; i < options->n_trip_counts && status == CM_OK; i++)
        if (!found[i])
            status = diag_error(analysis->diag, DIAG_USAGE,
                                "--trip-count names '%s', but no node has this name",
                                options->trip_counts[i].name);
    table->trips = trips;
    table->trip_options = of_node;
    return status;
}

int bind_check_trips(const struct analysis *analysis, const enum trip_outcome *uses) {
    const struct cm_options *options = analysis->options;
    const uint32_t *of_node = analysis->bind->trip_options;
    struct cm_diagnostics *diag = analysis->diag;
    /* The best outcome of each option: a Loop may be inlined several times. */
    enum trip_outcome *best =
        arena_array(analysis->arena, options->n_trip_counts, sizeof *best);
    if (!best) return diag_no_memory(diag);
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
        if (of_node[id] != MAP_NONE && uses[id] > best[of_node[id]])
            best[of_node[id]] = uses[id];
    for (size_t i = 0; i < options->n_trip_counts; i++) {
        const char *name = options->trip_counts[i].name;
        const long long size = options->trip_counts[i].size;
        switch (best[i]) {
        case TRIPS_APPLIED:
            diag_note(diag, DIAG_ASSUMPTION, "assuming that the body of '%s' runs %lld times",
                      name, size);
            break;
        case TRIPS_KNOWN:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count names '%s', whose trip count is static", name);
        case TRIPS_TOO_MANY:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count for '%s' exceeds the maximum in the file, got %lld",
                              name, size);
        default:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count must name a Loop that runs, got '%s'", name);
        }
    }
    return CM_OK;
}

int pass_bind(const struct analysis *analysis, void *own) {
    struct bind_table *table = own;
    struct row_cache cache = {0};
    const size_t n = analysis->model->n_nodes;
    int worst = CM_OK;
    map_init(&cache.index, analysis->scratch);
    cache.rows = arena_array_raw(analysis->scratch, n, sizeof(*cache.rows));
    table->ops = arena_array_raw(analysis->arena, n, sizeof(*table->ops));
    table->kind_of = arena_array_raw(analysis->arena, n, sizeof(*table->kind_of));
    if (!cache.rows || !table->ops || !table->kind_of) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n; id++) {
        int status = bind_node(analysis, table, &cache, id);
        if (status == CM_NO_MEMORY) return status;
        if (status < 0) worst = status; /* continue, to report all errors */
    }
    if (worst < 0) return worst;
    table->n_kinds = cache.n_rows;
    table->kinds = arena_array_raw(analysis->arena, table->n_kinds, sizeof(*table->kinds));
    if (!table->kinds) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < table->n_kinds; i++) table->kinds[i] = cache.rows[i].op;
    return find_trips(analysis, table);
}
