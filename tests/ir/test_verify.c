/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the IR: each violation aborts and names its entry. */
#include "tests/ir/verify.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/graph.h"
#include "small_model.h"
#include "support/arena.h"

/* Ids in small_model_with_body. */
enum { X, C, W, Y, Z, SUM };
enum { CONV, IF, ADD };

static void set_id(const uint32_t *const *list, size_t i, uint32_t id, struct arena *arena,
                   const uint32_t **ret) {
    uint32_t *copy = arena_copy(arena, *list, (i + 1) * sizeof *copy);
    copy[i] = id;
    *ret = copy;
}

static void input_out_of_range(struct small_model *m) {
    set_id(&m->model.nodes[ADD].inputs, 1, 77, m->arena, &m->model.nodes[ADD].inputs);
}
static void output_out_of_range(struct small_model *m) {
    set_id(&m->model.nodes[ADD].outputs, 0, 77, m->arena, &m->model.nodes[ADD].outputs);
}
static void two_producers(struct small_model *m) {
    set_id(&m->model.nodes[ADD].outputs, 0, Y, m->arena, &m->model.nodes[ADD].outputs);
}
static void producer_out_of_range(struct small_model *m) {
    m->model.values[Y].node = 99;
}
static void input_with_a_producer(struct small_model *m) {
    m->model.values[X].node = CONV;
}
static void initializer_without_a_constant(struct small_model *m) {
    m->model.values[W].constant = NULL;
}
static void constant_with_a_wrong_count(struct small_model *m) {
    struct constant *copy =
        arena_copy(m->arena, m->model.values[W].constant, sizeof(struct constant));
    copy->n_elements--;
    m->model.values[W].constant = copy;
}
static void negative_dim(struct small_model *m) {
    m->model.values[X].type->shape.dims[0] = -1;
}
static void nodes_out_of_order(struct small_model *m) {
    uint32_t *order = arena_array(m->arena, 2, sizeof *order);
    order[0] = IF; /* its body reads the output of Conv */
    order[1] = CONV;
    m->model.graphs[0].nodes = order;
}
static void node_listed_twice(struct small_model *m) {
    set_id(&m->model.graphs[0].nodes, 1, CONV, m->arena, &m->model.graphs[0].nodes);
}
static void node_in_no_graph(struct small_model *m) {
    m->model.graphs[1].n_nodes = 0;
}
static void node_of_another_graph(struct small_model *m) {
    m->model.nodes[ADD].graph = 0;
}
static void inner_value_read_outside(struct small_model *m) {
    set_id(&m->model.nodes[IF].inputs, 0, SUM, m->arena, &m->model.nodes[IF].inputs);
    m->model.values[C].n_uses = 0;
    m->model.values[SUM].n_uses = 1;
    struct use *use = arena_array(m->arena, 1, sizeof *use);
    use->node = IF;
    m->model.values[SUM].uses = use;
}
static void use_that_is_missing(struct small_model *m) {
    m->model.values[Y].n_uses = 1;
}
static void use_that_is_none(struct small_model *m) {
    m->model.values[Z].n_uses = 1;
    m->model.values[Z].uses = m->model.values[Y].uses;
}
static void output_not_marked(struct small_model *m) {
    m->model.values[Z].is_graph_output = false;
}
static void body_without_an_owner(struct small_model *m) {
    m->model.graphs[1].owner = ID_NONE;
}
static void body_of_itself(struct small_model *m) {
    m->model.graphs[1].owner = ADD;
    m->model.graphs[1].parent = 1;
}
static void body_of_another(struct small_model *m) {
    m->model.graphs[1].owner = CONV;
}
static void call_out_of_range(struct small_model *m) {
    m->model.nodes[CONV].call = 3;
}
static void graph_input_that_is_a_weight(struct small_model *m) {
    set_id(&m->model.graphs[0].inputs, 1, W, m->arena, &m->model.graphs[0].inputs);
}

static const struct {
    const char *name;
    void (*breach)(struct small_model *m);
    const char *said;
} breaches[] = {
    {"input out of range", input_out_of_range, "node 2: input out of range"},
    {"output out of range", output_out_of_range, "value 5: producer does not make it"},
    {"two producers", two_producers, "value 5: producer does not make it"},
    {"producer out of range", producer_out_of_range, "value 3: producer out of range"},
    {"input with a producer", input_with_a_producer, "value 0: has a producer"},
    {"initializer without", initializer_without_a_constant, "value 2: initializer without"},
    {"wrong count", constant_with_a_wrong_count, "value 2: constant whose count"},
    {"negative dim", negative_dim, "value 0: declared dims"},
    {"order", nodes_out_of_order, "node 2: reads a value before it is made"},
    {"listed twice", node_listed_twice, "graph 0: lists a node twice"},
    {"in no graph", node_in_no_graph, "node 2: is in no graph"},
    {"of another graph", node_of_another_graph, "graph 1: lists a node of another graph"},
    {"read outside", inner_value_read_outside, "node 1: reads a value before it is made"},
    {"missing use", use_that_is_missing, "model 0: use lists and inputs disagree"},
    {"use that is none", use_that_is_none, "value 4: use that does not exist"},
    {"unmarked output", output_not_marked, "graph 0: output is not marked"},
    {"no owner", body_without_an_owner, "graph 1: owner out of range"},
    {"body of itself", body_of_itself, "graph 1: is a body of itself"},
    {"body of another", body_of_another, "node 1: body of another node"},
    {"call", call_out_of_range, "node 0: call out of range"},
    {"weight as input", graph_input_that_is_a_weight, "graph 0: input is not of origin"},
};

static void accepts_a_valid_model(void **state) {
    (void)state;
    struct small_model small;
    small_model_with_body(&small);
    const size_t used = arena_used(small.arena);
    verify_model(&small.model);
    assert_int_equal(arena_used(small.arena), used);
    small_model_free(&small);
}

static void verify_in_child(struct small_model *small, int said) {
    signal(SIGABRT, SIG_DFL);
    dup2(said, STDERR_FILENO);
    verify_model(&small->model);
    _exit(0);
}

static void aborts_on_each_violation(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof breaches / sizeof breaches[0]; i++) {
        struct small_model small;
        char said[256] = {0};
        int ends[2];
        int status = 0;
        small_model_with_body(&small);
        breaches[i].breach(&small);
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) verify_in_child(&small, ends[1]);
        close(ends[1]);
        if (read(ends[0], said, sizeof said - 1) < 0) fail();
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || strstr(said, breaches[i].said) == NULL) {
            fail_msg("%s: want \"%s\", have \"%s\"", breaches[i].name, breaches[i].said, said);
        }
        small_model_free(&small);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_valid_model),
        cmocka_unit_test(aborts_on_each_violation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
