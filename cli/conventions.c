/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel conventions MODEL`: FLOPs of a model by each convention, and the operator types
 * that cause the largest differences from plain MACs. Every row is a separate profile, so its
 * values equal those of `--convention`. */
#include "cli/command.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/binding.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/json/json_writer.h"
#include "support/text.h"

#define TOP 3 /* operator types listed per convention */

enum format { FORMAT_TEXT, FORMAT_JSON };

struct request {
    struct binding binding;
    int format;
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"}, {"json", FORMAT_JSON, NULL}, {.name = NULL}};

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option conventions_options[] = {
    {.rows = binding_batch, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format),
     .value = "FORMAT", .choices = formats, .help = "format of the report:"},
    {.name = NULL},
};
/* clang-format on */

struct share {
    const char *op; /* NULL: none */
    int64_t beyond; /* operations - MACs */
};

/* Largest number of operator types with operations beyond MACs; further types are ignored. */
#define MAX_TYPES 512

static void add_share(struct share *shares, size_t *n, const char *op, int64_t beyond) {
    size_t i = 0;
    while (i < *n && !text_equal(shares[i].op, op)) i++;
    if (i == MAX_TYPES) return;
    if (i == *n) shares[(*n)++] = (struct share){.op = op};
    shares[i].beyond = checked_add(shares[i].beyond, beyond);
}

/* Sets `top` to the TOP shares of largest magnitude, largest first, in stable order. */
static void pick_top(const struct share *shares, size_t n, struct share *top) {
    for (size_t i = 0; i < TOP; i++) top[i] = (struct share){0};
    for (size_t i = 0; i < n; i++) {
        struct share rest = shares[i];
        for (size_t k = 0; k < TOP && rest.op; k++) {
            if (top[k].op && llabs(top[k].beyond) >= llabs(rest.beyond)) continue;
            struct share pushed = top[k];
            top[k] = rest;
            rest = pushed;
        }
    }
}

struct job {
    const struct invocation *call;
    struct request request;
    const char *path;
    struct cm_options options;
    struct share *shares; /* MAX_TYPES, scratch */
    struct cm_model *model;
    bool complete;
    struct json_writer json;
};

/* Returns the number of operations that the convention counts, on floats and integers. */
static int64_t operations_of(const struct cm_convention *convention,
                             const struct cm_costs *costs) {
    return convention->separates_integers ? checked_add(costs->flops, costs->int_ops)
                                          : costs->flops;
}

static int64_t non_mac_operations(const struct cm_convention *convention,
                                  const struct cm_node *node) {
    const int64_t operations = operations_of(convention, &node->costs);
    if (!is_known(operations) || !is_known(node->costs.macs)) return 0;
    return checked_sub(operations, node->costs.macs);
}

static int find_top(const struct job *job, const struct cm_convention *convention,
                    const struct cm_result *result, struct share *top) {
    size_t n = 0;
    bool *is_part = arena_array(job->call->arena, result->n_nodes, sizeof(*is_part));
    if (!is_part) return diag_no_memory(job->call->diag);
    /* a fused pattern counts as one operator, instead of its nodes */
    for (size_t i = 0; i < result->n_fused_patterns; i++) {
        const struct cm_fused_pattern *fused_pattern = &result->fused_patterns[i];
        int64_t beyond = 0;
        if (fused_pattern->foldable) continue;
        for (size_t k = 0; k < fused_pattern->n_nodes; k++) {
            is_part[fused_pattern->nodes[k]] = true;
            beyond = checked_add(
                beyond,
                non_mac_operations(convention, &result->nodes[fused_pattern->nodes[k]]));
        }
        if (beyond != 0) add_share(job->shares, &n, fused_pattern->op, beyond);
    }
    for (size_t i = 0; i < result->n_nodes; i++) {
        int64_t beyond = is_part[i] ? 0 : non_mac_operations(convention, &result->nodes[i]);
        if (beyond != 0) add_share(job->shares, &n, result->nodes[i].op, beyond);
    }
    pick_top(job->shares, n, top);
    return CM_OK;
}

static void print_text_row(const struct cm_convention *convention,
                           const struct cm_result *result, const struct share *top) {
    const int64_t total = operations_of(convention, &result->totals);
    printf("%-13s %-6s ", convention->name, convention->unit);
    if (is_known(total))
        printf("%20" PRId64, total);
    else
        printf("%20s", "?");
    for (size_t i = 0; i < TOP && top[i].op; i++)
        printf("%s%s %+" PRId64, i > 0 ? ", " : "  ", top[i].op, top[i].beyond);
    printf("\n");
}

static void write_json_row(struct json_writer *json, const struct cm_convention *convention,
                           const struct cm_result *result, const struct share *top) {
    json_break_line(json, 4, false);
    json_begin(json, '{');
    json_key_string(json, "name", convention->name);
    json_key_string(json, "unit", convention->unit);
    json_key_string(json, "meaning", convention->meaning);
    json_key_integer(json, "flops", result->totals.flops);
    json_key_integer(json, "int_ops", result->totals.int_ops);
    json_open(json, "beyond_macs", '[');
    for (size_t i = 0; i < TOP && top[i].op; i++) {
        json_begin(json, '{');
        json_key_string(json, "op", top[i].op);
        json_key_integer(json, "flops", top[i].beyond);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

/* Writes the row of a convention; before the first row, also the head of the table. Prints the
 * messages of the first profile and of one that fails; they are the same for each convention.
 */
static int write_one(struct job *job, size_t index) {
    const struct cm_convention *convention = cm_convention_at(index);
    const bool is_text = job->request.format == FORMAT_TEXT;
    struct json_writer *json = &job->json;
    struct cm_result *result = NULL;
    struct share top[TOP];
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (!diag) return diag_no_memory(job->call->diag);
    int status = CM_OK;
    job->options.convention = convention->name;
    if (!job->model) status = cm_model_load_file(job->path, diag, &job->model);
    if (status == CM_OK) status = cm_model_profile(job->model, &job->options, diag, &result);
    if (index == 0 || status != CM_OK)
        messages_print(diag, job->path, COLOR_AUTO, job->call->diag);
    cm_diagnostics_free(diag);
    if (status != CM_OK) return status;
    job->complete = cm_result_complete(result);
    status = find_top(job, convention, result, top);
    if (status == CM_OK && index == 0 && is_text)
        printf("%-13s %-6s %20s  %s\n", "convention", "unit", "total",
               "largest differences from MACs");
    if (status == CM_OK && index == 0 && !is_text) {
        json_begin(json, '{');
        json_break_line(json, 2, false);
        json_key_string(json, "schema", "costmodel/conventions/1");
        json_break_line(json, 2, false);
        json_key_string(json, "model", job->path);
        json_break_line(json, 2, false);
        json_open(json, "conventions", '[');
    }
    if (status == CM_OK && is_text)
        print_text_row(convention, result, top);
    else if (status == CM_OK)
        write_json_row(json, convention, result, top);
    cm_result_free(result);
    return status;
}
static int run(struct job *job) {
    const struct invocation *call = job->call;
    struct request *request = &job->request;
    struct option_list operands = {0, NULL};
    binding_defaults(&request->binding);
    int status = options_parse(conventions_options, call, request, &operands);
    if (status == CM_OK && operands.n != 1)
        status = options_fault(call, "conventions requires one model, got %zu", operands.n);
    if (status == CM_OK) status = binding_read(call, &request->binding, &job->options);
    if (status != CM_OK) return command_exit(status);
    job->path = operands.values[0];
    job->shares = arena_array(call->arena, MAX_TYPES, sizeof(*job->shares));
    if (!job->shares) return command_exit(diag_no_memory(call->diag));
    for (size_t i = 0; status == CM_OK && cm_convention_at(i); i++) status = write_one(job, i);
    if (status != CM_OK) return command_exit(status);
    if (request->format == FORMAT_JSON) {
        json_break_line(&job->json, 2, true);
        json_end(&job->json, ']');
        json_break_line(&job->json, 0, true);
        json_end(&job->json, '}');
        printf("\n");
    }
    return command_finish(call, job->complete ? EXIT_DONE : EXIT_INCOMPLETE);
}

int command_conventions(const struct invocation *call) {
    struct job job = {.call = call, .json = {.out = stdout, .spaced = true}};
    const int exit_status = run(&job);
    cm_model_free(job.model);
    binding_free(&job.request.binding);
    return exit_status;
}
