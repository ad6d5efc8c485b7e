/* SPDX-License-Identifier: Apache-2.0 */
/* Finds values that come from DequantizeLinear: see dequantized.h. */
#include "passes/cost/dequantized.h"

#include "ops/op.h"
#include "ops/op_context.h"
#include "passes/cost/count.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"

/* Returns the scale of the DequantizeLinear that produces the value, or ID_NONE. */
static uint32_t scale_of(const struct analysis *analysis, uint32_t value) {
    const uint32_t producer = value == ID_NONE ? ID_NONE : analysis->model->values[value].node;
    if (producer == ID_NONE || !infer_dequantizes(analysis, producer)) return ID_NONE;
    const struct node *node = &analysis->model->nodes[producer];
    return node->n_inputs > 1 ? node->inputs[1] : ID_NONE;
}

scale_axes *dequantized_find(const struct analysis *analysis) {
    const struct model *model = analysis->model;
    struct op_source source = infer_source(analysis);
    struct op_room room;
    bool any = false;
    for (uint32_t id = 0; id < model->n_nodes && !any; id++)
        any = infer_dequantizes(analysis, id);
    if (!any) return NULL;
    scale_axes *scales = arena_array(analysis->arena, model->n_values, sizeof *scales);
    source.room = &room;
    for (uint32_t id = 0; id < model->n_nodes && scales; id++) { /* producers come first */
        const struct node *node = &model->nodes[id];
        if (node->n_inputs == 0 || node->inputs[0] == ID_NONE) continue;
        if (scales[node->inputs[0]] == SCALE_NONE && !infer_dequantizes(analysis, id)) continue;
        const struct arena_mark mark = arena_save(analysis->arena);
        const uint32_t scale =
            node->n_inputs > 1 ? scale_of(analysis, node->inputs[0]) : ID_NONE;
        bool same = scale != ID_NONE;
        for (size_t i = 1; i < node->n_inputs && same; i++)
            same = scale_of(analysis, node->inputs[i]) == scale;
        struct op_context context;
        if (context_make_inferred(&source, id, &context) < 0) break;
        for (size_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i] != ID_NONE)
                scales[node->outputs[i]] = scale_of_output(&context, scales, same, i);
        arena_restore(analysis->arena, mark);
    }
    return scales;
}

/* Does not apply to fused patterns: their intermediate values are floats. */
bool dequantized_product(const struct analysis *analysis, const struct op_context *context,
                         bool *ret_rest) {
    const scale_axes *scales = analysis->count->dequantized;
    return scales && analysis->fused_patterns->of_node[context->node_id] == ID_NONE &&
           scale_factors_out(context, scales, ret_rest);
}

struct integers dequantized_integers(const struct analysis *analysis,
                                     const struct op_context *context, int64_t macs) {
    bool rest = false;
    return dequantized_product(analysis, context, &rest) ? integers_all(macs, rest)
                                                         : integers_of(context, macs);
}
