/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no primitive does, each with the reason that a report gives. Views, shape arithmetic and
 * control flow are not here: they do nothing themselves, and their rows of operators say so.
 */
#include "ops/lowering.h"

#include "support/banned.h"

#define SORTS     "how much it does hangs on the numbers: no primitive sorts or selects"
#define SAMPLES   "it samples at places that it computes: no primitive does"
#define WRITES    "it reads nothing: no primitive only writes"
#define RANDOM    "no primitive draws random numbers"
#define SEQUENCES "sequences have no primitive"
#define TEXTS     "no primitive works on texts"
#define LEARNERS  "no primitive has the learners of ai.onnx.ml"
#define STEPS     "no primitive is a step of an optimizer"
#define SPECTRA   "no primitive transforms to frequencies"
#define LOSSES    "a softmax, a selection and a reduction are more than one primitive"

#define NONE(type, why)                                                                        \
    { type, NULL, CM_PRIMITIVE_NONE, 0, IMAGES_NONE, why }

const struct lowering_row lowering_none[] = {
    NONE("Compress", SORTS),
    NONE("NonMaxSuppression", SORTS),
    NONE("NonZero", SORTS),
    NONE("TopK", SORTS),
    NONE("Unique", SORTS),
    NONE("AffineGrid", SAMPLES),
    NONE("DeformConv", SAMPLES),
    NONE("GridSample", SAMPLES),
    NONE("MaxRoiPool", SAMPLES),
    NONE("RoiAlign", SAMPLES),
    NONE("MaxUnpool", "it puts elements where indices say: no primitive does without updates"),
    NONE("Constant", WRITES),
    NONE("ConstantOfShape", WRITES),
    NONE("EyeLike", WRITES),
    NONE("OneHot", "no primitive writes a table by indices alone"),
    NONE("Range", WRITES),
    NONE("Bernoulli", RANDOM),
    NONE("Multinomial", RANDOM),
    NONE("RandomNormal", RANDOM),
    NONE("RandomNormalLike", RANDOM),
    NONE("RandomUniform", RANDOM),
    NONE("RandomUniformLike", RANDOM),
    NONE("Col2Im", "it sums where blocks overlap: no primitive does"),
    NONE("CumProd", "no primitive runs products along an axis"),
    NONE("CumSum", "no primitive runs sums along an axis"),
    NONE("GlobalLpPool", "no primitive pools by a norm"),
    NONE("LpPool", "no primitive pools by a norm"),
    NONE("LpNormalization", "a reduction and what hangs on it are two primitives"),
    NONE("Hardmax", "a reduction and what hangs on it are two primitives"),
    NONE("Shrink", "no primitive has its function"),
    NONE("ConcatFromSequence", SEQUENCES),
    NONE("Optional", SEQUENCES),
    NONE("OptionalGetElement", SEQUENCES),
    NONE("OptionalHasElement", SEQUENCES),
    NONE("SequenceAt", SEQUENCES),
    NONE("SequenceConstruct", SEQUENCES),
    NONE("SequenceEmpty", SEQUENCES),
    NONE("SequenceErase", SEQUENCES),
    NONE("SequenceInsert", SEQUENCES),
    NONE("SplitToSequence", SEQUENCES),
    NONE("BlackmanWindow", WRITES),
    NONE("HammingWindow", WRITES),
    NONE("HannWindow", WRITES),
    NONE("MelWeightMatrix", WRITES),
    NONE("ImageDecoder", "no primitive decodes files"),
    NONE("DFT", SPECTRA),
    NONE("STFT", SPECTRA),
    NONE("StringConcat", TEXTS),
    NONE("StringNormalizer", TEXTS),
    NONE("StringSplit", TEXTS),
    NONE("RegexFullMatch", TEXTS),
    NONE("TfIdfVectorizer", TEXTS),
    NONE("NegativeLogLikelihoodLoss", LOSSES),
    NONE("SoftmaxCrossEntropyLoss", LOSSES),
    NONE("Det", "no primitive takes determinants"),
    NONE("RotaryEmbedding", "two products and what joins them are more than one primitive"),
    NONE("LinearAttention", "no primitive runs attention as a recurrence"),
    NONE("CausalConvWithState", "a convolution and its state are more than one primitive"),
    NONE("ai.onnx.preview:FlexAttention", "its scores are computed by a body"),
    NONE("ai.onnx.preview.training:Adagrad", STEPS),
    NONE("ai.onnx.preview.training:Adam", STEPS),
    NONE("ai.onnx.preview.training:Momentum", STEPS),
    NONE("ai.onnx.preview.training:Gradient", STEPS),
    NONE("ai.onnx.ml:ArrayFeatureExtractor", LEARNERS),
    NONE("ai.onnx.ml:Binarizer", LEARNERS),
    NONE("ai.onnx.ml:CastMap", LEARNERS),
    NONE("ai.onnx.ml:CategoryMapper", LEARNERS),
    NONE("ai.onnx.ml:DictVectorizer", LEARNERS),
    NONE("ai.onnx.ml:FeatureVectorizer", LEARNERS),
    NONE("ai.onnx.ml:Imputer", LEARNERS),
    NONE("ai.onnx.ml:LabelEncoder", LEARNERS),
    NONE("ai.onnx.ml:LinearClassifier", LEARNERS),
    NONE("ai.onnx.ml:LinearRegressor", LEARNERS),
    NONE("ai.onnx.ml:Normalizer", LEARNERS),
    NONE("ai.onnx.ml:OneHotEncoder", LEARNERS),
    NONE("ai.onnx.ml:SVMClassifier", LEARNERS),
    NONE("ai.onnx.ml:SVMRegressor", LEARNERS),
    NONE("ai.onnx.ml:Scaler", LEARNERS),
    NONE("ai.onnx.ml:TreeEnsembleClassifier", LEARNERS),
    NONE("ai.onnx.ml:TreeEnsembleRegressor", LEARNERS),
    NONE("ai.onnx.ml:TreeEnsemble", LEARNERS),
    NONE("ai.onnx.ml:ZipMap", LEARNERS),
    {NULL, NULL, 0, 0, IMAGES_NONE, NULL},
};
