/* SPDX-License-Identifier: Apache-2.0 */
/* A profile written into its model: metadata of nodes inside model-local functions. */
#include "costmodel/costmodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct cm_diagnostics *diag;
    struct cm_model *model;
    struct cm_result *result;
    char *written;
    size_t size;
};

static void set_up_step(struct fixture *f, const char *path, const char *optimizer) {
    struct cm_options options;
    *f = (struct fixture){.diag = cm_diagnostics_new()};
    cm_options_init(&options);
    options.optimizer = optimizer;
    assert_int_equal(cm_model_load_file(path, f->diag, &f->model), CM_OK);
    assert_int_equal(cm_model_profile(f->model, &options, f->diag, &f->result), CM_OK);
}

static void set_up(struct fixture *f, const char *path) {
    set_up_step(f, path, NULL);
}

static void tear_down(struct fixture *f) {
    cm_result_free(f->result);
    cm_model_free(f->model);
    cm_diagnostics_free(f->diag);
    free(f->written);
}

static int annotate(struct fixture *f, struct cm_model *model) {
    FILE *out = open_memstream(&f->written, &f->size);
    assert_non_null(out);
    const int status = cm_model_annotate(model, f->result, f->diag, out);
    fclose(out);
    return status;
}

/* Returns how many encoded entries have that key and value. */
static int count_entries(const struct fixture *f, const char *key, const char *value) {
    char entry[256];
    const int size = snprintf(entry, sizeof(entry), "\n%c%s\x12%c%s", (int)strlen(key), key,
                              (int)strlen(value), value);
    int n = 0;
    for (size_t at = 0; at + (size_t)size <= f->size; at++)
        n += memcmp(f->written + at, entry, (size_t)size) == 0;
    return n;
}

static void assert_message(const struct fixture *f, const char *message) {
    assert_int_equal(cm_diagnostics_count(f->diag), 1);
    assert_string_equal(cm_diagnostics_get(f->diag, 0)->message, message);
}

static void annotates_the_model_with_totals(void **state) {
    struct fixture f;
    char macs[32];
    (void)state;
    set_up(&f, "siamese.onnx");
    assert_int_equal(annotate(&f, f.model), CM_OK);
    snprintf(macs, sizeof(macs), "%lld", (long long)f.result->totals.macs);
    assert_int_equal(count_entries(&f, "costmodel.macs", macs), 1);
    assert_int_equal(count_entries(&f, "costmodel.convention", "deepspeed"), 1);
    assert_int_equal(count_entries(&f, "costmodel.batch", "1"), 1);
    tear_down(&f);
}

/*
 * In this file each Linear of PointNet is a call of one function: 1024 -> 512 -> 256 -> 9,
 * 1024 -> 512 -> 256 -> 64 * 64, and 1024 -> 512 -> 256 -> 10.
 */
static void annotates_calls_with_the_sum_of_their_body(void **state) {
    const int64_t first = 1024 * 512;
    const int64_t all = 3 * (first + 512 * 256) + 256 * (9 + 64 * 64 + 10);
    struct fixture f;
    char macs[32];
    (void)state;
    set_up(&f, "pointnet_functions.onnx");
    assert_int_equal(annotate(&f, f.model), CM_OK);
    snprintf(macs, sizeof(macs), "%lld", (long long)first);
    assert_int_equal(count_entries(&f, "costmodel.macs", macs), 3);
    snprintf(macs, sizeof(macs), "%lld", (long long)all);
    assert_int_equal(count_entries(&f, "costmodel.macs", macs), 1);
    tear_down(&f);
}

/* The first convolution: 64 x 3 x 7 x 7 weights, and 2 x 64 of the norm that was folded. */
static void annotates_a_layer_with_its_restored_norm(void **state) {
    struct fixture f;
    (void)state;
    set_up_step(&f, "torch/resnet50_torchscript.onnx", "sgd");
    assert_int_equal(annotate(&f, f.model), CM_OK);
    assert_int_equal(count_entries(&f, "costmodel.params", "9536"), 1);
    assert_int_equal(count_entries(&f, "costmodel.module", "conv1"), 1);
    assert_int_equal(count_entries(&f, "costmodel.calls", "2"), 0);
    tear_down(&f);
}

/* The body's first Gemm has 1024 * 512 MACs in each of 3 calls, one of them unknown here. */
static void a_sum_over_calls_with_an_unknown_figure_is_unknown(void **state) {
    struct fixture f;
    size_t n = 0;
    (void)state;
    set_up(&f, "pointnet_functions.onnx");
    struct cm_node *nodes = calloc(f.result->n_nodes, sizeof(*nodes));
    assert_non_null(nodes);
    memcpy(nodes, f.result->nodes, f.result->n_nodes * sizeof(*nodes));
    for (size_t i = 0; i < f.result->n_nodes; i++)
        if (nodes[i].costs.macs == 1024 * 512 && n++ == 1) nodes[i].costs.macs = CM_UNKNOWN;
    f.result->nodes = nodes;
    assert_int_equal(annotate(&f, f.model), CM_OK);
    assert_int_equal(count_entries(&f, "costmodel.macs", "unknown"), 2); /* Gemm, its call */
    assert_int_equal(count_entries(&f, "costmodel.macs", "524288"), 2);
    tear_down(&f);
    free(nodes);
}

static void refuses_a_profile_of_another_model(void **state) {
    struct fixture f;
    struct cm_model *other = NULL;
    (void)state;
    set_up(&f, "siamese.onnx");
    assert_int_equal(cm_model_load_file("lstm.onnx", f.diag, &other), CM_OK);
    assert_int_equal(annotate(&f, other), CM_USAGE);
    assert_message(&f, "the profile must be of the same model, got 'siamese.onnx'");
    assert_int_equal(f.size, 0);
    cm_model_free(other);
    tear_down(&f);
}

/* A pipe, as in `cat model.onnx | program -`. */
static void refuses_a_model_from_a_pipe(void **state) {
    struct fixture f;
    struct cm_model *piped = NULL;
    int ends[2];
    char bytes[65536];
    const int saved = dup(STDIN_FILENO);
    (void)state;
    set_up(&f, "siamese.onnx");
    FILE *file = fopen("siamese.onnx", "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    assert_int_equal(cm_model_load_file("-", f.diag, &piped), CM_OK);
    assert_int_equal(annotate(&f, piped), CM_USAGE);
    assert_message(&f,
                   "annotating a model from a pipe is not supported: it must be read twice");
    assert_string_equal(cm_diagnostics_get(f.diag, 0)->hint, "give the path of the file");
    cm_model_free(piped);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    tear_down(&f);
}

/* Untimed profiles have no latencies, and nodes have no peak. */
static void rejects_node_data_of_figures_that_nodes_lack(void **state) {
    static const char *const figures[] = {"latency_ps", "peak_activation_bytes"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        char message[96];
        set_up(&f, "siamese.onnx");
        snprintf(message, sizeof(message), "nodes of this profile have no figure '%s'",
                 figures[i]);
        FILE *out = open_memstream(&f.written, &f.size);
        assert_non_null(out);
        assert_int_equal(cm_model_node_data(f.model, f.result, figures[i], f.diag, out),
                         CM_USAGE);
        fclose(out);
        assert_message(&f, message);
        assert_int_equal(f.size, 0);
        tear_down(&f);
    }
}

int main(void) {
    if (chdir(TEST_MODELS_DIR) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotates_the_model_with_totals),
        cmocka_unit_test(annotates_calls_with_the_sum_of_their_body),
        cmocka_unit_test(annotates_a_layer_with_its_restored_norm),
        cmocka_unit_test(a_sum_over_calls_with_an_unknown_figure_is_unknown),
        cmocka_unit_test(refuses_a_profile_of_another_model),
        cmocka_unit_test(refuses_a_model_from_a_pipe),
        cmocka_unit_test(rejects_node_data_of_figures_that_nodes_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
