/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON parser: exact integers, and rejection of everything that RFC 8259 does not allow. */
#include "support/json/json_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static struct json_value *parse(const char *text) {
    struct json_value *root = NULL;
    assert_int_equal(json_parse(text, strlen(text), NULL, &root), CM_OK);
    return root;
}

static void reads_integers_above_2_to_the_53_exactly(void **state) {
    (void)state;
    struct json_value *root = parse("[9007199254740993, -9223372036854775806, 1e3, "
                                    "9223372036854775808, 2.5, \"7\"]");
    const struct json_value *item = json_first(root);
    int64_t value = 0;
    double real = 0;
    assert_true(json_to_int64(item, &value));
    assert_int_equal(value, 9007199254740993);
    item = json_next(item);
    assert_true(json_to_int64(item, &value));
    assert_int_equal(value, -INT64_MAX + 1);
    item = json_next(item);
    assert_false(json_to_int64(item, &value));
    assert_true(json_to_double(item, &real));
    assert_true(real == 1000);
    item = json_next(item);
    assert_false(json_to_int64(item, &value));
    assert_string_equal(json_digits(item), "9223372036854775808");
    item = json_next(item);
    assert_true(json_to_double(item, &real));
    assert_true(real == 2.5);
    item = json_next(item);
    assert_false(json_to_double(item, &real));
    assert_string_equal(json_string(item), "7");
    assert_null(json_next(item));
    json_free(root);
}

static void finds_members_by_key(void **state) {
    (void)state;
    struct json_value *root = parse("{\"a\": [], \"b\": null, \"a\": true}");
    bool flag = false;
    assert_true(json_is_array(json_get(root, "a")));
    assert_true(json_is_null(json_get(root, "b")));
    assert_null(json_get(root, "c"));
    assert_int_equal(json_count(root), 3);
    const struct json_value *last = json_next(json_next(json_first(root)));
    assert_true(json_to_bool(last, &flag) && flag);
    assert_false(json_is_first_of_key(root, last));
    assert_true(json_is_first_of_key(root, json_first(root)));
    json_free(root);
}

static void treats_a_missing_value_as_null(void **state) {
    (void)state;
    int64_t value = 0;
    assert_true(json_is_null(NULL));
    assert_false(json_is_object(NULL));
    assert_false(json_to_int64(NULL, &value));
    assert_null(json_get(NULL, "a"));
    assert_null(json_first(NULL));
    assert_int_equal(json_count(NULL), 0);
    assert_string_equal(json_describe(NULL), "null");
}

static void rejects_invalid_json(void **state) {
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\"a\": 01}", "not JSON: invalid number in line 1"},
        {"{1: 2}", "not JSON: invalid number in line 1"},
        {"[1,\n-]", "not JSON: invalid number in line 2"},
        {"[\"a", "not JSON: invalid string in line 1"},
        {"[\"\\u0000\"]", "not JSON: invalid string in line 1"},
        {"[1,\n\n2", "not JSON: syntax error in line 3"},
        {"\xff", "not UTF-8 text"},
        {"", "not JSON: syntax error in line 1"},
        {"[1] 2", "not JSON: syntax error in line 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_diagnostics *diagnostics = cm_diagnostics_new();
        struct json_value *root = NULL;
        const size_t size = strlen(cases[i].text);
        assert_int_equal(json_parse(cases[i].text, size, diagnostics, &root), CM_REFUSED);
        assert_null(root);
        assert_string_equal(cm_diagnostics_get(diagnostics, 0)->message, cases[i].message);
        cm_diagnostics_free(diagnostics);
    }
}

static void refuses_more_values_than_the_limit_before_it_allocates_them(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    const size_t size = 2 * JSON_MAX_VALUES + 3;
    char *text = malloc(size);
    struct json_value *root = NULL;
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 2) memcpy(text + i, "0,", i + 1 < size ? 2 : 1);
    text[0] = '[';
    text[size - 1] = ']';
    assert_int_equal(json_parse(text, size, diag, &root), CM_REFUSED);
    assert_null(root);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "at most 8388608 JSON values are read, line 1 has more");
    free(text);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers_above_2_to_the_53_exactly),
        cmocka_unit_test(finds_members_by_key),
        cmocka_unit_test(treats_a_missing_value_as_null),
        cmocka_unit_test(rejects_invalid_json),
        cmocka_unit_test(refuses_more_values_than_the_limit_before_it_allocates_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
