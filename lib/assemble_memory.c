/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a result that says how much memory it takes, where and when. */
#include "lib/assembly.h"
#include "passes/packing.h"
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
    size_t n = bytes ? PACKING_N_PLANNERS : 0;
    struct cm_name_count *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct cm_name_count){packing_planner_name((enum packing_planner)i),
                                         assembly_count(bytes[i])};
    memory->n_planners = n;
    memory->planners = list;
}

/* A model without nodes has no last one. */
static size_t last_node(const struct analysis *analysis, uint32_t value) {
    const struct lifetime_table *lifetime = &analysis->lifetime;
    return lifetime->n_steps == 0 ? CM_NO_INDEX : lifetime->node_at[lifetime->last[value]];
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

void assemble_memory(struct assembly *assembly) {
    const struct lifetime_table *lifetime = &assembly->analysis->lifetime;
    struct cm_memory *memory = &assembly->result->memory;
    uint32_t node = lifetime->peak_node;
    *memory = (struct cm_memory){
        .peak_activation_bytes = assembly_count(lifetime->peak_bytes),
        .peak_in_place_bytes = assembly_count(assembly->analysis->memory.peak_in_place_bytes),
        .arena_bytes = assembly_count(assembly->analysis->plan.arena_bytes),
        .peak_node = node == ID_NONE ? CM_NO_INDEX : node,
    };
    take_live(assembly, memory);
    take_planners(assembly, memory);
    take_plan(assembly, memory);
}
