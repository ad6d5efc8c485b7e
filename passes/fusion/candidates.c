/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where formulas may end: see candidates.h. A formula has operators that it cannot do without,
 * its keys. What stands between a key and the result is part of the match, so that from each
 * node of such an operator the formula is handed on to those that read it, as long as they may
 * be part of it. Where it arrives from all of its keys at an operator that it may end in, it is
 * a candidate. All that is asked of an operator is found out once, for each kind that the model
 * has.
 */
#include "passes/fusion/candidates.h"

#include <string.h>

#include "ops/registry.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* What a formula cannot do without. */
enum key {
    KEY_CALL,       /* of the operators that it names, the one that the model has least of */
    KEY_DIFFERENCE, /* where it subtracts */
    N_KEYS
};

struct arrived {
    pattern_set from[N_KEYS];
};

/* What an operator is to the formulas. */
struct kind {
    size_t n_nodes;
    pattern_set ends;    /* a result may come out of it */
    pattern_set passes;  /* it may stand between key and result */
    struct arrived keys; /* it is their key, or they have none of that sort */
};

struct survey {
    const struct analysis *analysis;
    struct match_patterns patterns;
    struct kind *kinds; /* in the order of pass bind's */
};

/* The operator's newest row. */
static const struct op *row_of(const struct pattern_row *pattern) {
    if (pattern->row) return pattern->row;
    const struct op *row = registry_find("", pattern->op, INT32_MAX);
    if (!row) row = registry_find("com.microsoft", pattern->op, INT32_MAX);
    BUG_ON(!row);
    return row;
}

static int count_kinds(struct survey *survey) {
    const struct analysis *analysis = survey->analysis;
    survey->kinds =
        arena_array(analysis->scratch, analysis->bind.n_kinds, sizeof *survey->kinds);
    if (!survey->kinds) return CM_NO_MEMORY;
    for (size_t i = 0; i < analysis->model->n_nodes; i++)
        survey->kinds[analysis->bind.kind_of[i]].n_nodes++;
    return CM_OK;
}

/* A type as a formula writes it, up to its bracket. */
struct word {
    const char *at;
    size_t length;
};

static bool is_type(struct word word, const char *type) {
    return *type == *word.at && strncmp(type, word.at, word.length) == 0 &&
           type[word.length] == '\0';
}

static size_t n_nodes_of(const struct survey *survey, struct word type) {
    const struct bind_table *bind = &survey->analysis->bind;
    size_t n = 0;
    for (size_t i = 0; i < bind->n_kinds; i++)
        if (is_type(type, bind->kinds[i]->type)) n += survey->kinds[i].n_nodes;
    return n;
}

/* The next operator that a formula names where nothing may be missing; false: none. */
static bool next_call(const char **formula, struct word *ret) {
    int optional = 0;
    for (const char *at = *formula; *at; at++) {
        optional += (*at == '[') - (*at == ']');
        if (*at < 'A' || *at > 'Z') continue;
        *ret = (struct word){at, strcspn(at, "(")};
        at += ret->length;
        *formula = at;
        if (optional == 0) return true;
    }
    return false;
}

/* Whether a composite may stand for the operator: one whose own first operator is there. */
static bool may_be_taken_apart(const struct survey *survey, struct word type) {
    for (size_t i = 0; i < patterns_count(); i++) {
        const struct pattern_row *row = patterns_at(i);
        const char *formula = row->pattern;
        struct word first;
        if (is_type(type, row->op) && next_call(&formula, &first) &&
            n_nodes_of(survey, first) > 0)
            return true;
    }
    return false;
}

/* Of the operators that must be there as such the rarest; false where one of them is not there,
 * as in most models most of the time. */
static bool find_key(const struct survey *survey, const char *formula, struct word *ret) {
    struct word call;
    size_t fewest = SIZE_MAX;
    for (bool first = true; next_call(&formula, &call); first = false) {
        if (!first && may_be_taken_apart(survey, call)) continue;
        const size_t n = n_nodes_of(survey, call);
        if (n >= fewest) continue;
        fewest = n;
        *ret = call;
    }
    BUG_ON(fewest == SIZE_MAX); /* each formula names one */
    return fewest > 0;
}

/* Whether there is something that must be subtracted, by an operator of its own. */
static bool subtracts(const struct pattern *formula) {
    for (size_t i = 0; i < formula->n; i++) {
        const struct pattern_term *term = &formula->terms[i];
        if (term->optional) continue;
        if (formula->kind == PATTERN_SUM && term->inverse && term->of->kind != PATTERN_NUMBER &&
            term->of->role != ROLE_FACTOR)
            return true;
        if (subtracts(term->of)) return true;
    }
    return false;
}

/* Whether a result of this formula can come out of such a node at all. */
static bool may_end_in(const struct pattern *formula, const struct op *op) {
    size_t n_needed = 0;
    const struct pattern *needed = NULL;
    for (size_t i = 0; i < formula->n; i++) {
        if (formula->terms[i].optional) continue;
        needed = formula->terms[i].of;
        n_needed++;
    }
    switch (formula->kind) {
    case PATTERN_CALL:
        return text_equal(op->type, formula->name);
    case PATTERN_POWER:
        return op->algebra == ALGEBRA_POWER || op->algebra == ALGEBRA_ROOT;
    case PATTERN_PRODUCT:
        if (op->algebra == ALGEBRA_PRODUCT || op->algebra == ALGEBRA_QUOTIENT) return true;
        return n_needed == 1 && may_end_in(needed, op);
    case PATTERN_SUM:
        if (op->algebra == ALGEBRA_SUM || op->algebra == ALGEBRA_DIFFERENCE) return true;
        return n_needed == 1 && may_end_in(needed, op);
    default:
        return false;
    }
}

/* Whether the formula, or that of a composite inside of it, calls the operator. */
static bool calls(const struct match_patterns *patterns, const struct pattern *formula,
                  const char *type, int nested) {
    if (formula->kind == PATTERN_CALL && text_equal(formula->name, type)) return true;
    for (size_t i = 0; i < formula->n; i++)
        if (calls(patterns, formula->terms[i].of, type, nested)) return true;
    if (formula->kind != PATTERN_CALL || formula->n != 1 || nested == MATCH_DEEPEST_NEST)
        return false;
    for (size_t i = 0; i < patterns->n; i++)
        if (text_equal(patterns->items[i].row->op, formula->name) &&
            calls(patterns, patterns->items[i].formula, type, nested + 1))
            return true;
    return false;
}

static bool may_be_inside(const struct match_patterns *patterns,
                          const struct match_pattern *pattern, const struct op *op) {
    return op->algebra != ALGEBRA_NONE || (pattern->row->views && op->memory == MEMORY_VIEW) ||
           calls(patterns, pattern->formula, op->type, 0);
}

static bool may_subtract(const struct op *op) {
    return op->algebra == ALGEBRA_DIFFERENCE || op->algebra == ALGEBRA_NEGATIVE;
}

static void tell_kinds(struct survey *survey, size_t at, struct word key) {
    const struct bind_table *bind = &survey->analysis->bind;
    const struct match_pattern *pattern = &survey->patterns.items[at];
    const bool must_subtract = subtracts(pattern->formula);
    const pattern_set bit = pattern_bit(at);
    for (size_t i = 0; i < bind->n_kinds; i++) {
        const struct op *op = bind->kinds[i];
        struct kind *kind = &survey->kinds[i];
        if (may_end_in(pattern->formula, op)) kind->ends |= bit;
        if (may_be_inside(&survey->patterns, pattern, op)) kind->passes |= bit;
        if (is_type(key, op->type)) kind->keys.from[KEY_CALL] |= bit;
        if (!must_subtract || may_subtract(op)) kind->keys.from[KEY_DIFFERENCE] |= bit;
    }
}

/* Those of which the model has all that they cannot do without. */
static int read_patterns(struct survey *survey, struct word *ret_keys) {
    struct arena *arena = survey->analysis->arena;
    struct match_patterns *patterns = &survey->patterns;
    for (size_t i = 0; i < patterns_count(); i++) {
        const struct pattern_row *row = patterns_at(i);
        if (!find_key(survey, row->pattern, &ret_keys[patterns->n])) continue;
        const struct pattern *formula = pattern_parse(row->pattern, arena);
        if (!formula) return CM_NO_MEMORY;
        patterns->items[patterns->n++] = (struct match_pattern){row, row_of(row), formula};
    }
    return CM_OK;
}

static int tell_all_kinds(struct survey *survey) {
    const size_t most = patterns_count();
    struct word *keys = arena_array(survey->analysis->scratch, most, sizeof *keys);
    survey->patterns.items =
        arena_array(survey->analysis->arena, most, sizeof *survey->patterns.items);
    if (!keys || !survey->patterns.items || count_kinds(survey) < 0) return CM_NO_MEMORY;
    if (read_patterns(survey, keys) < 0) return CM_NO_MEMORY;
    for (size_t i = 0; i < survey->patterns.n; i++) tell_kinds(survey, i, keys[i]);
    return CM_OK;
}

/* What arrives at a node from those that it reads. `handed_on`: by node, of those in front. */
static struct arrived arriving(const struct model *model, const struct arrived *handed_on,
                               uint32_t id) {
    const struct node *node = &model->nodes[id];
    struct arrived set = {{0}};
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        const uint32_t maker = model->values[node->inputs[i]].node;
        if (maker == ID_NONE) continue;
        for (int key = 0; key < N_KEYS; key++)
            set.from[key] |= maker < id ? handed_on[maker].from[key] : UINT64_MAX;
    }
    return set;
}

static int hand_on(const struct survey *survey, const pattern_set **ret_ends_at) {
    const struct analysis *analysis = survey->analysis;
    const size_t n = analysis->model->n_nodes;
    struct arrived *handed_on = arena_array_raw(analysis->scratch, n, sizeof *handed_on);
    pattern_set *ends_at = arena_array_raw(analysis->scratch, n, sizeof *ends_at);
    if (!handed_on || !ends_at) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < n; id++) {
        const struct kind *kind = &survey->kinds[analysis->bind.kind_of[id]];
        const struct arrived set = arriving(analysis->model, handed_on, id);
        ends_at[id] = kind->ends;
        for (int key = 0; key < N_KEYS; key++) {
            handed_on[id].from[key] = kind->keys.from[key] | (kind->passes & set.from[key]);
            ends_at[id] &= kind->keys.from[key] | set.from[key];
        }
    }
    *ret_ends_at = ends_at;
    return CM_OK;
}

int candidates_find(const struct analysis *analysis, struct candidates *ret) {
    struct survey survey = {.analysis = analysis};
    if (tell_all_kinds(&survey) < 0) return diag_no_memory(analysis->diag);
    ret->patterns = survey.patterns;
    if (survey.patterns.n == 0) return CM_OK;
    return hand_on(&survey, &ret->ends_at) < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
