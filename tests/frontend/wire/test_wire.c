/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, varints and lengths of protobuf's encoding. */
#include "frontend/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SPAN(bytes) ((struct span){(bytes), (bytes) + sizeof(bytes)})

/* The examples of protobuf's documentation, and the ends of the range. */
static const struct {
    uint64_t value;
    size_t size;
    uint8_t bytes[WIRE_LONGEST_VARINT];
} varints[] = {
    {0, 1, {0x00}},
    {1, 1, {0x01}},
    {127, 1, {0x7f}},
    {150, 2, {0x96, 0x01}},
    {INT64_MAX, 9, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
    {(uint64_t)-2, 10, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
};

static void reads_and_writes_varints(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
        const uint8_t *bytes = varints[i].bytes;
        uint8_t written[WIRE_LONGEST_VARINT];
        uint64_t value = 0;
        struct span span = {bytes, bytes + varints[i].size};
        assert_true(wire_varint(&span, &value));
        assert_int_equal(value, varints[i].value);
        assert_ptr_equal(span.at, span.end);
        assert_int_equal(wire_varint_size(value), varints[i].size);
        assert_int_equal(wire_encode(value, written), varints[i].size);
        assert_memory_equal(written, bytes, varints[i].size);
    }
}

static void reads_padded_varints(void **state) {
    static const uint8_t padded[] = {0x96, 0x81, 0x80, 0x00};
    uint8_t written[sizeof padded];
    struct span span = SPAN(padded);
    uint64_t value = 0;
    (void)state;
    wire_encode_padded(150, sizeof written, written);
    assert_memory_equal(written, ((uint8_t[]){0x96, 0x81, 0x80, 0x00}), sizeof written);
    assert_true(wire_varint(&span, &value));
    assert_int_equal(value, 150);
}

static void refuses_truncated_and_invalid_fields(void **state) {
    static const struct {
        size_t size;
        uint8_t bytes[13];
    } rows[] = {
        {0, {0}},
        {1, {0x80}},                      /* inside a key */
        {1, {0x0a}},                      /* no length */
        {2, {0x0a, 0x01}},                /* no contents */
        {2, {0x0a, 0x80}},                /* inside a length */
        {2, {0x08, 0x80}},                /* inside a number */
        {4, {0x0d, 1, 2, 3}},             /* 3 of 4 bytes */
        {8, {0x09, 1, 2, 3, 4, 5, 6, 7}}, /* 7 of 8 */
        {2, {0x0b, 0x0c}},                /* a group */
        {2, {0x0e, 0x00}},                /* wire type 6 */
        {12, {0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct span span = {rows[i].bytes, rows[i].bytes + rows[i].size};
        struct wire_field field;
        assert_false(wire_next(&span, &field));
    }
}

static void reads_fields_of_every_wire_type(void **state) {
    static const uint8_t bytes[] = {
        0x08, 0x96, 0x01,                               /* 1: 150 */
        0x12, 0x02, 'h',  'i',                          /* 2: "hi" */
        0x1d, 0x01, 0x00, 0x00, 0x80,                   /* 3: 0x80000001 */
        0xa1, 0x01, 2,    0,    0,    0, 0, 0, 0, 0x40, /* 20: 0x4000000000000002 */
    };
    struct span span = SPAN(bytes);
    struct wire_field field;
    (void)state;
    assert_true(wire_next(&span, &field));
    assert_true(field.number == 1 && field.wire == WIRE_VARINT && field.value == 150);
    assert_true(wire_next(&span, &field));
    assert_true(field.number == 2 && field.wire == WIRE_BYTES && span_equal(field.bytes, "hi"));
    assert_true(wire_next(&span, &field));
    assert_true(field.number == 3 && field.wire == WIRE_FIXED32 && field.value == 0x80000001);
    assert_true(wire_next(&span, &field));
    assert_true(field.number == 20 && field.wire == WIRE_FIXED64);
    assert_true(field.value == 0x4000000000000002);
    assert_ptr_equal(span.at, span.end);
}

/* Short and long strings take different paths. */
static void reads_strings_of_any_length(void **state) {
    uint8_t bytes[3 + 300];
    (void)state;
    for (size_t size = 0; size <= 300; size++) {
        struct wire_field field;
        size_t n = 1 + wire_encode(size, bytes + 1);
        bytes[0] = 4 << 3 | WIRE_BYTES;
        memset(bytes + n, 'x', size);
        struct span span = {bytes, bytes + n + size};
        assert_true(wire_next(&span, &field));
        assert_int_equal(field.number, 4);
        assert_ptr_equal(field.bytes.at, bytes + n);
        assert_int_equal(span_size(field.bytes), size);
        assert_int_equal(span_size(span), 0);
        struct span cut = {bytes, bytes + n + size - 1};
        assert_false(wire_next(&cut, &field));
    }
}

static void checks_packed_elements(void **state) {
    static const uint8_t bytes[] = {0x96, 0x01, 0x05, 0x80};
    uint8_t longest[WIRE_LONGEST_VARINT + 1];
    (void)state;
    memset(longest, 0x80, sizeof longest);
    longest[WIRE_LONGEST_VARINT - 1] = longest[WIRE_LONGEST_VARINT] = 0x01;
    for (size_t n = 0; n <= sizeof bytes; n++) {
        const struct span span = {bytes, bytes + n};
        assert_int_equal(wire_is_packed(WIRE_VARINT, span), n == 0 || n == 2 || n == 3);
        assert_int_equal(wire_is_packed(WIRE_FIXED32, span), n == 0 || n == 4);
        assert_int_equal(wire_is_packed(WIRE_FIXED64, span), n == 0);
    }
    assert_true(wire_is_packed(WIRE_VARINT, SPAN(longest)));
    longest[WIRE_LONGEST_VARINT - 1] = 0x80;
    assert_false(wire_is_packed(WIRE_VARINT, SPAN(longest)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_varints),
        cmocka_unit_test(reads_padded_varints),
        cmocka_unit_test(refuses_truncated_and_invalid_fields),
        cmocka_unit_test(reads_fields_of_every_wire_type),
        cmocka_unit_test(reads_strings_of_any_length),
        cmocka_unit_test(checks_packed_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
