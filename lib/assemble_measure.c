/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend said, as a part of the result. */
#include "lib/assembly.h"

#include "backends/primitive.h"
#include "passes/estimate.h"
#include "support/text.h"

#include "support/banned.h"

static const char *primitive_text(struct assembly *assembly,
                                  const struct cm_primitive *primitive) {
    struct text text;
    text_init(&text, assembly->arena);
    primitive_print(primitive, &text);
    if (text.failed) assembly->failed = true;
    return text_string(&text);
}

static const char *kernel_names(struct assembly *assembly, const struct cm_how *how) {
    struct text text;
    text_init(&text, assembly->arena);
    for (int i = 0; i < how->n_kernels && i < CM_MAX_KERNELS; i++)
        text_printf(&text, "%s%s", i > 0 ? "\n" : "", how->kernels[i].name);
    if (text.failed) assembly->failed = true;
    return text_string(&text);
}

static int64_t picoseconds(const struct cm_timing *timing, double seconds) {
    return timing->median > 0 ? assembly_count(estimate_ps(seconds)) : CM_UNKNOWN;
}

static void take_timed(struct assembly *assembly, size_t index, struct cm_timed *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_measurement *from = &analysis->estimate.items[index];
    *ret = (struct cm_timed){
        .primitive = primitive_text(assembly, &analysis->primitives.items[index]),
        .state = primitive_state_name(from->state),
        .reason = assembly_text(assembly, from->reason.text),
        .kernels = kernel_names(assembly, &from->how),
        .median_ps = picoseconds(&from->cold, from->cold.median),
        .q1_ps = picoseconds(&from->cold, from->cold.q1),
        .q3_ps = picoseconds(&from->cold, from->cold.q3),
        .warm_ps = picoseconds(&from->warm, from->warm.median),
        .samples = from->cold.n_samples,
        .unstable = (from->flags & CM_FLAG_UNSTABLE) != 0,
        .few_samples = (from->flags & CM_FLAG_FEW_SAMPLES) != 0,
        .not_cold = (from->flags & CM_FLAG_NOT_COLD) != 0,
    };
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

static enum cm_measure_state state_of(const struct analysis *analysis, uint32_t node) {
    const struct primitives_table *table = &analysis->primitives;
    if (table->lowered[node] == LOWERED_NOTHING) return CM_VIEW;
    if (table->lowered[node] == LOWERED_NOT) return CM_UNSUPPORTED;
    return (enum cm_measure_state)analysis->estimate.items[table->of_node[node]].state;
}

/* As they are listed: what has a time first. */
static const enum cm_measure_state order[CM_N_MEASURE_STATES] = {
    CM_MEASURED, CM_MODELLED,    CM_INVENTED,      CM_PROXY,   CM_PLANNED,
    CM_VIEW,     CM_UNSUPPORTED, CM_OUT_OF_MEMORY, CM_CRASHED, CM_TIMED_OUT};

static void take_states(struct assembly *assembly, struct cm_measure *ret) {
    const struct analysis *analysis = assembly->analysis;
    struct cm_state_share shares[CM_N_MEASURE_STATES] = {{NULL, 0, 0}};
    struct cm_state_share *states =
        assembly_array(assembly, CM_N_MEASURE_STATES, sizeof(*states));
    if (!states) return;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        struct cm_state_share *share = &shares[state_of(analysis, id)];
        const int64_t macs = analysis->count.costs[id].macs;
        share->nodes++;
        if (is_known(macs)) share->macs = checked_add(share->macs, macs);
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        const struct cm_state_share *share = &shares[order[i]];
        if (share->nodes == 0) continue;
        states[ret->n_states++] = (struct cm_state_share){
            primitive_state_name((int32_t)order[i]), share->nodes, assembly_count(share->macs)};
    }
    ret->states = states;
}

static void take_times(struct assembly *assembly, struct cm_measure *ret) {
    const struct estimate_table *estimate = &assembly->analysis->estimate;
    const size_t n = assembly->analysis->primitives.n;
    struct cm_timed *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) take_timed(assembly, i, &list[i]);
    if (!list) return;
    take_nodes(assembly, list);
    take_states(assembly, ret);
    ret->modelled = estimate->facts.modelled != 0;
    ret->device = assembly_text(assembly, estimate->facts.name);
    ret->version = assembly_text(assembly, estimate->facts.version);
    ret->warning = assembly_text(assembly, estimate->facts.warning);
    ret->n_primitives = n;
    ret->primitives = list;
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

void assemble_measure(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    if (analysis->options->backend == NULL) return;
    struct cm_measure *measure = assembly_array(assembly, 1, sizeof(*measure));
    if (!measure) return;
    *measure = (struct cm_measure){
        .backend = assembly_text(assembly, analysis->options->backend),
        .problem = assembly_text(assembly, analysis->estimate.problem),
        .device = "",
        .version = "",
        .warning = "",
    };
    if (analysis->estimate.done) take_times(assembly, measure);
    if (analysis->estimate.has_ceilings) take_ceilings(assembly, measure);
    assembly->result->measure = measure;
}
