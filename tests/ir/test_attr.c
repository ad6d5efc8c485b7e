/* SPDX-License-Identifier: Apache-2.0 */
/* Names of attribute kinds. */
#include "ir/attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void names_every_attribute_kind(void **state) {
    (void)state;
    assert_string_equal(attr_kind_name(ATTR_INT), "int");
    assert_string_equal(attr_kind_name(ATTR_FLOATS), "floats");
    assert_string_equal(attr_kind_name(ATTR_GRAPHS), "graphs");
    for (int kind = ATTR_NONE; kind <= ATTR_OTHER; kind++) {
        assert_non_null(attr_kind_name((enum attr_kind)kind));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_every_attribute_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
