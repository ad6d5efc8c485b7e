/* SPDX-License-Identifier: Apache-2.0 */
/* Scan: runs a body over slices of its operands. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "support/checked.h"

/* Operands: [sequence_lens, opset 8 only] state… scanned…; the body reads the state and a slice
 * of each scanned operand. Opset 8 has a leading batch axis and scans axis 1; from opset 9
 * there is no batch axis, and attributes name the scanned axes. */
struct scan {
    struct body body;
    struct carried state;
    size_t first; /* index of the operand with the first state */
    bool batched;
    int64_t batch;  /* size of the batch axis; 1 without one; DIM_UNKNOWN */
    int64_t length; /* size of the scanned axes; DIM_UNKNOWN */
};

static int merge_equal_dim(const struct op_context *context, const char *what, int64_t dim,
                           int64_t *common) {
    if (common_differ(dim, *common))
        return op_fail(context, DIAG_SHAPE, "operands have %s %lld and %lld", what,
                       (long long)*common, (long long)dim);
    if (!is_known(*common)) *common = dim;
    return 0;
}

/* Sets *ret to the info `from` without axis `axis` and without contents, *ret_dim to the dim of
 * this axis. An axis out of range is an error. */
static int drop_axis(struct op_context *context, const struct value_info *from, int64_t axis,
                     struct value_info *ret, int64_t *ret_dim) {
    const struct shape *shape = &from->shape;
    int64_t dims[SHAPE_MAX_RANK];
    int at = 0;
    struct value_info info = op_without_contents(from);
    *ret_dim = DIM_UNKNOWN;
    if (from->kind == CM_TYPE_TENSOR && shape_has_rank(shape)) {
        int status = op_normalize_axis(context, axis, shape->rank, &at);
        if (status) return status;
        *ret_dim = shape->dims[at];
        for (int i = 0, to = 0; i < shape->rank; i++)
            if (i != at) dims[to++] = shape->dims[i];
        if (shape_make(context->arena, shape->rank - 1, dims, &info.shape) < 0)
            return diag_no_memory(context->diag);
    }
    *ret = info;
    return 0;
}

/* Returns entry i of a list attribute, 0 if it is absent. */
static int64_t axis_of(const struct op_context *context, const char *attr, size_t i) {
    size_t n = 0;
    const int64_t *axes = op_attr_ints(context, attr, &n);
    return i < n ? axes[i] : 0;
}

/* Sets input i of the body: state i or a slice of a scanned operand, without the batch axis. */
static int scan_input(struct op_context *context, struct scan *scan, size_t i) {
    struct value_info info = op_without_contents(op_input(context, scan->first + i));
    int64_t dim = DIM_UNKNOWN;
    int status = 0;
    if (scan->batched) {
        status = drop_axis(context, &info, 0, &info, &dim);
        if (!status) status = merge_equal_dim(context, "batch", dim, &scan->batch);
    }
    if (!status && i >= scan->state.n) {
        status = drop_axis(context, &info,
                           axis_of(context, "scan_input_axes", i - scan->state.n), &info, &dim);
        if (!status) status = merge_equal_dim(context, "length", dim, &scan->length);
    }
    scan->body.inputs[i] = info;
    return status;
}

/* Sets output i: the last state, or the body's output stacked along the scan axis. Both get the
 * batch axis of opset 8. */
static int scan_output(struct op_context *context, const struct scan *scan, size_t i) {
    struct value_info info;
    int status = 0;
    if (i < scan->state.n) {
        const bool ran =
            is_known(scan->length) && scan->length > 0 && context->bound == OP_EXACT;
        info = body_last_state(&scan->body, &scan->state, i, ran);
    } else {
        info = scan->body.outputs[i];
        int64_t axis = axis_of(context, "scan_output_axes", i - scan->state.n);
        status = body_output_stacked(context, i, &info, axis, scan->length);
        if (status || !scan->batched) return status;
        info = context->outputs[i];
    }
    return scan->batched ? body_output_stacked(context, i, &info, 0, scan->batch)
                         : op_output_info(context, i, &info);
}

static int infer_scan(struct op_context *context) {
    const int64_t n_scanned = op_attr_int(context, "num_scan_inputs");
    const bool batched = context->op->since == 8;
    struct scan scan = {.batched = batched, .first = batched ? 1 : 0, .length = DIM_UNKNOWN};
    const size_t operands = context->n_inputs - scan.first;
    int status = body_open(context, "body", &scan.body);
    if (status) return status;
    if (n_scanned < 1 || (uint64_t)n_scanned > operands)
        return op_fail(context, DIAG_ATTRIBUTE, "num_scan_inputs is %lld of %zu operands",
                       (long long)n_scanned, operands);
    scan.state = (struct carried){0, 0, operands - (size_t)n_scanned};
    scan.batch = batched ? DIM_UNKNOWN : 1;
    status = body_check(context, &scan.body, operands, scan.state.n);
    if (!status) status = body_check(context, &scan.body, operands, context->n_outputs);
    for (size_t i = 0; i < scan.body.n_inputs && !status; i++)
        status = scan_input(context, &scan, i);
    if (!status) status = body_walk_iterations(context, &scan.body, &scan.state);
    if (status) return status;
    const int64_t times = checked_mul(scan.batch, scan.length);
    if (is_overflow(times))
        return op_fail(context, DIAG_OVERFLOW,
                       "the body runs %s times for each of %s of the batch, past 2^63",
                       shape_dim_text(context->arena, scan.length),
                       shape_dim_text(context->arena, scan.batch));
    status = body_report_trip_count(context, &scan.body, times, DIM_UNKNOWN);
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = scan_output(context, &scan, i);
    return status;
}

/* clang-format off */
#define SCAN(from, letters)                                                                    \
    {                                                                                          \
        SIGNATURE(ONNX, Scan, from, NO_BOUNDS), .infer = infer_scan, .memory = MEMORY_CONTROL, \
        .param_roles = letters, .backward.saved_for_backward = ""                              \
    }

static const struct op rows[] = {SCAN(8, "ix"), SCAN(9, "x")};
/* clang-format on */

OP_FAMILY(scan, .declines = FACETS_RARE | FACET_EXACT);
