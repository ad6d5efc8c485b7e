/* SPDX-License-Identifier: Apache-2.0 */
/* The contracts of the passes of times. */
#include "timing/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static unsigned give_all(const struct pipeline *pipeline, unsigned have) {
    for (size_t i = 0; i < pipeline->n; i++) {
        const struct pass *pass = &pipeline->passes[i];
        if (pass->reads & ~have)
            fail_msg("no earlier pass gives a table that %s reads", pass->name);
        if (pass->gives == 0 || (pass->gives & have))
            fail_msg("%s gives no new table", pass->name);
        have |= pass->gives;
    }
    return have;
}

static void tables_of_both_halves_are_distinct_and_given_before_they_are_read(void **state) {
    (void)state;
    assert_ptr_equal(timing_pipeline.before, &core_pipeline);
    const unsigned of_core = give_all(&core_pipeline, 0);
    const unsigned all = give_all(&timing_pipeline, of_core);
    assert_int_equal(all & (all + 1), 0); /* consecutive bits */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_both_halves_are_distinct_and_given_before_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
