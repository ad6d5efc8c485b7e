/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of attributes have names for messages. */
#include "ir/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void every_kind_has_a_name(void **state) {
    (void)state;
    assert_string_equal(attr_kind_name(ATTR_INT), "int");
    assert_string_equal(attr_kind_name(ATTR_FLOATS), "floats");
    assert_string_equal(attr_kind_name(ATTR_GRAPHS), "graphs");
    for (int kind = ATTR_NONE; kind <= ATTR_OTHER; kind++) {
        assert_non_null(attr_kind_name((enum attr_kind)kind));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_has_a_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
