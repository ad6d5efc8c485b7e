/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `costmodel check`, their combinations, and the command that updates a baseline. */
#include "cli/check/check_command.h"

#include <string.h>

#include "cli/names.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

static const struct option_choice formats[] = {
    {"text", CHECK_FORMAT_TEXT, "default"},
    {"json", 1, NULL},
    {"markdown", 2, "pull request comment"},
    {"junit", 3, NULL},
    {"sarif", 4, NULL},
    {"github", 5, "workflow annotations"},
    {"html", CHECK_FORMAT_HTML, "page for a browser"},
    {.name = NULL},
};

static const struct option_part parts_report[] = {
    {"", .choices = formats}, {"=", .files = "*"}, {.after = NULL}};
static const struct option_part parts_limit[] = {{"", .names = names_of_metrics},
                                                 {":", .names = names_of_metrics},
                                                 {"=", .names = NULL},
                                                 {"<", .names = NULL},
                                                 {"@", .names = NULL},
                                                 {.after = NULL}};

#define AT(type, member)   OPTION_AT(struct check_request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct check_request, member)

/* clang-format off */
const struct option check_options[] = {
    {.heading = "Regression gate", .name = "baseline", INTO(TEXT, baseline), .value = "FILE", .files = "json",
     .help = "baseline to compare with: a file of --update-baseline or a profile in\n"
             "JSON; - is standard input; {name} is the file name of the model without\n"
             "extension"},
    {.name = "budget", INTO(TEXT, budget), .value = "FILE", .files = "json",
     .help = "limits and the batches and dims to check them at"},
    {.name = "config", INTO(TEXT, config), .value = "FILE", .files = "toml",
     .rules = OPTION_OF_COMMAND_LINE,
     .help = "check the models of this file (docs/config.md; default without MODEL:\n"
             ".costmodel.toml here, or in a parent folder of the repository)"},
    {.name = "limit", INTO(LIST, limits), .value = "LIMIT", .parts = parts_limit,
     .help = "limit [MODULES:] METRIC [@ BATCH] <= BOUND [| BOUND], e.g.\n"
             "'macs <= 4.1G', 'layer1.*: flops <= +0%' or 'arena_bytes <= +2% | +1MiB';\n"
             "repeatable (default: no cost may increase over the baseline); also figures\n"
             "of `costmodel llm`, such as 'kv_bytes_per_token <= 128KiB'"},
    {.name = "allow-incomplete", INTO(SET, allow_incomplete),
     .help = "check the known costs of a model with unknown operators or shapes"},
    {.name = "fail-ambiguous", INTO(SET, fail_ambiguous),
     .help = "exit with status 1 instead of 3 if measured times overlap"},
    {.name = "top", INTO(INT, top), .value = "N", .min = 0, .max = 1000,
     .help = "modules to list per regression (default 3)"},
    {.name = "update-baseline", INTO(SET, update), .rules = OPTION_OF_COMMAND_LINE,
     .help = "write the current costs to the file of --baseline instead of checking"},
    {.name = "reason", INTO(TEXT, reason), .value = "TEXT", .rules = OPTION_OF_COMMAND_LINE,
     .help = "reason for the update, recorded in the baseline; required if a cost\n"
             "increased"},
    {.name = "ratchet", INTO(SET, ratchet), .rules = OPTION_OF_COMMAND_LINE,
     .help = "after a pass, update the baseline if a cost decreased and none\n"
             "increased"},
    {.rows = binding_batches, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.rows = binding_counting, .offset = AT(struct binding, binding)},
    {.rows = binding_rest, .offset = AT(struct binding, binding)},
    {.rows = timing_options, .offset = AT(struct timing, timing)},
    {.rows = timing_import, .offset = AT(struct timing, timing)},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format),
     .value = "FORMAT", .choices = formats, .rules = OPTION_OF_COMMAND_LINE,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "report", INTO(LIST, reports), .value = "FORMAT=FILE", .parts = parts_report,
     .rules = OPTION_OF_COMMAND_LINE,
     .help = "also write the report to FILE in this format; repeatable; pages of several\n"
             "models need {name} in FILE"},
    {.name = "history", INTO(TEXT, history), .value = "FILE", .files = "jsonl", .rules = OPTION_OF_COMMAND_LINE,
     .help = "append the costs to FILE, a line for each model and batch; `costmodel\n"
             "history FILE` draws them"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

int check_report_read(const struct invocation *call, const char *text,
                      struct check_report *ret) {
    const char *equals = strchr(text, '=');
    const size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    for (const struct option_choice *row = formats; equals != NULL && row->name; row++) {
        if (strlen(row->name) != length || memcmp(row->name, text, length) != 0) continue;
        if (equals[1] == '\0')
            return options_fault(call, "option --report requires a file name, got '%s'", text);
        *ret = (struct check_report){(size_t)row->value, equals + 1};
        return CM_OK;
    }
    const struct option row = {.choices = formats};
    return options_fault(
        call, "option --report requires FORMAT=FILE such as junit=check.xml, with %s, got '%s'",
        options_list_names(call, &row), text);
}

static int check_request(const struct invocation *call, const struct check_request *request,
                         const struct option_list *operands) {
    if (operands->values[0][0] == '\0')
        return options_fault(call, "check requires a model, got ''");
    if (request->baseline == NULL && (request->update || request->ratchet))
        return options_fault(call, "option --%s requires --baseline",
                             request->update ? "update-baseline" : "ratchet");
    if (text_equal(request->baseline, "-") && (request->update || request->ratchet))
        return options_fault(
            call, "option --%s requires a baseline file, standard input is read-only",
            request->update ? "update-baseline" : "ratchet");
    if (text_equal(request->baseline, "-") && text_equal(operands->values[0], "-"))
        return options_fault(call, "only one of model and baseline can be standard input");
    if (text_equal(request->budget, "-") &&
        (text_equal(request->baseline, "-") || text_equal(operands->values[0], "-")))
        return options_fault(call,
                             "only one of model, baseline and budget can be standard input");
    if (request->update && request->ratchet)
        return options_fault(call,
                             "options --update-baseline and --ratchet are mutually exclusive");
    if (request->reason != NULL && !request->update)
        return options_fault(call, "option --reason requires --update-baseline");
    if (request->baseline == NULL && request->budget == NULL && request->limits.n == 0)
        return options_fault(call, "check requires --baseline, --budget or --limit");
    return CM_OK;
}

const char *check_expand_name(struct arena *arena, const char *path, const char *model) {
    static const char place[] = "{name}";
    const char *at = path == NULL ? NULL : strstr(path, place);
    const char *slash = strrchr(model, '/');
    const char *name = slash == NULL ? model : slash + 1;
    const char *dot = strrchr(name, '.');
    const size_t length = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    if (at == NULL) return path;
    return arena_printf(arena, "%.*s%.*s%s", (int)(at - path), path, (int)length, name,
                        at + sizeof(place) - 1);
}

int check_request_parse(const struct invocation *call, struct check_request *ret,
                        struct option_list *operands) {
    *ret = (struct check_request){.top = 3, .color = COLOR_AUTO};
    binding_defaults(&ret->binding);
    timing_defaults(&ret->timing);
    ret->binding.options.convention = NULL; /* default: that of the budget or baseline */
    return options_parse(check_options, call, ret, operands);
}

int check_request_try(const struct invocation *call) {
    struct check_request unused;
    struct option_list operands = {0, NULL};
    return check_request_parse(call, &unused, &operands);
}

int check_request_read(const struct check_item *item, struct check_request *ret) {
    const struct invocation *call = &item->call;
    struct diag_frame frame = {.label = "at", .what = item->at};
    struct option_list operands = {0, NULL};
    int status = check_request_parse(call, ret, &operands);
    if (status < 0) return status;
    ret->model = operands.values[0];
    ret->baseline = check_expand_name(call->arena, ret->baseline, ret->model);
    if (arena_failed(call->arena)) return diag_no_memory(call->diag);
    if (item->at != NULL && ret->baseline == NULL) {
        ret->ratchet = false;
        ret->is_skipped = ret->update;
    }
    if (ret->is_skipped) return CM_OK;
    if (item->at != NULL) diag_push(call->diag, &frame);
    status = check_request(call, ret, &operands);
    if (item->at != NULL) diag_pop(call->diag, &frame);
    return status;
}

/* Options that --update-baseline ignores or excludes. */
static const struct {
    const char *name;
    bool takes_value;
} dropped[] = {
    {"--format", true},          {"-f", true},        {"--output", true}, {"-o", true},
    {"--report", true},          {"--color", true},   {"--top", true},    {"--ratchet", false},
    {"--fail-ambiguous", false}, {"--history", true},
};

/* Returns how many arguments to drop from here: 0, 1 or 2. */
static int n_dropped(const char *const *argv, int left) {
    const size_t length = strcspn(argv[0], "=");
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
        const char *name = dropped[i].name;
        const bool is_letter = name[1] != '-';
        if (is_letter && text_starts_with(argv[0], name) && argv[0][2] != '\0') return 1;
        if (strlen(name) != length || memcmp(name, argv[0], length) != 0) continue;
        return dropped[i].takes_value && argv[0][length] == '\0' && left > 1 ? 2 : 1;
    }
    return 0;
}

/* Appends a word quoted for a POSIX shell. */
static void append_word(struct text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./=,:@%+";
    text_append(text, " ");
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        text_append(text, word);
        return;
    }
    text_append(text, "'");
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'')
            text_append(text, "'\\''");
        else
            text_append_n(text, c, 1);
    }
    text_append(text, "'");
}

/* The command has the options that update the baseline, then the arguments not dropped. */
const char *check_accept_command(const struct invocation *call) {
    bool ended = false; /* `--` was seen */
    struct text text = {.arena = call->arena};
    text_append(&text, "costmodel check --update-baseline --reason 'why the costs increase'");
    for (int i = 0; i < call->argc; i++) {
        const int n = ended ? 0 : n_dropped(call->argv + i, call->argc - i);
        ended |= text_equal(call->argv[i], "--");
        if (n == 0) append_word(&text, call->argv[i]);
        if (n == 2) i++;
    }
    return text.failed ? NULL : text_string(&text);
}
