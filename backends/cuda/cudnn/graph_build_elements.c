/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of elementwise functions as one graph. The engines require three row-major dims, so
 * axes are sorted by stride and coalesced. Functions that cuDNN lacks are composed of those it
 * has.
 */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_operations.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "backends/coalesce_dims.h"

#include "support/banned.h"

#define MAX_DIMS         3
#define MAX_INSTRUCTIONS 4

/* Second operand of an instruction; the first is the result of the previous one. */
enum source {
    SOURCE_NONE,
    SOURCE_FIRST,   /* running value at the start of the program */
    SOURCE_OPERAND, /* other operand of the step */
    SOURCE_ALPHA,
    SOURCE_BETA,
    SOURCE_VALUE,
};

/* value = mode(value, other) */
struct instruction {
    cudnnPointwiseMode_t mode;
    enum source other;
    float value;
};

enum limits { LIMITS_NONE, LIMITS_ONE, LIMITS_ALPHA_BETA, LIMITS_SLOPE_ALPHA };

struct program {
    int n;
    struct instruction instructions[MAX_INSTRUCTIONS];
    enum limits limits; /* limits of its relu */
    bool logic;         /* boolean operands */
};

#define ONE(which)                                                                             \
    {                                                                                          \
        .n = 1, .instructions = { {.mode = CUDNN_POINTWISE_##which} }                          \
    }
#define TWO(which)                                                                             \
    {                                                                                          \
        .n = 1, .instructions = { {.mode = CUDNN_POINTWISE_##which, .other = SOURCE_OPERAND} } \
    }

/* clang-format off */
static const struct program programs[CM_N_FUNCTIONS] = {
    [CM_ABS] = ONE(ABS), [CM_CAST] = ONE(IDENTITY), [CM_CEIL] = ONE(CEIL),
    [CM_COS] = ONE(COS), [CM_ELU] = ONE(ELU_FWD), [CM_ERF] = ONE(ERF), [CM_EXP] = ONE(EXP),
    [CM_FLOOR] = ONE(FLOOR), [CM_GELU] = ONE(GELU_FWD),
    [CM_GELU_TANH] = ONE(GELU_APPROX_TANH_FWD), [CM_LOG] = ONE(LOG), [CM_NEGATE] = ONE(NEG),
    [CM_RECIPROCAL] = ONE(RECIPROCAL), [CM_RELU] = ONE(RELU_FWD),
    [CM_SIGMOID] = ONE(SIGMOID_FWD), [CM_SIN] = ONE(SIN), [CM_SOFTPLUS] = ONE(SOFTPLUS_FWD),
    [CM_SQRT] = ONE(SQRT), [CM_SWISH] = ONE(SWISH_FWD), [CM_TANH] = ONE(TANH_FWD),
    [CM_ADD] = TWO(ADD), [CM_SUBTRACT] = TWO(SUB), [CM_MULTIPLY] = TWO(MUL),
    [CM_DIVIDE] = TWO(DIV), [CM_MAXIMUM] = TWO(MAX), [CM_MINIMUM] = TWO(MIN),
    [CM_POWER] = TWO(POW), [CM_COMPARE] = TWO(CMP_GT),
    [CM_NOT] = {.n = 1, .instructions = {{.mode = CUDNN_POINTWISE_LOGICAL_NOT}}, .logic = true},
    [CM_LOGIC] = {.n = 1, .logic = true, .instructions = {
        {.mode = CUDNN_POINTWISE_LOGICAL_AND, .other = SOURCE_OPERAND}}},
    [CM_CLIP] = {.n = 1, .limits = LIMITS_ALPHA_BETA, .instructions = {
        {.mode = CUDNN_POINTWISE_RELU_FWD}}},
    [CM_LEAKY_RELU] = {.n = 1, .limits = LIMITS_SLOPE_ALPHA, .instructions = {
        {.mode = CUDNN_POINTWISE_RELU_FWD}}},
    [CM_SQUARE] = {.n = 1, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_FIRST}}},
    [CM_LINEAR] = {.n = 2, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_ALPHA},
        {.mode = CUDNN_POINTWISE_ADD, .other = SOURCE_BETA}}},
    [CM_HARD_SIGMOID] = {.n = 3, .limits = LIMITS_ONE, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_ALPHA},
        {.mode = CUDNN_POINTWISE_ADD, .other = SOURCE_BETA},
        {.mode = CUDNN_POINTWISE_RELU_FWD}}},
    [CM_HARD_SWISH] = {.n = 4, .limits = LIMITS_ONE, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_VALUE, .value = 1.0F / 6},
        {.mode = CUDNN_POINTWISE_ADD, .other = SOURCE_VALUE, .value = 0.5F},
        {.mode = CUDNN_POINTWISE_RELU_FWD},
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_FIRST}}},
    [CM_MISH] = {.n = 3, .instructions = {
        {.mode = CUDNN_POINTWISE_SOFTPLUS_FWD},
        {.mode = CUDNN_POINTWISE_TANH_FWD},
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_FIRST}}},
    /* max(slope x, x): valid for slopes below 1. */
    [CM_PRELU] = {.n = 2, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_OPERAND},
        {.mode = CUDNN_POINTWISE_MAX, .other = SOURCE_FIRST}}},
};
/* clang-format on */

struct chain {
    struct graph *graph;
    const struct cm_primitive *primitive;
    struct graph_shape shapes[CM_MAX_INPUTS + 1]; /* the last one is the result's */
    cudnnBackendDescriptor_t inputs[CM_MAX_INPUTS];
    cudnnBackendDescriptor_t value; /* running value */
    int left;                       /* number of instructions left */
};

/* Sorts the axes by falling stride of the result, which makes any packed layout row-major. */
static void order_axes(const struct cm_tensor *shape, int *ret) {
    for (int i = 0; i < shape->rank; i++) {
        int at = i;
        while (at > 0 && shape->strides[ret[at - 1]] < shape->strides[i]) {
            ret[at] = ret[at - 1];
            at--;
        }
        ret[at] = i;
    }
}

/* Pads the operand to the rank of the result and permutes its axes. */
static bool align(const struct cm_tensor *operand, const struct cm_tensor *shape,
                  const int *order, struct cm_tensor *ret) {
    const int more = shape->rank - operand->rank;
    if (more < 0) return false;
    *ret = *shape;
    ret->element = operand->element;
    for (int i = 0; i < shape->rank; i++) {
        const int own = order[i] - more;
        ret->dims[i] = own >= 0 ? operand->dims[own] : 1;
        ret->strides[i] = own >= 0 ? operand->strides[own] : 0;
    }
    return true;
}

static bool take_shape(const struct cm_tensor *operand, const struct coalesced *coalesced,
                       int which, struct graph_shape *ret) {
    const int more = MAX_DIMS - coalesced->rank;
    if (!graph_shape_of(operand, ret)) return false;
    ret->rank = MAX_DIMS;
    for (int i = 0; i < MAX_DIMS; i++)
        ret->dims[i] = i < more ? 1 : coalesced->own[which][i - more];
    graph_shape_pack(ret, GRAPH_ROWS);
    for (int i = more; i < MAX_DIMS; i++)
        if (ret->dims[i] != 1 && ret->strides[i] != coalesced->strides[which][i - more])
            return false;
    return true;
}

static bool read_shapes(struct chain *chain) {
    const struct cm_primitive *primitive = chain->primitive;
    const int n = primitive->n_inputs;
    struct cm_tensor aligned[CM_MAX_INPUTS + 1];
    const struct cm_tensor *pointers[CM_MAX_INPUTS + 1];
    int order[CM_MAX_RANK];
    struct coalesced coalesced;
    order_axes(&primitive->outputs[0], order);
    for (int i = 0; i <= n; i++) {
        const struct cm_tensor *from = i < n ? &primitive->inputs[i] : &primitive->outputs[0];
        if (!align(from, &primitive->outputs[0], order, &aligned[i])) return false;
        pointers[i] = &aligned[i];
    }
    if (!coalesce_dims(pointers, n + 1, &aligned[n], &coalesced) || coalesced.rank > MAX_DIMS)
        return false;
    for (int i = 0; i <= n; i++)
        if (!take_shape(&aligned[i], &coalesced, i, &chain->shapes[i])) return false;
    return true;
}

static cudnnBackendDescriptor_t input(struct chain *chain, int which) {
    if (chain->inputs[which] == NULL)
        chain->inputs[which] =
            graph_tensor(chain->graph, &chain->shapes[which], GRAPH_INPUT, which);
    return chain->inputs[which];
}

/* Returns the tensor that the next instruction writes: the result or a virtual tensor. */
static cudnnBackendDescriptor_t next_place(struct chain *chain, bool truth) {
    struct graph_shape shape = chain->shapes[chain->primitive->n_inputs];
    chain->left--;
    if (chain->left == 0) return graph_tensor(chain->graph, &shape, GRAPH_OUTPUT, 0);
    shape.type = truth ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT;
    return graph_tensor(chain->graph, &shape, GRAPH_VIRTUAL, 0);
}

static cudnnBackendDescriptor_t other_of(struct chain *chain,
                                         const struct instruction *instruction,
                                         const struct cm_eltwise *step,
                                         cudnnBackendDescriptor_t first) {
    switch (instruction->other) {
    case SOURCE_FIRST:
        return first;
    case SOURCE_OPERAND:
        return input(chain, step->operand);
    case SOURCE_ALPHA:
        return graph_value(chain->graph, MAX_DIMS, (float)step->alpha);
    case SOURCE_BETA:
        return graph_value(chain->graph, MAX_DIMS, (float)step->beta);
    case SOURCE_VALUE:
        return graph_value(chain->graph, MAX_DIMS, instruction->value);
    default:
        return NULL;
    }
}

static void set_limits(enum limits limits, const struct cm_eltwise *step,
                       struct graph_pointwise *ret) {
    ret->has_limits = limits != LIMITS_NONE && ret->mode == CUDNN_POINTWISE_RELU_FWD;
    ret->low = limits == LIMITS_ALPHA_BETA ? step->alpha : 0;
    ret->high = limits == LIMITS_ALPHA_BETA ? step->beta : 1;
    if (limits == LIMITS_SLOPE_ALPHA) {
        ret->high = FLT_MAX;
        ret->slope = step->alpha;
    }
}

static void run_program(struct chain *chain, const struct program *program,
                        const struct cm_eltwise *step) {
    const cudnnBackendDescriptor_t first = chain->value;
    const bool truth = program->logic || step->function == CM_COMPARE;
    for (int i = 0; i < program->n; i++) {
        const struct instruction *instruction = &program->instructions[i];
        struct graph_pointwise point = {
            .mode = instruction->mode,
            .compute = program->logic ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT,
            .alpha = step->alpha,
            .x = chain->value,
            .b = other_of(chain, instruction, step, first),
        };
        point.y = next_place(chain, truth);
        set_limits(program->limits, step, &point);
        graph_point(chain->graph, &point);
        chain->value = point.y;
    }
}

/* The first three operands are condition, then, else. */
static void run_select(struct chain *chain) {
    if (chain->primitive->n_inputs < 3) {
        graph_fail(chain->graph, CM_BACKEND_REFUSED, "a selection must have three operands");
        return;
    }
    const struct graph_pointwise point = {
        .mode = CUDNN_POINTWISE_BINARY_SELECT,
        .t = chain->value,
        .x = input(chain, 1),
        .b = input(chain, 2),
        .y = next_place(chain, false),
    };
    graph_point(chain->graph, &point);
    chain->value = point.y;
}

/* Returns false if a function has no program. */
static bool count_instructions(struct chain *chain) {
    const struct cm_primitive *primitive = chain->primitive;
    chain->left = 0;
    for (int i = 0; i < primitive->n_steps; i++) {
        const int32_t function = primitive->steps[i].function;
        const int n = function == CM_SELECT ? 1 : programs[function].n;
        if (n == 0 || (function == CM_SELECT && i > 0)) return false;
        chain->left += n;
    }
    return chain->left > 0;
}

void graph_build_functions(struct graph *graph, const struct graph_job *job) {
    struct chain chain = {.graph = graph, .primitive = job->primitive};
    if (!count_instructions(&chain)) {
        graph_fail(graph, CM_BACKEND_REFUSED, "function not supported by cuDNN");
        return;
    }
    if (!read_shapes(&chain)) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "its operands are not three dims in rows, or of an element that cuDNN has "
                   "not got");
        return;
    }
    chain.value = input(&chain, 0);
    for (int i = 0; i < job->primitive->n_steps; i++) {
        const struct cm_eltwise *step = &job->primitive->steps[i];
        if (step->function == CM_SELECT)
            run_select(&chain);
        else
            run_program(&chain, &programs[step->function], step);
    }
}
