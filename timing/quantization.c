/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what int8 gains over float. Nodes one after the other whose products have operands of
 * the same kind are a region; other nodes belong to the region of the products before them.
 * Nodes that int8 does not make faster have a cause, and the one that costs most is the reason
 * of a region and of the verdict. */
#include "timing/quantization.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/modules/module_tree.h"
#include "passes/pipeline/pipeline.h"
#include "passes/public_figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/option_names.h"
#include "support/sort.h"
#include "support/text.h"
#include "timing/estimate.h"
#include "timing/kernels.h"
#include "timing/pipeline.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define FASTER  0.97 /* a node whose time is below this share of its float time gains */
#define EQUAL   0.01 /* two times that differ by this share of them */
#define WAITING 0.05 /* share of the time in which a device waits for its host */

/* Why int8 does not make a node faster. */
enum cause {
    GAINS,
    BY_HOST,
    BY_LAUNCH,
    BY_MEMORY,
    BY_CONVERSION,
    BY_SPLIT,
    BY_FP32,
    BY_ATTENTION,
    BY_FILE,
    BY_SCALE,
    BY_NO_UNITS,
    BY_RATE,
    BY_WINOGRAD,
    BY_KERNELS,
    N_CAUSES
};

static const char *const causes[N_CAUSES] = {
    [GAINS] = "",
    [BY_HOST] = "the time of a run besides its kernels, as of the host, stays as it is",
    [BY_LAUNCH] = "the launch of a kernel takes longer than its work",
    [BY_MEMORY] = "int8 only speeds up products, and memory limits these layers",
    [BY_CONVERSION] = "converting to int8 takes longer than it saves",
    [BY_SPLIT] = "tensors quantized between layers split kernels that are one in float",
    [BY_FP32] = "layers that stay in float run in fp32, unless --precision fp16 is given",
    [BY_ATTENTION] = "attention and recurrences stay in float",
    [BY_FILE] = "the file does not quantize both operands of the products",
    [BY_SCALE] = "scales that vary along a sum keep the products in float",
    [BY_NO_UNITS] = "the device has no units for int8",
    [BY_RATE] = "the device multiplies int8 no faster than floats",
    [BY_WINOGRAD] = "3x3 convolutions gain as much from Winograd's algorithm in float",
    [BY_KERNELS] = "widening, summing and requantizing take what the higher rate saves",
};

/* Picoseconds of nodes by cause. */
struct tally {
    int64_t float_ps[N_CAUSES];
    int64_t loss_ps[N_CAUSES]; /* by which int8 is slower */
};

struct comparison {
    const struct timing *now;
    const struct timing *before; /* in float */
};

/* Returns the primitive of the node; NULL if it does no work. */
static const struct cm_primitive *primitive_of(const struct timing *timing, uint32_t node) {
    const uint32_t at = timing->primitives->of_node[node];
    return at == ID_NONE ? NULL : &timing->primitives->items[at];
}

static bool is_product(const struct cm_primitive *primitive) {
    return primitive != NULL && primitive_is_product(primitive);
}

static bool is_int8(const struct cm_primitive *primitive) {
    const int32_t element = primitive->inputs[0].element;
    return element == CM_I8 || element == CM_U8;
}

static int64_t time_of(const struct timing *timing, uint32_t node) {
    const int64_t ps = timing->times->of_node[node].latency_ps;
    return is_known(ps) ? ps : 0;
}

static const struct cm_measurement *modelled(const struct timing *timing, uint32_t node) {
    return &timing->estimate->items[timing->primitives->of_node[node]];
}

/* Returns the operations per second of the rate of the product. */
static double rate_of(const struct timing *timing, uint32_t node) {
    return estimate_rate(timing, modelled(timing, node)->how.algorithm);
}

static bool has_rate_of_fp16(const struct timing *timing) {
    return estimate_rate(timing, "fp16") > 0 || estimate_rate(timing, "matrix_fp16") > 0;
}

/* Returns true if float kernels may use Winograd's algorithm. */
static bool has_winograd(const struct timing *timing, uint32_t node) {
    const struct cm_primitive *primitive = primitive_of(timing, node);
    if (primitive == NULL) return false;
    const struct cm_window *window = &primitive->window;
    return primitive->kind == CM_CONV && window->n_spatial == 2 && window->kernel[0] == 3 &&
           window->kernel[1] == 3 && window->strides[0] == 1 && window->strides[1] == 1 &&
           modelled(timing, node)->how.tensor_cores != CM_TENSOR_CORES_YES;
}

/* Returns why a product stays in float. */
static enum cause float_cause(const struct timing *timing, uint32_t id) {
    const struct cm_primitive *primitive = primitive_of(timing, id);
    const scale_axes *scales = timing->core.count->dequantized;
    const struct node *node = &timing->core.model->nodes[id];
    if (primitive == NULL || primitive->kind == CM_ATTENTION || primitive->kind == CM_RNN)
        return BY_ATTENTION;
    for (size_t i = 0; i < 2 && i < node->n_inputs && scales; i++)
        if (node->inputs[i] == ID_NONE || scales[node->inputs[i]] == SCALE_NONE) return BY_FILE;
    return scales ? BY_SCALE : BY_ATTENTION;
}

/* Returns why int8 does not make a product on integers faster. Both models have its time. */
static enum cause int8_cause(const struct comparison *comparison, uint32_t id) {
    const struct timing *now = comparison->now;
    const struct cm_measurement *measurement = modelled(now, id);
    if (primitive_of(now, id)->fusion.quantizes) return BY_CONVERSION;
    if (measurement->limit == CM_LIMIT_LAUNCH) return BY_LAUNCH;
    if (measurement->limit == CM_LIMIT_MEMORY) return BY_MEMORY;
    if (strstr(measurement->how.algorithm, "int8") == NULL) return BY_NO_UNITS;
    if (rate_of(now, id) <= rate_of(comparison->before, id)) return BY_RATE;
    return has_winograd(comparison->before, id) ? BY_WINOGRAD : BY_KERNELS;
}

static enum cause cause_of(const struct comparison *comparison, uint32_t id) {
    const struct timing *now = comparison->now;
    const struct cm_primitive *primitive = primitive_of(now, id);
    const struct cm_primitive *before = primitive_of(comparison->before, id);
    const uint8_t role = now->kernels->qdq[id];
    if (!primitive ||
        (double)time_of(now, id) < FASTER * (double)time_of(comparison->before, id))
        return GAINS;
    if (role == QDQ_QUANTIZES || role == QDQ_DEQUANTIZES) return BY_CONVERSION;
    if (before && primitive->inputs[0].element == CM_F32 && before->inputs[0].element == CM_F16)
        return BY_FP32;
    if (is_product(primitive) && before)
        return is_int8(primitive) ? int8_cause(comparison, id) : float_cause(now, id);
    if (!primitive->fusion.no_launch && (!before || before->fusion.no_launch)) return BY_SPLIT;
    return modelled(now, id)->limit == CM_LIMIT_LAUNCH ? BY_LAUNCH : BY_MEMORY;
}

static void tally_add(struct tally *tally, enum cause cause, int64_t ps, int64_t float_ps) {
    checked_add_to(&tally->float_ps[cause], float_ps);
    if (ps > float_ps) checked_add_to(&tally->loss_ps[cause], ps - float_ps);
}

/* Returns the cause that costs most: the loss if int8 is slower, else the time without gain. */
static enum cause worst_of(const struct tally *tally, bool is_slower) {
    const int64_t *by = is_slower ? tally->loss_ps : tally->float_ps;
    enum cause worst = GAINS;
    for (int cause = GAINS + 1; cause < N_CAUSES; cause++)
        if (by[cause] > (worst == GAINS ? 0 : by[worst])) worst = (enum cause)cause;
    return worst;
}

/* Runs the passes of the float model. *ret is NULL if it has no times. */
static int run_float(const struct timing *timing, enum cm_precision precision,
                     struct arena *arena, const struct timing **ret) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_options *options = arena_alloc(arena, sizeof *options);
    struct analysis *core = arena_alloc(arena, sizeof *core);
    struct timing *other = arena_alloc(arena, sizeof *other);
    int status = diag && options && core && other ? CM_OK : CM_NO_MEMORY;
    *ret = NULL;
    if (status == CM_OK) {
        *options = *timing->core.options;
        options->precision = precision;
        options->dump_after = NULL;
        *core = (struct analysis){
            .model = timing->core.model, .options = options, .arena = arena, .diag = diag};
        status = pipeline_run_to(core, TABLE_MODULES);
    }
    if (status == CM_OK) status = timing_passes_run_float(core, TABLE_TIMES, other);
    if (status == CM_OK && other->times->of_node &&
        is_known(other->times->of_module[0].latency_ps))
        *ret = other;
    cm_diagnostics_free(diag);
    return status == CM_NO_MEMORY ? diag_no_memory(timing->core.diag) : CM_OK;
}

/* Sets bytes and time of the kernels that only convert: QuantizeLinear and DequantizeLinear,
 * and those that quantize the rows of an operand. */
static int find_conversions(const struct timing *timing, struct cm_quantization *ret) {
    const size_t n_nodes = timing->core.model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct cm_primitive *primitive = primitive_of(timing, id);
        const uint8_t role = timing->kernels->qdq[id];
        const int64_t runs = timing->core.count->runs[timing->core.model->nodes[id].graph];
        if (!primitive || !is_known(runs)) continue;
        if (role == QDQ_QUANTIZES || role == QDQ_DEQUANTIZES) {
            const int64_t moved = checked_add(primitive->bytes_read, primitive->bytes_written);
            checked_add_to(&ret->conversion_ps, time_of(timing, id));
            checked_add_to(&ret->conversion_bytes, checked_mul(runs, moved));
        } else if (primitive->fusion.quantizes) {
            const int64_t elements = primitive_elements(&primitive->inputs[0]);
            struct cm_primitive product = *primitive;
            struct modelled_time alone;
            product.fusion.quantizes = 0;
            product.fusion.extra_kernels--;
            const int status = estimate_modelled(timing, &product, 1, &alone);
            if (status < 0) return status;
            checked_add_to(
                &ret->conversion_ps,
                checked_sub(time_of(timing, id), checked_mul(runs, alone.expected_ps)));
            ret->conversion_bytes = /* reads 16 bits and writes 8 */
                checked_add(ret->conversion_bytes, checked_mul(runs, checked_mul(3, elements)));
        }
    }
    ret->conversion_ps = public_count(ret->conversion_ps);
    ret->conversion_bytes = public_count(ret->conversion_bytes);
    return CM_OK;
}

/* Ends a region: sets its reason, unless it stays in float, and its module. */
static void end_region(const struct comparison *comparison, const struct tally *tally,
                       const uint32_t *nodes, size_t n, struct cm_quantized_region *region) {
    region->module = module_common(comparison->now->core.modules, nodes, n);
    region->first = nodes[0];
    region->last = nodes[n - 1];
    if (!region->reason)
        region->reason =
            region->latency_ps > region->float_latency_ps ? causes[worst_of(tally, true)] : "";
    if (!region->state) region->state = "float"; /* no products */
}

static int by_time(const void *left, const void *right) {
    const struct cm_quantized_region *a = left;
    const struct cm_quantized_region *b = right;
    if (a->float_latency_ps != b->float_latency_ps)
        return a->float_latency_ps > b->float_latency_ps ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Divides the nodes into regions, and adds the times of all to *all. */
static int find_regions(const struct comparison *comparison, struct tally *all,
                        struct cm_quantization *ret) {
    const struct timing *now = comparison->now;
    const size_t n_nodes = now->core.model->n_nodes;
    struct cm_quantized_region *regions =
        arena_array(now->core.result_arena, n_nodes, sizeof *regions);
    uint32_t *nodes = arena_array(now->core.arena, n_nodes, sizeof *nodes);
    struct tally tally = {{0}, {0}};
    size_t n = 0; /* nodes of the current region */
    if (!regions || !nodes) return diag_no_memory(now->core.diag);
    ret->regions = regions;
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct cm_primitive *primitive = primitive_of(now, id);
        struct cm_quantized_region *region = &regions[ret->n_regions];
        const int64_t ps = time_of(now, id);
        const int64_t float_ps = time_of(comparison->before, id);
        if (ps == 0 && float_ps == 0) continue;
        const char *state = !is_product(primitive) ? region->state
                            : is_int8(primitive)   ? "int8"
                                                   : "float";
        if (region->state && !text_equal(region->state, state)) {
            end_region(comparison, &tally, nodes, n, region++);
            ret->n_regions++;
            tally = (struct tally){{0}, {0}};
            n = 0;
        }
        const enum cause cause = cause_of(comparison, id);
        tally_add(&tally, cause, ps, float_ps);
        tally_add(all, cause, ps, float_ps);
        region->state = state;
        if (is_product(primitive) && !is_int8(primitive))
            region->reason = causes[float_cause(now, id)];
        checked_add_to(&region->latency_ps, ps);
        checked_add_to(&region->float_latency_ps, float_ps);
        nodes[n++] = id;
    }
    if (n > 0) end_region(comparison, &tally, nodes, n, &regions[ret->n_regions++]);
    if (ret->n_regions > 0) sort_stable(regions, ret->n_regions, sizeof *regions, by_time);
    return CM_OK;
}

/* Writes the verdict: the gain, and what limits it. */
static int write_verdict(const struct comparison *comparison, const struct tally *all,
                         struct cm_quantization *ret) {
    const struct times_table *times = comparison->now->times;
    const double ps = (double)times->of_module[0].latency_ps;
    const double gain = (double)ret->float_latency_ps / ps;
    const bool is_equal = fabs(gain - 1) < EQUAL;
    const double idle =
        (double)times->host_ps - 1e12 * comparison->now->estimate->facts.fit.run;
    const bool waits = is_known(times->host_ps) && idle > WAITING * ps;
    const enum cause cause = waits ? BY_HOST : worst_of(all, gain < 1 && !is_equal);
    int64_t idle_ps = 0; /* in float, of the nodes that gain nothing */
    struct text text;
    for (int i = GAINS + 1; i < N_CAUSES; i++) checked_add_to(&idle_ps, all->float_ps[i]);
    text_init(&text, comparison->now->core.result_arena);
    if (is_equal)
        text_printf(&text, "int8 will not help here: it takes as long as %s",
                    ret->float_precision);
    else if (gain < 1)
        text_printf(&text, "int8 will not help here: it takes %.2f times as long as %s",
                    1 / gain, ret->float_precision);
    else
        text_printf(&text, "int8 is %.2f times as fast as %s", gain, ret->float_precision);
    if (cause == GAINS)
        text_append(&text, ".");
    else if (is_equal || gain < 1)
        text_printf(&text, ", because %s.", causes[cause]);
    else if (cause == BY_HOST)
        text_printf(&text, ", and not more because %s.", causes[cause]);
    else
        text_printf(&text, ". Layers with %.0f%% of the time in %s gain nothing: %s.",
                    100 * (double)idle_ps / (double)ret->float_latency_ps, ret->float_precision,
                    causes[cause]);
    if (text.failed) return diag_no_memory(comparison->now->core.diag);
    ret->verdict = text_string(&text);
    ret->gain = public_ratio(gain);
    return CM_OK;
}

static bool is_quantized(const struct timing *timing) {
    if (!timing->kernels->qdq) return false;
    if (timing->core.options->precision == CM_PRECISION_INT8) return true;
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++)
        if (timing->kernels->qdq[id] == QDQ_PRODUCT) return true;
    return false;
}

static int compare(struct timing *timing, const struct timing *before) {
    const struct comparison comparison = {timing, before};
    struct cm_quantization *ret = arena_array(timing->core.result_arena, 1, sizeof *ret);
    struct tally all = {{0}, {0}};
    if (!ret) return diag_no_memory(timing->core.diag);
    ret->float_precision = option_precision_name((int32_t)before->core.options->precision);
    ret->float_latency_ps = before->times->of_module[0].latency_ps;
    int status = find_conversions(timing, ret);
    if (status == CM_OK) status = find_regions(&comparison, &all, ret);
    if (status == CM_OK) status = write_verdict(&comparison, &all, ret);
    timing->quantization = ret;
    return status;
}

int quantization_find(struct timing *timing) {
    static const enum cm_precision precisions[] = {CM_PRECISION_FP32, CM_PRECISION_FP16};
    struct arena *arenas[2] = {NULL, NULL};
    const struct timing *runs[2] = {NULL, NULL};
    const int n = has_rate_of_fp16(timing) ? 2 : 1;
    int status = CM_OK;
    if (!timing->estimate->done || !timing->estimate->facts.modelled ||
        timing->estimate->imported || timing->core.options->optimizer ||
        !is_quantized(timing) || !is_known(timing->times->of_module[0].latency_ps) ||
        timing->times->of_module[0].latency_ps == 0)
        return CM_OK;
    for (int i = 0; i < n && status == CM_OK; i++) {
        arenas[i] = arena_new("float", 0);
        status = arenas[i] ? run_float(timing, precisions[i], arenas[i], &runs[i])
                           : diag_no_memory(timing->core.diag);
    }
    const struct timing *before = runs[0];
    if (runs[1] && (!before || runs[1]->times->of_module[0].latency_ps <
                                   before->times->of_module[0].latency_ps))
        before = runs[1];
    if (status == CM_OK && before) status = compare(timing, before);
    for (int i = 0; i < n; i++) arena_free(arenas[i]);
    return status;
}
