/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a result that says how much memory it takes, where and when. */
#include "api/assembly.h"
#include "passes/memory/arena_planner.h"
#include "passes/memory/memory_required.h"
#include "support/checked.h"

#include "support/banned.h"

static void take_live(struct assembly *assembly, struct cm_memory *memory) {
    const struct memory_table *table = &assembly->analysis->memory;
    struct cm_live *live = assembly_array(assembly, table->n_live, sizeof(*live));
    for (size_t i = 0; live && i < table->n_live; i++)
        live[i] = (struct cm_live){assembly_value(assembly, table->live[i].value).name,
                                   table->live[i].bytes, table->live[i].module};
    memory->n_live = table->n_live;
    memory->live = live;
}

static void take_planners(struct assembly *assembly, struct cm_memory *memory) {
    const int64_t *bytes = assembly->analysis->plan.by_planner;
    size_t n = bytes ? N_ARENA_PLANNERS : 0;
    struct cm_name_count *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct cm_name_count){arena_planner_name((enum arena_planner)i),
                                         assembly_count(bytes[i])};
    memory->n_planners = n;
    memory->planners = list;
}

/* A model without nodes has no last one. */
static size_t last_node(const struct analysis *analysis, uint32_t value) {
    const struct liveness_table *liveness = &analysis->liveness;
    return liveness->n_steps == 0 ? CM_NO_INDEX : liveness->node_at[liveness->last[value]];
}

/* Every value that has a place, in the order in which the file names them. */
static void take_plan(struct assembly *assembly, struct cm_memory *memory) {
    const struct analysis *analysis = assembly->analysis;
    size_t n = analysis->options->memory_plan ? analysis->model->n_values : 0;
    struct cm_placed *placed = assembly_array(assembly, n, sizeof(*placed));
    memory->placed = placed;
    for (uint32_t id = 0; placed && id < n; id++) {
        uint32_t node = analysis->model->values[id].node;
        if (!is_known(analysis->plan.offsets[id])) continue;
        placed[memory->n_placed++] = (struct cm_placed){
            .value = assembly_value(assembly, id).name,
            .offset = analysis->plan.offsets[id],
            .bytes = assembly_value(assembly, id).bytes,
            .made = node == ID_NONE ? CM_NO_INDEX : node,
            .last = last_node(analysis, id),
        };
    }
}

/* What was asked for stands there even where it is the order of the file. */
static void take_schedule(struct assembly *assembly, struct cm_memory *memory) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    bool asked = assembly->analysis->options->schedule == CM_SCHEDULE_MIN_MEMORY;
    size_t n = asked ? liveness->n_steps : 0;
    size_t *nodes = assembly_array(assembly, n, sizeof(*nodes));
    for (size_t i = 0; nodes && i < n; i++) nodes[i] = liveness->node_at[i];
    memory->file_order_peak_bytes = assembly_count(liveness->file_peak_bytes);
    memory->schedule_optimal = liveness->is_optimal;
    memory->n_schedule = n;
    memory->schedule = nodes;
}

static void take_curve(struct assembly *assembly, struct cm_memory *memory) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    size_t n = assembly->analysis->options->memory_curve ? liveness->n_steps : 0;
    struct cm_curve_point *curve = assembly_array(assembly, n, sizeof(*curve));
    for (size_t i = 0; curve && i < n; i++)
        curve[i] =
            (struct cm_curve_point){liveness->node_at[i], assembly_count(liveness->live[i])};
    memory->n_curve = n;
    memory->curve = curve;
}

static void take_weights(struct assembly *assembly, struct cm_memory *memory) {
    const struct memory_required_table *table = &assembly->analysis->demand;
    struct cm_weights *list = assembly_array(assembly, table->n_groups, sizeof(*list));
    for (size_t i = 0; list && i < table->n_groups; i++)
        list[i] = (struct cm_weights){
            .dtype = dtype_name(table->groups[i].dtype),
            .storage = memory_required_storage_name(table->groups[i].storage),
            .tensors = table->groups[i].tensors,
            .elements = assembly_count(table->groups[i].elements),
            .bytes = assembly_count(table->groups[i].bytes),
        };
    memory->n_weights = table->n_groups;
    memory->weights = list;
}

static void take_fit(struct assembly *assembly, struct cm_memory *memory) {
    if (!assembly->fit) return;
    struct cm_fit *fit = assembly_array(assembly, 1, sizeof(*fit));
    if (!fit) return;
    *fit = *assembly->fit;
    fit->why = assembly_text(assembly, fit->why);
    memory->fit = fit;
}

void assemble_memory(struct assembly *assembly) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    const struct plan_table *plan = &assembly->analysis->plan;
    struct cm_memory *memory = &assembly->result->memory;
    int64_t alignment = assembly->analysis->options->memory_alignment;
    uint32_t node = liveness->peak_node;
    *memory = (struct cm_memory){
        .peak_activation_bytes = assembly_count(liveness->peak_bytes),
        .peak_in_place_bytes = assembly_count(assembly->analysis->in_place.peak_bytes),
        .arena_bytes = assembly_count(plan->arena_bytes),
        .arena_in_place_bytes = assembly_count(plan->arena_in_place_bytes),
        .alignment = alignment > 1 ? alignment : 1,
        .upper_bound = liveness->upper_bound,
        .peak_upper_bound = liveness->peak_upper_bound,
        .required_bytes = assembly_count(assembly->analysis->demand.required_bytes),
        .peak_node = node == ID_NONE ? CM_NO_INDEX : node,
    };
    take_schedule(assembly, memory);
    take_curve(assembly, memory);
    take_weights(assembly, memory);
    take_fit(assembly, memory);
    take_live(assembly, memory);
    take_planners(assembly, memory);
    take_plan(assembly, memory);
}
