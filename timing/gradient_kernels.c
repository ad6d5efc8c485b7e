/* SPDX-License-Identifier: Apache-2.0 */
/* Pass gradient_kernels: lists the kernels of the backward pass and of the optimizer on a
 * modelled device, and computes the time of a training step (docs/times.md).
 *
 *   products         one product per operand that requires a gradient
 *   other operators  a kernel reads the output gradient and the saved tensors, and writes the
 *                    operand gradients. Operands with equal cells of `saved_for_backward`
 *                    (ops/op.h) share one kernel. Add forwards its output gradient: no kernel
 *   shared values    a value with several uses accumulates their gradients
 *   optimizer        one kernel over all parameters
 *
 * As in pass kernels, a compiled runtime moves only the inputs and outputs of a fused
 * kernel. */
#include "timing/gradient_kernels.h"

#include <string.h>

#include "backends/device/runtimes.h"
#include "backends/primitive.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/training/training.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/estimate.h"
#include "timing/kernels.h"
#include "timing/losses.h"
#include "timing/primitive_index.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define ADD_GRADIENTS 3 /* tensors moved to add two gradients: two reads, one write */

struct listing {
    const struct timing *timing;
    const struct training *training;
    struct gradient_kernels_table *table;
    struct primitive_index index;
    bool eager;
    uint32_t *read;          /* by value: 1 + kernel whose backward last read it; 0: none */
    uint32_t *gradient_read; /* by value: 1 + kernel whose backward last read its gradient */
    bool *has_gradient;      /* by value: the gradient of at least one use is written */
};

/* The backward pass of the node whose kernels are being listed. */
struct backward {
    uint32_t id;
    const struct operation *operation;
    const struct cm_primitive *forward;
    struct cm_primitive kernel;
    int32_t n_kernels; /* kernels that compute operand gradients */
    int64_t largest;   /* bytes of the largest of these gradients that leaves the group */
};

static int64_t elements_of(const struct listing *listing, uint32_t value) {
    return shape_elements(&listing->timing->core.infer->infos[value].shape);
}

/* Returns the bytes of a value in memory; its gradient has the same size. */
static int64_t bytes_of(const struct listing *listing, uint32_t value) {
    return liveness_bytes(&listing->timing->core.infer->infos[value]);
}

/* Returns the least bytes of a value or its gradient: autocast may have 2-byte floats. */
static int64_t least_bytes_of(const struct listing *listing, uint32_t value) {
    const int64_t bytes = bytes_of(listing, value);
    const int64_t halves = checked_mul(2, elements_of(listing, value));
    return listing->timing->core.options->precision == CM_PRECISION_AMP && halves < bytes
               ? halves
               : bytes;
}

static void add_item(struct listing *listing, const struct cm_primitive *item, int64_t runs) {
    if (!is_known(item->flops) || !is_known(item->bytes_read) ||
        !is_known(item->bytes_written) || !is_known(item->fusion.extra_bytes) || runs <= 0)
        return;
    const uint32_t at = primitive_index_add(&listing->index, item);
    checked_add_to(&listing->table->runs[at], runs);
}

/* Accumulates the gradient of a value with several uses: from the second use on, eager runs an
 * addition kernel, and a compiled runtime moves one more tensor in the same kernel. */
static void add_to_gradient(const struct listing *listing, struct cm_fusion *fusion,
                            uint32_t value) {
    if (listing->has_gradient[value]) {
        const int64_t bytes = bytes_of(listing, value);
        kernels_add_extra(fusion, listing->eager,
                          listing->eager ? checked_mul(ADD_GRADIENTS, bytes) : bytes);
    }
    listing->has_gradient[value] = true;
}

/* Returns the extra kernels before and after the node's backward kernel. The backward of a cast
 * or layout change moves the same bytes as its forward. */
static struct cm_fusion fusion_of(const struct backward *backward) {
    const struct cm_fusion *forward = &backward->forward->fusion;
    return (struct cm_fusion){.in_graph = 1,
                              .extra_kernels = forward->extra_kernels - forward->quantizes,
                              .extra_bytes = forward->extra_bytes};
}

/* Adds the kernel that sums the output gradient into the bias gradient, and with autocast the
 * kernel that converts the weight gradient from 2-byte floats to fp32. */
static void add_parameter_kernels(const struct listing *listing,
                                  const struct backward *backward, struct cm_fusion *fusion) {
    const struct operation *operation = backward->operation;
    const struct node *node = operation->node;
    if (node->n_inputs > 2 && training_needs_gradient(listing->training, operation, 2))
        kernels_add_extra(fusion, 1, bytes_of(listing, node->outputs[0]));
    if (listing->timing->core.options->precision == CM_PRECISION_AMP &&
        !kernels_depends_on_input(listing->timing, node->inputs[1]))
        kernels_add_extra(fusion, 1, checked_mul(2 + 4, elements_of(listing, node->inputs[1])));
}

/* Lists the product that computes the gradient of operand `slot`: it reads the other operand
 * and the output gradient. For Y = A B: dA = dY B^T, dB = A^T dY. The compulsory traffic
 * excludes the write of a weight gradient, which the optimizer may apply in the same kernel,
 * and counts dY once if both gradients are computed. */
static void list_operand_product(struct listing *listing, const struct backward *backward,
                                 size_t slot, struct cm_fusion fusion, int64_t runs) {
    struct cm_primitive item = *backward->forward;
    const struct cm_tensor *other = &item.inputs[1 - slot];
    const struct cm_tensor *mine = &item.inputs[slot];
    const int64_t result = primitive_bytes(&item.outputs[0]);
    const uint32_t operand = backward->operation->node->inputs[slot];
    item.bytes_read = checked_add(result, primitive_bytes(other));
    item.bytes_written = primitive_bytes(mine);
    item.fusion = fusion;
    item.fusion.gradient = slot == 0 ? CM_GRADIENT_DATA : CM_GRADIENT_WEIGHT;
    add_to_gradient(listing, &item.fusion, operand);
    if (slot == 1 && !kernels_depends_on_input(listing->timing, operand))
        add_parameter_kernels(listing, backward, &item.fusion);
    item.fusion.compulsory_bytes = item.bytes_read;
    if (kernels_depends_on_input(listing->timing, operand))
        item.fusion.compulsory_bytes = checked_add(item.bytes_read, item.bytes_written);
    if (slot == 1 && training_needs_gradient(listing->training, backward->operation, 0))
        item.fusion.compulsory_bytes = checked_sub(item.fusion.compulsory_bytes, result);
    add_item(listing, &item, runs);
}

/* Lists the backward of attention and recurrent operators as one kernel. */
static void list_single_kernel(struct listing *listing, const struct backward *backward,
                               int64_t runs) {
    const int64_t macs = listing->training->table->of_node[backward->id].backward_macs;
    const struct node *node = backward->operation->node;
    struct cm_primitive item = *backward->forward;
    item.flops = is_known(macs) ? checked_mul(2, macs / runs) : macs;
    item.bytes_read = checked_add(backward->forward->bytes_read,
                                  checked_mul(2, backward->forward->bytes_written));
    item.bytes_written = backward->forward->bytes_read;
    item.fusion = fusion_of(backward);
    item.fusion.gradient = CM_GRADIENT_DATA;
    item.fusion.compulsory_bytes = backward->forward->fusion.compulsory_bytes;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (kernels_depends_on_input(listing->timing, node->inputs[i]) &&
            training_needs_gradient(listing->training, backward->operation, i))
            add_to_gradient(listing, &item.fusion, node->inputs[i]);
    add_item(listing, &item, runs);
}

/* Adds the read of a value, stored as `source`. A compiled runtime skips values that the kernel
 * recomputes or has already read. `last_read`, by value: 1 + the kernel that last read it. */
static void read_once(const struct listing *listing, struct backward *backward,
                      uint32_t *last_read, uint32_t value, uint32_t source) {
    const struct kernels_table *kernels = listing->timing->kernels;
    const uint32_t mark = kernels->kernel[backward->id] + 1;
    if (!listing->eager && (!kernels->stored[source] || last_read[source] == mark)) return;
    last_read[source] = mark;
    checked_add_to(&backward->kernel.bytes_read, bytes_of(listing, value));
}

static void read_saved(const struct listing *listing, struct backward *backward,
                       uint32_t value) {
    if (kernels_depends_on_input(listing->timing, value))
        read_once(listing, backward, listing->read, value,
                  listing->timing->kernels->source[value]);
}

/* Adds the reads of the values listed in a cell of `saved_for_backward` (ops/op.h). */
static void read_cell(const struct listing *listing, struct backward *backward,
                      const char *cell) {
    const struct node *node = backward->operation->node;
    for (; *cell && *cell != ','; cell++) {
        const size_t slot = (size_t)(*cell - '0');
        if (*cell >= '0' && *cell <= '9' && slot < node->n_inputs)
            read_saved(listing, backward, node->inputs[slot]);
        for (size_t i = 0; *cell == 'a' && i < node->n_inputs; i++)
            read_saved(listing, backward, node->inputs[i]);
        if (*cell == 'y') read_saved(listing, backward, node->outputs[0]);
        if (*cell == 'z' && node->n_outputs > 1)
            read_saved(listing, backward, node->outputs[1]);
    }
}

/* Returns true if an operand before `slot` has an equal cell: one kernel computes both. */
static bool shares_kernel(const struct listing *listing, const struct operation *operation,
                          size_t slot) {
    const char *cell = op_gradient(operation->saved_for_backward, slot);
    const size_t length = strcspn(cell, ",");
    for (size_t i = 0; i < slot; i++) {
        const char *other = op_gradient(operation->saved_for_backward, i);
        if (operation->node->inputs[i] != ID_NONE &&
            training_needs_gradient(listing->training, operation, i) &&
            length == strcspn(other, ",") && memcmp(cell, other, length) == 0)
            return true;
    }
    return false;
}

/* Returns true if a node of another group computes the operand. */
static bool is_outside(const struct listing *listing, uint32_t id, uint32_t operand) {
    const struct kernels_table *kernels = listing->timing->kernels;
    const uint32_t from = listing->timing->core.model->values[kernels->source[operand]].node;
    return from == ID_NONE || kernels->group[from] != kernels->group[id];
}

/* Adds the traffic and the extra kernels of the gradient of operand `slot` to backward->kernel.
 * The gradient of a broadcast operand ([C] added to [N,C]) is the sum over the broadcast axes;
 * eager writes the full-size gradient first, then reduces it. If the cell is empty (Add,
 * Concat, Slice), the operand gradient is the output gradient or a part of it: no
 * computation. */
static void list_operand(const struct listing *listing, struct backward *backward,
                         size_t slot) {
    const struct operation *operation = backward->operation;
    const struct kernels_table *kernels = listing->timing->kernels;
    struct cm_primitive *kernel = &backward->kernel;
    const uint32_t operand = operation->node->inputs[slot];
    const uint32_t result = operation->node->outputs[0];
    const uint32_t from = listing->timing->core.model->values[kernels->source[operand]].node;
    const char *cell = op_gradient(operation->saved_for_backward, slot);
    const bool is_empty = *cell == '\0' || *cell == ',';
    const bool is_sum = backward->forward->kind == CM_ELTWISE &&
                        elements_of(listing, operand) < elements_of(listing, result);
    const bool is_inside = !listing->eager && from != ID_NONE &&
                           kernels->kernel[from] == kernels->kernel[backward->id];
    const bool is_passed =
        (backward->forward->kind == CM_ELTWISE || backward->forward->kind == CM_COPY) &&
        is_empty && !is_sum;
    if (!is_passed && !shares_kernel(listing, operation, slot)) {
        backward->n_kernels++;
        read_once(listing, backward, listing->gradient_read, result, result);
        read_cell(listing, backward, cell);
    }
    if (is_sum && listing->eager && !is_empty)
        kernels_add_extra(&kernel->fusion, 1, checked_mul(2, bytes_of(listing, result)));
    if (!kernels_depends_on_input(listing->timing, operand)) return;
    if (!is_passed && is_outside(listing, backward->id, operand) &&
        least_bytes_of(listing, operand) > backward->largest)
        backward->largest = least_bytes_of(listing, operand);
    if (!is_inside && (!is_passed || (!listing->eager && !kernels->stored[result])))
        checked_add_to(&kernel->bytes_written, bytes_of(listing, operand));
    add_to_gradient(listing, &kernel->fusion, operand);
}

/* Returns the compulsory bytes of the backward of an operator that is not a product: if it
 * computes a gradient, it reads that of its result, if another group does, writes the largest
 * of its operands' gradients, and norms and softmax read their operand. What one bit for each
 * element can replace is not counted, as the operand of a ReLU. */
static int64_t compulsory_bytes(const struct listing *listing,
                                const struct backward *backward) {
    const struct node *node = backward->operation->node;
    const int32_t kind = backward->forward->kind;
    const bool is_norm = kind == CM_NORM || kind == CM_SOFTMAX;
    int64_t bytes = backward->largest;
    if (backward->n_kernels == 0 || !(is_norm || kind == CM_ELTWISE || kind == CM_POOL))
        return 0;
    if (listing->timing->kernels->outside[node->outputs[0]])
        checked_add_to(&bytes, least_bytes_of(listing, node->outputs[0]));
    if (is_norm && is_outside(listing, backward->id, node->inputs[0]))
        checked_add_to(&bytes, least_bytes_of(listing, node->inputs[0]));
    return bytes;
}

/* Lists the backward kernels of an operator that is not a product. */
static void list_other_operator(struct listing *listing, struct backward *backward,
                                int64_t runs) {
    const struct operation *operation = backward->operation;
    struct cm_primitive *kernel = &backward->kernel;
    *kernel = *backward->forward;
    kernel->bytes_read = kernel->bytes_written = 0;
    kernel->fusion = fusion_of(backward);
    kernel->fusion.gradient = CM_GRADIENT_DATA;
    for (size_t i = 0; i < operation->node->n_inputs; i++)
        if (operation->node->inputs[i] != ID_NONE &&
            training_needs_gradient(listing->training, operation, i))
            list_operand(listing, backward, i);
    if (kernel->kind == CM_NORM) /* two passes over its inputs: reductions, then the gradient */
        kernel->bytes_read = checked_mul(2, kernel->bytes_read);
    kernel->fusion.no_launch =
        backward->n_kernels == 0 || (!listing->eager && backward->forward->fusion.no_launch);
    if (listing->eager && backward->n_kernels > 1)
        kernel->fusion.extra_kernels += backward->n_kernels - 1;
    if (backward->n_kernels == 0) kernel->flops = 0;
    kernel->fusion.compulsory_bytes = compulsory_bytes(listing, backward);
    if (kernel->bytes_read > 0 || kernel->bytes_written > 0 || kernel->fusion.extra_kernels > 0)
        add_item(listing, kernel, runs);
}

/* Lists the recomputation and the backward of a node. */
static void list_node(struct listing *listing, uint32_t id) {
    const struct timing *timing = listing->timing;
    const struct operation *operation = &listing->training->operations[id];
    const uint32_t at = timing->primitives->of_node[id];
    if (operation->node == NULL || at == ID_NONE) return;
    const int64_t runs = training_runs(listing->training, operation->node->graph);
    struct backward backward = {
        .id = id, .operation = operation, .forward = &timing->primitives->items[at]};
    if (training_is_recomputed(listing->training, operation))
        add_item(listing, backward.forward, runs);
    if (!operation->has_backward || runs <= 0) return;
    if (!primitive_is_product(backward.forward)) {
        list_other_operator(listing, &backward, runs);
        return;
    }
    const struct op_backward *gradients = &operation->op->backward;
    if ((gradients->macs && gradients->factors == 0) || backward.forward->n_inputs < 2) {
        list_single_kernel(listing, &backward, runs);
        return;
    }
    struct cm_fusion fusion = fusion_of(&backward);
    for (size_t slot = 0; slot < 2 && slot < operation->node->n_inputs; slot++) {
        if (!training_needs_gradient(listing->training, operation, slot)) continue;
        list_operand_product(listing, &backward, slot, fusion, runs);
        fusion = (struct cm_fusion){.in_graph = 1}; /* count extra kernels only once */
    }
}

/* Lists the optimizer kernel: reads gradients, optimizer states and weights, and writes states
 * and weights. The compulsory traffic excludes the read of gradients, which backward may apply
 * directly, and the read of weights, which forward has already read. */
static void list_optimizer_kernel(struct listing *listing) {
    const struct training_table *training = listing->timing->core.training;
    const int64_t weights = training->gradient_bytes;
    struct cm_primitive item = {
        .kind = CM_ELTWISE, .n_inputs = 1, .n_outputs = 1, .groups = 1, .n_steps = 1};
    const int64_t states = checked_add(training->optimizer_bytes, training->host_bytes);
    const int64_t moved = checked_add(weights, states);
    item.inputs[0] =
        (struct cm_tensor){.element = CM_F32, .rank = 1, .dims = {training->learned}};
    item.steps[0].function = CM_LINEAR;
    primitive_pack(&item.inputs[0]);
    item.outputs[0] = item.inputs[0];
    item.flops = training->step_flops;
    item.bytes_read = checked_add(weights, moved);
    item.bytes_written = moved;
    item.fusion =
        (struct cm_fusion){.in_graph = 1, .compulsory_bytes = checked_add(moved, states)};
    if (training->learned > 0) add_item(listing, &item, 1);
}

/* Computes the time of the step: forward, backward including recomputation, and optimizer. */
static int time_step(const struct listing *listing, size_t n_backward) {
    const struct timing *timing = listing->timing;
    const struct node_time *forward = &timing->times->of_module[0];
    struct gradient_kernels_table *table = listing->table;
    struct modelled_time *times = arena_array(timing->core.scratch, table->n, sizeof(*times));
    if (!times) return diag_no_memory(timing->core.diag);
    const int status = estimate_modelled(timing, table->items, table->n, times);
    if (status < 0) return status;
    int64_t lower_bound = forward->lower_bound_ps;
    struct run_time step = timing->times->run;
    table->backward_ps = table->update_ps = 0;
    for (size_t i = 0; i < table->n; i++) {
        int64_t *phase = i < n_backward ? &table->backward_ps : &table->update_ps;
        if (times[i].expected_ps == DIM_UNKNOWN) continue; /* also excluded in forward */
        checked_add_to(phase, checked_mul(table->runs[i], times[i].expected_ps));
        const struct cm_losses losses =
            losses_split(&times[i], times[i].expected_ps, times[i].lower_bound_ps);
        losses_add(&table->losses, &losses, table->runs[i]);
        run_time_add(&step, &table->items[i], (double)times[i].expected_ps * 1e-12,
                     times[i].limit, (double)table->runs[i]);
        checked_add_to(&lower_bound, checked_mul(table->runs[i], times[i].lower_bound_ps));
    }
    const struct cm_calibration *fit = &timing->estimate->facts.fit;
    const double expected = run_time_expected(&step, fit);
    table->iteration_ps = estimate_ps(expected);
    table->kind = run_time_kind(&step, expected);
    table->iteration_lower_bound_ps = lower_bound;
    return CM_OK;
}

int pass_gradient_kernels(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    const struct model *model = timing->core.model;
    /* Per node: recomputation and two gradients; one for the optimizer. */
    const size_t capacity = 3 * model->n_nodes + 1;
    struct gradient_kernels_table *table = own;
    const struct training *flow = timing->core.training->flow;
    struct training training = flow ? *flow : (struct training){0};
    training.analysis = &timing->core; /* that of pass training has ended */
    struct listing listing = {
        .timing = timing,
        .training = &training,
        .table = table,
        .eager = !runtime_rule(timing->core.options->runtime, RUNTIME_FUSES_CHAINS)};
    table->backward_ps = table->update_ps = DIM_UNKNOWN;
    table->iteration_ps = table->iteration_lower_bound_ps = DIM_UNKNOWN;
    if (!flow || timing->core.options->shard_gpus > 0 || !timing->kernels->fusion ||
        !timing->estimate->done || timing->estimate->imported)
        return CM_OK;
    table->runs = arena_array(timing->core.arena, capacity, sizeof(*table->runs));
    listing.read = arena_array(timing->core.scratch, model->n_values, sizeof(*listing.read));
    listing.gradient_read =
        arena_array(timing->core.scratch, model->n_values, sizeof(*listing.gradient_read));
    listing.has_gradient =
        arena_array(timing->core.scratch, model->n_values, sizeof(*listing.has_gradient));
    if (primitive_index_init(&listing.index, capacity, timing->core.arena) < 0 ||
        arena_failed(timing->core.scratch) || arena_failed(timing->core.arena))
        return diag_no_memory(timing->core.diag);
    for (uint32_t step = timing->core.liveness->n_steps; step-- > 0;)
        list_node(&listing, timing->core.liveness->node_at[step]);
    const size_t n_backward = listing.index.n;
    list_optimizer_kernel(&listing);
    table->n = listing.index.n;
    table->items = listing.index.items;
    return time_step(&listing, n_backward);
}
