/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-batches products whose operands do not hold the batch, but which an export at batch N
 * computes N times: the projection of a learned query that was tiled to the batch (DETR,
 * SigLIP), a recurrent cell on a zero state, the embedding of a scalar time step (diffusion), a
 * convolution over position codes. Such an operand is a constant, or computed from inputs
 * without a batch axis. From the operand that must scale with the batch, the batch axis is
 * traced back to where the value was tiled. See docs/decisions/rebatching.md. Worked example: a
 * file at batch 2, asked for 8.
 *
 *     query [1,10,32] -> Tile [2,1,1] -> t [2,10,32] -> MatMul w -> p [2,10,32]
 *     MatMul(p, keys [2,32,16]) -> scores [2,10,16]
 *
 * 1. The nodes are visited from the last to the first. `keys` holds the batch and p is a
 *    constant: the last MatMul adds to p a demand {axis 0, required}, with the request "operand
 *    0 of the last MatMul".
 * 2. p is the output of a MatMul of constants. A trial shows that p grows along axis 0 if t
 *    does: the demand is propagated to t. A trial that scales w does not fit.
 * 3. t is the output of Tile, whose operand [2,1,1] lists the repeats. A trial with
 *    [PROBE_BATCH,1,1] scales axis 0 of t: this change is added to `tilings`. At batch 8
 *    it makes the operand [8,1,1], and the whole chain scales.
 * If t were a stored constant, decide_tiling would decide if the exporter tiled it.
 */
#include "passes/batch/batch_axis.h"

#include <string.h>

#include "passes/walk/context.h"
#include "support/arena.h"

#define MAX_PLACES 3 /* axes of a value that may be its batch axis */

/* An operand that must scale with the batch. */
struct request {
    struct batch_change change;
    const struct request *next; /* for the same value */
};

/* A batch axis that the uses of a constant need: dims[axis] = outer * batch * inner. A constant
 * may have several: if a Reshape of [10,32] to [10,1,32] must yield [10,N,32], its operand may
 * be [10*N,32] or [10,N*32]. */
struct demand {
    int axis;
    int64_t outer;  /* 0 if unknown */
    bool required;  /* a use does not fit without it */
    bool costs;     /* a product lies between the value and a use */
    bool is_images; /* this product has a batch axis by definition: a convolution */
    const struct request *requests;
};

struct demands {
    size_t n;
    struct demand items[MAX_PLACES]; /* for different axes */
};

struct tiling_search {
    struct probe *probe;
    const struct change_list *changes; /* of the solution */
    struct change_list *tilings;       /* found so far */
    struct demands *demands;           /* by value */
    bool *depends;       /* by value: without the batch, computed from a product */
    uint32_t *blocked;   /* output of a product that no operand scales; ID_NONE if none */
    uint32_t *undecided; /* by value: the possibly tiled constant from which it is computed */
};

static const struct value_info *before(const struct tiling_search *search, uint32_t value) {
    return &search->probe->before.table->infos[value];
}

static struct value_info *after(const struct tiling_search *search, uint32_t value) {
    return &search->probe->after.table->infos[value];
}

static const struct node *node_of(const struct tiling_search *search, uint32_t node) {
    return &search->probe->model->nodes[node];
}

/* Returns true if the value does not hold the batch. */
static bool is_fixed(const struct tiling_search *search, uint32_t value) {
    const struct value_info *info = before(search, value);
    return (info->is_constant || value_info_is_complete(info)) &&
           batch_axis_power(search->probe, value) == 0;
}

static bool is_fixed_node(const struct tiling_search *search, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && !is_fixed(search, node->outputs[i])) return false;
    return node->n_outputs > 0;
}

/* Sets `depends`. */
static void find_products(const struct tiling_search *search) {
    const struct probe *probe = search->probe;
    const struct graph *graph = &probe->model->graphs[0];
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = node_of(search, graph->nodes[i]);
        if (!is_fixed_node(search, node)) continue;
        bool depends = probe->ops[graph->nodes[i]]->cost.macs;
        for (size_t k = 0; k < node->n_inputs && !depends; k++)
            depends = node->inputs[k] != ID_NONE && search->depends[node->inputs[k]];
        for (size_t k = 0; k < node->n_outputs && depends; k++)
            if (node->outputs[k] != ID_NONE) search->depends[node->outputs[k]] = true;
    }
}

/* --- Trials: infer one node with some operands scaled. --- */

/*
 * Infers the outputs of the node with the changes, then restores the outputs. Returns true if
 * the shapes are valid and output `value` grew along `axis` only. If `value` is ID_NONE, no
 * output may change its shape instead.
 */
static bool fits_with(const struct tiling_search *search, uint32_t node_id,
                      const struct batch_change *changes, size_t n, uint32_t value, int axis) {
    struct probe *probe = search->probe;
    const struct node *node = node_of(search, node_id);
    if ((search->probe->trials_left -= 1 + (int64_t)node->n_inputs) < 0) return false;
    const struct override *overrides = probe->overrides[node_id];
    const struct arena_mark mark = arena_save(probe->arena);
    const struct op_budget budget = probe->after.budget;
    struct cm_diagnostics *diag = probe->after.diag;
    struct value_info *saved = arena_array(probe->arena, node->n_outputs, sizeof *saved);
    bool fits = saved;
    for (size_t i = 0; i < node->n_outputs && saved; i++)
        if (node->outputs[i] != ID_NONE) saved[i] = *after(search, node->outputs[i]);
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
        struct value_info *info = after(search, node->outputs[i]);
        if (value == ID_NONE) fits = fits && shape_equal(&info->shape, &saved[i].shape);
        *info = saved[i];
    }
    probe->overrides[node_id] = overrides;
    probe->after.budget = budget;
    arena_restore(probe->arena, mark);
    return fits;
}

static bool is_scalable(const struct tiling_search *search, const struct shape *shape,
                        int axis) {
    return axis >= 0 && axis < shape->rank && shape->dims[axis] > 0 &&
           shape->dims[axis] % search->probe->batch == 0;
}

static struct batch_change dims_change(const struct tiling_search *search, uint32_t node,
                                       size_t slot, int axis) {
    const uint32_t value = node_of(search, node)->inputs[slot];
    return (struct batch_change){.node = node,
                                 .slot = (uint32_t)slot,
                                 .axis = axis,
                                 .dims = &before(search, value)->shape};
}

/* Returns true if the operand does not hold the batch, and an exporter may have tiled it. */
static bool is_tileable(const struct tiling_search *search, uint32_t node_id, size_t slot) {
    const uint32_t value = node_of(search, node_id)->inputs[slot];
    if (value == ID_NONE || strchr("Wns", op_role(search->probe->ops[node_id], slot)))
        return false;
    return is_fixed(search, value) && value_info_is_complete(before(search, value));
}

/* Returns true if axis change->axis of a tileable operand may be the batch. In a weight matrix
 * the axis must have exactly the size of the batch. */
static bool may_hold(const struct tiling_search *search, const struct batch_change *change) {
    const uint32_t value = node_of(search, change->node)->inputs[change->slot];
    const bool is_matrix = before(search, value)->is_weight && change->dims->rank <= 2;
    return is_scalable(search, change->dims, change->axis) &&
           (!is_matrix || change->dims->dims[change->axis] == search->probe->batch);
}

/* --- Demands: where the batch axis of a constant comes from. --- */

/* Adds the change to the operand's demand for this axis, with the flags of `like`. */
static void demand_axis(const struct tiling_search *search, const struct batch_change *change,
                        const struct demand *like, int64_t outer) {
    const uint32_t value = node_of(search, change->node)->inputs[change->slot];
    struct demands *demands = &search->demands[value];
    struct request *request = arena_alloc(search->probe->arena, sizeof *request);
    size_t i = 0;
    while (i < demands->n && demands->items[i].axis != change->axis) i++;
    if (i == MAX_PLACES || !request) return;
    struct demand *demand = &demands->items[i];
    if (i == demands->n) {
        *demand = (struct demand){.axis = change->axis, .outer = outer};
        demands->n++;
    }
    *request = (struct request){*change, demand->requests};
    demand->requests = request;
    demand->required = demand->required || like->required;
    demand->costs = demand->costs || like->costs;
    demand->is_images = demand->is_images || like->is_images;
}

/* Returns the axis of the operand that the solution scales, or -1. */
static int changed_axis(const struct tiling_search *search, uint32_t node, size_t slot) {
    const struct override *override = search->probe->overrides[node];
    const struct change_list *list = search->changes;
    for (size_t i = 0; i < list->n && override; i++)
        if (list->items[i].node == node && list->items[i].slot == slot &&
            !list->items[i].is_target)
            return list->items[i].axis;
    return -1;
}

/* Adds a demand to an operand without the batch, of a node whose output holds the batch: on the
 * axis that the solution scales, else on the first axis of the batch's size that may be scaled.
 */
static void demand_operand(const struct tiling_search *search, uint32_t node, size_t slot) {
    const uint32_t value = node_of(search, node)->inputs[slot];
    if (value == ID_NONE || !is_tileable(search, node, slot)) return;
    if (before(search, value)->is_constant && !search->depends[value]) return;
    struct batch_change change = dims_change(search, node, slot, 0);
    change.axis = changed_axis(search, node, slot);
    const struct demand like = {.required = change.axis >= 0};
    if (change.axis < 0) {
        for (change.axis = 0; change.axis < change.dims->rank; change.axis++)
            if (change.dims->dims[change.axis] == search->probe->batch &&
                fits_with(search, node, &change, 1, ID_NONE, 0))
                break;
        if (change.axis == change.dims->rank) return;
    }
    demand_axis(search, &change, &like, 1);
}

static void add_tiling(const struct tiling_search *search, const struct batch_change *change) {
    batch_axis_push(search->probe->arena, search->tilings, change);
}

/* Finds the operand that lists the dims or repeats of the output (Tile, Expand,
 * ConstantOfShape). Sets *ret to the change that scales the output along `axis`. */
static bool find_dims_operand(const struct tiling_search *search, uint32_t node_id,
                              uint32_t value, int axis, struct batch_change *ret) {
    const struct node *node = node_of(search, node_id);
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        const struct constant *list = batch_axis_fixed_list(search->probe, node->inputs[slot]);
        if (!list) continue;
        struct shape *dims = arena_alloc(search->probe->arena, sizeof *dims);
        if (!dims || shape_make(search->probe->arena, (int)list->n_elements, NULL, dims) < 0)
            return false;
        for (int i = 0; i < dims->rank; i++) dims->dims[i] = constant_int_at(list, i);
        *ret = (struct batch_change){.node = node_id,
                                     .slot = (uint32_t)slot,
                                     .is_target = true,
                                     .axis = axis,
                                     .dims = dims};
        if (is_scalable(search, dims, axis) && fits_with(search, node_id, ret, 1, value, axis))
            return true;
    }
    return false;
}

/* Adds a demand to each operand that scales the output by itself. Returns true if one does. */
static bool propagate_to_one(const struct tiling_search *search, uint32_t node_id,
                             uint32_t value, const struct demand *demand) {
    const struct node *node = node_of(search, node_id);
    bool found = false;
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (!is_tileable(search, node_id, slot)) continue;
        struct batch_change change = dims_change(search, node_id, slot, 0);
        for (change.axis = 0; change.axis < change.dims->rank; change.axis++) {
            if (!may_hold(search, &change) ||
                !fits_with(search, node_id, &change, 1, value, demand->axis))
                continue;
            demand_axis(search, &change, demand, demand->outer);
            found = true;
            break;
        }
    }
    return found;
}

/* Adds a demand to the operands that scale the output only together: those of Concat. */
static bool propagate_to_several(const struct tiling_search *search, uint32_t node_id,
                                 uint32_t value, const struct demand *demand) {
    const struct node *node = node_of(search, node_id);
    struct batch_change *changes =
        arena_array(search->probe->arena, node->n_inputs, sizeof *changes);
    size_t n = 0;
    for (size_t slot = 0; slot < node->n_inputs && changes; slot++) {
        if (!is_tileable(search, node_id, slot)) continue;
        struct batch_change change = dims_change(search, node_id, slot, demand->axis);
        if (may_hold(search, &change)) changes[n++] = change;
    }
    if (n < 2 || !fits_with(search, node_id, changes, n, value, demand->axis)) return false;
    for (size_t i = 0; i < n; i++) demand_axis(search, &changes[i], demand, demand->outer);
    return true;
}

/* Adds demands to the data of a Reshape, by the row-major order of the elements. */
static bool propagate_through_reshape(const struct tiling_search *search, uint32_t node_id,
                                      uint32_t value, const struct demand *demand) {
    const struct node *node = node_of(search, node_id);
    struct batch_location places[SHAPE_MAX_RANK];
    bool found = false;
    if (search->probe->ops[node_id]->target != TARGET_DIMS || node->n_inputs < 2 ||
        demand->outer == 0 || !is_tileable(search, node_id, 0))
        return false;
    const struct shape *out = &before(search, value)->shape;
    const int64_t prefix = checked_mul(shape_product(out, 0, demand->axis), demand->outer);
    struct batch_change changes[2] = {
        dims_change(search, node_id, 0, 0),
        {.node = node_id, .slot = 1, .is_target = true, .axis = demand->axis, .dims = out}};
    if (!is_known(prefix)) return false;
    const size_t n = batch_axis_locations_in(search->probe, changes[0].dims, prefix, places);
    for (size_t i = 0; i < n; i++) {
        changes[0].axis = places[i].axis;
        if (!may_hold(search, &changes[0]) ||
            !fits_with(search, node_id, changes, 2, value, demand->axis))
            continue;
        found = true;
        demand_axis(search, &changes[0], demand, places[i].outer);
    }
    return found;
}

/* --- Sources. --- */

/* Returns true if all elements of the value are equal, as in zeros and ones. */
static bool is_uniform(const struct tiling_search *search, uint32_t value) {
    const struct probe *probe = search->probe;
    const struct constant *stored = probe->model->values[value].constant;
    if (!stored) stored = before(search, value)->value;
    if (!stored) return false;
    const struct constant *loaded =
        constant_loaded(stored, &probe->model->reader, probe->arena);
    if (!loaded || loaded->place == CONSTANT_SPLAT) return loaded;
    const bool ints = constant_has_ints(loaded);
    if (!ints && !constant_has_reals(loaded)) return false;
    for (int64_t i = 1; i < loaded->n_elements; i++)
        if (ints ? constant_int_at(loaded, i) != constant_int_at(loaded, 0)
                 : constant_real_at(loaded, i) != constant_real_at(loaded, 0))
            return false;
    return true;
}

/* Returns true if dims[demand->axis] is exactly the batch. */
static bool is_batch_alone(const struct tiling_search *search, uint32_t value,
                           const struct demand *demand) {
    return before(search, value)->shape.dims[demand->axis] == search->probe->batch;
}

/*
 * Decides whether the exporter tiled a value that is stored, or whose node inserts the batch
 * axis. It is tiled if the file's batch is above 1, if a use is invalid unless the value
 * scales, if the file records its repetition, or if all elements are equal (a zero state). A
 * batch of images is assumed to be tiled. Otherwise the value is marked undecided if products
 * depend on it.
 */
static void decide_tiling(const struct tiling_search *search, uint32_t value,
                          const struct demand *demand) {
    const bool is_tiled = search->probe->batch > 1 || demand->required ||
                          search->probe->model->values[value].is_repeated ||
                          is_uniform(search, value);
    if (!is_tiled && !demand->is_images) {
        if (demand->costs) search->undecided[value] = value;
        return;
    }
    if (!is_tiled) search->probe->assumed = value;
    for (const struct request *request = demand->requests; request; request = request->next)
        add_tiling(search, &request->change);
}

/* If demands are for axes of exactly the batch's size, drops the others, as less likely. */
static void keep_likeliest(const struct tiling_search *search, uint32_t value) {
    struct demands *demands = &search->demands[value];
    size_t n = 0;
    for (size_t i = 0; i < demands->n; i++)
        if (is_batch_alone(search, value, &demands->items[i]))
            demands->items[n++] = demands->items[i];
    if (n > 0) demands->n = n;
}

static void decide_source(const struct tiling_search *search, uint32_t value) {
    const struct demands *demands = &search->demands[value];
    keep_likeliest(search, value);
    if (demands->n > 0) decide_tiling(search, value, &demands->items[0]);
}

/* Propagates a demand on an output of a node of constants to its operands. */
static void propagate(const struct tiling_search *search, uint32_t node_id, uint32_t value,
                      struct demand demand) {
    const struct node *node = node_of(search, node_id);
    const struct op *op = search->probe->ops[node_id];
    struct batch_change list;
    const bool has_list = find_dims_operand(search, node_id, value, demand.axis, &list);
    /* a Tile by 1, or an Expand to the same shape, is only there for the batch */
    if (has_list &&
        shape_equal(&before(search, node->inputs[0])->shape, &before(search, value)->shape)) {
        add_tiling(search, &list);
        return;
    }
    demand.costs = demand.costs || op->cost.macs;
    demand.is_images =
        demand.is_images || (op->cost.macs && op_role(op, 0) == 'x' && op_role(op, 1) == 'W');
    if (propagate_to_one(search, node_id, value, &demand) ||
        propagate_to_several(search, node_id, value, &demand) ||
        propagate_through_reshape(search, node_id, value, &demand))
        return;
    /* no operand scales the output: this node inserts the batch axis */
    if (has_list) add_tiling(search, &list);
    if (has_list || !is_batch_alone(search, value, &demand)) return;
    if (op->memory != MEMORY_VIEW && search->depends[value]) *search->blocked = value;
    decide_tiling(search, value, &demand);
}

static void propagate_outputs(const struct tiling_search *search, uint32_t node_id) {
    const struct node *node = node_of(search, node_id);
    for (size_t k = 0; k < node->n_outputs; k++) {
        const uint32_t value = node->outputs[k];
        if (value != ID_NONE) keep_likeliest(search, value);
        for (size_t i = 0; value != ID_NONE && i < search->demands[value].n; i++)
            propagate(search, node_id, value, search->demands[value].items[i]);
    }
}

static void propagate_demands(const struct tiling_search *search) {
    const struct model *model = search->probe->model;
    const struct graph *graph = &model->graphs[0];
    for (size_t i = graph->n_nodes; i-- > 0;) {
        const uint32_t id = graph->nodes[i];
        const struct node *node = node_of(search, id);
        if (!is_fixed_node(search, node))
            for (size_t slot = 0; slot < node->n_inputs; slot++)
                demand_operand(search, id, slot);
        else if (node->n_inputs == 0)
            for (size_t k = 0; k < node->n_outputs; k++) {
                if (node->outputs[k] != ID_NONE) decide_source(search, node->outputs[k]);
            }
        else
            propagate_outputs(search, id);
    }
    for (uint32_t value = 0; value < model->n_values; value++)
        if (model->values[value].node == ID_NONE) decide_source(search, value);
}

/* --- Interface. --- */

int constant_products_find(struct probe *probe, const struct change_list *changes,
                           struct change_list *tilings, struct tiling_search **ret) {
    const size_t n_values = probe->model->n_values;
    struct tiling_search *search = arena_alloc(probe->arena, sizeof *search);
    *ret = NULL;
    if (!search) return CM_NO_MEMORY;
    *search = (struct tiling_search){
        .probe = probe,
        .changes = changes,
        .tilings = tilings,
        .demands = arena_array(probe->arena, n_values, sizeof *search->demands),
        .depends = arena_array(probe->arena, n_values, sizeof *search->depends),
        .undecided = arena_array(probe->arena, n_values, sizeof *search->undecided),
        .blocked = arena_array(probe->arena, 1, sizeof *search->blocked),
    };
    if (!search->demands || !search->depends || !search->undecided || !search->blocked)
        return CM_NO_MEMORY;
    *search->blocked = ID_NONE;
    find_products(search);
    for (uint32_t id = 0; id < n_values; id++) search->undecided[id] = ID_NONE;
    *ret = search;
    propagate_demands(search);
    return arena_failed(probe->arena) ? CM_NO_MEMORY : CM_OK;
}

/* If an operand is undecided, marks the outputs that have a demand but do not hold the batch as
 * undecided too. Returns the constant from which they are computed; ID_NONE if none is marked.
 */
static uint32_t propagate_undecided(const struct tiling_search *search,
                                    const struct node *node) {
    uint32_t source = ID_NONE;
    bool is_open = false;
    for (size_t i = 0; i < node->n_inputs && source == ID_NONE; i++)
        if (node->inputs[i] != ID_NONE) source = search->undecided[node->inputs[i]];
    for (size_t i = 0; i < node->n_outputs && source != ID_NONE; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE || search->demands[value].n == 0 ||
            batch_axis_grown_axis(search->probe, value) >= 0)
            continue;
        search->undecided[value] = source;
        is_open = true;
    }
    return is_open ? source : ID_NONE;
}

uint32_t constant_products_undecided(const struct tiling_search *search,
                                     uint32_t *ret_constant) {
    const struct probe *probe = search->probe;
    const struct graph *graph = &probe->model->graphs[0];
    *ret_constant = *search->blocked;
    if (*ret_constant != ID_NONE) return probe->model->values[*ret_constant].node;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const uint32_t id = graph->nodes[i];
        *ret_constant = propagate_undecided(search, node_of(search, id));
        if (*ret_constant != ID_NONE && probe->ops[id]->cost.macs) return id;
    }
    return ID_NONE;
}
