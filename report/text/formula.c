/* SPDX-License-Identifier: Apache-2.0 */
/* The report of --formula: polynomials such as 12·N·S² + 3/4·N·S, highest degree first. Without
 * UTF-8 they are written 12*N*S^2 + 3/4*N*S. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "report/text/labels.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/sort.h"

/* The metric by which modules are ranked; listed first. */
static const char first_metric[] = "macs";
static const char *const of_modules[] = {first_metric, "flops", "params", "activation_bytes"};

#define N_OF_MODULES (sizeof(of_modules) / sizeof(*of_modules))

static const struct column *column_of(const char *metric) {
    for (size_t i = 0; i < n_columns; i++)
        if (strcmp(columns[i].key, metric) == 0) return &columns[i];
    return NULL;
}

/* Quotes a name that is not a word: "past + 1" is one variable. */
static void append_name(struct text *out, const char *name) {
    static const char word[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    const bool plain = name[strspn(name, word)] == '\0';
    text_append(out, plain ? "" : "'");
    text_append_name(out, name);
    text_append(out, plain ? "" : "'");
}

/* Appends digits; with Unicode in groups of three, separated by a narrow no-break space. */
static void append_digits(struct text *out, uint64_t value, bool unicode) {
    char digits[24];
    const int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    for (int i = 0; i < n; i++) {
        if (unicode && i > 0 && (n - i) % 3 == 0) text_append(out, "\u202f");
        text_append_n(out, &digits[i], 1);
    }
}

static void append_term(struct text *out, const struct cm_formula *formula,
                        const struct cm_monomial *term, bool unicode) {
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const int64_t size = term->numerator < 0 ? -term->numerator : term->numerator;
    bool begun = term->denominator != 1 || size != 1;
    if (begun) append_digits(out, (uint64_t)size, unicode);
    if (term->denominator != 1) {
        text_append(out, "/");
        append_digits(out, (uint64_t)term->denominator, unicode);
    }
    for (size_t i = 0; i < term->n_exponents && i < formula->n_variables; i++) {
        const size_t exponent = term->exponents[i];
        if (exponent == 0) continue;
        if (begun) text_append(out, unicode ? "·" : "*");
        append_name(out, formula->variables[i].name);
        if (exponent > 1 && unicode && exponent < sizeof(raised) / sizeof(*raised))
            text_append(out, raised[exponent]);
        else if (exponent > 1)
            text_printf(out, "^%zu", exponent);
        begun = true;
    }
    if (!begun) text_append(out, "1");
}

/* Writes a sum, folded between terms; appends `end` to the last term. */
static void write_terms(struct page *page, const struct cm_formula *formula,
                        const struct cm_monomial *terms, size_t n, const char *end) {
    const bool unicode = page->options->unicode;
    if (n == 0) page_print(page, STYLE_PLAIN, "0%s", end);
    page_list(page, " ", page->label_width);
    for (size_t i = 0; i < n; i++) {
        struct text *item = page_item(page);
        if (i > 0) text_append(item, terms[i].numerator < 0 ? "- " : "+ ");
        if (i == 0 && terms[i].numerator < 0) text_append(item, "-");
        append_term(item, formula, &terms[i], unicode);
        if (i + 1 == n) text_append(item, end);
        page_item_end(page, STYLE_PLAIN);
    }
}

static void write_polynomial(struct page *page, const struct cm_formula *formula,
                             const struct cm_polynomial *polynomial) {
    const struct column *column = column_of(polynomial->metric);
    label_write(page, column != NULL ? column->heading
                      : strcmp(polynomial->metric, "peak_activation_bytes") == 0
                          ? "peak activations"
                          : polynomial->metric);
    if (strcmp(polynomial->state, "polynomial") == 0) {
        write_terms(page, formula, polynomial->terms, polynomial->n_terms, "");
    } else if (strcmp(polynomial->state, "largest") == 0) {
        page_print(page, STYLE_PLAIN, "max("); /* of several polynomials, one per line */
        for (size_t i = 0; i < polynomial->n_alternatives; i++) {
            const struct cm_alternative *alternative = &polynomial->alternatives[i];
            const bool last = i + 1 == polynomial->n_alternatives;
            if (i > 0) {
                page_end_line(page);
                page_indent(page, page->label_width + 4);
            }
            write_terms(page, formula, alternative->terms, alternative->n_terms,
                        last ? ")" : ",");
        }
    } else if (strcmp(polynomial->state, "other") == 0) {
        page_print(page, STYLE_WARNING, "no polynomial: ");
        page_list(page, "; ", page->label_width);
        for (size_t i = 0; i < polynomial->n_samples; i++) {
            const struct cm_sample *sample = &polynomial->samples[i];
            struct text *item = page_item(page);
            number_append_exact(item, sample->value);
            text_append(item, " at ");
            for (size_t k = 0; k < sample->n_sizes && k < formula->n_variables; k++) {
                text_append(item, k == 0 ? "" : ", ");
                append_name(item, formula->variables[k].name);
                text_printf(item, " = %zu", sample->sizes[k]);
            }
            page_item_end(page, STYLE_PLAIN);
        }
    } else {
        page_print(page, STYLE_WARNING,
                   strcmp(polynomial->state, "large") == 0 ? "past 2^63" : "?");
    }
    page_end_line(page);
}

/* Writes `N:  the batch, from 1 (tried to 65)` */
static void write_variable(struct page *page, const struct cm_formula_variable *variable) {
    page_list(page, " ", page->label_width);
    struct text *item = page_item(page);
    append_name(item, variable->name);
    text_append(item, ":");
    page_item_end(page, STYLE_NAME);
    if (page->column < page->label_width)
        page_indent(page, page->label_width - 1 - page->column);
    item = page_item(page);
    text_append(item, strcmp(variable->what, "batch") == 0 ? "the batch" : "a symbolic dim");
    if (strcmp(variable->what, "batch") == 0 && variable->dim[0] != '\0') {
        text_append(item, ", which the file calls ");
        append_name(item, variable->dim);
    }
    if (variable->same_as[0] != '\0') {
        text_append(item, ", always ");
        append_name(item, variable->same_as);
    } else if (variable->step == 1) {
        text_printf(item, ", from %" PRId64, variable->from);
    } else {
        text_printf(item, ", multiples of %" PRId64 " from %" PRId64, variable->step,
                    variable->from);
    }
    text_printf(item, " (tried to %" PRId64 ")", variable->largest);
    page_item_end(page, STYLE_PLAIN);
    page_end_line(page);
}

static void write_head(struct page *page, const struct cm_formula *formula) {
    label_name(page, "model", formula->model);
    label_name(page, "convention", formula->convention);
    if (formula->precision) label_name(page, "precision", formula->precision);
    label_name(page, "mode", formula->mode);
    label_name(page, "fixed batch", formula->fixed_batch);
    if (formula->n_dims > 0) label_list(page, "bound dims", ", ", 0);
    for (size_t i = 0; i < formula->n_dims; i++) {
        struct text *item = page_item(page);
        append_name(item, formula->dims[i].name);
        text_printf(item, " = %" PRId64, formula->dims[i].size);
        page_item_end(page, STYLE_PLAIN);
    }
    if (formula->n_dims > 0) page_end_line(page);
    for (size_t i = 0; i < formula->n_variables; i++)
        write_variable(page, &formula->variables[i]);
    label_line(page, "profiles", "%" PRId64 ", of which %" PRId64 " only check the formulas",
               formula->profiles, formula->checks);
    page_end_line(page);
}

static const struct cm_polynomial *find_polynomial(const struct cm_formula_module *module,
                                                   const char *metric) {
    for (size_t i = 0; i < module->n_polynomials; i++)
        if (strcmp(module->polynomials[i].metric, metric) == 0) return &module->polynomials[i];
    return NULL;
}

/* Returns the value of first_metric if all variables are 128; 0 if it is not a polynomial. A
 * double suffices, because it only orders the modules. */
static double weight_of(const struct cm_formula_module *module) {
    const struct cm_polynomial *polynomial = find_polynomial(module, first_metric);
    double sum = 0;
    for (size_t i = 0; polynomial && i < polynomial->n_terms; i++) {
        const struct cm_monomial *term = &polynomial->terms[i];
        double value = (double)term->numerator / (double)term->denominator;
        for (size_t k = 0; k < term->n_exponents; k++)
            for (size_t n = 0; n < term->exponents[k] && n < 8; n++) value *= 128;
        sum += value;
    }
    return sum;
}

struct ranked {
    const struct cm_formula_module *module;
    double weight;
    size_t order;
};

static int by_weight(const void *a, const void *b) {
    const struct ranked *first = a;
    const struct ranked *second = b;
    if (first->weight != second->weight) return first->weight < second->weight ? 1 : -1;
    return first->order < second->order ? -1 : 1;
}

/* Writes the modules of one depth; returns false if there are none. */
static bool write_depth(struct page *page, const struct cm_formula *formula, int depth,
                        struct ranked *ranked) {
    const size_t top = (size_t)page->options->top;
    size_t n = 0;
    for (size_t i = 0; i < formula->n_modules; i++)
        if (formula->modules[i].depth == depth) {
            const struct cm_formula_module *module = &formula->modules[i];
            ranked[n] = (struct ranked){module, weight_of(module), n};
            n++;
        }
    if (n == 0) return false;
    sort_stable(ranked, n, sizeof(*ranked), by_weight);
    page_end_line(page);
    page_line(page, STYLE_TITLE, "depth %d:", depth);
    for (size_t i = 0; i < n && (top == 0 || i < top); i++) {
        const struct cm_formula_module *module = ranked[i].module;
        page_print(page, STYLE_NAME, "%s", module->path);
        if (strcmp(module->type, module->name) != 0)
            page_print(page, STYLE_PLAIN, " (%s)", module->type);
        page_end_line(page);
        for (size_t k = 0; k < N_OF_MODULES; k++) {
            const struct cm_polynomial *polynomial = find_polynomial(module, of_modules[k]);
            if (polynomial) write_polynomial(page, formula, polynomial);
        }
    }
    return true;
}

int cm_formula_write_text(const struct cm_formula *formula,
                          const struct cm_text_options *options, FILE *out) {
    options = ARGUMENTS_TAKE(cm_text_options, options, formula && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct page page;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    write_head(&page, formula);
    /* module 0 is the model itself */
    for (size_t i = 0; formula->n_modules > 0 && i < formula->modules[0].n_polynomials; i++) {
        const struct cm_polynomial *polynomial = &formula->modules[0].polynomials[i];
        const struct column *column = column_of(polynomial->metric);
        const bool is_zero =
            polynomial->n_terms == 0 && strcmp(polynomial->state, "polynomial") == 0;
        /* omits integer metrics that are 0 at all sizes (int_macs of a float model) */
        if (column == NULL || !column->part || !is_zero)
            write_polynomial(&page, formula, polynomial);
    }
    struct ranked *ranked = arena_array(arena, formula->n_modules, sizeof(*ranked));
    bool is_any = ranked != NULL && options->detailed;
    for (int depth = 1; is_any && (options->depth < 0 || depth <= options->depth); depth++)
        is_any = write_depth(&page, formula, depth, ranked);
    return arena_end(arena, page_finish(&page));
}
