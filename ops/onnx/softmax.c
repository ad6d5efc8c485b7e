/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, LogSoftmax, Hardmax: output and input have the same shape. MACs 0; FLOPs by the
 * default convention: n (input elements) for Softmax, 0 for the others. Before opset 13 they
 * normalize over all axes from `axis` (default 1) on; from 13 on only over `axis` (default
 * -1). */
#include "ops/common.h"
#include "ops/onnx/facets.h"

static int infer_softmax(struct op_context *context) {
    int64_t axis = op_attr_int(context, "axis");
    int rank = op_rank(context, 0);
    int ignored = 0;
    /* before opset 13, axis == rank is valid: rows of one element */
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
#define SOFTMAX(name, from, class, print, keeps, ...)                                          \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS("d"), __VA_ARGS__), .infer = infer_softmax,         \
        .memory = MEMORY_IN_PLACE, .param_roles = "x", .module = class, .describe = print,     \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    SINCE2(SOFTMAX, Softmax, 1, 13,    "Softmax",    describe_softmax, "y",
        DEEPSPEED(.per_input = 1), AUTOCAST(FLOAT), EXACT(EXACT_SOFTMAX), PTFLOPS(.per_input = 1),
        THOP(PLUS(thop_softmax, "operations: 3 per input element, less 1 per row")),
        ONNX_TOOL(.per_output = TOOL_EXP + TOOL_DIV), LOWER(lower_softmax, CM_SOFTMAX, CM_SOFTMAX_PLAIN, IMAGES_NONE, NULL)),
    SINCE2(SOFTMAX, LogSoftmax, 1, 13, "LogSoftmax", describe_softmax, "y",
        AUTOCAST(FLOAT), EXACT(PLUS(exact_log_softmax, "operations: 5 per input element, less 1 per row")),
        ONNX_TOOL(.per_output = TOOL_EXP + TOOL_DIV + 1 + TOOL_LOG),
        LOWER(lower_softmax, CM_SOFTMAX, CM_SOFTMAX_LOG, IMAGES_NONE, NULL)),
    SINCE2(SOFTMAX, Hardmax, 1, 13,    NULL,         NULL,             "-",
        EXACT(PLUS(exact_hardmax, "input elements, less 1 per row")), ONNX_TOOL(.per_output = 1), NO_PRIMITIVE(TWO_PRIMITIVES)),
};
/* clang-format on */

OP_FAMILY(softmax, .declines = FACETS_RARE);
