/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the shared options, in help order, and their conversion to cm_options. */
#include "cli/binding.h"

#include <stdint.h>
#include <string.h>

#include "cli/command.h"
#include "cli/names.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "costmodel/costmodel.h"
#include "costmodel/op_costs.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/option_names.h"
#include "support/text.h"

const struct option_choice choices_modes[] = {
    {"model", CM_MODE_MODEL, "default: as each node specifies"},
    {"training", CM_MODE_TRAINING, NULL},
    {"inference", CM_MODE_INFERENCE, NULL},
    {.name = NULL},
};

static const struct option_choice schedules[] = {
    {"file", CM_SCHEDULE_FILE, "default"},
    {"min-memory", CM_SCHEDULE_MIN_MEMORY, "search an order with a lower memory peak"},
    {.name = NULL}};

const struct option_choice choices_units[] = {
    {"auto", CM_UNITS_AUTO, "default"},
    {"exact", CM_UNITS_EXACT, "integers; default for csv"},
    {"si", CM_UNITS_SI, "three digits and k, M, G"},
    {"binary", CM_UNITS_BINARY, "bytes in KiB, MiB, GiB"},
    {.name = NULL},
};

static const struct option_choice choices_color[] = {
    {"auto", COLOR_AUTO, "default: on a terminal, unless NO_COLOR is set"},
    {"always", COLOR_ALWAYS, NULL},
    {"never", COLOR_NEVER, NULL},
    {.name = NULL}};

static const struct option_choice stages[] = {{"1", 0, "optimizer states"},
                                              {"2", 0, "and gradients"},
                                              {"3", 0, "and parameters, as FSDP"},
                                              {.name = NULL}};

static const struct option_choice shard_keys[] = {{"zero=", 0, "stage of ZeRO"},
                                                  {"gpus=", 0, "number of GPUs"},
                                                  {"offload=", 0, "what the host keeps"},
                                                  {.name = NULL}};

static bool names_of_offloads(const struct option_query *query, size_t index,
                              struct option_choice *ret) {
    (void)query;
    const int32_t offload = (int32_t)index + CM_OFFLOAD_OPTIMIZER;
    *ret = (struct option_choice){option_offload_name(offload), offload, NULL};
    return offload <= CM_OFFLOAD_ALL;
}

static const struct option_part parts_shard[] = {
    {"", .choices = shard_keys},           {",", .choices = shard_keys},
    {"zero=", .choices = stages},          {"offload=", .names = names_of_offloads},
    {"gpus=", .choices = choices_batches}, {.after = NULL}};

/* clang-format off */
const struct option option_output[] = {
    {.name = "output", .common = true, .letter = 'o', .kind = OPTION_TEXT, .value = "FILE", .files = "*",
     .rules = OPTION_OF_COMMAND_LINE,
     .help = "output file, replaced atomically (default: standard output)"},
    {.name = NULL},
};

const struct option option_color[] = {
    {.name = "color", .kind = OPTION_CHOICE, .value = "WHEN", .choices = choices_color,
     .rules = OPTION_OF_COMMAND_LINE, .help = "use colours:"},
    {.name = NULL},
};
/* clang-format on */

#define INTO(kind, member) OPTION_INTO(kind, struct binding, member)

/* clang-format off */
const struct option binding_batch[] = {
    {.heading = "The model", .name = "batch", .common = true, .letter = 'b',
     INTO(INT64, options.batch), .value = "N", .min = 1, .max = INT64_MAX,
     .choices = choices_batches,
     .help = "batch size; also for models exported with a fixed batch\n"
             "(default: the batch of the file, 1 if symbolic)"},
    {.name = NULL},
};

const struct option binding_batches[] = {
    {.heading = "The model", .name = "batch", .common = true, .letter = 'b',
     INTO(INT64S, batches), .value = "N[,N...]", .min = 1, .max = INT64_MAX,
     .choices = choices_batches,
     .help = "batch size; also for models exported with a fixed batch\n"
             "(default: the batch of the file, 1 if symbolic); a list such as\n"
             "1,8,32 prints a table"},
    {.name = NULL},
};

const struct option binding_model[] = {
    {.name = "dim", .common = true, INTO(LIST, dims), .value = "NAME=N", .parts = parts_dim,
     .help = "size of a symbolic dim, e.g. --dim seq=128; repeatable"},
    {.name = "input", INTO(LIST, inputs), .value = "NAME=SHAPE",
     .help = "full shape of an input, e.g. --input image=1x3x224x224; repeatable"},
    {.name = "value", INTO(LIST, values), .value = "NAME=LIST",
     .help = "elements of an input, e.g. --value shape=1,3,-1: numbers, true/false\n"
             "or strings; repeatable"},
    {.name = "trip-count", INTO(LIST, trip_counts), .value = "NAME=N",
     .help = "trip count of a Loop with a data-dependent exit; NAME is the node,\n"
             "its number or one of its outputs; repeatable"},
    {.name = "op-costs", INTO(LIST, op_costs), .value = "FILE.json", .files = "json",
     .help = "file that describes shapes and costs of custom operators\n"
             "(docs/op-costs.md); repeatable, the last description wins"},
    {.name = "mode", INTO(CHOICE, mode), .value = "MODE", .choices = choices_modes,
     .help = "mode of BatchNormalization, Dropout, ...:"},
    {.name = NULL},
};

const struct option binding_counting[] = {
    {.heading = "Counting", .name = "convention", INTO(NAME, options.convention),
     .value = "NAME", .names = names_of_conventions, .brief = true,
     .help = "FLOP-counting convention, the first is the default:"},
    {.name = "strict", INTO(SET, options.strict),
     .help = "refuse models with unknown operators, opsets or shapes"},
    {.name = NULL},
};

const struct option binding_rest[] = {
    {.heading = "Training step", .name = "optimizer", .common = true,
     INTO(NAME, options.optimizer), .value = "NAME", .rules = NO_FORMULA,
     .names = names_of_optimizers,
     .help = "add a training step (docs/training.md): backward, saved activations,\n"
             "gradients and optimizer states; implies --mode training unless --mode\n"
             "inference is given. Optimizers:"},
    {.name = "as-exported", INTO(SET, options.as_exported),
     .help = "profile the step of the file as it is; by default BatchNormalizations\n"
             "that the exporter folded into other layers are restored"},
    {.name = "freeze", INTO(LIST, freeze), .value = "PATTERN",
     .help = "parameters or modules that are not trained, e.g.\n"
             "--freeze 'layer1.*'; repeatable"},
    {.name = "trainable", INTO(LIST, trainable), .value = "PATTERN",
     .help = "the only parameters or modules that are trained, e.g.\n"
             "--trainable '*lora_*'; repeatable"},
    {.name = "shard", INTO(TEXT, shard), .value = "LIST", .rules = NO_FORMULA, .parts = parts_shard,
     .help = "divide the step over GPUs, e.g. zero=3,gpus=8: stage 1, 2 or 3 of ZeRO\n"
             "(FSDP is 3); offload=optimizer or offload=all moves them to the host"},
    {.name = "checkpoint", INTO(LIST, checkpoint), .value = "MODULE",
     .help = "modules (pattern) with activation checkpointing: save only their\n"
             "inputs and recompute the forward pass during backward; repeatable"},
    {.name = "micro-batches", INTO(INT64, options.micro_batches), .value = "N", .min = 1,
     .max = INT64_MAX, .rules = NO_FORMULA,
     .help = "forward and backward passes of a step, each with an N-th of the batch;\n"
             "their gradients are accumulated (default 1)"},
    {.heading = "Modules", .name = "module-source", INTO(NAME, options.module_source),
     .value = "NAME", .names = names_of_module_sources, .brief = true,
     .help = "use only this source to recover the module hierarchy (default: the\n"
             "first of these that covers a node):"},
    {.name = "group", INTO(TEXT, options.group), .value = "REGEX",
     .help = "group modules by the text that this POSIX extended regular\n"
             "expression, or its first (...), matches in their paths"},
    {.heading = "Memory", .name = "schedule", INTO(CHOICE, schedule), .value = "ORDER",
     .choices = schedules,
     .help = "execution order of the nodes:"},
    {.name = "memory-alignment", INTO(INT64, options.memory_alignment), .value = "N", .min = 1,
     .max = 1 << 30, .help = "alignment of arena offsets in bytes, a power of two (default 1)"},
    {.name = NULL},
};
/* clang-format on */

void binding_defaults(struct binding *binding) {
    *binding = (struct binding){.mode = 0};
    cm_options_init(&binding->options);
    binding->mode = (int)binding->options.mode;
    binding->schedule = (int)binding->options.schedule;
}

/* Splits NAME=N or NAME=1x3x224x224 at the last '=', because names may contain '='. Returns the
 * name and sets *ret_rest; NULL if a part is empty or, with a message, if out of memory. */
static const char *split(const struct invocation *call, const char *given,
                         const char **ret_rest) {
    const char *equals = strrchr(given, '=');
    if (equals == NULL || equals == given || equals[1] == '\0') return NULL;
    *ret_rest = equals + 1;
    const char *name = arena_strndup(call->arena, given, (size_t)(equals - given));
    if (name == NULL) (void)diag_no_memory(call->diag);
    return name;
}

/* Adds a name to those that the option has given. Refuses it if it is one of them. */
static int check_unique(const struct invocation *call, const char *option, struct map *names,
                        const char *name) {
    uint32_t existing = MAP_NONE;
    if (map_add(names, name, 0, &existing) < 0) return diag_no_memory(call->diag);
    if (existing == MAP_NONE) return CM_OK;
    return options_fault(call, "option --%s gives '%s' twice", option, name);
}

int binding_read_dims(const struct invocation *call, const char *option,
                      const struct option_list *given, const struct cm_dim_option **ret) {
    struct cm_dim_option *dims = arena_array(call->arena, given->n, sizeof *dims);
    struct map names;
    if (dims == NULL) return diag_no_memory(call->diag);
    map_init(&names, call->arena);
    for (size_t i = 0; i < given->n; i++) {
        const char *size = "";
        dims[i].name = split(call, given->values[i], &size);
        if (dims[i].name != NULL && strchr(size, ',') != NULL)
            return options_fault(call,
                                 "option --%s requires one size, got '%s'; `costmodel sweep` "
                                 "profiles several",
                                 option, given->values[i]);
        if (dims[i].name == NULL || !text_to_int64(size, strlen(size), &dims[i].size) ||
            dims[i].size < 0)
            return options_fault(call, "option --%s requires NAME=N with N >= 0, got '%s'",
                                 option, given->values[i]);
        const int status = check_unique(call, option, &names, dims[i].name);
        if (status != CM_OK) return status;
    }
    *ret = dims;
    return CM_OK;
}

/* Returns the sizes in 1x3x224x224; NULL if invalid or, with a message, if out of memory. */
static int64_t *read_shape(const struct invocation *call, const char *text, size_t *ret_n) {
    int64_t *sizes = arena_array(call->arena, strlen(text) + 1, sizeof *sizes);
    if (sizes == NULL) (void)diag_no_memory(call->diag);
    if (sizes == NULL) return NULL;
    for (size_t n = 0;; text++) {
        const size_t length = strcspn(text, "x");
        if (!text_to_int64(text, length, &sizes[n]) || sizes[n] < 0) return NULL;
        text += length;
        *ret_n = ++n;
        if (*text == '\0') return sizes;
    }
}

static int read_inputs(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) {
    struct cm_input_option *inputs = arena_array(call->arena, given->n, sizeof *inputs);
    struct map names;
    if (inputs == NULL) return diag_no_memory(call->diag);
    map_init(&names, call->arena);
    for (size_t i = 0; i < given->n; i++) {
        const char *shape = "";
        inputs[i].name = split(call, given->values[i], &shape);
        if (inputs[i].name != NULL) inputs[i].dims = read_shape(call, shape, &inputs[i].n_dims);
        if (inputs[i].name == NULL || inputs[i].dims == NULL)
            return options_fault(
                call, "option --input requires NAME=SHAPE such as x=1x3x224x224, got '%s'",
                given->values[i]);
        const int status = check_unique(call, "input", &names, inputs[i].name);
        if (status != CM_OK) return status;
    }
    ret->n_inputs = given->n;
    ret->inputs = inputs;
    return CM_OK;
}

/* Returns the last unescaped '='; NULL if there is none or the name is empty. */
static const char *find_separator(const char *given) {
    const char *last = NULL;
    for (const char *at = given; *at; at++) {
        if (*at == '=') last = at;
        if (*at == '\\' && at[1] != '\0') at++;
    }
    return last == given ? NULL : last;
}

/* Copies the list element at *at to *copy, and advances both: *at to the end of the element,
 * ',' or NUL. A backslash escapes the next character. Returns the copy. */
static const char *read_element(const char **at, char **copy) {
    const char *element = *copy;
    for (; **at != '\0' && **at != ','; (*at)++) {
        if (**at == '\\' && (*at)[1] != '\0') (*at)++;
        *(*copy)++ = **at;
    }
    *(*copy)++ = '\0';
    return element;
}

static int read_values(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) {
    struct cm_value_option *values = arena_array(call->arena, given->n, sizeof *values);
    struct map names;
    if (values == NULL) return diag_no_memory(call->diag);
    map_init(&names, call->arena);
    for (size_t i = 0; i < given->n; i++) {
        struct cm_value_option *value = &values[i];
        const char *equals = find_separator(given->values[i]);
        if (equals == NULL)
            return options_fault(call,
                                 "option --value requires NAME=LIST such as k=2,3,4, got '%s'",
                                 given->values[i]);
        const char *at = equals + 1;
        const char **elements = arena_array(call->arena, strlen(at) + 1, sizeof *elements);
        char *copy = arena_alloc(call->arena, strlen(at) + 1);
        value->name =
            arena_strndup(call->arena, given->values[i], (size_t)(equals - given->values[i]));
        value->elements = elements;
        if (elements == NULL || copy == NULL || value->name == NULL)
            return diag_no_memory(call->diag);
        for (bool more = *at != '\0'; more; value->n++) {
            elements[value->n] = read_element(&at, &copy);
            more = *at == ',';
            at += more;
        }
        const int status = check_unique(call, "value", &names, value->name);
        if (status != CM_OK) return status;
    }
    ret->n_values = given->n;
    ret->values = values;
    return CM_OK;
}

static int read_op_costs(const struct invocation *call, struct binding *binding,
                         struct cm_options *options) {
    const struct option_list *paths = &binding->op_costs;
    struct cm_op_costs *costs = NULL;
    binding->described = arena_array(call->arena, paths->n, sizeof(*binding->described));
    if (binding->described == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < paths->n; i++) {
        if (text_equal(paths->values[i], "-"))
            return options_fault(
                call, "option --op-costs requires a file, standard input is not supported");
        const int status = cm_op_costs_load_file(paths->values[i], call->diag, &costs);
        if (status != CM_OK) return status;
        binding->described[binding->n_described++] = costs;
    }
    options->n_op_costs = binding->n_described;
    options->op_costs = (const struct cm_op_costs *const *)binding->described;
    return CM_OK;
}

static bool find_offload(const char *text, size_t length, enum cm_offload *ret) {
    for (int32_t i = CM_OFFLOAD_OPTIMIZER; i <= CM_OFFLOAD_ALL; i++) {
        const char *name = option_offload_name(i);
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            *ret = (enum cm_offload)i;
    }
    return *ret != CM_OFFLOAD_NONE;
}

/* Reads `zero=3,gpus=8,offload=all`, in any order. */
static int read_shard(const struct invocation *call, const char *given,
                      struct cm_options *ret) {
    bool is_valid = true;
    for (const char *at = given; at && *at && is_valid; at += *at == ',') {
        const char *value = at + strcspn(at, "=,");
        value += *value == '=';
        const size_t length = strcspn(value, ",");
        if (text_starts_with(at, "zero="))
            is_valid = text_to_int64(value, length, &ret->zero_stage);
        else if (text_starts_with(at, "gpus="))
            is_valid = text_to_int64(value, length, &ret->shard_gpus) && ret->shard_gpus > 0;
        else
            is_valid =
                text_starts_with(at, "offload=") && find_offload(value, length, &ret->offload);
        at = value + length;
    }
    if (!given || (is_valid && ret->shard_gpus > 0)) return CM_OK;
    return options_fault(call, "option --shard requires a list such as zero=3,gpus=8, got '%s'",
                         given);
}

int binding_read_parallel(const struct invocation *call, const char *text, int64_t *ret_tp,
                          int64_t *ret_pp, int64_t *ret_ep) {
    static const char *const names[] = {"tp=", "pp=", "ep="};
    int64_t *const values[] = {ret_tp, ret_pp, ret_ep};
    const size_t n = ret_ep ? 3 : 2;
    for (size_t i = 0; text && i < n; i++) *values[i] = 1;
    for (const char *at = text; at != NULL;) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < n && !text_starts_with(at, names[i])) i++;
        if (i == n || length <= 3 || !text_to_int64(at + 3, length - 3, values[i]) ||
            *values[i] < 1 || *values[i] > 4096)
            return options_fault(call, "option --parallel requires tp=N,pp=N%s, got '%s'",
                                 ret_ep ? ",ep=N" : "", text);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return CM_OK;
}

void binding_free(struct binding *binding) {
    for (size_t i = 0; i < binding->n_described; i++) cm_op_costs_free(binding->described[i]);
}

int binding_read(const struct invocation *call, struct binding *binding,
                 struct cm_options *options) {
    *options = binding->options;
    if (binding->batches.n == 1) options->batch = binding->batches.values[0];
    options->mode = (enum cm_mode)binding->mode;
    options->n_freeze = binding->freeze.n;
    options->freeze = binding->freeze.values;
    options->n_trainable = binding->trainable.n;
    options->trainable = binding->trainable.values;
    options->n_checkpoint = binding->checkpoint.n;
    options->checkpoint = binding->checkpoint.values;
    options->schedule = (enum cm_schedule)binding->schedule;
    options->n_dims = binding->dims.n;
    options->n_trip_counts = binding->trip_counts.n;
    int status = read_shard(call, binding->shard, options);
    if (status == CM_OK)
        status = binding_read_dims(call, "dim", &binding->dims, &options->dims);
    if (status == CM_OK) status = read_inputs(call, &binding->inputs, options);
    if (status == CM_OK) status = read_values(call, &binding->values, options);
    if (status == CM_OK)
        status =
            binding_read_dims(call, "trip-count", &binding->trip_counts, &options->trip_counts);
    if (status == CM_OK) status = read_op_costs(call, binding, options);
    return status;
}

int binding_check_output(const struct invocation *call, const struct binding *binding,
                         const char *path) {
    for (size_t i = 0; i < binding->op_costs.n; i++)
        if (outputs_is_file(path, binding->op_costs.values[i]))
            return options_fault(call, "output '%s' is also the input of --op-costs", path);
    return CM_OK;
}

const char *binding_given(const struct binding *binding) {
    static const struct option *const tables[] = {binding_batch, binding_batches, binding_model,
                                                  binding_counting, binding_rest};
    struct binding defaults;
    const char *name = NULL;
    binding_defaults(&defaults);
    for (size_t i = 0; name == NULL && i < sizeof(tables) / sizeof(tables[0]); i++)
        name = options_changed(tables[i], binding, &defaults, 0);
    return name;
}
