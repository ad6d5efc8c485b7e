/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every operator row on random nodes that no exporter would write: random attributes,
 * operands, dims, types and contents. A row may refuse a node. It must not infer invalid dims
 * or negative costs; sanitizers report memory errors. By default the nodes are always the same
 * and take some seconds; `test_ops_random_nodes SEED ROUNDS` runs others.
 */
#include "op_harness.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/flops/conventions.h"
#include "ops/lowering/lowering.h"
#include "ops/product.h"
#include "ops/qdq_propagation.h"
#include "ops/registry/registry.h"
#include "support/arena.h"
#include "support/text.h"

#define DEFAULT_SEED   20240917
#define DEFAULT_ROUNDS 40 /* nodes of each row */
#define MAX_OPERANDS   24
#define MAX_EXTRA      4 /* operands of a variadic row, beyond the required ones */
#define MAX_AXES       8
#define MAX_CONTENTS   12
#define ITEMS(array)   (sizeof(array) / sizeof((array)[0]))

struct chance {
    uint64_t state;
};

static uint64_t next(struct chance *chance) {
    uint64_t x = chance->state; /* xorshift64* */
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    chance->state = x;
    return x * UINT64_C(2685821657736338717);
}

static size_t below(struct chance *chance, size_t n) {
    return (size_t)((next(chance) >> 16) % n);
}

static bool one_in(struct chance *chance, size_t n) {
    return below(chance, n) == 0;
}

static int64_t any_number(struct chance *chance) {
    static const int64_t numbers[] = {-9,
                                      -3,
                                      -2,
                                      -1,
                                      0,
                                      1,
                                      1,
                                      2,
                                      2,
                                      3,
                                      4,
                                      5,
                                      7,
                                      8,
                                      9,
                                      10,
                                      16,
                                      17,
                                      32,
                                      63,
                                      64,
                                      65,
                                      128,
                                      1000000,
                                      INT32_MAX,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MIN + 1,
                                      INT64_C(1) << 40};
    const size_t common = 18; /* the first 18 are valid more often */
    return numbers[below(chance, one_in(chance, 4) ? ITEMS(numbers) : common)];
}

static double any_real(struct chance *chance) {
    static const double numbers[] = {0, -0.0, 1, 2, 0.5, 1.5, -1, 1e-30, 1e30, 3, 7.25};
    if (one_in(chance, 12)) return one_in(chance, 2) ? (double)NAN : (double)INFINITY;
    return numbers[below(chance, ITEMS(numbers))];
}

static int64_t any_dim(struct chance *chance) {
    static const int64_t dims[] = {1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 9, 16, 24, 32, 64};
    static const int64_t odd[] = {0,         0,         DIM_UNKNOWN,        DIM_UNKNOWN,
                                  INT32_MAX, INT64_MAX, INT64_C(1) << 40,   INT64_C(1) << 62,
                                  1 << 20,   65535,     INT64_C(3037000500)};
    if (one_in(chance, 5)) return odd[below(chance, ITEMS(odd))];
    return dims[below(chance, ITEMS(dims))];
}

/* Returns a string that some operator accepts, or one that none accepts. */
static const char *any_word(struct chance *chance) {
    static const char *const words[] = {"NOTSET",
                                        "SAME_UPPER",
                                        "SAME_LOWER",
                                        "VALID",
                                        "forward",
                                        "reverse",
                                        "bidirectional",
                                        "linear",
                                        "gated",
                                        "delta",
                                        "gated_delta",
                                        "constant",
                                        "reflect",
                                        "edge",
                                        "wrap",
                                        "qsa",
                                        "csa",
                                        "LATENT",
                                        "SEPARATE",
                                        "local_plus_selected",
                                        "selected_only",
                                        "main",
                                        "silu",
                                        "swish",
                                        "none",
                                        "tanh",
                                        "Relu",
                                        "Tanh",
                                        "Sigmoid",
                                        "mean",
                                        "sum",
                                        "Grayscale",
                                        "RGB",
                                        "nearest",
                                        "cubic",
                                        "bilinear",
                                        "not_larger",
                                        "not_smaller",
                                        "align_corners",
                                        "DCR",
                                        "CRD",
                                        "bij,bjk->bik",
                                        "...ij,...jk",
                                        "ii->i",
                                        "ij,jk,kl->il",
                                        "i,->i",
                                        "i->,",
                                        "->",
                                        "a...b->b...",
                                        "TF",
                                        "IDF",
                                        "max",
                                        "add",
                                        "mul",
                                        "",
                                        "nonsense",
                                        "0",
                                        "SOFTMAX",
                                        "INT64",
                                        "STRING",
                                        "L1",
                                        "tf_crop_and_resize"};
    return words[below(chance, ITEMS(words))];
}

/* The environment of a node: parts of the harness, filled at random. */
struct stage {
    struct chance *chance;
    struct op_bench *bench;
    struct graph graphs[4];
    struct value body_values[3];
};

static struct shape any_shape(struct stage *stage) {
    int64_t dims[MAX_AXES];
    struct shape shape = shape_unknown();
    if (one_in(stage->chance, 12)) return shape;
    const int rank = (int)below(stage->chance, MAX_AXES + 1);
    for (int axis = 0; axis < rank; axis++) dims[axis] = any_dim(stage->chance);
    assert_int_equal(shape_make(stage->bench->arena, rank, dims, &shape), CM_OK);
    return shape;
}

static enum dtype any_dtype(struct chance *chance) {
    static const enum dtype common[] = {DTYPE_FLOAT, DTYPE_FLOAT, DTYPE_FLOAT, DTYPE_INT64,
                                        DTYPE_UINT8, DTYPE_INT8,  DTYPE_INT32, DTYPE_BOOL};
    if (one_in(chance, 4)) return (enum dtype)below(chance, DTYPE_N);
    return common[below(chance, ITEMS(common))];
}

/* Returns contents: each element if there are few, or a splat; NULL if they must be unknown. */
static const struct constant *any_contents(struct stage *stage, const struct value_info *info) {
    struct arena *arena = stage->bench->arena;
    const enum dtype_class class = dtype_class(info->dtype);
    const bool whole = class == DTYPE_CLASS_INT || class == DTYPE_CLASS_BOOL;
    int64_t ints[MAX_CONTENTS];
    double reals[MAX_CONTENTS];
    if (!shape_is_known(&info->shape) || (!whole && class != DTYPE_CLASS_FLOAT)) return NULL;
    const int64_t n = shape_elements(&info->shape);
    if (!is_known(n)) return NULL;
    if (n > MAX_CONTENTS || one_in(stage->chance, 4))
        return whole ? constant_splat(arena, info->dtype, &info->shape,
                                      (struct number){.i = any_number(stage->chance)})
                     : constant_splat(
                           arena, info->dtype, &info->shape,
                           (struct number){.real = true, .r = any_real(stage->chance)});
    for (int64_t i = 0; i < n; i++) {
        ints[i] = any_number(stage->chance);
        reals[i] = any_real(stage->chance);
    }
    return whole ? constant_ints(arena, info->dtype, &info->shape, ints)
                 : constant_reals(arena, info->dtype, &info->shape, reals);
}

static struct value_info any_tensor(struct stage *stage) {
    struct value_info info = value_info_tensor(any_dtype(stage->chance), any_shape(stage));
    if (one_in(stage->chance, 2)) info.value = any_contents(stage, &info);
    info.is_constant = info.value || one_in(stage->chance, 3);
    info.is_weight = info.is_constant && one_in(stage->chance, 2);
    return info;
}

/* Returns a list such as a shape, axes, pads or counts. */
static struct value_info any_list(struct stage *stage) {
    const int64_t n = (int64_t)below(stage->chance, MAX_CONTENTS);
    const bool scalar = one_in(stage->chance, 3);
    struct shape shape;
    assert_int_equal(shape_make(stage->bench->arena, scalar ? 0 : 1, &n, &shape), CM_OK);
    struct value_info info =
        value_info_tensor(one_in(stage->chance, 4)   ? any_dtype(stage->chance)
                          : one_in(stage->chance, 4) ? DTYPE_INT32
                                                     : DTYPE_INT64,
                          shape);
    if (!one_in(stage->chance, 6)) info.value = any_contents(stage, &info);
    info.is_constant = info.value != NULL;
    return info;
}

static struct value_info any_info(struct stage *stage, const struct value_info *before) {
    struct chance *chance = stage->chance;
    struct value_info info;
    if (one_in(chance, 16)) return value_info_unknown();
    if (before && before->kind == CM_TYPE_TENSOR && one_in(chance, 3)) { /* same shape */
        info = value_info_tensor(before->dtype, before->shape);
        if (one_in(chance, 4)) info.value = any_contents(stage, &info);
        return info;
    }
    info = one_in(chance, 3) ? any_list(stage) : any_tensor(stage);
    if (!one_in(chance, 16)) return info;
    struct value_info outer = value_info_unknown();
    static const enum cm_type_kind kinds[] = {CM_TYPE_SEQUENCE, CM_TYPE_OPTIONAL, CM_TYPE_MAP,
                                              CM_TYPE_SPARSE_TENSOR};
    outer.kind = kinds[below(chance, ITEMS(kinds))];
    outer.shape = info.shape;
    outer.dtype = info.dtype;
    outer.element = arena_copy(stage->bench->arena, &info, sizeof(info));
    if (outer.kind == CM_TYPE_SEQUENCE && one_in(chance, 2)) {
        outer.items = outer.element;
        outer.n_items = 1;
    }
    return outer;
}

static void set_list(struct stage *stage, struct attr *attr) {
    struct arena *arena = stage->bench->arena;
    attr->n = below(stage->chance, MAX_AXES + 2);
    int64_t *ints = arena_array(arena, attr->n + 1, sizeof(*ints));
    double *reals = arena_array(arena, attr->n + 1, sizeof(*reals));
    const char **words = arena_array(arena, attr->n + 1, sizeof(*words));
    for (size_t i = 0; i < attr->n; i++) {
        ints[i] = any_number(stage->chance);
        reals[i] = any_real(stage->chance);
        words[i] = any_word(stage->chance);
    }
    attr->ints = ints;
    attr->floats = reals;
    attr->strings = words;
}

static const struct constant *any_constant(struct stage *stage) {
    for (int tries = 0; tries < 32; tries++) {
        struct value_info info = any_tensor(stage);
        if (info.value) return info.value;
    }
    const struct shape scalar = {0, NULL};
    return constant_splat(stage->bench->arena, DTYPE_INT64, &scalar, (struct number){.i = 1});
}

static void set_attr(struct stage *stage, const struct op_attr *row, struct attr *attr) {
    const struct constant **tensors = arena_array(stage->bench->arena, 1, sizeof(*tensors));
    uint32_t *graphs = arena_array(stage->bench->arena, 1, sizeof(*graphs));
    tensors[0] = any_constant(stage);
    graphs[0] = 1 + (uint32_t)below(stage->chance, 3);
    attr->name = row->name;
    attr->kind = row->kind;
    attr->n = 1;
    attr->i = any_number(stage->chance);
    attr->f = any_real(stage->chance);
    attr->s = any_word(stage->chance);
    attr->tensors = tensors;
    attr->graphs = graphs;
    if (row->kind == ATTR_INTS || row->kind == ATTR_FLOATS || row->kind == ATTR_STRINGS)
        set_list(stage, attr);
}

static void set_attrs(struct stage *stage, const struct op *op) {
    size_t n = 0, given = 0;
    for (const struct op_attr *row = op->attrs; row && row->name; row++) n++;
    struct attr *attrs = arena_array(stage->bench->arena, n + 1, sizeof(*attrs));
    for (size_t i = 0; i < n; i++)
        if (op->attrs[i].required || !one_in(stage->chance, 3))
            set_attr(stage, &op->attrs[i], &attrs[given++]);
    stage->bench->node.attrs = attrs;
    stage->bench->node.n_attrs = (uint32_t)given;
}

static size_t how_many(struct chance *chance, int32_t least, int32_t most) {
    const size_t room = most == VARIADIC ? MAX_EXTRA : (size_t)(most - least);
    const size_t n = (size_t)least + below(chance, room + 1);
    return n < MAX_OPERANDS ? n : MAX_OPERANDS;
}

static void set_operands(struct stage *stage, const struct op *op) {
    struct op_bench *bench = stage->bench;
    const size_t n = how_many(stage->chance, op->min_inputs, op->max_inputs);
    const struct value_info **inputs = arena_array(bench->arena, n + 1, sizeof(*inputs));
    struct value *values = arena_array(bench->arena, n + 3, sizeof(*values));
    uint32_t *ids = arena_array(bench->arena, n + 1, sizeof(*ids));
    for (size_t i = 0; i < n; i++) {
        ids[i] = ID_NONE;
        if (one_in(stage->chance, i < (size_t)op->min_inputs ? 40 : 4)) continue;
        const struct value_info *before = i > 0 ? inputs[below(stage->chance, i)] : NULL;
        const struct value_info info = any_info(stage, before);
        inputs[i] = arena_copy(bench->arena, &info, sizeof(info));
        values[i].name = "x";
        values[i].constant = info.is_weight ? info.value : NULL;
        ids[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < 3; i++) values[n + i].name = "of a body";
    for (size_t i = 0; i < n + 3; i++) values[i].type = &type_undeclared;
    bench->node.n_inputs = (uint32_t)n;
    bench->node.inputs = ids;
    bench->model.values = values;
    bench->model.n_values = n + 3;
    bench->context.n_inputs = n;
    bench->context.inputs = inputs;
}

static void set_results(struct stage *stage, const struct op *op) {
    struct op_bench *bench = stage->bench;
    const size_t n = how_many(stage->chance, op->min_outputs, op->max_outputs);
    uint32_t *ids = arena_array(bench->arena, n + 1, sizeof(*ids));
    for (size_t i = 0; i < n; i++) ids[i] = one_in(stage->chance, 8) ? ID_NONE : (uint32_t)i;
    bench->node.n_outputs = (uint32_t)n;
    bench->node.outputs = ids;
    bench->context.n_outputs = n;
    bench->context.outputs = arena_array(bench->arena, n + 1, sizeof(struct value_info));
}

static void forget_results(struct op_context *context) {
    for (size_t i = 0; i < context->n_outputs; i++) context->outputs[i] = value_info_unknown();
}

/* Three bodies, of 0 to 3 inputs and results. */
static void set_bodies(struct stage *stage) {
    struct op_bench *bench = stage->bench;
    uint32_t *ids = arena_array(bench->arena, 3, sizeof(*ids));
    for (uint32_t i = 0; i < 3; i++) ids[i] = (uint32_t)bench->model.n_values - 3 + i;
    memset(stage->graphs, 0, sizeof(stage->graphs));
    stage->graphs[0].parent = ID_NONE;
    for (size_t i = 1; i < ITEMS(stage->graphs); i++) {
        stage->graphs[i].inputs = ids;
        stage->graphs[i].outputs = ids;
        stage->graphs[i].n_inputs = below(stage->chance, 4);
        stage->graphs[i].n_outputs = below(stage->chance, 4);
    }
    bench->model.graphs = stage->graphs;
    bench->model.n_graphs = ITEMS(stage->graphs);
}

static int walk(void *context, uint32_t graph, size_t n_inputs, const struct value_info *inputs,
                const struct value_info **ret_outputs) {
    struct stage *stage = context;
    const size_t n = stage->graphs[graph].n_outputs;
    struct value_info *outputs = arena_array(stage->bench->arena, n + 1, sizeof(*outputs));
    if (n_inputs != stage->graphs[graph].n_inputs || one_in(stage->chance, 20))
        return op_fail(&stage->bench->context, DIAG_ARITY, "the body refuses");
    for (size_t i = 0; i < n; i++)
        outputs[i] = n_inputs > 0 && one_in(stage->chance, 2)
                         ? inputs[below(stage->chance, n_inputs)]
                         : any_info(stage, NULL);
    *ret_outputs = outputs;
    return CM_OK;
}

static int runs(void *context, uint32_t graph, int64_t times, const char *assumption) {
    (void)context;
    (void)graph;
    assert_true(times >= 0 || (times == DIM_UNKNOWN && assumption));
    return CM_OK;
}

static struct op_bench *any_node(struct stage *stage, const struct op *op) {
    struct arena *arena = arena_new("random", 0);
    assert_non_null(arena);
    struct op_bench *bench = arena_alloc(arena, sizeof(*bench));
    stage->bench = bench;
    bench->arena = arena;
    bench->diag.arena = arena;
    bench->model.arena = arena;
    bench->model.nodes = &bench->node;
    bench->model.n_nodes = 1;
    bench->node.name = "";
    bench->node.domain = op->domain;
    bench->node.type = op->type;
    bench->node.opset = op->since;
    bench->context.op = op;
    bench->context.model = &bench->model;
    bench->context.node = &bench->node;
    bench->context.arena = arena;
    bench->context.diag = &bench->diag;
    set_attrs(stage, op);
    set_operands(stage, op);
    set_results(stage, op);
    set_bodies(stage);
    forget_results(&bench->context);
    return bench;
}

static bool has_all_values(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (context->inputs[i] && !context->inputs[i]->value) return false;
    return true;
}

/* Infers and folds as pass infer does; the outputs of a refused node become unknown. */
static int run(struct stage *stage) {
    struct op_context *context = &stage->bench->context;
    struct op_budget budget = {INT64_C(1) << 16, 256};
    const struct op_walker walker = {.walk = walk, .runs = runs, .context = stage};
    context->training = one_in(stage->chance, 2);
    if (context->op->trains && one_in(stage->chance, 2))
        context->training = context->op->trains(context);
    context->walker = &walker;
    context->budget = &budget;
    int status = context->op->infer(context);
    if (status == CM_OK && context->op->fold &&
        (context->op->fold_partial || has_all_values(context)))
        status = context->op->fold(context);
    context->walker = NULL;
    context->budget = NULL;
    if (status < 0) forget_results(context);
    return status;
}

static size_t n_faults;

static void check_figure(const struct op_context *context, const char *what, int64_t figure) {
    if (figure >= 0 || !is_known(figure)) return;
    n_faults++;
    print_message("%s:%s-%d: %lld %s\n", context->op->domain, context->op->type,
                  context->op->since, (long long)figure, what);
    for (size_t i = 0; i < context->n_inputs; i++)
        print_message("    %s%s\n", dtype_name(op_dtype(context, i)),
                      op_shape_text(context, op_shape(context, i)));
    for (size_t i = 0; i < context->node->n_attrs; i++)
        print_message("    %s=%lld\n", context->node->attrs[i].name,
                      (long long)context->node->attrs[i].i);
}

static void check_results(const struct op_context *context) {
    for (size_t i = 0; i < context->n_outputs; i++) {
        const struct shape *shape = &context->outputs[i].shape;
        assert_true(shape->rank == RANK_UNKNOWN ||
                    (shape->rank >= 0 && shape->rank <= SHAPE_MAX_RANK));
        for (int axis = 0; axis < shape->rank; axis++)
            if (shape->dims[axis] < 0 && shape->dims[axis] != DIM_UNKNOWN)
                fail_msg("%s-%d: output %zu has the dims %s", context->op->type,
                         context->op->since, i, op_shape_text(context, shape));
    }
}

static void check_conventions(const struct op_context *context) {
    static const char *const names[] = {"deepspeed", "exact",        "torch", "fvcore",
                                        "ptflops",   "ptflops-aten", "thop",  "onnx-tool"};
    const int64_t macs = product_macs(context);
    for (size_t i = 0; i < ITEMS(names); i++) {
        const struct convention *convention = convention_find(names[i]);
        if (convention)
            check_figure(context, names[i],
                         convention_all_operations(convention, context, macs));
    }
}

static void check_costs(const struct op_context *context) {
    const struct op *op = context->op;
    struct op_context quiet = *context; /* failing to describe is not an error */
    struct text text;
    quiet.diag = NULL;
    text_init(&text, context->arena);
    check_figure(context, "MACs", product_macs(context));
    check_conventions(context);
    if (op->describe) assert_int_not_equal(op->describe(&quiet, &text), CM_NO_MEMORY);
    if (op->backward.saved_for_backward_of)
        assert_non_null(op->backward.saved_for_backward_of(context));
    for (quiet.gradients = 0; quiet.gradients < 64; quiet.gradients += 7) {
        if (op->backward.extra) check_figure(context, "bytes kept", op->backward.extra(&quiet));
        if (op->backward.macs)
            check_figure(context, "MACs backward", op->backward.macs(&quiet));
    }
    if (op->backward.view) (void)op->backward.view(context);
}

static void check_lowering(const struct op_context *context) {
    struct cm_primitive primitive;
    const char *why = NULL;
    if (!lowering_apply(context, &primitive, &why)) assert_non_null(why);
}

/* Returns the scale of an operand: none, or one that varies along random axes. */
static scale_axes any_scale(struct chance *chance, const struct op_context *context, size_t i) {
    const int rank = op_rank(context, i);
    scale_axes axes = SCALED;
    if (one_in(chance, 4)) return SCALE_NONE;
    for (int axis = 0; axis < rank && axis < SHAPE_MAX_RANK - 1; axis++)
        if (one_in(chance, 3)) axes |= (scale_axes)1 << axis;
    return axes;
}

static void check_scales(struct chance *chance, const struct op_context *context) {
    scale_axes *scales = arena_array(context->arena, context->n_inputs, sizeof(*scales));
    bool rest = false;
    assert_non_null(scales);
    for (size_t i = 0; i < context->n_inputs; i++) scales[i] = any_scale(chance, context, i);
    for (size_t i = 0; i < context->n_outputs; i++) {
        const scale_axes made = scale_of_output(context, scales, one_in(chance, 8), i);
        if (made != SCALE_NONE) assert_true(made & SCALED);
    }
    if (!scale_factors_out(context, scales, &rest)) assert_false(rest);
}

static void try_row(struct chance *chance, const struct op *op) {
    struct stage stage = {.chance = chance};
    struct op_bench *bench = any_node(&stage, op);
    const int status = run(&stage);
    check_results(&bench->context);
    if (status == CM_OK) check_costs(&bench->context);
    if (status == CM_OK) check_lowering(&bench->context);
    if (status == CM_OK && op_has_input(&bench->context, 0))
        check_scales(chance, &bench->context);
    arena_free(bench->arena);
}

struct request {
    uint64_t seed;
    uint64_t rounds;
};

static void operators_infer_valid_results_of_random_nodes(void **state) {
    const struct request *request = *state;
    struct chance chance = {request->seed ? request->seed : 1};
    for (uint64_t round = 0; round < request->rounds; round++)
        for (size_t f = 0; f < registry_n_families(); f++)
            for (size_t i = 0; i < registry_family(f)->n_rows; i++)
                try_row(&chance, &registry_family(f)->rows[i]);
    assert_int_equal(n_faults, 0);
}

int main(int argc, char **argv) {
    struct request request = {argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_SEED,
                              argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_ROUNDS};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(operators_infer_valid_results_of_random_nodes, &request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
