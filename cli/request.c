/* SPDX-License-Identifier: Apache-2.0 */
/* Option table of `costmodel profile`, and queries of its parsed options. */
#include "cli/request.h"

#include <limits.h>

#include "cli/command.h"
#include "cli/names.h"
#include "cli/streams.h"
#include "costmodel/costmodel.h"

static const struct option_choice rows[] = {
    {"modules", CM_ROWS_MODULES, NULL},
    {"nodes", CM_ROWS_NODES, NULL},
    {"operators", CM_ROWS_OPERATORS, NULL},
    {"layers", CM_ROWS_LAYERS, "at several batches or precisions"},
    {.name = NULL},
};

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option profile_options[] = {
    {.rows = binding_batches, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.rows = binding_counting, .offset = AT(struct binding, binding)},
    {.name = "explain", .common = true, INTO(LIST, explain), .value = "NAME",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH | TAKES_EXPLAIN,
     .help = "print how the costs of a node (name, number or output) or module\n"
             "(path) are computed, by each convention, instead of the report;\n"
             "repeatable"},
    {.name = "dump-after", INTO(TEXT, binding.options.dump_after), .value = "PASS",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH, .names = names_of_passes,
     .help = "print the graph to standard error after this pass (`costmodel passes`)"},
    {.rows = binding_rest, .offset = AT(struct binding, binding)},
    {.name = "memory-limit", .common = true, INTO(BYTES, binding.options.memory_limit),
     .value = "SIZE", .rules = NEEDS_MODEL | NO_FORMULA,
     .help = "report whether the model fits in SIZE (e.g. 16GiB) and the largest\n"
             "batch that does; counts weights and arena, not kernel workspace (with\n"
             "--optimizer: the device memory of a training process)"},
    {.name = "memory-curve", INTO(SET, binding.options.memory_curve),
     .rules = NO_FORMULA | ONE_BATCH | TAKES_CURVE,
     .help = "report the live bytes at each node: chart (text) or list (json)"},
    {.name = "memory-plan", INTO(SET, binding.options.memory_plan),
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH | TAKES_PLAN,
     .help = "json: report the arena offset of every activation"},
    {.name = "parallel", INTO(TEXT, parallel), .value = "tp=N,pp=N",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH | TAKES_PARALLEL, .parts = parts_parallel,
     .help = "deepspeed: add the parameters of a language model that GPUs divide:\n"
             "tp GPUs each layer, pp the layers (as `costmodel llm`)"},
    {.rows = timing_options, .offset = AT(struct timing, timing)},
    {.rows = timing_import, .offset = AT(struct timing, timing)},
    {.name = "sample-bytes", INTO(BYTES, binding.options.sample_bytes), .value = "SIZE",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH,
     .help = "stored size of one input sample, e.g. 500kB: report the rate that the\n"
             "input pipeline must deliver, and the links that suffice; requires times"},
    {.name = "price", INTO(REAL, binding.options.price), .value = "DOLLARS", .max = 1000000, .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH,
     .help = "price of the device per hour: report that of 1000 samples; requires times"},
    {.name = "watts", INTO(REAL, binding.options.watts), .value = "WATTS", .max = 1000000, .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH,
     .help = "power of the device: report the energy of 1000 samples; requires times"},
    {.name = "cudnn-plan", INTO(SET, timing.plan), .rules = NO_FORMULA,
     .help = "report the cuDNN plan of each distinct layer without running it; needs\n"
             "no GPU if --device names one; several precisions or batches side by side"},
    {.name = "plan", INTO(SET, timing.plan), .hidden = true},
    {.name = "end-to-end", INTO(SET, timing.end_to_end), .rules = ONE_BATCH | NO_FORMULA,
     .help = "also run all measured layers as one network and compare the time with\n"
             "the sum of its layers"},
    {.name = "e2e", INTO(SET, timing.end_to_end), .hidden = true},
    {.name = "progress", INTO(INT, timing.progress), .value = "SECONDS", .max = INT_MAX,
     .help = "in a pipe: seconds between lines of progress (default 30)"},
    {.name = "calibrate", INTO(TEXT, calibrate), .value = "FILE.json",
     .rules = NO_FORMULA | ONE_BATCH, .files = "json",
     .help = "measure the peak rates of the device and write a device description\n"
             "for --device; takes no model"},
    {.heading = "Report", .name = "format", .common = true, .letter = 'f',
     INTO(NAME, format_name), .value = "FORMAT", .names = names_of_formats,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "formula", INTO(SET, formula), .rules = NEEDS_MODEL | ONE_BATCH,
     .help = "text, json: print costs as exact formulas in the batch and the\n"
             "symbolic dims instead of the report; --batch and --dim fix a variable"},
    {.name = "annotate", INTO(TEXT, annotate), .value = "OUT.onnx|OUT.json",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH, .files = "onnx|json",
     .help = "also write a copy of the model with the costs of each node in its\n"
             "metadata_props, which Netron displays; OUT.json: node data for Model\n"
             "Explorer instead, a file OUT.FIGURE.json for each figure"},
    {.name = "rows", .common = true, INTO(CHOICE, rows), .value = "ROWS", .choices = rows,
     .rules = TAKES_ROWS,
     .help = "text, csv, markdown: print a table; in text, this and the next three options\n"
             "replace the report. Rows of the table:"},
    {.name = "columns", INTO(TEXT, table.columns), .value = "A,B,...", .rules = TAKES_COLUMNS,
     .parts = parts_columns,
     .help = "columns of the table, or all (without shares); also the labels of dot\n"
             "and mermaid; an unknown name lists the valid ones"},
    {.name = "sort", INTO(TEXT, table.sort), .value = "KEY[:asc|desc]", .rules = TAKES_ROWS,
     .parts = parts_sort,
     .help = "sort by this column; default order: largest first, names from a to z"},
    {.name = "filter", INTO(LIST, filters), .value = "CONDITION", .rules = TAKES_ROWS,
     .parts = parts_filter,
     .help = "keep matching rows, e.g. 'type=Conv*', 'macs>=1.5M' or\n"
             "'macs_share<1%' (same as <0.01); repeatable"},
    {.name = "metric", INTO(TEXT, table.metric), .value = "KEY", .rules = TAKES_METRIC,
     .names = names_of_sums,
     .help = "folded: metric of the stacks (default macs)"},
    {.name = "units", INTO(CHOICE, units), .value = "UNITS", .choices = choices_units,
     .rules = NO_FORMULA | TAKES_UNITS,
     .help = "units of figures:"},
    {.name = "depth", .common = true, INTO(INT, depth), .value = "N", .min = -1, .max = INT_MAX,
     .rules = TAKES_DEPTH,
     .help = "largest module depth (default -1: all; dot and mermaid: 2)"},
    {.name = "top", INTO(INT, top), .value = "N", .min = 0, .max = INT_MAX, .rules = TAKES_TOP,
     .help = "text: list N modules (default: one screen; 0: all); deepspeed: N modules\n"
             "per depth (default 1); table: print the first N rows"},
    {.name = "tree", .common = true, INTO(SET, text.tree),
     .rules = NO_FORMULA | ONE_BATCH | TAKES_REPORT, .help = "text: add the module tree"},
    {.name = "no-detail", INTO(UNSET, text.detailed), .rules = TAKES_REPORT, .hidden = true},
    {.name = "operators", INTO(SET, text.operators), .rules = NO_FORMULA | ONE_BATCH | TAKES_REPORT,
     .help = "text: add the costs by operator"},
    {.name = "layers", INTO(SET, text.layers), .rules = NO_FORMULA | TAKES_LAYERS,
     .help = "text: add each distinct primitive and its time; with several batches or\n"
             "precisions (also json) each layer with its times and algorithms; in a\n"
             "table: as --rows layers; requires times"},
    {.name = "kernels", INTO(SET, text.kernels), .rules = NO_FORMULA | ONE_BATCH | TAKES_REPORT,
     .help = "text: add the time by kernel; requires times"},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .rules = TAKES_WIDTH,
     .help = "text: columns of the page: long lines wrap, tables omit columns (default:\n"
             "those of the terminal, else 100; tables by --rows, --batch or --precision\n"
             "then have no limit; 0: no limit)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

void request_defaults(struct request *request) {
    *request = (struct request){
        .format_name = "text",
        .rows = NOT_GIVEN,
        .units = CM_UNITS_AUTO,
        .depth = NOT_GIVEN,
        .top = NOT_GIVEN,
        .width = NOT_GIVEN,
        .color = COLOR_AUTO,
    };
    cm_table_options_init(&request->table);
    cm_text_options_init(&request->text);
    binding_defaults(&request->binding);
    timing_defaults(&request->timing);
}

bool request_is_sweep(const struct request *request) {
    return request->binding.batches.n > 1 || request->timing.precisions.n > 1 ||
           request->n_devices > 1;
}

bool request_lists_layers(const struct request *request) {
    const struct timing *timing = &request->timing;
    const bool is_timed = timing->device || timing->backend || timing->measure != MEASURE_NONE;
    return request->text.layers || request->rows == CM_ROWS_LAYERS || timing->plan ||
           (timing->precisions.n > 1 && is_timed);
}

const char *request_given(const struct request *request, unsigned rules) {
    struct request defaults;
    request_defaults(&defaults);
    return rules == 0 ? NULL : options_changed(profile_options, request, &defaults, rules);
}
