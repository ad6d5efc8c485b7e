/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that come from DequantizeLinear: see dequantized.h. */
#include "passes/dequantized.h"

#include "ops/op.h"
#include "ops/rule.h"

#include "support/banned.h"

/* Whether all that the node passes through (role p) is dequantized. */
static bool passes_dequantized(const struct node *node, const struct op *op,
                               const bool *dequantized) {
    bool passes = false;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE || op_role(op, i) != 'p') continue;
        if (!dequantized[node->inputs[i]]) return false;
        passes = true;
    }
    return passes;
}

static bool takes_integers(const struct analysis *analysis, const struct node *node) {
    return node->n_inputs > 0 && node->inputs[0] != ID_NONE &&
           dtype_is_integer(analysis->infer.facts[node->inputs[0]].dtype);
}

/* Nodes stand behind those that make their operands. */
void dequantized_find(const struct analysis *analysis, bool *ret) {
    const struct model *model = analysis->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct node *node = &model->nodes[id];
        const struct op *op = analysis->bind.ops[id];
        const bool is = takes_integers(analysis, node) ? integers_are_scaled(op)
                                                       : passes_dequantized(node, op, ret);
        if (!is) continue;
        for (size_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i] != ID_NONE)
                ret[node->outputs[i]] =
                    dtype_is_float(analysis->infer.facts[node->outputs[i]].dtype);
    }
}

/* Whether the operands from `first` on, up to `end`, are dequantized, and there are any. */
static bool all_dequantized(const struct analysis *analysis, const struct node *node,
                            size_t first, size_t end) {
    bool any = false;
    for (size_t i = first; i < node->n_inputs && i < end; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        if (!analysis->count.dequantized[node->inputs[i]]) return false;
        any = true;
    }
    return any;
}

/* A composite is one operation, on floating-point numbers in between. */
struct integers dequantized_integers(const struct analysis *analysis, const struct rule *rule,
                                     int64_t macs) {
    const struct node *node = &analysis->model->nodes[rule->node_id];
    const size_t factors = (size_t)rule->op->backward.factors;
    const bool is_part = analysis->composites.of_node[rule->node_id] != ID_NONE;
    if (is_part || !all_dequantized(analysis, node, 0, factors) || integers_never(rule->op))
        return integers_of(rule, macs);
    return integers_all(macs, all_dequantized(analysis, node, factors, node->n_inputs));
}
