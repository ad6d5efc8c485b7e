/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic of single nodes; tests/passes tests it in graphs. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/flops/conventions.h"
#include "ops/flops/names/convention_names.h"
#include "ops/integers.h"
#include "ops/product.h"
#include "support/checked.h"

struct integer_case {
    struct op_case node;
    int64_t macs;    /* integer MACs */
    int64_t flops;   /* by convention exact, without int_ops */
    int64_t int_ops; /* by convention exact */
};

static int64_t sum_by(const char *name, const struct op_context *context,
                      const struct integers *integers, bool of_integers) {
    struct convention_term terms[CONVENTION_TERMS];
    const size_t n = convention_terms(convention_find(name), context, integers, terms);
    return convention_sum(terms, n, of_integers);
}

static void check(const struct integer_case *row, const char *what, int64_t have,
                  int64_t want) {
    if (have != want)
        fail_msg("%s of %s: %lld, not %lld", what, row->node.inputs, (long long)have,
                 (long long)want);
}

static void run_case(const struct integer_case *row) {
    struct op_bench *bench = op_bench_open(&row->node);
    const int64_t macs = op_bench_macs(bench);
    assert_int_equal(bench->status, CM_OK);
    const struct integers integers = integers_of(&bench->context, macs);
    check(row, row->node.op, integers.macs, row->macs);
    check(row, "all MACs", integers_total(&integers), macs);
    check(row, "flops", sum_by("exact", &bench->context, &integers, false), row->flops);
    check(row, "int_ops", sum_by("exact", &bench->context, &integers, true), row->int_ops);
    op_bench_close(bench);
}

#define RUN_CASES(rows)                                                                        \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) run_case(&(rows)[i])

#define NODE(op_, attrs_, inputs_, outputs_)                                                   \
    { .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_ }

static void integer_operands_and_result_count_as_integer_arithmetic(void **state) {
    static const struct integer_case rows[] = {
        /* 4 x 8 x 8 = 256 outputs of 3 x 3 x 3 = 27 MACs; 256 additions of int32 biases */
        {NODE("QLinearConv-10", "pads=[1,1,1,1]",
              "uint8[1,3,8,8] float[] uint8[] int8[4,3,3,3] float[4] int8[4] float[] int8[] "
              "int32[4]",
              "int8[1,4,8,8]"),
         6912, 0, 2 * 6912 + 256},
        {NODE("ConvInteger-10", NULL, "uint8[1,3,8,8] uint8[4,3,3,3]", "int32[1,4,6,6]"),
         144 * 27, 0, 2 * 144 * 27},
        {NODE("MatMulInteger-10", NULL, "uint8[2,3] int8[3,4]", "int32[2,4]"), 24, 0, 48},
        {NODE("QLinearMatMul-10", NULL,
              "uint8[2,3] float[] uint8[] int8[3,4] float[] int8[] float[] uint8[]",
              "uint8[2,4]"),
         24, 0, 48},
        {NODE("com.microsoft:MatMulInteger16-1", NULL, "int16[2,3] int16[3,4]", "int32[2,4]"),
         24, 0, 48},
        {NODE("MatMul-13", NULL, "int32[2,3] int32[3,4]", "int32[2,4]"), 24, 0, 48},
        {NODE("Add-14", NULL, "int64[2,4] int64[4]", "int64[2,4]"), 0, 0, 8},
        {NODE("ReduceSum-13", NULL, "int64[2,4]", "int64[1,1]"), 0, 0, 8 - 1},
        /* 9 windows of 4; a maximum of 4 takes 3 comparisons */
        {NODE("MaxPool-12", "kernel_shape=[2,2]", "uint8[1,1,4,4]", "uint8[1,1,3,3]"), 0, 0,
         9 * 3},
        {NODE("ArgMax-13", "axis=1", "int32[2,8]", "int64[2,1]"), 0, 0, 16 - 2},
        {NODE("com.microsoft:MulInteger-1", NULL, "uint8[2,4] uint8[] uint8[2,4] uint8[]",
              "int32[2,4]"),
         0, 0, 8},
        /* an unknown dim makes integer operations unknown; FLOPs stay 0 */
        {NODE("MatMulInteger-10", NULL, "uint8[?,3] int8[3,4]", "int32[?,4]"), DIM_UNKNOWN, 0,
         DIM_UNKNOWN},
        {NODE("MatMulInteger-10", NULL, "uint8[0,3] int8[3,4]", "int32[0,4]"), 0, 0, 0},
    };
    (void)state;
    RUN_CASES(rows);
}

static void other_operators_count_as_floating_point(void **state) {
    static const struct integer_case rows[] = {
        {NODE("MatMul-13", NULL, "float[2,3] float[3,4]", "float[2,4]"), 0, 48, 0},
        {NODE("Add-14", NULL, "float[2,4] float[4]", "float[2,4]"), 0, 8, 0},
        {NODE("ArgMax-13", "axis=1", "float[2,8]", "int64[2,1]"), 0, 16 - 2, 0},
        /* quantize: divide, round, add the zero point; dequantize: subtract it, multiply */
        {NODE("QuantizeLinear-13", NULL, "float[2,4] float[] uint8[]", "uint8[2,4]"), 0, 24, 0},
        {NODE("QuantizeLinear-13", NULL, "int32[2,4] float[] uint8[]", "uint8[2,4]"), 0, 24, 0},
        {NODE("DequantizeLinear-13", NULL, "uint8[2,4] float[] uint8[]", "float[2,4]"), 0, 16,
         0},
        /* only the float function counts, not the dequantizing and quantizing around it */
        {NODE("com.microsoft:QLinearAdd-1", NULL,
              "uint8[2,4] float[] uint8[] uint8[4] float[] uint8[] float[] uint8[]",
              "uint8[2,4]"),
         0, 8, 0},
        {NODE("com.microsoft:QLinearSigmoid-1", NULL,
              "uint8[2,4] float[] uint8[] float[] uint8[]", "uint8[2,4]"),
         0, 4 * 8, 0},
        /* packed weights are dequantized first, even if a runtime multiplies integers */
        {NODE("com.microsoft:MatMulNBits-1", "K=64 N=48 bits=4 block_size=32 accuracy_level=4",
              "float[5,64] uint8[48,2,16] float[48,2]", "float[5,48]"),
         0, 2 * 15360, 0},
        {NODE("ai.onnx.ml:LinearClassifier-1",
              "coefficients=[1.0,2.0,3.0,4.0,5.0,6.0] classlabels_ints=[1,2,3]", "int64[3,2]",
              "int64[3] float[3,3]"),
         0, 36, 0},
        /* each of 64 outputs: 4 neighbours, 4 multiplications and 3 additions */
        {NODE("Resize-13", "mode=linear", "uint8[1,1,4,4] - float[4]={1,1,2,2}",
              "uint8[1,1,8,8]"),
         0, 64 * 7, 0},
        /* an unknown dim makes FLOPs unknown; integer operations stay 0 */
        {NODE("MatMul-13", NULL, "float[?,3] float[3,4]", "float[?,4]"), 0, DIM_UNKNOWN, 0},
    };
    (void)state;
    RUN_CASES(rows);
}

static void scaled_operators_split_integer_macs_from_the_rest(void **state) {
    static const struct integer_case rows[] = {
        /* 8 biases are added after the scale; in QGemm before the scale */
        {NODE("com.microsoft:MatMulIntegerToFloat-1", NULL,
              "uint8[2,3] int8[3,4] float[] float[] - - float[4]", "float[2,4]"),
         24, 8, 48},
        {NODE("com.microsoft:DynamicQuantizeMatMul-1", NULL,
              "float[2,3] int8[3,4] float[] - float[4]", "float[2,4]"),
         24, 8, 48},
        {NODE("com.microsoft:QGemm-1", NULL,
              "uint8[2,3] float[] uint8[] uint8[3,4] float[] uint8[] int32[4]", "float[2,4]"),
         24, 0, 48 + 8},
        {NODE("com.microsoft:QGemm-1", NULL,
              "uint8[2,3] float[] uint8[] uint8[3,4] float[] uint8[]", "float[2,4]"),
         24, 0, 48},
        {NODE("com.microsoft:QOrderedMatMul-1", "order_A=1 order_B=0 order_Y=1",
              "int8[1,3,16] float[] int8[16,32]! float[] float[]", "int8[1,3,32]"),
         3 * 32 * 16, 0, 2 * 3 * 32 * 16},
        {NODE("com.microsoft:DynamicQuantizeLSTM-1", "hidden_size=5",
              "float[3,2,4] uint8[1,4,20]! uint8[1,5,20]! - - - - - float[1]! uint8[1]! "
              "float[1]! uint8[1]!",
              "float[3,1,2,5]"),
         3 * 2 * 20 * 9, 0, 2 * 3 * 2 * 20 * 9},
        /*
         * Integer MACs: the projection, 10 tokens x 16 x 48. FLOPs: 2 x 4 x 5 x 5 = 200 scores
         * with 4 MACs for keys and 4 for values each; scale and softmax take 6 per score, less
         * 2 per row.
         */
        {NODE("com.microsoft:QAttention-1", "num_heads=4",
              "uint8[2,5,16] int8[16,48] float[48] float[] float[] - uint8[] int8[]",
              "float[2,5,16]"),
         7680, 2 * 1600 + 6 * 200 - 2 * 40, 2 * 7680},
    };
    (void)state;
    RUN_CASES(rows);
}

/* The FLOPs of a tool include integer operations, which are also reported separately. */
static void tool_conventions_ignore_dtypes(void **state) {
    static const struct op_case node =
        NODE("MatMulInteger-10", NULL, "uint8[2,3] int8[3,4]", "int32[2,4]");
    struct op_bench *bench = op_bench_open(&node);
    const struct integers integers = integers_of(&bench->context, op_bench_macs(bench));
    (void)state;
    for (size_t i = 0; conventions_at(i); i++) {
        const struct convention *convention = convention_find(conventions_at(i)->name);
        const bool tells = conventions_at(i)->separates_integers;
        assert_int_equal(tells, i == 1); /* exact */
        assert_int_equal(sum_by(convention->name, &bench->context, &integers, false),
                         tells ? 0 : 24 * convention->per_mac);
        assert_int_equal(sum_by(convention->name, &bench->context, &integers, true), 48);
    }
    op_bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operands_and_result_count_as_integer_arithmetic),
        cmocka_unit_test(other_operators_count_as_floating_point),
        cmocka_unit_test(scaled_operators_split_integer_macs_from_the_rest),
        cmocka_unit_test(tool_conventions_ignore_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
