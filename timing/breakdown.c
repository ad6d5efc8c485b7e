/* SPDX-License-Identifier: Apache-2.0 */
/* Pass breakdown: lists the costs by operator, the nodes without a time by operator and reason,
 * and the time by kernel. If a primitive runs several kernels and the backend did not time each
 * of them, the primitive has one row. */
#include "timing/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/costs.h"
#include "passes/public_figures.h"
#include "passes/summary/operators.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"
#include "timing/estimate.h"
#include "timing/primitives.h"
#include "timing/times.h"
#include "timing/timing.h"

/* The order in which states are listed: those with a time first. */
static const enum cm_measure_state state_order[CM_N_MEASURE_STATES] = {
    CM_MEASURED,      CM_IMPORTED, CM_SPLIT,     CM_MODELLED,   CM_INVENTED,
    CM_PROXY,         CM_PLANNED,  CM_OPAQUE,    CM_VIEW,       CM_UNSUPPORTED,
    CM_OUT_OF_MEMORY, CM_CRASHED,  CM_TIMED_OUT, CM_COPY_LAYER, CM_UNPLACED};

struct state_totals {
    int64_t nodes[CM_N_MEASURE_STATES];
    int64_t macs[CM_N_MEASURE_STATES];
};

/* Adds a time, unless it is unknown. The sum is unknown until the first known time. */
static void add_time(int64_t *sum, int64_t time) {
    *sum = *sum == DIM_UNKNOWN ? time : checked_add_known(*sum, time);
}

/* Lists the states that have nodes. Returns NULL if out of memory. */
static const struct cm_state_share *
list_states(const struct timing *timing, const struct state_totals *totals, size_t *ret_n) {
    struct cm_state_share *states =
        arena_array(timing->core.result_arena, CM_N_MEASURE_STATES, sizeof *states);
    for (size_t i = 0; states && i < CM_N_MEASURE_STATES; i++) {
        const enum cm_measure_state state = state_order[i];
        if (totals->nodes[state] == 0) continue;
        states[(*ret_n)++] =
            (struct cm_state_share){primitive_state_name((int32_t)state), totals->nodes[state],
                                    public_count(totals->macs[state])};
    }
    return states;
}

/* Sets the states of each operator and of all operators together. `totals`: by operator. */
static int sum_states(const struct timing *timing, const struct state_totals *totals,
                      struct cm_operator *rows, struct breakdown_table *table) {
    struct state_totals all = {{0}, {0}};
    int64_t macs = 0;
    table->measured_share = -1;
    for (size_t i = 0; i < table->n_operators; i++) {
        struct cm_operator *row = &rows[i];
        for (size_t k = 0; k < CM_N_MEASURE_STATES; k++) {
            all.nodes[k] += totals[i].nodes[k];
            checked_add_to(&all.macs[k], totals[i].macs[k]);
            checked_add_to(&macs, totals[i].macs[k]);
        }
        row->states = list_states(timing, &totals[i], &row->n_states);
        if (!row->states) return CM_NO_MEMORY;
    }
    if (is_known(macs) && macs > 0)
        table->measured_share = ((double)all.macs[CM_MEASURED] + (double)all.macs[CM_IMPORTED] +
                                 (double)all.macs[CM_SPLIT]) /
                                (double)macs;
    table->invented = all.nodes[CM_INVENTED] > 0;
    table->states = list_states(timing, &all, &table->n_states);
    return table->states ? CM_OK : CM_NO_MEMORY;
}

/* Slowest first; equal times in the order of pass operators, whose rows are all different. */
static int compare_times(const void *left, const void *right) {
    const struct cm_operator *const *a = left;
    const struct cm_operator *const *b = right;
    if ((*a)->costs.latency_ps != (*b)->costs.latency_ps)
        return (*a)->costs.latency_ps > (*b)->costs.latency_ps ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

/* Sums the times of the nodes by operator. */
static int list_operators(const struct timing *timing, struct breakdown_table *table) {
    const struct operators_table *operators = timing->core.operators;
    const size_t n = operators->n;
    struct arena *scratch = timing->core.scratch;
    struct state_totals *totals = arena_array(scratch, n, sizeof *totals);
    struct cm_operator *rows = arena_copy(scratch, operators->items, n * sizeof *rows);
    const struct cm_operator **order = arena_array(scratch, n, sizeof *order);
    table->operators = arena_array(timing->core.result_arena, n, sizeof *table->operators);
    if (!totals || !rows || !order || !table->operators) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        rows[i].costs.latency_ps = rows[i].costs.lower_bound_ps = DIM_UNKNOWN;
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++) {
        const uint32_t at = operators->of_node[id];
        const struct node_time *time = &timing->times->of_node[id];
        const enum cm_measure_state state = estimate_state(timing, id);
        const int64_t macs = timing->core.count->nodes[id].costs.macs;
        add_time(&rows[at].costs.latency_ps, time->latency_ps);
        add_time(&rows[at].costs.lower_bound_ps, time->lower_bound_ps);
        rows[at].costs.partial |= time->partial;
        if (state == CM_OPAQUE) rows[at].costs.partial |= CM_COST_BIT(latency_ps);
        totals[at].nodes[state]++;
        checked_add_known_to(&totals[at].macs[state], macs);
    }
    table->n_operators = n;
    if (sum_states(timing, totals, rows, table) < 0) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) order[i] = &rows[i];
    if (n > 0) sort_stable(order, n, sizeof *order, compare_times);
    for (size_t i = 0; i < n; i++) {
        table->operators[i] = *order[i];
        table->operators[i].costs.latency_ps = public_count(order[i]->costs.latency_ps);
        table->operators[i].costs.lower_bound_ps = public_count(order[i]->costs.lower_bound_ps);
    }
    return CM_OK;
}

/* Returns why the node has no time; NULL if it has a time, needs none, or never runs. */
static const char *untimed_reason(const struct timing *timing, uint32_t id) {
    const struct primitives_table *primitives = timing->primitives;
    const bool is_imported = timing->estimate->imported != NULL;
    if (timing->core.count->runs[timing->core.model->nodes[id].graph] == 0) return NULL;
    if (primitives->lowered[id] == LOWERED_NOTHING && !is_imported) return NULL;
    if (primitives->lowered[id] == LOWERED_NOT && !is_imported) return primitives->why_not[id];
    const struct cm_measurement *measurement =
        &timing->estimate->items[estimate_primitive(timing, id)];
    const bool is_fine = estimate_has_time(measurement) || measurement->state == CM_VIEW ||
                         measurement->state == CM_PLANNED || measurement->state == CM_OPAQUE;
    return is_fine ? NULL : measurement->reason.text;
}

/* Most MACs first, then most nodes. */
static int compare_untimed(const void *left, const void *right) {
    const struct cm_untimed *a = left;
    const struct cm_untimed *b = right;
    if (a->macs != b->macs) return a->macs > b->macs ? -1 : 1;
    if (a->nodes != b->nodes) return a->nodes > b->nodes ? -1 : 1;
    const int order = strcmp(a->op, b->op);
    return order != 0 ? order : strcmp(a->reason, b->reason);
}

static int list_untimed(const struct timing *timing, struct breakdown_table *table) {
    const size_t n_nodes = timing->core.model->n_nodes;
    struct cm_untimed *rows = arena_array(timing->core.scratch, n_nodes, sizeof *rows);
    struct map index;
    if (!rows) return CM_NO_MEMORY;
    map_init(&index, timing->core.arena);
    for (uint32_t id = 0; id < n_nodes; id++) {
        const char *reason = untimed_reason(timing, id);
        if (!reason) continue;
        const char *op = timing->core.operators->items[timing->core.operators->of_node[id]].op;
        const char *key = op ? arena_printf(timing->core.arena, "%s\n%s", op, reason) : NULL;
        uint32_t at = MAP_NONE;
        if (!key || map_add(&index, key, (uint32_t)table->n_untimed, &at) < 0)
            return CM_NO_MEMORY;
        if (at == MAP_NONE) {
            at = (uint32_t)table->n_untimed++;
            rows[at].op = arena_strdup(timing->core.result_arena, op);
            rows[at].reason = arena_strdup(timing->core.result_arena, reason);
            if (!rows[at].op || !rows[at].reason) return CM_NO_MEMORY;
        }
        rows[at].nodes++;
        checked_add_known_to(&rows[at].macs, timing->core.count->nodes[id].costs.macs);
    }
    if (table->n_untimed > 0)
        sort_stable(rows, table->n_untimed, sizeof *rows, compare_untimed);
    for (size_t i = 0; i < table->n_untimed; i++) rows[i].macs = public_count(rows[i].macs);
    table->untimed =
        arena_copy(timing->core.result_arena, rows, table->n_untimed * sizeof *rows);
    return table->untimed ? CM_OK : CM_NO_MEMORY;
}

enum kernel_ratio {
    BLOCKS_PER_UNIT,
    OCCUPANCY,
    THEORETICAL_OCCUPANCY,
    UNIT_EFFICIENCY,
    N_KERNEL_RATIOS
};

/* A row of the kernel table. */
struct kernel_sum {
    struct cm_kernel_row row;
    struct {
        double product; /* sum of ratio * time in ps, over the kernels whose ratio is known */
        double time;    /* their time, ps */
    } ratios[N_KERNEL_RATIOS];
};

/* Returns the mean ratio, weighted by time; negative: unknown. */
static double mean_ratio(const struct kernel_sum *sum, enum kernel_ratio ratio) {
    const double time = sum->ratios[ratio].time;
    return time > 0 ? sum->ratios[ratio].product / time : -1;
}

/* Adds a kernel, or a whole primitive (NULL), that takes `median` picoseconds in each of the
 * primitive's `runs`. */
static void add_kernel(struct kernel_sum *sum, const struct cm_kernel *kernel, int64_t runs,
                       int64_t median) {
    struct cm_kernel_row *row = &sum->row;
    const int64_t calls = kernel && kernel->calls > 0 ? kernel->calls : 1;
    const int64_t total = checked_mul(median, runs);
    const int64_t each = median / calls;
    if (kernel) {
        const double ratios[N_KERNEL_RATIOS] = {
            [BLOCKS_PER_UNIT] = kernel->blocks_per_unit,
            [OCCUPANCY] = kernel->occupancy,
            [THEORETICAL_OCCUPANCY] = kernel->theoretical_occupancy,
            [UNIT_EFFICIENCY] = estimate_unit_efficiency(kernel),
        };
        for (int i = 0; i < N_KERNEL_RATIOS; i++) {
            if (ratios[i] <= 0 || !is_known(total)) continue;
            sum->ratios[i].product += ratios[i] * (double)total;
            sum->ratios[i].time += (double)total;
        }
    }
    if (row->calls == 0 || each < row->min_ps) row->min_ps = each;
    if (each > row->max_ps) row->max_ps = each;
    checked_add_known_to(&row->calls, checked_mul(calls, runs));
    checked_add_known_to(&row->total_ps, total);
}

static int compare_kernels(const void *left, const void *right) {
    const struct cm_kernel_row *a = left;
    const struct cm_kernel_row *b = right;
    if (a->total_ps != b->total_ps) return a->total_ps > b->total_ps ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The rows so far. */
struct kernel_list {
    const struct timing *timing;
    struct map index; /* by name of the kernel */
    size_t n;
    struct kernel_sum *sums;
};

/* Finds or adds the row of a kernel, or of a primitive if `kernel` is NULL. */
static int find_row(struct kernel_list *list, uint32_t primitive,
                    const struct cm_kernel *kernel, struct kernel_sum **ret) {
    const struct timing *timing = list->timing;
    struct arena *arena = timing->core.result_arena;
    const struct cm_how *how = &timing->estimate->items[primitive].how;
    uint32_t at = MAP_NONE;
    struct text text;
    if (kernel && map_add(&list->index, kernel->name, (uint32_t)list->n, &at) < 0)
        return CM_NO_MEMORY;
    *ret = &list->sums[at == MAP_NONE ? list->n++ : at];
    if (at != MAP_NONE) return CM_OK;
    text_init(&text, arena);
    if (kernel)
        text_append(&text, kernel->name);
    else
        primitive_print(&timing->primitives->items[primitive], &text);
    (*ret)->row = (struct cm_kernel_row){
        .name = text_string(&text),
        .primitive = kernel ? CM_NO_INDEX : primitive,
        .tensor_cores =
            estimate_tensor_cores_name(kernel ? kernel->tensor_cores : how->tensor_cores),
        .rule = kernel ? arena_strdup(arena, kernel->rule) : "",
    };
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}

/* Returns the number of kernels that divide the primitive's time; 0 if theirs are unknown. */
static int32_t count_shares(const struct cm_how *how) {
    if (how->n_kernels == 1 && how->kernels[0].name[0] != '\0') return 1;
    return estimate_kernels_sum(how) > 0 ? how->n_kernels : 0;
}

/* Adds the times of all primitives to the rows of their kernels: the median is divided among
 * the kernels in proportion to their times, if these are known. */
static int sum_kernels(struct kernel_list *list) {
    const struct timing *timing = list->timing;
    const size_t n_primitives = timing->primitives->n;
    int64_t *runs = arena_array(timing->core.scratch, n_primitives, sizeof *runs);
    if (!runs) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++) {
        const uint32_t primitive =
            estimate_runs(timing, id) ? estimate_primitive(timing, id) : ID_NONE;
        const int64_t of_graph = timing->core.count->runs[timing->core.model->nodes[id].graph];
        if (primitive != ID_NONE) checked_add_known_to(&runs[primitive], of_graph);
    }
    for (uint32_t i = 0; i < n_primitives; i++) {
        const struct cm_measurement *measurement = &timing->estimate->items[i];
        const struct cm_how *how = &measurement->how;
        const int64_t median = estimate_ps(measurement->cold.median);
        if (!estimate_has_time(measurement) || !is_known(median) || runs[i] == 0) continue;
        const int32_t n = count_shares(how);
        const double sum = estimate_kernels_sum(how);
        double seconds = 0;
        int64_t given = 0;
        for (int32_t k = 0; k < n || k == 0; k++) {
            const struct cm_kernel *kernel = n > 0 ? &how->kernels[k] : NULL;
            struct kernel_sum *row = NULL;
            int64_t end = median;
            if (kernel) seconds += kernel->seconds;
            if (k + 1 < n) end = (int64_t)((double)median * (seconds / sum));
            if (end > median) end = median;
            if (find_row(list, i, kernel, &row) < 0) return CM_NO_MEMORY;
            add_kernel(row, kernel, runs[i], end - given);
            given = end;
        }
    }
    return CM_OK;
}

static int list_kernels(const struct timing *timing, struct breakdown_table *table) {
    struct kernel_list list = {.timing = timing};
    size_t capacity = 0;
    map_init(&list.index, timing->core.arena);
    for (uint32_t i = 0; i < timing->primitives->n; i++) {
        const int32_t shares = count_shares(&timing->estimate->items[i].how);
        capacity += shares > 1 ? (size_t)shares : 1;
    }
    list.sums = arena_array(timing->core.scratch, capacity, sizeof *list.sums);
    if (!list.sums || sum_kernels(&list) < 0) return CM_NO_MEMORY;
    table->n_kernels = list.n;
    table->kernels = arena_array(timing->core.result_arena, list.n, sizeof *table->kernels);
    if (!table->kernels) return CM_NO_MEMORY;
    for (size_t i = 0; i < table->n_kernels; i++) {
        struct cm_kernel_row *row = &table->kernels[i];
        *row = list.sums[i].row;
        const bool has_mean = is_known(row->calls) && row->calls > 0 && is_known(row->total_ps);
        row->mean_ps = has_mean ? row->total_ps / row->calls : CM_UNKNOWN;
        row->blocks_per_unit = public_ratio(mean_ratio(&list.sums[i], BLOCKS_PER_UNIT));
        row->occupancy = public_ratio(mean_ratio(&list.sums[i], OCCUPANCY));
        row->theoretical_occupancy =
            public_ratio(mean_ratio(&list.sums[i], THEORETICAL_OCCUPANCY));
        row->unit_efficiency = public_ratio(mean_ratio(&list.sums[i], UNIT_EFFICIENCY));
        row->calls = public_count(row->calls);
        row->total_ps = public_count(row->total_ps);
    }
    if (table->n_kernels > 0)
        sort_stable(table->kernels, table->n_kernels, sizeof *table->kernels, compare_kernels);
    return CM_OK;
}

int pass_breakdown(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    if (!timing->estimate->done) return CM_OK;
    int status = list_operators(timing, own);
    if (status == CM_OK) status = list_untimed(timing, own);
    if (status == CM_OK && !timing->estimate->facts.modelled && !timing->estimate->imported)
        status = list_kernels(timing, own);
    return status < 0 ? diag_no_memory(timing->core.diag) : CM_OK;
}
