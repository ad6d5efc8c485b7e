/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level by level over the sets of tasks that can have run: level k holds sets of k tasks, each
 * with the order that led to it at the lowest peak, which is all that matters of the past. A
 * set is kept as its border: the tasks that are ready, and how much is left of what has begun.
 * So a state is as large as the graph is wide there, not as it is long.
 *
 * A task that leaves no more alive than it found, and does not raise the peak so far, is run at
 * once: whatever an order does first, having run it earlier never costs more. That is why
 * chains need one state a level. Where more sets remain than the budget of work allows, those
 * with the lowest peak and the least alive are kept: a beam.
 *
 * Ahn et al., "Ordering Chaos" (MLSys 2020), go over the same sets; the rule for what is run at
 * once is Liu's (1987) for trees, of which it is the part that holds for any graph.
 */
#include "passes/memory/scheduler_beam.h"

#include <stdlib.h>
#include <string.h>

#include "support/arena.h"

#include "support/banned.h"

#define MAX_WIDTH 2048 /* states of one level */

/* What is left of something that has begun: edges to a task, or members of a tensor. */
struct open {
    uint32_t id; /* a task, or n_tasks + a tensor */
    uint32_t left;
};

struct state {
    int64_t live; /* between two tasks */
    int64_t peak; /* so far; never below what every order needs */
    uint32_t n_ready, n_open;
    uint32_t *ready;   /* ascending */
    struct open *open; /* ascending by id */
    uint64_t hash;     /* of the set */
};

/* A state with one more task. */
struct choice {
    int64_t peak;
    int64_t live;
    uint64_t hash;
    uint32_t parent; /* index in its level */
    uint32_t task;
};

/* How a state came about. */
struct step {
    uint32_t parent;
    uint32_t task;
};

struct level {
    struct arena *arena; /* of what lives as long as the level */
    struct arena_mark mark;
    struct state *states;
    uint32_t n;
};

struct beam {
    const struct scheduler_view *view;
    int64_t limit;
    struct level levels[2]; /* the one before and the one in the making, in turns */
    struct step **steps;    /* by level */
    int64_t work;           /* entries looked at so far */
    bool complete;
};

static uint64_t hash_of(uint32_t task) {
    uint64_t x = (task + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool at_first(const struct scheduler_view *view, const struct scheduler_tensor *tensor) {
    return view->backwards ? tensor->to_end : tensor->from_start;
}

static bool at_last(const struct scheduler_view *view, const struct scheduler_tensor *tensor) {
    return view->backwards ? tensor->from_start : tensor->to_end;
}

/* Where `id` stands, or would stand, in the open list. */
static uint32_t find_open(const struct state *state, uint32_t id) {
    uint32_t low = 0;
    uint32_t high = state->n_open;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state->open[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_open(const struct state *state, uint32_t at, uint32_t id) {
    return at < state->n_open && state->open[at].id == id;
}

/* What running a task now would make of the state's bytes. */
static struct choice weigh(struct beam *beam, const struct state *state, uint32_t task) {
    const struct scheduler_view *view = beam->view;
    int64_t started = 0;
    int64_t ended = 0;
    for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++) {
        const struct scheduler_tensor *tensor = &view->problem->tensors[view->held[i]];
        uint32_t id = view->problem->n_tasks + view->held[i];
        uint32_t at = find_open(state, id);
        bool open = is_open(state, at, id);
        uint32_t left = open ? state->open[at].left : tensor->n_members;
        if (!open) started += tensor->bytes;
        if (left == 1 && !at_last(view, tensor)) ended += tensor->bytes;
    }
    beam->work += 1 + view->holds[task + 1] - view->holds[task];
    int64_t peak = state->live + started + view->problem->work[task];
    return (struct choice){
        .peak = peak > state->peak ? peak : state->peak,
        .live = state->live + started - ended,
        .hash = state->hash ^ hash_of(task),
        .task = task,
    };
}

/* All that may come next: one alone where it costs nothing to run it at once. */
static uint32_t choose(struct beam *beam, const struct state *state, uint32_t parent,
                       struct choice *ret) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < state->n_ready; i++) {
        struct choice choice = weigh(beam, state, state->ready[i]);
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

/* One for each set, the best first. */
static uint32_t sort_choices(struct choice *choices, uint32_t n) {
    uint32_t kept = 0;
    if (n < 2) return n;
    qsort(choices, n, sizeof *choices, compare_sets);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || choices[i].hash != choices[kept - 1].hash)
            choices[kept++] = choices[i];
    qsort(choices, kept, sizeof *choices, compare_choices);
    return kept;
}

static void add_ready(struct state *state, uint32_t task) {
    uint32_t at = state->n_ready++;
    for (; at > 0 && state->ready[at - 1] > task; at--) state->ready[at] = state->ready[at - 1];
    state->ready[at] = task;
}

static void remove_ready(struct state *state, uint32_t task) {
    uint32_t at = 0;
    while (state->ready[at] != task) at++;
    memmove(&state->ready[at], &state->ready[at + 1],
            (--state->n_ready - at) * sizeof *state->ready);
}

/* One less of `total`, of which nothing is noted before the first. True: none is left. */
static bool count_down(struct state *state, uint32_t id, uint32_t total) {
    uint32_t at = find_open(state, id);
    bool open = is_open(state, at, id);
    size_t behind = (state->n_open - at) * sizeof *state->open;
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

static void run_task(const struct scheduler_view *view, struct state *state, uint32_t task) {
    const struct scheduler_problem *problem = view->problem;
    remove_ready(state, task);
    for (uint32_t i = view->after[task]; i < view->after[task + 1]; i++)
        if (count_down(state, view->followers[i], view->n_before[view->followers[i]]))
            add_ready(state, view->followers[i]);
    for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++)
        (void)count_down(state, problem->n_tasks + view->held[i],
                         problem->tensors[view->held[i]].n_members);
}

/* The state that a choice leads to, in lists that have room. */
static void make_state(const struct scheduler_view *view, const struct state *parent,
                       const struct choice *choice, uint32_t *ready, struct open *open,
                       struct state *ret) {
    *ret = *parent;
    ret->peak = choice->peak;
    ret->live = choice->live;
    ret->hash = choice->hash;
    ret->ready = ready;
    ret->open = open;
    memcpy(ready, parent->ready, parent->n_ready * sizeof *ready);
    memcpy(open, parent->open, parent->n_open * sizeof *open);
    run_task(view, ret, choice->task);
}

/* How much longer a task can make a list of its state. */
static size_t growth(const struct scheduler_view *view, uint32_t task) {
    return (size_t)(view->after[task + 1] - view->after[task]) +
           (view->holds[task + 1] - view->holds[task]);
}

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
        make_state(beam->view, parent, &choices[i], ready, open, &ret->states[i]);
        ready += parent->n_ready + growth(beam->view, choices[i].task);
        open += parent->n_open + growth(beam->view, choices[i].task);
    }
    ret->n = n;
    beam->work += (int64_t)(n_ready + n_open);
    return CM_OK;
}

/* How many states the next level may have, if all that are left are to have as many. */
static uint32_t next_width(const struct beam *beam, int64_t spent, uint32_t n_states,
                           uint32_t n_left) {
    int64_t each = spent / n_states + 1;
    int64_t width = (beam->view->budget - beam->work) / n_left / each;
    if (width > MAX_WIDTH) return MAX_WIDTH;
    return width < 1 ? 1 : (uint32_t)width;
}

static int advance(struct beam *beam, uint32_t k) {
    struct level *before = &beam->levels[k % 2];
    struct level *next = &beam->levels[(k + 1) % 2];
    int64_t begun = beam->work;
    size_t most = 0;
    uint32_t n = 0;
    arena_restore(next->arena, next->mark);
    for (uint32_t i = 0; i < before->n; i++) most += before->states[i].n_ready;
    struct choice *choices = arena_array(next->arena, most, sizeof *choices);
    if (!choices) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < before->n; i++)
        n += choose(beam, &before->states[i], i, &choices[n]);
    n = sort_choices(choices, n);
    uint32_t width =
        next_width(beam, beam->work - begun, before->n, beam->view->problem->n_tasks - k);
    if (n > width) beam->complete = false;
    if (n > width) n = width;
    beam->steps[k] = arena_array(beam->view->arena, n, sizeof **beam->steps);
    if (!beam->steps[k]) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        beam->steps[k][i] = (struct step){choices[i].parent, choices[i].task};
    return make_level(beam, before, choices, n, next);
}

/* The state in which nothing has run. */
static int make_first(const struct beam *beam, struct level *level) {
    const struct scheduler_view *view = beam->view;
    const struct scheduler_problem *problem = view->problem;
    struct state *state = arena_array(level->arena, 1, sizeof *state);
    if (!state) return CM_NO_MEMORY;
    state->ready = arena_array(level->arena, problem->n_tasks, sizeof *state->ready);
    state->open = arena_array(level->arena, problem->n_tensors, sizeof *state->open);
    if (!state->ready || !state->open) return CM_NO_MEMORY;
    for (uint32_t task = 0; task < problem->n_tasks; task++)
        if (view->n_before[task] == 0) state->ready[state->n_ready++] = task;
    for (uint32_t i = 0; i < problem->n_tensors; i++) {
        const struct scheduler_tensor *tensor = &problem->tensors[i];
        if (!at_first(view, tensor)) continue;
        state->live += tensor->bytes;
        state->open[state->n_open++] = (struct open){problem->n_tasks + i, tensor->n_members};
    }
    state->peak = view->least;
    level->states = state;
    level->n = 1;
    return CM_OK;
}

static void trace(const struct beam *beam, uint32_t *ret_order) {
    uint32_t at = 0;
    for (uint32_t k = beam->view->problem->n_tasks; k-- > 0;) {
        ret_order[k] = beam->steps[k][at].task;
        at = beam->steps[k][at].parent;
    }
}

static int search(struct beam *beam, uint32_t *ret_order, bool *ret_found) {
    uint32_t n_tasks = beam->view->problem->n_tasks;
    beam->steps = arena_array(beam->view->arena, n_tasks, sizeof *beam->steps);
    if (!beam->steps || make_first(beam, &beam->levels[0]) < 0) return CM_NO_MEMORY;
    for (uint32_t k = 0; k < n_tasks; k++) {
        if (beam->work >= beam->view->budget) beam->complete = false;
        if (beam->work >= beam->view->budget) return CM_OK;
        if (advance(beam, k) < 0) return CM_NO_MEMORY;
        if (beam->levels[(k + 1) % 2].n == 0) return CM_OK;
    }
    trace(beam, ret_order);
    *ret_found = true;
    return CM_OK;
}

int scheduler_beam(const struct scheduler_view *view, int64_t limit, uint32_t *ret_order,
                   bool *ret_found, bool *ret_complete) {
    struct beam beam = {.view = view, .limit = limit, .complete = true};
    int status = CM_OK;
    *ret_found = false;
    for (int i = 0; i < 2; i++) {
        beam.levels[i].arena = arena_new("level", 0);
        if (!beam.levels[i].arena)
            status = CM_NO_MEMORY;
        else
            beam.levels[i].mark = arena_save(beam.levels[i].arena);
    }
    if (status == CM_OK) status = search(&beam, ret_order, ret_found);
    for (int i = 0; i < 2; i++) arena_free(beam.levels[i].arena);
    *ret_complete = beam.complete;
    return status;
}
