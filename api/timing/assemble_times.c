/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the part of a result that comes from a backend: device, times, kernels. */

#include "api/assembly.h"
#include "api/half.h"
#include "backends/device/devices.h"
#include "backends/primitive.h"
#include "backends/times/times.h"
#include "passes/batch/batch.h"
#include "passes/cost/count.h"
#include "passes/modules/module_tree.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/option_names.h"
#include "support/text.h"
#include "timing/advice.h"
#include "timing/breakdown.h"
#include "timing/estimate.h"
#include "timing/gradient_kernels.h"
#include "timing/input_pipeline.h"
#include "timing/kernels.h"
#include "timing/losses.h"
#include "timing/primitives.h"
#include "timing/roofline_bounds.h"
#include "timing/times.h"
#include "timing/timing.h"

static int64_t known_if(int64_t value) {
    return value > 0 ? value : CM_UNKNOWN;
}

/* Converts seconds to picoseconds; returns CM_UNKNOWN if they are not positive. */
static int64_t picoseconds(double seconds) {
    return seconds > 0 ? public_count(estimate_ps(seconds)) : CM_UNKNOWN;
}

static void set_time(const struct node_time *time, struct cm_costs *costs) {
    costs->latency_ps = public_count(time->latency_ps);
    costs->lower_bound_ps = public_count(time->lower_bound_ps);
    costs->upper_bound |= time->upper_bound;
    costs->partial |= time->partial;
}

/* Returns a copy; NULL if there is no latency. */
static const struct cm_achieved *copy_achieved(struct assembly *assembly,
                                               const struct achieved *from) {
    if (!from->present) return NULL;
    struct cm_achieved *achieved = arena_array(assembly->arena, 1, sizeof(*achieved));
    if (!achieved) return NULL;
    *achieved = (struct cm_achieved){.flops_per_s = public_rounded(from->flops_per_s),
                                     .bytes_per_s = public_rounded(from->bytes_per_s),
                                     .roofline = public_ratio(from->roofline),
                                     .limited_by = roofline_bounds_name(from->limited_by)};
    return achieved;
}

static void copy_how(struct assembly *assembly, const struct cm_how *how,
                     struct cm_timed *ret) {
    const double sum = estimate_kernels_sum(how);
    const int32_t n = how->n_kernels < CM_MAX_KERNELS ? how->n_kernels : CM_MAX_KERNELS;
    ret->provider = assembly_text(assembly, how->provider);
    ret->algorithm = assembly_text(assembly, how->algorithm);
    ret->tensor_cores = estimate_tensor_cores_name(how->tensor_cores);
    ret->plans_tried = how->plans_tried;
    ret->sets = how->n_sets;
    ret->workspace_bytes = how->workspace_bytes;
    ret->plan_ps = picoseconds(how->plan_seconds);
    if (n <= 0) return;
    struct cm_kernel_run *kernels = arena_array(assembly->arena, (size_t)n, sizeof(*kernels));
    for (int32_t i = 0; kernels && i < n; i++) {
        const struct cm_kernel *from = &how->kernels[i];
        kernels[i] = (struct cm_kernel_run){
            .name = assembly_text(assembly, from->name),
            .calls = from->calls,
            .grid = {from->grid[0], from->grid[1], from->grid[2]},
            .block = {from->block[0], from->block[1], from->block[2]},
            .registers = from->registers,
            .shared_bytes = from->shared_bytes,
            .tensor_cores = estimate_tensor_cores_name(from->tensor_cores),
            .rule = assembly_text(assembly, from->rule),
            .blocks_per_unit = public_ratio(from->blocks_per_unit),
            .occupancy = public_ratio(from->occupancy),
            .theoretical_occupancy = public_ratio(from->theoretical_occupancy),
            .unit_efficiency = public_ratio(estimate_unit_efficiency(from)),
            .time_ps = picoseconds(from->seconds),
            .share = sum > 0 ? public_ratio(from->seconds / sum) : CM_UNKNOWN,
        };
    }
    ret->n_kernels = (size_t)n;
    ret->kernels = kernels;
    ret->more_kernels = how->n_kernels - n;
}

static struct cm_clock_state copy_clocks(struct assembly *assembly,
                                         const struct cm_clocks *from) {
    const struct cm_clock_state none = {.present = false, .throttle = ""};
    if (from->unit_mhz <= 0 && from->temperature_c <= 0 && !(from->power_w > 0)) return none;
    return (struct cm_clock_state){
        .present = true,
        .unit_mhz = from->unit_mhz,
        .unit_most_mhz = from->unit_most_mhz,
        .memory_mhz = from->memory_mhz,
        .temperature_c = from->temperature_c,
        .power_mw = public_rounded(from->power_w * 1000),
        .throttle = assembly_text(assembly, from->throttle),
    };
}

static void copy_timed(struct assembly *assembly, size_t index, struct cm_timed *ret) {
    const struct timing *timing = assembly->timing;
    const struct cm_primitive *primitive = &timing->primitives->items[index];
    const struct cm_measurement *from = &timing->estimate->items[index];
    struct text text = {.arena = assembly->arena};
    primitive_print(primitive, &text);
    if (text.failed) arena_set_failed(assembly->arena);
    *ret = (struct cm_timed){
        .primitive = text_string(&text),
        .state = primitive_state_name(from->state),
        .reason = assembly_text(assembly, from->reason.text),
        .unstable = (from->flags & CM_FLAG_UNSTABLE) != 0,
        .few_samples = (from->flags & CM_FLAG_FEW_SAMPLES) != 0,
        .not_cold = (from->flags & CM_FLAG_NOT_COLD) != 0,
        .throttled = (from->flags & CM_FLAG_THROTTLED) != 0,
        .launches = (from->flags & CM_FLAG_LAUNCHES) != 0,
        .cached = (from->flags & CM_FLAG_CACHED) != 0,
        .product = primitive_is_product(primitive),
        .flops = public_count(primitive->flops),
        .bytes = public_count(checked_add(primitive->bytes_read, primitive->bytes_written)),
        .achieved = copy_achieved(assembly, &timing->roofline_bounds->of_primitive[index]),
        .clocks = copy_clocks(assembly, &from->clocks),
        .median_ps = picoseconds(from->cold.median),
        .q1_ps = picoseconds(from->cold.q1),
        .q3_ps = picoseconds(from->cold.q3),
        .min_ps = picoseconds(from->cold.min),
        .max_ps = picoseconds(from->cold.max),
        .warm_ps = picoseconds(from->warm.median),
        .warm_q1_ps = picoseconds(from->warm.q1),
        .warm_q3_ps = picoseconds(from->warm.q3),
        .samples = from->cold.n_samples,
        .drift = public_ratio(from->drift),
    };
    copy_how(assembly, &from->how, ret);
}

/* Returns the throughput of an imported layer; sets its FLOPs and bytes, sums over nodes. */
static struct achieved achieved_of_layer(const struct timing *timing,
                                         const struct imported_layer *layer,
                                         struct cm_timed *ret) {
    const double seconds = layer->timing.median;
    struct achieved sum = {.present = seconds > 0 && layer->n_nodes > 0 &&
                                      timing->roofline_bounds->done};
    double longest = -1;
    double flops = 0;
    double bytes = 0;
    for (size_t i = 0; i < layer->n_nodes; i++) {
        const uint32_t node = layer->nodes[i];
        const uint32_t index = timing->primitives->of_node[node];
        const struct achieved *achieved = &timing->roofline_bounds->of_primitive[index];
        const int64_t runs = timing->core.count->runs[timing->core.model->nodes[node].graph];
        const double n = is_known(runs) ? (double)runs : 1;
        const double share = timing->estimate->items[index].cold.median * n;
        flops += (double)timing->primitives->items[index].flops * n;
        bytes += roofline_bounds_bytes(&timing->primitives->items[index]) * n;
        if (!achieved->present) continue;
        sum.lower_bound_s = achieved->lower_bound_s < 0 || sum.lower_bound_s < 0
                                ? -1
                                : sum.lower_bound_s + achieved->lower_bound_s * n;
        /* The node with the longest time decides what limits the layer. */
        if (share > longest) sum.limited_by = achieved->limited_by;
        if (share > longest) longest = share;
    }
    ret->flops = public_rounded(flops);
    ret->bytes = public_rounded(bytes);
    if (!sum.present) return sum;
    sum.flops_per_s = flops / seconds;
    sum.bytes_per_s = bytes / seconds;
    sum.roofline = sum.lower_bound_s > 0 ? sum.lower_bound_s / seconds : -1;
    return sum;
}

static void copy_layer(struct assembly *assembly, const struct imported_layer *from,
                       struct cm_timed *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct timing *timing = assembly->timing;
    const struct cm_timing *spread = &from->timing;
    *ret = (struct cm_timed){
        .primitive = assembly_text(assembly, from->from->name),
        .state = primitive_state_name((int32_t)from->state),
        .reason = "",
        .median_ps = public_count(from->latency_ps),
        .q1_ps = public_count(estimate_ps(spread->q1)),
        .q3_ps = public_count(estimate_ps(spread->q3)),
        .min_ps = public_count(estimate_ps(spread->min)),
        .max_ps = public_count(estimate_ps(spread->max)),
        .warm_ps = CM_UNKNOWN,
        .warm_q1_ps = CM_UNKNOWN,
        .warm_q3_ps = CM_UNKNOWN,
        .samples = spread->n_samples,
        .provider = "",
        .algorithm = assembly_text(assembly, from->from->op),
        .tensor_cores = estimate_tensor_cores_name(CM_TENSOR_CORES_UNKNOWN),
        .plan_ps = CM_UNKNOWN,
        .clocks = {.throttle = ""},
        .import = {.present = true,
                   .expected_ps = picoseconds(from->expected_s),
                   .lower_bound_ps = picoseconds(from->lower_bound_s),
                   .mean_ps = public_count(estimate_ps(from->mean)),
                   .module = CM_NO_INDEX,
                   .n_inside = from->n_inside,
                   .inside = assembly_indices(assembly, from->inside, from->n_inside)},
        .n_nodes = from->n_nodes,
        .nodes = assembly_indices(assembly, from->nodes, from->n_nodes),
    };
    if (from->n_nodes == 0)
        ret->import.module = module_common(analysis->modules, from->places, from->n_places);
    const struct achieved achieved = achieved_of_layer(timing, from, ret);
    ret->achieved = copy_achieved(assembly, &achieved);
}

static void copy_imported(struct assembly *assembly, struct cm_measure *ret) {
    const struct timing *timing = assembly->timing;
    const struct imported *imported = timing->estimate->imported;
    struct cm_timed *list = arena_array(assembly->arena, imported->n, sizeof(*list));
    for (size_t i = 0; list && i < imported->n; i++)
        copy_layer(assembly, &imported->layers[i], &list[i]);
    ret->imported = true;
    ret->placed_share = public_ratio(imported->placed_share);
    if (imported->run > 0) ret->run_ps = public_count(estimate_ps(imported->run));
    if (imported->gap > 0) ret->gap_ps = public_count(estimate_ps(imported->gap));
    if (imported->host > 0) ret->gap_host_ps = public_count(estimate_ps(imported->host));
    if (imported->other_shape != NULL)
        ret->other_shape = assembly_text(assembly, imported->other_shape);
    ret->backend = assembly_text(assembly, imported->tools);
    ret->version = assembly_text(assembly, imported->version);
    ret->n_primitives = imported->n;
    ret->primitives = list;
}

static void copy_limiters(struct assembly *assembly, struct cm_measure *ret) {
    const struct timing *timing = assembly->timing;
    const struct roofline_bounds_table *table = timing->roofline_bounds;
    struct cm_limiter_share *limiters =
        arena_array(assembly->arena, N_LIMITED_BY, sizeof(*limiters));
    for (int i = 0; limiters && i < N_LIMITED_BY; i++)
        if (table->totals[i].nodes > 0)
            limiters[ret->n_limiters++] = (struct cm_limiter_share){
                roofline_bounds_name((enum limited_by)i), table->totals[i].nodes,
                public_count(table->totals[i].latency_ps)};
    ret->limiters = limiters;
}

static void copy_facts(struct assembly *assembly, struct cm_measure *ret) {
    const struct timing *timing = assembly->timing;
    const struct cm_device_facts *facts = &timing->estimate->facts;
    ret->modelled = facts->modelled != 0;
    if (ret->modelled)
        ret->runtime = option_runtime_name((int32_t)timing->core.options->runtime);
    else if (assembly->analysis->options->fuse)
        ret->runtime = "compiled";
    if (facts->calibration[0] != '\0')
        ret->calibration = assembly_text(assembly, facts->calibration);
    ret->device = assembly_text(assembly, facts->name);
    ret->version = assembly_text(assembly, facts->version);
    ret->warning = assembly_text(assembly, facts->warning);
    ret->architecture = assembly_text(assembly, facts->architecture);
    ret->address = assembly_text(assembly, facts->address);
    ret->memory_bytes = known_if(facts->memory_bytes);
    ret->cache_bytes = known_if(facts->cache_bytes);
    ret->units = known_if(facts->n_units);
    ret->threads_per_unit = known_if(facts->threads_a_unit);
    ret->bandwidth = known_if(public_rounded(facts->bandwidth));
    ret->floor_ps = picoseconds(facts->floor);
    ret->has_tensor_cores = facts->has_tensor_cores != 0;
}

static const char *date_text(struct assembly *assembly, int64_t seconds) {
    char text[UTC_SIZE];
    (void)text_utc(seconds, text);
    return assembly_text(assembly, text);
}

/* Copies the primitives, each with the list of its nodes. */
static void copy_primitives(struct assembly *assembly, struct cm_measure *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct timing *timing = assembly->timing;
    const size_t n = timing->primitives->n;
    const size_t n_nodes = analysis->model->n_nodes;
    struct cm_timed *list = arena_array(assembly->arena, n, sizeof(*list));
    size_t **nodes = arena_array(assembly->arena, n, sizeof(*nodes));
    if (!list || !nodes) return;
    for (size_t i = 0; i < n; i++) copy_timed(assembly, i, &list[i]);
    for (uint32_t id = 0; id < n_nodes; id++) {
        const uint32_t index = estimate_primitive(timing, id);
        if (index != ID_NONE) list[index].n_nodes++;
    }
    for (size_t i = 0; i < n; i++) {
        nodes[i] = arena_array(assembly->arena, list[i].n_nodes, sizeof(*nodes[i]));
        list[i].nodes = nodes[i];
        list[i].n_nodes = 0;
    }
    struct cm_losses *losses = arena_array(timing->core.arena, n, sizeof(*losses));
    if (!losses || losses_of_model(timing, losses, &assembly->result->losses) < 0)
        arena_set_failed(assembly->arena);
    if (arena_failed(assembly->arena)) return;
    for (size_t i = 0; i < n; i++) list[i].losses = losses[i];
    for (uint32_t id = 0; id < n_nodes; id++) {
        const uint32_t index = estimate_primitive(timing, id);
        if (index != ID_NONE) nodes[index][list[index].n_nodes++] = id;
    }
    ret->n_primitives = n;
    ret->primitives = list;
}

static void copy_times(struct assembly *assembly, struct cm_measure *ret) {
    const struct timing *timing = assembly->timing;
    const struct breakdown_table *breakdown = timing->breakdown;
    const struct estimate_table *estimate = timing->estimate;
    copy_limiters(assembly, ret);
    ret->quantization = timing->quantization;
    copy_facts(assembly, ret);
    if (estimate->imported)
        copy_imported(assembly, ret);
    else
        copy_primitives(assembly, ret);
    ret->n_untimed = breakdown->n_untimed;
    ret->untimed = breakdown->untimed;
    ret->n_states = breakdown->n_states;
    ret->states = breakdown->states;
    ret->invented = breakdown->invented;
    ret->measured_macs_share = public_ratio(breakdown->measured_share);
    ret->n_kernels = breakdown->n_kernels;
    ret->kernels = breakdown->kernels;
    ret->n_cached = (int64_t)estimate->n_cached;
    if (estimate->n_cached > 0) ret->cached_since = date_text(assembly, estimate->cached_since);
}

/* Copies the measured ceilings; rates that were not measured are left out. */
static void copy_ceilings(struct assembly *assembly, struct cm_measure *measure) {
    const struct timing *timing = assembly->timing;
    const struct ceilings *from = &timing->estimate->ceilings;
    const bool is_tf32 = assembly->analysis->options->precision == CM_PRECISION_TF32;
    struct cm_ceilings *ret = arena_array(assembly->arena, 1, sizeof(*ret));
    struct cm_named_size *rates = arena_array(assembly->arena, CM_N_ELEMENTS, sizeof(*rates));
    if (!ret || !rates) return;
    *ret = (struct cm_ceilings){
        .state = primitive_state_name(from->invented ? CM_INVENTED : CM_MEASURED),
        .copy_bytes_per_s =
            from->copy_bytes_per_s > 0 ? (int64_t)from->copy_bytes_per_s : CM_UNKNOWN,
        .floor_ps = picoseconds(from->floor_s),
        .flops_per_s = rates,
    };
    for (int32_t i = 0; i < CM_N_ELEMENTS; i++) {
        if (from->flops_per_s[i] <= 0) continue;
        const char *name = i == CM_F32 && is_tf32 ? "tf32" : primitive_element_name(i);
        rates[ret->n_flops_per_s++] =
            (struct cm_named_size){name, (int64_t)from->flops_per_s[i]};
    }
    measure->ceilings = ret;
}

/* Sets the ceilings of a modelled device: its published rates. */
static void copy_published(struct assembly *assembly, struct cm_measure *measure) {
    const struct timing *timing = assembly->timing;
    const struct cm_device_facts *facts = &timing->estimate->facts;
    struct cm_ceilings *ret = arena_array(assembly->arena, 1, sizeof(*ret));
    struct cm_named_size *rates = arena_array(assembly->arena, CM_MAX_RATES, sizeof(*rates));
    if (!ret || !rates) return;
    *ret = (struct cm_ceilings){.state = "published",
                                .copy_bytes_per_s = measure->bandwidth,
                                .floor_ps = measure->floor_ps,
                                .flops_per_s = rates};
    for (int32_t i = 0; i < facts->n_rates && i < CM_MAX_RATES; i++)
        rates[ret->n_flops_per_s++] =
            (struct cm_named_size){assembly_text(assembly, facts->rates[i].name),
                                   public_rounded(facts->rates[i].flops_per_s)};
    measure->ceilings = ret;
}

static void copy_network(struct assembly *assembly, struct cm_measure *measure) {
    const struct analysis *analysis = assembly->analysis;
    const struct timing *timing = assembly->timing;
    const struct network_time *from = &timing->estimate->network;
    const struct cm_timing *warm = &from->measurement.warm;
    struct cm_end_to_end *ret = arena_array(assembly->arena, 1, sizeof(*ret));
    if (!ret) return;
    *ret = (struct cm_end_to_end){
        .state = primitive_state_name(from->measurement.state),
        .reason = assembly_text(assembly, from->measurement.reason.text),
        .median_ps = picoseconds(warm->median),
        .q1_ps = picoseconds(warm->q1),
        .q3_ps = picoseconds(warm->q3),
        .samples = warm->n_samples,
        .sum_cold_ps = public_count(from->sum_cold_ps),
        .sum_warm_ps = public_count(from->sum_warm_ps),
    };
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const int64_t macs = analysis->count->nodes[id].costs.macs;
        if (!from->included[id]) continue;
        ret->nodes++;
        if (is_known(macs)) checked_add_to(&ret->macs, macs);
    }
    ret->macs = public_count(ret->macs);
    measure->end_to_end = ret;
}

static void copy_measure(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct timing *timing = assembly->timing;
    if (analysis->options->backend == NULL && analysis->options->n_times == 0) return;
    struct cm_measure *measure = arena_array(assembly->arena, 1, sizeof(*measure));
    if (!measure) return;
    *measure = (struct cm_measure){
        .backend = assembly_text(assembly, analysis->options->backend),
        .placed_share = CM_UNKNOWN,
        .run_ps = CM_UNKNOWN,
        .gap_ps = CM_UNKNOWN,
        .gap_host_ps = CM_UNKNOWN,
        .problem = assembly_text(assembly, timing->estimate->problem),
        .planned = analysis->options->plan_only,
        .layout = option_layout_name((int32_t)analysis->options->layout),
        .device = "",
        .version = "",
        .warning = "",
        .architecture = "",
        .address = "",
        .memory_bytes = CM_UNKNOWN,
        .cache_bytes = CM_UNKNOWN,
        .units = CM_UNKNOWN,
        .threads_per_unit = CM_UNKNOWN,
        .bandwidth = CM_UNKNOWN,
        .floor_ps = CM_UNKNOWN,
        .measured_macs_share = CM_UNKNOWN,
        .cached_since = "",
    };
    if (timing->estimate->done) copy_times(assembly, measure);
    if (timing->estimate->network.included) copy_network(assembly, measure);
    if (timing->estimate->has_ceilings) copy_ceilings(assembly, measure);
    if (measure->modelled) copy_published(assembly, measure);
    assembly->result->measure = measure;
}

/* Returns the time times the factor; CM_UNKNOWN if it is unknown. */
static int64_t scaled(int64_t ps, double factor) {
    return is_known(ps) ? public_rounded((double)ps * factor) : CM_UNKNOWN;
}

/* Sets the interval of the modelled times. It does not reach below the lower bound. */
static void copy_error(struct assembly *assembly) {
    static const char *const matches[] = {
        [CM_CALIBRATION_NONE] = "none",
        [CM_CALIBRATION_RUNTIME] = "another runtime",
        [CM_CALIBRATION_WIDTH] = "this runtime in another precision",
        [CM_CALIBRATION_EXACT] = "this runtime and precision",
    };
    const struct timing *timing = assembly->timing;
    const struct cm_calibration *fit = &timing->estimate->facts.fit;
    const struct node_time *forward = &timing->times->of_module[0];
    const struct gradient_kernels_table *step = timing->gradient_kernels;
    struct cm_time_error *ret = &assembly->result->time_error;
    const bool has_error = fit->n_times > 0 && fit->match == CM_CALIBRATION_EXACT;
    *ret = (struct cm_time_error){
        .present = true,
        .latency_low_ps = scaled(forward->latency_ps, fit->intervals[timing->times->kind].low),
        .latency_high_ps =
            scaled(forward->latency_ps, fit->intervals[timing->times->kind].high),
        .iteration_low_ps = scaled(step->iteration_ps, fit->intervals[step->kind].low),
        .iteration_high_ps = scaled(step->iteration_ps, fit->intervals[step->kind].high),
        .host_ps = public_count(timing->times->host_ps),
        .mostly = device_time_kind_name(timing->times->kind),
        .calibration = matches[fit->match],
        .n_times = has_error ? fit->n_times : CM_UNKNOWN,
        .median_error = has_error ? public_ratio(fit->median_error) : CM_UNKNOWN,
        .p90_error = has_error ? public_ratio(fit->p90_error) : CM_UNKNOWN,
        .coverage = has_error ? public_ratio(fit->coverage) : CM_UNKNOWN,
    };
    const int64_t least = forward->lower_bound_ps;
    if (is_known(least) && ret->latency_low_ps < least) ret->latency_low_ps = least;
    if (is_known(least) && ret->latency_high_ps < least) ret->latency_high_ps = least;
}

/* Returns how the device runs the node; NULL if it has no primitive or no time. */
static const struct cm_explained_time *explain_time(struct assembly *assembly, size_t node) {
    const struct timing *timing = assembly->timing;
    const uint32_t index = timing->primitives->of_node[node];
    struct modelled_time found = {.expected_ps = DIM_UNKNOWN};
    if (index == ID_NONE) return NULL;
    if (estimate_modelled(timing, &timing->primitives->items[index], 1, &found) < 0)
        arena_set_failed(assembly->arena);
    struct cm_explained_time *ret = arena_array(assembly->arena, 1, sizeof(*ret));
    if (!ret || !is_known(found.expected_ps)) return NULL;
    const struct kernel_time *kernel = &found.kernel;
    const struct kernel_tiles *tiles = &kernel->arithmetic;
    *ret = (struct cm_explained_time){
        .latency_ps = public_count(estimate_ps(timing->estimate->items[index].cold.median)),
        .compute_ps = public_count(estimate_ps(tiles->seconds)),
        .memory_ps = public_count(estimate_ps(kernel->memory)),
        .extra_ps = public_count(estimate_ps(kernel->extra)),
        .launch_ps = public_count(estimate_ps(kernel->launch)),
        .launches = public_rounded(kernel->launches),
        .host_ps =
            public_count(estimate_ps(kernel->launches * timing->estimate->facts.fit.host)),
        .tile_m = known_if(public_rounded(tiles->m)),
        .tile_n = known_if(public_rounded(tiles->n)),
        .splits = known_if(public_rounded(tiles->splits)),
        .tiles = known_if(public_rounded(tiles->n_tiles)),
        .waves = known_if(public_rounded(tiles->waves)),
        .memory_bytes = public_rounded(kernel->memory_bytes),
        .cache_bytes = public_rounded(kernel->cache_bytes),
        .bandwidth_share = public_ratio(kernel->bandwidth_share),
        .rate = kernel->rate == RATE_NONE ? "" : device_rate_name(kernel->rate),
        .rate_share = public_ratio(kernel->rate_share),
        .limited_by = roofline_bounds_name((enum limited_by)kernel->limit),
        .without_ps = public_count(estimate_ps(kernel->without)),
        .next = roofline_bounds_name((enum limited_by)kernel->next),
    };
    return ret;
}

/* Adds the times of a modelled device to the explanations. */
static void explain_times(struct assembly *assembly) {
    struct cm_result *result = assembly->result;
    const size_t n = result->n_explanations;
    if (!assembly->timing->estimate->done || !assembly->timing->estimate->facts.modelled ||
        n == 0)
        return;
    struct cm_explanation *items =
        arena_copy(assembly->arena, result->explanations, n * sizeof(*items));
    for (size_t i = 0; items && i < n; i++) {
        const size_t n_nodes = items[i].n_nodes;
        struct cm_explained_node *nodes =
            n_nodes ? arena_copy(assembly->arena, items[i].nodes, n_nodes * sizeof(*nodes))
                    : NULL;
        for (size_t k = 0; nodes && k < n_nodes; k++)
            nodes[k].time = explain_time(assembly, nodes[k].node);
        items[i].nodes = nodes;
    }
    result->explanations = items;
}

/* Sets the times of nodes and modules, whose rows are complete otherwise. */
static void set_times(struct assembly *assembly) {
    const struct times_table *times = assembly->timing->times;
    const struct roofline_bounds_table *bounds = assembly->timing->roofline_bounds;
    const struct modules_table *modules = assembly->analysis->modules;
    const uint32_t *kernels = assembly->timing->kernels->kernel;
    struct cm_node *nodes = assembly->analysis->count->nodes;
    if (!times->of_node) return;
    for (size_t i = 0; i < assembly->analysis->model->n_nodes; i++) {
        set_time(&times->of_node[i], &nodes[i].costs);
        if (kernels && kernels[i] != i) nodes[i].kernel = kernels[i];
    }
    for (size_t i = 0; i < modules->n_modules; i++) {
        struct cm_module *module = &modules->modules[i];
        set_time(&times->of_module[i], &module->costs);
        if (bounds->done) module->achieved = copy_achieved(assembly, &bounds->of_module[i]);
    }
    assembly->result->totals = modules->modules[0].costs;
}

/* Returns `rate` times the time of 1000 samples, in millionths. */
static int64_t of_samples(double rate, int64_t ps, int64_t batch) {
    const double value = rate * (double)ps * 1e-12 * 1e9 / (double)batch;
    return rate > 0 && is_known(ps) && batch > 0 && value < 9e18 ? (int64_t)(value + 0.5)
                                                                 : CM_UNKNOWN;
}

static void set_price(const struct assembly *assembly) {
    struct cm_result *result = assembly->result;
    const struct cm_options *options = assembly->analysis->options;
    const bool trains = result->training.present && is_known(result->training.iteration_ps);
    const int64_t ps = trains ? result->training.iteration_ps : result->totals.latency_ps;
    const int64_t least =
        trains ? result->training.iteration_lower_bound_ps : result->totals.lower_bound_ps;
    const int64_t batch =
        checked_mul(assembly->analysis->batch->batch, pass_micro_batches(assembly->analysis));
    const int64_t samples = is_known(batch) ? batch : 1;
    const double per_second = options->price / 3600;
    result->price =
        (struct cm_price){.present = options->price > 0 || options->watts > 0,
                          .price = of_samples(per_second, ps, samples),
                          .least_price = of_samples(per_second, least, samples),
                          .joules = of_samples(options->watts, ps, samples),
                          .least_joules = of_samples(options->watts, least, samples)};
}

void half_assemble(struct assembly *assembly, const struct timing *timing) {
    struct cm_result *result = assembly->result;
    assembly->timing = timing;
    set_times(assembly);
    if (result->training.present) {
        const struct gradient_kernels_table *from = timing->gradient_kernels;
        result->training.backward_ps = public_count(from->backward_ps);
        result->training.update_ps = public_count(from->update_ps);
        result->training.iteration_ps = public_count(from->iteration_ps);
        result->training.iteration_lower_bound_ps =
            public_count(from->iteration_lower_bound_ps);
    }
    copy_measure(assembly);
    if (result->losses.present && result->training.present &&
        timing->gradient_kernels->losses.present) {
        result->training.losses = result->losses;
        losses_add(&result->training.losses, &timing->gradient_kernels->losses, 1);
    }
    if (timing->times->of_node && is_known(timing->times->host_ps)) copy_error(assembly);
    /* Passes have created these rows in the result's arena. */
    if (timing->estimate->done) {
        result->n_operators = timing->breakdown->n_operators;
        result->operators = timing->breakdown->operators;
    }
    explain_times(assembly);
    result->n_advice = timing->advice->n;
    result->advice = timing->advice->items;
    result->input_pipeline = timing->input_pipeline->pipeline;
    set_price(assembly);
}
