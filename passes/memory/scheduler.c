/* SPDX-License-Identifier: Apache-2.0 */
/* Beam search, level by level, over the sets of tasks that can have run: level k holds sets of
 * k tasks, each with the order that leads to it with the lowest peak. A set is stored as its
 * border: the ready tasks, and the tasks and tensors that are partly done. So the size of
 * a state depends on the width of the graph, not on its length.
 *
 * A task that leaves no more bytes alive than it found and does not raise the peak so far is
 * run at once: running it earlier never costs more. That is why a chain needs one state per
 * level. If more sets remain than the work budget allows, those with the lowest peak and the
 * fewest live bytes are kept, and the result is not proved optimal.
 *
 * The search runs forward and backward: in the reversed graph a tensor is still alive from its
 * first to its last member, and a graph that is wide from one end may be narrow from the other.
 * If neither run is exact, windows around the peak are reordered by the same search.
 *
 * Ahn et al., "Ordering Chaos" (MLSys 2020), search the same sets; running a task at once is
 * the part of Liu's (1987) rule for trees that holds for any graph. */
#include "passes/memory/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "passes/work.h"
#include "support/arena.h"
#include "support/sort.h"

#define MAX_WIDTH     2048               /* states of one level */
#define BUDGET        ((int64_t)1 << 24) /* entries visited or copied, about 0.3 s */
#define WINDOW_BUDGET ((int64_t)1 << 20) /* of the search in one window */
#define MAX_WINDOWS   48
#define ALL_WINDOWS   ((int64_t)1 << 27) /* of the searches in all windows */

static const uint32_t window_widths[] = {24, 96, 384};

/* A ready or partly done item of a state. */
struct item {
    uint32_t id;   /* a task, or n_tasks + a live tensor */
    uint32_t left; /* predecessors of the task, or members of the tensor, that have not run */
};

struct state {
    int64_t live; /* bytes alive after the tasks of the set */
    int64_t peak; /* so far; at least search.lower_bound */
    uint32_t n, n_ready;
    struct item *items; /* ascending by id */
    uint64_t hash;      /* of the set */
};

/* A state plus one more task. */
struct choice {
    int64_t peak;
    int64_t live;
    uint64_t hash;
    uint32_t parent; /* index in its level */
    uint32_t task;
};

/* A choice that was taken, to trace back the order. */
struct step {
    uint32_t parent;
    uint32_t task;
};

struct level {
    struct arena *arena; /* reset for each level */
    struct arena_mark mark;
    struct state *states;
    uint32_t n;
};

/* A search in one direction. Backward, edges are reversed, and inputs and outputs swapped. */
struct search {
    struct arena *arena;
    const struct scheduler_problem *problem;
    bool backward;
    uint32_t *n_before;   /* by task: edges that lead to it */
    uint32_t *after;      /* by task: index of its first successor; one more at the end */
    uint32_t *successors; /* tasks, grouped by predecessor */
    uint32_t *holds;     /* by task: index of its first tensor in `held`; one more at the end */
    uint32_t *held;      /* tensors, grouped by task */
    int64_t lower_bound; /* of the peak of every order */
    int64_t limit;       /* orders with this peak or more are dropped */
    struct level levels[2]; /* previous and next, alternating */
    struct step **steps;    /* by level */
    int64_t budget;
    int64_t work;  /* entries visited so far */
    bool complete; /* no choice was dropped to save work */
};

static bool is_input(const struct search *search, const struct scheduler_tensor *tensor) {
    return search->backward ? tensor->to_end : tensor->from_start;
}

static bool is_output(const struct search *search, const struct scheduler_tensor *tensor) {
    return search->backward ? tensor->from_start : tensor->to_end;
}

static struct scheduler_edge edge_at(const struct search *search, size_t i) {
    const struct scheduler_edge edge = search->problem->edges[i];
    return search->backward ? (struct scheduler_edge){edge.after, edge.before} : edge;
}

/* Lists the successors and the tensors of each task, and computes search->lower_bound: the
 * largest of the bytes that a single task needs, of all inputs and of all outputs. */
static int list_neighbours(struct search *search) {
    const struct scheduler_problem *problem = search->problem;
    const uint32_t n = problem->n_tasks;
    struct arena *arena = search->arena;
    uint32_t *fill = arena_array(arena, 2 * (size_t)n, sizeof *fill);
    search->n_before = arena_array(arena, n, sizeof *search->n_before);
    search->after = arena_array(arena, (size_t)n + 1, sizeof *search->after);
    search->successors = arena_array(arena, problem->n_edges, sizeof *search->successors);
    search->holds = arena_array(arena, (size_t)n + 1, sizeof *search->holds);
    search->held = arena_array(arena, problem->n_members, sizeof *search->held);
    if (arena_failed(arena)) return CM_NO_MEMORY;
    for (size_t i = 0; i < problem->n_edges; i++)
        search->after[edge_at(search, i).before + 1]++;
    for (size_t i = 0; i < problem->n_members; i++) search->holds[problem->members[i] + 1]++;
    for (uint32_t task = 0; task < n; task++) {
        search->after[task + 1] += search->after[task];
        search->holds[task + 1] += search->holds[task];
    }
    for (size_t i = 0; i < problem->n_edges; i++) {
        const struct scheduler_edge edge = edge_at(search, i);
        search->successors[search->after[edge.before] + fill[edge.before]++] = edge.after;
        search->n_before[edge.after]++;
    }
    int64_t inputs = 0, results = 0;
    for (uint32_t id = 0; id < problem->n_tensors; id++) {
        const struct scheduler_tensor *tensor = &problem->tensors[id];
        for (uint32_t i = 0; i < tensor->n_members; i++) {
            const uint32_t task = problem->members[tensor->members + i];
            search->held[search->holds[task] + fill[n + task]++] = id;
        }
        if (tensor->from_start) inputs += tensor->bytes;
        if (tensor->to_end) results += tensor->bytes;
    }
    search->lower_bound = inputs > results ? inputs : results;
    for (uint32_t task = 0; task < n; task++) {
        int64_t bytes = problem->extra_bytes[task];
        for (uint32_t i = search->holds[task]; i < search->holds[task + 1]; i++)
            bytes += problem->tensors[search->held[i]].bytes;
        if (bytes > search->lower_bound) search->lower_bound = bytes;
    }
    return CM_OK;
}

static uint64_t hash_of(uint32_t task) {
    uint64_t x = (task + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns the index of an item, or the index at which to insert it. */
static uint32_t find_item(const struct state *state, uint32_t id, bool *ret_found) {
    uint32_t low = 0;
    uint32_t high = state->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < state->n && state->items[low].id == id;
    return low;
}

/* Computes the live bytes and the peak if a ready task of the state runs next. */
static struct choice evaluate(struct search *search, const struct state *state, uint32_t task) {
    int64_t started = 0;
    int64_t ended = 0;
    for (uint32_t i = search->holds[task]; i < search->holds[task + 1]; i++) {
        const struct scheduler_tensor *tensor = &search->problem->tensors[search->held[i]];
        bool is_live = false;
        const uint32_t at =
            find_item(state, search->problem->n_tasks + search->held[i], &is_live);
        const uint32_t left = is_live ? state->items[at].left : tensor->n_members;
        if (!is_live) started += tensor->bytes;
        if (left == 1 && !is_output(search, tensor)) ended += tensor->bytes;
    }
    search->work += 1 + search->holds[task + 1] - search->holds[task];
    int64_t peak = state->live + started + search->problem->extra_bytes[task];
    return (struct choice){
        .peak = peak > state->peak ? peak : state->peak,
        .live = state->live + started - ended,
        .hash = state->hash ^ hash_of(task),
        .task = task,
    };
}

/* Lists the tasks that may run next, or only one that costs nothing now. Returns how many. */
static uint32_t list_choices(struct search *search, const struct state *state, uint32_t parent,
                             struct choice *ret) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < state->n && state->items[i].id < search->problem->n_tasks; i++) {
        if (state->items[i].left > 0) continue;
        struct choice choice = evaluate(search, state, state->items[i].id);
        choice.parent = parent;
        if (choice.live <= state->live && choice.peak == state->peak) {
            ret[0] = choice;
            return 1;
        }
        if (choice.peak < search->limit) ret[n++] = choice;
    }
    return n;
}

static int compare_sets(const void *a, const void *b) {
    const struct choice *left = a;
    const struct choice *right = b;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    if (left->peak != right->peak) return left->peak < right->peak ? -1 : 1;
    return left->parent < right->parent ? -1 : left->parent > right->parent;
}

static int compare_choices(const void *a, const void *b) {
    const struct choice *left = a;
    const struct choice *right = b;
    if (left->peak != right->peak) return left->peak < right->peak ? -1 : 1;
    if (left->live != right->live) return left->live < right->live ? -1 : 1;
    if (left->parent != right->parent) return left->parent < right->parent ? -1 : 1;
    return left->task < right->task ? -1 : left->task > right->task;
}

/* Keeps the best choice of each set and sorts them, best first. Returns their number. */
static uint32_t sort_choices(struct choice *choices, uint32_t n) {
    uint32_t n_unique = 0;
    if (n < 2) return n;
    sort_stable(choices, n, sizeof *choices, compare_sets);
    for (uint32_t i = 0; i < n; i++)
        if (n_unique == 0 || choices[i].hash != choices[n_unique - 1].hash)
            choices[n_unique++] = choices[i];
    sort_stable(choices, n_unique, sizeof *choices, compare_choices);
    return n_unique;
}

/* Decrements what is left of an item: `total` if the item is new. Returns its index. */
static uint32_t decrement(struct state *state, uint32_t id, uint32_t total) {
    bool found = false;
    const uint32_t at = find_item(state, id, &found);
    struct item *item = &state->items[at];
    if (!found) {
        memmove(item + 1, item, (state->n++ - at) * sizeof *item);
        *item = (struct item){id, total};
    }
    item->left--;
    return at;
}

static void remove_item(struct state *state, uint32_t at) {
    struct item *item = &state->items[at];
    memmove(item, item + 1, (--state->n - at) * sizeof *item);
}

static void run_task(const struct search *search, struct state *state, uint32_t task) {
    const struct scheduler_problem *problem = search->problem;
    bool found = false;
    remove_item(state, find_item(state, task, &found));
    state->n_ready--;
    for (uint32_t i = search->after[task]; i < search->after[task + 1]; i++) {
        const uint32_t follower = search->successors[i];
        const uint32_t at = decrement(state, follower, search->n_before[follower]);
        state->n_ready += state->items[at].left == 0;
    }
    for (uint32_t i = search->holds[task]; i < search->holds[task + 1]; i++) {
        const uint32_t id = search->held[i];
        const uint32_t at =
            decrement(state, problem->n_tasks + id, problem->tensors[id].n_members);
        if (state->items[at].left == 0) remove_item(state, at);
    }
}

/* Returns an upper bound on the items of a state after a choice. */
static size_t count_items(const struct search *search, const struct state *parent,
                          uint32_t task) {
    return (size_t)parent->n + (search->after[task + 1] - search->after[task]) +
           (search->holds[task + 1] - search->holds[task]);
}

/* Makes a state from each choice. */
static int make_level(struct search *search, const struct level *before,
                      const struct choice *choices, uint32_t n, struct level *ret) {
    size_t n_items = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct state *parent = &before->states[choices[i].parent];
        const size_t most = count_items(search, parent, choices[i].task);
        n_items += most;
        search->work += (int64_t)(2 * most - parent->n);
    }
    ret->n = n;
    ret->states = arena_array(ret->arena, n, sizeof *ret->states);
    struct item *items = arena_array(ret->arena, n_items, sizeof *items);
    if (!ret->states || !items) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const struct choice *choice = &choices[i];
        const struct state *parent = &before->states[choice->parent];
        struct state *state = &ret->states[i];
        *state = (struct state){choice->live,    choice->peak, parent->n,
                                parent->n_ready, items,        choice->hash};
        memcpy(items, parent->items, parent->n * sizeof *items);
        run_task(search, state, choice->task);
        items += count_items(search, parent, choice->task);
    }
    return CM_OK;
}

/* Makes level k + 1: extends each state of level k by one task and keeps the best results. */
static int advance(struct search *search, uint32_t k) {
    struct level *before = &search->levels[k % 2];
    struct level *next = &search->levels[(k + 1) % 2];
    const int64_t begun = search->work;
    size_t n_choices = 0;
    uint32_t n = 0;
    arena_restore(next->arena, next->mark);
    for (uint32_t i = 0; i < before->n; i++) n_choices += before->states[i].n_ready;
    struct choice *choices = arena_array(next->arena, n_choices, sizeof *choices);
    if (!choices) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < before->n; i++)
        n += list_choices(search, &before->states[i], i, &choices[n]);
    n = sort_choices(choices, n);
    /* The budget suffices for this many states on each remaining level, at the cost so far. */
    const int64_t each = (search->work - begun) / before->n + 1;
    const uint32_t n_left = search->problem->n_tasks - k;
    int64_t width = (search->budget - search->work) / n_left / each;
    if (width > MAX_WIDTH) width = MAX_WIDTH;
    if (width < 1) width = 1;
    if (n > width) {
        search->complete = false;
        n = (uint32_t)width;
    }
    search->steps[k] = arena_array(search->arena, n, sizeof **search->steps);
    if (!search->steps[k]) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        search->steps[k][i] = (struct step){choices[i].parent, choices[i].task};
    return make_level(search, before, choices, n, next);
}

/* Makes the state in which no task has run. */
static int make_first(struct search *search) {
    const struct scheduler_problem *problem = search->problem;
    struct level *level = &search->levels[0];
    struct state *state = arena_alloc(level->arena, sizeof *state);
    struct item *items =
        arena_array(level->arena, (size_t)problem->n_tasks + problem->n_tensors, sizeof *items);
    if (!state || !items) return CM_NO_MEMORY;
    *state = (struct state){.peak = search->lower_bound, .items = items};
    for (uint32_t task = 0; task < problem->n_tasks; task++)
        if (search->n_before[task] == 0) items[state->n++] = (struct item){task, 0};
    state->n_ready = state->n;
    for (uint32_t i = 0; i < problem->n_tensors; i++) {
        const struct scheduler_tensor *tensor = &problem->tensors[i];
        if (!is_input(search, tensor)) continue;
        state->live += tensor->bytes;
        items[state->n++] = (struct item){problem->n_tasks + i, tensor->n_members};
    }
    level->states = state;
    level->n = 1;
    return CM_OK;
}

/* Searches level by level; *ret_found is false if no order was found. */
static int search_levels(struct search *search, uint32_t *ret_order, bool *ret_found) {
    const uint32_t n_tasks = search->problem->n_tasks;
    search->steps = arena_array(search->arena, n_tasks, sizeof *search->steps);
    for (int i = 0; i < 2; i++) search->levels[i].mark = arena_save(search->levels[i].arena);
    if (!search->steps || make_first(search) < 0) return CM_NO_MEMORY;
    for (uint32_t k = 0; k < n_tasks; k++) {
        if (search->work >= search->budget) {
            search->complete = false;
            return CM_OK;
        }
        if (advance(search, k) < 0) return CM_NO_MEMORY;
        if (search->levels[(k + 1) % 2].n == 0) return CM_OK;
    }
    for (uint32_t k = n_tasks, at = 0; k-- > 0;) {
        ret_order[search->backward ? n_tasks - 1 - k : k] = search->steps[k][at].task;
        at = search->steps[k][at].parent;
    }
    *ret_found = true;
    return CM_OK;
}

/* Searches in one direction for an order with a peak below `limit`, with at most `budget`
 * steps, which are added to *work. *ret_found is false if there is none or none was found.
 * *ret_complete: no choice was dropped to save work, so the result is optimal. */
static int search_order(struct arena *arena, const struct scheduler_problem *problem,
                        bool backward, int64_t limit, int64_t budget, int64_t *work,
                        uint32_t *ret_order, bool *ret_found, bool *ret_complete) {
    struct search search = {.arena = arena,
                            .problem = problem,
                            .backward = backward,
                            .limit = limit,
                            .budget = budget,
                            .complete = true};
    int status = list_neighbours(&search);
    *ret_found = false;
    if (status == CM_OK && search.lower_bound < limit) {
        struct level *levels = search.levels;
        for (int i = 0; i < 2; i++) levels[i].arena = arena_new("level", 0);
        status = levels[0].arena && levels[1].arena
                     ? search_levels(&search, ret_order, ret_found)
                     : CM_NO_MEMORY;
        for (int i = 0; i < 2; i++) arena_free(levels[i].arena);
    }
    *ret_complete = search.complete;
    *work += search.work;
    return status;
}

int scheduler_peak(struct arena *arena, const struct scheduler_problem *problem,
                   const uint32_t *order, int64_t *ret_peak, uint32_t *ret_place) {
    struct arena_mark mark = arena_save(arena);
    const uint32_t n = problem->n_tasks;
    uint32_t *places = arena_array(arena, n, sizeof *places);
    int64_t *change = arena_array(arena, (size_t)n + 1, sizeof *change);
    int64_t live = 0;
    if (!places || !change) return CM_NO_MEMORY;
    uint32_t highest = 0;
    *ret_peak = 0;
    for (uint32_t i = 0; i < n; i++) places[order[i]] = i;
    for (uint32_t id = 0; n > 0 && id < problem->n_tensors; id++) {
        const struct scheduler_tensor *tensor = &problem->tensors[id];
        uint32_t first = tensor->from_start ? 0 : n - 1;
        uint32_t last = tensor->to_end ? n - 1 : 0;
        for (uint32_t i = 0; i < tensor->n_members; i++) {
            const uint32_t place = places[problem->members[tensor->members + i]];
            if (place < first) first = place;
            if (place > last) last = place;
        }
        change[first] += tensor->bytes;
        change[last + 1] -= tensor->bytes;
    }
    for (uint32_t i = 0; i < n; i++) {
        live += change[i];
        if (live + problem->extra_bytes[order[i]] <= *ret_peak) continue;
        *ret_peak = live + problem->extra_bytes[order[i]];
        highest = i;
    }
    if (ret_place) *ret_place = highest;
    arena_restore(arena, mark);
    return CM_OK;
}

/* Makes a problem of its own from the `n` tasks of `order` that begin at `from`. A tensor that
 * is alive throughout them may have no members. */
static int cut_out(struct arena *arena, const struct scheduler_problem *problem,
                   const uint32_t *order, uint32_t from, uint32_t n,
                   struct scheduler_problem *ret) {
    const uint32_t to = from + n;
    uint32_t *places = arena_array(arena, problem->n_tasks, sizeof *places);
    int64_t *extra_bytes = arena_array(arena, n, sizeof *extra_bytes);
    struct scheduler_edge *edges = arena_array(arena, problem->n_edges, sizeof *edges);
    struct scheduler_tensor *tensors = arena_array(arena, problem->n_tensors, sizeof *tensors);
    uint32_t *members = arena_array(arena, problem->n_members, sizeof *members);
    if (!places || !extra_bytes || !edges || !tensors || !members) return CM_NO_MEMORY;
    *ret = (struct scheduler_problem){.n_tasks = n,
                                      .extra_bytes = extra_bytes,
                                      .edges = edges,
                                      .tensors = tensors,
                                      .members = members};
    for (uint32_t i = 0; i < problem->n_tasks; i++) places[order[i]] = i;
    for (uint32_t i = 0; i < n; i++) extra_bytes[i] = problem->extra_bytes[order[from + i]];
    for (size_t i = 0; i < problem->n_edges; i++) {
        const uint32_t before = places[problem->edges[i].before];
        const uint32_t after = places[problem->edges[i].after];
        if (before >= from && after < to)
            edges[ret->n_edges++] = (struct scheduler_edge){before - from, after - from};
    }
    for (uint32_t id = 0; id < problem->n_tensors; id++) {
        struct scheduler_tensor tensor = problem->tensors[id];
        const uint32_t *users = &problem->members[tensor.members];
        const uint32_t n_users = tensor.n_members;
        tensor.members = (uint32_t)ret->n_members;
        for (uint32_t i = 0; i < n_users; i++) {
            const uint32_t place = places[users[i]];
            if (place < from)
                tensor.from_start = true;
            else if (place >= to)
                tensor.to_end = true;
            else
                members[ret->n_members++] = place - from;
        }
        tensor.n_members = (uint32_t)ret->n_members - tensor.members;
        if (tensor.n_members > 0 || (tensor.from_start && tensor.to_end))
            tensors[ret->n_tensors++] = tensor;
    }
    return CM_OK;
}

/* Searches for a better order of the `width` tasks around a place of the order. */
static int improve_window(struct arena *arena, const struct scheduler_problem *problem,
                          uint32_t place, uint32_t width, struct scheduler_result *result,
                          int64_t *work, bool *ret_found) {
    const uint32_t from = place > width / 2 ? place - width / 2 : 0;
    const uint32_t n = problem->n_tasks - from < width ? problem->n_tasks - from : width;
    uint32_t *order = result->order + from;
    struct scheduler_problem window;
    uint32_t *found = arena_array(arena, n, sizeof *found);
    uint32_t *tasks = arena_copy(arena, order, n * sizeof *tasks);
    bool complete = false;
    if (!found || !tasks || cut_out(arena, problem, result->order, from, n, &window) < 0)
        return CM_NO_MEMORY;
    *work += (int64_t)problem->n_edges + problem->n_tensors + problem->n_tasks;
    for (int backward = 0; backward < 2 && !*ret_found && !complete; backward++)
        if (search_order(arena, &window, backward == 1, result->peak, WINDOW_BUDGET, work,
                         found, ret_found, &complete) < 0)
            return CM_NO_MEMORY;
    for (uint32_t i = 0; *ret_found && i < n; i++) order[i] = tasks[found[i]];
    return CM_OK;
}

/* Improves result->order around its peak, in windows of growing width, until no window
 * helps, *work reaches `limit`, or after MAX_WINDOWS improvements. */
static int improve_windows(struct arena *arena, const struct scheduler_problem *problem,
                           int64_t limit, int64_t *work, struct scheduler_result *result) {
    uint32_t place = 0;
    for (int round = 0; round < MAX_WINDOWS; round++) {
        bool found = false;
        if (scheduler_peak(arena, problem, result->order, &result->peak, &place) < 0)
            return CM_NO_MEMORY;
        for (size_t i = 0; i < sizeof window_widths / sizeof *window_widths && !found; i++) {
            if (*work >= limit) return CM_OK;
            struct arena_mark mark = arena_save(arena);
            if (improve_window(arena, problem, place, window_widths[i], result, work, &found) <
                0)
                return CM_NO_MEMORY;
            arena_restore(arena, mark);
        }
        if (!found) return CM_OK;
    }
    return scheduler_peak(arena, problem, result->order, &result->peak, NULL);
}

/* Searches the whole problem in one direction. */
static int improve_whole(struct arena *arena, const struct scheduler_problem *problem,
                         bool backward, struct work *work, struct scheduler_result *result) {
    int64_t steps = 0;
    bool found = false;
    uint32_t *order = arena_array(arena, problem->n_tasks, sizeof *order);
    if (!order || search_order(arena, problem, backward, result->peak,
                               work_share(work, WORK_SCHEDULES, BUDGET), &steps, order, &found,
                               &result->optimal) < 0)
        return CM_NO_MEMORY;
    if (steps > 0 || !result->optimal) work_search(work, WORK_SCHEDULES, steps, BUDGET);
    if (!found) return CM_OK;
    memcpy(result->order, order, problem->n_tasks * sizeof *order);
    return scheduler_peak(arena, problem, order, &result->peak, NULL);
}

int scheduler_find(struct arena *arena, const struct scheduler_problem *problem,
                   struct work *work, struct scheduler_result *ret) {
    const uint32_t n = problem->n_tasks;
    int64_t steps = 0;
    *ret = (struct scheduler_result){.order = arena_array(arena, n, sizeof *ret->order)};
    if (!ret->order) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) ret->order[i] = i;
    if (scheduler_peak(arena, problem, ret->order, &ret->given_peak, NULL) < 0)
        return CM_NO_MEMORY;
    ret->peak = ret->given_peak;
    for (int backward = 0; backward < 2 && !ret->optimal; backward++) {
        struct arena_mark mark = arena_save(arena);
        if (improve_whole(arena, problem, backward == 1, work, ret) < 0) return CM_NO_MEMORY;
        arena_restore(arena, mark);
    }
    if (ret->optimal) return CM_OK;
    const int status = improve_windows(
        arena, problem, work_share(work, WORK_SCHEDULES, ALL_WINDOWS), &steps, ret);
    work_search(work, WORK_SCHEDULES, steps, ALL_WINDOWS);
    return status;
}
