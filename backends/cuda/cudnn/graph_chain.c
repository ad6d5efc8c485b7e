/* SPDX-License-Identifier: Apache-2.0 */
/* Composes elementwise functions from cuDNN operations. */
#include "backends/cuda/cudnn/graph_chain.h"

#include <float.h>
#include <string.h>

#include "backends/coalesce_dims.h"
#include "backends/cuda/cudnn/graph_shape.h"

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

/* Limits of a relu: none; 0 .. 1; alpha .. beta; slope alpha below 0. */
enum limits { LIMITS_NONE, LIMITS_ONE, LIMITS_ALPHA_BETA, LIMITS_SLOPE_ALPHA };

/* The operations that compute a function; n = 0 if cuDNN lacks it. */
struct program {
    int n;
    struct instruction instructions[MAX_INSTRUCTIONS];
    enum limits limits; /* limits of its relu instruction */
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
    /* max(slope * x, x): valid for slopes below 1. */
    [CM_PRELU] = {.n = 2, .instructions = {
        {.mode = CUDNN_POINTWISE_MUL, .other = SOURCE_OPERAND},
        {.mode = CUDNN_POINTWISE_MAX, .other = SOURCE_FIRST}}},
};
/* clang-format on */

/* A selection must begin an elementwise chain. Steps of a product must not use its first two
 * operands. */
bool graph_chain_count(struct graph_chain *chain, int before, enum graph_tail tail) {
    const struct cm_primitive *primitive = chain->primitive;
    const bool is_chain = primitive->kind == CM_ELTWISE;
    bool known = true;
    chain->left = before + ((tail & GRAPH_BIAS) != 0);
    for (int i = 0; (tail & GRAPH_STEPS) != 0 && i < primitive->n_steps; i++) {
        const struct cm_eltwise *step = &primitive->steps[i];
        int n = programs[step->function].n;
        if (step->function == CM_SELECT)
            n = i == 0 && is_chain ? 1 : 0;
        else if (!is_chain && step->function >= CM_FIRST_BINARY && step->operand < 2)
            n = 0;
        known = known && n > 0;
        chain->left += n;
    }
    if (known && chain->left > 0) return true;
    graph_fail(chain->graph, CM_BACKEND_REFUSED, "function not supported by cuDNN");
    return false;
}

/* Sets *ret to the coalesced shape of operand `which`. Returns false if it is not row-major. */
static bool take_shape(const struct coalesced *coalesced, int which, struct graph_shape *ret) {
    const int more = MAX_DIMS - coalesced->rank;
    ret->rank = MAX_DIMS;
    for (int i = 0; i < MAX_DIMS; i++)
        ret->dims[i] = i < more ? 1 : coalesced->operand_dims[which][i - more];
    graph_shape_pack(ret, GRAPH_ROWS);
    for (int i = more; i < MAX_DIMS; i++)
        if (ret->dims[i] != 1 && ret->strides[i] != coalesced->strides[which][i - more])
            return false;
    return true;
}

/* Orders the axes by falling stride of the result, which makes any packed layout row-major. */
bool graph_chain_coalesce(struct graph_chain *chain) {
    const int n = chain->primitive->n_inputs;
    const struct graph_shape *result = &chain->result;
    struct cm_tensor tensors[CM_MAX_INPUTS + 1] = {{0}};
    const struct cm_tensor *pointers[CM_MAX_INPUTS + 1] = {NULL};
    int order[CM_MAX_RANK];
    struct coalesced coalesced;
    for (int i = 0; i < result->rank; i++) {
        int at = i;
        for (; at > 0 && result->strides[order[at - 1]] < result->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i <= n; i++) {
        const struct graph_shape *shape = i < n ? &chain->operands[i] : result;
        tensors[i].rank = shape->rank;
        pointers[i] = &tensors[i];
        for (int axis = 0; axis < shape->rank; axis++) {
            tensors[i].dims[axis] = shape->dims[order[axis]];
            tensors[i].strides[axis] = shape->strides[order[axis]];
        }
    }
    bool fits =
        coalesce_dims(pointers, n + 1, &tensors[n], &coalesced) && coalesced.rank <= MAX_DIMS;
    for (int i = 0; i <= n && fits; i++)
        fits = take_shape(&coalesced, i, i < n ? &chain->operands[i] : &chain->result);
    if (!fits)
        graph_fail(chain->graph, CM_BACKEND_REFUSED,
                   "the operands must coalesce to three dims in rows");
    return fits;
}

cudnnBackendDescriptor_t graph_chain_input(struct graph_chain *chain, int which) {
    if (chain->inputs[which] == NULL)
        chain->inputs[which] =
            graph_tensor(chain->graph, &chain->operands[which], GRAPH_INPUT, which);
    return chain->inputs[which];
}

/* Returns the result if this operation is the last, else a virtual tensor of `type`. */
static cudnnBackendDescriptor_t next_tensor(struct graph_chain *chain, cudnnDataType_t type) {
    struct graph_shape shape = chain->result;
    chain->left--;
    if (chain->left == 0) return graph_tensor(chain->graph, &shape, GRAPH_OUTPUT, 0);
    shape.type = type;
    return graph_tensor(chain->graph, &shape, GRAPH_VIRTUAL, 0);
}

cudnnBackendDescriptor_t graph_chain_next(struct graph_chain *chain) {
    const bool is_double = chain->primitive->inputs[0].element == CM_F64;
    return next_tensor(chain, is_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

/* Returns the second operand of an instruction; NULL if it has none. */
static cudnnBackendDescriptor_t other_of(struct graph_chain *chain,
                                         const struct instruction *instruction,
                                         const struct cm_eltwise *step,
                                         cudnnBackendDescriptor_t first) {
    float value = instruction->value;
    if (instruction->other == SOURCE_NONE) return NULL;
    if (instruction->other == SOURCE_FIRST) return first;
    if (instruction->other == SOURCE_OPERAND) return graph_chain_input(chain, step->operand);
    if (instruction->other == SOURCE_ALPHA) value = (float)step->alpha;
    if (instruction->other == SOURCE_BETA) value = (float)step->beta;
    return graph_value(chain->graph, chain->result.rank, value);
}

static void run_program(struct graph_chain *chain, const struct program *program,
                        const struct cm_eltwise *step) {
    const cudnnBackendDescriptor_t first = chain->value;
    const bool truth = program->logic || step->function == CM_COMPARE;
    const bool of_step = program->limits == LIMITS_ALPHA_BETA;
    const bool slopes = program->limits == LIMITS_SLOPE_ALPHA;
    for (int i = 0; i < program->n; i++) {
        const struct instruction *instruction = &program->instructions[i];
        struct graph_pointwise point = {
            .mode = instruction->mode,
            .compute = program->logic ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT,
            .alpha = step->alpha,
            .x = chain->value,
            .b = other_of(chain, instruction, step, first),
            .has_limits =
                program->limits != LIMITS_NONE && instruction->mode == CUDNN_POINTWISE_RELU_FWD,
            .low = of_step ? step->alpha : 0,
            .high = of_step ? step->beta : 1,
            .slope = slopes ? step->alpha : 0,
        };
        if (slopes) point.high = FLT_MAX;
        point.y = next_tensor(chain, truth ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT);
        graph_point(chain->graph, &point);
        chain->value = point.y;
    }
}

void graph_chain_point(struct graph_chain *chain, cudnnPointwiseMode_t mode,
                       cudnnBackendDescriptor_t other) {
    const struct graph_pointwise point = {
        .mode = mode, .x = chain->value, .b = other, .y = graph_chain_next(chain)};
    graph_point(chain->graph, &point);
    chain->value = point.y;
}

/* Applies a step. The first three operands of a selection are condition, then and else. */
static void run_step(struct graph_chain *chain, int index) {
    const struct cm_eltwise *step = &chain->primitive->steps[index];
    if (step->function != CM_SELECT) {
        run_program(chain, &programs[step->function], step);
        return;
    }
    if (chain->primitive->n_inputs < 3) {
        graph_fail(chain->graph, CM_BACKEND_REFUSED, "a selection must have three operands");
        return;
    }
    const struct graph_pointwise point = {
        .mode = CUDNN_POINTWISE_BINARY_SELECT,
        .t = chain->value,
        .x = graph_chain_input(chain, 1),
        .b = graph_chain_input(chain, 2),
        .y = next_tensor(chain, CUDNN_DATA_FLOAT),
    };
    graph_point(chain->graph, &point);
    chain->value = point.y;
}

/* If the first step adds a residual (an operand with the shape of the result), it precedes the
 * bias: precompiled engines require this order (docs/decisions/planning.md). */
void graph_chain_tail(struct graph_chain *chain, enum graph_tail tail) {
    const struct cm_eltwise *step = &chain->primitive->steps[0];
    const bool residual_first = tail == GRAPH_BOTH && step->function == CM_ADD &&
                                memcmp(chain->operands[step->operand].dims, chain->result.dims,
                                       (size_t)chain->result.rank * sizeof(int64_t)) == 0;
    if (residual_first) run_step(chain, 0);
    if ((tail & GRAPH_BIAS) != 0)
        graph_chain_point(chain, CUDNN_POINTWISE_ADD, graph_chain_input(chain, 2));
    for (int i = residual_first; (tail & GRAPH_STEPS) != 0 && i < chain->primitive->n_steps;
         i++)
        run_step(chain, i);
}

void graph_chain_in_place(struct graph_chain *chain, enum graph_tail tail) {
    if (!graph_chain_count(chain, 0, tail) || !graph_chain_coalesce(chain)) return;
    chain->value = chain->inputs[0] =
        graph_tensor(chain->graph, &chain->result, GRAPH_OUTPUT, 0);
    graph_chain_tail(chain, tail);
}
