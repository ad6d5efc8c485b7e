/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps: the JSON is read back unchanged, and the text prints extreme values. */
#include "costmodel/costmodel.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"

#define COSTS(p, m, im, f, io, l, bits)                                                        \
    {                                                                                          \
        .params = p, .macs = m, .int_macs = im, .flops = f, .int_ops = io, .latency_ps = l,    \
        .upper_bound = bits                                                                    \
    }
#define MOST INT64_MAX
#define NONE CM_UNKNOWN

static const struct cm_named_size dims[] = {{"seq\n", MOST}};

static const struct cm_sweep_plans plans = {MOST, MOST};

static const struct cm_sweep_row rows[] = {
    {1,    "done",      "",    COSTS(1, 4, 2, 5, 3, 9, CM_COST_BIT(macs)),
     6,    7,           8,     2,
     0,    true,        false, 3,
     NONE, CM_NO_INDEX, NULL,  NULL,
     NULL, NULL,        0,     NULL,
     NONE, NULL,        NULL,  NONE,
     NONE},
    {MOST,
     "misfit",
     "more\x1b[2J",
     COSTS(MOST, MOST, MOST, MOST, MOST, MOST, CM_COST_BIT(flops)),
     MOST,
     MOST,
     MOST,
     MOST,
     MOST,
     false,
     true,
     MOST,
     MOST,
     17,
     "m\x1b.onnx",
     "h\n200",
     "modelled",
     "fp16",
     1,
     dims,
     MOST,
     &plans,
     NULL,
     NONE,
     NONE},
    {0,
     "usage",
     "no \"reason\"",
     COSTS(NONE, NONE, NONE, NONE, NONE, NONE, 0),
     NONE,
     NONE,
     NONE,
     NONE,
     0,
     false,
     false,
     NONE,
     NONE,
     CM_NO_INDEX,
     NULL,
     NULL,
     NULL,
     NULL,
     0,
     NULL,
     NONE,
     NULL,
     NULL,
     NONE,
     NONE},
};

static const struct cm_name_count ops[] = {{"a::b\x1b[2J", INT64_MAX}, {"", 0}};

static const struct cm_diagnostic notes[] = {
    {CM_NOTE, "assumption", "taken \x1b[2J as given", "in\nall", "a \"node\"", NULL},
    {CM_WARNING, "unknown-op", "left out", "", NULL, "a hint"},
};

/* The second layer has no times, as in an edited file. */
static const struct cm_layer_plan plan = {MOST, "no \x1b[2Jreason"};

static const struct cm_layer_time times[] = {
    {MOST, CM_RATIO_ONE, "invented", "conv\x1b[2J", "p", "a\n", "no", NULL},
    {1, MOST, "proxy", "conv", "p", "b", "unknown", &plan},
    {NONE, NONE, "", "", "", "", "", NULL},
    {MOST, NONE, "invented", "gemm", "", "", "no", NULL},
};

static const struct cm_sweep_layer layers[] = {
    {"Conv\x1b[2J", "", "a \"node\"", MOST, 3, times},
    {"MatMul", "c\nd", "", 1, 1, &times[3]},
};

static const struct cm_sweep odd = {"a\nb.onnx", "exact", "fake:x", "d", "invented", 5,
                                    3,           rows,    2,        ops, 2,          notes,
                                    2,           layers,  NULL,     NULL};

static char *written(const struct cm_sweep *sweep, bool json, size_t *ret_size) {
    char *text = NULL;
    struct cm_text_options options;
    FILE *stream = open_memstream(&text, ret_size);
    assert_non_null(stream);
    cm_text_options_init(&options);
    assert_int_equal(json ? report_write_json(&(struct report){.sweep = sweep, .out = stream})
                          : report_write_sweep(&(struct report){
                                .sweep = sweep, .text = &options, .out = stream}),
                     CM_OK);
    fclose(stream);
    return text;
}

static void reads_back_what_it_writes(void **state) {
    size_t size = 0;
    size_t size_again = 0;
    struct cm_sweep *read = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    char *text = written(&odd, true, &size);
    (void)state;
    assert_int_equal(cm_sweep_read_json(text, size, "text", diag, &read), CM_OK);
    assert_int_equal(read->n_rows, 3);
    assert_int_equal(read->rows[1].batch, INT64_MAX);
    assert_int_equal(read->rows[0].costs.int_macs, 2);
    assert_int_equal(read->rows[0].costs.int_ops, 3);
    assert_int_equal(read->rows[2].costs.macs, CM_UNKNOWN);
    assert_string_equal(read->model, odd.model);
    assert_int_equal(read->n_custom_ops, 2);
    assert_string_equal(read->custom_ops[0].name, ops[0].name);
    assert_int_equal(read->n_diagnostics, 2);
    assert_string_equal(read->diagnostics[1].hint, notes[1].hint);
    assert_int_equal(read->rows[1].speedup, INT64_MAX);
    assert_int_equal(read->n_layers, 2);
    assert_int_equal(read->layers[0].n_times, 3);
    assert_int_equal(read->layers[0].times[2].latency_ps, CM_UNKNOWN);
    assert_string_equal(read->layers[1].path, "c\nd");
    assert_null(read->rows[0].plans);
    assert_int_equal(read->rows[1].plans->planned_macs, INT64_MAX);
    assert_null(read->layers[0].times[0].plan);
    assert_string_equal(read->layers[0].times[1].plan->reason, plan.reason);
    char *again = written(read, true, &size_again);
    assert_string_equal(again, text);
    arena_free(read->arena);
    cm_diagnostics_free(diag);
    free(again);
    free(text);
}

static void refuses_other_documents(void **state) {
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\"schema\":\"costmodel/profile/2\"}",
         "schema is \"costmodel/profile/2\", this program reads \"costmodel/sweep/2\""},
        {"{}", "schema must be \"costmodel/sweep/2\", got none"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_sweep *read = NULL;
        struct cm_diagnostics *diag = cm_diagnostics_new();
        assert_int_equal(
            cm_sweep_read_json(cases[i].text, strlen(cases[i].text), "text", diag, &read),
            CM_REFUSED);
        assert_string_equal(cm_diagnostics_get(diag, 0)->message, cases[i].message);
        cm_diagnostics_free(diag);
    }
}

static void text_has_every_row_and_no_escape_sequences(void **state) {
    size_t size = 0;
    char *text = written(&odd, false, &size);
    (void)state;
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(text, "9223372036854775807"));
    assert_non_null(strstr(text, "usage: no \"reason\""));
    assert_non_null(strstr(text, "samples/second"));
    assert_non_null(strstr(text, "fits"));
    assert_non_null(strstr(text, "Conv\\x1b[2J a \"node\""));
    assert_non_null(strstr(text, "MatMul c\\x0ad"));
    assert_non_null(strstr(text, "note:               taken \\x1b[2J as given (node "));
    assert_non_null(
        strstr(text, "warning:            left out\n                    hint: a hint"));
    free(text);
}

static void text_of_plans_has_no_escape_sequences(void **state) {
    size_t size = 0;
    struct cm_sweep planned = odd;
    struct cm_text_options options;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size);
    (void)state;
    assert_non_null(stream);
    planned.times = "planned";
    cm_text_options_init(&options);
    options.layers = true;
    assert_int_equal(report_write_sweep(
                         &(struct report){.sweep = &planned, .text = &options, .out = stream}),
                     CM_OK);
    fclose(stream);
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(text, "TC: use of tensor cores."));
    assert_non_null(strstr(text, "p, b; proxy: no \\x1b[2Jreason"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_plans_has_no_escape_sequences),
        cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(refuses_other_documents),
        cmocka_unit_test(text_has_every_row_and_no_escape_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
