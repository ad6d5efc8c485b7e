/* SPDX-License-Identifier: Apache-2.0 */
/* The table of FLOP conventions; tests/ops/onnx/FAMILY.c have counts of single nodes. */
#include "ops/flops/conventions.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "ops/flops/names/convention_names.h"

static void gives_every_convention_a_table_and_a_description(void **state) {
    size_t n = 0;
    (void)state;
    for (; conventions_at(n); n++) {
        assert_non_null(convention_find(conventions_at(n)->name));
        assert_true(conventions_at(n)->meaning[0] != '\0');
    }
    assert_int_equal(n, 9);
    assert_string_equal(conventions_at(0)->name, "deepspeed");
    assert_null(convention_find("thup"));
    assert_null(convention_find(NULL));
    assert_null(conventions_find(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_convention_a_table_and_a_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
