/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences and optionals: see ops/onnx/sequence.c. The harness cannot spell their types, so
 * the test sets the operands and compares the printed output. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "support/text.h"

#define MAX_INPUTS 3

struct sequence_case {
    const char *op;
    const char *attrs;
    const char *kinds;  /* a letter per input: t tensor, s sequence, o optional */
    const char *inputs; /* the tensors, or elements of sequences */
    const char *output; /* as print_value_info prints it, or part of the message */
};

static void wrap(const char *kinds, size_t n, const struct value_info *const *from,
                 struct value_info *infos) {
    for (size_t i = 0; i < n; i++) {
        infos[i] = value_info_unknown();
        infos[i].element = from[i];
        if (kinds[i] == 's') infos[i].kind = CM_TYPE_SEQUENCE;
        if (kinds[i] == 'o') infos[i].kind = CM_TYPE_OPTIONAL;
        if (kinds[i] == 't' && from[i]) infos[i] = *from[i];
    }
}

static void check_row(const struct sequence_case *row) {
    const struct op_case plain = {
        .op = row->op, .attrs = row->attrs, .inputs = row->inputs, .outputs = "?"};
    struct op_bench *bench = op_bench_open(&plain);
    struct value_info infos[MAX_INPUTS];
    const struct value_info *inputs[MAX_INPUTS];
    struct text text;
    assert_true(bench->context.n_inputs <= MAX_INPUTS);
    wrap(row->kinds, bench->context.n_inputs, bench->context.inputs, infos);
    for (size_t i = 0; i < bench->context.n_inputs; i++) inputs[i] = &infos[i];
    bench->context.inputs = inputs;
    text_init(&text, bench->arena);
    if (bench->context.op->infer(&bench->context) < 0)
        text_append(&text, op_bench_message(bench));
    else
        print_value_info(&bench->context.outputs[0], &text);
    if (!strstr(text_string(&text), row->output))
        fail_msg("%s %s: have %s, want %s", row->op, row->inputs, text_string(&text),
                 row->output);
    op_bench_close(bench);
}

#define CHECK_ROWS(rows)                                                                       \
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i])

static void sequence_keeps_the_common_info_of_its_elements(void **state) {
    static const struct sequence_case rows[] = {
        {"SequenceConstruct-11", NULL, "tt", "float[2,3] float[2,3]", "seq(f32[2,3])"},
        {"SequenceConstruct-11", NULL, "tt", "float[2,3] float[2,4]", "seq(f32[2,?])"},
        {"SequenceConstruct-11", NULL, "tt", "float[2,3] float[2]", "seq(f32[?...])"},
        {"SequenceConstruct-11", NULL, "tt", "float[2] int64[2]", "is float and int64"},
        {"SequenceConstruct-11", NULL, "ts", "float[2] float[2]",
         "the same value is a tensor and a sequence"},
        {"SequenceEmpty-11", "dtype=7", "", "", "seq(i64[?...])"},
        {"SequenceEmpty-11", NULL, "", "", "seq(f32[?...])"},
        {"SequenceEmpty-11", "dtype=99", "", "", "attribute 'dtype' must be an element type"},
        {"SequenceInsert-11", NULL, "st", "float[2,3] float[5,3]", "seq(f32[?,3])"},
        {"SequenceInsert-11", NULL, "tt", "float[2,3] float[5,3]",
         "input 0 is not of kind sequence"},
        {"SequenceErase-11", NULL, "st", "float[2,3] int64[]", "seq(f32[2,3])"},
        {"SequenceAt-11", NULL, "st", "float[2,3] int64[]", "f32[2,3]"},
        {"SequenceAt-11", NULL, "tt", "float[2,3] int64[]", "input 0 is not of kind sequence"},
        {"SequenceLength-11", NULL, "s", "float[2,3]", "i64[]"},
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void split_to_sequence_has_parts_of_one_length_or_unknown(void **state) {
    static const struct sequence_case rows[] = {
        {"SplitToSequence-11", NULL, "t", "float[4,3]", "seq(f32[1,3])"},
        {"SplitToSequence-11", "keepdims=0", "t", "float[4,3]", "seq(f32[3])"},
        {"SplitToSequence-11", "axis=1", "tt", "float[4,6] int64[]={3}", "seq(f32[4,3])"},
        {"SplitToSequence-11", "axis=1", "tt", "float[4,5] int64[]={3}", "seq(f32[4,?])"},
        {"SplitToSequence-11", "axis=1", "tt", "float[4,2] int64[]={3}", "seq(f32[4,2])"},
        {"SplitToSequence-11", "axis=-1", "tt", "float[4,5] int64[2]={3,2}", "seq(f32[4,?])"},
        {"SplitToSequence-11", "axis=1", "tt", "float[4,?] int64[2]={3,3}", "seq(f32[4,3])"},
        {"SplitToSequence-24", "keepdims=0", "tt", "float[4,6] int64[2]", "seq(f32[?,6])"},
        {"SplitToSequence-11", NULL, "t", "float[*]", "seq(f32[?...])"},
        {"SplitToSequence-11", NULL, "tt", "float[4] int64[]={0}", "part 0 of split is 0"},
        {"SplitToSequence-11", "axis=1", "t", "float[4]", "out of range"},
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void concat_from_sequence_has_an_unknown_axis(void **state) {
    static const struct sequence_case rows[] = {
        {"ConcatFromSequence-11", "axis=0", "s", "float[2,3]", "f32[?,3]"},
        {"ConcatFromSequence-11", "axis=-1 new_axis=1", "s", "float[2,3]", "f32[2,3,?]"},
        {"ConcatFromSequence-11", "axis=0", "s", "float[*]", "f32[?...]"},
        {"ConcatFromSequence-11", "axis=2", "s", "float[2,3]", "out of range"},
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void optionals_hold_one_value(void **state) {
    static const struct sequence_case rows[] = {
        {"Optional-15", NULL, "t", "float[2]", "opt(f32[2])"},
        {"Optional-15", NULL, "", "", "opt("},
        {"OptionalGetElement-15", NULL, "o", "float[2]", "f32[2]"},
        {"OptionalGetElement-15", NULL, "t", "float[2]", "input 0 is not of kind optional"},
        {"OptionalGetElement-18", NULL, "t", "float[2]", "f32[2]"},
        {"OptionalHasElement-15", NULL, "o", "float[2]", "b1[]"},
        {"OptionalHasElement-18", NULL, "", "", "b1[]"},
    };
    (void)state;
    CHECK_ROWS(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequence_keeps_the_common_info_of_its_elements),
        cmocka_unit_test(split_to_sequence_has_parts_of_one_length_or_unknown),
        cmocka_unit_test(concat_from_sequence_has_an_unknown_axis),
        cmocka_unit_test(optionals_hold_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
