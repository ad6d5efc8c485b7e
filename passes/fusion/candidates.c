/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the patterns that may match, and the operators whose nodes may produce their results:
 * see match.h. A pattern cannot match without the operators that its text names. */
#include "passes/fusion/match.h"

#include <string.h>

#include "ops/registry/registry.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* An operator type in a pattern: the text before "(". */
struct word {
    const char *at;
    size_t length;
};

static bool is_type(struct word word, const char *type) {
    return *type == *word.at && strncmp(type, word.at, word.length) == 0 &&
           type[word.length] == '\0';
}

static bool has_operator(const struct bind_table *bind, struct word type) {
    for (size_t i = 0; i < bind->n_kinds; i++)
        if (is_type(type, bind->kinds[i]->type)) return true;
    return false;
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
static bool may_be_decomposed(const struct bind_table *bind, struct word type) {
    for (size_t i = 0; i < patterns_count(); i++) {
        const struct pattern_row *row = patterns_at(i);
        const char *text = row->pattern;
        struct word first;
        if (is_type(type, row->op) && next_call(&text, &first) && has_operator(bind, first))
            return true;
    }
    return false;
}

/* Returns true if the model has all operators that the pattern requires. */
static bool has_operators(const struct bind_table *bind, const char *text) {
    struct word call;
    for (bool first = true; next_call(&text, &call); first = false)
        if (!has_operator(bind, call) && (first || !may_be_decomposed(bind, call)))
            return false;
    return true;
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

int candidates_find(const struct analysis *analysis, struct candidates *ret) {
    const struct bind_table *bind = analysis->bind;
    struct match_patterns *patterns = &ret->patterns;
    const size_t n = patterns_count();
    patterns->n = 0;
    patterns->items = arena_array(analysis->arena, n, sizeof *patterns->items);
    ret->ends = arena_array(analysis->scratch, bind->n_kinds, sizeof *ret->ends);
    if (!patterns->items || !ret->ends) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n; i++) {
        const struct pattern_row *row = patterns_at(i);
        if (!has_operators(bind, row->pattern)) continue;
        const struct pattern *tree = pattern_parse(row->pattern, analysis->arena);
        if (!tree) return diag_no_memory(analysis->diag);
        const struct op *op = row->row; /* else the newest row of its operator */
        if (!op) op = registry_find("", row->op, INT32_MAX);
        if (!op) op = registry_find("com.microsoft", row->op, INT32_MAX);
        BUG_ON(!op);
        for (size_t k = 0; k < bind->n_kinds; k++)
            if (may_end_in(tree, bind->kinds[k])) ret->ends[k] |= pattern_bit(patterns->n);
        patterns->items[patterns->n++] = (struct match_pattern){row, op, tree};
    }
    return CM_OK;
}
