/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel ops`: lists the supported operators and their opsets. */
#include "cli/command.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "ops/integers.h"
#include "ops/registry/registry.h"
#include "support/json/json_writer.h"
#include "support/suggest.h"
#include "support/text.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN };

struct request {
    int format;
    bool markdown;
    struct option_list types; /* to list; none: all */
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"},
    {"json", FORMAT_JSON, "every row with its signature"},
    {"markdown", FORMAT_MARKDOWN, "costs of each operator"},
    {.name = NULL}};

/* clang-format off */
const struct option ops_options[] = {
    {.heading = "Output", .name = "format", .letter = 'f',
     OPTION_INTO(CHOICE, struct request, format), .value = "FORMAT", .choices = formats,
     .help = "format of the list:"},
    {.name = "markdown", OPTION_INTO(SET, struct request, markdown),
     .help = "the same as --format markdown"},
    {.name = NULL},
};
/* clang-format on */

static const char *domain_name(const struct op *op) {
    return op->domain[0] == '\0' ? "ai.onnx" : op->domain;
}

/* The types of operators, once for each domain. */
static bool names_of_operators(const struct option_query *query, size_t index,
                               struct option_choice *ret) {
    (void)query;
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0; row < family->n_rows; row++) {
            const char *type = family->rows[row].type;
            if ((row > 0 && text_equal(type, family->rows[row - 1].type)) || index-- > 0)
                continue;
            *ret = (struct option_choice){.name = type};
            return true;
        }
    }
    return false;
}

const struct option ops_operands[] = {
    {.name = "OPERATOR", .names = names_of_operators, .list = true}, {.name = NULL}};

static bool is_wanted(const struct request *request, const struct op *op) {
    for (size_t i = 0; i < request->types.n; i++)
        if (text_equal(request->types.values[i], op->type)) return true;
    return request->types.n == 0;
}

static bool same_operator(const struct op *a, const struct op *b) {
    return text_equal(a->domain, b->domain) && text_equal(a->type, b->type);
}

/* Returns the index of the next operator of the family, whose rows are one for each version. */
static size_t next_operator(const struct op_family *family, size_t first) {
    size_t i = first + 1;
    while (i < family->n_rows && same_operator(&family->rows[first], &family->rows[i])) i++;
    return i;
}

static void print_text(const struct request *request) {
    printf("%-12s  %-16s  %-28s  %s\n", "family", "domain", "operator", "since opset");
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0, end = 0; row < family->n_rows; row = end) {
            const struct op *op = &family->rows[row];
            end = next_operator(family, row);
            if (!is_wanted(request, op)) continue;
            printf("%-12s  %-16s  %-28s ", family->name, domain_name(op), op->type);
            for (; row < end; row++) printf(" %" PRId32, family->rows[row].since);
            printf("\n");
        }
    }
}

/* Writes [min, max]; max is null if the number is unlimited. */
static void write_arity(struct json_writer *json, const char *key, int32_t min, int32_t max) {
    json_open(json, key, '[');
    json_write_integer(json, min);
    json_write_integer(json, max == VARIADIC ? CM_UNKNOWN : max);
    json_end(json, ']');
}

static void write_row(struct json_writer *json, const struct op_family *family,
                      const struct op *op) {
    json_break_line(json, 0, false);
    json_begin(json, '{');
    json_key_string(json, "family", family->name);
    json_key_string(json, "domain", domain_name(op));
    json_key_string(json, "operator", op->type);
    json_key_integer(json, "since", op->since);
    write_arity(json, "inputs", op->min_inputs, op->max_inputs);
    write_arity(json, "outputs", op->min_outputs, op->max_outputs);
    json_open(json, "attributes", '[');
    for (const struct op_attr *attr = op->attrs; attr && attr->name; attr++) {
        json_begin(json, '{');
        json_key_string(json, "name", attr->name);
        json_key_string(json, "kind", attr_kind_name(attr->kind));
        if (attr->required) json_key_bool(json, "required", true);
        if (attr->has_default && attr->kind == ATTR_INT)
            json_key_integer(json, "default", attr->i);
        if (attr->has_default && attr->kind == ATTR_FLOAT) {
            json_write_key(json, "default");
            json_write_double(json, (double)attr->f, 9);
        }
        if (attr->has_default && attr->kind == ATTR_STRING)
            json_key_string(json, "default", attr->s);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static void print_json(const struct request *request) {
    struct json_writer json = {.out = stdout, .spaced = true};
    json_begin(&json, '{');
    json_key_string(&json, "schema", "costmodel/ops/1");
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0; row < family->n_rows; row++)
            if (is_wanted(request, &family->rows[row]))
                write_row(&json, family, &family->rows[row]);
    }
    json_break_line(&json, 0, true);
    json_end(&json, ']');
    json_end(&json, '}');
    printf("\n");
}

static const char *const written_bytes[] = {
    [MEMORY_FRESH] = "written",
    [MEMORY_VIEW] = "none: view",
    [MEMORY_IN_PLACE] = "written, in place if possible",
    [MEMORY_SHAPE_ONLY] = "none: shape arithmetic",
    [MEMORY_VIEW_UNLESS_TRAINING] = "view; training: written",
    [MEMORY_IN_PLACE_UNLESS_TRAINING] = "written, in place if possible; training: written",
    [MEMORY_CONTROL] = "as its body",
};

/* Prints "5 n", or "n" for a factor of 1, or nothing for 0; returns the next separator. */
static const char *print_term(const char *between, int64_t factor, const char *of) {
    if (factor == 0) return between;
    printf("%s", between);
    if (factor != 1) printf("%" PRId64 " ", factor);
    printf("%s", of);
    return " + ";
}

/* Prints one line for all versions of an operator, the rows first to end - 1, with the costs of
 * the newest by the default convention (n, out: elements of the first input and output). */
static void print_line(const struct op_family *family, size_t first, size_t end) {
    const char *between = "";
    printf("| %s | ", family->rows[first].type);
    for (size_t i = first; i < end; i++) {
        printf("%s%" PRId32, between, family->rows[i].since);
        between = ", ";
    }
    const struct op *op = &family->rows[end - 1];
    const struct op_flops none = {.extra = NULL};
    const struct op_flops *flops = op->facets->flops[FLOPS_DEEPSPEED];
    if (!flops) flops = &none;
    printf(" | %s | ", op->cost.macs ? op->cost.macs_formula : "0");
    between = print_term("", op->cost.macs ? 2 : 0, "MACs");
    between = print_term(between, flops->per_input, "n");
    between = print_term(between, flops->per_output, "out");
    between = print_term(between, flops->extra ? 1 : 0, flops->extra_description);
    if (between[0] == '\0') printf("0: %s", registry_free(family, op));
    if (integers_words(op)) printf("; %s", integers_words(op));
    printf(" | %s |\n", written_bytes[op->memory]);
}

static void print_markdown(const struct request *request) {
    printf("A row applies from its opset to the next listed opset. n: elements of the first "
           "operand; out: elements of\nthe first result. FLOPs are by the convention "
           "`deepspeed`. "
           "Operations count as integer operations if the first\noperand and the first result "
           "are integers, unless the row specifies otherwise.\n");
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        const char *domain = "";
        for (size_t row = 0, end = 0; row < family->n_rows; row = end) {
            end = next_operator(family, row);
            if (!is_wanted(request, &family->rows[row])) continue;
            if (!text_equal(domain, domain_name(&family->rows[row]))) {
                domain = domain_name(&family->rows[row]);
                printf("\n## %s (%s)\n\n", family->name, domain);
                printf("| operator | rows since opset | MACs | FLOPs | result bytes |\n");
                printf("|---|---|---|---|---|\n");
            }
            print_line(family, row, end);
        }
    }
}

/* Refuses an operator that is not supported. */
static int check_types(const struct invocation *call, const struct request *request) {
    for (size_t k = 0; k < request->types.n; k++) {
        struct option_choice known;
        struct suggestion suggestion;
        const char *type = request->types.values[k];
        bool found = false;
        suggest_init(&suggestion, type, strlen(type));
        for (size_t i = 0; !found && names_of_operators(NULL, i, &known); i++) {
            found = text_equal(known.name, type);
            suggest_offer(&suggestion, known.name);
        }
        if (!found && suggestion.best == NULL)
            return options_fault(call, "unknown operator '%s'", type);
        if (!found)
            return options_fault(call, "unknown operator '%s', did you mean '%s'?", type,
                                 suggestion.best);
    }
    return CM_OK;
}

int command_ops(const struct invocation *call) {
    struct request request = {.format = FORMAT_TEXT};
    int status = options_parse(ops_options, call, &request, &request.types);
    if (status == CM_OK) status = check_types(call, &request);
    if (status < 0) return command_exit(status);
    if (request.markdown || request.format == FORMAT_MARKDOWN)
        print_markdown(&request);
    else if (request.format == FORMAT_JSON)
        print_json(&request);
    else
        print_text(&request);
    return command_finish(call, EXIT_DONE);
}
