/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers go in and come out of most operators that compute on integers, and out of no others.
 * The exceptions are a table over operator types, like those of the conventions.
 */
#include "ops/integers.h"

#include "ops/contrib/attention.h"
#include "ops/op_context.h"
#include "ops/product.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

enum share {
    BY_TYPES,
    NONE,     /* it scales the integers that it is given, or weighs them by fractions */
    SCALED,   /* none, and what comes out is its integers, shifted and scaled */
    PRODUCTS, /* its MACs, where it does nothing else on them */
    ALL,      /* although what comes out is scaled */
};

struct exception {
    const char *type; /* of any domain */
    enum share share;
    int64_t (*macs)(const struct op_context *context); /* of PRODUCTS; NULL: all of them */
};

static const struct exception exceptions[] = {
    /* from real numbers to integers, and back */
    {"QuantizeLinear", NONE, NULL},
    {"DynamicQuantizeLinear", NONE, NULL},
    {"QuantizeWithOrder", NONE, NULL},
    {"DequantizeLinear", SCALED, NULL},
    {"DequantizeWithOrder", SCALED, NULL},
    /* products of integers whose sum is scaled: a bias comes behind the scale */
    {"MatMulIntegerToFloat", PRODUCTS, NULL},
    {"DynamicQuantizeMatMul", PRODUCTS, NULL},
    {"DynamicQuantizeLSTM", PRODUCTS, NULL},
    {"QOrderedMatMul", PRODUCTS, NULL},
    {"QOrderedAttention", PRODUCTS, NULL},
    {"QOrderedLongformerAttention", PRODUCTS, NULL},
    {"QAttention", PRODUCTS, contrib_attention_projection},
    {"QGemm", ALL, NULL}, /* its bias is of the integers that it sums */
    /* f(dequantized), quantized: scales stand between operands, or f is no polynomial */
    {"QLinearAdd", NONE, NULL},
    {"QLinearMul", NONE, NULL},
    {"QLinearSigmoid", NONE, NULL},
    {"QLinearLeakyRelu", NONE, NULL},
    {"QLinearSoftmax", NONE, NULL},
    {"QLinearAveragePool", NONE, NULL},
    {"QLinearGlobalAveragePool", NONE, NULL},
    {"QLinearReduceMean", NONE, NULL},
    {"QOrderedGelu", NONE, NULL},
    {"QOrderedLayerNormalization", NONE, NULL},
    /* coefficients are floats, whatever they weigh */
    {"DeformConv", NONE, NULL},
    {"Resize", NONE, NULL},
    {"Upsample", NONE, NULL},
    {"GridSample", NONE, NULL},
    /* roots and logarithms of sums */
    {"ReduceL2", NONE, NULL},
    {"ReduceLogSum", NONE, NULL},
    {"ReduceLogSumExp", NONE, NULL},
    {"HannWindow", NONE, NULL},
    {"HammingWindow", NONE, NULL},
    {"BlackmanWindow", NONE, NULL},
    {"LinearClassifier", NONE, NULL},
    {"SVMClassifier", NONE, NULL},
    {"TreeEnsembleClassifier", NONE, NULL},
};

static const struct exception *find(const struct op *op) {
    static const struct exception none = {"", BY_TYPES, NULL};
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (text_equal(exceptions[i].type, op->type)) return &exceptions[i];
    return &none;
}

static bool is_whole(enum dtype dtype) {
    return dtype_is_integer(dtype) || dtype == DTYPE_BOOL;
}

struct integers integers_all(int64_t macs, bool rest) {
    return (struct integers){.macs = macs, .other_macs = 0, .rest = rest};
}

int64_t integers_total(const struct integers *integers) {
    return checked_add(integers->macs, integers->other_macs);
}

static struct integers some(int64_t macs, int64_t all) {
    return (struct integers){.macs = macs, .other_macs = checked_sub(all, macs)};
}

/* Where it is given integers and makes integers, it adds and multiplies such. */
static struct integers by_types(const struct op_context *context, int64_t macs) {
    const enum dtype in = op_dtype(context, 0);
    const enum dtype out = context->n_outputs > 0 ? context->outputs[0].dtype : DTYPE_UNDEFINED;
    if (is_whole(in) && is_whole(out)) return integers_all(macs, true);
    if (macs == DIM_UNKNOWN && in == DTYPE_UNDEFINED) return some(macs, macs);
    if (macs == DIM_UNKNOWN && out == DTYPE_UNDEFINED) return some(macs, macs);
    return some(0, macs);
}

struct integers integers_of(const struct op_context *context, int64_t macs) {
    /* most nodes; no exception makes integers of this */
    if (macs == 0 && !is_whole(op_dtype(context, 0))) return some(0, 0);
    const struct exception *exception = find(context->op);
    switch (exception->share) {
    case BY_TYPES:
        return by_types(context, macs);
    case PRODUCTS:
        if (exception->macs) return some(exception->macs(context), macs);
        return integers_all(macs, false);
    case ALL:
        return integers_all(macs, true);
    case NONE:
    case SCALED:
        break;
    }
    return some(0, macs);
}

const char *integers_words(const struct op *op) {
    static const char *const words[] = {
        [BY_TYPES] = NULL,
        [NONE] = "never on integers",
        [SCALED] = "never on integers",
        [PRODUCTS] = "MACs on integers",
        [ALL] = "on integers",
    };
    const struct exception *exception = find(op);
    return exception->macs ? "MACs of the projection on integers" : words[exception->share];
}

bool integers_are_scaled(const struct op *op) {
    return find(op)->share == SCALED;
}
