/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the memory part of a result. */
#include "api/assembly.h"
#include "passes/memory/arena_planner.h"
#include "support/checked.h"

#include "support/banned.h"

static void copy_live(struct assembly *assembly, struct cm_memory *memory) {
    const struct peak_memory_table *table = &assembly->analysis->peak_memory;
    struct cm_live *live = assembly_array(assembly, table->n_live, sizeof(*live));
    for (size_t i = 0; live && i < table->n_live; i++)
        live[i] = (struct cm_live){assembly_value(assembly, table->live[i].value).name,
                                   table->live[i].bytes, table->live[i].module};
    memory->n_live = table->n_live;
    memory->live = live;
}

static void copy_planners(struct assembly *assembly, struct cm_memory *memory) {
    const int64_t *bytes = assembly->analysis->arena_plan.by_planner;
    size_t n = bytes ? N_ARENA_PLANNERS : 0;
    struct cm_name_count *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct cm_name_count){arena_planner_name((enum arena_planner)i),
                                         public_count(bytes[i])};
    memory->n_planners = n;
    memory->planners = list;
}

/* Returns the last node that uses the value; CM_NO_INDEX if the model has no nodes. */
static size_t last_node(const struct analysis *analysis, uint32_t value) {
    const struct liveness_table *liveness = &analysis->liveness;
    return liveness->n_steps == 0 ? CM_NO_INDEX : liveness->node_at[liveness->last[value]];
}

/* Lists every value with an offset in the arena, in the order of the file. */
static void copy_arena_plan(struct assembly *assembly, struct cm_memory *memory) {
    const struct analysis *analysis = assembly->analysis;
    size_t n = analysis->options->memory_plan ? analysis->model->n_values : 0;
    struct cm_placed *placed = assembly_array(assembly, n, sizeof(*placed));
    memory->placed = placed;
    for (uint32_t id = 0; placed && id < n; id++) {
        uint32_t node = analysis->model->values[id].node;
        if (!is_known(analysis->arena_plan.offsets[id])) continue;
        placed[memory->n_placed++] = (struct cm_placed){
            .value = assembly_value(assembly, id).name,
            .offset = analysis->arena_plan.offsets[id],
            .bytes = assembly_value(assembly, id).bytes,
            .made = node == ID_NONE ? CM_NO_INDEX : node,
            .last = last_node(analysis, id),
        };
    }
}

/* Lists the scheduled order of nodes if --schedule min-memory is given, even if it is that of
 * the file. */
static void copy_schedule(struct assembly *assembly, struct cm_memory *memory) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    bool is_requested = assembly->analysis->options->schedule == CM_SCHEDULE_MIN_MEMORY;
    size_t n = is_requested ? liveness->n_steps : 0;
    size_t *nodes = assembly_array(assembly, n, sizeof(*nodes));
    for (size_t i = 0; nodes && i < n; i++) nodes[i] = liveness->node_at[i];
    memory->file_order_peak_bytes = public_count(liveness->file_peak_bytes);
    memory->schedule_optimal = liveness->is_optimal;
    memory->n_schedule = n;
    memory->schedule = nodes;
}

static void copy_curve(struct assembly *assembly, struct cm_memory *memory) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    size_t n = assembly->analysis->options->memory_curve ? liveness->n_steps : 0;
    struct cm_curve_point *curve = assembly_array(assembly, n, sizeof(*curve));
    for (size_t i = 0; curve && i < n; i++)
        curve[i] =
            (struct cm_curve_point){liveness->node_at[i], public_count(liveness->live[i])};
    memory->n_curve = n;
    memory->curve = curve;
}

static void copy_fit(struct assembly *assembly, struct cm_memory *memory) {
    if (!assembly->fit) return;
    struct cm_fit *fit = assembly_array(assembly, 1, sizeof(*fit));
    if (!fit) return;
    *fit = *assembly->fit;
    fit->why = assembly_text(assembly, fit->why);
    memory->fit = fit;
}

void assemble_memory(struct assembly *assembly) {
    const struct liveness_table *liveness = &assembly->analysis->liveness;
    const struct arena_plan_table *plan = &assembly->analysis->arena_plan;
    const struct memory_required_table *required = &assembly->analysis->memory_required;
    struct cm_memory *memory = &assembly->result->memory;
    int64_t alignment = assembly->analysis->options->memory_alignment;
    uint32_t node = liveness->peak_node;
    *memory = (struct cm_memory){
        .peak_activation_bytes = public_count(liveness->peak_bytes),
        .peak_in_place_bytes = public_count(assembly->analysis->in_place.peak_bytes),
        .arena_bytes = public_count(plan->arena_bytes),
        .arena_in_place_bytes = public_count(plan->arena_in_place_bytes),
        .alignment = alignment > 1 ? alignment : 1,
        .upper_bound = liveness->upper_bound,
        .peak_upper_bound = liveness->peak_upper_bound,
        .n_weights = required->n_weights,
        .weights = required->weights,
        .required_bytes = public_count(required->required_bytes),
        .peak_node = node == ID_NONE ? CM_NO_INDEX : node,
    };
    copy_schedule(assembly, memory);
    copy_curve(assembly, memory);
    copy_fit(assembly, memory);
    copy_live(assembly, memory);
    copy_planners(assembly, memory);
    copy_arena_plan(assembly, memory);
}
