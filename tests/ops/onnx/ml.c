/* SPDX-License-Identifier: Apache-2.0 */
/* Classical machine learning: see ops/onnx/ml.c. */
#include "op_harness.h"

const struct op_case cases_ml[] = {
    TITLE("classifiers give one score per class"),
    /* 3 rows x 6 coefficients */
    COSTS("ai.onnx.ml:LinearClassifier-1",
          "coefficients=[1.0,2.0,3.0,4.0,5.0,6.0] classlabels_ints=[1,2,3]", "float[3,2]",
          "int64[3] float[3,3]", 18, 36),
    GIVES("ai.onnx.ml:LinearClassifier-1", "coefficients=[1.0,2.0] classlabels_strings=[a,b]",
          "float[?,1]", "string[?] float[?,2]"),
    COSTS("ai.onnx.ml:LinearRegressor-1", "coefficients=[1.0,2.0,3.0,4.0] targets=2",
          "float[3,2]", "float[3,2]", 12, 24),
    /* 3 rows x 4 support vectors x (2 elements + 1 coefficient) */
    COSTS("ai.onnx.ml:SVMRegressor-1",
          "support_vectors=[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0] "
          "coefficients=[1.0,2.0,3.0,4.0] n_supports=4",
          "float[3,2]", "float[3,1]", 36, 72),
    GIVES("ai.onnx.ml:SVMClassifier-1", "classlabels_ints=[1,2,3]", "float[3,2]",
          "int64[3] float[3,3]"),
    GIVES("ai.onnx.ml:TreeEnsembleClassifier-3", "classlabels_int64s=[0,1]", "float[4,2]",
          "int64[4] float[4,2]"),
    GIVES("ai.onnx.ml:TreeEnsembleRegressor-1", "n_targets=2", "float[4,2]", "float[4,2]"),
    GIVES("ai.onnx.ml:TreeEnsembleRegressor-1", "target_ids=[0,0,4]", "float[4,2]",
          "float[4,5]"),
    TITLE("infers rows of features"),
    GIVES("ai.onnx.ml:ArrayFeatureExtractor-1", NULL, "float[3,5] int64[2]", "float[3,2]"),
    GIVES("ai.onnx.ml:ArrayFeatureExtractor-1", NULL, "float[5] int64[2]", "float[1,2]"),
    GIVES("ai.onnx.ml:Binarizer-1", NULL, "float[3,5]", "float[3,5]"),
    GIVES("ai.onnx.ml:Imputer-1", NULL, "int64[3,5]", "int64[3,5]"),
    GIVES("ai.onnx.ml:Normalizer-1", NULL, "int64[3,5]", "float[3,5]"),
    GIVES("ai.onnx.ml:Scaler-1", NULL, "double[3,5]", "float[3,5]"),
    GIVES("ai.onnx.ml:OneHotEncoder-1", "cats_int64s=[1,2,3]", "int64[3,5]", "float[3,5,3]"),
    GIVES("ai.onnx.ml:FeatureVectorizer-1", "inputdimensions=[2,3]", "float[4,2] int64[4,3]",
          "float[4,5]"),
    GIVES("ai.onnx.ml:CategoryMapper-1", NULL, "string[3]", "int64[3]"),
    GIVES("ai.onnx.ml:CategoryMapper-1", NULL, "int64[3]", "string[3]"),
    GIVES("ai.onnx.ml:LabelEncoder-1", NULL, "string[3]", "int64[3]"),
    GIVES("ai.onnx.ml:LabelEncoder-2", "keys_strings=[a] values_floats=[1.0]", "string[3]",
          "float[3]"),
    GIVES("ai.onnx.ml:LabelEncoder-4", "values_tensor=int64[2]={3,4}", "float[3]", "int64[3]"),
    GIVES("ai.onnx.ml:CastMap-1", "map_form=SPARSE max_map=5 cast_to=TO_INT64", "?",
          "int64[1,5]"),
    GIVES("ai.onnx.ml:CastMap-1", NULL, "?", "float[1,?]"),
    REFUSES("ai.onnx.ml:LabelEncoder-2", NULL, "string[3]", "?",
            "no attribute gives the values of the labels"),
    REFUSES("ai.onnx.ml:CastMap-1", "cast_to=TO_BOOL", "?", "?",
            "cast_to is none of TO_FLOAT, TO_INT64, TO_STRING"),
    /* Computed by hand from the formulas of the ONNX operator definitions. */
    TITLE("exact counts each operation once"),
    COUNTS("ai.onnx.ml:LinearClassifier-1",
           "coefficients=[1.0,2.0,3.0,4.0,5.0,6.0] intercepts=[1.0,2.0,3.0] "
           "classlabels_ints=[1,2,3]",
           "float[3,2]", "int64[3] float[3,3]", {"exact", 36 + 9}),
    COUNTS("ai.onnx.ml:TreeEnsembleRegressor-1", "n_targets=1 nodes_treeids=[0,0,0,1,1,1]",
           "float[4,2]", "float[4,1]", {"exact", 4 * 2}),
    {.op = NULL},
};
