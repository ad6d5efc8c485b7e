/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on strings: see ops/onnx/string.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void string_operators_keep_the_shape(void **state) {
    static const struct op_case rows[] = {
        GIVES("StringConcat-20", NULL, "string[2,1] string[3]", "string[2,3]"),
        GIVES("RegexFullMatch-20", "pattern=a", "string[2,3]", "bool[2,3]"),
        GIVES("StringNormalizer-10", NULL, "string[4]", "string[4]"),
        GIVES("StringNormalizer-10", "stopwords=[monday]", "string[1,4]", "string[1,?]"),
        GIVES("StringSplit-20", NULL, "string[2,3]", "string[2,3,?] int64[2,3]"),
        GIVES("StringSplit-20", NULL, "string[*]", "string[*] int64[*]"),
        REFUSES("StringNormalizer-10", NULL, "string[2,4]", "string[*]",
                "input 0 must have shape [C] or [1,C], got [2,4]"),
        REFUSES("StringConcat-20", NULL, "string[2] string[3]", "string[*]",
                "shapes [2] and [3] do not broadcast"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void vectorizers_give_one_column_per_word(void **state) {
    static const struct op_case rows[] = {
        GIVES("TfIdfVectorizer-9",
              "ngram_indexes=[0,6,2] ngram_counts=[0] mode=TF max_gram_length=1 "
              "min_gram_length=1 max_skip_count=0",
              "int32[12]", "float[7]"),
        GIVES("TfIdfVectorizer-9",
              "ngram_indexes=[0,1] ngram_counts=[0] mode=TF max_gram_length=1 "
              "min_gram_length=1 max_skip_count=0",
              "int32[?,6]", "float[?,2]"),
        REFUSES("TfIdfVectorizer-9",
                "ngram_indexes=[0,1] ngram_counts=[0] mode=TF max_gram_length=1 "
                "min_gram_length=1 max_skip_count=0",
                "int32[1,2,6]", "float[*]",
                "input 0 must have shape [C] or [B,C], got [1,2,6]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_operators_keep_the_shape),
        cmocka_unit_test(vectorizers_give_one_column_per_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
