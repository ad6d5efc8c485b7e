/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend said, as a part of the result. */
#include "api/assembly.h"

#include <time.h>

#include "backends/primitive.h"
#include "passes/latency/advice.h"
#include "passes/latency/estimate.h"
#include "passes/latency/roofline_bounds.h"

#include "support/banned.h"

static int64_t known_if(int64_t value) {
    return value > 0 ? value : CM_UNKNOWN;
}

/* Which nodes have each primitive: counted first, then listed. */
static void take_nodes(struct assembly *assembly, struct cm_timed *list) {
    const struct primitives_table *table = &assembly->analysis->primitives;
    const size_t n_nodes = assembly->analysis->model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++)
        if (table->of_node[id] != ID_NONE) list[table->of_node[id]].n_nodes++;
    size_t **nodes = assembly_array(assembly, table->n, sizeof(*nodes));
    for (size_t i = 0; nodes && i < table->n; i++) {
        nodes[i] = assembly_array(assembly, list[i].n_nodes, sizeof(*nodes[i]));
        list[i].nodes = nodes[i];
        list[i].n_nodes = 0;
    }
    for (uint32_t id = 0; !assembly->failed && id < n_nodes; id++) {
        const uint32_t index = table->of_node[id];
        if (index != ID_NONE) nodes[index][list[index].n_nodes++] = id;
    }
}

/* As they are listed: what has a time first. */
static const enum cm_measure_state order[CM_N_MEASURE_STATES] = {
    CM_MEASURED, CM_MODELLED,    CM_INVENTED,      CM_PROXY,   CM_PLANNED,
    CM_VIEW,     CM_UNSUPPORTED, CM_OUT_OF_MEMORY, CM_CRASHED, CM_TIMED_OUT};

/* Of the states that nodes are in, in the order above. */
static const struct cm_state_share *
list_states(struct assembly *assembly, const struct state_total *by_state, size_t *ret_n) {
    struct cm_state_share *states =
        assembly_array(assembly, CM_N_MEASURE_STATES, sizeof(*states));
    *ret_n = 0;
    for (size_t i = 0; states && i < sizeof(order) / sizeof(order[0]); i++) {
        const struct state_total *share = &by_state[order[i]];
        if (share->nodes == 0) continue;
        states[(*ret_n)++] = (struct cm_state_share){primitive_state_name((int32_t)order[i]),
                                                     share->nodes, assembly_count(share->macs)};
    }
    return states;
}

static void take_states(struct assembly *assembly, struct cm_measure *ret) {
    const struct breakdown_table *table = &assembly->analysis->breakdown;
    ret->states = list_states(assembly, table->states, &ret->n_states);
    ret->invented = table->states[CM_INVENTED].nodes > 0;
    ret->measured_macs_share = assembly_ratio(table->measured_share);
}

static void take_untimed(struct assembly *assembly, struct cm_measure *ret) {
    const struct breakdown_table *table = &assembly->analysis->breakdown;
    struct cm_untimed *list = assembly_array(assembly, table->n_untimed, sizeof(*list));
    for (size_t i = 0; list && i < table->n_untimed; i++) {
        const struct untimed_row *from = &table->untimed[i];
        list[i] = (struct cm_untimed){.op = assembly_text(assembly, from->op),
                                      .reason = assembly_text(assembly, from->reason),
                                      .nodes = from->nodes,
                                      .macs = assembly_count(from->macs)};
    }
    ret->n_untimed = table->n_untimed;
    ret->untimed = list;
}

static void take_limiters(struct assembly *assembly, struct cm_measure *ret) {
    const struct roofline_bounds_table *table = &assembly->analysis->bounds;
    struct cm_limiter_share *limiters = assembly_array(assembly, N_BOUNDS, sizeof(*limiters));
    for (int i = 0; limiters && i < N_BOUNDS; i++)
        if (table->totals[i].nodes > 0)
            limiters[ret->n_limiters++] = (struct cm_limiter_share){
                roofline_bounds_name((enum bound)i), table->totals[i].nodes,
                assembly_count(table->totals[i].latency_ps)};
    ret->limiters = limiters;
}

static void take_facts(struct assembly *assembly, struct cm_measure *ret) {
    const struct cm_device_facts *facts = &assembly->analysis->estimate.facts;
    ret->modelled = facts->modelled != 0;
    ret->device = assembly_text(assembly, facts->name);
    ret->version = assembly_text(assembly, facts->version);
    ret->warning = assembly_text(assembly, facts->warning);
    ret->architecture = assembly_text(assembly, facts->architecture);
    ret->address = assembly_text(assembly, facts->address);
    ret->memory_bytes = known_if(facts->memory_bytes);
    ret->cache_bytes = known_if(facts->cache_bytes);
    ret->units = known_if(facts->n_units);
    ret->threads_per_unit = known_if(facts->threads_a_unit);
    ret->bandwidth = known_if(assembly_rounded(facts->bandwidth));
    ret->floor_ps = assembly_ps(facts->floor);
    ret->has_tensor_cores = facts->has_tensor_cores != 0;
}

static void take_kernels(struct assembly *assembly, struct cm_measure *ret) {
    const struct breakdown_table *table = &assembly->analysis->breakdown;
    struct cm_kernel_row *rows = assembly_array(assembly, table->n_kernels, sizeof(*rows));
    for (size_t i = 0; rows && i < table->n_kernels; i++) {
        const struct kernel_row *from = &table->kernels[i];
        rows[i] = (struct cm_kernel_row){
            .name = assembly_text(assembly, from->name),
            .primitive = from->primitive == ID_NONE ? CM_NO_INDEX : from->primitive,
            .tensor_cores = assembly_tensor_cores(from->tensor_cores),
            .rule = assembly_text(assembly, from->rule),
            .calls = assembly_count(from->calls),
            .total_ps = assembly_count(from->total_ps),
            .mean_ps = assembly_count(from->mean_ps),
            .min_ps = from->min_ps,
            .max_ps = from->max_ps,
            .blocks_per_unit = assembly_ratio(from->blocks_per_unit),
            .occupancy = assembly_ratio(from->occupancy),
        };
    }
    ret->n_kernels = table->n_kernels;
    ret->kernels = rows;
}

/* As ISO 8601 has it, UTC. */
static const char *date_text(struct assembly *assembly, int64_t seconds) {
    char text[32] = "";
    struct tm parts;
    const time_t when = (time_t)seconds;
    if (gmtime_r(&when, &parts) != NULL)
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return assembly_text(assembly, text);
}

static void take_times(struct assembly *assembly, struct cm_measure *ret) {
    const size_t n = assembly->analysis->primitives.n;
    struct cm_timed *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) assemble_timed(assembly, i, &list[i]);
    if (!list) return;
    take_nodes(assembly, list);
    take_untimed(assembly, ret);
    take_states(assembly, ret);
    take_limiters(assembly, ret);
    take_facts(assembly, ret);
    take_kernels(assembly, ret);
    ret->n_primitives = n;
    ret->primitives = list;
    const struct estimate_table *estimate = &assembly->analysis->estimate;
    ret->n_cached = (int64_t)estimate->n_cached;
    if (estimate->n_cached > 0) ret->cached_since = date_text(assembly, estimate->cached_since);
}

/* A rate that nobody measured is left out. */
static void take_rates(struct assembly *assembly, const struct ceilings *from,
                       struct cm_ceilings *ret) {
    const bool rounds = assembly->analysis->options->precision == CM_PRECISION_TF32;
    struct cm_named_size *rates = assembly_array(assembly, CM_N_ELEMENTS, sizeof(*rates));
    for (int32_t i = 0; rates && i < CM_N_ELEMENTS; i++) {
        if (from->flops_per_s[i] <= 0) continue;
        const char *name = i == CM_F32 && rounds ? "tf32" : primitive_element_name(i);
        rates[ret->n_flops_per_s++] =
            (struct cm_named_size){name, (int64_t)from->flops_per_s[i]};
    }
    ret->flops_per_s = rates;
}

static void take_ceilings(struct assembly *assembly, struct cm_measure *measure) {
    const struct ceilings *from = &assembly->analysis->estimate.ceilings;
    struct cm_ceilings *ret = assembly_array(assembly, 1, sizeof(*ret));
    if (!ret) return;
    *ret = (struct cm_ceilings){
        .state = primitive_state_name(from->invented ? CM_INVENTED : CM_MEASURED),
        .copy_bytes_per_s =
            from->copy_bytes_per_s > 0 ? (int64_t)from->copy_bytes_per_s : CM_UNKNOWN,
        .floor_ps = from->floor_s > 0 ? assembly_count(estimate_ps(from->floor_s)) : CM_UNKNOWN,
    };
    take_rates(assembly, from, ret);
    measure->ceilings = ret;
}

static void take_network(struct assembly *assembly, struct cm_measure *measure) {
    const struct analysis *analysis = assembly->analysis;
    const struct network_time *from = &analysis->estimate.network;
    const struct cm_timing *timing = &from->measurement.warm;
    struct cm_end_to_end *ret = assembly_array(assembly, 1, sizeof(*ret));
    if (!ret) return;
    *ret = (struct cm_end_to_end){
        .state = primitive_state_name(from->measurement.state),
        .reason = assembly_text(assembly, from->measurement.reason.text),
        .median_ps = assembly_ps(timing->median),
        .q1_ps = assembly_ps(timing->q1),
        .q3_ps = assembly_ps(timing->q3),
        .samples = timing->n_samples,
        .sum_cold_ps = assembly_count(from->sum_cold_ps),
        .sum_warm_ps = assembly_count(from->sum_warm_ps),
    };
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const int64_t macs = analysis->count.nodes[id].costs.macs;
        if (!from->in_it[id]) continue;
        ret->nodes++;
        if (is_known(macs)) ret->macs = checked_add(ret->macs, macs);
    }
    ret->macs = assembly_count(ret->macs);
    measure->end_to_end = ret;
}

void assemble_operators(struct assembly *assembly) {
    const uint32_t of_operators = CM_COST_BIT(macs) | CM_COST_BIT(int_macs) |
                                  CM_COST_BIT(flops) | CM_COST_BIT(int_ops) |
                                  CM_COST_BIT(bytes_read) | CM_COST_BIT(bytes_written);
    const struct breakdown_table *table = &assembly->analysis->breakdown;
    struct cm_operator *list = assembly_array(assembly, table->n_operators, sizeof(*list));
    for (size_t i = 0; list && i < table->n_operators; i++) {
        const struct operator_row *from = &table->operators[i];
        list[i] = (struct cm_operator){
            .op = assembly_text(assembly, from->name),
            .nodes = from->nodes,
            .macs = assembly_count(from->costs.macs),
            .int_macs = assembly_count(from->costs.int_macs),
            .flops = assembly_count(from->costs.flops),
            .int_ops = assembly_count(from->costs.int_ops),
            .bytes_read = assembly_count(from->costs.bytes_read),
            .bytes_written = assembly_count(from->costs.bytes_written),
            .latency_ps = assembly->analysis->estimate.done
                              ? assembly_count(from->costs.latency_ps)
                              : CM_UNKNOWN,
            .upper_bound = from->costs.upper_bound & of_operators,
        };
        if (assembly->analysis->estimate.done)
            list[i].states = list_states(assembly, from->states, &list[i].n_states);
    }
    assembly->result->n_operators = table->n_operators;
    assembly->result->operators = list;
}

static const size_t *indices(struct assembly *assembly, const uint32_t *ids, size_t n) {
    size_t *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = ids[i];
    return list;
}

void assemble_advice(struct assembly *assembly) {
    const struct advice_table *table = &assembly->analysis->advice;
    struct cm_advice *list = assembly_array(assembly, table->n, sizeof(*list));
    for (size_t i = 0; list && i < table->n; i++) {
        const struct advice *from = &table->items[i];
        list[i] = (struct cm_advice){
            .rule = from->rule->id,
            .name = from->rule->name,
            .text = assembly_text(assembly, from->text),
            .gain_ps = assembly_count(from->gain_ps),
            .n_nodes = from->n_nodes,
            .nodes = indices(assembly, from->nodes, from->n_nodes),
            .n_modules = from->n_modules,
            .modules = indices(assembly, from->modules, from->n_modules),
        };
    }
    assembly->result->n_advice = table->n;
    assembly->result->advice = list;
}

void assemble_measure(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    if (analysis->options->backend == NULL) return;
    struct cm_measure *measure = assembly_array(assembly, 1, sizeof(*measure));
    if (!measure) return;
    *measure = (struct cm_measure){
        .backend = assembly_text(assembly, analysis->options->backend),
        .problem = assembly_text(assembly, analysis->estimate.problem),
        .planned = analysis->options->plan_only,
        .precision = primitive_precision_name((int32_t)analysis->options->precision),
        .layout = primitive_layout_name((int32_t)analysis->options->layout),
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
    if (analysis->estimate.done) take_times(assembly, measure);
    if (analysis->estimate.network.in_it) take_network(assembly, measure);
    if (analysis->estimate.has_ceilings) take_ceilings(assembly, measure);
    assembly->result->measure = measure;
}
