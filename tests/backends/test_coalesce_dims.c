/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of merging contiguous dims. */
#include "backends/coalesce_dims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static struct coalesced expect(const struct cm_tensor *a, const struct cm_tensor *b,
                               const struct cm_tensor *shape, int rank, const int64_t *dims) {
    const struct cm_tensor *const both[] = {a, b};
    struct coalesced got;
    assert_true(coalesce_dims(both, 2, shape, &got));
    assert_int_equal(got.rank, rank);
    assert_memory_equal(got.dims, dims, (size_t)rank * sizeof(*dims));
    return got;
}

static void coalesces_equal_shapes_to_one_dim(void **state) {
    (void)state;
    const struct cm_tensor x = fixture_tensor(CM_F32, 4, (const int64_t[]){2, 64, 56, 1});
    const struct coalesced got = expect(&x, &x, &x, 1, (const int64_t[]){7168});
    assert_int_equal(got.operand_dims[0][0], 7168);
    assert_int_equal(got.strides[1][0], 1);
}

static void coalesces_channel_bias_to_three_dims(void **state) {
    (void)state;
    const struct cm_tensor x = fixture_tensor(CM_F32, 4, (const int64_t[]){2, 64, 56, 56});
    const struct cm_tensor bias = fixture_tensor(CM_F32, 3, (const int64_t[]){64, 1, 1});
    const struct coalesced got = expect(&x, &bias, &x, 3, (const int64_t[]){2, 64, 3136});
    assert_memory_equal(got.operand_dims[1], ((const int64_t[]){1, 64, 1}),
                        3 * sizeof(int64_t));
    assert_memory_equal(got.strides[0], ((const int64_t[]){200704, 3136, 1}),
                        3 * sizeof(int64_t));
    assert_memory_equal(got.strides[1], ((const int64_t[]){64, 1, 1}), 3 * sizeof(int64_t));
}

static void coalesces_last_dim_bias_to_two_dims(void **state) {
    (void)state;
    const struct cm_tensor x = fixture_tensor(CM_F32, 3, (const int64_t[]){8, 197, 768});
    const struct cm_tensor bias = fixture_tensor(CM_F32, 1, (const int64_t[]){768});
    (void)expect(&x, &bias, &x, 2, (const int64_t[]){1576, 768});
}

static void keeps_transposed_dims_apart(void **state) {
    (void)state;
    const struct cm_tensor y = fixture_tensor(CM_F32, 4, (const int64_t[]){2, 56, 56, 64});
    struct cm_tensor x = y;
    memcpy(x.strides, ((const int64_t[]){200704, 56, 1, 3136}), 4 * sizeof(int64_t));
    const struct coalesced got = expect(&x, &y, &y, 3, (const int64_t[]){2, 3136, 64});
    assert_memory_equal(got.strides[0], ((const int64_t[]){200704, 1, 3136}),
                        3 * sizeof(int64_t));
}

static void coalesces_one_element_to_one_dim(void **state) {
    (void)state;
    const struct cm_tensor scalar = fixture_tensor(CM_F32, 0, (const int64_t[]){0});
    const struct cm_tensor ones = fixture_tensor(CM_F32, 3, (const int64_t[]){1, 1, 1});
    (void)expect(&scalar, &ones, &ones, 1, (const int64_t[]){1});
}

static void rejects_operands_that_do_not_broadcast(void **state) {
    (void)state;
    const struct cm_tensor x = fixture_tensor(CM_F32, 2, (const int64_t[]){4, 6});
    const struct cm_tensor y = fixture_tensor(CM_F32, 1, (const int64_t[]){4});
    const struct cm_tensor *const both[] = {&x, &y};
    struct coalesced got;
    assert_false(coalesce_dims(both, 2, &x, &got));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coalesces_equal_shapes_to_one_dim),
        cmocka_unit_test(coalesces_channel_bias_to_three_dims),
        cmocka_unit_test(coalesces_last_dim_bias_to_two_dims),
        cmocka_unit_test(keeps_transposed_dims_apart),
        cmocka_unit_test(coalesces_one_element_to_one_dim),
        cmocka_unit_test(rejects_operands_that_do_not_broadcast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
