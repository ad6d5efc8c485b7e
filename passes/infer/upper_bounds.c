/* SPDX-License-Identifier: Apache-2.0 */
/* The second walk: see walk_most.h. */
#include "passes/infer/upper_bounds.h"

#include "ops/monotone.h"
#include "support/arena.h"

#include "support/banned.h"

/* A tensor that no machine could hold says nothing, and sums of such would pass 2^63. */
#define MOST_ELEMENTS ((int64_t)1 << 48)

/* Known dims are as they are; of others the bound. */
static bool close_shape(struct arena *arena, const struct shape *exact,
                        const struct shape *most, struct shape *ret) {
    bool closed = false;
    if (!shape_has_rank(exact) || exact->rank != most->rank) return false;
    if (shape_make(arena, exact->rank, exact->dims, ret) < 0) return false;
    for (int axis = 0; axis < ret->rank; axis++) {
        const int64_t bound = most->dims[axis];
        if (is_known(ret->dims[axis]) || !is_known(bound) || bound > MOST_ELEMENTS) continue;
        ret->dims[axis] = bound;
        closed = true;
    }
    return closed;
}

struct value_info most_of_value(const struct walk *walk, uint32_t value,
                                const struct value_info *info) {
    struct value_info most = walk->exact->facts[value];
    if (value_info_is_settled(&most) || most.kind != info->kind) return most;
    if (most.kind == CM_TYPE_SEQUENCE ||
        most.kind == CM_TYPE_OPTIONAL) { /* holds elements that are bounded themselves */
        most = *info;
        most.is_upper_bound = true;
        return most;
    }
    struct shape closed;
    if (most.kind != CM_TYPE_TENSOR) return most;
    if (!close_shape(walk->arena, &most.shape, &info->shape, &closed)) return most;
    const int64_t elements = shape_elements(&closed);
    if (elements != DIM_UNKNOWN && !(is_known(elements) && elements <= MOST_ELEMENTS))
        return most;
    most.shape = closed;
    most.is_upper_bound = true;
    return most;
}

/* Whether the second walk could know more of the node than the first. */
static bool is_open(const struct walk *walk, const struct op_context *context) {
    if (context->op->memory == MEMORY_CONTROL) return true;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const uint32_t value = context->node->inputs[i];
        if (value == ID_NONE) continue;
        const bool is_new = op_input(context, i)->value && !walk->exact->facts[value].value;
        if (is_new || op_is_loose(context, i)) return true;
    }
    for (size_t i = 0; i < context->n_outputs; i++)
        if (op_has_output(context, i) &&
            !value_info_is_settled(&walk->exact->facts[context->node->outputs[i]]))
            return true;
    return false;
}

/* Dims that are bounded above are at least 0. */
static int least_dims(struct arena *arena, const struct value_info *exact,
                      struct value_info *ret) {
    if (shape_make(arena, exact->shape.rank, exact->shape.dims, &ret->shape) < 0)
        return CM_NO_MEMORY;
    for (int axis = 0; axis < ret->shape.rank; axis++)
        if (!is_known(ret->shape.dims[axis])) ret->shape.dims[axis] = 0;
    return CM_OK;
}

/* A loose operand as the rule may see it at that end. */
static int operand_at(struct walk *walk, const struct op_context *context, size_t slot,
                      enum op_end end, struct value_info *ret) {
    const char letter = monotone_letter(context->op, slot);
    const struct value_info *exact = &walk->exact->facts[context->node->inputs[slot]];
    *ret = *context->inputs[slot];
    if (context->op->memory == MEMORY_CONTROL) return CM_OK;
    if (letter == MONOTONE_NOT) *ret = *exact;
    if (letter == MONOTONE_DIMS) ret->value = ret->least = NULL;
    const bool falls = letter == MONOTONE_FALLING;
    if (ret->least && (end == RULE_LEAST) != falls) ret->value = ret->least;
    if (end == RULE_LEAST && ret->is_upper_bound && ret->kind == CM_TYPE_TENSOR)
        return least_dims(walk->arena, exact, ret);
    return CM_OK;
}

/* The rule with its operands as they are at that end. */
static int op_at(struct walk *walk, const struct op_context *context, enum op_end end,
                 struct op_context *ret) {
    const struct value_info **inputs =
        arena_array(walk->arena, context->n_inputs, sizeof *inputs);
    struct value_info *outputs = arena_array(walk->arena, context->n_outputs, sizeof *outputs);
    if (!inputs || !outputs) return CM_NO_MEMORY;
    for (size_t i = 0; i < context->n_outputs; i++) outputs[i] = value_info_unknown();
    for (size_t i = 0; i < context->n_inputs; i++) {
        inputs[i] = context->inputs[i];
        if (!op_is_loose(context, i)) continue;
        struct value_info *info = arena_array(walk->arena, 1, sizeof *info);
        if (!info || operand_at(walk, context, i, end, info) < 0) return CM_NO_MEMORY;
        inputs[i] = info;
    }
    *ret = *context;
    ret->inputs = inputs;
    ret->outputs = outputs;
    ret->end = end;
    return CM_OK;
}

/* Whether no element is below 0. */
static bool is_positive(const struct constant *value) {
    const int64_t n = value->place == CONSTANT_SPLAT ? 1 : value->n_elements;
    const bool ints = constant_has_ints(value);
    if (!ints && !constant_has_reals(value)) return false;
    for (int64_t i = 0; i < n; i++)
        if (ints ? constant_int_at(value, i) < 0 : !(constant_real_at(value, i) >= 0))
            return false;
    return true;
}

/* What grows only with what is not negative is not asked about anything else. */
static bool may_fold(const struct op_context *context) {
    if (monotone_letter(context->op, 0) != MONOTONE_POSITIVE) return true;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = op_input(context, i);
        const struct constant *least = info->least ? info->least : info->value;
        if (least && !is_positive(least)) return false;
    }
    return true;
}

/* The contents of the outputs at that end, whose shapes are known. */
static int fold_at(struct walk *walk, const struct op_context *context, enum op_end end,
                   struct op_context *ret) {
    int status = op_at(walk, context, end, ret);
    for (size_t i = 0; i < context->n_outputs && status == CM_OK; i++) {
        if (!op_has_output(context, i)) continue;
        ret->outputs[i] = walk->exact->facts[context->node->outputs[i]];
        ret->outputs[i].value = NULL;
    }
    return status < 0 ? status : walk_fold(walk, ret);
}

/* Whether `a` is nowhere above `b`; *ret_same: they are one. */
static bool is_below(const struct constant *a, const struct constant *b, bool *ret_same) {
    const bool ints = constant_has_ints(a) && constant_has_ints(b);
    *ret_same = true;
    if (!ints && !(constant_has_reals(a) && constant_has_reals(b))) return false;
    for (int64_t i = 0; i < a->n_elements; i++) {
        const double x = ints ? 0 : constant_real_at(a, i);
        const double y = ints ? 0 : constant_real_at(b, i);
        const int64_t n = ints ? constant_int_at(a, i) : 0;
        const int64_t m = ints ? constant_int_at(b, i) : 0;
        if (n > m || !(x <= y)) return false;
        *ret_same = *ret_same && n == m && !(x < y);
    }
    return true;
}

/* Contents of shape arithmetic between both ends. */
static void keep_contents(const struct value_info *least, const struct value_info *most,
                          struct value_info *ret) {
    bool same = false;
    if (ret->value || !least->value || !most->value) return;
    if (most->value->n_elements > CONSTANT_MAX_ELEMENTS) return;
    if (!is_below(least->value, most->value, &same)) return;
    ret->value = most->value;
    ret->least = same ? NULL : least->value;
}

static bool has_settled_outputs(const struct walk *walk, const struct op_context *context) {
    for (size_t i = 0; i < context->n_outputs; i++)
        if (op_has_output(context, i) &&
            !value_info_is_complete(&walk->exact->facts[context->node->outputs[i]]))
            return false;
    return true;
}

static int fold_most(struct walk *walk, const struct op_context *context) {
    struct op_context least, most;
    if (!context->op->fold || context->op->memory == MEMORY_CONTROL) return CM_OK;
    if (!has_settled_outputs(walk, context) || !may_fold(context)) return CM_OK;
    int status = fold_at(walk, context, RULE_MOST, &most);
    if (status == CM_OK) status = fold_at(walk, context, RULE_LEAST, &least);
    if (status < 0) return status;
    for (size_t i = 0; i < context->n_outputs; i++)
        if (op_has_output(context, i))
            keep_contents(&least.outputs[i], &most.outputs[i],
                          &walk->table->facts[context->node->outputs[i]]);
    return CM_OK;
}

int most_of_node(struct walk *walk, struct op_context *context) {
    const struct node *node = context->node;
    struct op_context most;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE)
            walk->table->facts[node->outputs[i]] = walk->exact->facts[node->outputs[i]];
    if (!is_open(walk, context)) return CM_OK;
    int status = op_at(walk, context, RULE_MOST, &most);
    if (status == CM_OK) status = walk_infer(walk, &most);
    for (size_t i = 0; i < node->n_outputs && status == CM_OK; i++)
        if (node->outputs[i] != ID_NONE)
            walk->table->facts[node->outputs[i]] =
                most_of_value(walk, node->outputs[i], &most.outputs[i]);
    if (status == CM_OK) status = fold_most(walk, context);
    /* where the largest do not fit together, nothing is known of what comes out */
    return status == CM_NO_MEMORY ? status : CM_OK;
}

int most_walk(const struct walk *exact, const struct infer_table **ret) {
    struct walk walk = *exact;
    *ret = exact->table;
    if (!exact->table->is_open) return CM_OK;
    walk.exact = exact->table;
    walk.table = arena_array(walk.arena, 1, sizeof *walk.table);
    walk.diag = NULL;
    if (!walk.table) return diag_no_memory(exact->diag);
    int status = walk_start(&walk);
    if (status == CM_OK) status = walk_graph(&walk, 0);
    *ret = walk.table;
    walk.table->upper = walk.table;
    return status < 0 ? diag_no_memory(exact->diag) : CM_OK;
}
