/* SPDX-License-Identifier: Apache-2.0 */
/* Scales products of constants with the batch: see constant_products.h. */
#include "passes/batch/constant_products.h"

#include <string.h>

#include "passes/infer/context.h"
#include "support/arena.h"

#include "support/banned.h"

#define MAX_PLACES 3 /* axes of a value that may be its batch axis */

/* An operand of a node that has to hold the batch. */
struct request {
    struct batch_change change;
    const struct request *next; /* for the same value */
};

/* A batch axis that the uses of a constant ask for: dims[axis] = outer * batch * inner. Behind
 * a Reshape there may be several: of [10,32] in [10,1,32] either [10*N,32] or [10,N*32]. */
struct demand {
    int axis;
    int64_t outer;  /* 0 if unknown */
    bool required;  /* a use does not fit without it */
    bool costs;     /* there is a product between the value and a use */
    bool is_images; /* that product has a batch axis by definition: a convolution */
    const struct request *requests;
};

struct demands {
    size_t n;
    struct demand items[MAX_PLACES]; /* each for another axis */
};

struct scaling {
    struct probe *probe;
    const struct change_list *changes; /* of the solution */
    struct change_list *tiles;         /* to find */
    struct demands *demands;           /* by value */
    bool *depends;                     /* by value: a constant computed by a product */
    uint32_t
        *blocked; /* value whose batch axis comes from no operand of a product, or ID_NONE */
    uint32_t *undecided; /* by value: the constant that it is computed from and that may have
                            been tiled; ID_NONE: there is none */
};

static const struct value_info *before(const struct scaling *scaling, uint32_t value) {
    return &scaling->probe->before.table->infos[value];
}

static struct value_info *after(const struct scaling *scaling, uint32_t value) {
    return &scaling->probe->after.table->infos[value];
}

static const struct node *node_of(const struct scaling *scaling, uint32_t node) {
    return &scaling->probe->model->nodes[node];
}

/* Returns true for a constant that does not hold the batch. */
static bool is_fixed(const struct scaling *scaling, uint32_t value) {
    return before(scaling, value)->is_constant && batch_axis_power(scaling->probe, value) == 0;
}

static bool is_fixed_node(const struct scaling *scaling, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && !is_fixed(scaling, node->outputs[i])) return false;
    return node->n_outputs > 0;
}

/* Sets `depends`. Returns false if there is no product of constants. */
static bool find_products(const struct scaling *scaling) {
    const struct probe *probe = scaling->probe;
    const struct graph *graph = &probe->model->graphs[0];
    bool found = false;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = node_of(scaling, graph->nodes[i]);
        if (!is_fixed_node(scaling, node)) continue;
        bool depends = probe->ops[graph->nodes[i]]->cost.macs;
        for (size_t k = 0; k < node->n_inputs && !depends; k++)
            depends = node->inputs[k] != ID_NONE && scaling->depends[node->inputs[k]];
        for (size_t k = 0; k < node->n_outputs && depends; k++)
            if (node->outputs[k] != ID_NONE) scaling->depends[node->outputs[k]] = found = true;
    }
    return found;
}

/* --- Trials: a node is walked with some operands scaled. --- */

/*
 * Walks the node with the changes, and restores its outputs. Returns true if it fits and output
 * `value` grew along `axis` only; with value ID_NONE, if no output changed its shape.
 */
static bool fits_with(const struct scaling *scaling, uint32_t node_id,
                      const struct batch_change *changes, size_t n, uint32_t value, int axis) {
    struct probe *probe = scaling->probe;
    const struct node *node = node_of(scaling, node_id);
    if ((scaling->probe->trials_left -= 1 + (int64_t)node->n_inputs) < 0) return false;
    const struct override *overrides = probe->overrides[node_id];
    const struct arena_mark mark = arena_save(probe->arena);
    const struct op_budget budget = probe->after.budget;
    struct cm_diagnostics *diag = probe->after.diag;
    struct value_info *saved = arena_array(probe->arena, node->n_outputs, sizeof *saved);
    bool fits = saved;
    for (size_t i = 0; i < node->n_outputs && saved; i++)
        if (node->outputs[i] != ID_NONE) saved[i] = *after(scaling, node->outputs[i]);
    for (size_t i = 0; i < n; i++)
        fits = fits && batch_axis_apply(probe, probe->overrides, &changes[i], PROBE_BATCH) == 0;
    probe->after.diag = NULL;
    fits = fits && walk_node(&probe->after, node_id) == CM_OK;
    probe->after.diag = diag;
    if (fits && value != ID_NONE)
        fits =
            batch_axis_power(probe, value) == 1 && batch_axis_grown_axis(probe, value) == axis;
    for (size_t i = 0; i < node->n_outputs && saved; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        struct value_info *info = after(scaling, node->outputs[i]);
        if (value == ID_NONE) fits = fits && shape_equal(&info->shape, &saved[i].shape);
        *info = saved[i];
    }
    probe->overrides[node_id] = overrides;
    probe->after.budget = budget;
    arena_restore(probe->arena, mark);
    return fits;
}

static bool is_scalable(const struct scaling *scaling, const struct shape *shape, int axis) {
    return axis >= 0 && axis < shape->rank && shape->dims[axis] > 0 &&
           shape->dims[axis] % scaling->probe->batch == 0;
}

static struct batch_change dims_change(const struct scaling *scaling, uint32_t node,
                                       size_t slot, int axis) {
    const uint32_t value = node_of(scaling, node)->inputs[slot];
    return (struct batch_change){.node = node,
                                 .slot = (uint32_t)slot,
                                 .axis = axis,
                                 .dims = &before(scaling, value)->shape};
}

/* Returns true if the operand is a constant that an exporter may have tiled. */
static bool is_tileable(const struct scaling *scaling, uint32_t node_id, size_t slot) {
    const uint32_t value = node_of(scaling, node_id)->inputs[slot];
    if (value == ID_NONE || strchr("Wns", op_role(scaling->probe->ops[node_id], slot)))
        return false;
    return is_fixed(scaling, value) && value_info_is_complete(before(scaling, value));
}

/* Returns true if the batch may be on that axis of a tileable operand. Of a matrix that may be
 * learned only an axis of exactly the batch's size. */
static bool may_hold(const struct scaling *scaling, const struct batch_change *change) {
    const uint32_t value = node_of(scaling, change->node)->inputs[change->slot];
    const bool is_matrix = before(scaling, value)->is_weight && change->dims->rank <= 2;
    return is_scalable(scaling, change->dims, change->axis) &&
           (!is_matrix || change->dims->dims[change->axis] == scaling->probe->batch);
}

/* --- Demands: where the batch axis of a constant comes from. --- */

/* Returns the demand for that axis of the value, a new one if need be; NULL if there are too
 * many. */
static struct demand *demand_for(const struct scaling *scaling, uint32_t value, int axis,
                                 int64_t outer) {
    struct demands *demands = &scaling->demands[value];
    for (size_t i = 0; i < demands->n; i++)
        if (demands->items[i].axis == axis) return &demands->items[i];
    if (demands->n == MAX_PLACES) return NULL;
    demands->items[demands->n] = (struct demand){.axis = axis, .outer = outer};
    return &demands->items[demands->n++];
}

static int demand_axis(const struct scaling *scaling, const struct batch_change *change,
                       const struct demand *like, int64_t outer) {
    const uint32_t value = node_of(scaling, change->node)->inputs[change->slot];
    struct demand *demand = demand_for(scaling, value, change->axis, outer);
    struct request *request = arena_alloc(scaling->probe->arena, sizeof *request);
    if (!request) return CM_NO_MEMORY;
    if (!demand) return CM_OK;
    *request = (struct request){*change, demand->requests};
    demand->requests = request;
    demand->required = demand->required || like->required;
    demand->costs = demand->costs || like->costs;
    demand->is_images = demand->is_images || like->is_images;
    return CM_OK;
}

/* Returns the axis that the solution scales of the operand, or -1. */
static int changed_axis(const struct scaling *scaling, uint32_t node, size_t slot) {
    const struct override *override = scaling->probe->overrides[node];
    const struct change_list *list = scaling->changes;
    for (size_t i = 0; i < list->n && override; i++)
        if (list->items[i].node == node && list->items[i].slot == slot &&
            !list->items[i].is_target)
            return list->items[i].axis;
    return -1;
}

/* Demands the batch axis of a constant operand of a node whose output holds the batch. */
static int meet(const struct scaling *scaling, uint32_t node, size_t slot) {
    const uint32_t value = node_of(scaling, node)->inputs[slot];
    if (value == ID_NONE || !scaling->depends[value] || !is_tileable(scaling, node, slot))
        return CM_OK;
    struct demand like = {.required = true};
    struct batch_change change = dims_change(scaling, node, slot, 0);
    change.axis = changed_axis(scaling, node, slot);
    if (change.axis >= 0) return demand_axis(scaling, &change, &like, 1);
    like.required = false;
    for (change.axis = 0; change.axis < change.dims->rank; change.axis++)
        if (change.dims->dims[change.axis] == scaling->probe->batch &&
            fits_with(scaling, node, &change, 1, ID_NONE, 0))
            return demand_axis(scaling, &change, &like, 1);
    return CM_OK;
}

static int add_tile(const struct scaling *scaling, const struct batch_change *change) {
    return batch_axis_push(scaling->probe->arena, scaling->tiles, change);
}

/* Finds an operand that lists the output's dims or repeats (Tile, Expand, ConstantOfShape) and
 * scales it along `axis`. */
static bool find_list(const struct scaling *scaling, uint32_t node_id, uint32_t value, int axis,
                      struct batch_change *ret) {
    const struct node *node = node_of(scaling, node_id);
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        const struct constant *list = batch_axis_fixed_list(scaling->probe, node->inputs[slot]);
        if (!list || axis >= list->n_elements) continue;
        struct shape *dims = arena_alloc(scaling->probe->arena, sizeof *dims);
        if (!dims || shape_make(scaling->probe->arena, (int)list->n_elements, NULL, dims) < 0)
            return false;
        for (int i = 0; i < dims->rank; i++) dims->dims[i] = constant_int_at(list, i);
        *ret = (struct batch_change){.node = node_id,
                                     .slot = (uint32_t)slot,
                                     .is_target = true,
                                     .axis = axis,
                                     .dims = dims};
        if (is_scalable(scaling, dims, axis) &&
            fits_with(scaling, node_id, ret, 1, value, axis))
            return true;
    }
    return false;
}

/* Demands the axis of each operand that alone scales the output. */
static int lift_singly(const struct scaling *scaling, uint32_t node_id, uint32_t value,
                       const struct demand *demand, bool *ret_lifted) {
    const struct node *node = node_of(scaling, node_id);
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (!is_tileable(scaling, node_id, slot)) continue;
        struct batch_change change = dims_change(scaling, node_id, slot, 0);
        for (change.axis = 0; change.axis < change.dims->rank; change.axis++) {
            if (!may_hold(scaling, &change) ||
                !fits_with(scaling, node_id, &change, 1, value, demand->axis))
                continue;
            if (demand_axis(scaling, &change, demand, demand->outer) < 0) return CM_NO_MEMORY;
            *ret_lifted = true;
            break;
        }
    }
    return CM_OK;
}

/* Demands an axis of several operands that scale the output together: Concat. */
static int lift_jointly(const struct scaling *scaling, uint32_t node_id, uint32_t value,
                        const struct demand *demand, bool *ret_lifted) {
    const struct node *node = node_of(scaling, node_id);
    struct batch_change *changes =
        arena_array(scaling->probe->arena, node->n_inputs, sizeof *changes);
    size_t n = 0;
    if (!changes) return CM_NO_MEMORY;
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (!is_tileable(scaling, node_id, slot)) continue;
        struct batch_change change = dims_change(scaling, node_id, slot, demand->axis);
        if (may_hold(scaling, &change)) changes[n++] = change;
    }
    if (n < 2 || !fits_with(scaling, node_id, changes, n, value, demand->axis)) return CM_OK;
    for (size_t i = 0; i < n; i++)
        if (demand_axis(scaling, &changes[i], demand, demand->outer) < 0) return CM_NO_MEMORY;
    *ret_lifted = true;
    return CM_OK;
}

/* Demands the axes of a Reshape's operand that its row-major order allows. */
static int lift_target(const struct scaling *scaling, uint32_t node_id, uint32_t value,
                       const struct demand *demand, bool *ret_lifted) {
    const struct node *node = node_of(scaling, node_id);
    struct batch_candidate places[SHAPE_MAX_RANK];
    if (scaling->probe->ops[node_id]->target != TARGET_DIMS || node->n_inputs < 2 ||
        demand->outer == 0 || !is_tileable(scaling, node_id, 0))
        return CM_OK;
    const struct shape *out = &before(scaling, value)->shape;
    const int64_t prefix = checked_mul(shape_product(out, 0, demand->axis), demand->outer);
    struct batch_change changes[2] = {
        dims_change(scaling, node_id, 0, 0),
        {.node = node_id, .slot = 1, .is_target = true, .axis = demand->axis, .dims = out}};
    if (!is_known(prefix)) return CM_OK;
    const size_t n = batch_axis_places_in(scaling->probe, changes[0].dims, prefix, places);
    for (size_t i = 0; i < n; i++) {
        changes[0].axis = places[i].axis;
        if (!may_hold(scaling, &changes[0]) ||
            !fits_with(scaling, node_id, changes, 2, value, demand->axis))
            continue;
        *ret_lifted = true;
        if (demand_axis(scaling, &changes[0], demand, places[i].outer) < 0) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* --- Sources. --- */

/* Returns true if all elements are equal, as those of zeros and ones. */
static bool is_uniform(const struct scaling *scaling, const struct constant *constant) {
    const struct constant *loaded =
        constant
            ? constant_loaded(constant, &scaling->probe->model->reader, scaling->probe->arena)
            : NULL;
    if (!loaded || loaded->place == CONSTANT_SPLAT) return loaded;
    const bool ints = constant_has_ints(loaded);
    if (!ints && !constant_has_reals(loaded)) return false;
    for (int64_t i = 1; i < loaded->n_elements; i++)
        if (ints ? constant_int_at(loaded, i) != constant_int_at(loaded, 0)
                 : constant_real_at(loaded, i) != constant_real_at(loaded, 0))
            return false;
    return true;
}

static const struct constant *stored(const struct scaling *scaling, uint32_t value) {
    const struct value *source = &scaling->probe->model->values[value];
    return source->constant ? source->constant : before(scaling, value)->value;
}

/* Returns true if dims[axis] is the batch alone. */
static bool is_bare(const struct scaling *scaling, uint32_t value,
                    const struct demand *demand) {
    return before(scaling, value)->shape.dims[demand->axis] == scaling->probe->batch;
}

/*
 * Settles a demand that leads to a constant without operands, or to an axis that its node
 * inserts. The constant was tiled if its batch axis is longer than 1, if a use does not fit
 * without it, if the exporter recorded it, if it was created with one repeated number (a zero
 * state), or if it is a batch of images. Otherwise it may have been used as it is.
 */
static int settle(const struct scaling *scaling, uint32_t value, const struct demand *demand) {
    const bool is_tiled = scaling->probe->batch > 1 || demand->required || demand->is_images ||
                          scaling->probe->model->values[value].is_repeated ||
                          is_uniform(scaling, stored(scaling, value));
    if (!is_tiled) {
        if (demand->costs) scaling->undecided[value] = value;
        return CM_OK;
    }
    for (const struct request *request = demand->requests; request; request = request->next)
        if (add_tile(scaling, &request->change) < 0) return CM_NO_MEMORY;
    return CM_OK;
}

/* Keeps only the demands for axes of exactly the batch's size, if there are any: they are the
 * likeliest. */
static void keep_likeliest(const struct scaling *scaling, uint32_t value) {
    struct demands *demands = &scaling->demands[value];
    size_t n = 0;
    for (size_t i = 0; i < demands->n; i++)
        if (is_bare(scaling, value, &demands->items[i]))
            demands->items[n++] = demands->items[i];
    if (n > 0) demands->n = n;
}

/* Settles the first demand on a constant without operands. */
static int settle_source(const struct scaling *scaling, uint32_t value) {
    const struct demands *demands = &scaling->demands[value];
    keep_likeliest(scaling, value);
    return demands->n > 0 ? settle(scaling, value, &demands->items[0]) : CM_OK;
}

/* Follows a demand on an output of a node of constants to its operands. */
static int lift(const struct scaling *scaling, uint32_t node_id, uint32_t value,
                struct demand demand) {
    const struct node *node = node_of(scaling, node_id);
    const struct op *op = scaling->probe->ops[node_id];
    struct batch_change list;
    const bool has_list = find_list(scaling, node_id, value, demand.axis, &list);
    bool lifted = false;
    if (has_list &&
        shape_equal(&before(scaling, node->inputs[0])->shape, &before(scaling, value)->shape))
        return add_tile(scaling, &list);
    demand.costs = demand.costs || op->cost.macs;
    demand.is_images =
        demand.is_images || (op->cost.macs && op_role(op, 0) == 'x' && op_role(op, 1) == 'W');
    int status = lift_singly(scaling, node_id, value, &demand, &lifted);
    if (status == CM_OK && !lifted)
        status = lift_jointly(scaling, node_id, value, &demand, &lifted);
    if (status == CM_OK && !lifted)
        status = lift_target(scaling, node_id, value, &demand, &lifted);
    if (status < 0 || lifted) return status;
    if (has_list) return add_tile(scaling, &list);
    if (!is_bare(scaling, value, &demand)) return CM_OK;
    if (op->memory != MEMORY_VIEW && scaling->depends[value]) *scaling->blocked = value;
    return settle(scaling, value, &demand);
}

/* Follows the demands on the outputs of a node of constants. */
static int lift_outputs(const struct scaling *scaling, uint32_t node_id) {
    const struct node *node = node_of(scaling, node_id);
    for (size_t k = 0; k < node->n_outputs; k++) {
        const uint32_t value = node->outputs[k];
        if (value != ID_NONE) keep_likeliest(scaling, value);
        for (size_t i = 0; value != ID_NONE && i < scaling->demands[value].n; i++) {
            int status = lift(scaling, node_id, value, scaling->demands[value].items[i]);
            if (status < 0) return status;
        }
    }
    return CM_OK;
}

/* Follows all demands from the last node to the first. */
static int follow_demands(const struct scaling *scaling) {
    const struct model *model = scaling->probe->model;
    const struct graph *graph = &model->graphs[0];
    int status = CM_OK;
    for (size_t i = graph->n_nodes; i-- > 0 && status == CM_OK;) {
        const uint32_t id = graph->nodes[i];
        const struct node *node = node_of(scaling, id);
        if (is_fixed_node(scaling, node) && node->n_inputs == 0)
            for (size_t k = 0; k < node->n_outputs && status == CM_OK; k++)
                status = settle_source(scaling, node->outputs[k]);
        else if (is_fixed_node(scaling, node))
            status = lift_outputs(scaling, id);
        for (size_t slot = 0;
             slot < node->n_inputs && status == CM_OK && !is_fixed_node(scaling, node); slot++)
            status = meet(scaling, id, slot);
    }
    for (uint32_t value = 0; value < model->n_values && status == CM_OK; value++)
        if (model->values[value].node == ID_NONE) status = settle_source(scaling, value);
    return status;
}

/* --- Interface. --- */

int constant_products_find(struct probe *probe, const struct change_list *changes,
                           struct change_list *tiles, struct scaling **ret) {
    const size_t n_values = probe->model->n_values;
    struct scaling *scaling = arena_alloc(probe->arena, sizeof *scaling);
    *ret = NULL;
    if (!scaling) return CM_NO_MEMORY;
    *scaling = (struct scaling){
        .probe = probe,
        .changes = changes,
        .tiles = tiles,
        .demands = arena_array(probe->arena, n_values, sizeof *scaling->demands),
        .depends = arena_array(probe->arena, n_values, sizeof *scaling->depends),
        .undecided = arena_array(probe->arena, n_values, sizeof *scaling->undecided),
        .blocked = arena_array(probe->arena, 1, sizeof *scaling->blocked),
    };
    if (!scaling->demands || !scaling->depends || !scaling->undecided || !scaling->blocked)
        return CM_NO_MEMORY;
    *scaling->blocked = ID_NONE;
    if (!find_products(scaling)) return CM_OK;
    for (uint32_t id = 0; id < n_values; id++) scaling->undecided[id] = ID_NONE;
    *ret = scaling;
    return follow_demands(scaling);
}

/* Returns the constant that may have been tiled before the node, or ID_NONE, and hands it on to
 * the outputs that do not hold the batch although a use asks for it. */
static uint32_t pass_undecided(const struct scaling *scaling, const struct node *node) {
    uint32_t source = ID_NONE;
    bool is_open = false;
    for (size_t i = 0; i < node->n_inputs && source == ID_NONE; i++)
        if (node->inputs[i] != ID_NONE) source = scaling->undecided[node->inputs[i]];
    for (size_t i = 0; i < node->n_outputs && source != ID_NONE; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE || scaling->demands[value].n == 0 ||
            batch_axis_grown_axis(scaling->probe, value) >= 0)
            continue;
        scaling->undecided[value] = source;
        is_open = true;
    }
    return is_open ? source : ID_NONE;
}

uint32_t constant_products_undecided(const struct scaling *scaling, uint32_t *ret_constant) {
    const struct probe *probe = scaling->probe;
    const struct graph *graph = &probe->model->graphs[0];
    *ret_constant = *scaling->blocked;
    if (*ret_constant != ID_NONE) return probe->model->values[*ret_constant].node;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const uint32_t id = graph->nodes[i];
        *ret_constant = pass_undecided(scaling, node_of(scaling, id));
        if (*ret_constant != ID_NONE && probe->ops[id]->cost.macs) return id;
    }
    return ID_NONE;
}
