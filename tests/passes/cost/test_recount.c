/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of random models, compared with a slow and simple reference: at every step it checks
 * for every value whether a later node reads it or a view of it, or whether it is a graph
 * output. The reference recognises views and elementwise operators by type.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/memory/arena_plan.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/summary/peak_memory.h"
#include "passes/walk/walk.h"
#include "support/checked.h"

#define MAX_VALUES 64
#define N_SHAPES   3

static uint32_t draw(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

/* A model under construction: its lines, and the float values that a node may read. A larger
 * index of a shape means a larger shape; any two shapes broadcast. */
struct sketch {
    uint64_t seed;
    char text[8192];
    size_t length;
    uint32_t n_names; /* names of values and nodes */
    uint32_t n_values;
    struct {
        char name[8];
        uint32_t shape;
    } values[MAX_VALUES];
};

static void emit(struct sketch *sketch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void emit(struct sketch *sketch, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t room = sizeof sketch->text - sketch->length;
    int n = vsnprintf(sketch->text + sketch->length, room, format, args);
    va_end(args);
    assert_in_range(n, 0, room - 1);
    sketch->length += (size_t)n;
}

static const char *new_value(struct sketch *sketch, uint32_t shape) {
    uint32_t at = sketch->n_values++;
    assert_in_range(at, 0, MAX_VALUES - 1);
    (void)snprintf(sketch->values[at].name, sizeof sketch->values[at].name, "v%u",
                   sketch->n_names++);
    sketch->values[at].shape = shape;
    return sketch->values[at].name;
}

static const char *some_value(struct sketch *sketch, uint32_t *ret_shape) {
    uint32_t at = draw(&sketch->seed, sketch->n_values);
    *ret_shape = sketch->values[at].shape;
    return sketch->values[at].name;
}

static const char *value_of_shape(struct sketch *sketch, uint32_t shape) {
    uint32_t at = draw(&sketch->seed, sketch->n_values);
    while (sketch->values[at].shape != shape) at = (at + 1) % sketch->n_values;
    return sketch->values[at].name;
}

/* Begins a node in one of a few nested modules. */
static void emit_node(struct sketch *sketch, const char *op) {
    static const char *const modules[] = {"", "/a", "/a/a.b", "/c"};
    emit(sketch, "node %s/n%u_%s %s", modules[draw(&sketch->seed, 4)], sketch->n_names++, op,
         op);
}

static void add_unary(struct sketch *sketch, const char *op) {
    uint32_t shape = 0;
    const char *from = some_value(sketch, &shape);
    emit_node(sketch, op);
    emit(sketch, " %s", from);
    emit(sketch, " -> %s\n", new_value(sketch, shape));
}

static void add_expand(struct sketch *sketch) {
    uint32_t shape = draw(&sketch->seed, N_SHAPES);
    const char *from = value_of_shape(sketch, 0);
    emit_node(sketch, "Expand");
    emit(sketch, " %s shape%u -> %s\n", from, shape, new_value(sketch, shape));
}

static void add_sum(struct sketch *sketch) {
    uint32_t shape = 0;
    const char *from = some_value(sketch, &shape);
    emit_node(sketch, "ReduceSum");
    emit(sketch, " %s", from);
    emit(sketch, " -> %s\n", new_value(sketch, 0));
}

static void add_binary(struct sketch *sketch) {
    uint32_t left = 0;
    uint32_t right = 0;
    const char *a = some_value(sketch, &left);
    const char *b = some_value(sketch, &right);
    emit_node(sketch, "Mul");
    emit(sketch, " %s %s", a, b);
    emit(sketch, " -> %s\n", new_value(sketch, left > right ? left : right));
}

/* A comparison and a cast back: 64 bools have as many bytes as 16 floats. */
static void add_comparison(struct sketch *sketch) {
    uint32_t left = 0;
    uint32_t right = 0;
    const char *a = some_value(sketch, &left);
    const char *b = some_value(sketch, &right);
    uint32_t bools = sketch->n_names++;
    emit_node(sketch, "Equal");
    emit(sketch, " %s %s -> b%u\n", a, b, bools);
    emit_node(sketch, "Cast");
    emit(sketch, " b%u -> %s to=1\n", bools, new_value(sketch, left > right ? left : right));
}

/* A node with two unread outputs. */
static void add_unread(struct sketch *sketch) {
    const char *from = value_of_shape(sketch, 2);
    uint32_t unread = sketch->n_names++;
    emit_node(sketch, "TopK");
    emit(sketch, " %s one -> w%u w%u_indices\n", from, unread, unread);
}

static void add_node(struct sketch *sketch) {
    static const char *const unary[] = {"Exp",     "Relu",    "Identity",
                                        "Flatten", "Dropout", "Transpose"};
    uint32_t kind = draw(&sketch->seed, 12);
    if (kind < 5) add_unary(sketch, unary[draw(&sketch->seed, 5)]);
    if (kind == 5 || kind == 6) add_expand(sketch);
    if (kind == 7) add_sum(sketch);
    if (kind == 8) add_binary(sketch);
    if (kind == 9 || kind == 10) add_comparison(sketch);
    if (kind == 11) add_unread(sketch);
}

/* Adds n nodes to a body and returns the name of their sum. The nodes may read outer values;
 * their outputs are local to the body. */
static const char *add_inner(struct sketch *sketch, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) add_node(sketch);
    add_sum(sketch);
    return sketch->values[sketch->n_values - 1].name;
}

static void add_branch(struct sketch *sketch, const char *name) {
    uint32_t before = sketch->n_values;
    emit(sketch, "body %s\n", name);
    emit(sketch, "out %s\n", add_inner(sketch, draw(&sketch->seed, 4)));
    emit(sketch, "close\n");
    sketch->n_values = before;
}

static void add_if(struct sketch *sketch) {
    add_branch(sketch, "then_branch");
    add_branch(sketch, "else_branch");
    emit_node(sketch, "If");
    emit(sketch, " k -> %s\n", new_value(sketch, 0));
}

/* A Loop with three iterations, or with a data-dependent exit and output. */
static void add_loop(struct sketch *sketch) {
    uint32_t before = sketch->n_values;
    uint32_t id = sketch->n_names++;
    emit(sketch, "body body\nin i%u int64[]\nin c%u bool[]\n", id, id);
    if (draw(&sketch->seed, 2) == 0)
        emit(sketch, "node - Identity c%u -> d%u\n", id, id);
    else
        emit(sketch, "node - Identity yes -> d%u\n", id);
    const char *result = add_inner(sketch, 1 + draw(&sketch->seed, 3));
    emit(sketch, "out d%u\nout %s\nclose\n", id, result);
    sketch->n_values = before;
    emit_node(sketch, "Loop");
    emit(sketch, " trips yes -> l%u\n", id);
}

static void draw_model(struct sketch *sketch) {
    uint32_t n = 4 + draw(&sketch->seed, 12);
    emit(sketch, "in x float[1,1]\nin big float[4,16]\nin unread float[1,16]\nin k bool[]\n"
                 "const shape0 int64[2] =1,1\nconst shape1 int64[2] =1,16\n"
                 "const shape2 int64[2] =4,16\nconst one int64[1] =1\n"
                 "const trips int64[] =3\nconst yes bool[] =1\n");
    (void)snprintf(sketch->values[0].name, sizeof sketch->values[0].name, "x");
    (void)snprintf(sketch->values[1].name, sizeof sketch->values[1].name, "big");
    sketch->values[1].shape = 2;
    sketch->n_values = 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kind = draw(&sketch->seed, 10);
        if (kind == 0) add_if(sketch);
        if (kind == 1) add_loop(sketch);
        if (kind > 1) add_node(sketch);
    }
    for (uint32_t i = 2; i < sketch->n_values; i++)
        if (draw(&sketch->seed, 5) == 0) emit(sketch, "out %s\n", sketch->values[i].name);
    emit(sketch, "out %s\n", add_inner(sketch, 0));
}

/* The reference implementation. */

static bool is_one_of(const char *type, const char *const *names) {
    for (; *names; names++)
        if (strcmp(type, *names) == 0) return true;
    return false;
}

/* Returns the value whose bytes this one shares, or itself. */
static uint32_t source_of(const struct model *model, uint32_t value) {
    static const char *const views[] = {"Identity", "Flatten", "Dropout", NULL};
    for (;;) {
        uint32_t node = model->values[value].node;
        if (node == ID_NONE || !is_one_of(model->nodes[node].type, views)) return value;
        value = model->nodes[node].inputs[0];
    }
}

/* Fails the test if the size is unknown. */
static int64_t elements_of(const struct bench *bench, uint32_t value) {
    const struct shape *shape = &bench->analysis.infer->infos[value].shape;
    int64_t n = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (!is_known(shape->dims[i]))
            fail_msg("%s has no size", bench->model.values[value].name);
        n *= shape->dims[i];
    }
    return n;
}

/* Returns the bytes that the value owns: 0 for constants, inputs of bodies and views. */
static int64_t bytes_of(const struct bench *bench, uint32_t value) {
    const struct value *of = &bench->model.values[value];
    if (of->constant || source_of(&bench->model, value) != value) return 0;
    if (of->node == ID_NONE && of->graph != 0) return 0;
    if (of->node != ID_NONE && strcmp(bench->model.nodes[of->node].type, "Constant") == 0)
        return 0;
    int bits = dtype_bits(bench->analysis.infer->infos[value].dtype);
    return elements_of(bench, value) * bits / 8;
}

static uint32_t step_of(const struct bench *bench, uint32_t node) {
    const struct liveness_table *liveness = bench->analysis.liveness;
    uint32_t step = 0;
    while (liveness->node_at[step] != node) step++;
    return step;
}

/* Returns the node itself if it is in graph `home`, else the node of `home` whose body contains
 * it. */
static uint32_t node_in(const struct model *model, uint32_t node, uint32_t home) {
    while (model->nodes[node].graph != home)
        node = model->graphs[model->nodes[node].graph].owner;
    return node;
}

/* Returns true if the bytes of `value` are needed at `step` or later. */
static bool is_needed(const struct bench *bench, uint32_t value, uint32_t step) {
    const struct model *model = &bench->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *view = &model->values[id];
        if (source_of(model, id) != value) continue;
        if (view->is_graph_output && view->graph == 0) return true;
        if (view->is_graph_output && step_of(bench, model->graphs[view->graph].owner) >= step)
            return true;
        for (uint32_t node = 0; node < model->n_nodes; node++)
            for (size_t i = 0; i < model->nodes[node].n_inputs; i++)
                if (model->nodes[node].inputs[i] == id &&
                    step_of(bench, node_in(model, node, view->graph)) >= step)
                    return true;
    }
    return false;
}

static bool is_alive(const struct bench *bench, uint32_t value, uint32_t step) {
    uint32_t node = bench->model.values[value].node;
    uint32_t made = node == ID_NONE ? 0 : step_of(bench, node);
    return made == step || (made < step && is_needed(bench, value, step));
}

/* Returns the live bytes that nodes of the module produced; graph inputs belong to the root. */
static int64_t live_in(const struct bench *bench, uint32_t step, uint32_t module) {
    const struct modules_table *modules = bench->analysis.modules;
    int64_t live = 0;
    for (uint32_t id = 0; id < bench->model.n_values; id++) {
        uint32_t node = bench->model.values[id].node;
        uint32_t at = node == ID_NONE ? 0 : modules->of_node[node];
        while (at != module && at != ID_NONE) at = modules->parents[at];
        if (at == module && is_alive(bench, id, step)) live += bytes_of(bench, id);
    }
    return live;
}

static int64_t peak_in(const struct bench *bench, uint32_t module) {
    int64_t peak = 0;
    for (uint32_t step = 0; step < bench->analysis.liveness->n_steps; step++)
        if (live_in(bench, step, module) > peak) peak = live_in(bench, step, module);
    return peak;
}

/* Returns the first operand that the node of the step can overwrite in place, or ID_NONE. */
static uint32_t overwritten(const struct bench *bench, uint32_t step, const bool *gone) {
    static const char *const elementwise[] = {"Exp", "Relu", "Mul", "Equal", "Cast", NULL};
    const struct model *model = &bench->model;
    const struct node *node = &model->nodes[bench->analysis.liveness->node_at[step]];
    if (!is_one_of(node->type, elementwise)) return ID_NONE;
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t source = source_of(model, node->inputs[i]);
        bool made = model->values[source].node != ID_NONE && bytes_of(bench, source) > 0;
        bool result = false;
        for (uint32_t id = 0; id < model->n_values; id++)
            if (source_of(model, id) == source && model->values[id].is_graph_output)
                result = true;
        if (made && !result && !gone[source] && !is_needed(bench, source, step + 1) &&
            elements_of(bench, source) == elements_of(bench, node->outputs[0]) &&
            bytes_of(bench, source) == bytes_of(bench, node->outputs[0]))
            return source;
    }
    return ID_NONE;
}

static int64_t peak_in_place(const struct bench *bench) {
    bool *gone = calloc(bench->model.n_values, sizeof *gone);
    int64_t peak = 0;
    assert_non_null(gone);
    for (uint32_t step = 0; step < bench->analysis.liveness->n_steps; step++) {
        int64_t live = live_in(bench, step, 0);
        uint32_t over = overwritten(bench, step, gone);
        const struct node *node = &bench->model.nodes[bench->analysis.liveness->node_at[step]];
        assert_int_equal(bench->analysis.in_place->overwrites[node->outputs[0]], over);
        if (over != ID_NONE) gone[over] = true;
        if (over != ID_NONE) live -= bytes_of(bench, over);
        if (live > peak) peak = live;
    }
    free(gone);
    return peak;
}

/* Checks that each node follows its producers, and a body directly precedes its node. */
static void expect_order(const struct bench *bench) {
    const struct model *model = &bench->model;
    assert_int_equal(bench->analysis.liveness->n_steps, model->n_nodes);
    for (uint32_t node = 0; node < model->n_nodes; node++) {
        uint32_t graph = model->nodes[node].graph;
        for (size_t i = 0; i < model->nodes[node].n_inputs; i++) {
            uint32_t maker = model->values[model->nodes[node].inputs[i]].node;
            if (maker != ID_NONE) assert_true(step_of(bench, maker) < step_of(bench, node));
        }
        if (graph == 0) continue;
        uint32_t owner = model->graphs[graph].owner;
        for (uint32_t step = step_of(bench, node); step < step_of(bench, owner); step++)
            assert_int_equal(node_in(model, bench->analysis.liveness->node_at[step],
                                     model->nodes[owner].graph),
                             owner);
    }
}

/* Checks that values alive at the same step do not overlap in the arena. */
static void expect_plan(const struct bench *bench) {
    const struct arena_plan_table *plan = bench->analysis.arena_plan;
    for (uint32_t a = 0; a < bench->model.n_values; a++) {
        assert_int_equal(is_known(plan->offsets[a]), bytes_of(bench, a) > 0);
        for (uint32_t b = 0; b < a; b++) {
            bool together = false;
            for (uint32_t step = 0; step < bench->analysis.liveness->n_steps; step++)
                if (is_alive(bench, a, step) && is_alive(bench, b, step)) together = true;
            if (!together || !is_known(plan->offsets[a]) || !is_known(plan->offsets[b]))
                continue;
            assert_true(plan->offsets[a] + bytes_of(bench, a) <= plan->offsets[b] ||
                        plan->offsets[b] + bytes_of(bench, b) <= plan->offsets[a]);
        }
    }
}

static void recount(const struct bench *bench) {
    const struct analysis *analysis = &bench->analysis;
    int64_t peak = peak_in(bench, 0);
    expect_order(bench);
    for (uint32_t step = 0; step < analysis->liveness->n_steps; step++)
        assert_int_equal(analysis->liveness->live[step], live_in(bench, step, 0));
    assert_int_equal(analysis->liveness->peak_bytes, peak);
    assert_int_equal(analysis->in_place->peak_bytes, peak_in_place(bench));
    for (uint32_t i = 0; i < analysis->modules->n_modules; i++)
        assert_int_equal(analysis->peak_memory->of_module[i], peak_in(bench, i));
    assert_true(analysis->arena_plan->arena_bytes >= peak);
    assert_true(analysis->arena_plan->arena_in_place_bytes >= analysis->in_place->peak_bytes);
    expect_plan(bench);
}

static void recount_models(uint64_t first, int n, enum cm_schedule schedule) {
    const struct cm_options options = {.schedule = schedule};
    for (int i = 0; i < n; i++) {
        struct sketch *sketch = calloc(1, sizeof *sketch);
        assert_non_null(sketch);
        sketch->seed = first + (uint64_t)i * 7919;
        draw_model(sketch);
        struct bench *bench = bench_open_with(sketch->text, &options);
        if (bench->status != CM_OK) fail_msg("%s\n%s", bench_messages(bench), sketch->text);
        if (getenv("V")) puts(sketch->text);
        recount(bench);
        assert_true(bench->analysis.liveness->peak_bytes <=
                    bench->analysis.liveness->file_peak_bytes);
        bench_close(bench);
        free(sketch);
    }
}

static void memory_of_random_models_equals_the_reference(void **state) {
    (void)state;
    recount_models(1, 60, CM_SCHEDULE_FILE);
}

static void memory_equals_the_reference_with_min_memory_schedule(void **state) {
    (void)state;
    recount_models(2, 60, CM_SCHEDULE_MIN_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_random_models_equals_the_reference),
        cmocka_unit_test(memory_equals_the_reference_with_min_memory_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
