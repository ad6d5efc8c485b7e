/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass composites: which nodes are one operation that the exporter took apart, by the formulas
 * of ops/composites.c. Nodes are looked at from the last to the first, so that the longest form
 * is found: a LayerNorm with scale and shift before the bare one inside of it. The nodes stay;
 * readers count, name and describe the operation by its row.
 */
#include <stdlib.h>
#include <string.h>

#include "ops/product.h"
#include "ops/registry.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

struct finder {
    const struct analysis *analysis;
    struct composites_table *table;
    struct match_patterns patterns;
    struct match match;
    size_t capacity;
};

/* The operator's newest row. */
static const struct op *row_of(const struct composite_pattern *pattern) {
    if (pattern->row) return pattern->row;
    const struct op *row = registry_find("", pattern->op, INT32_MAX);
    if (!row) row = registry_find("com.microsoft", pattern->op, INT32_MAX);
    BUG_ON(!row);
    return row;
}

/* The operators of a model; past the limit it has all of them. */
#define MAX_PRESENT 256

struct present {
    size_t n;
    const struct op *ops[MAX_PRESENT];
};

static void list_present(const struct analysis *analysis, struct present *present) {
    present->n = 0;
    for (size_t i = 0; i < analysis->model->n_nodes && present->n < MAX_PRESENT; i++) {
        const struct op *op = analysis->bind.ops[i];
        size_t k = 0;
        while (k < present->n && present->ops[k] != op) k++;
        if (k == present->n) present->ops[present->n++] = op;
    }
}

/* Whether the model has the operator that a formula names first, which no other stands for. */
static bool may_occur(const struct present *present, const char *formula) {
    const char *type = formula + strcspn(formula, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const size_t length = strcspn(type, "(");
    for (size_t i = 0; i < present->n; i++)
        if (strncmp(present->ops[i]->type, type, length) == 0 &&
            present->ops[i]->type[length] == '\0')
            return true;
    return present->n == MAX_PRESENT;
}

/* Most models are free of most of them, and done with them here. */
static int read_patterns(struct finder *finder) {
    struct arena *arena = finder->analysis->arena;
    struct match_pattern *items = arena_array(arena, composite_n_patterns(), sizeof *items);
    struct present present;
    size_t n = 0;
    if (!items) return diag_no_memory(finder->analysis->diag);
    list_present(finder->analysis, &present);
    for (size_t i = 0; i < composite_n_patterns(); i++) {
        const struct composite_pattern *row = composite_pattern_at(i);
        if (!may_occur(&present, row->formula)) continue;
        items[n] = (struct match_pattern){row, row_of(row), formula_parse(row->formula, arena)};
        if (!items[n++].formula) return diag_no_memory(finder->analysis->diag);
    }
    finder->patterns = (struct match_patterns){n, items};
    return CM_OK;
}

/* Whether a result of this formula can come out of such a node at all. */
static bool may_end_in(const struct formula *formula, const struct op *op) {
    size_t n_needed = 0;
    const struct formula *needed = NULL;
    for (size_t i = 0; i < formula->n; i++) {
        if (formula->terms[i].optional) continue;
        needed = formula->terms[i].of;
        n_needed++;
    }
    switch (formula->kind) {
    case FORMULA_CALL:
        return text_equal(op->type, formula->name);
    case FORMULA_POWER:
        return op->algebra == ALGEBRA_POWER || op->algebra == ALGEBRA_ROOT;
    case FORMULA_PRODUCT:
        if (op->algebra == ALGEBRA_PRODUCT || op->algebra == ALGEBRA_QUOTIENT) return true;
        return n_needed == 1 && may_end_in(needed, op);
    case FORMULA_SUM:
        if (op->algebra == ALGEBRA_SUM || op->algebra == ALGEBRA_DIFFERENCE) return true;
        return n_needed == 1 && may_end_in(needed, op);
    default:
        return false;
    }
}

/* Words of a row, separated by blanks. */
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

static int take_operands(struct finder *finder, struct node *node) {
    const char *at = finder->match.pattern->row->operands;
    struct arena *arena = finder->analysis->arena;
    uint32_t *inputs = arena_array(arena, n_words(at), sizeof *inputs);
    size_t n = n_words(at);
    if (!inputs) return CM_NO_MEMORY;
    node->inputs = inputs;
    for (size_t i = 0; i < n; i++) {
        const char *name = next_word(&at, arena);
        if (!name) return CM_NO_MEMORY;
        const struct match_name *found = match_name(&finder->match, name);
        inputs[i] = found ? found->value : ID_NONE;
        if (found) node->n_inputs = (uint32_t)i + 1;
    }
    return CM_OK;
}

/* Dim `axis` of what the name stands for, as text says: "g.1". */
static int64_t named_dim(const struct finder *finder, const char *source, const char *dot) {
    char name[16] = {0};
    const size_t length = (size_t)(dot - source);
    BUG_ON(length >= sizeof name);
    memcpy(name, source, length);
    const struct match_name *found = match_name(&finder->match, name);
    if (!found || found->value == ID_NONE) return DIM_UNKNOWN;
    const struct shape *shape = &finder->analysis->infer.facts[found->value].shape;
    int axis = dot[1] - '0';
    return axis < shape->rank ? shape->dims[axis] : DIM_UNKNOWN;
}

/* What "name=source" says (ops/composites.h). */
static bool set_attr(const struct finder *finder, const char *source, struct attr *attr) {
    const char *dot = strchr(source, '.');
    attr->n = 1;
    if (*source == '\'') {
        attr->kind = ATTR_STRING;
        attr->s = arena_strndup(finder->analysis->arena, source + 1, strlen(source) - 2);
        return attr->s != NULL;
    }
    if (dot || text_equal(source, "axis")) {
        attr->kind = ATTR_INT;
        attr->i = dot ? named_dim(finder, source, dot) : finder->match.axes[0];
        return is_known(attr->i);
    }
    const struct match_name *found = match_name(&finder->match, source);
    attr->kind = ATTR_FLOAT;
    attr->f = found ? found->number : 0;
    return found != NULL;
}

static int take_attr(const struct finder *finder, const char *word, struct node *node,
                     struct attr *attrs) {
    struct arena *arena = finder->analysis->arena;
    const size_t length = strcspn(word, "=");
    struct attr *attr = &attrs[node->n_attrs];
    attr->name = arena_strndup(arena, word, length);
    const char *source = arena_strdup(arena, word + length + 1);
    if (!attr->name || !source) return CM_NO_MEMORY;
    if (set_attr(finder, source, attr)) node->n_attrs++;
    return CM_OK;
}

/* Those of the node whose type is the operation's. */
static void copy_attrs(const struct finder *finder, struct node *node) {
    const struct match *match = &finder->match;
    for (size_t i = 0; i < match->n_nodes; i++) {
        const struct node *from = &finder->analysis->model->nodes[match->nodes[i]];
        if (!text_equal(from->type, match->pattern->row->op)) continue;
        node->n_attrs = from->n_attrs;
        node->attrs = from->attrs;
    }
}

static int take_attrs(const struct finder *finder, struct node *node) {
    const char *at = finder->match.pattern->row->attributes;
    if (text_equal(at, "*")) {
        copy_attrs(finder, node);
        return CM_OK;
    }
    struct arena *arena = finder->analysis->arena;
    const size_t n = at ? n_words(at) : 0;
    struct attr *attrs = arena_array(arena, n, sizeof *attrs);
    if (!attrs) return CM_NO_MEMORY;
    node->attrs = attrs;
    for (size_t i = 0; i < n; i++) {
        const char *word = next_word(&at, arena);
        if (!word || take_attr(finder, word, node, attrs) < 0) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* The operation as one node, in the place of the last of its nodes. */
static const struct node *whole_node(struct finder *finder, uint32_t last) {
    struct node *node = arena_alloc(finder->analysis->arena, sizeof *node);
    if (!node) return NULL;
    *node = finder->analysis->model->nodes[last];
    node->domain = finder->match.pattern->op->domain;
    node->type = finder->match.pattern->op->type;
    node->opset = finder->match.pattern->op->since;
    node->n_inputs = node->n_attrs = 0;
    if (take_operands(finder, node) < 0 || take_attrs(finder, node) < 0) return NULL;
    return node;
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static const uint32_t *sorted_nodes(const struct finder *finder) {
    const struct match *match = &finder->match;
    uint32_t *nodes =
        arena_copy(finder->analysis->arena, match->nodes, match->n_nodes * sizeof *nodes);
    if (nodes) qsort(nodes, match->n_nodes, sizeof *nodes, compare_ids);
    return nodes;
}

static int grow(struct finder *finder) {
    struct composites_table *table = finder->table;
    if (table->n < finder->capacity) return CM_OK;
    const size_t capacity = finder->capacity ? finder->capacity * 2 : 64;
    struct composite *items = arena_array(finder->analysis->arena, capacity, sizeof *items);
    if (!items) return CM_NO_MEMORY;
    if (table->n) memcpy(items, table->items, table->n * sizeof *items);
    table->items = items;
    finder->capacity = capacity;
    return CM_OK;
}

static int64_t macs_of_nodes(const struct finder *finder, const struct composite *composite) {
    int64_t macs = 0;
    for (size_t i = 0; i < composite->n_nodes; i++) {
        struct rule rule;
        if (rules_make_done(finder->match.source, composite->nodes[i], &rule) < 0)
            return DIM_UNKNOWN;
        macs = checked_add(macs, product_macs(&rule));
    }
    return macs;
}

/*
 * Whether what the row multiplies is what the nodes do. It is not where a mask or a value
 * repeats the product by broadcasting, or an operand is a vector.
 */
static bool multiplies_the_same(const struct finder *finder,
                                const struct composite *composite) {
    struct arena *arena = finder->analysis->arena;
    struct rule whole;
    if (composite->foldable || !composite->op->cost.macs) return true;
    struct arena_mark mark = arena_save(arena);
    bool same = rules_make_composite(finder->match.source, composite, &whole) == CM_OK &&
                product_macs(&whole) == macs_of_nodes(finder, composite);
    arena_restore(arena, mark);
    return same;
}

static int keep(struct finder *finder, uint32_t last) {
    const struct composite_pattern *row = finder->match.pattern->row;
    const struct composite composite = {
        .name = row->name,
        .op = finder->match.pattern->op,
        .node = whole_node(finder, last),
        .last = last,
        .n_nodes = finder->match.n_nodes,
        .nodes = sorted_nodes(finder),
        .foldable = row->foldable,
    };
    if (!composite.node || !composite.nodes) return CM_NO_MEMORY;
    if (!multiplies_the_same(finder, &composite)) return CM_OK;
    if (grow(finder) < 0) return CM_NO_MEMORY;
    for (size_t i = 0; i < composite.n_nodes; i++)
        finder->table->of_node[composite.nodes[i]] = (uint32_t)finder->table->n;
    finder->table->items[finder->table->n++] = composite;
    return CM_OK;
}

/* A BatchNormalization that trains has no statistics to fold. */
static bool may_be_folded(const struct finder *finder) {
    const struct match *match = &finder->match;
    if (!match->pattern->row->foldable) return true;
    for (size_t i = 0; i < match->n_nodes; i++) {
        struct rule rule;
        if (rules_make(match->source, match->nodes[i], &rule) < 0 || rule.training)
            return false;
    }
    return true;
}

static int find_at(struct finder *finder, uint32_t id) {
    const struct node *node = &finder->analysis->model->nodes[id];
    const struct op *op = finder->analysis->bind.ops[id];
    if (finder->table->of_node[id] != ID_NONE || node->n_outputs == 0) return CM_OK;
    const uint32_t result = node->outputs[0];
    if (result == ID_NONE || finder->analysis->infer.facts[result].is_constant) return CM_OK;
    for (size_t i = 0; i < finder->patterns.n; i++) {
        const struct match_pattern *pattern = &finder->patterns.items[i];
        if (may_end_in(pattern->formula, op) && match_value(&finder->match, pattern, result) &&
            may_be_folded(finder))
            return keep(finder, id);
    }
    return CM_OK;
}

/* In the order of their results; those that are only listed let go of their nodes. */
static void finish(struct composites_table *table) {
    for (size_t i = 0; i < table->n / 2; i++) {
        struct composite swapped = table->items[i];
        table->items[i] = table->items[table->n - 1 - i];
        table->items[table->n - 1 - i] = swapped;
    }
    for (size_t i = 0; i < table->n; i++)
        for (size_t k = 0; k < table->items[i].n_nodes; k++)
            table->of_node[table->items[i].nodes[k]] =
                table->items[i].foldable ? ID_NONE : (uint32_t)i;
}

static int run(const struct analysis *analysis, void *own) {
    const struct model *model = analysis->model;
    struct rule_source source = rules_source(analysis);
    struct finder finder = {.analysis = analysis, .table = own};
    finder.table->of_node =
        arena_array(analysis->arena, model->n_nodes, sizeof *finder.table->of_node);
    if (!finder.table->of_node) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < model->n_nodes; i++) finder.table->of_node[i] = ID_NONE;
    int status = read_patterns(&finder);
    finder.match.source = &source;
    finder.match.patterns = &finder.patterns;
    finder.match.taken = finder.table->of_node;
    for (size_t i = model->n_nodes; status == CM_OK && i-- > 0;)
        if (find_at(&finder, (uint32_t)i) < 0) status = diag_no_memory(analysis->diag);
    if (status == CM_OK) finish(finder.table);
    return status;
}

const struct pass pass_composites = {
    .name = "composites",
    .summary = "find the operations that the exporter took apart",
    .needs = HAS_OPERATORS | HAS_BATCH | HAS_TYPES,
    .gives = HAS_COMPOSITES,
    .run = run,
    .own = offsetof(struct analysis, composites),
};
