/* SPDX-License-Identifier: Apache-2.0 */
/* The table: a letter an operand, the last one repeated. Each row holds for every opset. */
#include "ops/monotone.h"

#include "ops/op.h"
#include "support/text.h"

#include "support/banned.h"

static const struct {
    const char *op;
    const char *letters;
} rows[] = {
    /* clang-format off */
    /* a size for each element */
    {"Relu", "d"},               {"LeakyRelu", "d"},         {"Elu", "d"},
    {"Gelu", "d"},               {"Swish", "d"},             {"Celu", "d"},
    {"Selu", "d"},               {"Sigmoid", "d"},           {"Tanh", "d"},
    {"HardSigmoid", "d"},        {"HardSwish", "d"},         {"Mish", "d"},
    {"Softplus", "d"},           {"Softsign", "d"},          {"ThresholdedRelu", "d"},
    {"Shrink", "d"},             {"PRelu", "d"},             {"Dropout", "d"},
    {"Abs", "p"},                {"Neg", "f"},               {"Ceil", "v"},
    {"Floor", "v"},              {"Round", "v"},             {"Sqrt", "v"},
    {"Sign", "v"},               {"Clip", "v"},              {"Exp", "d"},
    {"Log", "d"},                {"Reciprocal", "d"},        {"Erf", "d"},
    {"Sin", "d"},                {"Cos", "d"},               {"Tan", "d"},
    {"Asin", "d"},               {"Acos", "d"},              {"Atan", "d"},
    {"Sinh", "d"},               {"Cosh", "d"},              {"Asinh", "d"},
    {"Acosh", "d"},              {"Atanh", "d"},             {"Not", "d"},
    {"IsNaN", "d"},              {"IsInf", "d"},             {"BitwiseNot", "d"},
    {"Identity", "v"},           {"Cast", "v"},              {"CastLike", "vd"},
    {"QuantizeLinear", "d"},     {"DequantizeLinear", "d"},  {"DynamicQuantizeLinear", "d"},
    {"RandomNormalLike", "d"},   {"RandomUniformLike", "d"}, {"Bernoulli", "d"},
    /* broadcast */
    {"Add", "v"},                {"Sub", "vf"},              {"Mul", "p"},
    {"Div", "pd"},               {"Pow", "d"},               {"Mod", "d"},
    {"Max", "v"},                {"Min", "v"},               {"Sum", "v"},
    {"Mean", "d"},               {"Equal", "d"},             {"Less", "d"},
    {"LessOrEqual", "d"},        {"Greater", "d"},           {"GreaterOrEqual", "d"},
    {"And", "d"},                {"Or", "d"},                {"Xor", "d"},
    {"BitShift", "d"},           {"BitwiseAnd", "d"},        {"BitwiseOr", "d"},
    {"BitwiseXor", "d"},         {"Where", "dvv"},           {"StringConcat", "d"},
    /* products and windows; a larger kernel leaves fewer places */
    {"MatMul", "d"},             {"MatMulInteger", "d"},     {"QLinearMatMul", "d"},
    {"Gemm", "d"},               {"Einsum", "d"},            {"Det", "d"},
    {"Conv", "d-"},              {"ConvInteger", "d-"},      {"QLinearConv", "d-"},
    {"ConvTranspose", "d-"},     {"AveragePool", "d"},       {"MaxPool", "d"},
    {"LpPool", "d"},             {"GlobalAveragePool", "d"}, {"GlobalMaxPool", "d"},
    {"GlobalLpPool", "d"},       {"RoiAlign", "d"},          {"MaxRoiPool", "d"},
    {"GridSample", "d"},         {"RNN", "d---d"},           {"GRU", "d---d"},
    {"LSTM", "d---d"},
    /* along axes */
    {"BatchNormalization", "d-"}, {"InstanceNormalization", "d-"}, {"LayerNormalization", "d-"},
    {"GroupNormalization", "d-"}, {"RMSNormalization", "d-"}, {"LpNormalization", "d"},
    {"LRN", "d"},                {"MeanVarianceNormalization", "d"},
    {"Softmax", "d"},            {"LogSoftmax", "d"},        {"Hardmax", "d"},
    {"CumSum", "d-"},            {"CumProd", "d-"},          {"ReduceSum", "v-"},
    {"ReduceMax", "v-"},         {"ReduceMin", "v-"},        {"ReduceMean", "v-"},
    {"ReduceProd", "p-"},        {"ReduceL1", "d-"},         {"ReduceL2", "d-"},
    {"ReduceLogSum", "d-"},      {"ReduceLogSumExp", "d-"},  {"ReduceSumSquare", "d-"},
    {"ArgMax", "d"},             {"ArgMin", "d"},
    /* what data choose */
    {"TopK", "dv"},              {"NonZero", "d"},           {"Compress", "d"},
    {"Unique", "d"},             {"NonMaxSuppression", "ddvd"}, {"StringSplit", "d"},
    {"StringNormalizer", "d"},   {"RegexFullMatch", "d"},    {"TfIdfVectorizer", "d"},
    /* other shapes and other places */
    {"Shape", "d"},              {"Size", "d"},              {"Reshape", "v"},
    {"Flatten", "v"},            {"Squeeze", "v-"},          {"Unsqueeze", "v-"},
    {"Expand", "v"},             {"Tile", "vv-"},            {"Concat", "v"},
    {"Split", "v-"},             {"Slice", "v-v-"},          {"Pad", "v-d-"},
    {"Gather", "vd"},            {"GatherElements", "vd"},   {"GatherND", "vd"},
    {"Scatter", "d"},            {"ScatterElements", "d"},   {"ScatterND", "d"},
    {"Transpose", "v"},          {"DepthToSpace", "d"},      {"SpaceToDepth", "d"},
    {"Trilu", "d-"},             {"EyeLike", "d"},           {"OneHot", "dvd"},
    {"ReverseSequence", "d"},    {"Range", "-v-"},           {"ConstantOfShape", "v"},
    {"Upsample", "d-"},          {"Resize", "d-"},
    /* sequences and optionals hold what they are given */
    {"SequenceConstruct", "d"},  {"SequenceInsert", "dd-"},  {"SequenceAt", "d-"},
    {"SequenceErase", "d-"},     {"SequenceLength", "d"},    {"ConcatFromSequence", "d"},
    {"Optional", "d"},           {"OptionalGetElement", "d"}, {"OptionalHasElement", "d"},
    /* clang-format on */
};

static const char *find_letters(const struct op *op) {
    for (size_t i = 0; op->domain[0] == '\0' && i < sizeof rows / sizeof *rows; i++)
        if (text_equal(rows[i].op, op->type)) return rows[i].letters;
    return "-";
}

char monotone_letter(const struct op *op, size_t slot) {
    const char *letter = find_letters(op);
    while (slot-- > 0 && letter[1]) letter++;
    return *letter;
}
