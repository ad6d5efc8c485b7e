/* SPDX-License-Identifier: Apache-2.0 */
/* Loading of constants: all layouts, and malformed contents. */
#include "ir/constant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

struct fixture {
    struct arena *arena;
    struct cm_diagnostics *diag;
};

static int make(void **state) {
    struct fixture *f = malloc(sizeof *f);
    if (f == NULL) return 1;
    f->arena = arena_new("test", 0);
    f->diag = cm_diagnostics_new();
    *state = f;
    return f->arena == NULL || f->diag == NULL;
}

static int end(void **state) {
    struct fixture *f = *state;
    arena_free(f->arena);
    cm_diagnostics_free(f->diag);
    free(f);
    return 0;
}

/* A reader of bytes that counts the bytes it has read. */
struct bytes {
    const uint8_t *data;
    size_t n_read;
    int status;
    const char *reason; /* why the bytes are unreadable; NULL: readable */
};

static int read_bytes(void *context, const struct constant *constant, void *buffer, size_t size,
                      struct cm_diagnostics *diag, const char **ret_reason) {
    struct bytes *bytes = context;
    (void)diag;
    *ret_reason = bytes->reason;
    if (bytes->reason) return CM_OK;
    if (bytes->status != CM_OK) return bytes->status;
    if (size == 0) return CM_OK;
    memcpy(buffer, bytes->data + constant->offset, size);
    bytes->n_read += size;
    return CM_OK;
}

struct row {
    const char *name;
    enum dtype dtype;
    enum constant_encoding encoding;
    int64_t n;
    size_t length;
    const char *bytes;
    double want[4];
};

#define ROW(text) sizeof(text) - 1, text

/* clang-format off */
static const struct row rows[] = {
    {"int64",        DTYPE_INT64,  ENCODING_RAW, 2, ROW("\xff\xff\xff\xff\xff\xff\xff\xff" "\x00\x01\x00\x00\x00\x00\x00\x00"), {-1, 256}},
    {"int32",        DTYPE_INT32,  ENCODING_RAW, 2, ROW("\xfe\xff\xff\xff\x07\x00\x00\x00"), {-2, 7}},
    {"int16",        DTYPE_INT16,  ENCODING_RAW, 2, ROW("\x00\x80\xff\x7f"), {-32768, 32767}},
    {"int8",         DTYPE_INT8,   ENCODING_RAW, 3, ROW("\x80\x7f\xff"), {-128, 127, -1}},
    {"uint8",        DTYPE_UINT8,  ENCODING_RAW, 2, ROW("\x80\xff"), {128, 255}},
    {"uint16",       DTYPE_UINT16, ENCODING_RAW, 1, ROW("\xff\xff"), {65535}},
    {"uint32",       DTYPE_UINT32, ENCODING_RAW, 1, ROW("\xff\xff\xff\xff"), {4294967295.0}},
    {"bool",         DTYPE_BOOL,   ENCODING_RAW, 3, ROW("\x00\x01\x02"), {0, 1, 1}},
    {"int4",         DTYPE_INT4,   ENCODING_RAW, 3, ROW("\x8f\x07"), {-1, -8, 7}},
    {"uint4",        DTYPE_UINT4,  ENCODING_RAW, 4, ROW("\x21\x43"), {1, 2, 3, 4}},
    {"int2",         DTYPE_INT2,   ENCODING_RAW, 4, ROW("\xe4"), {0, 1, -2, -1}},
    {"uint2",        DTYPE_UINT2,  ENCODING_RAW, 3, ROW("\x24"), {0, 1, 2}},
    {"float",        DTYPE_FLOAT,  ENCODING_RAW, 2, ROW("\x00\x00\xc0\x3f\x00\x00\x00\xc0"), {1.5, -2}},
    {"double",       DTYPE_DOUBLE, ENCODING_RAW, 1, ROW("\x00\x00\x00\x00\x00\x00\xf8\x3f"), {1.5}},
    {"half",         DTYPE_FLOAT16, ENCODING_RAW, 2, ROW("\x00\x3c\x00\xc0"), {1, -2}},
    {"bfloat16",     DTYPE_BFLOAT16, ENCODING_RAW, 1, ROW("\xc0\x3f"), {1.5}},
    {"float4",       DTYPE_FLOAT4E2M1, ENCODING_RAW, 3, ROW("\x71\x0a"), {0.5, 6, -1}},
    {"float_data",   DTYPE_FLOAT,  ENCODING_PACKED_FIXED4, 1, ROW("\x00\x00\xc0\x3f"), {1.5}},
    {"double_data",  DTYPE_DOUBLE, ENCODING_PACKED_FIXED8, 1, ROW("\x00\x00\x00\x00\x00\x00\xf8\x3f"), {1.5}},
    {"int64_data",   DTYPE_INT64,  ENCODING_PACKED_VARINT, 3, ROW("\x01\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), {1, 300, -1}},
    {"int32_data",   DTYPE_INT32,  ENCODING_PACKED_VARINT, 2, ROW("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07"), {-2, 7}},
    {"int8 varint",  DTYPE_INT8,   ENCODING_PACKED_VARINT, 1, ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), {-1}},
    {"half varint",  DTYPE_FLOAT16, ENCODING_PACKED_VARINT, 2, ROW("\x80\x78\x00"), {1, 0}},
    {"int4 varint",  DTYPE_INT4,   ENCODING_PACKED_VARINT, 3, ROW("\x8f\x01\x07"), {-1, -8, 7}},
    {"bool varint",  DTYPE_BOOL,   ENCODING_PACKED_VARINT, 2, ROW("\x00\x01"), {0, 1}},
    {"uint64_data",  DTYPE_UINT64, ENCODING_PACKED_VARINT, 1, ROW("\x05"), {5}},
};
/* clang-format on */

static struct constant constant_of(const struct row *row, enum constant_place place,
                                   struct arena *arena) {
    struct constant constant = {.dtype = row->dtype,
                                .n_elements = row->n,
                                .place = place,
                                .encoding = row->encoding,
                                .length = row->length};
    assert_int_equal(shape_make(arena, 1, &row->n, &constant.shape), CM_OK);
    return constant;
}

static void assert_elements(const struct row *row, const struct constant *loaded) {
    assert_non_null(loaded);
    assert_int_equal(loaded->place, CONSTANT_IN_MEMORY);
    assert_int_equal(loaded->n_elements, row->n);
    for (int64_t i = 0; i < row->n; i++) {
        const bool is_real = constant_has_reals(loaded);
        const double have =
            is_real ? constant_real_at(loaded, i) : (double)constant_int_at(loaded, i);
        if (have < row->want[i] || have > row->want[i]) {
            fail_msg("%s[%lld]: want %g, have %g", row->name, (long long)i, row->want[i], have);
        }
    }
}

static void decodes_every_layout(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes bytes = {.data = (const uint8_t *)rows[i].bytes};
        const struct constant_reader reader = {read_bytes, &bytes};
        const struct constant *loaded = NULL;
        struct constant constant = constant_of(&rows[i], CONSTANT_IN_FILE, f->arena);
        assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded), CM_OK);
        assert_elements(&rows[i], loaded);
        assert_int_equal(bytes.n_read, rows[i].length);
    }
    assert_int_equal(cm_diagnostics_count(f->diag), 0);
}

static void reads_raw_and_external_bytes_alike(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].encoding != ENCODING_RAW) continue;
        struct bytes bytes = {.data = (const uint8_t *)rows[i].bytes};
        const struct constant_reader reader = {read_bytes, &bytes};
        const struct constant *loaded = NULL;
        struct constant constant = constant_of(&rows[i], CONSTANT_RAW, f->arena);
        constant.raw = (const uint8_t *)rows[i].bytes;
        assert_int_equal(constant_load(&constant, NULL, f->arena, f->diag, &loaded), CM_OK);
        assert_elements(&rows[i], loaded);
        constant.place = CONSTANT_EXTERNAL;
        constant.length = 0; /* absent */
        assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded), CM_OK);
        assert_elements(&rows[i], loaded);
    }
}

static void refuses_a_wrong_length_before_reading(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes bytes = {.data = (const uint8_t *)rows[i].bytes};
        const struct constant_reader reader = {read_bytes, &bytes};
        const bool is_varint = rows[i].encoding == ENCODING_PACKED_VARINT;
        const uint64_t lengths[] = {rows[i].length + 100, UINT64_MAX, is_varint ? 41 : 0};
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            const struct constant *loaded = NULL;
            struct constant constant = constant_of(&rows[i], CONSTANT_IN_FILE, f->arena);
            constant.length = lengths[k];
            assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded),
                             CM_REFUSED);
            assert_null(loaded);
        }
        assert_int_equal(bytes.n_read, 0);
    }
    const struct cm_diagnostic *first = cm_diagnostics_get(f->diag, 0);
    assert_string_equal(first->code, "value");
    assert_string_equal(first->message,
                        "tensor of 2 elements of int64 must have 16 bytes, got 116");
}

static const struct {
    enum dtype dtype;
    enum constant_encoding encoding;
    int64_t n;
    size_t length;
    const char *bytes;
    const char *message;
} broken[] = {
    {DTYPE_INT64, ENCODING_PACKED_VARINT, 2, ROW("\x01"), "tensor must hold 2 elements, got 1"},
    {DTYPE_INT64, ENCODING_PACKED_VARINT, 1, ROW("\x80"), "tensor must hold 1 elements, got 0"},
    {DTYPE_INT64, ENCODING_PACKED_VARINT, 2,
     ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "tensor must hold 2 elements, got 0"},
    {DTYPE_INT64, ENCODING_PACKED_VARINT, 1, ROW("\x01\x02"),
     "tensor of 1 elements has 1 bytes too many"},
    {DTYPE_INT4, ENCODING_PACKED_VARINT, 2, ROW("\x01\x02"),
     "tensor of 2 elements has 1 bytes too many"},
    {DTYPE_FLOAT, ENCODING_PACKED_VARINT, 1, ROW("\x01"),
     "tensor of type float stores its data in the field of another type"},
    {DTYPE_INT32, ENCODING_PACKED_FIXED4, 1, ROW("\x01\x00\x00\x00"),
     "tensor of type int32 stores its data in the field of another type"},
    {DTYPE_FLOAT, ENCODING_PACKED_FIXED8, 1, ROW("\x01\x00\x00\x00\x00\x00\x00\x00"),
     "tensor of type float stores its data in the field of another type"},
};

static void refuses_malformed_elements(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct bytes bytes = {.data = (const uint8_t *)broken[i].bytes};
        const struct constant_reader reader = {read_bytes, &bytes};
        const struct constant *loaded = NULL;
        int64_t dims[] = {broken[i].n};
        const struct constant constant = {.dtype = broken[i].dtype,
                                          .shape = {1, dims},
                                          .n_elements = broken[i].n,
                                          .place = CONSTANT_IN_FILE,
                                          .encoding = broken[i].encoding,
                                          .length = broken[i].length};
        assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded),
                         CM_REFUSED);
        assert_null(loaded);
        assert_string_equal(cm_diagnostics_get(f->diag, i)->message, broken[i].message);
    }
}

static void does_not_read_constants_that_are_not_folded(void **state) {
    const struct fixture *f = *state;
    struct bytes bytes = {.status = CM_IO};
    const struct constant_reader reader = {read_bytes, &bytes};
    static const struct {
        enum dtype dtype;
        enum constant_place place;
        int64_t n;
    } left[] = {
        {DTYPE_FLOAT, CONSTANT_IN_FILE, CONSTANT_MAX_ELEMENTS + 1},
        {DTYPE_FLOAT, CONSTANT_IN_MEMORY, CONSTANT_MAX_ELEMENTS + 1},
        {DTYPE_FLOAT, CONSTANT_EXTERNAL, (int64_t)1 << 60},
        {DTYPE_FLOAT, CONSTANT_IN_FILE, DIM_OVERFLOW},
        {DTYPE_FLOAT, CONSTANT_ABSENT, 1},
        {DTYPE_COMPLEX64, CONSTANT_RAW, 1},
        {DTYPE_STRING, CONSTANT_RAW, 1},
        {DTYPE_UNDEFINED, CONSTANT_RAW, 1},
    };
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        const struct constant *loaded = &(struct constant){0};
        int64_t dims[] = {left[i].n};
        const struct constant constant = {.dtype = left[i].dtype,
                                          .shape = {1, dims},
                                          .n_elements = left[i].n,
                                          .place = left[i].place,
                                          .length = 8};
        assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded), CM_OK);
        assert_null(loaded);
    }
}

static void returns_the_status_of_the_reader(void **state) {
    const struct fixture *f = *state;
    struct bytes bytes = {.status = CM_IO};
    const struct constant_reader reader = {read_bytes, &bytes};
    const struct constant *loaded = NULL;
    int64_t dims[] = {2};
    const struct constant constant = {.dtype = DTYPE_FLOAT,
                                      .shape = {1, dims},
                                      .n_elements = 2,
                                      .place = CONSTANT_IN_FILE,
                                      .length = 8};
    assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded), CM_IO);
    assert_null(loaded);
    struct arena *small = arena_new("small", 64);
    assert_int_equal(constant_load(&constant, &reader, small, f->diag, &loaded), CM_IO);
    bytes.status = CM_OK;
    bytes.data = (const uint8_t *)"\0\0\0\0\0\0\0";
    assert_int_equal(constant_load(&constant, &reader, small, f->diag, &loaded), CM_NO_MEMORY);
    assert_null(loaded);
    arena_free(small);
}

static void returns_loaded_constants_and_splats_unchanged(void **state) {
    const struct fixture *f = *state;
    int64_t dims[] = {2, 3};
    int64_t many[] = {(int64_t)1 << 40};
    const struct shape shape = {2, dims};
    const struct shape large = {1, many};
    const int64_t values[] = {1, 2, 3, 4, 5, 6};
    const double reals[] = {1, 2, 3, 4, 5, 6.5};
    const struct constant *all[] = {
        constant_ints(f->arena, DTYPE_INT32, &shape, values),
        constant_reals(f->arena, DTYPE_FLOAT, &shape, reals),
        constant_splat(f->arena, DTYPE_BOOL, &large, (struct number){.i = 1}),
        constant_splat(f->arena, DTYPE_FLOAT16, &large,
                       (struct number){.real = true, .r = 0.25}),
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct constant *loaded = NULL;
        assert_non_null(all[i]);
        assert_int_equal(constant_load(all[i], NULL, f->arena, f->diag, &loaded), CM_OK);
        assert_ptr_equal(loaded, all[i]);
        assert_int_equal(constant_has_ints(all[i]), i % 2 == 0);
        assert_int_equal(constant_has_reals(all[i]), i % 2 == 1);
    }
    assert_int_equal(all[0]->n_elements, 6);
    assert_int_equal(constant_int_at(all[0], 5), 6);
    assert_true(constant_real_at(all[1], 5) == 6.5);
    assert_int_equal(constant_int_at(all[2], many[0] - 1), 1);
    assert_true(constant_real_at(all[3], many[0] - 1) == 0.25);
}

static void does_not_load_unreadable_constants(void **state) {
    const struct fixture *f = *state;
    struct bytes bytes = {.reason = "was not found"};
    const struct constant_reader reader = {read_bytes, &bytes};
    struct constant constant = constant_of(&rows[0], CONSTANT_IN_FILE, f->arena);
    const struct constant *loaded = &constant;
    assert_int_equal(constant_load(&constant, &reader, f->arena, f->diag, &loaded), CM_OK);
    assert_null(loaded);
    assert_int_equal(bytes.n_read, 0);
    assert_int_equal(cm_diagnostics_count(f->diag), 0);
    assert_string_equal(constant_unreadable(&constant, &reader), "was not found");
    constant.place = CONSTANT_RAW;
    assert_null(constant_unreadable(&constant, &reader));
    constant.place = CONSTANT_EXTERNAL;
    bytes.reason = NULL;
    assert_null(constant_unreadable(&constant, &reader));
}

static void compares_dtypes_shapes_and_elements(void **state) {
    const struct fixture *f = *state;
    int64_t dims[] = {2, 3};
    int64_t transposed[] = {3, 2};
    const struct shape shape = {2, dims};
    const struct shape other = {2, transposed};
    const int64_t elements[] = {1, 2, 3, 4, 5, 6};
    const int64_t others[] = {1, 2, 3, 4, 5, 7};
    const struct constant *a = constant_ints(f->arena, DTYPE_INT64, &shape, elements);
    const struct constant *splat =
        constant_splat(f->arena, DTYPE_INT64, &shape, (struct number){.i = 1});
    assert_true(constant_equal(a, constant_ints(f->arena, DTYPE_INT64, &shape, elements)));
    assert_false(constant_equal(a, constant_ints(f->arena, DTYPE_INT64, &shape, others)));
    assert_false(constant_equal(a, constant_ints(f->arena, DTYPE_INT64, &other, elements)));
    assert_false(constant_equal(a, constant_ints(f->arena, DTYPE_INT32, &shape, elements)));
    assert_false(constant_equal(a, splat));
    assert_false(constant_equal(a, NULL));
    assert_true(constant_equal(NULL, NULL));
}

static void loads_an_empty_tensor(void **state) {
    const struct fixture *f = *state;
    int64_t dims[] = {3, 0};
    const struct shape shape = {2, dims};
    const struct constant *loaded = NULL;
    const struct constant_reader reader = {read_bytes,
                                           NULL}; /* would crash if it were called */
    struct constant *empty = constant_new(f->arena, DTYPE_INT64, &shape);
    assert_int_equal(empty->n_elements, 0);
    assert_true(constant_has_ints(empty));
    assert_false(constant_has_reals(empty));
    empty->place = CONSTANT_IN_FILE;
    assert_false(constant_has_ints(empty));
    assert_int_equal(constant_load(empty, &reader, f->arena, f->diag, &loaded), CM_OK);
    assert_true(constant_has_ints(loaded));
    assert_non_null(constant_ints(f->arena, DTYPE_INT64, &shape, NULL));
    assert_non_null(constant_reals(f->arena, DTYPE_FLOAT, &shape, NULL));
}

static void reports_out_of_memory(void **state) {
    const struct fixture *f = *state;
    int64_t dims[] = {INT64_MAX / 2};
    const struct shape shape = {1, dims};
    const struct shape unknown = {RANK_UNKNOWN, NULL};
    const int64_t value = 1;
    assert_null(constant_ints(f->arena, DTYPE_INT64, &shape, &value));
    assert_null(constant_ints(f->arena, DTYPE_INT64, &unknown, &value));
}

static const struct {
    enum dtype dtype;
    uint64_t bits;
    double want;
} widened[] = {
    {DTYPE_FLOAT16, 0x0000, 0},
    {DTYPE_FLOAT16, 0x0001, 0x1p-24},
    {DTYPE_FLOAT16, 0x03FF, 0x1.FF8p-15},
    {DTYPE_FLOAT16, 0x0400, 0x1p-14},
    {DTYPE_FLOAT16, 0x7BFF, 65504},
    {DTYPE_FLOAT16, 0xFBFF, -65504},
    {DTYPE_FLOAT16, 0x7C00, (double)INFINITY},
    {DTYPE_FLOAT16, 0xFC00, (double)-INFINITY},
    {DTYPE_BFLOAT16, 0x0001, 0x1p-133},
    {DTYPE_BFLOAT16, 0x7F7F, 0x1.FEp127},
    {DTYPE_BFLOAT16, 0x7F80, (double)INFINITY},
    {DTYPE_FLOAT8E4M3FN, 0x7E, 448},
    {DTYPE_FLOAT8E4M3FN, 0x01, 0x1p-9},
    {DTYPE_FLOAT8E4M3FN, 0x80, -0.0},
    {DTYPE_FLOAT8E4M3FNUZ, 0x7F, 240},
    {DTYPE_FLOAT8E4M3FNUZ, 0x01, 0x1p-10},
    {DTYPE_FLOAT8E5M2, 0x7B, 57344},
    {DTYPE_FLOAT8E5M2, 0x7C, (double)INFINITY},
    {DTYPE_FLOAT8E5M2, 0x01, 0x1p-16},
    {DTYPE_FLOAT8E5M2FNUZ, 0x7F, 57344},
    {DTYPE_FLOAT8E5M2FNUZ, 0x01, 0x1p-17},
    {DTYPE_FLOAT8E8M0, 0x00, 0x1p-127},
    {DTYPE_FLOAT8E8M0, 0x7F, 1},
    {DTYPE_FLOAT8E8M0, 0xFE, 0x1p127},
    {DTYPE_FLOAT4E2M1, 0x1, 0.5},
    {DTYPE_FLOAT4E2M1, 0x7, 6},
    {DTYPE_FLOAT4E2M1, 0xF, -6},
    {DTYPE_FLOAT, 0x3F800000, 1},
    {DTYPE_DOUBLE, 0x3FF0000000000000, 1},
};

static const struct {
    enum dtype dtype;
    uint64_t bits;
} not_numbers[] = {
    {DTYPE_FLOAT16, 0x7C01},      {DTYPE_BFLOAT16, 0xFFFF}, {DTYPE_FLOAT8E4M3FN, 0x7F},
    {DTYPE_FLOAT8E4M3FN, 0xFF},   {DTYPE_FLOAT8E5M2, 0x7D}, {DTYPE_FLOAT8E4M3FNUZ, 0x80},
    {DTYPE_FLOAT8E5M2FNUZ, 0x80}, {DTYPE_FLOAT8E8M0, 0xFF}, {DTYPE_INT64, 0},
};

static void widens_small_floats_exactly(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof widened / sizeof widened[0]; i++) {
        const double have = constant_widen(widened[i].dtype, widened[i].bits);
        if (memcmp(&have, &widened[i].want, sizeof have) != 0) {
            fail_msg("%s %#llx: want %g, have %g", dtype_name(widened[i].dtype),
                     (unsigned long long)widened[i].bits, widened[i].want, have);
        }
    }
    for (size_t i = 0; i < sizeof not_numbers / sizeof not_numbers[0]; i++) {
        assert_true(isnan(constant_widen(not_numbers[i].dtype, not_numbers[i].bits)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decodes_every_layout, make, end),
        cmocka_unit_test_setup_teardown(reads_raw_and_external_bytes_alike, make, end),
        cmocka_unit_test_setup_teardown(refuses_a_wrong_length_before_reading, make, end),
        cmocka_unit_test_setup_teardown(refuses_malformed_elements, make, end),
        cmocka_unit_test_setup_teardown(does_not_read_constants_that_are_not_folded, make, end),
        cmocka_unit_test_setup_teardown(returns_the_status_of_the_reader, make, end),
        cmocka_unit_test_setup_teardown(returns_loaded_constants_and_splats_unchanged, make,
                                        end),
        cmocka_unit_test_setup_teardown(does_not_load_unreadable_constants, make, end),
        cmocka_unit_test_setup_teardown(compares_dtypes_shapes_and_elements, make, end),
        cmocka_unit_test_setup_teardown(loads_an_empty_tensor, make, end),
        cmocka_unit_test_setup_teardown(reports_out_of_memory, make, end),
        cmocka_unit_test(widens_small_floats_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
