/* SPDX-License-Identifier: Apache-2.0 */
/* Cast and CastLike: see ops/onnx/cast.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void cast_changes_only_the_dtype(void **state) {
    static const struct op_case rows[] = {
        GIVES("Cast-1", "to=INT64", "float[2,?]", "int64[2,?]"),
        GIVES("Cast-6", "to=7", "float[2,3]", "int64[2,3]"),
        GIVES("Cast-9", "to=10", "float[*]", "float16[*]"),
        GIVES("Cast-19", "to=17 saturate=0", "float[2]", "float8e4m3fn[2]"),
        GIVES("Cast-24", "to=1", "?", "float[*]"),
        GIVES("CastLike-15", NULL, "float[2,3] int32[7]", "int32[2,3]"),
        GIVES("CastLike-19", NULL, "float[2,3] ?", "undefined[2,3]"),
        GIVES("BitCast-26", "to=6", "float[2,3]", "int32[2,3]"),
        REFUSES("Cast-13", "to=99", "float[2]", "float[2]",
                "attribute 'to' names no element type"),
        REFUSES("Cast-1", "to=NOTHING", "float[2]", "float[2]",
                "attribute 'to' names no element type"),
        REFUSES("BitCast-26", "to=7", "float[2]", "float[2]",
                "cannot see 32 bits of float as 64 bits of int64"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void cast_folds_if_all_runtimes_agree(void **state) {
    static const struct op_case rows[] = {
        GIVES("Cast-13", "to=7", "float[4]={1.9,-1.9,0,3}", "int64[4]={1,-1,0,3}"),
        GIVES("Cast-13", "to=1", "int64[2]={3,-4}", "float[2]={3,-4}"),
        GIVES("Cast-13", "to=1", "int64[1]={16777217}", "float[1]={16777216}"),
        GIVES("Cast-13", "to=9", "float[3]={0,0.5,-1}", "bool[3]={0,1,1}"),
        GIVES("Cast-13", "to=9", "int64[2]={0,7}", "bool[2]={0,1}"),
        GIVES("Cast-13", "to=7", "bool[2]={0,1}", "int64[2]={0,1}"),
        GIVES("Cast-13", "to=6", "int64[1]={9223372036854775807}", "int32[1]={-1}"),
        GIVES("Cast-13", "to=2", "int64[2]={-1,300}", "uint8[2]={255,44}"),
        GIVES("Cast-13", "to=3", "int64[2]={200,-200}", "int8[2]={-56,56}"),
        GIVES("Cast-13", "to=7", "float[100000]=*2.5", "int64[100000]=*2"),
        GIVES("Cast-13", "to=7", "int64[2]={1,2}", "int64[2]={1,2}"),
        GIVES("CastLike-15", NULL, "float[1]={2.5} int64[9]", "int64[1]={2}"),
        GIVES("CastLike-15", NULL, "float[1] int64[1]={1}", "int64[1]=?"),
        /* out of range or NaN: unknown; float16: rounded */
        GIVES("Cast-13", "to=6", "float[1]={3e9}", "int32[1]=?"),
        GIVES("Cast-13", "to=7", "float[1]={1e19}", "int64[1]=?"),
        GIVES("Cast-13", "to=7", "float[1]={nan}", "int64[1]=?"),
        GIVES("Cast-13", "to=10", "float[1]={0.1}", "float16[1]={0.0999755859375}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cast_changes_only_the_dtype),
        cmocka_unit_test(cast_folds_if_all_runtimes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
