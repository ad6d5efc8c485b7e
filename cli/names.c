/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/names.h"

#include <string.h>

#include "api/half.h"
#include "cli/command.h"
#include "costmodel/compare.h"
#include "costmodel/costmodel.h"
#include "llm/formats.h"
#include "passes/modules/module_sources.h"
#include "passes/pipeline/pipeline.h"
#include "passes/training/optimizers.h"
#include "report/table/columns.h"
#include "report/table/fields.h"
#include "support/arena.h"
#include "support/text.h"

#define UNUSED __attribute__((unused))
#define NAMES(of)                                                                              \
    bool names_of_##of(UNUSED const struct option_query *query, size_t index,                  \
                       struct option_choice *ret)

/* Returns false if `name` is NULL. */
static bool name_is(const char *name, const char *about, struct option_choice *ret) {
    *ret = (struct option_choice){.name = name, .about = about};
    return name != NULL;
}

NAMES(conventions) {
    const struct cm_convention *convention = cm_convention_at(index);
    return convention && name_is(convention->name, convention->meaning, ret);
}

NAMES(devices) {
    return name_is(half_device_name(index), NULL, ret);
}

NAMES(dims) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_dims *dims = NULL;
    struct cm_options options;
    const char *name = NULL;
    cm_options_init(&options);
    for (int i = 0; i + 1 < query->call->argc && model == NULL; i++)
        if (text_ends_with(query->call->argv[i], ".onnx"))
            (void)!cm_model_load_file(query->call->argv[i], diag, &model);
    if (model && cm_model_dims(model, &options, diag, &dims) == CM_OK && index < dims->n)
        name = arena_printf(query->call->arena, "%s=", dims->dims[index].name);
    cm_dims_free(dims);
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return name_is(name, NULL, ret);
}

NAMES(formats) {
    const char *name = cm_format_at(index);
    return name && name_is(name, cm_format_find(name)->summary, ret);
}

NAMES(module_sources) {
    const struct module_source *source = module_source_at(index);
    return source && name_is(source->name, source->summary, ret);
}

NAMES(optimizers) {
    const struct optimizer *optimizer = optimizers_at(index);
    return optimizer && name_is(optimizer->name, NULL, ret);
}

NAMES(passes) {
    const struct pipeline *half = half_pipeline();
    const struct pipeline *part = half ? half : &core_pipeline;
    for (; part && index >= part->n; part = part->before) index -= part->n;
    return part && name_is(part->passes[index].name, part->passes[index].summary, ret);
}

NAMES(schemas) {
    return name_is(cm_schema_at(index), NULL, ret);
}

NAMES(tensor_formats) {
    return name_is(llm_format_name((int)index), NULL, ret);
}

NAMES(metrics) {
    struct cm_metric metric;
    return cm_metric_at(index, &metric) && name_is(metric.key, metric.heading, ret);
}

NAMES(unit_metrics) {
    struct cm_metric metric;
    for (size_t i = 0; cm_metric_at(i, &metric); i++)
        if ((metric.of_modules || metric.of_operators) && index-- == 0)
            return name_is(metric.key, metric.heading, ret);
    return false;
}

NAMES(sums) {
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i].sums && index-- == 0)
            return name_is(columns[i].key, columns[i].about, ret);
    return false;
}

/* Returns the value of an option in the words before the last; "" if it is not given. */
static const char *given(const struct invocation *call, const char *option) {
    const size_t length = strlen(option);
    for (int i = 0; i + 1 < call->argc; i++) {
        if (!text_starts_with(call->argv[i], option)) continue;
        if (call->argv[i][length] == '=') return call->argv[i] + length + 1;
        if (call->argv[i][length] == '\0') return call->argv[i + 1];
    }
    return "";
}

/* Returns the kind of the rows that the command line selects. */
static enum rows rows_of(const struct invocation *call) {
    static const char *const lists[] = {"--batch", "--device", "--precision"};
    const char *name = given(call, "--rows");
    bool is_sweep = text_equal(call->name, "merge");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        is_sweep |= strchr(given(call, lists[i]), ',') != NULL;
    if (is_sweep && name[0] == '\0') return ROWS_BATCHES;
    for (enum rows rows = ROWS_MODULES; rows <= ROWS_LAYERS; rows++)
        if (text_equal(rows_names[rows], name)) return rows;
    return ROWS_MODULES;
}

NAMES(columns) {
    struct field field;
    return query && field_at(rows_of(query->call), index, query->call->arena, &field) &&
           name_is(field.key, field.heading, ret);
}

const struct option_choice choices_batches[] = {
    {"1", 0, NULL},  {"2", 0, NULL},  {"4", 0, NULL},   {"8", 0, NULL},   {"16", 0, NULL},
    {"32", 0, NULL}, {"64", 0, NULL}, {"128", 0, NULL}, {"256", 0, NULL}, {.name = NULL}};

static const struct option_choice directions[] = {
    {"asc", 0, "smallest first"}, {"desc", 0, "largest first"}, {.name = NULL}};
/* `profile` has those behind the first. */
static const struct option_choice divisions[] = {{"ep=", 0, "GPUs that divide the experts"},
                                                 {"tp=", 0, "GPUs that divide each layer"},
                                                 {"pp=", 0, "GPUs that divide the layers"},
                                                 {.name = NULL}};
/* Suffixes that the format in front of them may have. */
static NAMES(suffixes) {
    static const struct option_choice suffixes[] = {{"g128", 0, "blocks of 128 elements"},
                                                    {"b128", 0, "square blocks"},
                                                    {"t", 0, "one scale of the whole matrix"},
                                                    {"sym", 0, "no zero points"},
                                                    {.name = NULL}};
    const char *equals = strrchr(query->value, '=');
    const char *format = equals ? equals + 1 : query->value;
    const int length = (int)(strrchr(format, ':') - format);
    for (const struct option_choice *at = suffixes; at->name != NULL; at++) {
        struct llm_format found;
        const char *name =
            arena_printf(query->call->arena, "%.*s:%s", length, format, at->name);
        if (name == NULL || !llm_format_find(name, &found) || index-- > 0) continue;
        *ret = *at;
        return true;
    }
    return false;
}

static const struct option_choice all[] = {{"all", 0, "all without shares"}, {.name = NULL}};

/* clang-format off */
const struct option_part parts_backend[] = {
    {"", .names = names_of_backends}, {":", .names = names_of_settings}, {",", .names = names_of_settings},
    {"roofline:device=", .names = names_of_devices, .files = "json"},
    {"target=", .names = names_of_devices, .files = "json"}, {"=", .names = NULL}, {.after = NULL}};
const struct option_part parts_columns[] = {
    {"", .choices = all, .names = names_of_columns}, {",", .names = names_of_columns}, {.after = NULL}};
const struct option_part parts_dim[] = {
    {"", .names = names_of_dims}, {"=", .choices = choices_batches}, {.after = NULL}};
const struct option_part parts_dims[] = {
    {"", .names = names_of_dims}, {"=", .choices = choices_batches}, {",", .choices = choices_batches}, {.after = NULL}};
const struct option_part parts_filter[] = {
    {"", .names = names_of_columns}, {"=", .names = NULL}, {"<", .names = NULL}, {">", .names = NULL}, {.after = NULL}};
const struct option_part parts_parallel[] = {
    {"", .choices = divisions + 1}, {",", .choices = divisions + 1}, {"=", .choices = NULL}, {.after = NULL}};
const struct option_part parts_parallel_llm[] = {
    {"", .choices = divisions}, {",", .choices = divisions}, {"=", .choices = NULL}, {.after = NULL}};
const struct option_part parts_quantized[] = {
    {"", .names = names_of_tensor_formats}, {"=", .names = names_of_tensor_formats}, {":", .names = names_of_suffixes}, {.after = NULL}};
const struct option_part parts_sort[] = {
    {"", .names = names_of_columns}, {":", .choices = directions}, {.after = NULL}};
/* clang-format on */
