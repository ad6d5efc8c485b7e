/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `costmodel profile`, a row each. */
#include "cli/request.h"

#include <limits.h>

#include "cli/profile.h"
#include "cli/streams.h"
#include "costmodel/backend.h"
#include "costmodel/costmodel.h"

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

static const struct option_choice measurers[] = {
    {"cpu", ASKED_CPU},
    {"cuda", ASKED_CUDA},
    {NULL, 0},
};

static const struct option_choice precisions[] = {
    {"fp32", CM_PRECISION_AS_STORED},
    {"tf32", CM_PRECISION_TF32},
    {"fp16", CM_PRECISION_FP16},
    {"bf16", CM_PRECISION_BF16},
    {"int8", CM_PRECISION_INT8},
    {"fp8", CM_PRECISION_FP8},
    {NULL, 0},
};

static const struct option_choice layouts[] = {
    {"auto", CM_LAYOUT_AUTO},
    {"nchw", CM_LAYOUT_NCHW},
    {"nhwc", CM_LAYOUT_NHWC},
    {NULL, 0},
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT},
    {"json", FORMAT_JSON},
    {"trace", FORMAT_TRACE},
    {NULL, 0},
};

static const struct option_choice colors[] = {
    {"auto", COLOR_AUTO},
    {"always", COLOR_ALWAYS},
    {"never", COLOR_NEVER},
    {NULL, 0},
};

#define AT(want, member) OPTION_AT(struct request, want, member)

/* clang-format off */
const struct option profile_options[] = {
    {.heading = "The model", .name = "batch", .kind = OPTION_TEXT,
     .offset = AT(const char *, batch), .value = "N[,N...]",
     .help = "batch size, also of a file that was exported with another one\n"
             "(default: the file's, 1 where that is free); of several, as\n"
             "1,8,32, a table"},
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
    {.name = "mode", .kind = OPTION_CHOICE, .offset = AT(int, mode), .value = "MODE",
     .choices = modes,
     .help = "training or inference for every layer that differs between the\n"
             "two, or model: as the file says (default)"},
    {.heading = "Counting", .name = "convention", .kind = OPTION_TEXT,
     .offset = AT(const char *, convention), .value = "NAME",
     .help = "whose rules count FLOPs: deepspeed (default), exact, macs,\n"
             "torch, fvcore, ptflops, ptflops-aten, thop, onnx-tool"},
    {.name = "explain", .kind = OPTION_LIST, .offset = AT(struct option_list, explain),
     .value = "NAME",
     .help = "instead of the report: how the figures of a node (by name, output\n"
             "or number) or a module (by path) come about, and what each\n"
             "convention makes of it; may be given many times"},
    {.name = "strict", .kind = OPTION_SET, .offset = AT(bool, strict),
     .help = "refuse a model with an unknown operator or shape"},
    {.name = "dump-after", .kind = OPTION_TEXT, .offset = AT(const char *, dump_after),
     .value = "PASS",
     .help = "print the graph to standard error as it stands after this pass"},
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
    {.heading = "Modules", .name = "module-source", .kind = OPTION_TEXT,
     .offset = AT(const char *, module_source), .value = "NAME",
     .help = "tell modules from this alone: metadata, functions, scopes, paddle,\n"
             "mxnet, parameters, fused or types (default: the first of these\n"
             "that knows a node)"},
    {.name = "group", .kind = OPTION_TEXT, .offset = AT(const char *, group),
     .value = "REGEX",
     .help = "instead of modules one group for each text that this POSIX extended\n"
             "expression, or its first (...), matches in their paths"},
    {.heading = "Memory", .name = "schedule", .kind = OPTION_CHOICE, .offset = AT(int, schedule),
     .value = "ORDER", .choices = schedules,
     .help = "in which order nodes run: file (default), or min-memory: one with\n"
             "a lower peak, where a search finds one"},
    {.name = "memory-limit", .kind = OPTION_BYTES, .offset = AT(int64_t, memory_limit),
     .value = "SIZE",
     .help = "does it fit into that much, as 16GiB, and how large a batch does?\n"
             "Weights and arena, or the peak of a step with --optimizer; no\n"
             "workspace of kernels"},
    {.name = "memory-alignment", .kind = OPTION_INT64, .offset = AT(int64_t, memory_alignment),
     .value = "N", .min = 1, .max = 1 << 30,
     .help = "places in the arena are multiples of N bytes, a power of two\n"
             "(default 1)"},
    {.name = "memory-curve", .kind = OPTION_SET, .offset = AT(bool, memory_curve),
     .help = "what is alive at each node: drawn in text, a list in json"},
    {.name = "memory-plan", .kind = OPTION_SET,
     .offset = AT(bool, memory_plan),
     .help = "json: the place of every value in one arena of activations"},
    {.heading = "Times", .name = "measure", .kind = OPTION_CHOICE,
     .offset = AT(int, asked.measure), .value = "WHERE", .alone = "cuda", .choices = measurers,
     .help = "run each distinct layer: on a GPU (cuda, also without =WHERE) or on\n"
             "this machine's processors (cpu)"},
    {.name = "device", .kind = OPTION_TEXT, .offset = AT(const char *, asked.device),
     .value = "NAME",
     .help = "the least time of each layer by the published figures of a device, as\n"
             "h200 (costmodel backends lists them), or of a file (.json)"},
    {.name = "plan", .kind = OPTION_SET, .offset = AT(bool, asked.plan),
     .help = "how cuDNN would run each distinct layer on a GPU that need not be\n"
             "here, or why it would not; with --device, for that one"},
    {.name = "backend", .kind = OPTION_TEXT, .offset = AT(const char *, asked.backend),
     .value = "NAME[:key=value,...]",
     .help = "ask this backend, with these settings"},
    {.name = "precision", .kind = OPTION_CHOICE, .offset = AT(int, asked.precision),
     .value = "PRECISION", .choices = precisions,
     .help = "run the fp32 of the file as fp32 (default), tf32, fp16, bf16, int8 or\n"
             "fp8; of the last two the operands of products, all else as fp16"},
    {.name = "layout", .kind = OPTION_CHOICE, .offset = AT(int, asked.layout),
     .value = "LAYOUT", .choices = layouts,
     .help = "where the channels of images stand: auto (default: as the file, or\n"
             "where a backend does better), nchw or nhwc"},
    {.name = "autotune", .kind = OPTION_INT, .offset = AT(int, asked.autotune),
     .value = "K", .min = 1, .max = 1000,
     .help = "run up to K algorithms of each layer where the backend has a choice\n"
             "(cuda), and keep the fastest (default 1: the one it recommends)"},
    {.name = "e2e", .kind = OPTION_SET, .offset = AT(bool, asked.e2e),
     .help = "run all that is measured once more as one network, and compare it with\n"
             "the sum of its layers"},
    {.name = "calibrate", .kind = OPTION_TEXT, .offset = AT(const char *, calibrate),
     .value = "FILE.json",
     .help = "instead of a model: measure what the device reaches at its best, and\n"
             "write a description of it that --device takes"},
    {.name = "no-cache", .kind = OPTION_UNSET, .offset = AT(bool, asked.cache),
     .help = "neither use times that were measured before nor keep new ones (in\n"
             "$COSTMODEL_CACHE, $XDG_CACHE_HOME/costmodel or ~/.cache/costmodel)"},
    {.heading = "The report", .name = "format", .kind = OPTION_CHOICE, .offset = AT(int, format),
     .value = "FORMAT", .choices = formats,
     .help = "text for people (default), json for programs, trace: with times, a\n"
             "timeline for chrome://tracing and Perfetto"},
    {.name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = AT(const char *, output),
     .value = "FILE",
     .help = "write there, whole or not at all (default: standard output)"},
    {.name = "annotate", .kind = OPTION_TEXT, .offset = AT(const char *, annotate),
     .value = "OUT.onnx",
     .help = "write the model too, each node with its costs in its metadata_props,\n"
             "where Netron shows them; no weight is changed"},
    {.name = "depth", .kind = OPTION_INT, .offset = AT(int, depth), .value = "N",
     .min = -1, .max = INT_MAX,
     .help = "text: aggregate module depths 0 to N (default -1: all)"},
    {.name = "top", .kind = OPTION_INT, .offset = AT(int, top), .value = "N",
     .min = 0, .max = INT_MAX,
     .help = "text: name N modules at each depth (default 1, 0: all)"},
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
     .choices = colors,
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
        .mode = (int)options.mode,
        .convention = options.convention,
        .strict = options.strict,
        .module_source = options.module_source,
        .group = options.group,
        .schedule = (int)options.schedule,
        .memory_limit = options.memory_limit,
        .memory_alignment = options.memory_alignment,
        .memory_curve = options.memory_curve,
        .memory_plan = options.memory_plan,
        .asked = {.cache = true},
        .format = FORMAT_TEXT,
        .depth = text.depth,
        .top = text.top,
        .width = text.width,
        .detailed = text.detailed,
        .color = COLOR_AUTO,
    };
}
