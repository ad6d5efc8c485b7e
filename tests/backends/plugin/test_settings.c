/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of parsing the settings of a backend: NAME:key=value,... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend_registry.h"
#include "backends/plugin/settings.h"
#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void parses_name_without_settings(void **state) {
    static const char *const texts[] = {"onednn", "onednn:"};
    for (size_t i = 0; i < 2; i++) {
        struct cm_settings settings;
        struct cm_reason reason = {""};
        const char *name = NULL;
        assert_int_equal(settings_parse(texts[i], *state, &name, &settings, &reason),
                         CM_BACKEND_OK);
        assert_string_equal(name, "onednn");
        assert_int_equal(settings.n, 0);
        assert_null(settings_get(&settings, "threads"));
    }
}

static void accepts_values_without_comma(void **state) {
    struct cm_settings settings;
    struct cm_reason reason = {""};
    const char *name = NULL;
    assert_int_equal(settings_parse("onednn:library=/opt/a=b:c.so,threads=,threads=2", *state,
                                    &name, &settings, &reason),
                     CM_BACKEND_OK);
    assert_int_equal(settings.n, 3);
    assert_string_equal(settings_get(&settings, "library"), "/opt/a=b:c.so");
    assert_string_equal(settings_get(&settings, "threads"), "2");
}

static void refuses_malformed_setting(void **state) {
    static const char *const cases[][2] = {
        {"a:device", "expected name=value, got 'device'"},
        {"a:=5", "expected name=value, got '=5'"},
        {"a:x=1,,y=2", "expected name=value, got ''"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_settings settings;
        struct cm_reason reason = {""};
        const char *name = NULL;
        assert_int_equal(settings_parse(cases[i][0], *state, &name, &settings, &reason),
                         CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
    }
}

static void refuses_unknown_setting(void **state) {
    (void)state;
    const struct cm_setting good = {"device", "h200"};
    const struct cm_setting bad = {"devise", "h200"};
    const struct cm_settings one = {.n = 1, .items = &good};
    const struct cm_settings other = {.n = 1, .items = &bad};
    struct cm_reason reason = {""};
    assert_int_equal(settings_check(&one, &roofline_backend, &reason), CM_BACKEND_OK);
    assert_int_equal(settings_check(&other, &roofline_backend, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "roofline has no option 'devise'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_name_without_settings),
        cmocka_unit_test(accepts_values_without_comma),
        cmocka_unit_test(refuses_malformed_setting),
        cmocka_unit_test(refuses_unknown_setting),
    };
    return cmocka_run_group_tests(tests, make, end);
}
