/* SPDX-License-Identifier: Apache-2.0 */
/* Pass precision: replaces the dtypes of the file by those of --precision, which all later
 * passes read. Only floats of 32 and 16 bits change (docs/precision.md). */
#include "passes/precision/precision.h"

#include <string.h>

#include "costmodel/backend.h"
#include "ops/op_context.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"

/* clang-format off */
static const struct {
    enum dtype floats;  /* of all floats; DTYPE_UNDEFINED: as in the file */
    enum dtype factors; /* of both operands of a product, if it differs */
    enum dtype addend;  /* of what a matrix product adds, if it differs: 32-bit sums */
} dtypes[CM_N_PRECISIONS] = {
    [CM_PRECISION_FP32] = {DTYPE_FLOAT,    DTYPE_UNDEFINED,    DTYPE_UNDEFINED},
    [CM_PRECISION_FP16] = {DTYPE_FLOAT16,  DTYPE_UNDEFINED,    DTYPE_UNDEFINED},
    [CM_PRECISION_BF16] = {DTYPE_BFLOAT16, DTYPE_UNDEFINED,    DTYPE_UNDEFINED},
    [CM_PRECISION_INT8] = {DTYPE_FLOAT16,  DTYPE_INT8,         DTYPE_INT32},
    [CM_PRECISION_FP8]  = {DTYPE_FLOAT16,  DTYPE_FLOAT8E4M3FN, DTYPE_FLOAT16},
};
/* clang-format on */

static bool keeps_dtypes(const struct analysis *analysis) {
    return analysis->options->precision < CM_PRECISION_FP16;
}

static enum op_autocast autocast_of(const struct op *op) {
    const enum op_autocast own = op->facets ? op->facets->autocast : AUTOCAST_BY_MACS;
    return own == AUTOCAST_BY_MACS && op->cost.macs ? AUTOCAST_HALF : own;
}

/* With 8-bit factors, attention and recurrences are fp16: their 8-bit forms need scales. The
 * bias of an int8 convolution is fp32. */
static enum dtype cast_at(enum cm_precision precision, const struct op *op, size_t slot,
                          enum dtype dtype) {
    const enum op_autocast autocast = autocast_of(op);
    const bool is_conv = op_primitive_kind(op) == CM_CONV || op_primitive_kind(op) == CM_DECONV;
    if (!precision_changes(dtype)) return dtype;
    if (precision == CM_PRECISION_AMP && autocast == AUTOCAST_HALF) return DTYPE_FLOAT16;
    if (precision == CM_PRECISION_AMP && autocast == AUTOCAST_FLOAT) return DTYPE_FLOAT;
    if (dtypes[precision].factors == DTYPE_UNDEFINED || op_role(op, slot) == 'i' ||
        (!is_conv && op_primitive_kind(op) != CM_GEMM))
        return dtype;
    if (slot < 2) return dtypes[precision].factors;
    return is_conv && precision == CM_PRECISION_INT8 ? DTYPE_FLOAT : dtypes[precision].addend;
}

enum dtype precision_cast(const struct analysis *analysis, const struct op *op, size_t slot,
                          enum dtype dtype) {
    return cast_at(analysis->options->precision, op, slot, dtype);
}

static int apply(const struct analysis *analysis, enum cm_precision precision,
                 struct op_context *context) {
    const struct value_info **inputs = NULL;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = context->inputs[i];
        const enum dtype dtype =
            info ? cast_at(precision, context->op, i, info->dtype) : DTYPE_UNDEFINED;
        if (!info || dtype == info->dtype) continue;
        if (!inputs)
            inputs = arena_copy(analysis->arena, context->inputs,
                                context->n_inputs * sizeof(*inputs));
        struct value_info *copy = arena_copy(analysis->arena, info, sizeof(*copy));
        if (!inputs || !copy) return diag_no_memory(analysis->diag);
        copy->dtype = dtype;
        inputs[i] = copy;
    }
    if (inputs) context->inputs = inputs;
    return CM_OK;
}

int precision_apply(const struct analysis *analysis, struct op_context *context) {
    const enum cm_precision precision = analysis->options->precision;
    return keeps_dtypes(analysis) ? CM_OK : apply(analysis, precision, context);
}

int precision_apply_int8(const struct analysis *analysis, struct op_context *context) {
    return apply(analysis, CM_PRECISION_INT8, context);
}

static bool is_vector(const struct shape *shape) {
    for (int axis = 0; axis + 1 < shape->rank; axis++)
        if (shape->dims[axis] != 1) return false;
    return shape->rank >= 0;
}

uint32_t precision_biased_product(const struct analysis *analysis, const struct op *op,
                                  const struct node *node) {
    const struct value *values = analysis->model->values;
    if (op_primitive_kind(op) != CM_ELTWISE || op->facets->lowering.which != CM_ADD ||
        node->n_inputs != 2)
        return ID_NONE;
    for (size_t i = 0; i < 2; i++) {
        const uint32_t x = node->inputs[i];
        const uint32_t bias = node->inputs[1 - i];
        if (x != ID_NONE && bias != ID_NONE && analysis->infer->infos[bias].is_constant &&
            is_vector(&analysis->infer->infos[bias].shape) && values[x].node != ID_NONE &&
            values[x].n_uses == 1 &&
            op_primitive_kind(analysis->bind->ops[values[x].node]) == CM_GEMM)
            return x;
    }
    return ID_NONE;
}

static void set_dtype(const struct infer_table *table, uint32_t value, enum dtype dtype) {
    if (!precision_changes(table->infos[value].dtype)) return;
    table->infos[value].dtype = table->upper->infos[value].dtype = dtype;
}

/* Returns the dtype of a float result under autocast: the widest of the operands, but scalars
 * and the scales, shifts and statistics of a norm do not count. */
static enum dtype result_dtype(const struct op_context *context, enum dtype file) {
    const enum op_autocast autocast = autocast_of(context->op);
    enum dtype widest = DTYPE_UNDEFINED;
    if (autocast == AUTOCAST_FILE) return file;
    if (autocast != AUTOCAST_BY_MACS)
        return autocast == AUTOCAST_HALF ? DTYPE_FLOAT16 : DTYPE_FLOAT;
    for (size_t i = 0; i < context->n_inputs; i++)
        if (precision_changes(op_dtype(context, i)) && widest != DTYPE_FLOAT &&
            op_elements(context, i) != 1 &&
            (i == 0 || strchr("Wnsi", op_role(context->op, i)) == NULL))
            widest = op_dtype(context, i);
    if (widest == DTYPE_UNDEFINED && precision_changes(op_dtype(context, 0)))
        widest = op_dtype(context, 0);
    return widest == DTYPE_UNDEFINED ? file : widest;
}

/* Sets the results of a node to the dtype that autocast gives them. The nodes inside a fused
 * pattern with a gradient of its own run in the dtype of the pattern, and a bias in that of the
 * product. The inputs of bodies and the results of control flow stay as in the file. */
static int autocast_node(const struct analysis *analysis, struct infer_table *table,
                         const struct op_source *source, uint32_t id) {
    const uint32_t at = analysis->fused_patterns->of_node[id];
    const struct fused_pattern *pattern =
        at == ID_NONE ? NULL : &analysis->fused_patterns->items[at];
    struct op_context context;
    const int status = pattern && pattern->last == id
                           ? context_make_fused(source, pattern, &context)
                           : context_make_inferred(source, id, &context);
    if (status < 0 || context.op->memory == MEMORY_CONTROL) return status;
    if (pattern && pattern->op->backward.saved_for_backward) context.op = pattern->op;
    const uint32_t product = precision_biased_product(analysis, context.op, context.node);
    if (product != ID_NONE)
        context.op = analysis->bind->ops[analysis->model->values[product].node];
    for (size_t i = 0; i < context.n_outputs; i++)
        if (context.node->outputs[i] != ID_NONE)
            set_dtype(table, context.node->outputs[i],
                      result_dtype(&context, context.outputs[i].dtype));
    return CM_OK;
}

/* Gives the weight that the node reads, also through a Transpose, the dtype of factors if
 * nothing else reads it. Weights that learn stay wider. */
static void narrow_weight(const struct analysis *analysis, struct infer_table *table,
                          const struct node *node, size_t slot, enum dtype dtype) {
    uint32_t id = node->inputs[slot];
    while (id != ID_NONE && table->infos[id].is_constant) {
        const struct value *value = &analysis->model->values[id];
        const struct op *op = value->node == ID_NONE ? NULL : analysis->bind->ops[value->node];
        if (value->n_uses != 1 || value->is_graph_output) return;
        set_dtype(table, id, dtype);
        if (!op || !op->facets || !op->facets->qdq.moves) return;
        id = analysis->model->nodes[value->node].inputs[0];
    }
}

static int set_of_node(const struct analysis *analysis, struct infer_table *table,
                       const struct op_source *source, uint32_t id) {
    const enum cm_precision precision = analysis->options->precision;
    const struct node *node = &analysis->model->nodes[id];
    if (precision == CM_PRECISION_AMP) return autocast_node(analysis, table, source, id);
    for (size_t i = 0; i < 2 && i < node->n_inputs; i++)
        if (dtypes[precision].factors != DTYPE_UNDEFINED && !analysis->options->optimizer &&
            precision_cast(analysis, analysis->bind->ops[id], i, DTYPE_FLOAT16) !=
                DTYPE_FLOAT16)
            narrow_weight(analysis, table, node, i, dtypes[precision].factors);
    return CM_OK;
}

/* Sets the dtype of the largest float tensor of the file. */
static void find_file_dtype(const struct model *model, struct infer_table *table) {
    int64_t most = -1;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value_info *info = &table->infos[id];
        const int64_t n = info->is_weight ? shape_elements(&info->shape) : 0;
        if (!precision_changes(info->dtype) || n <= most) continue;
        most = n;
        table->file_dtype = info->dtype;
    }
}

int pass_precision(const struct analysis *analysis, void *own) {
    const struct model *model = analysis->model;
    const struct op_source source = infer_source(analysis);
    const enum dtype floats = dtypes[analysis->options->precision].floats;
    struct infer_table *table = own;
    int status = CM_OK;
    find_file_dtype(model, table);
    if (keeps_dtypes(analysis)) return CM_OK;
    for (uint32_t id = 0; id < model->n_values && floats != DTYPE_UNDEFINED; id++)
        set_dtype(table, id, floats);
    for (size_t i = 0; i < model->n_graphs; i++)
        for (size_t k = 0; k < model->graphs[i].n_nodes && status == CM_OK; k++) {
            const struct arena_mark mark = arena_save(analysis->arena);
            status = set_of_node(analysis, table, &source, model->graphs[i].nodes[k]);
            arena_restore(analysis->arena, mark);
        }
    return status;
}
