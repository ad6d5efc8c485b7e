/* SPDX-License-Identifier: Apache-2.0 */
/* Pass infer: shape inference and constant folding of shape arithmetic, at the input shapes
 * and with the overrides that pass batch chose. */
#include "passes/infer/infer.h"

#include "ops/integers.h"
#include "passes/batch/batch.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"

/* Returns true if the inputs have their declared shapes, apart from symbolic dims. */
static bool is_as_declared(const struct analysis *analysis) {
    const struct model *model = analysis->model;
    const struct graph *graph = &model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct shape *declared = &model->values[graph->inputs[i]].type->shape;
        const struct value_info *info = analysis->batch->inputs[graph->inputs[i]];
        /* the dims of a sparse tensor are unknown: no option sets them */
        if (!info || !shape_has_rank(declared) || !shape_has_rank(&info->shape)) continue;
        for (int axis = 0; axis < declared->rank; axis++)
            if (is_known(declared->dims[axis]) &&
                declared->dims[axis] != info->shape.dims[axis])
                return false;
    }
    return true;
}

int pass_infer(const struct analysis *analysis, void *own) {
    struct infer_table *table = own;
    struct walk walk =
        walk_make(analysis, "infer", analysis->arena, analysis->batch->inputs, table);
    walk.overrides = analysis->batch->overrides;
    walk.declared = is_as_declared(analysis);
    walk.diag = analysis->diag;
    int status = walk_start(&walk);
    if (status == CM_OK) status = walk_model(&walk);
    if (status == CM_OK) missing_data_note(analysis, table);
    table->upper = table;
    if (status == CM_OK && walk.trips) status = bind_check_trips(analysis, walk.trip_outcomes);
    return status < 0 ? status : walk_upper_bounds(&walk, &table->upper);
}

struct op_source infer_source(const struct analysis *analysis) {
    return (struct op_source){
        .model = analysis->model,
        .ops = analysis->bind->ops,
        .overrides = analysis->batch->overrides,
        .infos = analysis->infer->infos,
        .mode = analysis->options->mode,
        .arena = analysis->arena,
        .diag = analysis->diag,
    };
}

bool infer_dequantizes(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    return node->n_inputs > 0 && node->inputs[0] != ID_NONE &&
           dtype_is_integer(analysis->infer->infos[node->inputs[0]].dtype) &&
           integers_are_scaled(analysis->bind->ops[id]);
}
