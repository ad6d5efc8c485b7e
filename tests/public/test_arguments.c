/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls public functions with structs of the caller that are invalid: each enumerator out of
 * range, each list NULL with items or with an item that is NULL, each required text NULL, each
 * size of an older or newer version. A struct's members are read from the public headers, so
 * that a new member without a row here fails.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/campaign.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"
#include "costmodel/costmodel.h"
#include "costmodel/fit.h"
#include "costmodel/op_costs.h"

#define N(array) (sizeof(array) / sizeof *(array))

/* Valid arguments of the calls. */
struct given {
    struct cm_model *model;
    struct cm_result *result;
    struct cm_sweep *sweep;
    struct cm_formula *formula;
    struct cm_diff *diff;
    struct cm_verdict *verdict;
    struct cm_options options;
    struct cm_text_options text;
    struct cm_table_options table;
    struct cm_check_options check;
    FILE *out;
};

/* A call with one struct of the caller. Calls without diagnostics leave `d` empty. */
typedef int call_with(struct given *g, const void *s, struct cm_diagnostics *d);

#define CALL(name, ...)                                                                        \
    static int name(struct given *g, const void *s, struct cm_diagnostics *d) {                \
        (void)g;                                                                               \
        (void)d;                                                                               \
        __VA_ARGS__;                                                                           \
    }

/* Calls a function that makes an object by its last argument, and frees the object. */
#define MADE(type, call)                                                                       \
    struct cm_##type *made = NULL;                                                             \
    const int status = call;                                                                   \
    cm_##type##_free(made);                                                                    \
    return status

static const int64_t one_batch = 1;

/* clang-format off */
CALL(dims, MADE(dims, cm_model_dims(g->model, s, d, &made)))
CALL(profile, MADE(result, cm_model_profile(g->model, s, d, &made)))
CALL(sweep, MADE(sweep, cm_model_sweep(g->model, s, &one_batch, 1, d, &made)))
CALL(sweep_points, const struct cm_sweep_point point = {.batch = 1}; MADE(sweep, cm_model_sweep_points(g->model, s, &point, 1, d, &made)))
CALL(formula, MADE(formula, cm_model_formula(g->model, s, d, &made)))
CALL(calibrate, return cm_calibrate(s, d, g->out))
CALL(points, MADE(sweep, cm_model_sweep_points(g->model, &g->options, s, 1, d, &made)))
CALL(one_dim, struct cm_options o = g->options; o.n_dims = 1; o.dims = s; return dims(g, &o, d))
CALL(one_trip_count, struct cm_options o = g->options; o.n_trip_counts = 1; o.trip_counts = s; return dims(g, &o, d))
CALL(one_input, struct cm_options o = g->options; o.n_inputs = 1; o.inputs = s; return dims(g, &o, d))
CALL(one_value, struct cm_options o = g->options; o.n_values = 1; o.values = s; return dims(g, &o, d))
CALL(text, return cm_result_write(g->result, "text", &(struct cm_report_options){.text = s}, d, g->out))
CALL(deepspeed, return cm_result_write(g->result, "deepspeed", &(struct cm_report_options){.text = s}, d, g->out))
CALL(sweep_text, return cm_sweep_write(g->sweep, "text", &(struct cm_report_options){.text = s}, d, g->out))
CALL(formula_text, return cm_formula_write_text(g->formula, s, g->out))
CALL(verdict_text, return cm_verdict_write_text(g->verdict, s, g->out))
CALL(text_of_table, return cm_result_write(g->result, "table", &(struct cm_report_options){.text = s, .table = &g->table}, d, g->out))
CALL(text_of_sweep_table, return cm_sweep_write(g->sweep, "table", &(struct cm_report_options){.text = s, .table = &g->table}, d, g->out))
CALL(table_check, return cm_table_options_check(s, false, d))
CALL(table, return cm_result_write(g->result, "table", &(struct cm_report_options){.text = &g->text, .table = s}, d, g->out))
CALL(csv, return cm_result_write(g->result, "csv", &(struct cm_report_options){.table = s}, d, g->out))
CALL(markdown, return cm_result_write(g->result, "markdown", &(struct cm_report_options){.table = s}, d, g->out))
CALL(folded, return cm_result_write(g->result, "folded", &(struct cm_report_options){.table = s}, d, g->out))
CALL(dot, return cm_result_write(g->result, "dot", &(struct cm_report_options){.table = s}, d, g->out))
CALL(mermaid, return cm_result_write(g->result, "mermaid", &(struct cm_report_options){.table = s}, d, g->out))
CALL(sweep_table, return cm_sweep_write(g->sweep, "table", &(struct cm_report_options){.text = &g->text, .table = s}, d, g->out))
CALL(sweep_csv, return cm_sweep_write(g->sweep, "csv", &(struct cm_report_options){.table = s}, d, g->out))
CALL(sweep_markdown, return cm_sweep_write(g->sweep, "markdown", &(struct cm_report_options){.table = s}, d, g->out))
CALL(table_of_render, const struct cm_report_options o = {.table = s}; char *r = NULL; size_t n; int status = cm_result_render(g->result, "csv", &o, d, &r, &n); cm_report_free(r); return status)
CALL(diff_text, return cm_diff_write_text(g->diff, s, g->out))
CALL(diff_json, return cm_diff_write_json(g->diff, s, g->out))
CALL(diff_markdown, return cm_diff_write_markdown(g->diff, s, g->out))
CALL(diff_html, return cm_diff_write_html(g->diff, s, d, g->out))
CALL(check, const struct cm_result *r = g->result; MADE(verdict, cm_check(&r, 1, s, d, &made)))
CALL(one_limit, struct cm_check_options o = g->check; o.n_limits = 1; o.limits = s; return check(g, &o, d))
CALL(one_waiver, struct cm_check_options o = g->check; o.n_waivers = 1; o.waivers = s; return check(g, &o, d))
CALL(limit_batch, int64_t batch; return cm_check_limit_batch(s, d, &batch))
CALL(plan, MADE(campaign, cm_campaign_plan(s, NULL, 0, d, &made)))
CALL(plan_dim, struct cm_campaign w = {.n_models = 0}; w.measure = w.runtime = w.convention = w.mode = w.optimizer = ""; MADE(campaign, cm_campaign_plan(&w, s, 1, d, &made)))
CALL(plan_model, struct cm_campaign w = {.n_models = 1, .models = s}; w.measure = w.runtime = w.convention = w.mode = w.optimizer = ""; return plan(g, &w, d))
CALL(extend, const struct cm_campaign w = {.measure = "", .runtime = "", .convention = "", .mode = "", .optimizer = ""}; MADE(campaign, cm_campaign_extend(s, &w, NULL, 0, d, &made)))
CALL(extend_by, const struct cm_campaign w = {.measure = "", .runtime = "", .convention = "", .mode = "", .optimizer = ""}; MADE(campaign, cm_campaign_extend(&w, s, NULL, 0, d, &made)))
CALL(write_campaign, return cm_campaign_write_json(s, g->out))
CALL(run_campaign, const struct cm_campaign_run run = {.size = sizeof run, .folder = "/dev/null/x", .shard = 1, .n_shards = 1}; struct cm_campaign_outcome o; return cm_campaign_run(s, &run, d, &o))
CALL(run_with, struct cm_campaign w = {.n_models = 0}; struct cm_campaign_outcome o; w.measure = w.runtime = w.convention = w.mode = w.optimizer = ""; return cm_campaign_run(&w, s, d, &o))
CALL(device_fit, struct cm_measured_time t; memcpy(&t, s, sizeof t); return cm_device_fit("h200", CM_RUNTIME_TORCH_EAGER, "basis", &t, 1, d, g->out))
CALL(op_costs, MADE(op_costs, cm_op_costs_make(s, 1, d, &made)))
CALL(one_output, struct cm_op_description o = {"", "Op", CM_UNKNOWN, false, "", CM_UNKNOWN, 0, NULL, 0, NULL, CM_UNKNOWN, 0, NULL, 1, s, "", "", ""}; return op_costs(g, &o, d))
CALL(one_attribute, struct cm_op_description o = {"", "Op", CM_UNKNOWN, false, "", CM_UNKNOWN, 1, s, 0, NULL, CM_UNKNOWN, 0, NULL, 0, NULL, "", "", ""}; return op_costs(g, &o, d))

/* A member, and the number of its enumerators or the offset of the number of its items. */
struct member {
    const char *name;
    enum { ENUM, LIST, NUMBERS, TEXT, NOT_NEGATIVE } kind;
    size_t offset;
    size_t n;
};

#define E(m, n)    {#m, ENUM, offsetof(struct S, m), n}
#define L(m)       {#m, LIST, offsetof(struct S, m), offsetof(struct S, n_##m)}
#define NUM(m)     {#m, NUMBERS, offsetof(struct S, m), offsetof(struct S, n_##m)}
#define LN(m)      {#m, LIST, offsetof(struct S, m), offsetof(struct S, n)}
#define NUM_N(m)   {#m, NUMBERS, offsetof(struct S, m), offsetof(struct S, n)}
#define T(m)       {#m, TEXT, offsetof(struct S, m), 0}
#define P(m)       {#m, NOT_NEGATIVE, offsetof(struct S, m), 0}
/* clang-format on */

static const struct member of_options[] = {
#define S cm_options
    P(batch),
    P(memory_limit),
    P(sample_bytes),
    P(micro_batches),
    P(shard_gpus),
    E(offload, 3),
    L(trainable),
    L(dims),
    L(inputs),
    L(values),
    L(trip_counts),
    L(op_costs),
    L(freeze),
    L(checkpoint),
    L(explain),
    L(times),
    T(convention),
    E(mode, 3),
    E(schedule, 2),
    E(precision, CM_N_PRECISIONS),
    E(runtime, CM_N_RUNTIMES),
    E(layout, CM_N_LAYOUTS),
#undef S
};
static const struct member of_text[] = {
#define S cm_text_options
    E(units, 4),
#undef S
};
static const struct member of_table[] = {
#define S cm_table_options
    E(rows, 4),
    E(units, 4),
    L(filters),
#undef S
};
static const struct member of_diff[] = {
#define S cm_diff_options
    E(units, 4),
#undef S
};
static const struct member of_check[] = {
#define S cm_check_options
    L(limits),
    L(waivers),
#undef S
};
static const struct member of_run[] = {
#define S cm_campaign_run
    T(folder),
#undef S
};
static const struct member of_dim[] = {
#define S cm_dim_option
    T(name),
    P(size),
#undef S
};
static const struct member of_input[] = {
#define S cm_input_option
    T(name),
    NUM(dims),
#undef S
};
static const struct member of_value[] = {
#define S cm_value_option
    T(name),
    LN(elements),
#undef S
};
static const struct member of_point[] = {
#define S cm_sweep_point
    L(dims),
    E(precision, CM_N_PRECISIONS),
#undef S
};
static const struct member of_limit[] = {
#define S cm_check_limit
    T(text),
    T(source),
#undef S
};
static const struct member of_waiver[] = {
#define S cm_check_waiver
    T(limit),
    T(reason),
    T(until),
#undef S
};
static const struct member of_campaign_dim[] = {
#define S cm_campaign_dim
    T(name),
    NUM_N(sizes),
#undef S
};
static const struct member of_campaign_model[] = {
#define S cm_campaign_model
    T(path),
    L(dims),
#undef S
};
static const struct member of_campaign[] = {
#define S cm_campaign
    L(models),  NUM(batches),  L(precisions), L(devices),   T(measure),
    T(runtime), T(convention), T(mode),       T(optimizer),
#undef S
};
static const struct member of_time[] = {
#define S cm_measured_time
    T(model),
    E(precision, CM_N_PRECISIONS),
    E(layout, CM_N_LAYOUTS),
    L(dims),
#undef S
};
static const struct member of_description[] = {
#define S cm_op_description
    T(domain), T(op),      T(like), L(attributes),  L(inputs),
    L(where),  L(outputs), T(macs), T(other_flops), T(note),
#undef S
};
static const struct member of_output[] = {
#define S cm_op_output
    T(type),
    T(dims),
#undef S
};
static const struct member of_attribute[] = {
#define S cm_named_size
    T(name),
#undef S
};

struct subject {
    const char *name;
    const char *header;
    size_t size;
    bool has_size; /* its first member is its size */
    const struct member *members;
    size_t n_members;
    call_with *calls[12];
};

/* clang-format off */
#define SUBJECT(s, header, has_size, members, ...) {#s, header, sizeof(struct s), has_size, members, N(members), {__VA_ARGS__}}
static const struct subject subjects[] = {
    SUBJECT(cm_options, "costmodel", true, of_options, dims, profile, sweep, sweep_points, formula, calibrate),
    SUBJECT(cm_text_options, "costmodel", true, of_text, text, deepspeed, sweep_text, formula_text, verdict_text, text_of_table, text_of_sweep_table),
    SUBJECT(cm_table_options, "costmodel", true, of_table, table_check, table, csv, markdown, folded, dot, mermaid, sweep_table, sweep_csv, sweep_markdown, table_of_render),
    SUBJECT(cm_diff_options, "compare", true, of_diff, diff_text, diff_json, diff_markdown, diff_html),
    SUBJECT(cm_check_options, "check", true, of_check, check),
    SUBJECT(cm_campaign_run, "campaign", true, of_run, run_with),
    SUBJECT(cm_dim_option, "costmodel", false, of_dim, one_dim, one_trip_count),
    SUBJECT(cm_input_option, "costmodel", false, of_input, one_input),
    SUBJECT(cm_value_option, "costmodel", false, of_value, one_value),
    SUBJECT(cm_sweep_point, "costmodel", false, of_point, points),
    SUBJECT(cm_check_limit, "check", false, of_limit, one_limit, limit_batch),
    SUBJECT(cm_check_waiver, "check", false, of_waiver, one_waiver),
    SUBJECT(cm_campaign_dim, "campaign", false, of_campaign_dim, plan_dim),
    SUBJECT(cm_campaign_model, "campaign", false, of_campaign_model, plan_model),
    SUBJECT(cm_campaign, "campaign", false, of_campaign, plan, extend, extend_by, run_campaign, write_campaign),
    SUBJECT(cm_measured_time, "fit", false, of_time, device_fit),
    SUBJECT(cm_op_description, "op_costs", false, of_description, op_costs),
    SUBJECT(cm_op_output, "op_costs", false, of_output, one_output),
    SUBJECT(cm_named_size, "status", false, of_attribute, one_attribute),
};
/* clang-format on */

static int make(void **state) {
    struct given *g = calloc(1, sizeof *g);
    const int64_t batches[] = {1, 2};
    assert_non_null(g);
    *state = g;
    g->out = tmpfile();
    cm_options_init(&g->options);
    cm_text_options_init(&g->text);
    cm_table_options_init(&g->table);
    g->check.size = sizeof g->check;
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/pointnet.onnx", NULL, &g->model),
                     CM_OK);
    assert_int_equal(cm_model_profile(g->model, &g->options, NULL, &g->result), CM_OK);
    assert_int_equal(cm_model_sweep(g->model, &g->options, batches, 2, NULL, &g->sweep), CM_OK);
    assert_int_equal(cm_model_formula(g->model, &g->options, NULL, &g->formula), CM_OK);
    assert_int_equal(cm_diff_make(g->result, g->result, NULL, &g->diff), CM_OK);
    const struct cm_result *result = g->result;
    assert_int_equal(cm_check(&result, 1, &g->check, NULL, &g->verdict), CM_OK);
    return 0;
}

static int end(void **state) {
    struct given *g = *state;
    fclose(g->out);
    cm_verdict_free(g->verdict);
    cm_diff_free(g->diff);
    cm_formula_free(g->formula);
    cm_sweep_free(g->sweep);
    cm_result_free(g->result);
    cm_model_free(g->model);
    free(g);
    return 0;
}

/* A valid struct of each kind, with room for members of a newer version. */
union any {
    char bytes[4096];
    size_t size;
    struct cm_options options;
    struct cm_text_options text;
    struct cm_table_options table;
    struct cm_diff_options diff;
    struct cm_campaign_run run;
};

static void set_size(void *at, size_t value) {
    memcpy(at, &value, sizeof value);
}

/* Makes a struct whose texts are not NULL and whose lists are empty. */
static void make_valid(const struct subject *subject, union any *ret) {
    static const char *const valid = "x";
    memset(ret, 0, sizeof *ret);
    if (strcmp(subject->name, "cm_options") == 0) cm_options_init(&ret->options);
    if (strcmp(subject->name, "cm_text_options") == 0) cm_text_options_init(&ret->text);
    if (strcmp(subject->name, "cm_table_options") == 0) cm_table_options_init(&ret->table);
    if (strcmp(subject->name, "cm_diff_options") == 0) cm_diff_options_init(&ret->diff);
    if (subject->has_size) ret->size = subject->size;
    for (size_t i = 0; i < subject->n_members; i++) {
        char *at = ret->bytes + subject->members[i].offset;
        if (subject->members[i].kind == TEXT && *(const char **)(void *)at == NULL)
            memcpy(at, &valid, sizeof valid);
    }
    if (strcmp(subject->name, "cm_campaign_run") == 0) ret->run.shard = ret->run.n_shards = 1;
}

/* Calls each function with the struct; it must return CM_USAGE and name the member. */
static void expect_usage(struct given *g, const struct subject *subject, const union any *given,
                         const char *member, const char *what) {
    for (call_with *const *call = subject->calls; *call != NULL; call++) {
        struct cm_diagnostics *d = cm_diagnostics_new();
        const int status = (*call)(g, given, d);
        const struct cm_diagnostic *message = cm_diagnostics_get(d, 0);
        if (status != CM_USAGE)
            fail_msg("%s.%s %s, call %d: status %d", subject->name, member, what,
                     (int)(call - subject->calls), status);
        if (message != NULL && strstr(message->message, member) == NULL)
            fail_msg("%s.%s %s: %s", subject->name, member, what, message->message);
        cm_diagnostics_free(d);
    }
}

static void invalid_members_are_usage_errors(void **state) {
    static const char *const no_text[] = {NULL};
    static const void *const no_items = no_text;
    for (size_t i = 0; i < N(subjects); i++) {
        const struct subject *subject = &subjects[i];
        for (size_t k = 0; k < subject->n_members; k++) {
            const struct member *member = &subject->members[k];
            const int values[] = {-1, (int)member->n, 77};
            const int64_t negative = -1;
            union any given;
            make_valid(subject, &given);
            char *at = given.bytes + member->offset;
            for (size_t v = 0; member->kind == ENUM && v < N(values); v++) {
                memcpy(at, &values[v], sizeof values[v]);
                expect_usage(*state, subject, &given, member->name, "out of range");
            }
            if (member->kind == NOT_NEGATIVE) {
                memcpy(at, &negative, sizeof negative);
                expect_usage(*state, subject, &given, member->name, "negative");
            }
            if (member->kind == TEXT) {
                set_size(at, 0);
                expect_usage(*state, subject, &given, member->name, "NULL");
            }
            if (member->kind != LIST && member->kind != NUMBERS) continue;
            set_size(given.bytes + member->n, 3);
            expect_usage(*state, subject, &given, member->name, "NULL with items");
            if (member->kind != LIST) continue;
            set_size(given.bytes + member->n, 1);
            memcpy(at, &no_items, sizeof no_items);
            expect_usage(*state, subject, &given, "must not be NULL", "with an item of NULL");
        }
    }
}

static void messages_name_the_member_and_the_value(void **state) {
    struct given *g = *state;
    struct cm_options options[8];
    static const int64_t sizes[65] = {0};
    const struct cm_input_option input = {"input", 65, sizes};
    const char *const no_text = NULL;
    static const struct {
        call_with *call;
        const char *message;
    } rows[] = {
        {profile, "cm_options.precision must be from 0 to 7, got 77"},
        {profile, "cm_options.dims must not be NULL if it has 3 items"},
        {profile, "cm_options.convention must not be NULL"},
        {profile, "list.item must not be NULL"},
        {profile, "cm_options.size must be sizeof(struct cm_options), got 0"},
        {profile, "cm_options sets a member that this version of the library lacks"},
        {profile, "--input for 'input' must have at most 64 dims, got 65"},
        {calibrate, "cm_options.backend must not be NULL"},
    };
    for (size_t i = 0; i < N(options); i++) options[i] = g->options;
    options[0].precision = (enum cm_precision)77;
    options[1].n_dims = 3;
    options[2].convention = NULL;
    options[3].n_freeze = 1;
    options[3].freeze = &no_text;
    options[4].size = 0;
    options[5].size = 2 * sizeof *options;
    options[6].n_inputs = 1;
    options[6].inputs = &input;
    for (size_t i = 0; i < N(rows); i++) {
        struct cm_diagnostics *d = cm_diagnostics_new();
        assert_int_equal(rows[i].call(g, &options[i], d), CM_USAGE);
        assert_string_equal(cm_diagnostics_get(d, 0)->message, rows[i].message);
        cm_diagnostics_free(d);
    }
}

static void sizes_of_other_versions(void **state) {
    for (size_t i = 0; i < N(subjects); i++) {
        const struct subject *subject = &subjects[i];
        if (!subject->has_size) continue;
        union any given;
        make_valid(subject, &given);
        given.size = 0;
        expect_usage(*state, subject, &given, "size", "0: not initialized");
        given.size = SIZE_MAX / 2;
        expect_usage(*state, subject, &given, "size", "garbage");
        given.size = subject->size + 8;
        given.bytes[given.size - 1] = 1;
        expect_usage(*state, subject, &given, "lacks", "a newer version, with its member set");
        given.bytes[given.size - 1] = 0;
        for (call_with *const *call = subject->calls; *call != NULL; call++) {
            const int same = (*call)(*state, &given, NULL);
            given.size = subject->size;
            assert_int_equal(same, (*call)(*state, &given, NULL));
            given.size = subject->size + 8;
        }
    }
}

/* An older program neither sets the last members nor has memory for them. */
static void members_beyond_an_older_size_have_their_defaults(void **state) {
    struct given *g = *state;
    const size_t old_size = offsetof(struct cm_options, precision);
    struct cm_options *old = malloc(old_size); /* a sanitizer reports reads beyond it */
    cm_options_init_sized(old, old_size);
    assert_int_equal(profile(g, old, NULL), CM_OK);
    free(old);
    struct cm_options full = g->options;
    full.precision = (enum cm_precision)77;
    assert_int_equal(profile(g, &full, NULL), CM_USAGE);
    full.size = old_size;
    assert_int_equal(profile(g, &full, NULL), CM_OK);
}

static void a_newer_program_gets_zeros_beyond_the_known_members(void **state) {
    union any newer;
    (void)state;
    memset(&newer, 0xFF, sizeof newer);
    cm_options_init_sized(&newer.options, sizeof newer);
    assert_int_equal(newer.size, sizeof newer);
    assert_string_equal(newer.options.convention, "deepspeed");
    for (size_t i = sizeof(struct cm_options); i < sizeof newer; i++)
        assert_int_equal(newer.bytes[i], 0);
}

static void items_of_arrays_must_not_be_null_or_out_of_range(void **state) {
    static const double seconds[] = {0, -1, NAN, INFINITY};
    const struct cm_campaign no_models = {.n_models = 1};
    struct given *g = *state;
    const struct cm_result *const results[] = {g->result, NULL};
    const char *const folders[] = {NULL};
    struct cm_baseline *baseline = NULL;
    struct cm_verdict *verdict = NULL;
    struct cm_sweep *sweep = NULL;
    struct cm_measured_time time = {.model = "x", .seconds = 1};
    assert_int_equal(cm_check(results, 2, &g->check, NULL, &verdict), CM_USAGE);
    assert_int_equal(cm_baseline_make(results, 2, NULL, "", NULL, &baseline), CM_USAGE);
    assert_int_equal(cm_campaign_merge(folders, 1, NULL, &sweep), CM_USAGE);
    struct cm_diagnostics *d = cm_diagnostics_new();
    assert_int_equal(cm_device_fit("h200", (enum cm_runtime)77, "basis", &time, 1, d, g->out),
                     CM_USAGE);
    assert_string_equal(cm_diagnostics_get(d, 0)->message,
                        "runtime must be from 0 to 7, got 77");
    for (size_t i = 0; i < N(seconds); i++) {
        time.seconds = seconds[i];
        assert_int_equal(
            cm_device_fit("h200", CM_RUNTIME_TORCH_EAGER, "basis", &time, 1, d, g->out),
            CM_USAGE);
    }
    assert_string_equal(cm_diagnostics_get(d, 1)->message, "x: seconds must be > 0, got 0");
    cm_diagnostics_free(d);
    assert_int_equal(cm_campaign_count(&no_models), 0);
}

static void indices_out_of_range(void **state) {
    struct given *g = *state;
    size_t dims[CM_CAMPAIGN_MAX_DIMS];
    struct cm_figure figure;
    struct cm_combination at = {.batch = 7};
    const struct cm_campaign campaign = {.n_models = 0};
    struct cm_diff_options options;
    assert_false(cm_metric_of_total(9999, g->result, &figure));
    assert_false(cm_metric_of_module(0, g->result, g->result->n_modules, &figure));
    assert_false(cm_metric_of_operator(0, g->result, g->result->n_operators, &figure));
    assert_false(cm_diff_total(g->diff, 9999).in_new);
    assert_false(cm_diff_of_module(g->diff, g->diff->n_modules, 0).in_new);
    assert_false(cm_diff_of_operator(g->diff, g->diff->n_operators, 0).in_new);
    assert_int_equal(cm_diff_blame(g->diff, 9999, -1, NULL), 0);
    cm_campaign_at(&campaign, 0, dims, &at);
    assert_int_equal(at.batch, 7);
    cm_diff_options_init(&options);
    options.metric = 9999;
    assert_int_equal(diff_text(g, &options, NULL), CM_USAGE);
    assert_int_equal(diff_json(g, &options, NULL), CM_USAGE);
    assert_int_equal(diff_markdown(g, &options, NULL), CM_USAGE);
}

/* Returns the body of a struct in a header; the caller frees it. */
static char *read_struct(const struct subject *subject) {
    char path[4096];
    char begin[64];
    char *text = calloc(1, 1 << 20);
    (void)snprintf(path, sizeof path, TEST_SOURCE_DIR "/include/costmodel/%s.h",
                   subject->header);
    (void)snprintf(begin, sizeof begin, "\nstruct %s {", subject->name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    const char *body = strstr(text, begin);
    if (body == NULL) fail_msg("%s has no %s", path, subject->name);
    memmove(text, body, strlen(body) + 1);
    *strstr(text, "\n}") = '\0';
    return text;
}

static void expect_row(const struct subject *subject, const char *name, size_t length) {
    for (size_t i = 0; i < subject->n_members; i++)
        if (strlen(subject->members[i].name) == length &&
            memcmp(subject->members[i].name, name, length) == 0)
            return;
    fail_msg("%s.%.*s has no row", subject->name, (int)length, name);
}

static void every_enumerator_and_list_has_a_row(void **state) {
    (void)state;
    for (size_t i = 0; i < N(subjects); i++) {
        if (strcmp(subjects[i].header, "status") == 0) continue;
        char *body = read_struct(&subjects[i]);
        for (const char *at = body; (at = strstr(at, "\n    enum ")) != NULL; at++) {
            const char *name = strchr(strstr(at, "cm_"), ' ') + 1;
            expect_row(&subjects[i], name, strcspn(name, ";"));
        }
        for (const char *at = body; (at = strstr(at, "\n    size_t n_")) != NULL; at++) {
            const char *name = at + strlen("\n    size_t n_");
            const char *end = strchr(name, ';');
            /* Counts without a list: of shards, of the last profiles. */
            if (strncmp(name, "shards", 6) != 0 && strncmp(name, "extra", 5) != 0)
                expect_row(&subjects[i], name, (size_t)(end - name));
        }
        free(body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_members_are_usage_errors),
        cmocka_unit_test(messages_name_the_member_and_the_value),
        cmocka_unit_test(sizes_of_other_versions),
        cmocka_unit_test(members_beyond_an_older_size_have_their_defaults),
        cmocka_unit_test(a_newer_program_gets_zeros_beyond_the_known_members),
        cmocka_unit_test(items_of_arrays_must_not_be_null_or_out_of_range),
        cmocka_unit_test(indices_out_of_range),
        cmocka_unit_test(every_enumerator_and_list_has_a_row),
    };
    return cmocka_run_group_tests(tests, make, end);
}
