/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of the families: rows of tests/ops/onnx/FAMILY.c and tests/ops/contrib/FAMILY.c.
 *
 *     test_ops_families [PATTERN]    runs the tests that match: "softmax:*"
 */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/registry/registry.h"
#include "support/text.h"

/* clang-format off */
#define FAMILIES(X)                                                                            \
    X(activation) X(arithmetic) X(attention) X(cast) X(concat) X(constant) X(convolution)      \
    X(einsum) X(elementwise) X(gather) X(logic) X(loss) X(matmul) X(ml) X(move) X(norm)        \
    X(optimizer) X(pad) X(pool) X(quantize) X(random) X(recurrent) X(reduce) X(reshape)        \
    X(resize) X(scatter) X(select) X(signal) X(slice) X(softmax) X(string) X(transformer)      \
    X(contrib) X(contrib_attention) X(contrib_data) X(contrib_elements) X(contrib_nchwc)       \
    X(contrib_products) X(contrib_sparse) X(contrib_states)
/* clang-format on */

#define DECLARED(name) extern const struct op_case cases_##name[];
FAMILIES(DECLARED)

static const struct {
    const char *family;
    const struct op_case *cases;
} families[] = {
#define LISTED(name) {#name, cases_##name},
    FAMILIES(LISTED)
    /* tested by test_control.c, test_sequence.c and test_runtime.c */
    {"control", NULL},
    {"loop", NULL},
    {"scan", NULL},
    {"sequence", NULL},
    {"contrib_generation", NULL},
};

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))
#define MAX_TESTS  400
#define MAX_NAME   120

static void run_cases(void **state) {
    op_cases_run(*state);
}

static void every_family_has_tests(void **state) {
    (void)state;
    for (size_t i = 0; i < registry_n_families(); i++) {
        size_t k = 0;
        while (k < N_FAMILIES && !text_equal(families[k].family, registry_family(i)->name)) k++;
        if (k == N_FAMILIES) fail_msg("%s has no tests", registry_family(i)->name);
    }
}

int main(int argc, char **argv) {
    static char names[MAX_TESTS][MAX_NAME];
    static struct CMUnitTest tests[MAX_TESTS] = {cmocka_unit_test(every_family_has_tests)};
    size_t n = 1;
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (const struct op_case *row = families[i].cases; row && (row->op || row->title);
             row++) {
            if (!row->title) continue;
            if (n == MAX_TESTS) return 1;
            snprintf(names[n], MAX_NAME, "%s: %s", families[i].family, row->title);
            tests[n] = (struct CMUnitTest){.name = names[n],
                                           .test_func = run_cases,
                                           .initial_state = (void *)(uintptr_t)(row + 1)};
            n++;
        }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("families", tests, n, NULL, NULL);
}
