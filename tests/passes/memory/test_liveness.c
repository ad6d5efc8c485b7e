/* SPDX-License-Identifier: Apache-2.0 */
/* Pass liveness: the values that own bytes, their first and last steps, and the peak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/memory/liveness.h"

struct stored_as {
    const char *value;
    enum storage storage;
    const char *root; /* NULL: itself */
};

static void check_stored(const struct bench *bench, const struct stored_as *rows, size_t n) {
    const struct liveness_table *table = bench->analysis.liveness;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = bench_value(bench, rows[i].value);
        const char *root = rows[i].root ? rows[i].root : rows[i].value;
        if (table->storage[id] != rows[i].storage)
            fail_msg("%s is of storage %d", rows[i].value, (int)table->storage[id]);
        if (table->root[id] != bench_value(bench, root))
            fail_msg("%s shares the bytes of %s", rows[i].value,
                     bench->model.values[table->root[id]].name);
    }
}

static void each_value_has_its_kind_of_storage(void **state) {
    static const struct stored_as rows[] = {
        {"x", STORAGE_INPUT, NULL},      {"w", STORAGE_WEIGHT, NULL},
        {"k", STORAGE_WEIGHT, NULL},     {"t", STORAGE_CONSTANT, NULL},
        {"s", STORAGE_CONSTANT, NULL},   {"y", STORAGE_ACTIVATION, NULL},
        {"v", STORAGE_VIEW, "y"},        {"q", STORAGE_NONE, NULL},
        {"r", STORAGE_ACTIVATION, NULL}, {"d", STORAGE_WEIGHT, NULL},
        {"o", STORAGE_ACTIVATION, NULL},
    };
    struct bench *bench =
        bench_open("in x float[4,4]\nin d float[4] =1\ninit w float[4,4]\nconst k float[4] =2\n"
                   "node - Transpose w -> t\nnode - Shape x -> s\nnode - MatMul x t -> y\n"
                   "node - Flatten y -> v\nnode - SequenceConstruct y y -> q\n"
                   "node - RandomNormal -> r shape=[4,4]\nnode - com.me::Odd w -> o\nout v\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    check_stored(bench, rows, sizeof rows / sizeof *rows);
    bench_close(bench);
}

static void views_of_views_share_one_root(void **state) {
    static const struct stored_as rows[] = {
        {"a", STORAGE_ACTIVATION, NULL}, {"b", STORAGE_VIEW, "a"},
        {"c", STORAGE_VIEW, "a"},        {"e", STORAGE_VIEW, "a"},
        {"f", STORAGE_VIEW, "x"},        {"g", STORAGE_CONSTANT, NULL},
    };
    struct bench *bench =
        bench_open("in x float[2,4]\ninit w float[2,4]\nnode - Relu x -> a\n"
                   "node - Identity a -> b\nnode - Flatten b -> c\nnode - Dropout c -> e\n"
                   "node - Identity x -> f\nnode - Identity w -> g\nout e\nout f\nout g\n");
    (void)state;
    check_stored(bench, rows, sizeof rows / sizeof *rows);
    bench_close(bench);
}

static void dropout_in_training_mode_is_not_a_view(void **state) {
    static const struct stored_as trains[] = {{"y", STORAGE_ACTIVATION, NULL}};
    static const struct stored_as infers[] = {{"y", STORAGE_VIEW, "x"}};
    const struct cm_options options = {.mode = CM_MODE_TRAINING};
    static const char lines[] = "in x float[2,4]\nnode - Dropout x -> y\nout y\n";
    struct bench *bench = bench_open_with(lines, &options);
    (void)state;
    check_stored(bench, trains, 1);
    bench_close(bench);
    bench = bench_open(lines);
    check_stored(bench, infers, 1);
    bench_close(bench);
}

static void value_is_alive_to_the_last_use_of_its_views(void **state) {
    struct bench *bench = bench_open(
        "in x float[2,4]\nnode n0 Relu x -> a\nnode n1 Flatten a -> b\nnode n2 Abs x -> c\n"
        "node n3 Neg b -> d\nnode n4 Add c c -> e\nout d\nout e\n");
    static const struct {
        const char *value;
        uint32_t first, last;
    } rows[] = {{"x", 0, 2}, {"a", 0, 3}, {"b", 1, 3}, {"c", 2, 4}, {"d", 3, 4}, {"e", 4, 4}};
    const struct liveness_table *table = bench->analysis.liveness;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t id = bench_value(bench, rows[i].value);
        if (table->first[id] != rows[i].first || table->last[id] != rows[i].last)
            fail_msg("%s is alive from step %u to %u", rows[i].value, table->first[id],
                     table->last[id]);
    }
    bench_close(bench);
}

static void peak_is_the_largest_sum_alive_at_one_step(void **state) {
    static const struct {
        const char *lines;
        int64_t bytes;
        const char *node; /* NULL: none */
    } rows[] = {
        /* a diamond: x p | p q | p q s | q s y, 64 bytes each */
        {"in x float[1,16]\nnode a Relu x -> p\nnode b Sigmoid p -> q\nnode c Tanh p -> s\n"
         "node d Add q s -> y\nout y\n",
         192, "c"},
        /* a chain: two values */
        {"in x float[1,16]\nnode a Relu x -> p\nnode b Abs p -> q\nnode c Neg q -> s\nout s\n",
         128, "a"},
        /* a skip connection: one more */
        {"in x float[1,16]\nnode a Relu x -> p\nnode b Abs p -> q\nnode c Add x q -> s\nout "
         "s\n",
         192, "b"},
        /* views and weights add nothing */
        {"in x float[1,16]\ninit w float[16,16]\nnode a MatMul x w -> p\nnode b Flatten p -> "
         "q\n"
         "out q\n",
         128, "a"},
        /* an unread graph output is alive to the end, another unread value is not */
        {"in x float[1,16]\nnode a Relu x -> p\nnode b Abs x -> q\nnode c Neg x -> s\nout p\n"
         "out s\n",
         192, "b"},
        /* a model without nodes */
        {"in x float[1,16]\nout x\n", 0, NULL},
        /* inputs and outputs of bodies, of both branches, are alive until their node has run:
         * x c | p r | s | y z at the If */
        {"in x float[1,16]\nin c bool[]\nbody then_branch\nnode a Relu x -> p\n"
         "node b Abs x -> q\nnode e Neg q -> r\nout p\nout r\nclose\nbody else_branch\n"
         "node f Relu x -> s\nout s\nout s\nclose\nnode i If c -> y z\nout y\nout z\n",
         385, "i"},
        /* unknown sizes are not included */
        {"in x float[1,16]\nnode a com.me::Odd x -> p\nnode b Abs x -> q\nout q\n", 128, "b"},
        /* a data-dependent size counts as its upper bound: 2 x 16 indices */
        {"in x float[1,16]\nnode a NonZero x -> p\nnode b Abs x -> q\nout q\n", 320, "a"},
        /* a size of 2^66 bytes makes the peak unknown, not 0 */
        {"in x float[4194304,2097152,2097152]\nnode a Flatten x -> p\nout p\n", DIM_OVERFLOW,
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        const struct liveness_table *table = bench->analysis.liveness;
        uint32_t node = rows[i].node ? bench_node(bench, rows[i].node) : ID_NONE;
        assert_int_equal(bench->status, CM_OK);
        if (table->peak_bytes != rows[i].bytes || table->peak_node != node)
            fail_msg("row %zu: %lld at %u", i, (long long)table->peak_bytes, table->peak_node);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_has_its_kind_of_storage),
        cmocka_unit_test(views_of_views_share_one_root),
        cmocka_unit_test(dropout_in_training_mode_is_not_a_view),
        cmocka_unit_test(value_is_alive_to_the_last_use_of_its_views),
        cmocka_unit_test(peak_is_the_largest_sum_alive_at_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
