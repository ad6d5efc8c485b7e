/* SPDX-License-Identifier: Apache-2.0 */
/* Pass fuse_patterns: finds the nodes into which an exporter decomposed one operation, by the
 * patterns of ops/onnx/patterns.c. Nodes are visited from last to first, so that the longest
 * form matches: a LayerNorm with scale and shift is found before the bare one inside it. The
 * nodes stay in the graph; later passes count, name and describe the operation by its row. */
#include "passes/fusion/fuse_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "ops/product.h"
#include "passes/fusion/match.h"
#include "passes/infer/infer.h"
#include "passes/pass.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/sort.h"
#include "support/text.h"

struct finder {
    const struct analysis *analysis;
    struct fused_patterns_table *table;
    struct candidates candidates;
    struct match match;
    size_t capacity;
    struct op_source source; /* of the match */
};

/* Returns the next word of a row's blank-separated list. NULL: out of memory. */
static const char *next_word(const char **at, struct arena *arena) {
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    const char *word = arena_strndup(arena, *at, length);
    *at += length;
    return word;
}

static size_t n_words(const char *text) {
    size_t n = 0;
    for (text += strspn(text, " "); *text != '\0'; n++) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return n;
}

/* Sets the attribute from the source in "name=source" (ops/onnx/patterns.h). Returns false if
 * the match does not determine it. */
static bool set_attr(const struct finder *finder, const char *source, struct attr *attr) {
    const char *dot = strchr(source, '.');
    attr->n = 1;
    if (*source == '\'') {
        attr->kind = ATTR_STRING;
        attr->s = arena_strndup(finder->analysis->arena, source + 1, strlen(source) - 2);
        return attr->s != NULL;
    }
    if (text_equal(source, "axis")) {
        attr->kind = ATTR_INT;
        attr->i = finder->match.axes[0];
        return true;
    }
    char name[16] = {0};
    const size_t length = strcspn(source, ".");
    BUG_ON(length >= sizeof name);
    memcpy(name, source, length);
    const struct match_name *found = match_name(&finder->match, name);
    if (dot) { /* dim 1 of g for "g.1" */
        if (!found || found->value == ID_NONE) return false;
        const struct shape *shape = &finder->analysis->infer->infos[found->value].shape;
        const int axis = dot[1] - '0';
        attr->kind = ATTR_INT;
        attr->i = axis < shape->rank ? shape->dims[axis] : DIM_UNKNOWN;
        return is_known(attr->i);
    }
    attr->kind = ATTR_FLOAT;
    attr->f = found ? found->number : 0;
    return found != NULL;
}

/* Sets the node's attributes as the row's `attributes` describes. */
static int bind_attrs(const struct finder *finder, struct node *node) {
    const struct match *match = &finder->match;
    struct arena *arena = finder->analysis->arena;
    const char *at = match->pattern->row->attributes;
    if (text_equal(at, "*")) {
        for (size_t i = 0; i < match->n_nodes; i++) {
            const struct node *from = &finder->analysis->model->nodes[match->nodes[i]];
            if (!text_equal(from->type, match->pattern->row->op)) continue;
            node->n_attrs = from->n_attrs;
            node->attrs = from->attrs;
        }
        return CM_OK;
    }
    const size_t n = at ? n_words(at) : 0;
    struct attr *attrs = arena_array(arena, n, sizeof *attrs);
    if (!attrs) return CM_NO_MEMORY;
    node->attrs = attrs;
    for (size_t i = 0; i < n; i++) {
        const char *word = next_word(&at, arena);
        if (!word) return CM_NO_MEMORY;
        const size_t length = strcspn(word, "=");
        struct attr *attr = &attrs[node->n_attrs];
        attr->name = arena_strndup(arena, word, length);
        if (!attr->name) return CM_NO_MEMORY;
        if (set_attr(finder, word + length + 1, attr)) node->n_attrs++;
    }
    return CM_OK;
}

/* Returns the operation as one node with the outputs of `last`. NULL: out of memory. */
static const struct node *make_node(struct finder *finder, uint32_t last) {
    struct node *node = arena_alloc(finder->analysis->arena, sizeof *node);
    if (!node) return NULL;
    *node = finder->analysis->model->nodes[last];
    node->domain = finder->match.pattern->op->domain;
    node->type = finder->match.pattern->op->type;
    node->opset = finder->match.pattern->op->since;
    node->n_inputs = node->n_attrs = 0;
    const char *at = finder->match.pattern->row->operands;
    const size_t n = n_words(at);
    uint32_t *inputs = arena_array(finder->analysis->arena, n, sizeof *inputs);
    for (size_t i = 0; i < n && inputs; i++) {
        const char *name = next_word(&at, finder->analysis->arena);
        const struct match_name *found = match_name(&finder->match, name);
        inputs[i] = found ? found->value : ID_NONE;
        if (found) node->n_inputs = (uint32_t)i + 1;
    }
    node->inputs = inputs;
    return bind_attrs(finder, node) < 0 || arena_failed(finder->analysis->arena) ? NULL : node;
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns true if the row counts as many MACs as the nodes together. The counts differ if
 * broadcasting with a mask or other operand repeats the product, or if an operand is a
 * vector. */
static bool has_same_macs(const struct finder *finder, const struct fused_pattern *fused) {
    struct arena *arena = finder->analysis->arena;
    struct op_context whole;
    if (fused->foldable || !fused->op->cost.macs) return true;
    struct arena_mark mark = arena_save(arena);
    int64_t macs = 0;
    bool is_made = context_make_fused(finder->match.source, fused, &whole) == CM_OK;
    for (size_t i = 0; i < fused->n_nodes && is_made; i++) {
        struct op_context part;
        is_made = context_make_inferred(finder->match.source, fused->nodes[i], &part) == CM_OK;
        if (is_made) checked_add_to(&macs, product_macs(&part));
    }
    const bool same = is_made && product_macs(&whole) == macs;
    arena_restore(arena, mark);
    return same;
}

/* Adds the match to the table, unless the row would change the number of MACs. */
static int add_fused(struct finder *finder, uint32_t last) {
    struct arena *arena = finder->analysis->arena;
    struct fused_patterns_table *table = finder->table;
    const struct match *match = &finder->match;
    uint32_t *nodes = arena_copy(arena, match->nodes, match->n_nodes * sizeof *nodes);
    const struct fused_pattern fused = {
        .name = match->pattern->row->name,
        .op = match->pattern->op,
        .node = make_node(finder, last),
        .last = last,
        .n_nodes = match->n_nodes,
        .nodes = nodes,
        .foldable = match->pattern->row->foldable,
    };
    if (!fused.node || !nodes) return CM_NO_MEMORY;
    sort_stable(nodes, fused.n_nodes, sizeof *nodes, compare_ids);
    if (!has_same_macs(finder, &fused)) return CM_OK;
    for (size_t i = 0; i < fused.n_nodes; i++) table->of_node[nodes[i]] = (uint32_t)table->n;
    return arena_push(arena, &table->items, &table->n, &finder->capacity, &fused, sizeof fused)
               ? CM_OK
               : CM_NO_MEMORY;
}

/* Returns false if the pattern requires that none of its nodes is in training mode: a
 * BatchNormalization that trains has no statistics to fold. */
static bool fits_mode(const struct match *match) {
    for (size_t i = 0; i < match->n_nodes && match->pattern->row->untrained; i++) {
        struct op_context context;
        if (context_make(match->source, match->nodes[i], &context) < 0 || context.training)
            return false;
    }
    return true;
}

int pass_fuse_patterns(const struct analysis *analysis, void *own) {
    const size_t n = analysis->model->n_nodes;
    struct finder finder = {
        .analysis = analysis, .table = own, .source = infer_source(analysis)};
    finder.table->of_node = arena_array_raw(analysis->arena, n, sizeof *finder.table->of_node);
    if (!finder.table->of_node) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n; i++) finder.table->of_node[i] = ID_NONE;
    int status = candidates_find(analysis, &finder.candidates);
    if (status < 0 || finder.candidates.patterns.n == 0) return status;
    finder.match.source = &finder.source;
    finder.match.patterns = &finder.candidates.patterns;
    finder.match.taken = finder.table->of_node;
    for (size_t i = n; i-- > 0;) { /* backwards, so that the longest form is found */
        const pattern_set ends_here = finder.candidates.ends[analysis->bind->kind_of[i]];
        const struct node *node = &analysis->model->nodes[i];
        if (ends_here == 0 || finder.table->of_node[i] != ID_NONE || node->n_outputs == 0 ||
            node->outputs[0] == ID_NONE || analysis->infer->infos[node->outputs[0]].is_constant)
            continue;
        const struct match_patterns *patterns = &finder.candidates.patterns;
        size_t at = 0;
        while (at < patterns->n &&
               !((ends_here & pattern_bit(at)) &&
                 match_value(&finder.match, &patterns->items[at], node->outputs[0]) &&
                 fits_mode(&finder.match)))
            at++;
        if (at < patterns->n && add_fused(&finder, (uint32_t)i) < 0)
            return diag_no_memory(analysis->diag);
    }
    /* sort by result, and release the nodes of foldable patterns */
    struct fused_pattern *items = finder.table->items;
    for (size_t i = 0, last = finder.table->n; i < finder.table->n / 2; i++) {
        struct fused_pattern swapped = items[i];
        items[i] = items[--last];
        items[last] = swapped;
    }
    for (size_t i = 0; i < finder.table->n; i++)
        for (size_t k = 0; k < items[i].n_nodes; k++)
            finder.table->of_node[items[i].nodes[k]] =
                items[i].foldable ? ID_NONE : (uint32_t)i;
    return CM_OK;
}
