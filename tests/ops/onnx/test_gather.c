/* SPDX-License-Identifier: Apache-2.0 */
/* Elements picked by index: see ops/onnx/gather.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void gather_replaces_the_axis_by_the_index_dims(void **state) {
    static const struct op_case rows[] = {
        GIVES("Gather-1", NULL, "float[5,6] int64[2,3]", "float[2,3,6]"),
        GIVES("Gather-11", "axis=-1", "float[5,6] int32[]", "float[5]"),
        GIVES("Gather-13", "axis=1", "float[5,?,7] int64[?]", "float[5,?,7]"),
        GIVES("Gather-13", NULL, "float[*] int64[2]", "float[*]"),
        GIVES("Gather-13", NULL, "float[5] int64[*]", "float[*]"),
        GIVES("Gather-13", NULL, "float[5] int64[0]", "float[0]"),
        REFUSES("Gather-13", "axis=2", "float[5,6] int64[2]", "float[*]", "out of range"),
        REFUSES("Gather-13", NULL, "float[] int64[2]", "float[*]", "out of range for rank 0"),
        REFUSES("Gather-13", NULL,
                "float[2,3] "
                "int64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                "float[*]", "the output would have 65 axes, at most 64 are supported"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void gather_folds_known_elements(void **state) {
    static const struct op_case rows[] = {
        GIVES("Gather-13", NULL, "int64[4]={1,3,224,224} int64[]={1}", "int64[]={3}"),
        GIVES("Gather-13", NULL, "int64[4]={1,3,5,7} int64[2]={-1,0}", "int64[2]={7,1}"),
        GIVES("Gather-13", "axis=1", "int64[2,3]={1,2,3,4,5,6} int64[1,2]={2,0}",
              "int64[2,1,2]={3,1,6,4}"),
        GIVES("Gather-13", NULL, "float[1000,1000]=*2 int64[1]={999}", "float[1,1000]=*2"),
        GIVES("Gather-13", NULL, "int64[4] int64[]={1}", "int64[]=?"),
        REFUSES("Gather-13", NULL, "int64[2]={1,2} int64[]={2}", "int64[]",
                "index 2 is out of range for an axis of 2"),
        REFUSES("Gather-13", NULL, "int64[2]={1,2} int64[]={-3}", "int64[]",
                "index -3 is out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_table_read_by_computed_indices_is_an_embedding(void **state) {
    static const struct op_case rows[] = {
        {.op = "Gather-13",
         .inputs = "float[1024,192]=*0! int64[2,3]",
         .outputs = "float[2,3,192]",
         .describe = "1024, 192",
         .flops = OP_NO_FLOPS},
        {.op = "Gather-13",
         .inputs = "float[1024,192]=*0! int64[1]={5}",
         .outputs = "float[1,192]",
         .describe = ""},
        {.op = "Gather-13",
         .inputs = "float[1024,192] int64[2]",
         .outputs = "float[2,192]",
         .describe = ""},
        {.op = "Gather-13",
         .attrs = "axis=1",
         .inputs = "float[8,192]=*0! int64[2]",
         .outputs = "float[8,2]",
         .describe = ""},
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void gather_elements_has_the_shape_of_its_indices(void **state) {
    static const struct op_case rows[] = {
        GIVES("GatherElements-11", "axis=1", "float[3,3] int64[3,2]", "float[3,2]"),
        GIVES("GatherElements-13", NULL, "float[3,3] int64[?,2]", "float[?,2]"),
        GIVES("GatherElements-13", NULL, "float[3,3] int64[*]", "float[?,?]"),
        GIVES("GatherElements-13", NULL, "float[*] int64[4]", "float[4]"),
        GIVES("GatherElements-13", "axis=1", "int64[2,2]={1,2,3,4} int64[2,2]={0,0,1,-2}",
              "int64[2,2]={1,1,4,3}"),
        REFUSES("GatherElements-13", NULL, "float[3,3] int64[2]", "float[*]",
                "indices have 1 axes"),
        REFUSES("GatherElements-13", NULL, "int64[1,1]={1} int64[1,2]={0,0}", "int64[1,2]",
                "indices [1,2] reach past the data [1,1] on axis 1"),
        REFUSES("GatherElements-13", "axis=2", "float[3,3] int64[3,2]", "float[*]",
                "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void gather_nd_reads_tuples(void **state) {
    static const struct op_case rows[] = {
        GIVES("GatherND-11", NULL, "float[2,3,4] int64[5,2]", "float[5,4]"),
        GIVES("GatherND-11", NULL, "float[2,3,4] int64[5,3]", "float[5]"),
        GIVES("GatherND-12", "batch_dims=1", "float[2,3,4] int64[2,1]", "float[2,4]"),
        GIVES("GatherND-12", NULL, "float[2,?] int64[?,1]", "float[?,?]"),
        GIVES("GatherND-12", NULL, "float[2,3] int64[4,?]", "float[*]"),
        GIVES("GatherND-12", NULL, "float[*] int64[4,1]", "float[*]"),
        GIVES("GatherND-11", NULL, "int64[2,2]={1,2,3,4} int64[2,2]={0,0,1,1}",
              "int64[2]={1,4}"),
        GIVES("GatherND-11", NULL, "int64[2,2]={1,2,3,4} int64[2,1]={1,-2}",
              "int64[2,2]={3,4,1,2}"),
        GIVES("GatherND-12", "batch_dims=1", "int64[2,2,2]={1,2,3,4,5,6,7,8} int64[2,1]={1,0}",
              "int64[2,2]={3,4,5,6}"),
        REFUSES("GatherND-13", NULL, "float[2,3] int64[5,3]", "float[*]",
                "indices [5,3] point with 3 numbers into data [2,3]"),
        REFUSES("GatherND-13", "batch_dims=2", "float[2,3] int64[2,3]", "float[*]",
                "batch_dims 2 does not fit data [2,3] and indices [2,3]"),
        REFUSES("GatherND-13", NULL, "int64[2]={1,2} int64[1,1]={5}", "int64[1]", "index 5"),
        REFUSES("GatherND-13", "batch_dims=1", "int64[2,2]={1,2,3,4} int64[1,1]={0}",
                "int64[1]", "batch axis 0 is 1 in indices, 2 in the data"),
        REFUSES("GatherND-13", NULL, "float[2] int64[]", "float[*]",
                "batch_dims 0 does not fit data [2] and indices []"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_replaces_the_axis_by_the_index_dims),
        cmocka_unit_test(gather_folds_known_elements),
        cmocka_unit_test(a_table_read_by_computed_indices_is_an_embedding),
        cmocka_unit_test(gather_elements_has_the_shape_of_its_indices),
        cmocka_unit_test(gather_nd_reads_tuples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
