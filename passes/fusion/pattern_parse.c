/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive-descent parser of fused patterns. The texts are built in, a line long and nested a
 * few levels deep: a syntax error is a bug. */
#include <ctype.h>

#include "passes/fusion/match.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define MAX_TERMS 8

struct parser {
    const char *at;
    struct arena *arena;
};

struct terms {
    size_t n;
    struct pattern_term items[MAX_TERMS];
};

static const struct pattern *parse_sum(struct parser *parser);

static char next(struct parser *parser) {
    while (*parser->at == ' ') parser->at++;
    return *parser->at;
}

static bool accept(struct parser *parser, char wanted) {
    if (next(parser) != wanted) return false;
    parser->at++;
    return true;
}

static void expect(struct parser *parser, char wanted) {
    BUG_ON(!accept(parser, wanted));
}

static bool add_term(struct terms *terms, const struct pattern *of, bool inverse,
                     bool optional) {
    BUG_ON(terms->n == MAX_TERMS);
    if (!of) return false;
    terms->items[terms->n++] = (struct pattern_term){of, inverse, optional};
    return true;
}

/* Returns the sort key of a term: cheap and specific terms are matched first. */
static enum pattern_kind rank_of(const struct pattern *pattern) {
    return pattern->role == ROLE_EPSILON ? PATTERN_NUMBER : pattern->kind;
}

static struct pattern *new_pattern(struct parser *parser, enum pattern_kind kind,
                                   const struct terms *terms) {
    struct pattern *pattern = arena_alloc(parser->arena, sizeof *pattern);
    size_t n = terms ? terms->n : 0;
    if (!pattern) return NULL;
    pattern->kind = kind;
    pattern->n = n;
    if (n > 0)
        pattern->terms = arena_copy(parser->arena, terms->items, n * sizeof *terms->items);
    return n == 0 || pattern->terms ? pattern : NULL;
}

/* Makes a sum or product with sorted terms. Returns a single term as it is. */
static const struct pattern *join(struct parser *parser, enum pattern_kind kind,
                                  struct terms *terms) {
    if (terms->n == 1 && !terms->items[0].inverse) return terms->items[0].of;
    for (size_t i = 1; i < terms->n; i++)
        for (size_t k = i;
             k > 0 && rank_of(terms->items[k].of) < rank_of(terms->items[k - 1].of); k--) {
            struct pattern_term swapped = terms->items[k];
            terms->items[k] = terms->items[k - 1];
            terms->items[k - 1] = swapped;
        }
    return new_pattern(parser, kind, terms);
}

static struct pattern *wrap(struct parser *parser, enum pattern_kind kind,
                            const struct pattern *of, double number) {
    struct terms terms = {0};
    if (!add_term(&terms, of, false, false)) return NULL;
    struct pattern *pattern = new_pattern(parser, kind, &terms);
    if (pattern) pattern->number = number;
    return pattern;
}

/* Parses a number. strtod would use the decimal point of the locale. */
static double parse_digits(struct parser *parser) {
    double number = 0;
    double place = 1;
    BUG_ON(!isdigit((unsigned char)*parser->at));
    for (; isdigit((unsigned char)*parser->at); parser->at++)
        number = number * 10 + (*parser->at - '0');
    if (*parser->at != '.') return number;
    for (parser->at++; isdigit((unsigned char)*parser->at); parser->at++) {
        place /= 10;
        number += place * (*parser->at - '0');
    }
    return number;
}

static enum pattern_role role_of(const char *name) {
    if (text_equal(name, "_")) return ROLE_IGNORED;
    if (text_equal(name, "eps")) return ROLE_EPSILON;
    if (text_starts_with(name, "factor")) return ROLE_FACTOR;
    if (text_equal(name, "scale") || text_equal(name, "shift")) return ROLE_PARAMETER;
    if (text_starts_with(name, "constant")) return ROLE_CONSTANT;
    if (text_equal(name, "keys")) return ROLE_KEYS;
    return ROLE_ANY;
}

static const struct pattern *parse_call(struct parser *parser, const char *name) {
    struct terms terms = {0};
    do {
        bool optional = accept(parser, '[');
        if (!add_term(&terms, parse_sum(parser), false, optional)) return NULL;
        if (optional) expect(parser, ']');
    } while (accept(parser, ','));
    expect(parser, ')');
    if (text_equal(name, "sqrt")) return wrap(parser, PATTERN_POWER, terms.items[0].of, 0.5);
    struct pattern *call = new_pattern(parser, PATTERN_CALL, &terms);
    if (call) call->name = name;
    return call;
}

static const struct pattern *parse_atom(struct parser *parser);

static const struct pattern *parse_named(struct parser *parser) {
    const char *start = parser->at;
    while (isalnum((unsigned char)*parser->at) || *parser->at == '_') parser->at++;
    BUG_ON(parser->at == start);
    const char *name = arena_strndup(parser->arena, start, (size_t)(parser->at - start));
    if (!name) return NULL;
    if (accept(parser, '(')) return parse_call(parser, name);
    struct pattern *pattern = accept(parser, ':')
                                  ? wrap(parser, PATTERN_LABEL, parse_atom(parser), 0)
                                  : new_pattern(parser, PATTERN_NAME, NULL);
    if (!pattern) return NULL;
    pattern->name = name;
    pattern->role = role_of(name);
    return pattern;
}

static const struct pattern *parse_atom(struct parser *parser) {
    if (isdigit((unsigned char)next(parser))) {
        struct pattern *number = new_pattern(parser, PATTERN_NUMBER, NULL);
        const double parsed = parse_digits(parser);
        if (number) number->number = parsed;
        return number;
    }
    if (!accept(parser, '(')) return parse_named(parser);
    const struct pattern *inside = parse_sum(parser);
    if (inside) expect(parser, ')'); /* else out of memory, in mid-text */
    return inside;
}

/* Parses "a * b / c [* d]" or "a + b - c [+ d]". */
static const struct pattern *parse_terms(struct parser *parser, enum pattern_kind kind) {
    const bool sum = kind == PATTERN_SUM;
    struct terms terms = {0};
    bool inverse = false;
    bool optional = false;
    for (;;) {
        const struct pattern *term =
            sum ? parse_terms(parser, PATTERN_PRODUCT) : parse_atom(parser);
        if (!sum && term && accept(parser, '^'))
            term = wrap(parser, PATTERN_POWER, term, parse_digits(parser));
        if (!add_term(&terms, term, inverse, optional)) return NULL;
        if (optional) expect(parser, ']');
        const char *start = parser->at;
        optional = accept(parser, '[');
        inverse = accept(parser, sum ? '-' : '/');
        if (!inverse && !accept(parser, sum ? '+' : '*')) {
            parser->at = start; /* the bracket of an outer sum, or the end */
            return join(parser, kind, &terms);
        }
    }
}

static const struct pattern *parse_sum(struct parser *parser) {
    return parse_terms(parser, PATTERN_SUM);
}

const struct pattern *pattern_parse(const char *text, struct arena *arena) {
    struct parser parser = {text, arena};
    const struct pattern *pattern = parse_sum(&parser);
    BUG_ON(pattern && next(&parser) != '\0');
    return pattern;
}
