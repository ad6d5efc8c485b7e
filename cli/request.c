/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `costmodel profile`, a row each. */
#include "cli/request.h"

#include <limits.h>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/streams.h"
#include "costmodel/costmodel.h"

#include "support/banned.h"

static const struct option_choice rows[] = {
    {"modules", CM_ROWS_MODULES},
    {"nodes", CM_ROWS_NODES},
    {"operators", CM_ROWS_OPERATORS},
    {NULL, 0},
};

#define AT(want, member) OPTION_AT(struct request, want, member)

/* clang-format off */
const struct option profile_options[] = {
    {.rows = binding_batches, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.rows = binding_counting, .offset = AT(struct binding, binding)},
    {.name = "explain", .kind = OPTION_LIST, .offset = AT(struct option_list, explain),
     .value = "NAME",
     .help = "instead of the report: how the figures of a node (by name, output\n"
             "or number) or a module (by path) come about, and what each\n"
             "convention makes of it; may be given many times"},
    {.name = "dump-after", .kind = OPTION_TEXT, .offset = AT(const char *, dump_after),
     .value = "PASS",
     .help = "print the graph to standard error as it stands after this pass"},
    {.rows = binding_training, .offset = AT(struct binding, binding)},
    {.rows = binding_modules, .offset = AT(struct binding, binding)},
    {.rows = binding_memory, .offset = AT(struct binding, binding)},
    {.name = "memory-limit", .kind = OPTION_BYTES, .offset = AT(int64_t, memory_limit),
     .value = "SIZE",
     .help = "does it fit into that much, as 16GiB, and how large a batch does?\n"
             "Weights and arena, or the peak of a step with --optimizer; no\n"
             "workspace of kernels"},
    {.name = "memory-curve", .kind = OPTION_SET, .offset = AT(bool, memory_curve),
     .help = "what is alive at each node: drawn in text, a list in json"},
    {.name = "memory-plan", .kind = OPTION_SET,
     .offset = AT(bool, memory_plan),
     .help = "json: the place of every value in one arena of activations"},
    {.rows = asked_times, .offset = AT(struct asked, asked)},
    {.name = "plan", .kind = OPTION_SET, .offset = AT(bool, asked.plan),
     .help = "how cuDNN would run each distinct layer on a GPU that need not be\n"
             "here, or why it would not; with --device, for that one"},
    {.name = "e2e", .kind = OPTION_SET, .offset = AT(bool, asked.e2e),
     .help = "run all that is measured once more as one network, and compare it with\n"
             "the sum of its layers"},
    {.name = "calibrate", .kind = OPTION_TEXT, .offset = AT(const char *, calibrate),
     .value = "FILE.json",
     .help = "instead of a model: measure what the device reaches at its best, and\n"
             "write a description of it that --device takes"},
    {.heading = "The report", .name = "format", .kind = OPTION_TEXT,
     .offset = AT(const char *, format_name), .value = "FORMAT",
     .help = "text for people (default), json for programs, csv, markdown; of modules\n"
             "folded (stacks for a flame graph), dot and mermaid (the tree); trace:\n"
             "with times, a timeline for chrome://tracing and Perfetto"},
    {.name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = AT(const char *, output),
     .value = "FILE",
     .help = "write there, whole or not at all (default: standard output)"},
    {.name = "formula", .kind = OPTION_SET, .offset = AT(bool, formula),
     .help = "text, json: instead of the report every figure as an exact formula in\n"
             "the batch and the free dims; --batch and --dim make one a constant"},
    {.name = "annotate", .kind = OPTION_TEXT, .offset = AT(const char *, annotate),
     .value = "OUT.onnx",
     .help = "write the model too, each node with its costs in its metadata_props,\n"
             "where Netron shows them; no weight is changed"},
    {.name = "rows", .kind = OPTION_CHOICE, .offset = AT(int, rows), .value = "ROWS",
     .choices = rows,
     .help = "text, csv, markdown: a table of modules, nodes or operators (in text\n"
             "instead of the report, as with the next three)"},
    {.name = "columns", .kind = OPTION_TEXT, .offset = AT(const char *, columns),
     .value = "A,B,...",
     .help = "with these columns, or all but shares; also what dot and mermaid write\n"
             "at each module (a wrong name lists those that there are)"},
    {.name = "sort", .kind = OPTION_TEXT, .offset = AT(const char *, sort),
     .value = "KEY[:asc|desc]",
     .help = "by this column, the largest first; names from a to z"},
    {.name = "filter", .kind = OPTION_LIST, .offset = AT(struct option_list, filters),
     .value = "CONDITION",
     .help = "of rows like this, as 'type=Conv*', 'macs>=1.5M' or 'macs_share<1%'\n"
             "(which is 0.01 without a sign); may be given many times"},
    {.name = "metric", .kind = OPTION_TEXT, .offset = AT(const char *, metric),
     .value = "KEY",
     .help = "folded: what stacks are of (default macs)"},
    {.name = "units", .kind = OPTION_CHOICE, .offset = AT(int, units), .value = "UNITS",
     .choices = choices_units,
     .help = "exact: integers (default of csv); si: three digits and k, M, G;\n"
             "binary: bytes in KiB, MiB, GiB; auto (default)"},
    {.name = "depth", .kind = OPTION_INT, .offset = AT(int, depth), .value = "N",
     .min = -1, .max = INT_MAX,
     .help = "modules of depths 0 to N alone, in text aggregated (default -1: all;\n"
             "of dot and mermaid 2)"},
    {.name = "top", .kind = OPTION_INT, .offset = AT(int, top), .value = "N",
     .min = 0, .max = INT_MAX,
     .help = "text: name N modules at each depth (default 1, 0: all); of a table the\n"
             "first N rows"},
    {.name = "no-detail", .kind = OPTION_UNSET, .offset = AT(bool, detailed),
     .help = "text: leave out the module tree"},
    {.name = "operators", .kind = OPTION_SET, .offset = AT(bool, operators),
     .help = "text: the costs by operator too"},
    {.name = "layers", .kind = OPTION_SET, .offset = AT(bool, layers),
     .help = "text, with times: each distinct piece of work and its time too"},
    {.name = "kernels", .kind = OPTION_SET, .offset = AT(bool, kernels),
     .help = "text, with times: the time by kernel too"},
    {.name = "width", .kind = OPTION_INT, .offset = AT(int, width), .value = "N",
     .min = 0, .max = INT_MAX,
     .help = "text: columns at which long lines are folded (default 100, 0: never)"},
    {.name = "color", .kind = OPTION_CHOICE, .offset = AT(int, color), .value = "WHEN",
     .choices = choices_color,
     .help = "auto (default: on a terminal, unless NO_COLOR is set), always or\n"
             "never"},
    {.name = NULL},
};
/* clang-format on */

void request_defaults(struct request *request) {
    struct cm_options options;
    struct cm_text_options text;
    cm_options_init(&options);
    cm_text_options_init(&text);
    *request = (struct request){
        .memory_limit = options.memory_limit,
        .memory_curve = options.memory_curve,
        .memory_plan = options.memory_plan,
        .format_name = "text",
        .rows = NOT_GIVEN,
        .units = CM_UNITS_AUTO,
        .depth = NOT_GIVEN,
        .top = NOT_GIVEN,
        .width = text.width,
        .detailed = text.detailed,
        .color = COLOR_AUTO,
    };
    binding_defaults(&request->binding);
    asked_defaults(&request->asked);
}
