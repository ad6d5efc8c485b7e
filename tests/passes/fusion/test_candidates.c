/* SPDX-License-Identifier: Apache-2.0 */
/* The filter before the pattern matcher: it drops most operators, but no end of a pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/fusion/match.h"
#include "passes/walk/bind.h"

struct case_row {
    const char *name;
    const char *lines;
    const char *want; /* "SiLU@z": patterns and the nodes at which they may end */
};

#define HEAD                                                                                   \
    "in x float[2,8,16]\nconst c2 float[] =2\nconst one float[] =1\n"                          \
    "const eps float[] =0.00001\n"

static const struct case_row rows[] = {
    {"patterns without an operator in the model are dropped",
     "node a Relu x -> a\nnode b Mul a x -> b\nnode c Add b x -> c\nout c\n", ""},
    {"a pattern with one missing operator is dropped",
     "node e Exp x -> e\nnode z Div e x -> z\nout z\n", ""},
    {"products, but no other operator, end a product",
     "node a Mul x x -> a\nnode s Sigmoid a -> s\nnode b Add s one -> b\n"
     "node z Mul a b -> z\nout z\n",
     "QuickGELU@a QuickGELU@z SiLU@a SiLU@z"},
    {"an attention after a softmax",
     "in k float[2,16,8]\nin v float[2,8,16]\nnode a MatMul x k -> a\n"
     "node s Softmax a -> s axis=-1\nnode z MatMul s v -> z\nout z\n",
     "Attention@a Attention@z Attention@a Attention@z"}, /* decomposed, and of a fused kernel */
    {"an attention after a decomposed softmax",
     "in k float[2,16,8]\nin v float[2,8,16]\nnode a MatMul x k -> a\nnode e Exp a -> e\n"
     "node r ReduceSum e -> r axes=[-1]\nnode s Div e r -> s\nnode z MatMul s v -> z\nout z\n",
     "Softmax@s Attention@a Attention@z Attention@a Attention@z"},
};

/* Prints the nodes of each pattern. */
static void print_candidates(const struct bench *bench, const struct candidates *candidates,
                             char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < candidates->patterns.n; i++)
        for (size_t id = 0; id < bench->model.n_nodes; id++)
            if (candidates->ends[bench->analysis.bind->kind_of[id]] & pattern_bit(i))
                length += (size_t)snprintf(
                    out + length, size - length, "%s%s@%s", length > 0 ? " " : "",
                    candidates->patterns.items[i].row->name, bench->model.nodes[id].name);
}

static void find(const struct bench *bench, struct candidates *ret) {
    struct analysis analysis = bench->analysis;
    analysis.scratch = bench->arena;
    assert_int_equal(candidates_find(&analysis, ret), CM_OK);
}

static void finds_where_patterns_may_end(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[2048];
        char have[512];
        struct candidates candidates = {0};
        (void)snprintf(lines, sizeof lines, "%s%s", HEAD, rows[i].lines);
        struct bench *bench = bench_open(lines);
        if (bench->status != CM_OK) fail_msg("%s: %s", rows[i].name, bench_messages(bench));
        find(bench, &candidates);
        print_candidates(bench, &candidates, have, sizeof have);
        if (strcmp(have, rows[i].want) != 0)
            fail_msg("%s: got '%s', expected '%s'", rows[i].name, have, rows[i].want);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_where_patterns_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
