/* SPDX-License-Identifier: Apache-2.0 */
/* One step of the search for stale operands: see rebatch.h. */
#include <string.h>

#include "passes/batch/rebatch.h"
#include "support/arena.h"

/* ALL_OPERANDS: change all operands together. Up to MAX_SINGLE also each alone. */
#define ALL_OPERANDS SIZE_MAX
#define MAX_SINGLE   8

/* --- Changes. --- */

int repair_apply(const struct search *search, const struct override **overrides,
                 const struct batch_change *change, int64_t batch) {
    const struct node *node = &search->model->nodes[change->node];
    struct value_info *info = arena_alloc(search->arena, sizeof *info);
    struct override *entry = arena_alloc(search->arena, sizeof *entry);
    struct shape shape;
    if (!info || !entry ||
        shape_make(search->arena, change->dims->rank, change->dims->dims, &shape) < 0)
        return CM_NO_MEMORY;
    shape.dims[change->axis] = checked_mul(shape.dims[change->axis] / search->batch, batch);
    if (change->is_target) { /* a 1-D operand that lists the dims */
        const int64_t rank = shape.rank;
        struct shape length;
        if (shape_make(search->arena, 1, &rank, &length) < 0) return CM_NO_MEMORY;
        *info = value_info_tensor(DTYPE_INT64, length);
        info->value = constant_ints(search->arena, DTYPE_INT64, &length, shape.dims);
        info->is_constant = true;
        if (!info->value) return CM_NO_MEMORY;
    } else {
        *info = *before(search, node->inputs[change->slot]);
        info->shape = shape;
        info->value = NULL;
        info->is_data_missing = false;
    }
    *entry = (struct override){.node = change->node,
                               .slot = change->slot,
                               .info = info,
                               .next = overrides[change->node]};
    overrides[change->node] = entry;
    return CM_OK;
}

void repair_push(struct arena *arena, struct change_list *list,
                 const struct batch_change *change) {
    (void)arena_push(arena, &list->items, &list->n, &list->capacity, change, sizeof *change);
}

void repair_add(struct search *search, const struct batch_change *change) {
    if (repair_apply(search, search->overrides, change, PROBE_BATCH) == CM_OK)
        repair_push(search->arena, &search->changes, change);
}

void repair_undo(struct search *search, size_t n) {
    while (search->changes.n > n) {
        const uint32_t node = search->changes.items[--search->changes.n].node;
        search->overrides[node] = search->overrides[node]->next;
    }
}

int repair_reset_sink(struct search *search) {
    cm_diagnostics_free(search->sink);
    search->sink = cm_diagnostics_new();
    search->walk.diag = search->sink;
    return search->sink ? CM_OK : CM_NO_MEMORY;
}

/* Walks the node at PROBE_BATCH. Returns the same statuses as repair_step. */
static int try_node(struct search *search, uint32_t node) {
    const bool is_first = cm_diagnostics_count(search->sink) == 0;
    uint32_t at_fault = node;
    int status = walk_node(&search->walk, node);
    if (status == CM_NO_MEMORY) return status;
    if (is_first) search->misfit = status < 0;
    const char *objection = status < 0 ? NULL : batch_axis_objection(search, node, &at_fault);
    if (objection) status = diag_error(search->sink, DIAG_BATCH, "%s", objection);
    if (is_first) search->at_fault = at_fault;
    return status < 0 ? CONTRADICTION : CM_OK;
}

/* --- Targets of Reshapes. --- */

/* Changes the node's target to hold the batch at that place, then walks the node. */
static int try_place(struct search *search, uint32_t node_id,
                     const struct batch_location *place) {
    const uint32_t output = search->model->nodes[node_id].outputs[0];
    const struct batch_change change = {.node = node_id,
                                        .slot = 1,
                                        .is_target = true,
                                        .axis = place->axis,
                                        .dims = &before(search, output)->shape};
    repair_add(search, &change);
    return try_node(search, node_id);
}

/* Places the batch in the target of a Reshape whose operand holds the batch. `status` is the
 * result of walking the node unchanged. A target that fits unchanged (its elements scaled with
 * the batch, or a -1 became the batch) is kept, unless an axis of exactly the batch's size
 * precedes the axis that grew. */
static int place_target(struct search *search, size_t step, int status) {
    const uint32_t node_id = search->model->graphs[0].nodes[step];
    const struct node *node = &search->model->nodes[node_id];
    struct choice choice = {
        .step = step, .n_changes = search->changes.n, .budget = search->walk.budget};
    if (!batch_axis_is_reshape(search, node_id) || search->places[node->inputs[0]].axis < 0)
        return status;
    choice.n = batch_axis_places_after(search, node, choice.alternatives);
    const int axis = status == CM_OK ? batch_axis_of(search, node->outputs[0]) : -1;
    const int first = choice.alternatives[0].axis;
    const struct shape *out = &before(search, node->outputs[0])->shape;
    if (choice.n == 0) return status;
    if (axis >= 0 &&
        batch_axis_outer(out, axis, batch_axis_prefix(search, node->inputs[0])) > 0 &&
        (axis == first || out->dims[first] != search->batch ||
         !batch_axis_fixed_list(search, node->inputs[1])))
        return status;
    if (choice.n > 1 && !arena_push(search->arena, &search->choices, &search->n_choices,
                                    &search->choices_capacity, &choice, sizeof choice))
        return CM_NO_MEMORY;
    return try_place(search, node_id, &choice.alternatives[0]);
}

/* --- Operands of nodes that do not fit. --- */

/* Returns the shape of an operand that does not hold the batch but may need to, else NULL.
 * Lists of one number do not count, because their dim of 1 is not a batch, except the targets
 * of a loss of a product of the batch with itself. */
static const struct shape *stale_operand(const struct search *search, const struct op *op,
                                         const struct node *node, size_t slot) {
    const struct value_info *info = before(search, node->inputs[slot]);
    const char role = op_role(op, slot);
    bool has_square = false;
    for (size_t i = 0; i < node->n_inputs; i++)
        has_square = has_square || (node->inputs[i] != ID_NONE &&
                                    batch_axis_power(search, node->inputs[i]) > 1);
    const bool is_number = (info->value || info->is_data_missing) && info->shape.rank == 1 &&
                           info->shape.dims[0] == 1 && !has_square;
    /* learned tensors have no batch axis */
    const bool is_learned =
        strchr("Wns", role) || (role == 'w' && info->is_weight && info->shape.rank <= 2);
    const bool may_be_stale = search->places[node->inputs[slot]].axis < 0 &&
                              value_info_is_complete(info) &&
                              (info->is_constant || search->unlikely);
    return may_be_stale && !is_number && !is_learned ? &info->shape : NULL;
}

/* Returns the index of the element with the batch in a list of as many integers; -1: none. */
static int grown_element(const struct search *search, uint32_t value, int n) {
    const struct constant *small = before(search, value)->value;
    const struct constant *large = after(search, value)->value;
    if (!small || !large || small->n_elements != n || large->n_elements != n ||
        !constant_has_ints(small) || !constant_has_ints(large))
        return -1;
    for (int i = 0; i < n; i++)
        if (constant_int_at(small, i) != constant_int_at(large, i)) return i;
    return -1;
}

/* Returns the shape that an operand has to match: of the first operand that holds the batch, or
 * of the output if an operand lists its dims; sets *ret_axis to the batch axis. NULL: none. */
static const struct shape *find_partner(const struct search *search, const struct node *node,
                                        int *ret_axis) {
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        *ret_axis = search->places[node->inputs[i]].axis;
        if (*ret_axis >= 0) return &before(search, node->inputs[i])->shape;
    }
    for (size_t i = 0; i < node->n_inputs && node->n_outputs > 0; i++) {
        if (node->inputs[i] == ID_NONE || node->outputs[0] == ID_NONE) continue;
        const struct shape *out = &before(search, node->outputs[0])->shape;
        *ret_axis = grown_element(search, node->inputs[i], out->rank);
        if (*ret_axis >= 0) return out;
    }
    return NULL;
}

/* Finds a change of the operand at change->slot of change->node. */
typedef bool find_change(const struct search *search, struct batch_change *change);

/* A list of the dims of the output (of Expand, Resize) is stale on the axis to which the batch
 * of another operand broadcasts. */
static bool find_listed_dims(const struct search *search, struct batch_change *change) {
    const struct node *node = &search->model->nodes[change->node];
    const struct constant *list = batch_axis_fixed_list(search, node->inputs[change->slot]);
    const uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    int own = -1;
    const struct shape *in = find_partner(search, node, &own);
    if (!list || !in || output == ID_NONE || batch_axis_is_reshape(search, change->node))
        return false;
    const struct shape *out = &before(search, output)->shape;
    const int axis = out->rank - in->rank + own;
    if (!shape_is_known(out) || list->n_elements != out->rank || axis < 0 ||
        out->dims[axis] != in->dims[own])
        return false;
    for (int i = 0; i < out->rank; i++) {
        const int64_t listed = constant_int_at(list, i);
        /* the operator replaces 1 and -1 */
        if (listed != out->dims[i] && (i == axis || (listed != 1 && listed != -1)))
            return false;
    }
    change->is_target = true;
    change->axis = axis;
    change->dims = out;
    return true;
}

/* Returns the body of a Loop or Scan, or NULL. */
static const struct graph *loop_body(const struct search *search, uint32_t node) {
    const struct attr *attr = node_attr(&search->model->nodes[node], "body");
    if (search->ops[node]->memory != MEMORY_CONTROL || !attr || attr->kind != ATTR_GRAPH ||
        attr->n != 1)
        return NULL;
    return &search->model->graphs[attr->graphs[0]];
}

/* Finds the stale axis of a constant state of a Loop or Scan: the first that has the file's
 * batch, or that changes in the first iteration, when the batch joins the state. */
static bool find_state_axis(const struct search *search, bool by_size,
                            struct batch_change *change) {
    const struct node *node = &search->model->nodes[change->node];
    const struct graph *body = loop_body(search, change->node);
    const struct shape *shape =
        stale_operand(search, search->ops[change->node], node, change->slot);
    if (!body || !shape || body->n_inputs != node->n_inputs) return false;
    const uint32_t input = body->inputs[change->slot];
    const struct shape *inside = &after(search, input)->shape;
    for (size_t i = 0; i < body->n_outputs; i++)
        if (body->outputs[i] == input) return false; /* a weight, not a state */
    for (int axis = 0; axis < shape->rank && inside->rank == shape->rank; axis++) {
        const int64_t dim = shape->dims[axis];
        if (by_size ? dim != search->batch
                    : inside->dims[axis] == dim || dim % search->batch != 0)
            continue;
        change->axis = axis;
        change->dims = shape;
        return true;
    }
    return false;
}

static bool find_state(const struct search *search, struct batch_change *change) {
    return find_state_axis(search, search->misfit, change);
}

/* A state that the batch joins only after the loop fits at every size, but then a product in
 * the body does not hold the batch. It has the file's batch, which is not 1. */
static bool find_unjoined_state(const struct search *search, struct batch_change *change) {
    return !search->misfit && search->batch != 1 && find_state_axis(search, true, change);
}

/* A constant trip count is stale if it equals the file's batch, which is not 1. */
static bool find_trips(const struct search *search, struct batch_change *change) {
    const struct graph *body = loop_body(search, change->node);
    const size_t graph = body ? (size_t)(body - search->model->graphs) : 0;
    const uint32_t trips = search->model->nodes[change->node].inputs[change->slot];
    struct shape *dims = arena_alloc(search->arena, sizeof *dims);
    if (!body || change->slot != 0 || search->batch == 1 ||
        search->before.runs[graph] != search->batch ||
        search->after.runs[graph] != search->batch || !before(search, trips)->value || !dims ||
        shape_make(search->arena, 1, &search->batch, dims) < 0)
        return false;
    change->is_target = true;
    change->axis = 0;
    change->dims = dims;
    return true;
}

/* A constant is stale on the batch axis of another operand, if it has the file's batch there.
 * If the node requires equal dims, it must have the other operand's dim, a multiple of the
 * batch; indices may have this dim too, because the output takes its dims from them. */
static bool find_aligned(const struct search *search, struct batch_change *change) {
    const struct node *node = &search->model->nodes[change->node];
    const struct shape *partner = find_partner(search, node, &change->axis);
    change->dims = stale_operand(search, search->ops[change->node], node, change->slot);
    if (!partner || !change->dims || change->axis >= change->dims->rank) return false;
    const int64_t dim = change->dims->dims[change->axis];
    const bool is_index = dtype_is_integer(before(search, node->inputs[change->slot])->dtype);
    return (!search->misfit && dim == search->batch) ||
           ((search->misfit || is_index) && dim == partner->dims[change->axis]);
}

/* Returns true if the batch axis of the output is longer than that of the operand: a Concat
 * adds rows to the batch, and the file does not show if an export at batch N adds N times as
 * many. */
static bool adds_rows(const struct search *search, const struct node *node) {
    const int axis = node->n_outputs > 0 ? batch_axis_of(search, node->outputs[0]) : -1;
    int own = -1;
    const struct shape *partner = find_partner(search, node, &own);
    return axis >= 0 && partner &&
           before(search, node->outputs[0])->shape.dims[axis] > partner->dims[own];
}

/* Repairs a node that does not fit: changes all operands that may be stale for the same reason,
 * or if that does not fit, one (the data of a ScatterND, not its indices). */
static int repair(struct search *search, uint32_t node_id) {
    static find_change *const finders[] = {find_listed_dims, find_state, find_trips,
                                           find_aligned, find_unjoined_state};
    const struct node *node = &search->model->nodes[node_id];
    const bool is_loop = loop_body(search, node_id);
    const size_t n_tries = is_loop || node->n_inputs > MAX_SINGLE ? 1 : node->n_inputs + 1;
    const size_t n_changes = search->changes.n;
    for (size_t i = 0; i < sizeof finders / sizeof *finders * n_tries; i++) {
        find_change *const find = finders[i / n_tries];
        const size_t only = i % n_tries == 0 ? ALL_OPERANDS : i % n_tries - 1;
        for (size_t slot = 0; slot < node->n_inputs; slot++) {
            struct batch_change change = {.node = node_id, .slot = (uint32_t)slot};
            if (node->inputs[slot] != ID_NONE && (only == ALL_OPERANDS || only == slot) &&
                find(search, &change))
                repair_add(search, &change);
        }
        if (search->changes.n == n_changes) continue;
        if (is_loop && repair_reset_sink(search) < 0) return CM_NO_MEMORY;
        const int status = try_node(search, node_id);
        if (status < 0 || (status == CM_OK && (is_loop || !adds_rows(search, node))))
            return status;
        repair_undo(search, n_changes);
    }
    return CONTRADICTION;
}

int repair_step(struct search *search, size_t step) {
    const uint32_t node = search->model->graphs[0].nodes[step];
    const struct choice *choice =
        search->n_choices > 0 ? &search->choices[search->n_choices - 1] : NULL;
    int status = CM_OK;
    if (cm_diagnostics_count(search->sink) > 0 && repair_reset_sink(search) < 0)
        return CM_NO_MEMORY;
    if (choice && choice->step == step) {
        status = try_place(search, node, &choice->alternatives[choice->taken]);
    } else {
        const size_t n_choices = search->n_choices;
        status = try_node(search, node);
        if (status >= 0) status = place_target(search, step, status);
        if (status == CONTRADICTION && search->n_choices == n_choices)
            status = repair(search, node);
    }
    if (status == CM_OK) batch_axis_locate_outputs(search, node);
    return status;
}
