/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callbacks of custom operators: bind the names of the description to values at a node,
 * then evaluate its expressions. Both shape inference and costs start this way.
 */
#include "ops/custom/custom_op.h"

#include "ops/op_context.h"
#include "ops/product.h"
#include "ops/registry/registry.h"
#include "support/checked.h"
#include "support/text.h"

#define MAX_SLOTS (CUSTOM_OP_MAX_NAMES + 2 * CUSTOM_OP_MAX_ITEMS)

/* A description bound to a node. */
struct evaluation {
    const struct custom *custom;
    const struct op_context *context;
    int64_t values[MAX_SLOTS]; /* by slot */
    struct shape rest;         /* dims of "..."; RANK_UNKNOWN if not bound */
    int64_t rest_dims[SHAPE_MAX_RANK];
};

bool custom_op_is(const struct op *op) {
    return op->infer == custom_op_infer;
}

const struct custom *custom_op_of_op(const struct op *op) {
    return (const struct custom *)op; /* `op` is its first member */
}

static int evaluate(const struct evaluation *evaluation, const struct expression *is,
                    int64_t *ret) {
    bool by_zero = false;
    *ret = expression_value(is, evaluation->values, &by_zero);
    if (!by_zero) return CM_OK;
    return op_fail(evaluation->context, DIAG_VALUE, "'%s' divides by 0", is->text);
}

static int bind_attribute(const struct evaluation *evaluation,
                          const struct custom_op_name *name, int64_t *ret) {
    const struct op_context *context = evaluation->context;
    const struct attr *attr = node_attr(context->node, name->attribute);
    const enum attr_kind want = name->is_element ? ATTR_INTS : ATTR_INT;
    *ret = name->otherwise;
    if (attr && attr->kind != want)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' must be of kind %s, got %s",
                       name->attribute, attr_kind_name(want), attr_kind_name(attr->kind));
    if (attr && name->is_element && name->index < attr->n)
        *ret = attr->ints[name->index];
    else if (attr && !name->is_element)
        *ret = attr->i;
    else if (!is_known(name->otherwise))
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' is missing", name->name);
    return CM_OK;
}

/* Binds attributes and the elements of inputs; an omitted input has 0 elements. */
static int bind_operands(struct evaluation *evaluation) {
    const struct op_context *context = evaluation->context;
    for (size_t i = 0; i < evaluation->custom->n_names; i++) {
        const struct custom_op_name *name = &evaluation->custom->names[i];
        int64_t *value = &evaluation->values[i];
        int status = CM_OK;
        *value = DIM_UNKNOWN;
        if (name->kind == CUSTOM_OP_ATTRIBUTE)
            status = bind_attribute(evaluation, name, value);
        else if (name->kind == CUSTOM_OP_INPUT)
            *value = op_has_input(context, name->index) ? op_elements(context, name->index) : 0;
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

/* Sets *a to `b` if *a is unknown. Returns false if both dims are known and differ. */
static bool join_dims(int64_t *a, int64_t b) {
    if (!is_known(*a)) *a = b;
    return !is_known(b) || *a == b;
}

/* Binds the names in the dims of an input, and "..." to any number of dims. */
static int bind_input(struct evaluation *evaluation, size_t input) {
    const struct op_context *context = evaluation->context;
    const struct custom_op_dims *dims = &evaluation->custom->inputs[input];
    const struct shape *shape = op_shape(context, input);
    struct shape *rest = &evaluation->rest;
    const int n_rest = shape->rank - (int)dims->n + 1; /* dims of "..."; without it 1 */
    if (!shape_has_rank(shape)) return CM_OK;
    bool fits = dims->has_rest ? n_rest >= 0 : n_rest == 1;
    const int64_t *is = shape->dims;
    for (size_t i = 0; i < dims->n && fits; i++) {
        const struct custom_op_dim *dim = &dims->items[i];
        int64_t wanted = DIM_UNKNOWN;
        if (dim->kind == DIM_REST) {
            const bool is_bound = shape_has_rank(rest);
            fits = !is_bound || rest->rank == n_rest;
            rest->rank = n_rest;
            for (int k = 0; k < n_rest && fits; k++, is++) {
                if (!is_bound) rest->dims[k] = *is;
                fits = join_dims(&rest->dims[k], *is);
            }
            continue;
        }
        int status =
            dim->kind == DIM_COMPUTED ? evaluate(evaluation, &dim->is, &wanted) : CM_OK;
        if (status != CM_OK) return status;
        fits =
            join_dims(dim->kind == DIM_NAMED ? &evaluation->values[dim->slot] : &wanted, *is++);
    }
    if (fits) return CM_OK;
    return op_fail(context, DIAG_SHAPE,
                   "input %zu must have the dims '%s' of its description, got %s", input,
                   dims->text, op_shape_text(context, shape));
}

static int bind_names(struct evaluation *evaluation, const struct op_context *context) {
    evaluation->custom = custom_op_of_op(context->op);
    evaluation->context = context;
    evaluation->rest = (struct shape){RANK_UNKNOWN, evaluation->rest_dims};
    int status = bind_operands(evaluation);
    for (size_t i = 0; i < evaluation->custom->n_inputs && status == CM_OK; i++)
        status = bind_input(evaluation, i);
    for (size_t i = 0; i < evaluation->custom->n_names && status == CM_OK; i++) {
        const struct custom_op_name *name = &evaluation->custom->names[i];
        if (name->kind == CUSTOM_OP_WHERE)
            status = evaluate(evaluation, &name->is, &evaluation->values[i]);
    }
    return status;
}

/* Returns true if an input shape is only an upper bound. Expressions need not be monotone, so
 * their values would not be bounds. */
static bool is_loose(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (op_has_bounds(context, i)) return true;
    return false;
}

/* The output has unknown rank if "..." is not bound. */
static int infer_output(const struct evaluation *evaluation, struct op_context *context,
                        size_t index) {
    const struct custom_op_output *output = &evaluation->custom->outputs[index];
    const bool is_open = output->dims.has_rest && !shape_has_rank(&evaluation->rest);
    int64_t dims[SHAPE_MAX_RANK + CUSTOM_OP_MAX_DIMS];
    int rank = 0;
    for (size_t i = 0; i < output->dims.n; i++) {
        const struct custom_op_dim *dim = &output->dims.items[i];
        if (dim->kind == DIM_REST) {
            for (int k = 0; k < evaluation->rest.rank; k++)
                dims[rank++] = evaluation->rest.dims[k];
            continue;
        }
        dims[rank] = DIM_UNKNOWN;
        const int status =
            dim->kind == DIM_COMPUTED ? evaluate(evaluation, &dim->is, &dims[rank]) : CM_OK;
        if (status != CM_OK) return status;
        rank++;
    }
    const enum dtype dtype =
        output->dtype == DTYPE_UNDEFINED ? op_dtype(context, output->from) : output->dtype;
    return op_output_dims(context, index, dtype, is_open ? RANK_UNKNOWN : rank, dims);
}

static int evaluate_cost(struct evaluation *evaluation, const struct expression *is,
                         int64_t *ret) {
    const struct op_context *context = evaluation->context;
    for (size_t i = 0; i < evaluation->custom->n_names; i++) {
        const struct custom_op_name *name = &evaluation->custom->names[i];
        if (name->kind != CUSTOM_OP_OUTPUT) continue;
        const bool is_there = op_has_output(context, name->index);
        evaluation->values[i] = is_there ? op_output_elements(context, name->index) : 0;
    }
    const int status = evaluate(evaluation, is, ret);
    if (status != CM_OK || !is_known(*ret) || *ret >= 0) return status;
    return op_fail(context, DIAG_VALUE, "'%s' must be >= 0, got %lld", is->text,
                   (long long)*ret);
}

/* Calls the shape rule of `like` with the row of `like`: a rule may look up the operator's
 * type, which a custom row with its own costs lacks. */
static int infer_like(const struct op_context *context, const struct op *like) {
    struct op_context plain = *context;
    plain.op = like;
    return like->infer(&plain);
}

/* Also evaluates the costs, because the callbacks of costs cannot report errors. */
int custom_op_infer(struct op_context *context) {
    const struct custom *custom = custom_op_of_op(context->op);
    struct evaluation evaluation;
    if (is_loose(context)) return custom->like ? infer_like(context, custom->like) : CM_OK;
    int64_t cost = 0;
    int status = bind_names(&evaluation, context);
    if (status == CM_OK && custom->like) status = infer_like(context, custom->like);
    for (size_t i = 0; i < custom->n_outputs && status == CM_OK; i++)
        status = infer_output(&evaluation, context, i);
    if (status != CM_OK || !custom->has_costs) return status;
    status = evaluate_cost(&evaluation, &custom->macs, &cost);
    return status == CM_OK ? evaluate_cost(&evaluation, &custom->other_flops, &cost) : status;
}

/* Returns DIM_UNKNOWN on errors, which custom_op_infer has reported. */
static int64_t cost_of(const struct op_context *context, const struct expression *is) {
    struct op_context quiet = *context;
    struct evaluation evaluation;
    int64_t cost = DIM_UNKNOWN;
    quiet.diag = NULL;
    if (is_loose(context) || bind_names(&evaluation, &quiet) != CM_OK) return DIM_UNKNOWN;
    return evaluate_cost(&evaluation, is, &cost) == CM_OK ? cost : DIM_UNKNOWN;
}

void custom_op_macs(const struct op_context *context, struct product *ret) {
    const struct custom *custom = custom_op_of_op(context->op);
    product_add(ret, custom->op.cost.macs_formula, cost_of(context, &custom->macs));
}

int64_t custom_op_other_flops(const struct op_context *context) {
    return cost_of(context, &custom_op_of_op(context->op)->other_flops);
}

const struct op *custom_op_find(const struct cm_op_costs *const *costs, size_t n,
                                const char *domain, const char *type, int64_t opset) {
    const char *plain = registry_domain(domain);
    const struct custom *best = NULL;
    while (n-- > 0 && !best) {
        for (size_t i = 0; i < costs[n]->n; i++) {
            const struct custom *row = &costs[n]->items[i];
            if (row->since <= opset && text_equal(row->type, type) &&
                text_equal(row->domain, plain) && (!best || row->since > best->since))
                best = row;
        }
    }
    return best ? &best->op : NULL;
}
