/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads formulas by recursive descent. They are ours, a line long and nested a few levels deep:
 * what does not parse is a bug.
 */
#include "passes/fusion/pattern_parse.h"

#include <ctype.h>
#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

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

static bool take(struct parser *parser, char wanted) {
    if (next(parser) != wanted) return false;
    parser->at++;
    return true;
}

static void expect(struct parser *parser, char wanted) {
    BUG_ON(!take(parser, wanted));
}

static bool add_term(struct terms *terms, const struct pattern *of, bool inverse,
                     bool optional) {
    BUG_ON(terms->n == MAX_TERMS);
    if (!of) return false;
    terms->items[terms->n++] = (struct pattern_term){of, inverse, optional};
    return true;
}

/* What can be told at a glance is looked for first, what fits anything last. */
static enum pattern_kind turn_of(const struct pattern *formula) {
    return formula->role == ROLE_EPSILON ? PATTERN_NUMBER : formula->kind;
}

static void sort_by_turn(struct terms *terms) {
    for (size_t i = 1; i < terms->n; i++)
        for (size_t k = i;
             k > 0 && turn_of(terms->items[k].of) < turn_of(terms->items[k - 1].of); k--) {
            struct pattern_term swapped = terms->items[k];
            terms->items[k] = terms->items[k - 1];
            terms->items[k - 1] = swapped;
        }
}

static struct pattern *new_formula(struct parser *parser, enum pattern_kind kind,
                                   const struct terms *terms) {
    struct pattern *formula = arena_alloc(parser->arena, sizeof *formula);
    size_t n = terms ? terms->n : 0;
    if (!formula) return NULL;
    formula->kind = kind;
    formula->n = n;
    if (n > 0)
        formula->terms = arena_copy(parser->arena, terms->items, n * sizeof *terms->items);
    return n == 0 || formula->terms ? formula : NULL;
}

/* One term alone is no sum. */
static const struct pattern *join(struct parser *parser, enum pattern_kind kind,
                                  struct terms *terms) {
    if (terms->n == 1 && !terms->items[0].inverse) return terms->items[0].of;
    sort_by_turn(terms);
    return new_formula(parser, kind, terms);
}

static const struct pattern *wrap(struct parser *parser, enum pattern_kind kind,
                                  const struct pattern *of, double number) {
    struct terms terms = {0};
    if (!add_term(&terms, of, false, false)) return NULL;
    struct pattern *formula = new_formula(parser, kind, &terms);
    if (formula) formula->number = number;
    return formula;
}

/* Not by strtod: its decimal point is the locale's. */
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

static const struct pattern *parse_number(struct parser *parser) {
    struct pattern *formula = new_formula(parser, PATTERN_NUMBER, NULL);
    double number = parse_digits(parser);
    if (formula) formula->number = number;
    return formula;
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

static const char *parse_word(struct parser *parser) {
    const char *start = parser->at;
    while (isalnum((unsigned char)*parser->at) || *parser->at == '_') parser->at++;
    BUG_ON(parser->at == start);
    return arena_strndup(parser->arena, start, (size_t)(parser->at - start));
}

static const struct pattern *parse_call(struct parser *parser, const char *name) {
    struct terms terms = {0};
    do {
        bool optional = take(parser, '[');
        if (!add_term(&terms, parse_sum(parser), false, optional)) return NULL;
        if (optional) expect(parser, ']');
    } while (take(parser, ','));
    expect(parser, ')');
    if (text_equal(name, "sqrt")) return wrap(parser, PATTERN_POWER, terms.items[0].of, 0.5);
    struct pattern *call = new_formula(parser, PATTERN_CALL, &terms);
    if (call) call->name = name;
    return call;
}

static const struct pattern *parse_atom(struct parser *parser);

static const struct pattern *parse_named(struct parser *parser) {
    const char *name = parse_word(parser);
    if (!name) return NULL;
    if (take(parser, '(')) return parse_call(parser, name);
    struct pattern *formula = NULL;
    if (take(parser, ':')) {
        struct terms terms = {0};
        if (add_term(&terms, parse_atom(parser), false, false))
            formula = new_formula(parser, PATTERN_LABEL, &terms);
    } else {
        formula = new_formula(parser, PATTERN_NAME, NULL);
    }
    if (!formula) return NULL;
    formula->name = name;
    formula->role = role_of(name);
    return formula;
}

static const struct pattern *parse_atom(struct parser *parser) {
    if (isdigit((unsigned char)next(parser))) return parse_number(parser);
    if (!take(parser, '(')) return parse_named(parser);
    const struct pattern *inside = parse_sum(parser);
    if (inside) expect(parser, ')'); /* without memory it stops in the middle */
    return inside;
}

static const struct pattern *parse_power(struct parser *parser) {
    const struct pattern *base = parse_atom(parser);
    if (!base || !take(parser, '^')) return base;
    return wrap(parser, PATTERN_POWER, base, parse_digits(parser));
}

static const struct pattern *parse_product(struct parser *parser) {
    struct terms terms = {0};
    if (!add_term(&terms, parse_power(parser), false, false)) return NULL;
    for (;;) {
        const char *start = parser->at;
        bool optional = take(parser, '[');
        bool inverse = take(parser, '/');
        if (!inverse && !take(parser, '*')) {
            parser->at = start; /* the bracket of a sum, or the end */
            return join(parser, PATTERN_PRODUCT, &terms);
        }
        if (!add_term(&terms, parse_power(parser), inverse, optional)) return NULL;
        if (optional) expect(parser, ']');
    }
}

static const struct pattern *parse_sum(struct parser *parser) {
    struct terms terms = {0};
    if (!add_term(&terms, parse_product(parser), false, false)) return NULL;
    for (;;) {
        const char *start = parser->at;
        bool optional = take(parser, '[');
        bool inverse = take(parser, '-');
        if (!inverse && !take(parser, '+')) {
            parser->at = start;
            return join(parser, PATTERN_SUM, &terms);
        }
        if (!add_term(&terms, parse_product(parser), inverse, optional)) return NULL;
        if (optional) expect(parser, ']');
    }
}

const struct pattern *pattern_parse(const char *text, struct arena *arena) {
    struct parser parser = {text, arena};
    const struct pattern *formula = parse_sum(&parser);
    BUG_ON(formula && next(&parser) != '\0');
    return formula;
}
