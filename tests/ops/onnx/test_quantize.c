/* SPDX-License-Identifier: Apache-2.0 */
/* Quantization: see ops/onnx/quantize.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void quantizing_changes_the_type_only(void **state) {
    static const struct op_case rows[] = {

        GIVES("QuantizeLinear-10", NULL, "float[1,3,8] float[] uint8[]", "uint8[1,3,8]"),
        GIVES("QuantizeLinear-13", "axis=1", "float[1,3,8] float[3] int8[3]", "int8[1,3,8]"),
        GIVES("QuantizeLinear-13", NULL, "float[1,3,8] float[]", "uint8[1,3,8]"),
        GIVES("QuantizeLinear-21", "output_dtype=5", "float[1,3,8] float[]", "int16[1,3,8]"),
        GIVES("DequantizeLinear-10", NULL, "uint8[1,3,8] float[] uint8[]", "float[1,3,8]"),
        GIVES("DequantizeLinear-19", NULL, "int8[1,?] float16[]", "float16[1,?]"),
        GIVES("DequantizeLinear-23", "output_dtype=10", "int8[*] float[]", "float16[*]"),
        GIVES("DynamicQuantizeLinear-11", NULL, "float[2,3]", "uint8[2,3] float[] uint8[]"),
        REFUSES("QuantizeLinear-13", "axis=1", "float[1,3,8] float[4] int8[4]", "int8[*]",
                "4 scales for axis 1 of [1,3,8]"),
        REFUSES("QuantizeLinear-13", "axis=3", "float[1,3,8] float[3]", "int8[*]",
                "axis 3 is out of range"),
        REFUSES("DequantizeLinear-13", NULL, "int8[1,3] float[] uint8[]", "float[*]",
                "the zero point is of type uint8, the input of int8"),
        COSTS("QuantizeLinear-10", NULL, "float[1,3,8] float[] uint8[]", "uint8[1,3,8]",
              OP_NO_MACS, OP_NO_FLOPS),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void products_of_quantized_operands_cost_like_float_products(void **state) {
    static const struct op_case rows[] = {

        COSTS("QLinearConv-10", "pads=[1,1,1,1]",
              "uint8[1,3,8,8] float[] uint8[] int8[4,3,3,3] float[4] int8[4] float[] int8[] "
              "int32[4]",
              "int8[1,4,8,8]", 6912, 14080),
        COSTS("ConvInteger-10", NULL, "uint8[1,1,3,3] uint8[2,1,2,2] uint8[]", "int32[1,2,2,2]",
              32, 64),
        COSTS("QLinearMatMul-10", NULL,
              "uint8[2,4] float[] uint8[] uint8[4,3] float[] uint8[] float[] uint8[]",
              "uint8[2,3]", 24, 48),
        COSTS("MatMulInteger-10", NULL, "uint8[2,4] int8[4,3]", "int32[2,3]", 24, 48),
        REFUSES("QLinearConv-10", NULL,
                "uint8[1,3,8,8] float[] uint8[] int8[4,2,3,3] float[4] int8[4] float[] int8[]",
                "int8[*]", "input has 3 channels, weight expects 2 x 1 groups"),
        REFUSES("MatMulInteger-10", NULL, "uint8[2,4] int8[3,3]", "int32[*]",
                "the inner axes of [2,4] and [3,3] differ"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantizing_changes_the_type_only),
        cmocka_unit_test(products_of_quantized_operands_cost_like_float_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
