/* SPDX-License-Identifier: Apache-2.0 */
/* --annotate: maps the figures of a profile to the nodes of the file. A node in the body of a
 * model-local function gets the sum over all calls, and a node that calls a function the sum
 * over its body; every other node has its own figures. Node data for Model Explorer has only
 * nodes of the main graph, in which If, Loop and Scan have the sum over their bodies. */
#include "frontend/annotate.h"

#include <inttypes.h>

#include "api/handle.h"
#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "passes/norms/restore_norms.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_writer.h"
#include "support/map.h"
#include "support/text.h"

#define PREFIX "costmodel."

/* The figures of one node of the file. */
struct share {
    struct cm_costs costs;
    size_t module;    /* innermost module that contains all of them */
    uint32_t n;       /* nodes of the profile that are added up in `costs` */
    uint32_t n_calls; /* nodes of the profile made from this one; 0: it calls a function */
    const char *id;   /* in node data; NULL: none */
};

struct annotating {
    const struct model *model;
    const struct cm_result *result;
    struct arena *arena;
    struct share *shares; /* by ordinal of the node in the file */
    uint32_t n;
};

/* Returns the innermost module that contains both modules. */
static size_t common_module(const struct cm_module *modules, size_t a, size_t b) {
    while (a != b) {
        if (modules[a].depth >= modules[b].depth)
            a = modules[a].parent;
        else
            b = modules[b].parent;
    }
    return a;
}

/* Adds the figures of a profiled node to those of a node of the file. Unknown is sticky, except
 * that sums omit unknown times. */
static void add_costs(struct annotating *annotating, uint32_t ordinal,
                      const struct cm_node *node) {
    struct share *share = &annotating->shares[ordinal];
    if (share->n++ == 0) {
        share->costs = node->costs;
        share->module = node->module;
        return;
    }
    for (size_t i = 0; i < n_columns; i++) {
        const int64_t sum = column_get(&columns[i], &share->costs);
        const int64_t more = column_get(&columns[i], &node->costs);
        const bool omits = columns[i].timed && !(is_known(sum) && is_known(more));
        column_set(&columns[i], &share->costs,
                   !omits          ? checked_add(sum, more)
                   : is_known(sum) ? sum
                                   : more);
    }
    share->module = common_module(annotating->result->modules, share->module, node->module);
}

/* Adds the entry `key`: the number, or "unknown" if the sum is unknown or overflows. */
static void add_count(struct annotating *annotating, const char *key, int64_t count,
                      struct annotation *annotation) {
    struct arena_mark mark = arena_save(annotating->arena);
    struct text text = {.arena = annotating->arena};
    if (is_known(count))
        text_printf(&text, "%" PRId64, count);
    else
        text_append(&text, "unknown");
    const char *full = arena_printf(annotating->arena, PREFIX "%s", key);
    if (full == NULL || text.failed)
        annotation->bytes->failed = true;
    else
        annotation_add(annotation, full, text_string(&text));
    arena_restore(annotating->arena, mark);
}

static void add_figures(struct annotating *annotating, const struct cm_costs *costs,
                        struct annotation *annotation) {
    for (size_t i = 0; i < n_columns; i++)
        if (column_is_there(&columns[i], annotating->result))
            add_count(annotating, columns[i].key, column_get(&columns[i], costs), annotation);
}

static void annotate_model(struct annotating *annotating, struct annotation *annotation) {
    const struct cm_result *result = annotating->result;
    annotation_add(annotation, PREFIX "version", cm_version());
    annotation_add(annotation, PREFIX "convention", result->options.convention);
    annotation_add(annotation, PREFIX "mode", result->options.mode);
    if (is_known(result->options.batch))
        add_count(annotating, "batch", result->options.batch, annotation);
    for (size_t i = 0; i < result->options.n_dims; i++) {
        const struct cm_named_size *dim = &result->options.dims[i];
        struct arena_mark mark = arena_save(annotating->arena);
        const char *key = arena_printf(annotating->arena, "dim.%s", dim->name);
        if (key == NULL)
            annotation->bytes->failed = true;
        else
            add_count(annotating, key, dim->size, annotation);
        arena_restore(annotating->arena, mark);
    }
    add_figures(annotating, &result->totals, annotation);
    add_count(annotating, "peak_activation_bytes", result->memory.peak_activation_bytes,
              annotation);
}

/* A node in a function that is never called gets no entries. */
static void annotate_one(void *context, uint32_t ordinal, struct annotation *annotation) {
    struct annotating *annotating = context;
    if (ordinal == ANNOTATE_MODEL) {
        annotate_model(annotating, annotation);
        return;
    }
    const struct share *share = ordinal < annotating->n ? &annotating->shares[ordinal] : NULL;
    if (share == NULL || share->n == 0) return;
    annotation_add(annotation, PREFIX "module",
                   annotating->result->modules[share->module].path);
    add_figures(annotating, &share->costs, annotation);
    if (share->n_calls > 1) add_count(annotating, "calls", share->n_calls, annotation);
}

/* Checks the profile, and sets `model` to the graph that it is of. */
static int check(const struct cm_model *model, struct annotating *annotating,
                 struct cm_diagnostics *diagnostics) {
    const struct cm_result *result = annotating->result;
    const struct cm_options options = {.optimizer = result->training.optimizer,
                                       .as_exported = result->training.restored_norms <= 0};
    if (!source_can_seek(model->source)) {
        int status = diag_error(
            diagnostics, DIAG_USAGE,
            "annotating a model from a pipe is not supported: it must be read twice");
        diag_hint(diagnostics, "give the path of the file");
        return status;
    }
    if (restore_norms(model->model, &options, annotating->arena, &annotating->model) < 0)
        return diag_no_memory(diagnostics);
    if (text_equal(result->model.path, model->model->path) &&
        result->n_nodes == annotating->model->n_nodes)
        return CM_OK;
    return diag_error(diagnostics, DIAG_USAGE,
                      "the profile must be of the same model, got '%s'", result->model.path);
}

/* Adds up the costs of all profiled nodes by node of the file. A restored norm, which follows
 * its layer, is a part of it. */
static void share_costs(struct annotating *annotating) {
    const struct model *ir = annotating->model;
    for (uint32_t id = 0; id < ir->n_nodes; id++) {
        const struct node *node = &ir->nodes[id];
        struct share *share = &annotating->shares[node->ordinal];
        const size_t module = share->module;
        const bool restored =
            id > 0 && node->ordinal == node[-1].ordinal && node->call == node[-1].call;
        add_costs(annotating, node->ordinal, &annotating->result->nodes[id]);
        if (restored) share->module = module;
        share->n_calls += !restored;
        /* Each call around the node gets its figures too. */
        for (uint32_t call = node->call; call != ID_NONE; call = ir->calls[call].outer)
            add_costs(annotating, ir->calls[call].ordinal, &annotating->result->nodes[id]);
    }
}

/* Allocates the shares: the largest ordinal of a node or call decides how many. */
static int allocate_shares(struct annotating *annotating, struct cm_diagnostics *diagnostics) {
    const struct model *ir = annotating->model;
    for (size_t i = 0; i < ir->n_nodes; i++)
        if (ir->nodes[i].ordinal >= annotating->n) annotating->n = ir->nodes[i].ordinal + 1;
    for (size_t i = 0; i < ir->n_calls; i++)
        if (ir->calls[i].ordinal >= annotating->n) annotating->n = ir->calls[i].ordinal + 1;
    annotating->shares =
        arena_array(annotating->arena, annotating->n, sizeof(*annotating->shares));
    return annotating->shares == NULL ? diag_no_memory(diagnostics) : CM_OK;
}

static int annotate(struct annotating *annotating, struct source *source,
                    struct cm_diagnostics *diagnostics, FILE *out) {
    const struct annotator annotator = {.prefix = PREFIX,
                                        .n_nodes = annotating->n,
                                        .annotate = annotate_one,
                                        .context = annotating};
    share_costs(annotating);
    return annotate_write(source, &annotator, diagnostics, out);
}

/* Adds up the costs of all profiled nodes by node of the main graph, and sets its id: the name,
 * or the first output if it has no name of its own. Returns CM_OK or CM_NO_MEMORY. */
static int share_main_graph(struct annotating *annotating) {
    const struct model *ir = annotating->model;
    struct map ids;
    int status = CM_OK;
    map_init(&ids, annotating->arena);
    for (uint32_t id = 0; status == CM_OK && id < ir->n_nodes; id++) {
        const struct node *node = &ir->nodes[id];
        while (ir->graphs[node->graph].owner != ID_NONE)
            node = &ir->nodes[ir->graphs[node->graph].owner];
        const struct call *call = NULL; /* the outermost one */
        for (uint32_t at = node->call; at != ID_NONE; at = call->outer) call = &ir->calls[at];
        const uint32_t ordinal = call ? call->ordinal : node->ordinal;
        const size_t n_outputs = call ? call->n_outputs : node->n_outputs;
        const uint32_t output =
            n_outputs > 0 ? *(call ? call->outputs : node->outputs) : ID_NONE;
        const char *const names[] = {call ? call->name : node->name,
                                     output == ID_NONE ? "" : ir->values[output].name};
        struct share *share = &annotating->shares[ordinal];
        for (size_t i = 0; share->n == 0 && share->id == NULL && i < 2; i++) {
            uint32_t existing = MAP_NONE;
            if (names[i][0] == '\0') continue;
            status = map_add(&ids, names[i], ordinal, &existing);
            if (status == CM_OK && existing == MAP_NONE) share->id = names[i];
        }
        add_costs(annotating, ordinal, &annotating->result->nodes[id]);
    }
    return status;
}

/* Writes a figure as GraphNodeData of Model Explorer's node_data_builder.py. */
static void write_node_data(const struct annotating *annotating, const struct column *column,
                            FILE *out) {
    struct json_writer json = {.out = out, .spaced = true};
    json_begin(&json, '{');
    json_key_string(&json, "name", column->key);
    json_open(&json, "gradient", '[');
    for (int i = 0; i < 2; i++) { /* white to blue: from the smallest to the largest value */
        json_begin(&json, '{');
        json_key_integer(&json, "stop", i);
        json_key_string(&json, "bgColor", i ? "#2171b5" : "#ffffff");
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_open(&json, "results", '{');
    for (uint32_t i = 0; i < annotating->n; i++) {
        const struct share *share = &annotating->shares[i];
        const int64_t value = column_get(column, &share->costs);
        if (share->id == NULL || !is_known(value)) continue;
        json_break_line(&json, 2, false);
        json_open(&json, share->id, '{');
        json_key_integer(&json, "value", value);
        json_end(&json, '}');
    }
    json_end(&json, '}');
    json_end(&json, '}');
    fputc('\n', out);
}

/* Writes the copy of the model, or the node data of `column` if it is not NULL. */
static int write(const struct cm_model *model, const struct cm_result *result,
                 const struct column *column, struct cm_diagnostics *diagnostics, FILE *out) {
    struct annotating annotating = {.result = result, .arena = arena_new("annotate", 0)};
    if (annotating.arena == NULL) return diag_no_memory(diagnostics);
    int status = check(model, &annotating, diagnostics);
    if (status == CM_OK) status = allocate_shares(&annotating, diagnostics);
    if (status == CM_OK && column == NULL)
        status = annotate(&annotating, model->source, diagnostics, out);
    else if (status == CM_OK && share_main_graph(&annotating) != CM_OK)
        status = diag_no_memory(diagnostics);
    else if (status == CM_OK)
        write_node_data(&annotating, column, out);
    status = arena_end(annotating.arena, status);
    return diag_finish(diagnostics, status);
}

int cm_model_annotate(struct cm_model *model, const struct cm_result *result,
                      struct cm_diagnostics *diagnostics, FILE *out) {
    if (model == NULL || result == NULL || out == NULL) return diag_null(diagnostics);
    return write(model, result, NULL, diagnostics, out);
}

int cm_model_node_data(struct cm_model *model, const struct cm_result *result,
                       const char *figure, struct cm_diagnostics *diagnostics, FILE *out) {
    if (model == NULL || result == NULL || figure == NULL || out == NULL)
        return diag_null(diagnostics);
    for (size_t i = 0; i < n_columns; i++)
        if (text_equal(columns[i].key, figure) && column_is_there(&columns[i], result))
            return write(model, result, &columns[i], diagnostics, out);
    const int status = diag_error(diagnostics, DIAG_USAGE,
                                  "nodes of this profile have no figure '%s'", figure);
    return diag_finish(diagnostics, status);
}
