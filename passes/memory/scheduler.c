/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beam search, level by level, over the sets of tasks that can have run: level k holds sets of
 * k tasks, each with the order that leads to it with the lowest peak. A set is stored as its
 * border: the ready tasks, and the tensors and successors that are partly done. So the size of
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
 * the part of Liu's (1987) rule for trees that holds for any graph.
 */
#include "passes/memory/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "passes/work.h"
#include "support/arena.h"

#define MAX_WIDTH     2048               /* states of one level */
#define BUDGET        ((int64_t)1 << 24) /* entries visited or copied, about 0.3 s */
#define WINDOW_BUDGET ((int64_t)1 << 20) /* of the search in one window */
#define MAX_WINDOWS   48
#define ALL_WINDOWS   ((int64_t)1 << 27) /* of the searches in all windows */

static const uint32_t window_widths[] = {24, 96, 384};

/* A problem in one direction. Backward, edges are reversed, and inputs and outputs swapped. */
struct view {
    struct arena *arena;
    const struct scheduler_problem *problem;
    bool backward;
    uint32_t *n_before;   /* by task: edges that lead to it */
    uint32_t *after;      /* by task: index of its first successor; one more at the end */
    uint32_t *successors; /* tasks, grouped by predecessor */
    uint32_t *holds;     /* by task: index of its first tensor in `held`; one more at the end */
    uint32_t *held;      /* tensors, grouped by task */
    int64_t lower_bound; /* lower bound on the peak of every order */
    int64_t budget;
    int64_t work; /* of all searches so far */
};

/* A partly done item: a task, some of whose predecessors have run, or a live tensor. */
struct open {
    uint32_t id;   /* a task, or n_tasks + a tensor */
    uint32_t left; /* predecessors of the task, or members of the tensor, that have not run */
};

struct state {
    int64_t live; /* bytes alive after the tasks of the set */
    int64_t peak; /* so far; at least view.lower_bound */
    uint32_t n_ready, n_open;
    uint32_t *ready;   /* ascending */
    struct open *open; /* ascending by id */
    uint64_t hash;     /* of the set */
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

struct beam {
    const struct view *view;
    int64_t limit;          /* orders with this peak or more are dropped */
    struct level levels[2]; /* previous and next, alternating */
    struct step **steps;    /* by level */
    int64_t work;           /* entries visited so far */
    bool complete;          /* no choice was dropped to save work */
};

/* Lists the successors and the tensors of each task, and computes view->lower_bound: the
 * largest of the bytes that a single task needs, of all inputs and of all outputs. */
static int view_open(struct view *view, struct arena *arena,
                     const struct scheduler_problem *problem, bool backward) {
    const uint32_t n = problem->n_tasks;
    *view = (struct view){
        .arena = arena, .problem = problem, .backward = backward, .budget = BUDGET};
    uint32_t *fill = arena_array(arena, 2 * (size_t)n, sizeof *fill);
    view->n_before = arena_array(arena, n, sizeof *view->n_before);
    view->after = arena_array(arena, (size_t)n + 1, sizeof *view->after);
    view->successors = arena_array(arena, problem->n_edges, sizeof *view->successors);
    view->holds = arena_array(arena, (size_t)n + 1, sizeof *view->holds);
    view->held = arena_array(arena, problem->n_members, sizeof *view->held);
    if (!fill || !view->n_before || !view->after || !view->successors || !view->holds ||
        !view->held)
        return CM_NO_MEMORY;
    for (size_t i = 0; i < problem->n_edges; i++)
        view->after[(backward ? problem->edges[i].after : problem->edges[i].before) + 1]++;
    for (size_t i = 0; i < problem->n_members; i++) view->holds[problem->members[i] + 1]++;
    for (uint32_t task = 0; task < n; task++) {
        view->after[task + 1] += view->after[task];
        view->holds[task + 1] += view->holds[task];
    }
    for (size_t i = 0; i < problem->n_edges; i++) {
        const struct scheduler_edge *edge = &problem->edges[i];
        const uint32_t task = backward ? edge->after : edge->before;
        const uint32_t follower = backward ? edge->before : edge->after;
        view->successors[view->after[task] + fill[task]++] = follower;
        view->n_before[follower]++;
    }
    int64_t inputs = 0, results = 0;
    for (uint32_t id = 0; id < problem->n_tensors; id++) {
        const struct scheduler_tensor *tensor = &problem->tensors[id];
        for (uint32_t i = 0; i < tensor->n_members; i++) {
            const uint32_t task = problem->members[tensor->members + i];
            view->held[view->holds[task] + fill[n + task]++] = id;
        }
        if (tensor->from_start) inputs += tensor->bytes;
        if (tensor->to_end) results += tensor->bytes;
    }
    view->lower_bound = inputs > results ? inputs : results;
    for (uint32_t task = 0; task < n; task++) {
        int64_t bytes = problem->extra_bytes[task];
        for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++)
            bytes += problem->tensors[view->held[i]].bytes;
        if (bytes > view->lower_bound) view->lower_bound = bytes;
    }
    return CM_OK;
}

static uint64_t hash_of(uint32_t task) {
    uint64_t x = (task + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns the index of `id` in the open list, or the index at which to insert it. */
static uint32_t find_open(const struct state *state, uint32_t id, bool *ret_found) {
    uint32_t low = 0;
    uint32_t high = state->n_open;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state->open[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < state->n_open && state->open[low].id == id;
    return low;
}

/* Computes the live bytes and the peak if a ready task of the state runs next. */
static struct choice evaluate(struct beam *beam, const struct state *state, uint32_t task) {
    const struct view *view = beam->view;
    int64_t started = 0;
    int64_t ended = 0;
    for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++) {
        const struct scheduler_tensor *tensor = &view->problem->tensors[view->held[i]];
        const bool at_last = view->backward ? tensor->from_start : tensor->to_end;
        bool open = false;
        const uint32_t at = find_open(state, view->problem->n_tasks + view->held[i], &open);
        const uint32_t left = open ? state->open[at].left : tensor->n_members;
        if (!open) started += tensor->bytes;
        if (left == 1 && !at_last) ended += tensor->bytes;
    }
    beam->work += 1 + view->holds[task + 1] - view->holds[task];
    int64_t peak = state->live + started + view->problem->extra_bytes[task];
    return (struct choice){
        .peak = peak > state->peak ? peak : state->peak,
        .live = state->live + started - ended,
        .hash = state->hash ^ hash_of(task),
        .task = task,
    };
}

/* Lists the tasks that may run next, or only one that costs nothing if it runs at once. Returns
 * their number. */
static uint32_t list_choices(struct beam *beam, const struct state *state, uint32_t parent,
                             struct choice *ret) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < state->n_ready; i++) {
        struct choice choice = evaluate(beam, state, state->ready[i]);
        choice.parent = parent;
        if (choice.live <= state->live && choice.peak == state->peak) {
            ret[0] = choice;
            return 1;
        }
        if (choice.peak < beam->limit) ret[n++] = choice;
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
    qsort(choices, n, sizeof *choices, compare_sets);
    for (uint32_t i = 0; i < n; i++)
        if (n_unique == 0 || choices[i].hash != choices[n_unique - 1].hash)
            choices[n_unique++] = choices[i];
    qsort(choices, n_unique, sizeof *choices, compare_choices);
    return n_unique;
}

/* Decrements what is left of an item; an item that is not open has `total` left. Returns true
 * if nothing is left. */
static bool decrement(struct state *state, uint32_t id, uint32_t total) {
    bool open = false;
    const uint32_t at = find_open(state, id, &open);
    const size_t behind = (state->n_open - at) * sizeof *state->open;
    if (!open && total == 1) return true;
    if (!open) {
        memmove(&state->open[at + 1], &state->open[at], behind);
        state->open[at] = (struct open){id, total - 1};
        state->n_open++;
        return false;
    }
    if (--state->open[at].left > 0) return false;
    memmove(&state->open[at], &state->open[at + 1], behind - sizeof *state->open);
    state->n_open--;
    return true;
}

static void run_task(const struct view *view, struct state *state, uint32_t task) {
    const struct scheduler_problem *problem = view->problem;
    uint32_t at = 0;
    while (state->ready[at] != task) at++;
    memmove(&state->ready[at], &state->ready[at + 1],
            (--state->n_ready - at) * sizeof *state->ready);
    for (uint32_t i = view->after[task]; i < view->after[task + 1]; i++) {
        const uint32_t follower = view->successors[i];
        if (!decrement(state, follower, view->n_before[follower])) continue;
        for (at = state->n_ready++; at > 0 && state->ready[at - 1] > follower; at--)
            state->ready[at] = state->ready[at - 1];
        state->ready[at] = follower;
    }
    for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++)
        (void)decrement(state, problem->n_tasks + view->held[i],
                        problem->tensors[view->held[i]].n_members);
}

/* Returns an upper bound on the entries that running the task adds to each list of a state. */
static size_t growth(const struct view *view, uint32_t task) {
    return (size_t)(view->after[task + 1] - view->after[task]) +
           (view->holds[task + 1] - view->holds[task]);
}

/* Makes a state from each choice. */
static int make_level(struct beam *beam, const struct level *before,
                      const struct choice *choices, uint32_t n, struct level *ret) {
    size_t n_ready = 0;
    size_t n_open = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct state *parent = &before->states[choices[i].parent];
        n_ready += parent->n_ready + growth(beam->view, choices[i].task);
        n_open += parent->n_open + growth(beam->view, choices[i].task);
    }
    ret->states = arena_array(ret->arena, n, sizeof *ret->states);
    uint32_t *ready = arena_array(ret->arena, n_ready, sizeof *ready);
    struct open *open = arena_array(ret->arena, n_open, sizeof *open);
    if (!ret->states || !ready || !open) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const struct state *parent = &before->states[choices[i].parent];
        struct state *state = &ret->states[i];
        *state = *parent;
        state->peak = choices[i].peak;
        state->live = choices[i].live;
        state->hash = choices[i].hash;
        state->ready = ready;
        state->open = open;
        memcpy(ready, parent->ready, parent->n_ready * sizeof *ready);
        memcpy(open, parent->open, parent->n_open * sizeof *open);
        run_task(beam->view, state, choices[i].task);
        ready += parent->n_ready + growth(beam->view, choices[i].task);
        open += parent->n_open + growth(beam->view, choices[i].task);
    }
    ret->n = n;
    beam->work += (int64_t)(n_ready + n_open);
    return CM_OK;
}

/* Makes level k + 1: extends each state of level k by one task and keeps the best results. */
static int advance(struct beam *beam, uint32_t k) {
    struct level *before = &beam->levels[k % 2];
    struct level *next = &beam->levels[(k + 1) % 2];
    const int64_t begun = beam->work;
    size_t n_choices = 0;
    uint32_t n = 0;
    arena_restore(next->arena, next->mark);
    for (uint32_t i = 0; i < before->n; i++) n_choices += before->states[i].n_ready;
    struct choice *choices = arena_array(next->arena, n_choices, sizeof *choices);
    if (!choices) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < before->n; i++)
        n += list_choices(beam, &before->states[i], i, &choices[n]);
    n = sort_choices(choices, n);
    /* The budget suffices for this many states on each remaining level, at the cost so far. */
    const int64_t each = (beam->work - begun) / before->n + 1;
    const uint32_t n_left = beam->view->problem->n_tasks - k;
    int64_t width = (beam->view->budget - beam->work) / n_left / each;
    if (width > MAX_WIDTH) width = MAX_WIDTH;
    if (width < 1) width = 1;
    if (n > width) {
        beam->complete = false;
        n = (uint32_t)width;
    }
    beam->steps[k] = arena_array(beam->view->arena, n, sizeof **beam->steps);
    if (!beam->steps[k]) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        beam->steps[k][i] = (struct step){choices[i].parent, choices[i].task};
    return make_level(beam, before, choices, n, next);
}

/* Makes the state in which no task has run. */
static int make_first(const struct beam *beam, struct level *level) {
    const struct view *view = beam->view;
    const struct scheduler_problem *problem = view->problem;
    struct state *state = arena_array(level->arena, 1, sizeof *state);
    uint32_t *ready = arena_array(level->arena, problem->n_tasks, sizeof *ready);
    struct open *open = arena_array(level->arena, problem->n_tensors, sizeof *open);
    if (!state || !ready || !open) return CM_NO_MEMORY;
    *state = (struct state){.peak = view->lower_bound, .ready = ready, .open = open};
    for (uint32_t task = 0; task < problem->n_tasks; task++)
        if (view->n_before[task] == 0) ready[state->n_ready++] = task;
    for (uint32_t i = 0; i < problem->n_tensors; i++) {
        const struct scheduler_tensor *tensor = &problem->tensors[i];
        if (!(view->backward ? tensor->to_end : tensor->from_start)) continue;
        state->live += tensor->bytes;
        open[state->n_open++] = (struct open){problem->n_tasks + i, tensor->n_members};
    }
    level->states = state;
    level->n = 1;
    return CM_OK;
}

static int search(struct beam *beam, uint32_t *ret_order, bool *ret_found) {
    const uint32_t n_tasks = beam->view->problem->n_tasks;
    beam->steps = arena_array(beam->view->arena, n_tasks, sizeof *beam->steps);
    if (!beam->steps || make_first(beam, &beam->levels[0]) < 0) return CM_NO_MEMORY;
    for (uint32_t k = 0; k < n_tasks; k++) {
        if (beam->work >= beam->view->budget) {
            beam->complete = false;
            return CM_OK;
        }
        if (advance(beam, k) < 0) return CM_NO_MEMORY;
        if (beam->levels[(k + 1) % 2].n == 0) return CM_OK;
    }
    for (uint32_t k = n_tasks, at = 0; k-- > 0;) {
        ret_order[beam->view->backward ? n_tasks - 1 - k : k] = beam->steps[k][at].task;
        at = beam->steps[k][at].parent;
    }
    *ret_found = true;
    return CM_OK;
}

/*
 * Searches for an order with a peak below `limit`. *ret_found is false if there is none or none
 * was found. *ret_complete: no choice was dropped to save work, so the result is optimal.
 */
static int beam_search(struct view *view, int64_t limit, uint32_t *ret_order, bool *ret_found,
                       bool *ret_complete) {
    struct beam beam = {.view = view, .limit = limit, .complete = true};
    struct level *levels = beam.levels;
    int status = CM_NO_MEMORY;
    *ret_found = false;
    levels[0].arena = arena_new("level", 0);
    levels[1].arena = arena_new("level", 0);
    if (levels[0].arena && levels[1].arena) {
        levels[0].mark = arena_save(levels[0].arena);
        levels[1].mark = arena_save(levels[1].arena);
        status = search(&beam, ret_order, ret_found);
    }
    arena_free(levels[0].arena);
    arena_free(levels[1].arena);
    *ret_complete = beam.complete;
    view->work += beam.work;
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

/* The tasks order[from] to order[to - 1] of `original` as a problem of their own. */
struct window {
    const struct scheduler_problem *original;
    const uint32_t *places; /* by task of `original`: index in the order */
    uint32_t from;
    uint32_t to;
    struct scheduler_problem problem;
};

/* Sets window->problem. A tensor that is alive throughout the window may have no members. */
static int cut_out(struct window *window, struct arena *arena, const uint32_t *order) {
    const struct scheduler_problem *problem = window->original;
    const uint32_t from = window->from;
    const uint32_t n = window->to - from;
    struct scheduler_problem *cut = &window->problem;
    int64_t *extra_bytes = arena_array(arena, n, sizeof *extra_bytes);
    struct scheduler_edge *edges = arena_array(arena, problem->n_edges, sizeof *edges);
    struct scheduler_tensor *tensors = arena_array(arena, problem->n_tensors, sizeof *tensors);
    uint32_t *members = arena_array(arena, problem->n_members, sizeof *members);
    if (!extra_bytes || !edges || !tensors || !members) return CM_NO_MEMORY;
    *cut = (struct scheduler_problem){.n_tasks = n,
                                      .extra_bytes = extra_bytes,
                                      .edges = edges,
                                      .tensors = tensors,
                                      .members = members};
    for (uint32_t i = 0; i < n; i++) extra_bytes[i] = problem->extra_bytes[order[from + i]];
    for (size_t i = 0; i < problem->n_edges; i++) {
        const uint32_t before = window->places[problem->edges[i].before];
        const uint32_t after = window->places[problem->edges[i].after];
        if (before >= from && after < window->to && before < window->to && after >= from)
            edges[cut->n_edges++] = (struct scheduler_edge){before - from, after - from};
    }
    for (uint32_t id = 0; id < problem->n_tensors; id++) {
        struct scheduler_tensor tensor = problem->tensors[id];
        const uint32_t *users = &problem->members[tensor.members];
        const uint32_t n_users = tensor.n_members;
        tensor.members = (uint32_t)cut->n_members;
        for (uint32_t i = 0; i < n_users; i++) {
            const uint32_t place = window->places[users[i]];
            if (place < from)
                tensor.from_start = true;
            else if (place >= window->to)
                tensor.to_end = true;
            else
                members[cut->n_members++] = place - from;
        }
        tensor.n_members = (uint32_t)cut->n_members - tensor.members;
        if (tensor.n_members > 0 || (tensor.from_start && tensor.to_end))
            tensors[cut->n_tensors++] = tensor;
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
    uint32_t *places = arena_array(arena, problem->n_tasks, sizeof *places);
    uint32_t *found = arena_array(arena, n, sizeof *found);
    uint32_t *tasks = arena_copy(arena, order, n * sizeof *tasks);
    bool complete = false;
    if (!places || !found || !tasks) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < problem->n_tasks; i++) places[result->order[i]] = i;
    struct window window = {
        .original = problem, .places = places, .from = from, .to = from + n};
    if (cut_out(&window, arena, result->order) < 0) return CM_NO_MEMORY;
    *work += (int64_t)problem->n_edges + problem->n_tensors + problem->n_tasks;
    for (int backward = 0; backward < 2 && !*ret_found && !complete; backward++) {
        struct view view;
        if (view_open(&view, arena, &window.problem, backward == 1) < 0) return CM_NO_MEMORY;
        view.budget = WINDOW_BUDGET;
        if (view.lower_bound >= result->peak) return CM_OK;
        if (beam_search(&view, result->peak, found, ret_found, &complete) < 0)
            return CM_NO_MEMORY;
        *work += view.work;
        for (uint32_t i = 0; *ret_found && i < n; i++) order[i] = tasks[found[i]];
    }
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
    struct view view;
    bool found = false;
    uint32_t *order = arena_array(arena, problem->n_tasks, sizeof *order);
    if (!order || view_open(&view, arena, problem, backward) < 0) return CM_NO_MEMORY;
    view.budget = work_share(work, WORK_SCHEDULES, BUDGET);
    if (result->peak <= view.lower_bound) result->optimal = true;
    if (result->optimal) return CM_OK;
    if (beam_search(&view, result->peak, order, &found, &result->optimal) < 0)
        return CM_NO_MEMORY;
    work_search(work, WORK_SCHEDULES, view.work, BUDGET);
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
    for (int backward = 0; backward < 2; backward++) {
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
