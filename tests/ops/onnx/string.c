/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on strings: see ops/onnx/string.c. */
#include "op_harness.h"

const struct op_case cases_string[] = {
    TITLE("string operators keep the shape"),
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
    TITLE("vectorizers give one column per word"),
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
            "int32[1,2,6]", "float[*]", "input 0 must have shape [C] or [B,C], got [1,2,6]"),
    {.op = NULL},
};
