/* SPDX-License-Identifier: Apache-2.0 */
/* The rows, in the groups in which help prints them, and the way to the library's options. */
#include "cli/binding.h"

#include "cli/command.h"
#include "cli/input_shapes.h"
#include "cli/outputs.h"
#include "costmodel/costmodel.h"
#include "costmodel/op_costs.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const struct option_choice modes[] = {
    {"model", CM_MODE_MODEL},
    {"training", CM_MODE_TRAINING},
    {"inference", CM_MODE_INFERENCE},
    {NULL, 0},
};

static const struct option_choice schedules[] = {
    {"file", CM_SCHEDULE_FILE},
    {"min-memory", CM_SCHEDULE_MIN_MEMORY},
    {NULL, 0},
};

#define AT(want, member) OPTION_AT(struct binding, want, member)

/* clang-format off */
const struct option binding_batch[] = {
    {.heading = "The model", .name = "batch", .kind = OPTION_TEXT,
     .offset = AT(const char *, batch), .value = "N",
     .help = "batch size, also of a file that was exported with another one\n"
             "(default: the file's, 1 where that is free)"},
    {.name = NULL},
};

const struct option binding_batches[] = {
    {.heading = "The model", .name = "batch", .kind = OPTION_TEXT,
     .offset = AT(const char *, batch), .value = "N[,N...]",
     .help = "batch size, also of a file that was exported with another one\n"
             "(default: the file's, 1 where that is free); of several, as\n"
             "1,8,32, a table"},
    {.name = NULL},
};

const struct option binding_model[] = {
    {.name = "dim", .kind = OPTION_LIST, .offset = AT(struct option_list, dims),
     .value = "NAME=N",
     .help = "size of a free dim, as --dim seq=128; may be given many times"},
    {.name = "input", .kind = OPTION_LIST, .offset = AT(struct option_list, inputs),
     .value = "NAME=SHAPE",
     .help = "whole shape of an input, as --input image=1x3x224x224; may be\n"
             "given many times"},
    {.name = "value", .kind = OPTION_LIST, .offset = AT(struct option_list, values),
     .value = "NAME=LIST",
     .help = "contents of an input, as --value shape=1,3,-1 of numbers, true and\n"
             "false, or texts; may be given many times"},
    {.name = "trip-count", .kind = OPTION_LIST, .offset = AT(struct option_list, trip_counts),
     .value = "NAME=N",
     .help = "how often the body of a Loop runs that only data end; NAME is the\n"
             "node, its output or its number; may be given many times"},
    {.name = "op-costs", .kind = OPTION_LIST, .offset = AT(struct option_list, op_costs),
     .value = "FILE.json",
     .help = "operators of your own, their shapes and costs (docs/op-costs.md);\n"
             "may be given many times, the last that describes one holds"},
    {.name = "mode", .kind = OPTION_CHOICE, .offset = AT(int, mode), .value = "MODE",
     .choices = modes,
     .help = "training or inference for every layer that differs between the\n"
             "two, or model: as the file says (default)"},
    {.name = NULL},
};

const struct option binding_counting[] = {
    {.heading = "Counting", .name = "convention", .kind = OPTION_TEXT,
     .offset = AT(const char *, convention), .value = "NAME",
     .help = "whose rules count FLOPs: deepspeed (default), exact, macs,\n"
             "torch, fvcore, ptflops, ptflops-aten, thop, onnx-tool"},
    {.name = "strict", .kind = OPTION_SET, .offset = AT(bool, strict),
     .help = "refuse a model with an unknown operator or shape"},
    {.name = NULL},
};

const struct option binding_training[] = {
    {.heading = "A training step", .name = "optimizer", .kind = OPTION_TEXT,
     .offset = AT(const char *, optimizer), .value = "NAME",
     .help = "count a step of sgd, momentum, adam or adamw: backward, what is kept\n"
             "for it, gradients and states; layers train unless --mode inference"},
    {.name = "amp", .kind = OPTION_SET, .offset = AT(bool, amp),
     .help = "in mixed precision: 2-byte activations, weights and gradients, and\n"
             "4-byte master weights and states"},
    {.name = "freeze", .kind = OPTION_LIST, .offset = AT(struct option_list, freeze),
     .value = "PATTERN",
     .help = "parameters that do not learn, by their name or a module's, as\n"
             "--freeze 'layer1.*'; may be given many times"},
    {.name = "checkpoint", .kind = OPTION_LIST, .offset = AT(struct option_list, checkpoint),
     .value = "MODULE",
     .help = "a module, or a pattern of some, that keeps its inputs alone and is\n"
             "run again for backward; may be given many times"},
    {.name = NULL},
};

const struct option binding_modules[] = {
    {.heading = "Modules", .name = "module-source", .kind = OPTION_TEXT,
     .offset = AT(const char *, module_source), .value = "NAME",
     .help = "tell modules from this alone: metadata, functions, scopes, paddle,\n"
             "mxnet, parameters, fused or types (default: the first of these\n"
             "that knows a node)"},
    {.name = "group", .kind = OPTION_TEXT, .offset = AT(const char *, group),
     .value = "REGEX",
     .help = "instead of modules one group for each text that this POSIX extended\n"
             "expression, or its first (...), matches in their paths"},
    {.name = NULL},
};

const struct option binding_memory[] = {
    {.heading = "Memory", .name = "schedule", .kind = OPTION_CHOICE, .offset = AT(int, schedule),
     .value = "ORDER", .choices = schedules,
     .help = "in which order nodes run: file (default), or min-memory: one with\n"
             "a lower peak, where a search finds one"},
    {.name = "memory-alignment", .kind = OPTION_INT64, .offset = AT(int64_t, memory_alignment),
     .value = "N", .min = 1, .max = 1 << 30,
     .help = "places in the arena are multiples of N bytes, a power of two\n"
             "(default 1)"},
    {.name = NULL},
};
/* clang-format on */

void binding_defaults(struct binding *binding) {
    struct cm_options options;
    cm_options_init(&options);
    *binding = (struct binding){
        .mode = (int)options.mode,
        .convention = options.convention,
        .strict = options.strict,
        .module_source = options.module_source,
        .group = options.group,
        .schedule = (int)options.schedule,
        .memory_alignment = options.memory_alignment,
    };
}

static int read_op_costs(const struct invocation *call, struct binding *binding,
                         struct cm_options *options) {
    const struct option_list *paths = &binding->op_costs;
    struct cm_op_costs *costs = NULL;
    binding->described = arena_array(call->arena, paths->n, sizeof(*binding->described));
    if (binding->described == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < paths->n; i++) {
        if (text_equal(paths->values[i], "-"))
            return options_fault(call, "option --op-costs wants a file, not standard input");
        const int status = cm_op_costs_load_file(paths->values[i], call->diag, &costs);
        if (status != CM_OK) return status;
        binding->described[binding->n_described++] = costs;
    }
    options->n_op_costs = binding->n_described;
    options->op_costs = (const struct cm_op_costs *const *)binding->described;
    return CM_OK;
}

void binding_free(struct binding *binding) {
    for (size_t i = 0; i < binding->n_described; i++) cm_op_costs_free(binding->described[i]);
}

int binding_read(const struct invocation *call, struct binding *binding,
                 struct cm_options *options) {
    cm_options_init(options);
    int status = sweep_read(call, binding->batch, &binding->batches);
    if (status != CM_OK) return status;
    if (binding->batches.n == 1) options->batch = binding->batches.items[0];
    options->mode = (enum cm_mode)binding->mode;
    options->convention = binding->convention;
    options->optimizer = binding->optimizer;
    options->amp = binding->amp;
    options->n_freeze = binding->freeze.n;
    options->freeze = binding->freeze.values;
    options->n_checkpoint = binding->checkpoint.n;
    options->checkpoint = binding->checkpoint.values;
    options->strict = binding->strict;
    options->module_source = binding->module_source;
    options->group = binding->group;
    options->schedule = (enum cm_schedule)binding->schedule;
    options->memory_alignment = binding->memory_alignment;
    status = shapes_read_dims(call, &binding->dims, options);
    if (status == CM_OK) status = shapes_read_inputs(call, &binding->inputs, options);
    if (status == CM_OK) status = shapes_read_values(call, &binding->values, options);
    if (status == CM_OK) status = shapes_read_trips(call, &binding->trip_counts, options);
    if (status == CM_OK) status = read_op_costs(call, binding, options);
    return status;
}

int binding_check_output(const struct invocation *call, const struct binding *binding,
                         const char *path) {
    for (size_t i = 0; i < binding->op_costs.n; i++)
        if (outputs_is_file(path, binding->op_costs.values[i]))
            return options_fault(call, "the output '%s' is read by --op-costs", path);
    return CM_OK;
}

const char *binding_given(const struct binding *binding) {
    static const struct option *const tables[] = {binding_batch,    binding_model,
                                                  binding_counting, binding_training,
                                                  binding_modules,  binding_memory};
    struct binding defaults;
    const char *name = NULL;
    binding_defaults(&defaults);
    for (size_t i = 0; name == NULL && i < sizeof(tables) / sizeof(tables[0]); i++)
        name = options_changed(tables[i], binding, &defaults);
    return name;
}

int binding_check_one(const struct invocation *call, const struct binding *binding) {
    if (binding->batches.n < 2) return CM_OK;
    return options_fault(call, "%s wants one batch, got '%s'", call->name, binding->batch);
}
