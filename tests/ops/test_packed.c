/* SPDX-License-Identifier: Apache-2.0 */
/* The number of packed elements of an operand, operator by operator. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "ops/packed.h"

struct packed_case {
    struct op_case node;
    size_t slot;
    int64_t numbers;
};

#define CONTRIB(op_, attrs_, inputs_, outputs_)                                                \
    { .op = "com.microsoft:" op_ "-1", .attrs = attrs_, .inputs = inputs_, .outputs = outputs_ }

static void counts_packed_numbers_individually(void **state) {
    static const struct packed_case rows[] = {
        /* 48 columns of 64 numbers in 2 x 16 bytes each */
        {CONTRIB("MatMulNBits", "K=64 N=48 bits=4 block_size=32",
                 "float[2,5,64] uint8[48,2,16] float[48,2]", "float[2,5,48]"),
         1, 64 * 48},
        {CONTRIB("MatMulBnb4", "K=64 N=48 block_size=32 quant_type=1",
                 "float16[10,64] uint8[1536] float16[96]", "float16[10,48]"),
         1, 64 * 48},
        /* the scales are not packed */
        {CONTRIB("MatMulNBits", "K=64 N=48 bits=4 block_size=32",
                 "float[2,5,64] uint8[48,2,16] float[48,2]", "float[2,5,48]"),
         2, 48 * 2},
        {CONTRIB("GatherBlockQuantized", "bits=4 block_size=16",
                 "uint8[10,8] int64[2] float[10,1]", "float[2,16]"),
         0, 10 * 16},
        {CONTRIB("GatherBlockQuantized", "bits=8 block_size=16",
                 "uint8[10,16] int64[2] float[10,1]", "float[2,16]"),
         0, 10 * 16},
        /* dtypes of 4 bits: each element is one number */
        {CONTRIB("GatherBlockQuantized", "bits=4 block_size=16",
                 "int4[10,16] int64[2] float[10,1]", "float[2,16]"),
         0, 10 * 16},
        {CONTRIB(
             "QMoE", "k=2",
             "float[10,16] float[10,8] uint8[8,24,8] float[8,24] - uint8[8,16,12] float[8,16]",
             "float[10,16]"),
         2, 8 * 24 * 16},
        {CONTRIB("QMoE", "k=2 expert_weight_bits=8",
                 "float[10,16] float[10,8] uint8[8,24,16] float[8,24] - uint8[8,16,24] "
                 "float[8,16]",
                 "float[10,16]"),
         5, 8 * 16 * 24},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct op_bench *bench = op_bench_open(&rows[i].node);
        if (bench->status != CM_OK) fail_msg("row %zu is refused", i);
        assert_int_equal(packed_numbers(&bench->context, rows[i].slot), rows[i].numbers);
        op_bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_packed_numbers_individually),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
