/* SPDX-License-Identifier: Apache-2.0 */
/* Computes lifetimes, saved bytes and the peak of a training step. The step is a sequence of
 * events: every node forward in the order of the schedule, then backward in reverse order; a
 * checkpointed region is recomputed before its backward. */
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/precision/precision.h"
#include "passes/training/training.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Lifetime of the bytes of a root, in events; 0: none. */
struct span {
    uint32_t used;  /* last read in forward */
    uint32_t saved; /* last use in backward, or by the recomputation of another region */
    uint32_t recomputation; /* last use of its recomputed copy */
    uint32_t gradient;      /* number of the block of its gradient, from 1; 0: none yet */
};

struct timeline {
    struct training *training;
    struct span *spans;    /* by value */
    uint32_t *param_since; /* by param: event that computes its gradient first, 0: none */
    bool *is_fed;          /* by graph: its inputs are already noted as needed */
    bool *is_copied;       /* by value: autocast caches a copy of this weight */
    size_t blocks_capacity;
};

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static uint32_t producer(const struct training *training, uint32_t value) {
    return training->model->values[value].node;
}

/* Groups consecutive nodes of one checkpointed module. */
static void find_regions(struct training *training) {
    const struct liveness_table *liveness = training->analysis->liveness;
    uint32_t before = ID_NONE;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        uint32_t id = liveness->node_at[step];
        struct operation *operation = &training->operations[id];
        uint32_t module = training->checkpoint[training->analysis->modules->of_node[id]];
        operation->region = ID_NONE;
        if (module != ID_NONE && module != before)
            training->regions[training->n_regions++] = (struct region){.first = step};
        before = module;
        if (module == ID_NONE) continue;
        operation->region = (uint32_t)training->n_regions - 1;
        struct region *region = &training->regions[operation->region];
        region->last = step;
        region->is_recomputed = region->is_recomputed || operation->has_backward;
    }
}

/* Event 0 means none, so forward begins at 1. A region is recomputed before the backward of its
 * last step. */
static void number_events(struct timeline *timeline) {
    struct training *training = timeline->training;
    struct training_table *table = training->table;
    struct operation *operations = training->operations;
    const uint32_t *node_at = training->analysis->liveness->node_at;
    const uint32_t n = training->analysis->liveness->n_steps;
    uint32_t event = n + 1;
    table->first_back = event;
    for (uint32_t step = 0; step < n; step++) {
        table->node_at[step + 1] = node_at[step];
        operations[node_at[step]].forward = step + 1;
    }
    for (uint32_t step = n; step-- > 0;) {
        struct operation *operation = &operations[node_at[step]];
        if (training_is_recomputed(training, operation) &&
            training->regions[operation->region].last == step)
            for (uint32_t k = training->regions[operation->region].first; k <= step; k++) {
                table->node_at[event] = node_at[k];
                operations[node_at[k]].recomputation = event++;
            }
        table->node_at[event] = node_at[step];
        operation->backward = event++;
    }
    table->n_events = event;
}

/* Returns true if the value is recomputed for the operation: both are in one region. */
static bool is_recomputed(const struct training *training, uint32_t root,
                          const struct operation *operation) {
    uint32_t node = producer(training, root);
    return node != ID_NONE && training_is_recomputed(training, operation) &&
           training->operations[node].region == operation->region;
}

/* Notes the read of a value by `node` in forward and in the recomputation of its region. */
static void note_use(struct timeline *timeline, uint32_t value, uint32_t node) {
    const struct training *training = timeline->training;
    const struct analysis *analysis = training->analysis;
    node = training->operations[node].pattern_last;
    const struct operation *operation = &training->operations[node];
    uint32_t root = training->root[value];
    struct span *span = &timeline->spans[root];
    uint32_t step = liveness_use_ends(training->model, analysis->liveness, node,
                                      training->model->values[value].graph);
    span->used = later(span->used, step + 1);
    if (!training_is_recomputed(training, operation)) return;
    if (is_recomputed(training, root, operation))
        span->recomputation = later(span->recomputation, operation->recomputation);
    else
        span->saved = later(span->saved, operation->recomputation);
}

/* Notes the last forward use of each value. The training loop holds graph inputs and outputs
 * until its next step; the outputs of a body are alive until the body has run. */
static void note_uses(struct timeline *timeline) {
    const struct training *training = timeline->training;
    for (uint32_t id = 0; id < training->model->n_values; id++) {
        const struct value *value = &training->model->values[id];
        const uint32_t owner = training->model->graphs[value->graph].owner;
        const bool is_input = value->node == ID_NONE;
        struct span *span = &timeline->spans[training->root[id]];
        span->used =
            later(span->used, is_input ? 1 : training->operations[value->node].forward);
        for (uint32_t i = 0; i < value->n_uses; i++)
            note_use(timeline, id, value->uses[i].node);
        if (owner == ID_NONE && (is_input || value->is_graph_output))
            span->used = training->table->n_events - 1;
        else if (owner != ID_NONE && value->is_graph_output)
            span->used = later(span->used, training->analysis->liveness->step_of[owner] + 1);
    }
}

static void note_need(struct timeline *timeline, uint32_t value,
                      const struct operation *operation);

/* The inputs of a body share the bytes of the inputs of its node and, in a loop, of the body's
 * outputs. Notes that the backward of the body's first node needs these values. Recurses over
 * bodies only, whose nesting the frontend caps. */
static void note_body_need(struct timeline *timeline, uint32_t graph_id) {
    const struct training *training = timeline->training;
    const struct graph *body = &training->model->graphs[graph_id];
    if (body->owner == ID_NONE || body->n_nodes == 0 || timeline->is_fed[graph_id]) return;
    timeline->is_fed[graph_id] = true;
    const struct operation *first = &training->operations[body->nodes[0]];
    const struct node *owner = &training->model->nodes[body->owner];
    for (size_t i = 0; i < body->n_outputs; i++) note_need(timeline, body->outputs[i], first);
    for (size_t i = 0; i < owner->n_inputs; i++) note_need(timeline, owner->inputs[i], first);
}

/* Notes that the backward of the operation needs the value. */
static void note_need(struct timeline *timeline, uint32_t value,
                      const struct operation *operation) {
    const struct training *training = timeline->training;
    if (value == ID_NONE) return;
    uint32_t root = training->root[value];
    struct span *span = &timeline->spans[root];
    if (is_recomputed(training, root, operation))
        span->recomputation = later(span->recomputation, operation->backward);
    else
        span->saved = later(span->saved, operation->backward);
    if (producer(training, root) == ID_NONE)
        note_body_need(timeline, training->model->values[root].graph);
}

/* Notes that the backward of the operation needs an operand: the value, or the copy to which
 * autocast casts it. The copy of a weight is cached, that of another value belongs to this
 * operation. */
static void note_operand(struct timeline *timeline, struct operation *operation, size_t slot) {
    const struct training *training = timeline->training;
    const struct analysis *analysis = training->analysis;
    const uint32_t value = operation->node->inputs[slot];
    if (value == ID_NONE) return;
    const struct value_info *info = &analysis->infer->infos[value];
    const enum dtype cast = precision_cast(analysis, operation->op, slot, info->dtype);
    const uint32_t root = training->root[value];
    const bool is_param = analysis->params->of_value[root] != ID_NONE;
    const uint64_t bit = UINT64_C(1) << (slot < 63 ? slot : 63);
    if (cast == info->dtype) {
        note_need(timeline, value, operation);
    } else if (is_param ? !timeline->is_copied[root] : !(operation->copied & bit)) {
        const int64_t bytes = checked_mul(dtype_bytes(cast, shape_elements(&info->shape)),
                                          training_runs_once(training, operation->node->graph));
        operation->copied |= bit;
        checked_add_known_to(&operation->copies, bytes);
        timeline->is_copied[root] = is_param;
        if (is_param) checked_add_known_to(&training->table->weight_copy_bytes, bytes);
    }
}

/* Notes the values that a cell names. Returns true if it names extra bytes. */
static bool note_cell(struct timeline *timeline, struct operation *operation,
                      const char *cell) {
    const struct node *node = operation->node;
    bool has_extra = false;
    for (; *cell && *cell != ','; cell++) {
        const size_t slot = (size_t)(*cell - '0');
        const size_t output = *cell == 'z';
        if ((*cell == 'y' || *cell == 'z') && output < node->n_outputs)
            note_need(timeline, node->outputs[output], operation);
        else if (*cell >= '0' && *cell <= '9' && slot < node->n_inputs)
            note_operand(timeline, operation, slot);
        for (size_t i = 0; *cell == 'a' && i < node->n_inputs; i++)
            note_operand(timeline, operation, i);
        has_extra = has_extra || *cell == 'e';
    }
    return has_extra;
}

/* Adds a block of a node that is alive from event `from` to event `to`, inclusive. Returns its
 * number, from 1; 0 if it has no bytes, or out of memory. */
static uint32_t add_block(struct timeline *timeline, enum training_part part, uint32_t node,
                          uint32_t from, uint32_t to, int64_t bytes) {
    struct training_table *table = timeline->training->table;
    if (bytes == DIM_UNKNOWN || bytes == 0) return 0;
    struct training_block *blocks =
        arena_grow(timeline->training->analysis->arena, table->blocks, table->n_blocks,
                   &timeline->blocks_capacity, sizeof *blocks);
    if (!blocks) return 0; /* the arena has failed */
    table->blocks = blocks;
    blocks[table->n_blocks++] = (struct training_block){part, from, to, bytes, 0, node};
    return (uint32_t)table->n_blocks;
}

/* Returns the number of the block with the gradient of the operation's output, if that is also
 * the gradient of the operand: a sum passes it on without a copy. Else 0. */
static uint32_t passed_gradient(const struct timeline *timeline,
                                const struct operation *operation, size_t slot) {
    const struct training *training = timeline->training;
    const struct value_info *infos = training->analysis->infer->infos;
    const uint32_t output = operation->node->outputs[0];
    if (operation->op->algebra != ALGEBRA_SUM || output == ID_NONE ||
        !shape_equal(&infos[operation->node->inputs[slot]].shape, &infos[output].shape))
        return 0;
    return timeline->spans[training->root[output]].gradient;
}

/* Adds what the backward of the operation contributes to the gradient of an operand, as
 * PyTorch's autograd does: the first contribution is the gradient; a later one is added to it
 * in place, or into a new block if other gradients share the block. */
static void add_gradient(struct timeline *timeline, const struct operation *operation,
                         size_t slot) {
    const struct training *training = timeline->training;
    const uint32_t root = training->root[operation->node->inputs[slot]];
    const uint32_t node = producer(training, root);
    const uint32_t output = operation->node->outputs[0];
    const uint32_t now = operation->backward;
    struct span *span = &timeline->spans[root];
    if (node == ID_NONE || !training->operations[node].has_backward) return;
    if (output != ID_NONE && training->root[output] == root) return; /* a view */
    const uint32_t end = later(training->operations[node].backward, now);
    const uint32_t passed = passed_gradient(timeline, operation, slot);
    struct training_block *before =
        span->gradient ? &training->table->blocks[span->gradient - 1] : NULL;
    if (!before && passed) {
        struct training_block *block = &training->table->blocks[passed - 1];
        block->to = later(block->to, end);
        block->users++;
        span->gradient = passed;
    } else if (!before) {
        span->gradient =
            add_block(timeline, PART_ACTIVATION, node, now, end, training->bytes[root]);
    } else if (before->from != now) { /* the operand has two uses */
        const bool is_shared = before->users > 0;
        if (is_shared) before->users--;
        if (!passed)
            (void)add_block(timeline, PART_ACTIVATION, node, now, now, training->bytes[root]);
        if (is_shared)
            span->gradient =
                add_block(timeline, PART_ACTIVATION, node, now, end, training->bytes[root]);
    }
}

/* The backward of the operation is done with the gradients of its outputs. */
static void end_gradients(struct timeline *timeline, uint32_t id) {
    const struct training *training = timeline->training;
    const struct node *node = training->operations[id].node;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t root =
            node->outputs[i] == ID_NONE ? ID_NONE : training->root[node->outputs[i]];
        if (root == ID_NONE || producer(training, root) != id) continue;
        const uint32_t gradient = timeline->spans[root].gradient;
        if (gradient == 0) continue;
        struct training_block *block = &training->table->blocks[gradient - 1];
        if (block->users > 0) block->users--;
    }
}

/* Called in backward order: the first call that finds a parameter's gradient sets its event. */
static void note_backward(struct timeline *timeline, uint32_t id) {
    struct training *training = timeline->training;
    const struct params_table *params = training->analysis->params;
    struct operation *operation = &training->operations[id];
    const struct operation *last = &training->operations[operation->pattern_last];
    bool extra = false;
    for (size_t i = 0; last->has_backward && i < params->n_used[id]; i++) {
        uint32_t *since = &timeline->param_since[params->used[id][i]];
        if (*since == 0) *since = last->backward;
    }
    for (size_t i = 0; operation->has_backward && i < operation->node->n_inputs; i++) {
        if (!training_needs_gradient(training, operation, i)) continue;
        if (note_cell(timeline, operation, op_gradient(operation->saved_for_backward, i)))
            extra = true;
        add_gradient(timeline, operation, i);
    }
    if (operation->has_backward) end_gradients(timeline, id);
    if (!extra) operation->extra = 0;
}

static void note_gradients(struct timeline *timeline) {
    const struct training *training = timeline->training;
    const struct liveness_table *liveness = training->analysis->liveness;
    const struct graph *main = &training->model->graphs[0];
    for (size_t i = 0; i < main->n_outputs; i++) {
        const uint32_t root = training->root[main->outputs[i]];
        const uint32_t node = producer(training, root);
        if (!training->requires_grad[main->outputs[i]] || node == ID_NONE ||
            !training->operations[node].has_backward || timeline->spans[root].gradient)
            continue;
        timeline->spans[root].gradient =
            add_block(timeline, PART_ACTIVATION, node, training->table->first_back,
                      training->operations[node].backward, training->bytes[root]);
    }
    for (uint32_t step = liveness->n_steps; step-- > 0;)
        note_backward(timeline, liveness->node_at[step]);
}

/* Adds saved bytes to the node that wrote them; those of inputs only to the root module. */
static void add_saved_bytes(struct training *training, uint32_t node, int64_t bytes) {
    struct training_table *table = training->table;
    checked_add_known_to(&table->saved_bytes, bytes);
    if (node == ID_NONE)
        checked_add_known_to(&table->of_module[0].saved_bytes, bytes);
    else
        checked_add_to(&table->of_node[node].saved_bytes, bytes);
}

/* Adds the blocks of a root: of the value and its recomputed copy. */
static void live_value(struct timeline *timeline, uint32_t root) {
    struct training *training = timeline->training;
    const struct span *span = &timeline->spans[root];
    uint32_t node = producer(training, root);
    const struct operation *made = node == ID_NONE ? NULL : &training->operations[node];
    uint32_t created = made ? made->forward : 1;
    int64_t once = training->bytes[root];
    int64_t all =
        checked_mul(once, training_runs_once(training, training->model->values[root].graph));
    enum training_part part = span->saved ? PART_SAVED : PART_ACTIVATION;
    if (span->used == training->table->n_events - 1) part = PART_HELD;
    const struct value *value = &training->model->values[root];
    const uint32_t of = node == ID_NONE && value->n_uses > 0 ? value->uses[0].node : node;
    (void)add_block(timeline, part, of, created, later(span->used, span->saved),
                    span->saved ? all : once);
    if (span->saved) add_saved_bytes(training, node, all);
    if (made && training_is_recomputed(training, made))
        (void)add_block(timeline, PART_ACTIVATION, node, made->recomputation,
                        later(made->recomputation, span->recomputation), all);
}

static void live_extra(struct timeline *timeline, uint32_t id) {
    struct training *training = timeline->training;
    const struct operation *operation = &training->operations[id];
    const int64_t bytes = checked_add(operation->extra, operation->copies);
    const uint32_t from = training_is_recomputed(training, operation) ? operation->recomputation
                                                                      : operation->forward;
    if (!operation->has_backward || bytes == 0) return;
    if (from == operation->forward) add_saved_bytes(training, id, bytes);
    (void)add_block(timeline, PART_SAVED, id, from, operation->backward, operation->extra);
    (void)add_block(timeline, PART_CAST, id, from, operation->backward, operation->copies);
}

/* Adds the gradient of a parameter, which is alive until the optimizer step; the second of
 * several micro-batches finds that of the first, and adds its own to it. */
static void live_gradient(struct timeline *timeline, uint32_t since, int64_t bytes) {
    const bool is_second = pass_micro_batches(timeline->training->analysis) > 1;
    const struct training_table *table = timeline->training->table;
    if (since == 0 || table->whole_gradient_bytes == 0) return;
    const uint32_t node = table->node_at[since];
    (void)add_block(timeline, PART_GRADIENT, node, is_second ? 1 : since, table->n_events - 1,
                    bytes);
    if (is_second) (void)add_block(timeline, PART_ACTIVATION, node, since, since, bytes);
}

/* Finds the peak over all events and the optimizer step, which needs all gradients of
 * parameters. Weights and optimizer states are alive throughout. */
static int find_peak(const struct training *training) {
    struct training_table *table = training->table;
    int64_t *change =
        arena_array(training->analysis->scratch, table->n_events + 1, sizeof *change);
    int64_t now = 0;
    int64_t peak = table->whole_gradient_bytes;
    if (!change) return diag_no_memory(training->analysis->diag);
    for (size_t i = 0; i < table->n_blocks; i++) {
        const struct training_block *block = &table->blocks[i];
        checked_add_to(&change[block->from], block->bytes);
        change[block->to + 1] = checked_sub(change[block->to + 1], block->bytes);
    }
    table->peak_node = ID_NONE;
    table->peak_phase = PHASE_STEP;
    for (uint32_t event = 1; event < table->n_events; event++) {
        const uint32_t node = table->node_at[event];
        checked_add_to(&now, change[event]);
        if (!is_known(now)) peak = now;
        if (!is_known(peak) || now <= peak) continue;
        peak = now;
        table->peak_node = node;
        table->peak_phase = PHASE_FORWARD;
        if (event >= table->first_back)
            table->peak_phase = training->operations[node].recomputation == event
                                    ? PHASE_RECOMPUTE
                                    : PHASE_BACKWARD;
    }
    table->peak_bytes = checked_add(peak, table->held_bytes);
    return CM_OK;
}

int training_steps(struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct params_table *params = analysis->params;
    struct arena *arena = analysis->arena;
    const size_t n_nodes = training->model->n_nodes;
    const size_t n_events = 3 * n_nodes + 3; /* at most */
    struct timeline timeline = {
        .training = training,
        .spans = arena_array(arena, training->model->n_values, sizeof(struct span)),
        .param_since = arena_array(arena, params->n_params, sizeof(uint32_t)),
        .is_fed = arena_array(arena, training->model->n_graphs, sizeof(bool)),
        .is_copied = arena_array(arena, training->model->n_values, sizeof(bool)),
    };
    training->table->node_at = arena_array(arena, n_events, sizeof(uint32_t));
    training->regions = arena_array(arena, n_nodes, sizeof(*training->regions));
    if (arena_failed(arena)) return diag_no_memory(analysis->diag);
    find_regions(training);
    number_events(&timeline);
    note_uses(&timeline);
    note_gradients(&timeline);
    for (uint32_t id = 0; id < training->model->n_values; id++)
        if (training->bytes[id] != 0) live_value(&timeline, id);
    for (uint32_t id = 0; id < n_nodes; id++) live_extra(&timeline, id);
    for (size_t i = 0; i < params->n_params; i++)
        if (params->params[i].kind == PARAM_LEARNED && !training->frozen[i])
            live_gradient(&timeline, timeline.param_since[i], params->params[i].bytes);
    if (arena_failed(arena)) return diag_no_memory(analysis->diag);
    return find_peak(training);
}
