/* SPDX-License-Identifier: Apache-2.0 */
/* Pass advice: suggests changes that would make the model faster. Each rule picks nodes,
 * estimates the time that a change would save, and writes a text (table `rules`). The rule that
 * saves most comes first; each of the others saves a part of what the rules before it leave.
 * Without times there is no advice. For a modelled device, changes.c evaluates changes instead.
 *
 * Thresholds are those that profilers publish (PyTorch's profiler plugin: memory above
 * 90 % of the device; trtexec and HTA: launches), else round figures. */
#include "timing/advice.h"

#include <math.h>

#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/public_figures.h"
#include "passes/summary/memory_required.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"
#include "timing/estimate.h"
#include "timing/kernels.h"
#include "timing/primitives.h"
#include "timing/roofline_bounds.h"
#include "timing/timing.h"

#define MIN_GAIN        0.01 /* of the latency */
#define MIN_UTILISATION 0.5
#define FULL_MEMORY     0.9  /* share of the device's memory */
#define TINY_GRID_SHARE 0.02 /* a picked layer has a larger share of the latency */
#define MIN_TRANSPOSE   0.8  /* workspace / (input + output): such a workspace holds copies */
#define MAX_TRANSPOSE   1.3
#define VECTOR_BYTES    16 /* alignment of matrix rows for tensor cores */

/* Input of the rules, and findings of the current one. Times are seconds of one pass. */
struct advice_case {
    const struct timing *timing;
    double total_s;  /* of all nodes */
    double *seconds; /* by node; 0: no time */
    double *left;    /* by node: what the rules before this one leave of them */
    bool *picked;    /* by node */
    double *gain;    /* by picked node; negative: unknown */
    double picked_s; /* sum of their times */
    size_t n_picked;
    struct text text; /* sentences: observation, recommendation */
};

struct advice_rule {
    const char *id;   /* "R3" */
    const char *name; /* "channels-last" */
    double min_share; /* minimum share of the latency in the picked nodes; 0: none */
    /* Returns true to pick the node. *ret_gain_s: seconds that the change saves; left at its
     * initial value -1 if unknown. All rules but pick_memory get only nodes with a time. */
    bool (*pick)(const struct advice_case *advice, uint32_t node, double *ret_gain_s);
    bool of_models;   /* also applies to modelled times */
    const char *noun; /* counted at the beginning of the text: "12 nodes"; NULL: no count */
    const char *text; /* rest of the text; NULL: `write` appends it */
    void (*write)(struct advice_case *advice);
};

/* Appends "3.46 GB". */
static void append_bytes(struct advice_case *advice, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    text_printf(&advice->text, "%.*f %s", unit == 0 ? 0 : 2, bytes, units[unit]);
}

static const struct cm_primitive *primitive_of(const struct advice_case *advice,
                                               uint32_t node) {
    return &advice->timing->primitives->items[estimate_primitive(advice->timing, node)];
}

static const struct cm_measurement *measurement_of(const struct advice_case *advice,
                                                   uint32_t node) {
    return &advice->timing->estimate->items[estimate_primitive(advice->timing, node)];
}

static const struct achieved *achieved_of(const struct advice_case *advice, uint32_t node) {
    return &advice->timing->roofline_bounds
                ->of_primitive[estimate_primitive(advice->timing, node)];
}

static double tensor_bytes(const struct cm_tensor *tensor) {
    const int64_t bytes = primitive_bytes(tensor);
    return is_known(bytes) ? (double)bytes : 0;
}

/* Returns how often the node runs. */
static double runs_of(const struct advice_case *advice, uint32_t node) {
    return advice->seconds[node] / measurement_of(advice, node)->cold.median;
}

/* Returns the lower bound on the seconds that moving the bytes takes; negative: unknown. */
static double traffic_s(const struct advice_case *advice, double bytes) {
    const double bandwidth = roofline_bounds_bandwidth(advice->timing);
    return bandwidth > 0 ? bytes / bandwidth : -1;
}

/* Returns the node's seconds above the roofline; negative: unknown. */
static double above_roofline(const struct advice_case *advice, uint32_t node) {
    const double roofline = achieved_of(advice, node)->roofline;
    return roofline < 0 ? -1 : fmax(0, advice->left[node] - advice->seconds[node] * roofline);
}

/* Returns true if tensor cores could run the product at the requested precision. */
static bool is_eligible(const struct advice_case *advice,
                        const struct cm_primitive *primitive) {
    const int32_t element = primitive->inputs[0].element;
    if (!primitive_is_product(primitive)) return false;
    if (element == CM_F32) return advice->timing->core.options->precision == CM_PRECISION_TF32;
    return element == CM_F16 || element == CM_BF16 || element == CM_I8 || element == CM_U8 ||
           element == CM_F8E4M3 || element == CM_F8E5M2;
}

/* R1. Returns the sum of the layer times / the time of the whole network; 1: unknown. */
static double utilisation(const struct advice_case *advice) {
    const struct network_time *network = &advice->timing->estimate->network;
    const double seconds = network->measurement.warm.median;
    const bool has_time = network->included != NULL && estimate_has_time(&network->measurement);
    if (!has_time || seconds <= 0 || !is_known(network->sum_warm_ps)) return 1;
    return (double)network->sum_warm_ps * 1e-12 / seconds;
}

/* The gain is unknown: idle time is not part of the layers' times. */
static bool pick_idle(const struct advice_case *advice, uint32_t node, double *ret_gain_s) {
    (void)ret_gain_s;
    return utilisation(advice) < MIN_UTILISATION &&
           advice->timing->estimate->network.included[node];
}

static void write_idle(struct advice_case *advice) {
    const double network_s = advice->timing->estimate->network.measurement.warm.median;
    text_printf(
        &advice->text,
        "Of the %.3f ms that the network takes its layers take %.2f%%: the device waits "
        "for the rest. Take a larger batch, or replay it as one graph.",
        network_s * 1e3, 100 * utilisation(advice));
}

/* R2. Picks products that run without tensor cores. */
static bool pick_without_tensor_cores(const struct advice_case *advice, uint32_t node,
                                      double *ret_gain_s) {
    const struct cm_primitive *primitive = primitive_of(advice, node);
    const double memory = traffic_s(advice, roofline_bounds_bytes(primitive));
    if (memory >= 0) *ret_gain_s = fmax(0, advice->left[node] - memory * runs_of(advice, node));
    return advice->timing->estimate->facts.has_tensor_cores &&
           primitive_is_product(primitive) && primitive->inputs[0].element != CM_F64 &&
           measurement_of(advice, node)->how.tensor_cores == CM_TENSOR_CORES_NO;
}

/* R3. Picks convolutions whose workspace has about the size of their input and output images,
 * which suggests that it holds copies of them. The gain is the time of these copies. */
static bool pick_transposes(const struct advice_case *advice, uint32_t node,
                            double *ret_gain_s) {
    const struct cm_primitive *primitive = primitive_of(advice, node);
    const struct cm_tensor *x = &primitive->inputs[0];
    const double workspace = (double)measurement_of(advice, node)->how.workspace_bytes;
    const double images = tensor_bytes(x) + tensor_bytes(&primitive->outputs[0]);
    if (primitive->kind != CM_CONV && primitive->kind != CM_DECONV) return false;
    if (x->rank < 3 || x->dims[1] < 2 || !primitive_is_packed(x)) return false;
    if (images <= 0 || workspace < MIN_TRANSPOSE * images || workspace > MAX_TRANSPOSE * images)
        return false;
    *ret_gain_s = traffic_s(advice, 2 * images * runs_of(advice, node));
    return true;
}

/* R4. Returns true if input or output channels of a product are not a multiple of 16 bytes. */
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

/* The gain is unknown if the time is modelled: the device model does not depend on the
 * alignment of channels. */
static bool pick_odd_channels(const struct advice_case *advice, uint32_t node,
                              double *ret_gain_s) {
    if (!advice->timing->estimate->facts.has_tensor_cores ||
        !is_eligible(advice, primitive_of(advice, node)) ||
        !has_odd_channels(primitive_of(advice, node)))
        return false;
    if (measurement_of(advice, node)->state != CM_MODELLED)
        *ret_gain_s = above_roofline(advice, node);
    return true;
}

/* R5. */
static bool is_elementwise(const struct cm_primitive *primitive) {
    return primitive->kind == CM_ELTWISE ||
           (primitive->kind == CM_NORM && primitive->algorithm == CM_NORM_BATCH);
}

/* Returns true if the node alone reads the value and its producer can be fused with it. */
static bool is_fusable(const struct advice_case *advice, uint32_t node,
                       const struct value *value) {
    const uint32_t *kernel = advice->timing->kernels->kernel;
    if (value->node == ID_NONE || value->n_uses != 1 || value->is_graph_output) return false;
    if (advice->seconds[value->node] <= 0) return false;
    if (kernel != NULL && kernel[value->node] == kernel[node]) return false; /* already */
    const struct cm_primitive *primitive = primitive_of(advice, value->node);
    return is_elementwise(primitive) || primitive_is_product(primitive) ||
           primitive->kind == CM_NORM;
}

/* Returns the bytes that fusing the node with a producer saves; 0: not fusable. */
static double saved_bytes(const struct advice_case *advice, uint32_t node) {
    const struct model *model = advice->timing->core.model;
    for (size_t i = 0; i < model->nodes[node].n_inputs; i++) {
        const uint32_t input = model->nodes[node].inputs[i];
        if (input == ID_NONE || !is_fusable(advice, node, &model->values[input])) continue;
        const struct cm_primitive *producer = primitive_of(advice, model->values[input].node);
        return 2 * tensor_bytes(&producer->outputs[0]) * runs_of(advice, node);
    }
    return 0;
}

static bool pick_chains(const struct advice_case *advice, uint32_t node, double *ret_gain_s) {
    if (!is_elementwise(primitive_of(advice, node))) return false;
    const enum limited_by limited_by = achieved_of(advice, node)->limited_by;
    if (limited_by != LIMITED_BY_MEMORY && limited_by != LIMITED_BY_LAUNCH) return false;
    const double bytes = saved_bytes(advice, node);
    if (bytes <= 0) return false;
    *ret_gain_s = traffic_s(advice, bytes);
    return true;
}

static void write_chains(struct advice_case *advice) {
    double bytes = 0;
    for (uint32_t node = 0; node < advice->timing->core.model->n_nodes; node++)
        if (advice->picked[node]) bytes += saved_bytes(advice, node);
    text_append(&advice->text,
                " could be fused with the producer of an operand that no other node reads, as "
                "a compiler or an inference runtime does: this saves ");
    append_bytes(advice, bytes);
    text_append(&advice->text, " of traffic.");
}

/* R6. Picks layers whose kernels all have fewer blocks than the device has multiprocessors. The
 * kernel with the most blocks decides the gain. */
static bool pick_tiny_grids(const struct advice_case *advice, uint32_t node,
                            double *ret_gain_s) {
    double max_share = 0;
    if (advice->seconds[node] <= TINY_GRID_SHARE * advice->total_s) return false;
    const struct cm_how *how = &measurement_of(advice, node)->how;
    for (int i = 0; i < how->n_kernels && i < CM_MAX_KERNELS; i++) {
        const double share = how->kernels[i].blocks_per_unit;
        max_share = fmax(max_share, share > 0 ? share : 1); /* 0: unknown */
    }
    *ret_gain_s = advice->left[node] * (1 - max_share);
    return how->n_kernels > 0 && max_share < 1;
}

/* R7. Picks layers limited by kernel launch. */
static bool pick_launches(const struct advice_case *advice, uint32_t node, double *ret_gain_s) {
    *ret_gain_s = above_roofline(advice, node);
    return achieved_of(advice, node)->limited_by == LIMITED_BY_LAUNCH;
}

/* R8. Picks the node at the peak if the device's memory is nearly full. */
static bool pick_memory(const struct advice_case *advice, uint32_t node, double *ret_gain_s) {
    const int64_t have = advice->timing->estimate->facts.memory_bytes;
    const int64_t required = advice->timing->core.memory_required->required_bytes;
    (void)ret_gain_s;
    return node == advice->timing->core.liveness->peak_node && have > 0 && is_known(required) &&
           (double)required > FULL_MEMORY * (double)have;
}

static void write_memory(struct advice_case *advice) {
    const double required = (double)advice->timing->core.memory_required->required_bytes;
    const double have = (double)advice->timing->estimate->facts.memory_bytes;
    append_bytes(advice, required);
    text_append(&advice->text, " are required, ");
    text_printf(&advice->text, "%.2f%% of the device's ", 100 * required / have);
    append_bytes(advice, have);
    text_append(&advice->text,
                ", and workspace comes on top. Take a smaller batch or elements, or try "
                "--schedule min-memory; --memory-limit reports the largest batch that fits.");
}

/* R9. Picks copies and gathers; the gain is their whole time. */
static bool pick_copies(const struct advice_case *advice, uint32_t node, double *ret_gain_s) {
    const int32_t kind = primitive_of(advice, node)->kind;
    *ret_gain_s = advice->left[node];
    return kind == CM_COPY || kind == CM_GATHER;
}

/* clang-format off */
static const struct advice_rule rules[] = {
    {"R1", "utilisation", 0, pick_idle, false, NULL, NULL, write_idle},
    {"R2", "tensor-cores", 0, pick_without_tensor_cores, false, "product",
     " without tensor cores, which the device has: try --precision tf32, or fp16 or bf16 if "
     "accuracy allows. The gain is their time minus that of moving their bytes.", NULL},
    {"R3", "channels-last", 0, pick_transposes, false, "convolution",
     " with a workspace of the size of their images, which are turned to channels-last and back "
     "in it: try --layout nhwc, and channels_last in the framework.", NULL},
    {"R4", "channels", 0.01, pick_odd_channels, true, "product",
     " whose channels are not a multiple of 16 bytes (8 of fp16, 16 of int8 and fp8, 4 of tf32), "
     "as tensor cores require: pad them.", NULL},
    {"R5", "fusion", 0, pick_chains, false, "elementwise node", NULL, write_chains},
    {"R6", "tiny-grids", 0, pick_tiny_grids, false, "node",
     " with fewer blocks than the device has multiprocessors, part of which is idle: take a "
     "larger batch, or an algorithm that splits the sum (split-K).", NULL},
    {"R7", "launches", 0.2, pick_launches, false, "node",
     " within three times the shortest that anything takes, launches rather than work: take a "
     "larger batch, fuse them, or replay them as one graph.", NULL},
    {"R8", "memory", 0, pick_memory, true, NULL, NULL, write_memory},
    {"R9", "copies", 0.1, pick_copies, false, "node",
     " without arithmetic (transposes, slices, concatenations, gathers): look for layouts that "
     "avoid them. The gain is all of their time.", NULL},
};
/* clang-format on */

#define N_RULES (sizeof rules / sizeof *rules)

int advice_list_nodes(const struct timing *timing, const bool *picked, struct cm_advice *ret) {
    const struct modules_table *modules = timing->core.modules;
    const size_t n_nodes = timing->core.model->n_nodes;
    size_t n = 0;
    for (size_t i = 0; i < n_nodes; i++) n += picked[i];
    size_t *nodes = arena_array(timing->core.result_arena, n, sizeof *nodes);
    size_t *list = arena_array(timing->core.result_arena, modules->n_modules, sizeof *list);
    bool *has = arena_array(timing->core.arena, modules->n_modules, sizeof *has);
    if (!nodes || !list || !has) return diag_no_memory(timing->core.diag);
    for (uint32_t node = 0; node < n_nodes; node++) {
        if (!picked[node]) continue;
        nodes[ret->n_nodes++] = node;
        has[modules->of_node[node]] = true;
    }
    for (uint32_t i = 0; i < modules->n_modules; i++)
        if (has[i]) list[ret->n_modules++] = i;
    ret->nodes = nodes;
    ret->modules = list;
    return CM_OK;
}

/* Picks the nodes of a rule. Returns the sum of their gains: negative if all are unknown, or if
 * the rule gives no advice; then n_picked is 0. */
static double pick_nodes(struct advice_case *advice, const struct advice_rule *rule) {
    double gain_s = -1;
    advice->n_picked = 0;
    advice->picked_s = 0;
    for (uint32_t node = 0; node < advice->timing->core.model->n_nodes; node++) {
        double gain = -1;
        advice->picked[node] = (advice->seconds[node] > 0 || rule->pick == pick_memory) &&
                               rule->pick(advice, node, &gain);
        if (!advice->picked[node]) continue;
        advice->n_picked++;
        advice->picked_s += advice->seconds[node];
        advice->gain[node] = fmin(gain, advice->left[node]);
        if (gain >= 0) gain_s = fmax(gain_s, 0) + advice->gain[node];
    }
    if (advice->picked_s >= rule->min_share * advice->total_s &&
        (gain_s < 0 || gain_s >= MIN_GAIN * advice->total_s))
        return gain_s;
    advice->n_picked = 0;
    return -1;
}

/* Adds the advice of a rule for the nodes that it picked. */
static int add_advice(struct advice_case *advice, const struct advice_rule *rule, double gain_s,
                      struct advice_table *table) {
    const struct timing *timing = advice->timing;
    text_init(&advice->text, timing->core.result_arena);
    if (rule->noun != NULL) /* "12 nodes (34.56% of latency)" */
        text_printf(&advice->text, "%zu %s%s (%.2f%% of latency)", advice->n_picked, rule->noun,
                    text_plural((int64_t)advice->n_picked),
                    100 * advice->picked_s / advice->total_s);
    if (rule->text != NULL) text_append(&advice->text, rule->text);
    if (rule->write != NULL) rule->write(advice);
    if (advice->text.failed) return diag_no_memory(timing->core.diag);
    struct cm_advice *item = &table->items[table->n++];
    *item = (struct cm_advice){.rule = rule->id,
                               .name = rule->name,
                               .text = text_string(&advice->text),
                               .gain_ps = gain_s >= 0 ? public_count(estimate_ps(gain_s))
                                                      : CM_UNKNOWN};
    for (uint32_t node = 0; node < timing->core.model->n_nodes; node++)
        if (advice->picked[node] && advice->gain[node] > 0)
            advice->left[node] -= advice->gain[node];
    return advice_list_nodes(timing, advice->picked, item);
}

int pass_advice(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct advice_table *table = own;
    const size_t n_nodes = timing->core.model->n_nodes;
    const bool modelled = timing->estimate->facts.modelled && !timing->estimate->imported;
    struct advice_case advice = {.timing = timing};
    bool done[N_RULES] = {false};
    if (!timing->roofline_bounds->done) return CM_OK;
    advice.seconds = arena_array(timing->core.scratch, n_nodes, sizeof *advice.seconds);
    advice.left = arena_array(timing->core.scratch, n_nodes, sizeof *advice.left);
    advice.gain = arena_array(timing->core.scratch, n_nodes, sizeof *advice.gain);
    advice.picked = arena_array(timing->core.scratch, n_nodes, sizeof *advice.picked);
    table->items = arena_array(timing->core.result_arena, N_RULES, sizeof *table->items);
    if (!advice.seconds || !advice.left || !advice.gain || !advice.picked || !table->items)
        return diag_no_memory(timing->core.diag);
    for (uint32_t node = 0; node < n_nodes; node++) {
        const struct cm_measurement *measurement = estimate_of_node(timing, node);
        const int64_t runs = timing->core.count->runs[timing->core.model->nodes[node].graph];
        if (measurement == NULL || !is_known(runs)) continue;
        advice.seconds[node] = advice.left[node] =
            measurement->cold.median * estimate_share(timing, node) * (double)runs;
        advice.total_s += advice.seconds[node];
    }
    if (advice.total_s <= 0) return CM_OK;
    for (size_t round = 0; round < N_RULES; round++) {
        size_t best = N_RULES;
        double most_s = -1;
        for (size_t i = 0; i < N_RULES; i++) {
            if (done[i] || (modelled && !rules[i].of_models)) continue;
            const double gain_s = pick_nodes(&advice, &rules[i]);
            if (advice.n_picked == 0 || (best < N_RULES && gain_s <= most_s)) continue;
            best = i;
            most_s = gain_s;
        }
        if (best == N_RULES) break;
        done[best] = true;
        (void)pick_nodes(&advice, &rules[best]);
        const int status = add_advice(&advice, &rules[best], most_s, table);
        if (status < 0) return status;
    }
    return CM_OK;
}
