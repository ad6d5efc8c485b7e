/* SPDX-License-Identifier: Apache-2.0 */
/* Checked int64 arithmetic with the sentinels for unknown and overflow. */
#include "support/checked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "costmodel/result.h"

typedef int64_t operation(int64_t a, int64_t b);

struct row {
    const char *name;
    operation *operation;
    int64_t a;
    int64_t b;
    int64_t want;
};

#define U   DIM_UNKNOWN
#define O   DIM_OVERFLOW
#define MAX INT64_MAX
#define MIN (INT64_MIN + 2) /* the smallest value above the sentinels */

/* clang-format off */
static const struct row rows[] = {
    /* what                        operation           a     b     want */
    {"sum",                        checked_add,        2,    3,    5},
    {"sum past the top",           checked_add,        MAX,  1,    O},
    {"sum past the bottom",        checked_add,        MIN,  -3,   O},
    {"sum onto a sentinel",        checked_add,        MIN,  -1,   O},
    {"sum onto the other one",     checked_add,        MIN,  -2,   O},
    {"sum of unknown",             checked_add,        U,    1,    U},
    {"sum of overflow",            checked_add,        1,    O,    O},
    {"overflow over unknown",      checked_add,        U,    O,    O},
    {"difference",                 checked_sub,        2,    3,    -1},
    {"difference past the top",    checked_sub,        MAX,  -1,   O},
    {"difference past the bottom", checked_sub,        MIN,  1,    O},
    {"unknown less itself",        checked_sub,        U,    U,    U},
    {"product",                    checked_mul,        -4,   3,    -12},
    {"product past the top",       checked_mul,        MAX,  2,    O},
    {"product of 2^31 and 2^32",   checked_mul,        1LL << 31, 1LL << 32, O},
    {"product onto a sentinel",    checked_mul,        INT64_MIN / 2, 2, O},
    {"nothing of unknown",         checked_mul,        0,    U,    0},
    {"unknown of nothing",         checked_mul,        U,    0,    0},
    {"nothing of overflow",        checked_mul,        0,    O,    O},
    {"overflow of nothing",        checked_mul,        O,    0,    O},
    {"product of unknown",         checked_mul,        U,    7,    U},
    {"unknown times overflow",     checked_mul,        U,    O,    O},
    {"floor",                      checked_div_floor,  7,    2,    3},
    {"floor below nothing",        checked_div_floor,  -7,   2,    -4},
    {"floor by a negative",        checked_div_floor,  7,    -2,   -4},
    {"floor of two negatives",     checked_div_floor,  -7,   -2,   3},
    {"floor that divides",         checked_div_floor,  -8,   2,    -4},
    {"floor by -1",                checked_div_floor,  7,    -1,   -7},
    {"floor onto a sentinel",      checked_div_floor,  MAX,  -1,   O},
    {"floor by nothing",           checked_div_floor,  7,    0,    O},
    {"floor of unknown",           checked_div_floor,  U,    2,    U},
    {"floor by unknown",           checked_div_floor,  2,    U,    U},
    {"ceiling",                    checked_div_ceil,   7,    2,    4},
    {"ceiling below nothing",      checked_div_ceil,   -7,   2,    -3},
    {"ceiling that divides",       checked_div_ceil,   8,    2,    4},
    {"ceiling of the largest",     checked_div_ceil,   MAX,  2,    MAX / 2 + 1},
    {"ceiling by a negative",      checked_div_ceil,   7,    -2,   -3},
    {"ceiling by -1",              checked_div_ceil,   -7,   -1,   7},
    {"ceiling of nothing",         checked_div_ceil,   0,    5,    0},
    {"ceiling by nothing",         checked_div_ceil,   0,    0,    O},
    {"ceiling of overflow",        checked_div_ceil,   O,    3,    O},
};
/* clang-format on */

static void reports_overflow_of_each_operation(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t have = rows[i].operation(rows[i].a, rows[i].b);
        if (have != rows[i].want) {
            fail_msg("%s: want %lld, have %lld", rows[i].name, (long long)rows[i].want,
                     (long long)have);
        }
    }
}

static void sentinels_equal_those_of_the_public_header(void **state) {
    (void)state;
    assert_false(is_known(DIM_UNKNOWN));
    assert_false(is_known(DIM_OVERFLOW));
    assert_true(is_known(MIN));
    assert_true(is_known(-1));
    assert_true(is_overflow(DIM_OVERFLOW));
    assert_false(is_overflow(DIM_UNKNOWN));
    assert_true(DIM_UNKNOWN == CM_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_overflow_of_each_operation),
        cmocka_unit_test(sentinels_equal_those_of_the_public_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
