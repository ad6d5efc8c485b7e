/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of expected times: their sum is the time, and none is negative. */
#include "timing/estimate.h"
#include "timing/losses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct losses_case {
    double launch, traffic; /* seconds */
    int64_t latency, bound; /* ps */
    int64_t launch_ps, traffic_ps, utilization_ps;
};

static const struct losses_case rows[] = {
    /* clang-format off */
    {2e-6, 1e-6, 9000000, 4000000, 2000000, 1000000, 2000000},
    {2e-6, 4e-6, 9000000, 4000000, 2000000, 3000000, 0}, /* traffic reaches below the bound */
    {6e-6, 4e-6, 9000000, 4000000, 5000000, 0,       0}, /* the launch does */
    {0,    0,    4000000, 4000000, 0,       0,       0},
    /* clang-format on */
};

static void parts_are_taken_in_order_down_to_the_bound(void **state) {
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        const struct modelled_time time = {
            .kernel = {.launch = rows[i].launch, .traffic = rows[i].traffic}};
        const struct cm_losses losses = losses_split(&time, rows[i].latency, rows[i].bound);
        assert_true(losses.present);
        assert_int_equal(losses.launch_ps, rows[i].launch_ps);
        assert_int_equal(losses.traffic_ps, rows[i].traffic_ps);
        assert_int_equal(losses.utilization_ps, rows[i].utilization_ps);
        assert_int_equal(losses.bound_ps, rows[i].bound);
    }
}

static void unknown_times_add_nothing_and_large_ones_have_no_sum(void **state) {
    const struct modelled_time time = {.expected_ps = DIM_UNKNOWN};
    const struct cm_losses none = losses_split(&time, DIM_UNKNOWN, DIM_UNKNOWN);
    const struct cm_losses kernel = {true, 1, 2, 3, 4};
    struct cm_losses sum = {0};
    (void)state;
    assert_false(none.present);
    losses_add(&sum, &none, 1);
    assert_false(sum.present);
    losses_add(&sum, &kernel, 3);
    losses_add(&sum, &kernel, DIM_UNKNOWN);
    assert_true(sum.present);
    assert_int_equal(sum.launch_ps, 3);
    assert_int_equal(sum.bound_ps, 12);
    losses_add(&sum, &kernel, INT64_MAX);
    losses_add(&sum, &kernel, 1);
    assert_false(sum.present);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_taken_in_order_down_to_the_bound),
        cmocka_unit_test(unknown_times_add_nothing_and_large_ones_have_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
