/* SPDX-License-Identifier: Apache-2.0 */
/* States, temporaries and FLOPs of optimizers; values are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/value_info.h"
#include "passes/training/optimizers.h"

static void cost_follows_the_shape_of_the_parameter(void **state) {
    static const struct {
        const char *name;
        int rank;
        int64_t dims[3];
        struct optimizer_cost cost; /* FLOPs, states, states of the host, temporaries, alone */
        enum dtype dtype;           /* DTYPE_UNDEFINED: fp32 */
    } cases[] = {
        {"sgd", 2, {3, 5}, {2 * 15, 0, 0, 0, false}, 0},
        {"momentum", 2, {3, 5}, {4 * 15, 60, 0, 0, false}, 0},
        {"adam", 2, {3, 5}, {13 * 15, 60, 0, 30, false}, DTYPE_FLOAT16},
        {"adam-fused", 2, {3, 5}, {13 * 15, 120, 0, 0, false}, 0},
        {"adamw-fused", 2, {3, 5}, {14 * 15, 120, 0, 0, false}, 0},
        {"adagrad", 2, {3, 5}, {7 * 15, 60, 0, 120, false}, 0},
        {"rmsprop", 2, {3, 5}, {9 * 15, 60, 0, 60, false}, 0},
        /* two matrices of 3 rows and 5 columns */
        {"adafactor", 3, {2, 3, 5}, {16 * 30, 2 * 8 * 4, 0, 120, true}, 0},
        {"adafactor", 1, {7}, {16 * 7, 28, 0, 56, true}, 0},
        {"adafactor", 0, {0}, {16, 4, 0, 8, true}, 0},
        /* per iteration two products of 3 * 3 * 5 MACs and one of 3 * 3 * 3; a 3 by 3 matrix
         * twice, the matrix itself in 16 bits twice and in 32 bits once */
        {"muon", 2, {3, 5}, {12 * 15 + 5 * 2 * 117, 60, 0, 36 + 60 + 60, true}, 0},
        {"muon", 2, {5, 3}, {12 * 15 + 5 * 2 * 117, 60, 0, 36 + 60 + 60, true}, 0},
        {"muon", 1, {7}, {14 * 7, 56, 0, 28, false}, 0},
        {"lion", 2, {3, 5}, {10 * 15, 60, 0, 0, false}, DTYPE_BFLOAT16},
        {"lion8bit", 1, {4096}, {12 * 4096, 4096 + 16 * 4, 0, 0, false}, 0},
        {"adam8bit", 1, {4095}, {17 * 4095, 8 * 4095, 0, 0, false}, DTYPE_BFLOAT16},
        {"adamw8bit", 1, {4097}, {18 * 4097, 2 * (4097 + 17 * 4), 0, 0, false}, 0},
        {"paged-lion", 1, {99999}, {10 * 99999, 4 * 99999, 0, 0, false}, 0},
        {"paged-adam", 1, {100000}, {1300000, 0, 800000, 0, false}, 0},
        {"paged-adamw", 1, {100000}, {1400000, 0, 800000, 0, false}, 0},
        {"paged-lion8bit", 1, {100000}, {1200000, 391 * 4, 100000, 0, false}, 0},
        {"paged-adam8bit", 1, {100}, {1700, 800, 0, 0, false}, 0},
        {"paged-adamw8bit", 1, {100000}, {1800000, 391 * 8, 200000, 0, false}, 0},
        {"muon", 2, {DIM_UNKNOWN, 5}, {DIM_UNKNOWN, DIM_UNKNOWN, 0, DIM_UNKNOWN, true}, 0},
        {"adamw8bit",
         2,
         {INT64_MAX, 2},
         {DIM_OVERFLOW, DIM_OVERFLOW, 0, DIM_OVERFLOW, false},
         DTYPE_FLOAT16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t dims[3] = {cases[i].dims[0], cases[i].dims[1], cases[i].dims[2]};
        const struct value_info parameter = {
            .dtype = cases[i].dtype == DTYPE_UNDEFINED ? DTYPE_FLOAT : cases[i].dtype,
            .shape = {.rank = cases[i].rank, .dims = dims}};
        const struct optimizer *optimizer = optimizers_find(cases[i].name);
        const struct optimizer_cost *wanted = &cases[i].cost;
        assert_non_null(optimizer);
        const struct optimizer_cost found = optimizers_cost(optimizer, &parameter);
        if (found.flops != wanted->flops || found.state_bytes != wanted->state_bytes ||
            found.host_bytes != wanted->host_bytes || found.is_alone != wanted->is_alone ||
            found.temporary_bytes != wanted->temporary_bytes)
            fail_msg("%zu, %s: %lld FLOPs, states %lld, %lld on the host, temporaries %lld", i,
                     cases[i].name, (long long)found.flops, (long long)found.state_bytes,
                     (long long)found.host_bytes, (long long)found.temporary_bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cost_follows_the_shape_of_the_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
