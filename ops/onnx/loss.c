/* SPDX-License-Identifier: Apache-2.0 */
/* Losses. Scores [N, C, d…], targets [N, d…]; a scalar result, or with reduction=none one
 * element per target. MACs 0, FLOPs 0 by the default convention. */
#include "ops/common.h"
#include "ops/onnx/facets.h"

static int infer_loss(struct op_context *context) {
    const bool each = text_equal(op_attr_string(context, "reduction"), "none");
    const struct shape *scores = op_shape(context, 0);
    const struct shape *targets = op_shape(context, 1);
    int status = common_check_rank(context, 0, 2);
    if (status < 0) return status;
    if (shape_has_rank(scores) && shape_has_rank(targets)) {
        bool fits = targets->rank == scores->rank - 1;
        for (int axis = 0; fits && axis < targets->rank; axis++)
            fits = !common_differ(targets->dims[axis], scores->dims[axis == 0 ? 0 : axis + 1]);
        if (!fits)
            return op_fail(context, DIAG_SHAPE, "targets %s do not fit scores %s",
                           op_shape_text(context, targets), op_shape_text(context, scores));
    }
    status = each ? op_output(context, 0, op_dtype(context, 0), targets)
                  : common_output(context, 0, NULL);
    return status < 0 ? status : op_output(context, 1, op_dtype(context, 0), scores);
}

/* Returns the saved bytes of the log-probabilities; 0 if they are an output of the node. */
static int64_t log_probabilities(const struct op_context *context) {
    if (op_has_output(context, 1)) return 0;
    return dtype_bytes(op_dtype(context, 0), op_elements(context, 0));
}

/* clang-format off */
#define LOSS(name, operations, class, keeps, more)                                             \
    {                                                                                          \
        SIGNATURE(ONNX, name, 12, AUTOCAST(FLOAT), EXACT(operations),                          \
                  NO_PRIMITIVE(NO_LOSS), NO_BOUNDS),                                           \
        .infer = infer_loss, .param_roles = "xim", .module = class,                            \
        .backward.saved_for_backward = keeps, .backward.extra = more                           \
    }

static const struct op rows[] = {
    LOSS(NegativeLogLikelihoodLoss,
         PLUS(exact_likelihood, "operations: 2 per target, 1 more for weights, 1 less without a reduction"),
         "NLLLoss", "12,-", NULL),
    LOSS(SoftmaxCrossEntropyLoss, PLUS(exact_cross_entropy, "operations: 5 per score, and the likelihood of the targets"),
         "CrossEntropyLoss", "12ze,-", log_probabilities),
};
/* clang-format on */

OP_FAMILY(loss, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_QDQ);
