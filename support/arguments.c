/* SPDX-License-Identifier: Apache-2.0 */
#include "support/arguments.h"

#include <string.h>

#include "costmodel/campaign.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"
#include "costmodel/fit.h"
#include "costmodel/llm.h"
#include "costmodel/op_costs.h"
#include "support/diag.h"

#define MAX_SIZE 4096 /* of a struct; a larger one is not initialized */

enum member_kind { MEMBER_POINTER, MEMBER_NOT_NEGATIVE, MEMBER_ENUM, MEMBER_LIST };

struct member {
    const char *name; /* NULL ends the table */
    enum member_kind kind;
    size_t offset;
    size_t limit;        /* enum: number of enumerators; list: offset of the number of items */
    enum argument items; /* of a list */
};

struct structure {
    const char *name;
    size_t size;
    const struct member *members;
    const void *defaults; /* of a struct with a size */
};

/* clang-format off */
#define POINTER(s, member)           {#member, MEMBER_POINTER, offsetof(struct s, member), 0, ARGUMENT_ANY}
#define NOT_NEGATIVE(s, member)      {#member, MEMBER_NOT_NEGATIVE, offsetof(struct s, member), 0, ARGUMENT_ANY}
#define ENUM(s, member, n)           {#member, MEMBER_ENUM, offsetof(struct s, member), n, ARGUMENT_ANY}
#define LIST(s, member, items)       {#member, MEMBER_LIST, offsetof(struct s, member), offsetof(struct s, n_##member), items}
#define STRUCT(s, defaults, ...)     [ARGUMENT_##s] = {#s, sizeof(struct s), (const struct member[]){__VA_ARGS__ {.name = NULL}}, defaults}

#define N_UNITS (CM_UNITS_BINARY + 1)

static const struct cm_options options = {.convention = "deepspeed", .memory_alignment = 1};
static const struct cm_text_options text_options = {.depth = -1, .top = 1 /* as DeepSpeed */, .detailed = true, .curve = true, .width = 100};
static const struct cm_table_options table_options = {.depth = -1};
static const struct cm_diff_options diff_options = {.metric = CM_NO_INDEX, .depth = -1, .top = 10, .width = 100};
static const struct cm_check_options check_options;
static const struct cm_campaign_run campaign_run;
static const struct cm_llm_options llm_options = {.prompt = 2048, .new_tokens = 256, .reserve = 0.1, .arena = CM_UNKNOWN, .page = 16, .tp = 1, .pp = 1, .ep = 1};

static const struct structure structures[ARGUMENT_N_KINDS] = {
    [ARGUMENT_POINTER] = {"list", sizeof(void *), (const struct member[]){{"item", MEMBER_POINTER, 0, 0, ARGUMENT_ANY}, {.name = NULL}}, NULL},
    [ARGUMENT_SIZE] = {"list", sizeof(int64_t), (const struct member[]){{"item", MEMBER_NOT_NEGATIVE, 0, 0, ARGUMENT_ANY}, {.name = NULL}}, NULL},
    STRUCT(cm_options, &options,
        NOT_NEGATIVE(cm_options, batch), NOT_NEGATIVE(cm_options, memory_limit), NOT_NEGATIVE(cm_options, sample_bytes),
        NOT_NEGATIVE(cm_options, micro_batches), NOT_NEGATIVE(cm_options, shard_gpus), ENUM(cm_options, offload, CM_OFFLOAD_ALL + 1), LIST(cm_options, trainable, ARGUMENT_POINTER),
        LIST(cm_options, dims, ARGUMENT_cm_dim_option), LIST(cm_options, inputs, ARGUMENT_cm_input_option),
        LIST(cm_options, values, ARGUMENT_cm_value_option), LIST(cm_options, trip_counts, ARGUMENT_cm_dim_option),
        LIST(cm_options, op_costs, ARGUMENT_POINTER), LIST(cm_options, freeze, ARGUMENT_POINTER),
        LIST(cm_options, checkpoint, ARGUMENT_POINTER), LIST(cm_options, explain, ARGUMENT_POINTER),
        LIST(cm_options, times, ARGUMENT_POINTER), POINTER(cm_options, convention),
        ENUM(cm_options, mode, CM_MODE_INFERENCE + 1), ENUM(cm_options, schedule, CM_SCHEDULE_MIN_MEMORY + 1),
        ENUM(cm_options, precision, CM_N_PRECISIONS), ENUM(cm_options, runtime, CM_N_RUNTIMES),
        ENUM(cm_options, layout, CM_N_LAYOUTS),),
    STRUCT(cm_text_options, &text_options, ENUM(cm_text_options, units, N_UNITS),),
    STRUCT(cm_table_options, &table_options,
        ENUM(cm_table_options, rows, CM_ROWS_LAYERS + 1), ENUM(cm_table_options, units, N_UNITS),
        LIST(cm_table_options, filters, ARGUMENT_POINTER),),
    STRUCT(cm_diff_options, &diff_options, ENUM(cm_diff_options, units, N_UNITS),),
    STRUCT(cm_check_options, &check_options,
        LIST(cm_check_options, limits, ARGUMENT_cm_check_limit), LIST(cm_check_options, waivers, ARGUMENT_cm_check_waiver),),
    STRUCT(cm_campaign_run, &campaign_run, POINTER(cm_campaign_run, folder),),
    STRUCT(cm_llm_options, &llm_options,
        NOT_NEGATIVE(cm_llm_options, chunk), NOT_NEGATIVE(cm_llm_options, source), NOT_NEGATIVE(cm_llm_options, memory_limit),
        LIST(cm_llm_options, quantize, ARGUMENT_POINTER),
        {"batches", MEMBER_LIST, offsetof(struct cm_llm_options, batches), offsetof(struct cm_llm_options, n_batches), ARGUMENT_SIZE},
        LIST(cm_llm_options, contexts, ARGUMENT_SIZE),),
    STRUCT(cm_dim_option, NULL, POINTER(cm_dim_option, name), NOT_NEGATIVE(cm_dim_option, size),),
    STRUCT(cm_input_option, NULL, POINTER(cm_input_option, name), LIST(cm_input_option, dims, ARGUMENT_SIZE),),
    STRUCT(cm_value_option, NULL,
        POINTER(cm_value_option, name), {"elements", MEMBER_LIST, offsetof(struct cm_value_option, elements), offsetof(struct cm_value_option, n), ARGUMENT_POINTER},),
    STRUCT(cm_sweep_point, NULL,
        LIST(cm_sweep_point, dims, ARGUMENT_cm_dim_option), ENUM(cm_sweep_point, precision, CM_N_PRECISIONS),),
    STRUCT(cm_check_limit, NULL, POINTER(cm_check_limit, text), POINTER(cm_check_limit, source),),
    STRUCT(cm_check_waiver, NULL, POINTER(cm_check_waiver, limit), POINTER(cm_check_waiver, reason), POINTER(cm_check_waiver, until),),
    STRUCT(cm_named_size, NULL, POINTER(cm_named_size, name),),
    STRUCT(cm_campaign_dim, NULL,
        POINTER(cm_campaign_dim, name), {"sizes", MEMBER_LIST, offsetof(struct cm_campaign_dim, sizes), offsetof(struct cm_campaign_dim, n), ARGUMENT_ANY},),
    STRUCT(cm_campaign_model, NULL,
        POINTER(cm_campaign_model, path), LIST(cm_campaign_model, dims, ARGUMENT_cm_campaign_dim),),
    STRUCT(cm_campaign, NULL,
        LIST(cm_campaign, models, ARGUMENT_cm_campaign_model), LIST(cm_campaign, batches, ARGUMENT_ANY),
        LIST(cm_campaign, precisions, ARGUMENT_POINTER), LIST(cm_campaign, devices, ARGUMENT_POINTER),
        POINTER(cm_campaign, measure), POINTER(cm_campaign, runtime), POINTER(cm_campaign, convention),
        POINTER(cm_campaign, mode), POINTER(cm_campaign, optimizer),),
    STRUCT(cm_measured_time, NULL, POINTER(cm_measured_time, model),
        ENUM(cm_measured_time, precision, CM_N_PRECISIONS), ENUM(cm_measured_time, layout, CM_N_LAYOUTS),
        LIST(cm_measured_time, dims, ARGUMENT_cm_dim_option),),
    STRUCT(cm_op_output, NULL, POINTER(cm_op_output, type), POINTER(cm_op_output, dims),),
    STRUCT(cm_op_description, NULL,
        POINTER(cm_op_description, domain), POINTER(cm_op_description, op), POINTER(cm_op_description, like),
        LIST(cm_op_description, attributes, ARGUMENT_cm_named_size), LIST(cm_op_description, inputs, ARGUMENT_POINTER),
        LIST(cm_op_description, where, ARGUMENT_POINTER), LIST(cm_op_description, outputs, ARGUMENT_cm_op_output),
        POINTER(cm_op_description, macs), POINTER(cm_op_description, other_flops), POINTER(cm_op_description, note),),
};
/* clang-format on */

static size_t size_at(const void *address) {
    size_t size = 0;
    memcpy(&size, address, sizeof size);
    return size;
}

static const void *pointer_at(const void *address) {
    const void *pointer = NULL;
    memcpy(&pointer, address, sizeof pointer);
    return pointer;
}

static int check_member(const struct structure *of, const struct member *member,
                        const char *given, struct cm_diagnostics *diag) {
    const void *at = given + member->offset;
    int64_t count = 0;
    int value = 0;
    switch (member->kind) {
    case MEMBER_POINTER:
        if (pointer_at(at) != NULL) return CM_OK;
        return diag_error(diag, DIAG_USAGE, "%s.%s must not be NULL", of->name, member->name);
    case MEMBER_NOT_NEGATIVE:
        memcpy(&count, at, sizeof count);
        if (count >= 0) return CM_OK;
        return diag_error(diag, DIAG_USAGE, "%s.%s must be >= 0, got %lld", of->name,
                          member->name, (long long)count);
    case MEMBER_ENUM:
        memcpy(&value, at, sizeof value);
        if (value >= 0 && (size_t)value < member->limit) return CM_OK;
        return diag_error(diag, DIAG_USAGE, "%s.%s must be from 0 to %zu, got %d", of->name,
                          member->name, member->limit - 1, value);
    case MEMBER_LIST:
        if (size_at(given + member->limit) == 0) return CM_OK;
        if (pointer_at(at) != NULL)
            return arguments_check(member->items, pointer_at(at),
                                   size_at(given + member->limit), true, diag);
        return diag_error(diag, DIAG_USAGE, "%s.%s must not be NULL if it has %zu items",
                          of->name, member->name, size_at(given + member->limit));
    }
    BUG("kind of a member");
}

/* Calls itself for lists in lists; arguments.c nests three. */
int arguments_check(enum argument kind, const void *items, size_t n, bool others,
                    struct cm_diagnostics *diag) {
    const struct structure *of = &structures[kind];
    int status = others && (items != NULL || n == 0) ? CM_OK : diag_null(diag);
    for (size_t i = 0; i < n && of->members != NULL && status == CM_OK; i++)
        for (const struct member *member = of->members; member->name && !status; member++)
            status = check_member(of, member, (const char *)items + i * of->size, diag);
    return status;
}

static void init(enum argument kind, void *ret, size_t size) {
    const struct structure *of = &structures[kind];
    if (ret == NULL || size < sizeof size) return;
    memset(ret, 0, size);
    memcpy(ret, of->defaults, size < of->size ? size : of->size);
    memcpy(ret, &size, sizeof size);
}

const void *arguments_take(enum argument kind, const void *given, void *ret_own, bool others,
                           struct cm_diagnostics *diag) {
    const struct structure *of = &structures[kind];
    const size_t size = given == NULL ? 0 : size_at(given);
    int status = CM_OK;
    if (given == NULL || !others)
        status = diag_null(diag);
    else if (size < sizeof size || size > MAX_SIZE)
        status = diag_error(diag, DIAG_USAGE, "%s.size must be sizeof(struct %s), got %zu",
                            of->name, of->name, size);
    for (size_t i = of->size; i < size && status == CM_OK; i++)
        if (((const char *)given)[i] != 0)
            status =
                diag_error(diag, DIAG_USAGE,
                           "%s sets a member that this version of the library lacks", of->name);
    if (status != CM_OK) return NULL;
    init(kind, ret_own, of->size);
    memcpy(ret_own, given, size < of->size ? size : of->size);
    memcpy(ret_own, &of->size, sizeof of->size);
    return arguments_check(kind, ret_own, 1, true, diag) == CM_OK ? ret_own : NULL;
}

#define DEFINE_INIT(type)                                                                      \
    void type##_init_sized(struct type *ret, size_t size) {                                    \
        init(ARGUMENT_##type, ret, size);                                                      \
    }
DEFINE_INIT(cm_options)
DEFINE_INIT(cm_text_options)
DEFINE_INIT(cm_table_options)
DEFINE_INIT(cm_diff_options)
DEFINE_INIT(cm_llm_options)
