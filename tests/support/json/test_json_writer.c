/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: commas, exact numbers, and escaped strings. */
#include "support/json/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "costmodel/result.h"

static void expect(void (*write)(struct json_writer *json), const char *expected) {
    char *text = NULL;
    size_t size = 0;
    struct json_writer json = {.out = open_memstream(&text, &size)};
    assert_non_null(json.out);
    write(&json);
    fclose(json.out);
    assert_string_equal(text, expected);
    free(text);
}

static void write_nested(struct json_writer *json) {
    json_begin(json, '{');
    json_key_integer(json, "macs", 4096);
    json_write_key(json, "shape");
    json_begin(json, '[');
    json_write_integer(json, INT64_MAX);
    json_write_integer(json, CM_UNKNOWN);
    json_write_index(json, CM_NO_INDEX);
    json_begin(json, '[');
    json_end(json, ']');
    json_write_bool(json, true);
    json_end(json, ']');
    json_key_string(json, "name", NULL);
    json_end(json, '}');
}

static void separates_values_by_commas(void **state) {
    (void)state;
    expect(write_nested, "{\"macs\":4096,\"shape\":[9223372036854775807,null,null,[],true],"
                         "\"name\":null}");
}

static void write_lines(struct json_writer *json) {
    json_begin(json, '[');
    json_break_line(json, 2, false);
    json_write_integer(json, 1);
    json_break_line(json, 2, false);
    json_write_integer(json, 2);
    json_break_line(json, 0, true);
    json_end(json, ']');
}

static void puts_the_comma_before_a_line_break(void **state) {
    (void)state;
    expect(write_lines, "[\n  1,\n  2\n]");
}

static void write_strings(struct json_writer *json) {
    json_begin(json, '[');
    json_write_string(json, "a\"b\\c\n\t\x1b\x7f");
    json_write_string(json, "\xc3\xa9\xe2\x80\xae\xf3\xa0\x81\x81\xf4\x8f\xbf\xbd");
    json_write_string(json, "caf\xe9\n");
    json_end(json, ']');
}

static void escapes_terminal_control_characters(void **state) {
    (void)state;
    expect(
        write_strings,
        "[\"a\\\"b\\\\c\\n\\t\\u001b\\u007f\",\"\xc3\xa9\\u202e\\udb40\\udc41\\udbff\\udffd\","
        "\"caf\\\\xe9\\\\x0a\"]");
}

static void write_decimals(struct json_writer *json) {
    json_begin(json, '[');
    json_write_decimal(json, 250000, 6);
    json_write_decimal(json, 12000000, 6);
    json_write_decimal(json, -1, 6);
    json_write_decimal(json, CM_UNKNOWN, 6);
    json_write_double(json, 3.35e12, 6);
    json_end(json, ']');
}

static void writes_decimals_exactly(void **state) {
    (void)state;
    expect(write_decimals, "[0.25,12.0,-0.000001,null,3.35e+12]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separates_values_by_commas),
        cmocka_unit_test(puts_the_comma_before_a_line_break),
        cmocka_unit_test(escapes_terminal_control_characters),
        cmocka_unit_test(writes_decimals_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
