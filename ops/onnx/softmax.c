/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its kin: one shape in and out. MACs 0; FLOPs by the default convention: Softmax n
 * (elements of the input), LogSoftmax and Hardmax 0. Before opset 13 the axes from `axis`
 * (default 1) on are taken as one, from 13 on `axis` (default -1) alone: no size depends on it.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/signatures.gen.h"

#include "support/banned.h"

static int infer_softmax(struct op_context *context) {
    int64_t axis = op_attr_int(context, "axis");
    int rank = op_rank(context, 0);
    int ignored = 0;
    /* the coercion to a matrix allows axis == rank: no columns, but the same shape */
    if (rank == RANK_UNKNOWN || (context->op->since < 13 && axis == rank))
        return common_infer_same(context);
    int status = op_normalize_axis(context, axis, rank, &ignored);
    return status < 0 ? status : common_infer_same(context);
}

static int describe_softmax(const struct op_context *context, struct text *out) {
    text_append(out, "dim=");
    describe_int(out, op_attr_int(context, "axis"));
    return CM_OK;
}

/* clang-format off */
#define SOFTMAX(name, from, flops, class, print, keeps)                                        \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = infer_softmax, .cost = {.per_input = flops},     \
        .memory = MEMORY_IN_PLACE, .param_roles = "x", .module = class, .describe = print,     \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    /*      type        since n  module        describe          saved for backward */
    SOFTMAX(Softmax,       1, 1, "Softmax",    describe_softmax, "y"),
    SOFTMAX(Softmax,      13, 1, "Softmax",    describe_softmax, "y"),
    SOFTMAX(LogSoftmax,    1, 0, "LogSoftmax", describe_softmax, "y"),
    SOFTMAX(LogSoftmax,   13, 0, "LogSoftmax", describe_softmax, "y"),
    SOFTMAX(Hardmax,       1, 0, NULL,         NULL,             "-"),
    SOFTMAX(Hardmax,      13, 0, NULL,         NULL,             "-"),
};
/* clang-format on */

const struct op_family family_softmax = {"softmax", rows, sizeof(rows) / sizeof(rows[0]), NULL};
