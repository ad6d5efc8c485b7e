/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors whose external data file is missing: what is inferred without them, and what is an
 * error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "support/arena.h"

#define REASON "external data 'w.data' was not found"
#define HINT   "hint: put 'w.data' into the model's folder"

struct missing_data_case {
    const char *lines;
    const char *messages;
    const char *value; /* the value whose type is checked */
    const char *type;
};

static void check_cases(const struct missing_data_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        if (strcmp(bench_messages(bench), rows[i].messages) != 0)
            fail_msg("row %zu: %s", i, bench_messages(bench));
        if (strcmp(bench_type(bench, rows[i].value), rows[i].type) != 0)
            fail_msg("row %zu: %s", i, bench_type(bench, rows[i].value));
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))

static void infers_shapes_that_do_not_depend_on_missing_data(void **state) {
    static const struct missing_data_case rows[] = {
        {"in x float[2,4,8]\ninit i int64[5] =@\nnode - Gather x i -> y axis=1\nout y\n",
         "note[value]: the contents of tensor 'i' are unknown: " REASON, "y", "f32[2,5,8]"},
        /* a chain of nodes that cannot be folded */
        {"in x float[2,4,8]\ninit i int64[5] =@\nconst one int64[1] =1\n"
         "init k int64[5] =@\nnode - Add i k -> a\nnode - Mul a one -> b\n"
         "node - Gather x b -> y axis=1\nout y\n",
         "note[value]: the contents of 2 tensors are unknown: " REASON, "y", "f32[2,5,8]"},
        {"in x float[2,4,8]\nconst i int64[5] =@\nnode - Gather x i -> y axis=1\nout y\n",
         "note[value]: the contents of tensor 'i' are unknown: " REASON, "y", "f32[2,5,8]"},
        /* no note if only activations depend on the contents of a tensor */
        {"in x int64[4]\ninit t int64[4] =@\nnode - Add x t -> y\nout y\n", "", "y", "i64[4]"},
        {"in x float[2,4]\ninit w float[4,8] =@\nnode - MatMul x w -> y\nout y\n", "", "y",
         "f32[2,8]"},
        /* the file declares the shape that the contents would decide */
        {"in x float[2,4]\ninit t int64[2] =@\nnode - Reshape x t -> y\ntype y float[4,2]\n"
         "out y\n",
         "note[value]: the contents of tensor 't' are unknown: " REASON, "y", "f32[4,2]"},
    };
    (void)state;
    CHECK(rows);
}

static void refuses_shapes_and_trip_counts_that_depend_on_missing_data(void **state) {
    static const struct missing_data_case rows[] = {
        {"in x float[2,4]\ninit t int64[2] =@\nnode r Reshape x t -> y\nout y\n",
         "error[value] at r: the output shape depends on the contents of tensor 't', which are "
         "unknown: " REASON "; " HINT,
         "y", "?"},
        {"in x float[2,4]\nconst t int64[1] =@\nconst m int64[1] =-1\n"
         "node - Concat t m -> s axis=0\nnode - Identity s -> u\nnode r Reshape x u -> y\n"
         "out y\n",
         "error[value] at r: the output shape depends on the contents of tensor 't', which are "
         "unknown: " REASON "; " HINT,
         "y", "?"},
        {"in x float[2,4]\ninit n int64[] =@\ninit c bool[] =1\nbody body\nin i int64[]\n"
         "in d bool[]\nin a float[2,4]\nnode - Relu a -> b\nout d\nout b\nclose\n"
         "node l Loop n c x -> y\nout y\n",
         "note[assumption] at l: the trip count is not known: one iteration is counted\n"
         "error[value] at l: the trip count depends on the contents of tensor 'n', which are "
         "unknown: " REASON "; " HINT,
         "y", "?"},
    };
    (void)state;
    CHECK(rows);
}

/* The shape is data-dependent even if the file with the contents exists. */
static void accepts_shapes_that_depend_on_input_data(void **state) {
    static const struct missing_data_case rows[] = {
        {"in x float[2,4]\ninit i int64[2] =@\nnode - NonZero x -> z\n"
         "node - Gather z i -> y axis=0\nout y\n",
         "note[value]: the contents of tensor 'i' are unknown: " REASON, "y", "i64[2,?]"},
    };
    (void)state;
    CHECK(rows);
}

/* The host reads the indices; the traffic does not depend on their contents. */
static void counts_the_traffic_of_the_intact_file(void **state) {
    static const char lines[] =
        "in x float[1,6]\ninit i int64[1,3] =%s\nconst f int64[1] =-1\n"
        "node - Reshape x f -> d\nnode g Gather d i -> y axis=0\nout y\n";
    static const char *const contents[] = {"0,1,2", "@"};
    const int64_t batches[] = {0, 8};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct cm_costs costs[2];
        for (size_t i = 0; i < 2; i++) {
            const struct cm_options options = {.batch = batches[k]};
            struct arena *arena = arena_new("test", 0);
            struct bench *bench =
                bench_open_with(arena_printf(arena, lines, contents[i]), &options);
            costs[i] = *bench_costs(bench, "g");
            bench_close(bench);
            arena_free(arena);
        }
        assert_int_equal(costs[0].bytes_read, costs[1].bytes_read);
        assert_int_equal(costs[0].bytes_written, costs[1].bytes_written);
        assert_int_equal(costs[0].bytes_written, (k == 0 ? 1 : 8) * 3 * 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infers_shapes_that_do_not_depend_on_missing_data),
        cmocka_unit_test(refuses_shapes_and_trip_counts_that_depend_on_missing_data),
        cmocka_unit_test(accepts_shapes_that_depend_on_input_data),
        cmocka_unit_test(counts_the_traffic_of_the_intact_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
