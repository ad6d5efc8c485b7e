/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of pass advice, a row each. Thresholds are those that profilers use where one has
 * published them (PyTorch's profiler plugin: memory above 90 % of the device; trtexec and HTA
 * look at launches), else round figures below which nobody would look.
 */
#include "passes/latency/advice.h"

#include <math.h>

#include "backends/primitive.h"
#include "passes/latency/estimate.h"
#include "passes/latency/roofline_bounds.h"
#include "support/checked.h"

#include "support/banned.h"

#define LEAST_UTILISATION 0.5
#define FULL_MEMORY       0.9  /* of the device's */
#define TINY_GRID_SHARE   0.02 /* of the latency that one layer must have */
#define LEAST_TRANSPOSE   0.8  /* of image in and out: a workspace of that size holds copies */
#define MOST_TRANSPOSE    1.3
#define VECTOR_BYTES      16 /* rows of a matrix start at multiples of it, for tensor cores */

static const struct cm_primitive *primitive_of(const struct advice_case *advice,
                                               uint32_t node) {
    return &advice->analysis->primitives.items[advice->analysis->primitives.of_node[node]];
}

static const struct cm_measurement *measurement_of(const struct advice_case *advice,
                                                   uint32_t node) {
    return &advice->analysis->estimate.items[advice->analysis->primitives.of_node[node]];
}

static const struct achieved *achieved_of(const struct advice_case *advice, uint32_t node) {
    return &advice->analysis->bounds.of_primitive[advice->analysis->primitives.of_node[node]];
}

static double tensor_bytes(const struct cm_tensor *tensor) {
    const int64_t elements = primitive_elements(tensor);
    return is_known(elements)
               ? (double)elements * (double)primitive_element_size(tensor->element)
               : 0;
}

/* Seconds that so many bytes take at best; negative: not known. */
static double traffic_s(const struct advice_case *advice, double bytes) {
    const double bandwidth = roofline_bounds_bandwidth(advice->analysis);
    return bandwidth > 0 ? bytes / bandwidth : -1;
}

/* What is left of the time above the roofline; a model has nothing there. */
static double above_roofline(const struct advice_case *advice, uint32_t node) {
    const struct achieved *achieved = achieved_of(advice, node);
    if (achieved->roofline < 0 || measurement_of(advice, node)->state == CM_MODELLED) return -1;
    return advice->seconds[node] * fmax(0, 1 - achieved->roofline);
}

/* Whether units that only multiply matrices could take such elements, as they are asked for. */
static bool is_eligible(const struct advice_case *advice,
                        const struct cm_primitive *primitive) {
    const int32_t element = primitive->inputs[0].element;
    if (!primitive_is_product(primitive)) return false;
    if (element == CM_F32) return advice->analysis->options->precision == CM_PRECISION_TF32;
    return element == CM_F16 || element == CM_BF16 || element == CM_I8 || element == CM_U8 ||
           element == CM_F8E4M3 || element == CM_F8E5M2;
}

/* R1. What was measured one by one, by the time of all of it as one network; 1: not known. */
static double utilisation(const struct advice_case *advice) {
    const struct network_time *network = &advice->analysis->estimate.network;
    const double seconds = network->measurement.warm.median;
    const bool has_time = network->in_it != NULL && estimate_has_time(&network->measurement);
    if (!has_time || seconds <= 0 || !is_known(network->sum_warm_ps)) return 1;
    return (double)network->sum_warm_ps * 1e-12 / seconds;
}

/* The gain is one of the network's time, not of the layers': the text says it. */
static void pick_idle(struct advice_case *advice) {
    if (utilisation(advice) >= LEAST_UTILISATION) return;
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++)
        if (advice->analysis->estimate.network.in_it[node] && advice->seconds[node] > 0)
            advice_pick(advice, node, -1);
}

static void tell_idle(struct advice_case *advice) {
    const double whole = advice->analysis->estimate.network.measurement.warm.median;
    text_printf(
        &advice->text,
        "Of the %.3f ms that the network takes its layers take %.2f%%: the device waits "
        "for the rest. Take a larger batch, or replay it as one graph.",
        whole * 1e3, 100 * utilisation(advice));
}

/* R2. A model of a device that has them computes fp32 at the plain rate unless told otherwise.
 */
static bool runs_without(const struct advice_case *advice, uint32_t node) {
    const struct cm_primitive *primitive = primitive_of(advice, node);
    const struct cm_measurement *measurement = measurement_of(advice, node);
    if (!primitive_is_product(primitive)) return false;
    if (primitive->inputs[0].element == CM_F64) return false;
    if (measurement->state == CM_MODELLED)
        return primitive->inputs[0].element == CM_F32 && !is_eligible(advice, primitive);
    return measurement->how.tensor_cores == CM_TENSOR_CORES_NO;
}

static void pick_without_tensor_cores(struct advice_case *advice) {
    if (!advice->analysis->estimate.facts.has_tensor_cores) return;
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= 0 || !runs_without(advice, node)) continue;
        const double runs = advice->seconds[node] / measurement_of(advice, node)->cold.median;
        const double memory =
            traffic_s(advice, roofline_bounds_bytes(primitive_of(advice, node)) * runs);
        advice_pick(advice, node, memory < 0 ? -1 : fmax(0, advice->seconds[node] - memory));
    }
}

static void tell_without_tensor_cores(struct advice_case *advice) {
    advice_append_picked(advice, "matrix product");
    text_append(
        &advice->text,
        " without tensor cores, which the device has: try --precision tf32, or fp16 or bf16 "
        "where accuracy allows. The gain is what they take above the time of their bytes.");
}

/* R3. */
static bool hides_transposes(const struct advice_case *advice, uint32_t node) {
    const struct cm_primitive *primitive = primitive_of(advice, node);
    const struct cm_tensor *x = &primitive->inputs[0];
    const double workspace = (double)measurement_of(advice, node)->how.workspace_bytes;
    const double images = tensor_bytes(x) + tensor_bytes(&primitive->outputs[0]);
    if (primitive->kind != CM_CONV && primitive->kind != CM_DECONV) return false;
    if (x->rank < 3 || x->dims[1] < 2 || !primitive_is_packed(x)) return false;
    return images > 0 && workspace >= LEAST_TRANSPOSE * images &&
           workspace <= MOST_TRANSPOSE * images;
}

/* The images are read and written once more each. */
static void pick_transposes(struct advice_case *advice) {
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= 0 || !hides_transposes(advice, node)) continue;
        const struct cm_primitive *primitive = primitive_of(advice, node);
        const double runs = advice->seconds[node] / measurement_of(advice, node)->cold.median;
        const double bytes =
            2 * (tensor_bytes(&primitive->inputs[0]) + tensor_bytes(&primitive->outputs[0]));
        advice_pick(advice, node, traffic_s(advice, bytes * runs));
    }
}

static void tell_transposes(struct advice_case *advice) {
    advice_append_picked(advice, "convolution");
    text_append(
        &advice->text,
        " with a workspace of the size of their images, which are turned to channels-last and "
        "back in it: try --layout nhwc, and channels_last in the framework.");
}

/* R4. The channels that a product multiplies and makes. */
static bool has_odd_channels(const struct cm_primitive *primitive) {
    const int64_t size = primitive_element_size(primitive->inputs[0].element);
    const int64_t multiple = size > 0 && size < VECTOR_BYTES ? VECTOR_BYTES / size : 1;
    const struct cm_tensor *a = &primitive->inputs[0];
    const struct cm_tensor *b = &primitive->inputs[1];
    if (primitive->kind == CM_GEMM && a->rank > 0 && b->rank > 0)
        return a->dims[a->rank - 1] % multiple != 0 || b->dims[b->rank - 1] % multiple != 0;
    if ((primitive->kind == CM_CONV || primitive->kind == CM_DECONV) && a->rank > 1)
        return primitive->groups == 1 &&
               (a->dims[1] % multiple != 0 || primitive->outputs[0].dims[1] % multiple != 0);
    return false;
}

static void pick_odd_channels(struct advice_case *advice) {
    if (!advice->analysis->estimate.facts.has_tensor_cores) return;
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++)
        if (advice->seconds[node] > 0 && is_eligible(advice, primitive_of(advice, node)) &&
            has_odd_channels(primitive_of(advice, node)))
            advice_pick(advice, node, above_roofline(advice, node));
}

static void tell_odd_channels(struct advice_case *advice) {
    advice_append_picked(advice, "matrix product");
    text_append(&advice->text,
                " on channels that are no multiple of 16 bytes (8 of fp16, 16 of int8 and fp8, "
                "4 of tf32), which tensor cores want: pad them.");
}

/* R5. */
static bool is_elementwise(const struct cm_primitive *primitive) {
    return primitive->kind == CM_ELTWISE ||
           (primitive->kind == CM_NORM && primitive->algorithm == CM_NORM_BATCH);
}

static bool is_bound_by_traffic(const struct advice_case *advice, uint32_t node) {
    const enum bound bound = achieved_of(advice, node)->bound;
    return bound == BOUND_MEMORY || bound == BOUND_LAUNCH;
}

/* The node that makes the value for this reader alone, and could do its work too; ID_NONE. */
static uint32_t fusable_maker(const struct advice_case *advice, uint32_t input) {
    const struct value *values = advice->analysis->model->values;
    if (input == ID_NONE || values[input].node == ID_NONE) return ID_NONE;
    const uint32_t maker = values[input].node;
    if (values[input].n_uses != 1 || values[input].is_graph_output) return ID_NONE;
    if (advice->seconds[maker] <= 0) return ID_NONE;
    const struct cm_primitive *primitive = primitive_of(advice, maker);
    const bool takes_more = is_elementwise(primitive) || primitive_is_product(primitive) ||
                            primitive->kind == CM_NORM;
    return takes_more ? maker : ID_NONE;
}

/* Bytes of one run that nobody would write and read again; 0: nothing to fuse it with. */
static double saved_bytes(const struct advice_case *advice, uint32_t node) {
    const struct node *from = &advice->analysis->model->nodes[node];
    for (size_t i = 0; i < from->n_inputs; i++) {
        const uint32_t maker = fusable_maker(advice, from->inputs[i]);
        if (maker != ID_NONE) return 2 * tensor_bytes(&primitive_of(advice, maker)->outputs[0]);
    }
    return 0;
}

static double all_saved_bytes(const struct advice_case *advice) {
    double bytes = 0;
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (!advice->picked[node]) continue;
        bytes += saved_bytes(advice, node) * advice->seconds[node] /
                 measurement_of(advice, node)->cold.median;
    }
    return bytes;
}

static void pick_chains(struct advice_case *advice) {
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= 0 || !is_elementwise(primitive_of(advice, node))) continue;
        if (!is_bound_by_traffic(advice, node)) continue;
        const double bytes = saved_bytes(advice, node);
        if (bytes <= 0) continue;
        const double runs = advice->seconds[node] / measurement_of(advice, node)->cold.median;
        const double gain = traffic_s(advice, bytes * runs);
        advice_pick(advice, node, fmin(gain, advice->seconds[node]));
    }
}

static void tell_chains(struct advice_case *advice) {
    advice_append_picked(advice, "elementwise node");
    text_append(&advice->text, " on what one node wrote for them alone: fused with it, as a "
                               "compiler or an inference runtime does, they would save ");
    advice_append_bytes(advice, all_saved_bytes(advice));
    text_append(&advice->text, " of traffic.");
}

/* R6. The most blocks for a multiprocessor that a kernel of it has; 1: enough, or not known. */
static double fullest_grid(const struct cm_how *how) {
    double most = 0;
    for (int i = 0; i < how->n_kernels && i < CM_MAX_KERNELS; i++)
        most = fmax(most,
                    how->kernels[i].blocks_per_unit > 0 ? how->kernels[i].blocks_per_unit : 1);
    return how->n_kernels > 0 ? most : 1;
}

static void pick_tiny_grids(struct advice_case *advice) {
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= TINY_GRID_SHARE * advice->total_s) continue;
        const double most = fullest_grid(&measurement_of(advice, node)->how);
        if (most < 1) advice_pick(advice, node, advice->seconds[node] * (1 - most));
    }
}

static void tell_tiny_grids(struct advice_case *advice) {
    advice_append_picked(advice, "node");
    text_append(&advice->text,
                " with fewer blocks than the device has multiprocessors, part of which is "
                "idle: take a larger batch, or an algorithm that splits the sum (split-K).");
}

/* R7. */
static void pick_launches(struct advice_case *advice) {
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= 0) continue;
        const struct achieved *achieved = achieved_of(advice, node);
        const double share = achieved->roofline;
        if (achieved->bound != BOUND_LAUNCH) continue;
        advice_pick(advice, node, share < 0 ? -1 : advice->seconds[node] * fmax(0, 1 - share));
    }
}

static void tell_launches(struct advice_case *advice) {
    advice_append_picked(advice, "node");
    text_append(&advice->text,
                " within three times the shortest that anything takes, launches rather than "
                "work: take a larger batch, fuse them, or replay them as one graph.");
}

/* R8. */
static void pick_memory(struct advice_case *advice) {
    const int64_t have = advice->analysis->estimate.facts.memory_bytes;
    const int64_t required = advice->analysis->demand.required_bytes;
    const uint32_t peak = advice->analysis->liveness.peak_node;
    if (have <= 0 || !is_known(required) || peak == ID_NONE) return;
    if ((double)required > FULL_MEMORY * (double)have) advice_pick(advice, peak, -1);
}

static void tell_memory(struct advice_case *advice) {
    const double required = (double)advice->analysis->demand.required_bytes;
    const double have = (double)advice->analysis->estimate.facts.memory_bytes;
    advice_append_bytes(advice, required);
    text_append(&advice->text, " are required, ");
    text_printf(&advice->text, "%.2f%% of the device's ", 100 * required / have);
    advice_append_bytes(advice, have);
    text_append(&advice->text,
                ", and workspace comes on top. Take a smaller batch or elements, or try "
                "--schedule min-memory; --memory-limit tells which batch fits.");
}

/* R9. */
static void pick_copies(struct advice_case *advice) {
    for (uint32_t node = 0; node < advice->analysis->model->n_nodes; node++) {
        if (advice->seconds[node] <= 0) continue;
        const int32_t kind = primitive_of(advice, node)->kind;
        if (kind == CM_COPY || kind == CM_GATHER)
            advice_pick(advice, node, advice->seconds[node]);
    }
}

static void tell_copies(struct advice_case *advice) {
    advice_append_picked(advice, "node");
    text_append(&advice->text,
                " without arithmetic (transposes, slices, concatenations, gathers): look for "
                "layouts that need none of them. The gain is all of their time.");
}

/* clang-format off */
static const struct advice_rule rules[] = {
    /* id,  name,             least share, pick,                      tell */
    {"R1", "utilisation",     0,           pick_idle,                 tell_idle},
    {"R2", "tensor-cores",    0.01,        pick_without_tensor_cores, tell_without_tensor_cores},
    {"R3", "channels-last",   0.01,        pick_transposes,           tell_transposes},
    {"R4", "channels",        0.01,        pick_odd_channels,         tell_odd_channels},
    {"R5", "fusion",          0.01,        pick_chains,               tell_chains},
    {"R6", "tiny-grids",      0,           pick_tiny_grids,           tell_tiny_grids},
    {"R7", "launches",        0.2,         pick_launches,             tell_launches},
    {"R8", "memory",          0,           pick_memory,               tell_memory},
    {"R9", "copies",          0.1,         pick_copies,               tell_copies},
};
/* clang-format on */

const struct advice_rule *advice_rule_at(size_t index) {
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}
