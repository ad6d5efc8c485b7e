/* SPDX-License-Identifier: Apache-2.0 */
/* Provider `cudnn graph`: runs a primitive as one or two graphs, each with its own plan. */
#include <stdlib.h>

#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_search.h"
#include "backends/cuda/provider.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

#define MAX_ALTERNATIVES 5

/* clang-format off */
/* Values of applies_to. */
enum {
    PLAIN = 1 << GRAPH_NONE, BIASED = 1 << GRAPH_BIAS, STEPPED = 1 << GRAPH_STEPS,
    FULL = 1 << GRAPH_BOTH, ANY = PLAIN | BIASED | STEPPED | FULL
};

#define CONVOLUTION                                                                            \
    {{{graph_build_convolution, GRAPH_BOTH}}, ANY, NULL},                                      \
    {{{graph_build_convolution, GRAPH_BIAS}, {graph_build_convolution_tail, GRAPH_STEPS}},     \
     FULL, "unfused post-ops"},                                                                \
    {{{graph_build_convolution, GRAPH_NONE}, {graph_build_convolution_tail, GRAPH_BOTH}},      \
     BIASED, "unfused biases"},                                                                \
    {{{graph_build_convolution, GRAPH_NONE}, {graph_build_convolution_tail, GRAPH_BOTH}},      \
     STEPPED, "unfused post-ops"},                                                             \
    {{{graph_build_convolution, GRAPH_NONE}, {graph_build_convolution_tail, GRAPH_BOTH}},      \
     FULL, "unfused biases and post-ops"}

/* A matrix product is refused if no engine fuses its post-ops: cuBLASLt and a separate kernel
 * for the post-ops are faster. */
static const struct graph_alternative alternatives[CM_N_PRIMITIVES][MAX_ALTERNATIVES + 1] = {
    [CM_CONV] = {CONVOLUTION},
    [CM_DECONV] = {CONVOLUTION},
    [CM_GEMM] = {
        {{{graph_build_product, GRAPH_BOTH}}, ANY, NULL},
        {{{graph_build_product, GRAPH_NONE}, {graph_build_product_tail, GRAPH_BIAS}}, BIASED,
         "unfused addend"},
        {{{graph_build_product_convolution, GRAPH_NONE}}, PLAIN, "as a 1x1 convolution"},
        {{{graph_build_product_convolution, GRAPH_NONE}, {graph_build_product_tail, GRAPH_BIAS}},
         BIASED, "as a 1x1 convolution, unfused addend"},
    },
    [CM_POOL] = {{{{graph_build_pool, GRAPH_NONE}}, ANY, NULL}},
    [CM_NORM] = {{{{graph_build_norm, GRAPH_NONE}}, ANY, NULL}},
    [CM_ELTWISE] = {{{{graph_build_functions, GRAPH_NONE}}, ANY, NULL}},
    [CM_SOFTMAX] = {{{{graph_build_softmax, GRAPH_NONE}}, ANY, NULL}},
    [CM_REDUCE] = {{{{graph_build_reduction, GRAPH_NONE}}, ANY, NULL}},
    [CM_ATTENTION] = {
        {{{graph_build_attention, GRAPH_NONE}}, ANY, NULL},
        {{{graph_build_attention_parts, GRAPH_NONE}}, ANY, NULL},
    },
};
/* clang-format on */

struct part {
    struct graph graph; /* owns the plan */
    struct graph_found found;
};

struct graph_step {
    const struct cuda_cudnn *cudnn;
    cudnnHandle_t handle;
    const struct graph_alternative *alternative;
    bool requantizes;
    bool multiplies; /* the primitive is a product: engines with tensor cores use them */
    int n_parts;
    struct part parts[GRAPH_MAX_PARTS];
};

static void drop(void *own) {
    struct graph_step *step = own;
    for (int i = 0; i < step->n_parts; i++) graph_end(&step->parts[i].graph);
    free(step);
}

/* Returns true if row-major images are planned as channels-last. Engines for 16-bit and
 * narrower types are channels-last and would transpose row-major images twice in the workspace.
 * The layout is changed only if the user did not choose one (docs/decisions/planning.md). */
static bool prefers_last(const struct cm_device *device, const struct cm_primitive *primitive) {
    const int32_t element = primitive->inputs[0].element;
    return device->options.layout == CM_LAYOUT_AUTO && element != CM_F32 && element != CM_F64;
}

/* Refuses empty operands: cuDNN would divide by zero. */
static int check(const struct cm_primitive *primitive, struct cm_reason *reason) {
    for (int i = 0; i < primitive->n_inputs; i++)
        if (primitive_elements(&primitive->inputs[i]) == 0)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "an operand is empty");
    for (int i = 0; i < primitive->n_outputs; i++)
        if (primitive_elements(&primitive->outputs[i]) == 0)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "the result is empty");
    return CM_BACKEND_OK;
}

/* Plans all parts. `candidate`: plan of the first part, which does most of the work. Only the
 * first part multiplies; the second, such as adding a bias, cannot round fp32 to tf32 and may
 * use any engine. Products of fp32 and fp64 use tensor cores only if tf32 is allowed. */
static int try_alternative(struct cm_device *device, struct graph_job job, enum graph_tail tail,
                           const struct graph_alternative *alternative, int candidate,
                           struct graph_step *step, struct cm_reason *reason) {
    const int32_t element = job.primitive->inputs[0].element;
    const bool strict = device->options.precision != CM_PRECISION_TF32 && step->multiplies &&
                        (element == CM_F32 || element == CM_F64);
    step->alternative = alternative;
    step->n_parts = 0;
    for (int i = 0; i < GRAPH_MAX_PARTS && alternative->parts[i].build != NULL; i++) {
        struct part *part = &step->parts[step->n_parts++];
        graph_begin(&part->graph, &device->cudnn);
        job.tail = alternative->parts[i].tail & tail;
        alternative->parts[i].build(&part->graph, &job);
        const int status = graph_search(&part->graph, device, strict && i == 0,
                                        i == 0 ? candidate : 0, &part->found);
        if (status == CM_BACKEND_OK) continue;
        *reason = part->graph.reason;
        while (step->n_parts > 0) graph_end(&step->parts[--step->n_parts].graph);
        return status;
    }
    return CM_BACKEND_OK;
}

/* Uses the first alternative that can be planned. If the first one is refused, *reason is
 * its reason, even if a later one is used. */
static int try_alternatives(struct cm_device *device, const struct cm_primitive *primitive,
                            int candidate, struct graph_step *step, struct cm_reason *reason) {
    const struct graph_job job = {primitive, prefers_last(device, primitive), GRAPH_NONE};
    const enum graph_tail tail = (primitive_has_bias(primitive) ? GRAPH_BIAS : GRAPH_NONE) |
                                 (primitive->n_steps > 0 ? GRAPH_STEPS : GRAPH_NONE);
    const struct graph_alternative *first = alternatives[primitive->kind];
    int status = CM_BACKEND_REFUSED;
    if (first->parts[0].build == NULL)
        return cuda_refuse(reason, status, "the cuDNN graph API has no such operation");
    for (const struct graph_alternative *at = first; at->parts[0].build != NULL; at++) {
        struct cm_reason why = {""};
        if ((at->applies_to & 1U << tail) == 0) continue;
        status = try_alternative(device, job, tail, at, candidate, step, &why);
        if (at == first || status == CM_BACKEND_NO_MEMORY) *reason = why;
        if (status != CM_BACKEND_REFUSED) break;
        /* It has plans, but at most `candidate` of them. */
        if (step->parts[0].found.accepted > 0) break;
    }
    return status;
}

static const struct {
    bool behavior;
    unsigned bit;
    const char *text;
} notes[] = {
    {false, CUDNN_NUMERICAL_NOTE_WINOGRAD, "winograd"},
    {false, CUDNN_NUMERICAL_NOTE_FFT, "fft"},
    {false, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "rounds its operands"},
    {false, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "rounds its sums"},
    {false, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "not deterministic"},
    {true, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, "compiled when planned"},
};

/* Names of well-known knob types (cudnnBackendKnobType_t). Knob values are internal numbers of
 * cuDNN. */
static const struct {
    int type;
    const char *name;
} knob_names[] = {{0, "split-k"},          {1, "swizzle"},   {2, "tile"},
                  {12, "split-k buffers"}, {13, "tile k"},   {14, "stages"},
                  {17, "split-k slices"},  {24, "kernel"},   {27, "cluster m"},
                  {28, "cluster n"},       {38, "stream-k"}, {40, "tile m"},
                  {41, "tile n"}};
#define N_KNOB_NAMES (sizeof(knob_names) / sizeof(knob_names[0]))

/* Prints "engine 62, tile 5, stages 4, compiled when planned, unfused biases". Knobs without a
 * name are printed as in NVIDIA's names of plans: "k42=1". */
static void print_algorithm(const struct graph_step *step, char *ret, size_t size) {
    const struct graph_found *found = &step->parts[0].found;
    if (found->engine >= 0)
        cuda_append(ret, size, ", ", "engine %lld", (long long)found->engine);
    for (int i = 0; i < found->n_knobs; i++) {
        const long long value = (long long)found->knobs[i].value;
        size_t at = 0;
        while (at < N_KNOB_NAMES && knob_names[at].type != found->knobs[i].type) at++;
        if (at < N_KNOB_NAMES)
            cuda_append(ret, size, ", ", "%s %lld", knob_names[at].name, value);
        else
            cuda_append(ret, size, ", ", "k%d=%lld", (int)found->knobs[i].type, value);
    }
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        const uint64_t bits =
            notes[i].behavior ? found->behavior_notes : found->numerical_notes;
        if ((bits >> notes[i].bit & 1) != 0) cuda_append(ret, size, ", ", "%s", notes[i].text);
    }
    if (step->requantizes) cuda_append(ret, size, ", ", "requantizes to int8");
    if (step->alternative->remark != NULL)
        cuda_append(ret, size, ", ", "%s", step->alternative->remark);
}

/* The tensor-core note marks engines that can use tensor cores. Only products are assumed
 * to use them: the pointwise engine has this note too. */
static void facts(const void *own, struct cm_how *ret) {
    const struct graph_step *step = own;
    const uint64_t bit = UINT64_C(1) << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    print_algorithm(step, ret->algorithm, sizeof(ret->algorithm));
    ret->tensor_cores = step->multiplies ? CM_TENSOR_CORES_YES : CM_TENSOR_CORES_UNKNOWN;
    if ((step->parts[0].found.numerical_notes & bit) == 0)
        ret->tensor_cores = CM_TENSOR_CORES_NO;
}

static int execute(const struct graph_step *step, struct part *part,
                   const struct cuda_operands *operands, struct cm_reason *reason) {
    struct graph *graph = &part->graph;
    int64_t ids[GRAPH_MAX_OPERANDS];
    void *addresses[GRAPH_MAX_OPERANDS];
    void *workspace = provider_pointer(operands->workspace);
    cudnnBackendDescriptor_t pack = NULL;
    const struct cuda_cudnn *cudnn = step->cudnn;
    for (int i = 0; i < graph->n_operands; i++) {
        struct graph_operand *operand = &graph->operands[i];
        ids[i] = operand->id;
        if (operand->role == GRAPH_VALUE)
            addresses[i] = &operand->value; /* in host memory */
        else
            addresses[i] = provider_pointer(operand->role == GRAPH_INPUT
                                                ? operands->inputs[operand->index]
                                                : operands->outputs[operand->index]);
    }
    cudnnStatus_t status =
        cudnn->cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                                 CUDNN_TYPE_INT64, graph->n_operands, ids);
    if (status == CUDNN_STATUS_SUCCESS)
        status =
            cudnn->cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                            CUDNN_TYPE_VOID_PTR, graph->n_operands, addresses);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                                 CUDNN_TYPE_VOID_PTR, 1, &workspace);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnn->cudnnBackendFinalize(pack);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->cudnnBackendExecute(step->handle, part->found.plan, pack);
    char words[CM_REASON_SIZE];
    if (status != CUDNN_STATUS_SUCCESS) api_cudnn_error(cudnn, status, words, sizeof(words));
    if (pack != NULL) (void)cudnn->cudnnBackendDestroyDescriptor(pack);
    if (status == CUDNN_STATUS_SUCCESS) return CM_BACKEND_OK;
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "cuDNN cannot execute the plan: %s", words);
}

/* Ignores `stream`: cuDNN uses the stream of its handle. */
static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    struct graph_step *step = own;
    int status = CM_BACKEND_OK;
    (void)stream;
    for (int i = 0; i < step->n_parts && status == CM_BACKEND_OK; i++)
        status = execute(step, &step->parts[i], operands, reason);
    return status;
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    if (!device->has_cudnn.available) {
        *reason = device->has_cudnn.reason;
        return CM_BACKEND_REFUSED;
    }
    int status = check(primitive, reason);
    if (status != CM_BACKEND_OK) return status;
    struct graph_step *step = calloc(1, sizeof(*step));
    if (step == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    step->cudnn = &device->cudnn;
    step->handle = device->cudnn_handle;
    step->requantizes = graph_requantizes(primitive);
    step->multiplies = primitive_is_product(primitive);
    struct cm_reason why = {""};
    status = try_alternatives(device, primitive, candidate, step, &why);
    if (status != CM_BACKEND_OK) {
        *reason = why;
        free(step);
        return status;
    }
    *ret = (struct cuda_step){
        .own = step,
        .launch = step->handle != NULL ? launch : NULL,
        .facts = facts,
        .drop = drop,
        .state = CM_MEASURED,
    };
    for (int i = 0; i < step->n_parts; i++) {
        const struct graph_found *found = &step->parts[i].found;
        ret->plans_tried += found->tried;
        if (found->workspace_bytes > ret->workspace_bytes)
            ret->workspace_bytes = found->workspace_bytes;
    }
    if (why.text[0] != '\0')
        (void)cuda_refuse(&ret->note, 0, "the preferred graph is refused: %.200s", why.text);
    return CM_BACKEND_OK;
}

const struct cuda_provider cudnn_graph_provider = {
    .name = "cudnn graph",
    .tensor_core_rule = "cudnn note",
    .make = make,
};
