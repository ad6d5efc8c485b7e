/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nodes that may produce the result of a pattern: see match.h. A pattern cannot match
 * without its key operators. A walk over the nodes propagates each pattern from the nodes of
 * its keys to the nodes that read their results, as long as these may be part of the pattern. A
 * node is a candidate if it may produce the result and the pattern reaches it from all keys.
 * Operators are classified once per kind, not per node.
 */
#include "passes/fusion/match.h"

#include <string.h>

#include "ops/registry/registry.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* The operators that a pattern requires. */
enum key {
    KEY_CALL,       /* the rarest operator in the model that the pattern names */
    KEY_DIFFERENCE, /* a subtraction, if the pattern has one */
    N_KEYS
};

struct reached {
    pattern_set from[N_KEYS]; /* by key: patterns that reach the node from a node of that key */
};

struct kind {
    size_t n_nodes;
    pattern_set ends;    /* patterns whose result its nodes may produce */
    pattern_set passes;  /* patterns that its nodes may be part of */
    struct reached keys; /* by key: patterns for which it is the key, or that lack this key */
};

struct search {
    const struct analysis *analysis;
    struct match_patterns patterns;
    struct kind *kinds; /* in the order of bind_table.kinds */
};

/* An operator type in a pattern: the text before "(". */
struct word {
    const char *at;
    size_t length;
};

static bool is_type(struct word word, const char *type) {
    return *type == *word.at && strncmp(type, word.at, word.length) == 0 &&
           type[word.length] == '\0';
}

static size_t n_nodes_of(const struct search *search, struct word type) {
    const struct bind_table *bind = search->analysis->bind;
    size_t n = 0;
    for (size_t i = 0; i < bind->n_kinds; i++)
        if (is_type(type, bind->kinds[i]->type)) n += search->kinds[i].n_nodes;
    return n;
}

/* Finds the next operator in the pattern's text that is not optional. */
static bool next_call(const char **text, struct word *ret) {
    int optional = 0;
    for (const char *at = *text; *at; at++) {
        optional += (*at == '[') - (*at == ']');
        if (*at < 'A' || *at > 'Z') continue;
        *ret = (struct word){at, strcspn(at, "(")};
        at += ret->length;
        *text = at;
        if (optional == 0) return true;
    }
    return false;
}

/* Returns true if nodes of the model may match a pattern for the operator: the model has the
 * first operator of such a pattern. */
static bool may_be_decomposed(const struct search *search, struct word type) {
    for (size_t i = 0; i < patterns_count(); i++) {
        const struct pattern_row *row = patterns_at(i);
        const char *text = row->pattern;
        struct word first;
        if (is_type(type, row->op) && next_call(&text, &first) && n_nodes_of(search, first) > 0)
            return true;
    }
    return false;
}

/* Finds the rarest operator that the pattern requires. Returns false if the model lacks it. */
static bool find_key(const struct search *search, const char *text, struct word *ret) {
    struct word call;
    size_t fewest = SIZE_MAX;
    for (bool first = true; next_call(&text, &call); first = false) {
        if (!first && may_be_decomposed(search, call)) continue;
        const size_t n = n_nodes_of(search, call);
        if (n >= fewest) continue;
        fewest = n;
        *ret = call;
    }
    BUG_ON(fewest == SIZE_MAX); /* each pattern names an operator */
    return fewest > 0;
}

/* Returns true if the pattern requires a Sub or Neg node. */
static bool subtracts(const struct pattern *pattern) {
    for (size_t i = 0; i < pattern->n; i++) {
        const struct pattern_term *term = &pattern->terms[i];
        if (term->optional) continue;
        if (pattern->kind == PATTERN_SUM && term->inverse && term->of->kind != PATTERN_NUMBER &&
            term->of->role != ROLE_FACTOR)
            return true;
        if (subtracts(term->of)) return true;
    }
    return false;
}

/* Returns true if a node of the operator may produce the result of the pattern. */
static bool may_end_in(const struct pattern *pattern, const struct op *op) {
    size_t n_needed = 0;
    const struct pattern *needed = NULL;
    for (size_t i = 0; i < pattern->n; i++) {
        if (pattern->terms[i].optional) continue;
        needed = pattern->terms[i].of;
        n_needed++;
    }
    switch (pattern->kind) {
    case PATTERN_CALL:
        return text_equal(op->type, pattern->name);
    case PATTERN_POWER:
        return op->algebra == ALGEBRA_POWER || op->algebra == ALGEBRA_ROOT;
    case PATTERN_PRODUCT:
        return op->algebra == ALGEBRA_PRODUCT || op->algebra == ALGEBRA_QUOTIENT ||
               (n_needed == 1 && may_end_in(needed, op));
    case PATTERN_SUM:
        return op->algebra == ALGEBRA_SUM || op->algebra == ALGEBRA_DIFFERENCE ||
               (n_needed == 1 && may_end_in(needed, op));
    default:
        return false;
    }
}

/* Returns true if the pattern, or a fused pattern nested in it, calls the operator. */
static bool calls(const struct match_patterns *patterns, const struct pattern *pattern,
                  const char *type, int nested) {
    if (pattern->kind == PATTERN_CALL && text_equal(pattern->name, type)) return true;
    for (size_t i = 0; i < pattern->n; i++)
        if (calls(patterns, pattern->terms[i].of, type, nested)) return true;
    if (pattern->kind != PATTERN_CALL || pattern->n != 1 || nested == MATCH_MAX_NESTED)
        return false;
    for (size_t i = 0; i < patterns->n; i++)
        if (text_equal(patterns->items[i].row->op, pattern->name) &&
            calls(patterns, patterns->items[i].tree, type, nested + 1))
            return true;
    return false;
}

/* Sets the pattern's bit in the sets of each kind. */
static void classify_kinds(struct search *search, size_t at, struct word key) {
    const struct bind_table *bind = search->analysis->bind;
    const struct match_pattern *pattern = &search->patterns.items[at];
    const bool must_subtract = subtracts(pattern->tree);
    const pattern_set bit = pattern_bit(at);
    for (size_t i = 0; i < bind->n_kinds; i++) {
        const struct op *op = bind->kinds[i];
        struct kind *kind = &search->kinds[i];
        if (may_end_in(pattern->tree, op)) kind->ends |= bit;
        if (op->algebra != ALGEBRA_NONE || (pattern->row->views && op->memory == MEMORY_VIEW) ||
            calls(&search->patterns, pattern->tree, op->type, 0))
            kind->passes |= bit;
        if (is_type(key, op->type)) kind->keys.from[KEY_CALL] |= bit;
        if (!must_subtract || op->algebra == ALGEBRA_DIFFERENCE ||
            op->algebra == ALGEBRA_NEGATIVE)
            kind->keys.from[KEY_DIFFERENCE] |= bit;
    }
}

/* Parses the patterns whose required operators the model has, and classifies all kinds. */
static int find_patterns(struct search *search) {
    const struct analysis *analysis = search->analysis;
    struct match_patterns *patterns = &search->patterns;
    const size_t n = patterns_count();
    struct word *keys = arena_array(analysis->scratch, n, sizeof *keys);
    patterns->items = arena_array(analysis->arena, n, sizeof *patterns->items);
    search->kinds =
        arena_array(analysis->scratch, analysis->bind->n_kinds, sizeof *search->kinds);
    if (!keys || !patterns->items || !search->kinds) return CM_NO_MEMORY;
    for (size_t i = 0; i < analysis->model->n_nodes; i++)
        search->kinds[analysis->bind->kind_of[i]].n_nodes++;
    for (size_t i = 0; i < n; i++) {
        const struct pattern_row *row = patterns_at(i);
        if (!find_key(search, row->pattern, &keys[patterns->n])) continue;
        const struct pattern *tree = pattern_parse(row->pattern, analysis->arena);
        if (!tree) return CM_NO_MEMORY;
        const struct op *op = row->row; /* else the newest row of its operator */
        if (!op) op = registry_find("", row->op, INT32_MAX);
        if (!op) op = registry_find("com.microsoft", row->op, INT32_MAX);
        BUG_ON(!op);
        patterns->items[patterns->n++] = (struct match_pattern){row, op, tree};
    }
    for (size_t i = 0; i < patterns->n; i++) classify_kinds(search, i, keys[i]);
    return CM_OK;
}

int candidates_find(const struct analysis *analysis, struct candidates *ret) {
    struct search search = {.analysis = analysis};
    if (find_patterns(&search) < 0) return diag_no_memory(analysis->diag);
    ret->patterns = search.patterns;
    if (search.patterns.n == 0) return CM_OK;
    const struct model *model = analysis->model;
    struct reached *passed_on =
        arena_array_raw(analysis->scratch, model->n_nodes, sizeof *passed_on);
    pattern_set *ends_at = arena_array_raw(analysis->scratch, model->n_nodes, sizeof *ends_at);
    if (!passed_on || !ends_at) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct kind *kind = &search.kinds[analysis->bind->kind_of[id]];
        const struct node *node = &model->nodes[id];
        struct reached set = {{0}}; /* the patterns that reach the node through its operands */
        for (size_t i = 0; i < node->n_inputs; i++) {
            if (node->inputs[i] == ID_NONE) continue;
            const uint32_t producer = model->values[node->inputs[i]].node;
            if (producer == ID_NONE) continue;
            /* a producer that is not visited yet may be reached by any pattern */
            for (int key = 0; key < N_KEYS; key++)
                set.from[key] |= producer < id ? passed_on[producer].from[key] : UINT64_MAX;
        }
        ends_at[id] = kind->ends;
        for (int key = 0; key < N_KEYS; key++) {
            passed_on[id].from[key] = kind->keys.from[key] | (kind->passes & set.from[key]);
            ends_at[id] &= kind->keys.from[key] | set.from[key];
        }
    }
    ret->ends_at = ends_at;
    return CM_OK;
}
