/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as flame graph tools fold them: `model;layer1;conv1;Conv 118013952`, modules from the
 * outside in, then the operator, and what all its nodes there cost. A line a stack, and the
 * lines add up to the total: to the last MAC.
 */
#include "report/graph/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

/* Modules deeper than this count as the one at it: a stack is as long as it is deep, and there
 * is one for each module. */
#define MOST_FRAMES 200

static int refuse_metric(const char *key, struct cm_diagnostics *diag) {
    struct text known;
    struct arena *arena = arena_new("metrics", 0);
    if (arena == NULL) return diag_no_memory(diag);
    text_init(&known, arena);
    for (size_t i = 0; i < n_columns; i++) {
        if (!columns[i].sums) continue;
        if (known.length > 0) text_append(&known, ", ");
        text_append(&known, columns[i].key);
    }
    int status = CM_NO_MEMORY;
    if (!arena_failed(arena))
        status = diag_error(diag, DIAG_USAGE, "stacks want one of %s, got '%s'",
                            text_string(&known), key);
    arena_free(arena);
    return diag_finish(diag, status);
}

int folded_find_metric(const char *key, struct cm_diagnostics *diag,
                       const struct column **ret) {
    if (key == NULL) key = "macs";
    for (size_t i = 0; i < n_columns; i++) {
        if (!columns[i].sums || !text_equal(columns[i].key, key)) continue;
        *ret = &columns[i];
        return CM_OK;
    }
    return refuse_metric(key, diag);
}

/* What a node adds to which stack. */
struct addend {
    size_t module;
    const struct cm_node *node;
    int64_t value;
};

static int compare_stacks(const struct addend *a, const struct addend *b) {
    if (a->module != b->module) return a->module < b->module ? -1 : 1;
    const int order = strcmp(a->node->domain, b->node->domain);
    return order != 0 ? order : strcmp(a->node->op, b->node->op);
}

static int compare_addends(const void *left, const void *right) {
    const struct addend *a = left;
    const struct addend *b = right;
    const int order = compare_stacks(a, b);
    if (order != 0) return order;
    return (a->node->index > b->node->index) - (a->node->index < b->node->index);
}

/* The module itself, or the one around it that is no deeper. */
static size_t module_at_depth(const struct cm_result *result, size_t module, int depth) {
    while (module < result->n_modules && result->modules[module].depth > depth)
        module = result->modules[module].parent;
    return module < result->n_modules ? module : 0;
}

/* The sum of all of them may be past 2^63 where a profile was made up. */
static int64_t collect(const struct cm_result *result, const struct column *column, int depth,
                       struct addend *addends, size_t *ret_n) {
    int64_t sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < result->n_nodes; i++) {
        const struct cm_node *node = &result->nodes[i];
        const int64_t value = column_get(column, &node->costs);
        if (!is_known(value) || value <= 0) continue;
        addends[n++] =
            (struct addend){module_at_depth(result, node->module, depth), node, value};
        sum = checked_add(sum, value);
    }
    qsort(addends, n, sizeof(*addends), compare_addends);
    *ret_n = n;
    return sum;
}

/* A ; would part a frame, and some tools take the count to be behind the first blank. */
static void put_frame(const char *name, struct text *safe, FILE *out) {
    text_clear(safe);
    text_append_name(safe, name);
    for (const char *at = text_string(safe); *at != '\0'; at++)
        fputc(*at == ';' ? ',' : *at == ' ' ? '_' : *at, out);
}

static void put_stack(const struct cm_result *result, const struct addend *addend,
                      int64_t value, struct text *safe, FILE *out) {
    size_t frames[MOST_FRAMES + 1];
    size_t n = 0;
    for (size_t i = addend->module; i < result->n_modules && n <= MOST_FRAMES;
         i = result->modules[i].parent)
        frames[n++] = i;
    while (n-- > 0) {
        const char *name = result->modules[frames[n]].name;
        put_frame(*name == '\0' ? "model" : name, safe, out);
        fputc(';', out);
    }
    if (*addend->node->domain != '\0') {
        put_frame(addend->node->domain, safe, out);
        fputs("::", out);
    }
    put_frame(addend->node->op, safe, out);
    fprintf(out, " %" PRId64 "\n", value);
}

static int put_stacks(const struct cm_result *result, const struct column *column, int depth,
                      struct arena *arena, struct cm_diagnostics *diag, FILE *out) {
    struct text safe;
    size_t n = 0;
    struct addend *addends = arena_array(arena, result->n_nodes, sizeof(*addends));
    if (addends == NULL) return CM_NO_MEMORY;
    text_init(&safe, arena);
    if (!is_known(collect(result, column, depth, addends, &n)))
        return diag_error(diag, DIAG_OVERFLOW, "%s of all nodes are past 2^63", column->key);
    for (size_t i = 0; i < n;) {
        int64_t value = 0;
        const size_t first = i;
        while (i < n && compare_stacks(&addends[first], &addends[i]) == 0)
            value = checked_add(value, addends[i++].value);
        put_stack(result, &addends[first], value, &safe, out);
    }
    return output_flush(out);
}

int cm_result_write_folded(const struct cm_result *result,
                           const struct cm_table_options *options,
                           struct cm_diagnostics *diagnostics, FILE *out) {
    const struct column *column = NULL;
    const int depth =
        options->depth < 0 || options->depth > MOST_FRAMES ? MOST_FRAMES : options->depth;
    int status = folded_find_metric(options->metric, diagnostics, &column);
    if (status != CM_OK) return status;
    if (!column_is_there(column, result))
        return diag_error(diagnostics, DIAG_USAGE,
                          "stacks of %s want a profile with times: --measure, --device or "
                          "--backend",
                          column->key);
    struct arena *arena = arena_new("stacks", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    status = put_stacks(result, column, depth, arena, diagnostics, out);
    return arena_end(arena, status);
}
