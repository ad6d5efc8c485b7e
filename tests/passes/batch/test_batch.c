/* SPDX-License-Identifier: Apache-2.0 */
/* Input shapes from the file and the options, and errors for unbound dims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/batch/batch.h"
#include "support/arena.h"
#include "support/text.h"

/* Command-line options: "--batch 2 --dim seq=16 --input x=1x3". */
static struct cm_options options_of(struct arena *arena, const char *words) {
    struct cm_dim_option *dims = arena_array(arena, 4, sizeof *dims);
    struct cm_input_option *inputs = arena_array(arena, 4, sizeof *inputs);
    struct cm_options options = {.dims = dims, .inputs = inputs};
    char *at = arena_strdup(arena, words);
    while (*at) {
        bool is_dim = strncmp(at, "--dim ", 6) == 0;
        bool is_input = strncmp(at, "--input ", 8) == 0;
        at = strchr(at, ' ') + 1;
        size_t name = strcspn(at, "=");
        char *size = is_dim || is_input ? at + name + 1 : at;
        if (is_dim) {
            dims[options.n_dims].name = arena_strndup(arena, at, name);
            dims[options.n_dims++].size = strtoll(size, &at, 10);
        } else if (is_input) {
            struct cm_input_option *input = &inputs[options.n_inputs++];
            int64_t *sizes = arena_array(arena, 8, sizeof *sizes);
            input->name = arena_strndup(arena, at, name);
            input->dims = sizes;
            for (at = size; *at >= '0' && *at <= '9'; at += *at == 'x')
                sizes[input->n_dims++] = strtoll(at, &at, 10);
        } else {
            options.batch = strtoll(size, &at, 10);
        }
        at += *at == ' ';
    }
    return options;
}

static struct bench *open_with(const char *lines, const char *words) {
    struct arena *arena = arena_new("test", 0);
    struct cm_options options = options_of(arena, words);
    struct bench *bench = bench_open_with(lines, &options);
    arena_free(arena);
    return bench;
}

struct batch_case {
    const char *lines;
    const char *options;
    const char *inputs; /* types of the inputs, separated by blanks */
    int64_t batch;      /* batch size of the result */
};

static const char *input_types(const struct bench *bench) {
    const struct graph *graph = &bench->model.graphs[0];
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < graph->n_inputs; i++)
        text_printf(&text, "%s%s", i ? " " : "",
                    bench_type(bench, bench->model.values[graph->inputs[i]].name));
    return text_string(&text);
}

static void check_shapes(const struct batch_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = open_with(rows[i].lines, rows[i].options);
        if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
        if (strcmp(input_types(bench), rows[i].inputs) != 0)
            fail_msg("row %zu: %s", i, input_types(bench));
        if (bench->analysis.batch->batch != rows[i].batch)
            fail_msg("row %zu: batch %lld", i, (long long)bench->analysis.batch->batch);
        bench_close(bench);
    }
}

#define CHECK_SHAPES(rows) check_shapes(rows, sizeof(rows) / sizeof *(rows))

#define IMAGE "in x float[?batch,3,8,8]\nnode - Relu x -> y\nout y\n"
#define PAIR                                                                                   \
    "in x float[?n,?seq]\nin m bool[?n,?seq,4]\nin t float[?seq,?n]\nnode - Relu x -> y\nout " \
    "y\n"

static void test_leading_symbol_of_the_first_input_is_the_batch(void **state) {
    static const struct batch_case rows[] = {
        {IMAGE, "", "f32[1,3,8,8]", 1},
        {IMAGE, "--batch 32", "f32[32,3,8,8]", 32},
        {IMAGE, "--dim batch=5", "f32[5,3,8,8]", 5},
        {IMAGE, "--batch 5 --dim batch=5", "f32[5,3,8,8]", 5},
        {IMAGE, "--dim batch=0", "f32[0,3,8,8]", 0},
        /* also if the result [4,64,64] looks like an image of 4 channels */
        {"in x float[?n,64,64]\nnode - Relu x -> y\nout y\n", "--batch 4", "f32[4,64,64]", 4},
        {"in x float[?,64,64]\nnode - Relu x -> y\nout y\n", "--batch 3", "f32[3,64,64]", 3},
        /* every occurrence of the symbol is bound */
        {PAIR, "--dim seq=7", "f32[1,7] b1[1,7,4] f32[7,1]", 1},
        {PAIR, "--batch 3 --dim seq=7", "f32[3,7] b1[3,7,4] f32[7,3]", 3},
        /* an input with a default does not count as the first input */
        {"in w float[4] =1\nin x float[?n,4]\nnode - Add x w -> y\nout y\n", "--batch 6",
         "f32[4] f32[6,4]", 6},
    };
    (void)state;
    CHECK_SHAPES(rows);
}

static void test_unnamed_leading_dim_is_the_batch(void **state) {
    static const struct batch_case rows[] = {
        {"in x float[?,3]\nnode - Relu x -> y\nout y\n", "", "f32[1,3]", 1},
        {"in x float[?,3]\nnode - Relu x -> y\nout y\n", "--batch 9", "f32[9,3]", 9},
    };
    (void)state;
    CHECK_SHAPES(rows);
}

static void test_input_option_binds_its_symbols(void **state) {
    static const struct batch_case rows[] = {
        {PAIR, "--input x=2x9", "f32[2,9] b1[2,9,4] f32[9,2]", 2},
        {PAIR, "--input t=9x2", "f32[2,9] b1[2,9,4] f32[9,2]", 2},
        {PAIR, "--input x=2x9 --batch 2 --dim seq=9", "f32[2,9] b1[2,9,4] f32[9,2]", 2},
        {"in x float\nnode - Relu x -> y\nout y\n", "--input x=2x9", "f32[2,9]", 2},
        /* the option overrides the shape in the file */
        {"in x float[1,3]\nnode - Relu x -> y\nout y\n", "--input x=4x5", "f32[4,5]", 4},
    };
    (void)state;
    CHECK_SHAPES(rows);
}

static void test_accepts_a_model_without_batch(void **state) {
    static const struct batch_case rows[] = {
        {"in x float[3,320,320]\nnode - Relu x -> y\nout y\n", "", "f32[3,320,320]",
         DIM_UNKNOWN},
        {"in x float[]\nnode - Relu x -> y\nout y\n", "", "f32[]", DIM_UNKNOWN},
        {"init x float[2]\nnode - Relu x -> y\nout y\n", "", "", DIM_UNKNOWN},
    };
    (void)state;
    CHECK_SHAPES(rows);
}

static void test_weight_inputs_keep_their_shape(void **state) {
    static const struct batch_case rows[] = {
        {"in x float[?n,3,8,8]\nin w float[4,3,3,3]\nnode - Conv x w -> y\nout y\n",
         "--batch 4", "f32[4,3,8,8] f32[4,3,3,3]", 4},
        {"in x float[1,3,8,8]\nin w float[1,3,3,3]\nnode - Conv x w -> y\nout y\n", "--batch 4",
         "f32[4,3,8,8] f32[1,3,3,3]", 4},
    };
    (void)state;
    CHECK_SHAPES(rows);
}

struct usage_case {
    const char *lines;
    const char *options;
    const char *messages;
};

static void check_usage(const struct usage_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = open_with(rows[i].lines, rows[i].options);
        assert_int_equal(bench->status, CM_USAGE);
        if (strcmp(bench_messages(bench), rows[i].messages) != 0)
            fail_msg("row %zu: %s", i, bench_messages(bench));
        bench_close(bench);
    }
}

#define CHECK_USAGE(rows) check_usage(rows, sizeof(rows) / sizeof *(rows))

static void test_unbound_dims_name_input_axis_and_option(void **state) {
    static const struct usage_case rows[] = {
        {PAIR, "",
         "error[unbound]: symbolic dim 'seq' (input 'x', axis 1) must be bound; "
         "hint: give --dim seq=SIZE"},
        /* lists every unbound dim once */
        {"in x float[?n,?a,?b,?a]\nnode - Relu x -> y\nout y\n", "",
         "error[unbound]: symbolic dim 'a' (input 'x', axis 1) must be bound; "
         "hint: give --dim a=SIZE\n"
         "error[unbound]: symbolic dim 'b' (input 'x', axis 2) must be bound; "
         "hint: give --dim b=SIZE"},
        {"in x float[?n,3,?]\nnode - Relu x -> y\nout y\n", "",
         "error[unbound]: unnamed symbolic dim (input 'x', axis 2) must be bound; "
         "hint: give the whole shape: --input x=Nx3xN"},
        /* only the first input may have an unnamed batch */
        {"in x float[?,3]\nin z float[?,3]\nnode - Add x z -> y\nout y\n", "",
         "error[unbound]: unnamed symbolic dim (input 'z', axis 0) must be bound; "
         "hint: give the whole shape: --input z=Nx3"},
        {"in x float\nnode - Relu x -> y\nout y\n", "",
         "error[unbound]: input 'x' must declare a shape or get one from --input; "
         "hint: for example --input x=1x3x224x224"},
    };
    (void)state;
    CHECK_USAGE(rows);
}

static void test_unknown_names_are_usage_errors(void **state) {
    static const struct usage_case rows[] = {
        {PAIR, "--dim length=3",
         "error[usage]: no input has a dim named 'length'; hint: the symbolic dims are: n, "
         "seq"},
        /* a long list is truncated */
        {"in x float[?a,?b,?c,?d,?e,?f,?g]\nin y float[?h,?i,?j,?k,?l,?m,?o]\n"
         "node - Relu x -> z\nout z\n",
         "--dim p=3",
         "error[usage]: no input has a dim named 'p'; "
         "hint: the symbolic dims are: a, b, c, d, e, f, g, h, i, j, k, l, ..."},
        {"in x float[1,3]\nnode - Relu x -> y\nout y\n", "--dim n=3",
         "error[usage]: no input has a dim named 'n'; "
         "hint: no input of this model has a named symbolic dim"},
        {PAIR, "--input image=1x3",
         "error[usage]: the model has no input named 'image'; hint: its inputs are: x, m, t"},
    };
    (void)state;
    CHECK_USAGE(rows);
}

static void test_contradicting_options_are_usage_errors(void **state) {
    static const struct usage_case rows[] = {
        {IMAGE, "--batch 2 --dim batch=3",
         "error[usage]: dim 'batch' is bound to 3, but --batch binds it to 2"},
        {IMAGE, "--dim batch=2 --dim batch=3",
         "error[usage]: dim 'batch' is bound to 2, but --dim binds it to 3"},
        {IMAGE, "--dim batch=2 --input x=3x3x8x8",
         "error[usage]: dim 'batch' is bound to 2, but --input binds it to 3"},
        {IMAGE, "--batch 2 --input x=3x3x8x8",
         "error[usage]: dim 'batch' is bound to 3, but --batch binds it to 2"},
        {PAIR, "--input x=2x9 --input t=8x2",
         "error[usage]: dim 'seq' is bound to 9, but --input binds it to 8"},
        {"in x float[?,3]\nnode - Relu x -> y\nout y\n", "--batch 2 --input x=5x3",
         "error[usage]: --batch 2 contradicts --input, which gives 'x' a leading 5"},
        {"in x float[1,3]\nnode - Relu x -> y\nout y\n", "--batch 2 --input x=5x3",
         "error[usage]: --batch 2 contradicts --input, which gives 'x' a leading 5"},
        {IMAGE, "--input x=3x8x8", "error[usage]: --input for 'x' must have 4 dims, got 3"},
    };
    (void)state;
    CHECK_USAGE(rows);
}

static void test_batch_without_a_batch_axis_is_a_usage_error(void **state) {
    static const struct usage_case rows[] = {
        {"in image float[3,320,320]\nnode - Relu image -> y\nout y\n", "--batch 2",
         "error[usage]: input 'image' [3,320,320] has no batch axis; "
         "hint: leave out --batch, or give the shape with --input"},
        {"in x float[]\nnode - Relu x -> y\nout y\n", "--batch 2",
         "error[usage]: input 'x' [] has no batch axis; "
         "hint: leave out --batch, or give the shape with --input"},
        {"init x float[2]\nnode - Relu x -> y\nout y\n", "--batch 2",
         "error[usage]: the model has no input to batch"},
    };
    (void)state;
    CHECK_USAGE(rows);
}

/* A cache: input `past` and output `present` share names of dims; the nodes give the sizes. */
static const char cached[] =
    "opset 17\nin x float[?n,1,16]\nin past float[?n,?heads,?before,?size]\n"
    "init w float[16,16]\nconst t int64[4] =0,0,2,8\nconst r int64[4] =0,0,2,8\n"
    "node - MatMul x w -> k\nnode - Reshape k t -> l\nnode - Transpose l -> m perm=[0,2,1,3]\n"
    "node - Concat past m -> present axis=2\ntype present float[?n,?heads,?after,?size]\n"
    "out present\n";

static void test_binds_dims_that_the_model_determines(void **state) {
    struct bench *bench = open_with(cached, "--batch 3 --dim before=4");
    (void)state;
    assert_string_equal(bench_messages(bench), "");
    assert_string_equal(bench_type(bench, "past"), "f32[3,2,4,8]");
    assert_string_equal(bench_type(bench, "present"), "f32[3,2,5,8]");
    bench_close(bench);
}

static void test_asks_for_dims_that_the_model_does_not_determine(void **state) {
    static const struct {
        const char *lines, *options, *messages;
    } rows[] = {
        {cached, "--batch 1",
         "error[unbound]: symbolic dim 'before' (input 'past', axis 2) must be bound; hint: "
         "give "
         "--dim before=SIZE"},
        {cached, "--batch 1 --dim before=4 --dim heads=2 --dim size=9", "error[shape]"},
        /* the output dim named 'h' has size 1, but the input dim 'h' may have any size */
        {"in x float[1,3,?h]\nnode - GlobalAveragePool x -> y\ntype y float[1,3,?h]\nout y\n",
         "",
         "error[unbound]: symbolic dim 'h' (input 'x', axis 2) must be bound; hint: give --dim "
         "h=SIZE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = open_with(rows[i].lines, rows[i].options);
        if (!strstr(bench_messages(bench), rows[i].messages))
            fail_msg("row %zu: %s", i, bench_messages(bench));
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leading_symbol_of_the_first_input_is_the_batch),
        cmocka_unit_test(test_unnamed_leading_dim_is_the_batch),
        cmocka_unit_test(test_input_option_binds_its_symbols),
        cmocka_unit_test(test_accepts_a_model_without_batch),
        cmocka_unit_test(test_weight_inputs_keep_their_shape),
        cmocka_unit_test(test_unbound_dims_name_input_axis_and_option),
        cmocka_unit_test(test_unknown_names_are_usage_errors),
        cmocka_unit_test(test_contradicting_options_are_usage_errors),
        cmocka_unit_test(test_batch_without_a_batch_axis_is_a_usage_error),
        cmocka_unit_test(test_binds_dims_that_the_model_determines),
        cmocka_unit_test(test_asks_for_dims_that_the_model_does_not_determine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
