/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel ops`: every operator that has a row, and from which opsets on. */
#include "cli/command.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "ops/decision.h"
#include "ops/integers.h"
#include "ops/registry.h"
#include "support/text.h"

#include "support/banned.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN };

struct request {
    int format;
    bool markdown;
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT},
    {"json", FORMAT_JSON},
    {"markdown", FORMAT_MARKDOWN},
    {NULL, 0},
};

const struct option ops_options[] = {
    {.heading = "The list",
     .name = "format",
     .kind = OPTION_CHOICE,
     .offset = OPTION_AT(struct request, int, format),
     .value = "FORMAT",
     .choices = formats,
     .help = "text for people (default), json: every row with its signature,\n"
             "markdown: what each operator costs"},
    {.name = "markdown",
     .kind = OPTION_SET,
     .offset = OPTION_AT(struct request, bool, markdown),
     .help = "the same as --format markdown"},
    {.name = NULL},
};

static const char *domain_name(const struct op *op) {
    return op->domain[0] == '\0' ? "ai.onnx" : op->domain;
}

static bool same_operator(const struct op *a, const struct op *b) {
    return text_equal(a->domain, b->domain) && text_equal(a->type, b->type);
}

/* Prints the operator that begins at row `first`; gives the row after its last version. */
static size_t print_operator(const struct op_family *family, size_t first) {
    const struct op *op = &family->rows[first];
    printf("%-12s  %-16s  %-28s ", family->name, domain_name(op), op->type);
    size_t i = first;
    for (; i < family->n_rows && same_operator(op, &family->rows[i]); i++) {
        printf(" %" PRId32, family->rows[i].since);
    }
    printf("\n");
    return i;
}

static void print_text(void) {
    printf("%-12s  %-16s  %-28s  %s\n", "family", "domain", "operator", "since opset");
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0; row < family->n_rows;) row = print_operator(family, row);
    }
}

/* null: as many as there are. */
static void print_arity(const char *what, int32_t least, int32_t most) {
    printf(", \"%s\": [%" PRId32 ", ", what, least);
    if (most == VARIADIC)
        printf("null]");
    else
        printf("%" PRId32 "]", most);
}

/* Names and texts of rows are words: nothing in them wants an escape. */
static void print_attribute(const struct op_attr *attr) {
    printf("{\"name\": \"%s\", \"kind\": \"%s\"", attr->name, attr_kind_name(attr->kind));
    if (attr->required) printf(", \"required\": true");
    if (attr->has_default && attr->kind == ATTR_INT) printf(", \"default\": %" PRId64, attr->i);
    if (attr->has_default && attr->kind == ATTR_FLOAT) printf(", \"default\": %.9g", attr->f);
    if (attr->has_default && attr->kind == ATTR_STRING)
        printf(", \"default\": \"%s\"", attr->s);
    printf("}");
}

static void print_row(const struct op_family *family, const struct op *op) {
    printf("{\"family\": \"%s\", \"domain\": \"%s\", \"operator\": \"%s\", \"since\": %" PRId32,
           family->name, domain_name(op), op->type, op->since);
    print_arity("inputs", op->min_inputs, op->max_inputs);
    print_arity("outputs", op->min_outputs, op->max_outputs);
    printf(", \"attributes\": [");
    for (const struct op_attr *attr = op->attrs; attr && attr->name; attr++) {
        if (attr != op->attrs) printf(", ");
        print_attribute(attr);
    }
    printf("]}");
}

static void print_json(void) {
    const char *between = "";
    printf("{\"schema\": \"costmodel/ops/1\", \"rows\": [");
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0; row < family->n_rows; row++) {
            printf("%s\n", between);
            print_row(family, &family->rows[row]);
            between = ",";
        }
    }
    printf("\n]}\n");
}

static const char *bytes_of(const struct op *op) {
    static const char *const names[] = {
        [MEMORY_FRESH] = "written",
        [MEMORY_VIEW] = "none: a view",
        [MEMORY_IN_PLACE] = "written, may be in place",
        [MEMORY_SHAPE_ONLY] = "none: shape arithmetic",
        [MEMORY_VIEW_UNLESS_TRAINING] = "a view, written in training",
        [MEMORY_IN_PLACE_UNLESS_TRAINING] = "written, may be in place unless training",
        [MEMORY_CONTROL] = "those of its body",
    };
    return names[op->memory];
}

/* "5 n", "n", nothing of 0. */
static const char *print_term(const char *between, int64_t factor, const char *of) {
    if (factor == 0) return between;
    printf("%s", between);
    if (factor != 1) printf("%" PRId64 " ", factor);
    printf("%s", of);
    return " + ";
}

/* By the default convention; n: elements of the first input, out: of the first output. */
static void print_flops(const struct op_family *family, const struct op *op) {
    const struct op_cost *cost = &op->cost;
    const char *between = "";
    between = print_term(between, cost->macs ? 2 : 0, "MACs");
    between = print_term(between, cost->per_input, "n");
    between = print_term(between, cost->per_output, "out");
    between =
        print_term(between, cost->extra ? 1 : 0, cost->extra ? cost->extra_description : "");
    if (between[0] == '\0') printf("0: %s", decision_free(family, op));
    if (integers_words(op)) printf("; %s", integers_words(op));
}

/* One line for all versions of an operator, by what the newest costs; gives the row after. */
static size_t print_line(const struct op_family *family, size_t first) {
    const char *between = "";
    size_t i = first;
    printf("| %s | ", family->rows[first].type);
    for (; i < family->n_rows && same_operator(&family->rows[first], &family->rows[i]); i++) {
        printf("%s%" PRId32, between, family->rows[i].since);
        between = ", ";
    }
    const struct op *op = &family->rows[i - 1];
    printf(" | %s | ", op->cost.macs ? op->cost.macs_formula : "0");
    print_flops(family, op);
    printf(" | %s |\n", bytes_of(op));
    return i;
}

static void print_family(const struct op_family *family) {
    const char *domain = "";
    for (size_t row = 0; row < family->n_rows;) {
        const struct op *op = &family->rows[row];
        if (!text_equal(domain, domain_name(op))) {
            domain = domain_name(op);
            printf("\n## %s (%s)\n\n", family->name, domain);
            printf("| operator | rows since opset | MACs | FLOPs | bytes of the result |\n");
            printf("|---|---|---|---|---|\n");
        }
        row = print_line(family, row);
    }
}

static void print_markdown(void) {
    printf(
        "A row holds from its opset on to the next. n: elements of the first operand, out: of "
        "the first result;\nFLOPs by the convention `deepspeed`. An operator computes on "
        "integers "
        "where its first operand and its first result\nare such, unless its row says "
        "otherwise.\n");
    for (size_t i = 0; i < registry_n_families(); i++) print_family(registry_family(i));
}

int command_ops(const struct invocation *call) {
    struct request request = {.format = FORMAT_TEXT};
    struct option_list operands = {0, NULL};
    const int status = options_parse(ops_options, call, &request, &operands);
    if (status < 0) return command_exit(status);
    if (operands.n > 0) {
        return command_exit(
            options_fault(call, "ops takes no arguments, got '%s'", operands.values[0]));
    }
    if (request.markdown || request.format == FORMAT_MARKDOWN)
        print_markdown();
    else if (request.format == FORMAT_JSON)
        print_json();
    else
        print_text();
    return command_finish(call, EXIT_DONE);
}
