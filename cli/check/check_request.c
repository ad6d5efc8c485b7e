/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `costmodel check`, a row each, and which of them go together. */
#include "cli/check/check_command.h"

#include <limits.h>

#include "cli/choices.h"
#include "cli/streams.h"
#include "support/text.h"

#include "support/banned.h"

static const struct option_choice formats[] = {
    {"text", 0},  {"json", 1},   {"markdown", 2}, {"junit", 3},
    {"sarif", 4}, {"github", 5}, {NULL, 0},
};

#define AT(want, member) OPTION_AT(struct check_request, want, member)

/* clang-format off */
const struct option check_options[] = {
    {.heading = "The gate", .name = "baseline", .kind = OPTION_TEXT,
     .offset = AT(const char *, baseline), .value = "FILE",
     .help = "what the model cost before: a file that --update-baseline wrote, or\n"
             "a profile as JSON; - is standard input"},
    {.name = "budget", .kind = OPTION_TEXT, .offset = AT(const char *, budget),
     .value = "FILE", .help = "limits, and the batches and dims to try them at"},
    {.name = "limit", .kind = OPTION_LIST, .offset = AT(struct option_list, limits),
     .value = "LIMIT",
     .help = "[MODULES:] METRIC [@ BATCH] <= BOUND [| BOUND], as 'macs <= 4.1G',\n"
             "'layer1.*: flops <= +0%' or 'arena_bytes <= +2% | +1MiB'; may be given\n"
             "many times (default: nothing may get dearer than in the baseline)"},
    {.name = "allow-incomplete", .kind = OPTION_SET, .offset = AT(bool, allow_incomplete),
     .help = "compare what is known of a model with unknown operators or shapes"},
    {.name = "fail-ambiguous", .kind = OPTION_SET, .offset = AT(bool, fail_ambiguous),
     .help = "measured times that overlap are a regression"},
    {.name = "top", .kind = OPTION_INT, .offset = AT(int, top), .value = "N",
     .min = 0, .max = 1000,
     .help = "modules to name for each regression (default 3)"},
    {.name = "update-baseline", .kind = OPTION_SET, .offset = AT(bool, update),
     .help = "write what the model costs now to the file of --baseline, and no verdict"},
    {.name = "reason", .kind = OPTION_TEXT, .offset = AT(const char *, reason),
     .value = "TEXT",
     .help = "why; kept in the baseline, and wanted where something got dearer"},
    {.name = "ratchet", .kind = OPTION_SET, .offset = AT(bool, ratchet),
     .help = "after a pass, write the baseline anew if the model got cheaper and\n"
             "nothing got dearer"},
    {.rows = binding_batches, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.rows = binding_counting, .offset = AT(struct binding, binding)},
    {.rows = binding_training, .offset = AT(struct binding, binding)},
    {.rows = binding_modules, .offset = AT(struct binding, binding)},
    {.rows = binding_memory, .offset = AT(struct binding, binding)},
    {.rows = asked_times, .offset = AT(struct asked, asked)},
    {.heading = "The verdict", .name = "format", .kind = OPTION_CHOICE,
     .offset = AT(int, format), .value = "FORMAT", .choices = formats,
     .help = "text (default), json, markdown for a comment, junit, sarif, or github\n"
             "for annotations of its workflows"},
    {.name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = AT(const char *, output),
     .value = "FILE",
     .help = "write there, whole or not at all (default: standard output)"},
    {.name = "report", .kind = OPTION_LIST, .offset = AT(struct option_list, reports),
     .value = "FORMAT=FILE",
     .help = "write it there in another format, too; may be given many times"},
    {.name = "color", .kind = OPTION_CHOICE, .offset = AT(int, color), .value = "WHEN",
     .choices = choices_color,
     .help = "auto (default: on a terminal, unless NO_COLOR is set), always or\n"
             "never"},
    {.name = NULL},
};
/* clang-format on */

const char *check_format_name(size_t index) {
    return index < sizeof(formats) / sizeof(formats[0]) ? formats[index].name : NULL;
}

static int check_request(const struct invocation *call, const struct check_request *request,
                         const struct option_list *operands) {
    if (operands->n != 1 || operands->values[0][0] == '\0')
        return options_fault(call, "check wants one model, got %zu", operands->n);
    if (request->baseline == NULL && (request->update || request->ratchet))
        return options_fault(call, "option --%s wants --baseline",
                             request->update ? "update-baseline" : "ratchet");
    if (text_equal(request->baseline, "-") && (request->update || request->ratchet))
        return options_fault(call, "option --%s wants a file to write, not standard input",
                             request->update ? "update-baseline" : "ratchet");
    if (text_equal(request->baseline, "-") && text_equal(operands->values[0], "-"))
        return options_fault(call, "standard input cannot be both the model and the baseline");
    if (text_equal(request->budget, "-") &&
        (text_equal(request->baseline, "-") || text_equal(operands->values[0], "-")))
        return options_fault(call, "standard input cannot be the budget and another file too");
    if (request->update && request->ratchet)
        return options_fault(call, "--update-baseline and --ratchet are two ways to one file");
    if (request->reason != NULL && !request->update)
        return options_fault(call, "option --reason wants --update-baseline");
    if (request->baseline == NULL && request->budget == NULL && request->limits.n == 0)
        return options_fault(call, "check wants --baseline, --budget or --limit");
    return CM_OK;
}

int check_request_read(const struct invocation *call, struct check_request *ret) {
    struct option_list operands = {0, NULL};
    *ret = (struct check_request){.top = 3, .color = COLOR_AUTO};
    binding_defaults(&ret->binding);
    asked_defaults(&ret->asked);
    ret->binding.convention = NULL; /* the budget's or the baseline's, unless it is given */
    int status = options_parse(check_options, call, ret, &operands);
    if (status == CM_OK) status = check_request(call, ret, &operands);
    if (status == CM_OK) ret->model = operands.values[0];
    return status;
}
