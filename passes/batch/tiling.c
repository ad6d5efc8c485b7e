/* SPDX-License-Identifier: Apache-2.0 */
/* Re-batches products whose operands do not hold the batch, but which an export at batch N
 * computes N times: the projection of a learned query that was tiled to the batch (DETR,
 * SigLIP), a recurrent cell on a zero state, the embedding of a scalar time step (diffusion), a
 * convolution over position codes. From the operand that must scale with the batch, the batch
 * axis is traced back to where the value was tiled. docs/decisions/rebatching.md has an
 * example. Nodes are visited from the last to the first, so a value is visited after its
 * uses. */
#include <string.h>

#include "costmodel/backend.h"
#include "passes/batch/rebatch.h"
#include "support/arena.h"

/* A batch axis that the uses of a value need: dims[axis] = outer * N * inner. */
struct demand {
    int axis;         /* -1: no use needs one */
    int64_t outer;    /* 0 if unknown */
    bool required;    /* a use does not fit without it */
    bool is_images;   /* a product between the value and a use is a convolution */
    bool is_tiled;    /* the exporter tiled this value: its uses change */
    uint32_t product; /* between the value and a use; ID_NONE if there is none */
};

struct tracing {
    struct search *search;
    struct tiling *tiling;
    struct demand *demands;   /* by value */
    uint32_t *products;       /* by value: without the batch, computed by this product */
    struct change_list *uses; /* operands for which there are demands */
};

static const struct node *node_of(const struct tracing *tracing, uint32_t node) {
    return &tracing->search->model->nodes[node];
}

/* Returns true if the value does not hold the batch. */
static bool is_fixed(const struct tracing *tracing, uint32_t value) {
    const struct value_info *info = before(tracing->search, value);
    return (info->is_constant || value_info_is_complete(info)) &&
           batch_axis_power(tracing->search, value) == 0;
}

static bool is_fixed_node(const struct tracing *tracing, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && !is_fixed(tracing, node->outputs[i])) return false;
    return node->n_outputs > 0;
}

static void find_products(const struct tracing *tracing) {
    const struct model *model = tracing->search->model;
    for (uint32_t value = 0; value < model->n_values; value++)
        tracing->products[value] = ID_NONE;
    for (size_t i = 0; i < model->graphs[0].n_nodes; i++) {
        const uint32_t id = model->graphs[0].nodes[i];
        const struct node *node = node_of(tracing, id);
        if (!is_fixed_node(tracing, node)) continue;
        uint32_t product = tracing->search->ops[id]->cost.macs ? id : ID_NONE;
        for (size_t k = 0; k < node->n_inputs && product == ID_NONE; k++)
            if (node->inputs[k] != ID_NONE) product = tracing->products[node->inputs[k]];
        for (size_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != ID_NONE) tracing->products[node->outputs[k]] = product;
    }
}

static void refuse(const struct tracing *tracing, uint32_t product, uint32_t constant) {
    tracing->tiling->product = product;
    tracing->tiling->constant = constant;
}

/* --- Trials: infer one node with some operands scaled. --- */

/* Infers the outputs of the node with the changes, then restores the outputs. Returns true if
 * the shapes are valid and output `value` grew along `axis` only. If `value` is ID_NONE, no
 * output may change its shape instead. */
static bool fits_with(const struct tracing *tracing, const struct batch_change *changes,
                      size_t n, uint32_t value, int axis) {
    struct search *search = tracing->search;
    const uint32_t node_id = changes[0].node;
    const struct node *node = node_of(tracing, node_id);
    const struct override *overrides = search->overrides[node_id];
    const struct arena_mark mark = arena_save(search->arena);
    const struct op_budget budget = search->walk.budget;
    struct value_info *saved = arena_array(search->arena, node->n_outputs, sizeof *saved);
    bool fits = saved && (search->work_left -= 1 + (int64_t)node->n_inputs) >= 0;
    for (size_t i = 0; i < node->n_outputs && saved; i++)
        if (node->outputs[i] != ID_NONE) saved[i] = *after(search, node->outputs[i]);
    for (size_t i = 0; i < n && fits; i++)
        fits = repair_apply(search, search->overrides, &changes[i], PROBE_BATCH) == CM_OK;
    search->walk.diag = NULL;
    fits = fits && walk_node(&search->walk, node_id) == CM_OK;
    search->walk.diag = search->sink;
    if (fits && value != ID_NONE)
        fits = batch_axis_power(search, value) == 1 && batch_axis_of(search, value) == axis;
    for (size_t i = 0; i < node->n_outputs && saved; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        struct value_info *info = &search->after.infos[node->outputs[i]];
        if (value == ID_NONE) fits = fits && shape_equal(&info->shape, &saved[i].shape);
        *info = saved[i];
    }
    search->overrides[node_id] = overrides;
    search->walk.budget = budget;
    arena_restore(search->arena, mark);
    return fits;
}

/* Sets *ret to the change of the operand along `axis`. Returns false if it holds the batch or
 * cannot hold it there: an operand that has the role of a weight never does, and a weight
 * matrix only on an axis of exactly the batch's size. */
static bool may_hold(const struct tracing *tracing, uint32_t node_id, size_t slot, int axis,
                     struct batch_change *ret) {
    const struct search *search = tracing->search;
    const uint32_t value = node_of(tracing, node_id)->inputs[slot];
    if (value == ID_NONE || strchr("Wns", op_role(search->ops[node_id], slot)) ||
        !is_fixed(tracing, value))
        return false;
    const struct value_info *info = before(search, value);
    if (!value_info_is_complete(info) || axis < 0 || axis >= info->shape.rank) return false;
    const int64_t dim = info->shape.dims[axis];
    *ret = (struct batch_change){
        .node = node_id, .slot = (uint32_t)slot, .axis = axis, .dims = &info->shape};
    return info->is_weight && info->shape.rank <= 2 ? dim == search->batch
                                                    : dim > 0 && dim % search->batch == 0;
}

/* --- Demands: where the batch axis of a value comes from. --- */

/* Demands the change of an operand. If uses need different axes, that of the last use is kept:
 * the trace goes from the last node to the first. */
static void demand_axis(const struct tracing *tracing, const struct batch_change *change,
                        const struct demand *like, int64_t outer) {
    struct demand *demand =
        &tracing->demands[node_of(tracing, change->node)->inputs[change->slot]];
    if (demand->axis < 0)
        *demand = (struct demand){.axis = change->axis, .outer = outer, .product = ID_NONE};
    if (demand->axis != change->axis) return;
    demand->required = demand->required || like->required;
    demand->is_images = demand->is_images || like->is_images;
    if (demand->product == ID_NONE) demand->product = like->product;
    repair_push(tracing->search->arena, tracing->uses, change);
}

/* Returns true if the solution changes the shape of the operand; sets *ret to the change. */
static bool is_changed(const struct tracing *tracing, uint32_t node, size_t slot,
                       struct batch_change *ret) {
    const struct change_list *list = &tracing->search->changes;
    for (size_t i = 0; i < list->n && tracing->search->overrides[node]; i++) {
        *ret = list->items[i];
        if (ret->node == node && ret->slot == slot && !ret->is_target) return true;
    }
    return false;
}

/* Adds a demand to an operand without the batch, of a node whose output holds the batch: on the
 * axis that the solution scales, else on the first axis of the batch's size that may scale. */
static void demand_operand(const struct tracing *tracing, uint32_t node, size_t slot) {
    const uint32_t value = node_of(tracing, node)->inputs[slot];
    struct batch_change change;
    struct demand like = {.product = ID_NONE};
    if (value == ID_NONE ||
        (before(tracing->search, value)->is_constant && tracing->products[value] == ID_NONE))
        return;
    like.required = is_changed(tracing, node, slot, &change);
    if (like.required && tracing->products[value] != ID_NONE)
        refuse(tracing, tracing->products[value], value);
    if (like.required && may_hold(tracing, node, slot, change.axis, &change))
        demand_axis(tracing, &change, &like, 1);
    for (int axis = 0; axis < SHAPE_MAX_RANK && !like.required; axis++)
        if (may_hold(tracing, node, slot, axis, &change) &&
            change.dims->dims[axis] == tracing->search->batch &&
            fits_with(tracing, &change, 1, ID_NONE, 0)) {
            demand_axis(tracing, &change, &like, 1);
            return;
        }
}

/* Finds the operand that lists the dims or repeats of the output (Tile, Expand,
 * ConstantOfShape). Sets *ret to the change that scales the output along `axis`. */
static bool find_list(const struct tracing *tracing, uint32_t node_id, uint32_t value, int axis,
                      struct batch_change *ret) {
    const struct search *search = tracing->search;
    const struct node *node = node_of(tracing, node_id);
    for (uint32_t slot = 0; slot < node->n_inputs; slot++) {
        const struct constant *list = batch_axis_fixed_list(search, node->inputs[slot]);
        struct shape *dims = arena_alloc(search->arena, sizeof *dims);
        if (!list || axis >= list->n_elements) continue;
        if (!dims || shape_make(search->arena, (int)list->n_elements, NULL, dims) < 0)
            return false;
        for (int i = 0; i < dims->rank; i++) dims->dims[i] = constant_int_at(list, i);
        *ret = (struct batch_change){node_id, slot, true, axis, dims};
        if (dims->dims[axis] > 0 && dims->dims[axis] % search->batch == 0 &&
            fits_with(tracing, ret, 1, value, axis))
            return true;
    }
    return false;
}

/* Adds a demand to each operand that scales the output by itself, or else to the operands that
 * scale it only together: those of Concat. Returns true if there are any. */
static bool propagate_to_operands(const struct tracing *tracing, uint32_t node_id,
                                  uint32_t value, const struct demand *demand) {
    const struct node *node = node_of(tracing, node_id);
    struct batch_change *all = arena_array(tracing->search->arena, node->n_inputs, sizeof *all);
    size_t n = 0;
    bool found = false;
    for (size_t slot = 0; slot < node->n_inputs && all; slot++) {
        struct batch_change change;
        if (may_hold(tracing, node_id, slot, demand->axis, &all[n])) n++;
        for (int axis = 0; axis < SHAPE_MAX_RANK; axis++) {
            if (!may_hold(tracing, node_id, slot, axis, &change) ||
                !fits_with(tracing, &change, 1, value, demand->axis))
                continue;
            demand_axis(tracing, &change, demand, demand->outer);
            found = true;
            break;
        }
    }
    if (found || n < 2 || !fits_with(tracing, all, n, value, demand->axis)) return found;
    for (size_t i = 0; i < n; i++) demand_axis(tracing, &all[i], demand, demand->outer);
    return true;
}

/* Adds demands to the data of a Reshape, by the row-major order of the elements. */
static bool propagate_to_data(const struct tracing *tracing, uint32_t node_id, uint32_t value,
                              const struct demand *demand) {
    const struct search *search = tracing->search;
    const struct shape *out = &before(search, value)->shape;
    struct batch_location places[SHAPE_MAX_RANK];
    struct batch_change changes[2] = {
        {0},
        {.node = node_id, .slot = 1, .is_target = true, .axis = demand->axis, .dims = out}};
    const int64_t prefix = checked_mul(shape_product(out, 0, demand->axis), demand->outer);
    if (!batch_axis_is_reshape(search, node_id) || !is_known(prefix) || prefix == 0)
        return false;
    const struct shape *data = &before(search, node_of(tracing, node_id)->inputs[0])->shape;
    const size_t n = batch_axis_places(search, data, prefix, places);
    for (size_t i = 0; i < n; i++) {
        if (!may_hold(tracing, node_id, 0, places[i].axis, &changes[0]) ||
            !fits_with(tracing, changes, 2, value, demand->axis))
            continue;
        demand_axis(tracing, &changes[0], demand, places[i].outer);
        return true;
    }
    return false;
}

/* --- Sources. --- */

/* Returns true if all elements of the value are equal, as in zeros and ones. */
static bool is_uniform(const struct search *search, uint32_t value) {
    const struct constant *stored = search->model->values[value].constant;
    if (!stored) stored = before(search, value)->value;
    if (stored) stored = constant_loaded(stored, &search->model->reader, search->arena);
    if (!stored || stored->place == CONSTANT_SPLAT) return stored;
    if (!constant_has_numbers(stored)) return false;
    for (int64_t i = 1; i < stored->n_elements; i++) {
        const struct number x = constant_number_at(stored, i);
        const struct number first = constant_number_at(stored, 0);
        if (x.real ? x.r != first.r : x.i != first.i) return false;
    }
    return true;
}

/* Decides whether the exporter tiled a value that is stored, or whose node inserts the batch
 * axis. It is tiled if the file's batch is above 1, if a use is invalid unless the value
 * scales, if the file records its repetition, or if all elements are equal (a zero state). A
 * batch of images is assumed to be tiled. Otherwise products that depend on it are refused. */
static void decide(const struct tracing *tracing, uint32_t value, struct demand demand) {
    const struct search *search = tracing->search;
    const bool is_tiled = search->batch > 1 || demand.required ||
                          search->model->values[value].is_repeated || is_uniform(search, value);
    tracing->demands[value].is_tiled = is_tiled || demand.is_images;
    if (!is_tiled && demand.is_images) tracing->tiling->assumed = value;
    if (!is_tiled && !demand.is_images && demand.product != ID_NONE)
        refuse(tracing, demand.product, value);
}

static bool is_convolution(const struct op *op) {
    const int32_t kind = op_primitive_kind(op);
    return kind == CM_CONV || kind == CM_DECONV;
}

/* Propagates the demand on an output of a node of constants to its operands. */
static void propagate(const struct tracing *tracing, uint32_t node_id, uint32_t value) {
    const struct search *search = tracing->search;
    const struct node *node = node_of(tracing, node_id);
    const struct op *op = search->ops[node_id];
    const struct shape *shape = &before(search, value)->shape;
    struct demand demand = tracing->demands[value];
    struct batch_change list;
    const bool has_list = find_list(tracing, node_id, value, demand.axis, &list);
    /* a Tile by 1, or an Expand to the same shape, is only there for the batch */
    const bool is_copy =
        has_list && shape_equal(&before(search, node->inputs[0])->shape, shape);
    if (op->cost.macs) demand.product = node_id;
    demand.is_images = demand.is_images || is_convolution(op);
    if (!is_copy && (propagate_to_operands(tracing, node_id, value, &demand) ||
                     propagate_to_data(tracing, node_id, value, &demand)))
        return;
    /* no operand scales the output: this node inserts the batch axis */
    if (has_list) {
        repair_push(search->arena, &tracing->tiling->changes, &list);
    } else if (node->n_inputs == 0 ||
               (shape->dims[demand.axis] == search->batch &&
                (op->memory == MEMORY_VIEW || tracing->products[value] == ID_NONE))) {
        decide(tracing, value, demand);
    } else if (demand.product != ID_NONE || tracing->products[value] != ID_NONE) {
        refuse(tracing, demand.product != ID_NONE ? demand.product : tracing->products[value],
               value);
    }
}

/* Refuses products that yield an output with as many rows as the batch. */
static void check_outputs(const struct tracing *tracing) {
    const struct graph *graph = &tracing->search->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const uint32_t value = graph->outputs[i];
        const struct shape *shape = &before(tracing->search, value)->shape;
        if (tracing->products[value] != ID_NONE && shape->rank >= 1 &&
            shape->dims[0] == tracing->search->batch)
            refuse(tracing, tracing->products[value], value);
    }
}

int tiling_find(struct search *search, struct tiling *ret) {
    const struct model *model = search->model;
    const struct graph *graph = &model->graphs[0];
    struct change_list uses = {0};
    const struct tracing tracing = {
        .search = search,
        .tiling = ret,
        .demands = arena_array(search->arena, model->n_values, sizeof *tracing.demands),
        .products = arena_array(search->arena, model->n_values, sizeof *tracing.products),
        .uses = &uses,
    };
    if (!tracing.demands || !tracing.products) return CM_NO_MEMORY;
    ret->product = ID_NONE;
    for (uint32_t value = 0; value < model->n_values; value++) tracing.demands[value].axis = -1;
    find_products(&tracing);
    check_outputs(&tracing);
    for (size_t i = graph->n_nodes; i-- > 0;) {
        const uint32_t id = graph->nodes[i];
        const struct node *node = node_of(&tracing, id);
        const bool is_fixed = is_fixed_node(&tracing, node);
        for (size_t slot = 0; slot < node->n_inputs && !is_fixed; slot++)
            demand_operand(&tracing, id, slot);
        for (size_t k = 0; k < node->n_outputs && is_fixed; k++)
            if (node->outputs[k] != ID_NONE && tracing.demands[node->outputs[k]].axis >= 0)
                propagate(&tracing, id, node->outputs[k]);
    }
    for (uint32_t value = 0; value < model->n_values; value++)
        if (model->values[value].node == ID_NONE && tracing.demands[value].axis >= 0)
            decide(&tracing, value, tracing.demands[value]);
    for (size_t i = uses.n; i-- > 0;) {
        const struct batch_change *use = &uses.items[i];
        const struct demand *demand =
            &tracing.demands[node_of(&tracing, use->node)->inputs[use->slot]];
        struct batch_change made;
        if (demand->is_tiled && demand->axis == use->axis &&
            !is_changed(&tracing, use->node, use->slot, &made))
            repair_push(search->arena, &ret->changes, use);
    }
    return arena_failed(search->arena) ? CM_NO_MEMORY : CM_OK;
}
