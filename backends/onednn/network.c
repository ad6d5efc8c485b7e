/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of a whole network: the calls of all steps, in order, on the operands of the
 * network. Operands for which oneDNN chose its own layout are reordered: weights once, when the
 * plan is made; activations by calls before and after the step. The time of the network
 * includes these calls, as in a runtime. */
#include "backends/onednn/plan.h"

#include "backends/primitive.h"

/* Elements of plan->built per primitive: its own and the reorders of up to three operands. */
#define BUILT_A_PRIMITIVE 4

struct network_build {
    struct cm_plan *plan;
    const struct cm_network *network;
    size_t n_calls;
    size_t private_bytes; /* bytes of NETWORK_PRIVATE used so far */
    struct cm_reason *reason;
};

static struct built *built_of(const struct network_build *build, uint32_t primitive) {
    return &build->plan->built[(size_t)primitive * BUILT_A_PRIMITIVE];
}

static bool is_output(const struct built_operand *operand) {
    return operand->role >= BUILT_OUTPUT && operand->role < BUILT_TEMPORARY;
}

static bool is_input(const struct built_operand *operand) {
    return operand->role >= BUILT_INPUT && operand->role < BUILT_OUTPUT;
}

/* Returns the place of an operand in the network; NULL if the plan owns it. */
static const struct cm_place *place_of(const struct cm_network_step *step,
                                       const struct built_operand *operand) {
    if (is_input(operand)) return &step->inputs[operand->role - BUILT_INPUT];
    if (is_output(operand)) return &step->outputs[operand->role - BUILT_OUTPUT];
    return NULL;
}

static char *address_at(const struct network_build *build, const struct cm_place *place) {
    const int block = place->block == CM_BLOCK_WEIGHTS ? NETWORK_WEIGHTS : NETWORK_ARENA;
    return (char *)build->plan->blocks[block] + place->offset;
}

static bool is_inside(const struct network_build *build, const struct cm_place *place,
                      size_t bytes) {
    const bool weights = place->block == CM_BLOCK_WEIGHTS;
    const int64_t all = weights ? build->network->weight_bytes : build->network->arena_bytes;
    return place->offset >= 0 && place->offset <= all && bytes <= (size_t)(all - place->offset);
}

/* Builds the reorder of an operand from the model's layout to the primitive's, or of an output
 * from the primitive's layout to the model's. */
static int build_reorder(const struct network_build *build, size_t at,
                         const struct built *built, int operand) {
    const struct onednn *lib = build->plan->lib;
    const struct built_operand *what = &built->operands[operand];
    struct built *reorder = &build->plan->built[at];
    onednn_desc own = NULL; /* layout in which the parts use the operand */
    for (int i = 0; own == NULL && i < built->n_parts; i++)
        for (int j = 0; own == NULL && j < built->parts[i].n_args; j++)
            if (built->parts[i].args[j].operand == operand) own = built->parts[i].args[j].desc;
    onednn_desc from = is_output(what) ? own : what->model_desc;
    onednn_desc to = is_output(what) ? what->model_desc : own;
    reorder->n_parts = 1;
    const dnnl_status_t status = lib->api.dnnl_reorder_primitive_desc_create(
        &reorder->parts[0].primitive, from, lib->engine, to, lib->engine, NULL);
    if (status != dnnl_success)
        return onednn_refuse(build->reason, CM_BACKEND_REFUSED,
                             "oneDNN cannot reorder an operand: status %d", (int)status);
    reorder->parts[0].args[0] = (struct built_arg){DNNL_ARG_FROM, operand, from};
    reorder->parts[0].args[1] = (struct built_arg){DNNL_ARG_TO, operand, to};
    return plan_create(build->plan, at, build->reason);
}

/* Builds a primitive and the reorders of its operands. */
static int build_all_of(const struct network_build *build, uint32_t primitive,
                        bool keep_layout) {
    struct cm_plan *plan = build->plan;
    size_t at = (size_t)primitive * BUILT_A_PRIMITIVE;
    const size_t last = at + BUILT_A_PRIMITIVE - 1;
    struct built *built = &plan->built[at];
    int status = build_primitive(plan->lib, &build->network->primitives[primitive], keep_layout,
                                 built, build->reason);
    if (status != CM_BACKEND_OK) return status;
    status = plan_create(plan, at, build->reason);
    if (status == CM_BACKEND_OK && built->state == CM_PROXY) {
        plan->state = CM_PROXY;
        plan->note = built->note;
    }
    for (int i = 0; status == CM_BACKEND_OK && i < built->n_operands; i++)
        if (built->operands[i].model_desc != NULL && at < last)
            status = build_reorder(build, ++at, built, i);
    return status;
}

/* Sets ret[i] to the address of operand i in the layout that the step uses. Refuses an operand
 * outside its block. */
static int place_operands(struct network_build *build, const struct cm_network_step *step,
                          const struct built *built, char **ret) {
    const struct onednn_api *api = &build->plan->lib->api;
    for (int i = 0; i < built->n_operands; i++) {
        const struct built_operand *operand = &built->operands[i];
        const struct cm_place *place = place_of(step, operand);
        const size_t bytes = operand->model_desc != NULL
                                 ? api->dnnl_memory_desc_get_size(operand->model_desc)
                                 : operand->bytes;
        if (place != NULL && !is_inside(build, place, bytes))
            return onednn_refuse(build->reason, CM_BACKEND_REFUSED,
                                 "an operand of the network is outside its block");
        if (place != NULL && operand->model_desc == NULL) {
            ret[i] = address_at(build, place);
            continue;
        }
        ret[i] = (char *)build->plan->blocks[NETWORK_PRIVATE] + build->private_bytes;
        build->private_bytes += plan_aligned(operand->bytes);
        if (place == NULL) plan_fill(ret[i], operand->bytes, operand->type, 1);
    }
    return CM_BACKEND_OK;
}

static int no_memory(const struct network_build *build) {
    return onednn_refuse(build->reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

/* Adds the call that reorders an operand; `own` is its address in the step's layout. */
static int add_reorder(struct network_build *build, const struct cm_network_step *step,
                       int operand, char *own) {
    struct cm_plan *plan = build->plan;
    const struct built *built = built_of(build, step->primitive);
    const bool back = is_output(&built->operands[operand]);
    char *model_layout = address_at(build, place_of(step, &built->operands[operand]));
    size_t at = (size_t)step->primitive * BUILT_A_PRIMITIVE;
    for (int i = 0; i <= operand; i++) at += built->operands[i].model_desc != NULL;
    const struct built_part *part = &plan->built[at].parts[0];
    struct call *call = &plan->calls[build->n_calls++];
    call->primitive = plan->primitives[at * MAX_PARTS];
    if (plan_add_arg(plan, call, DNNL_ARG_FROM, part->args[0].desc,
                     back ? own : model_layout) != dnnl_success ||
        plan_add_arg(plan, call, DNNL_ARG_TO, part->args[1].desc, back ? model_layout : own) !=
            dnnl_success)
        return no_memory(build);
    return CM_BACKEND_OK;
}

/* Adds the calls of a step: reorders of inputs, the parts, reorders of outputs. Weights are
 * reordered now, not by a call. */
static int add_step(struct network_build *build, const struct cm_network_step *step,
                    char *const *bytes) {
    struct cm_plan *plan = build->plan;
    const struct built *built = built_of(build, step->primitive);
    const size_t at = (size_t)step->primitive * BUILT_A_PRIMITIVE * MAX_PARTS;
    int status = CM_BACKEND_OK;
    for (int i = 0; i < built->n_operands; i++) {
        const struct built_operand *operand = &built->operands[i];
        if (operand->model_desc == NULL || !is_input(operand)) continue;
        status = add_reorder(build, step, i, bytes[i]);
        if (status == CM_BACKEND_OK && place_of(step, operand)->block == CM_BLOCK_WEIGHTS)
            status = plan_run_call(plan, --build->n_calls, build->reason);
        if (status != CM_BACKEND_OK) return status;
    }
    for (int i = 0; i < built->n_parts; i++) {
        const struct built_part *part = &built->parts[i];
        struct call *call = &plan->calls[build->n_calls++];
        call->primitive = plan->primitives[at + (size_t)i];
        for (int j = 0; j < part->n_args; j++)
            if (plan_add_arg(plan, call, part->args[j].id, part->args[j].desc,
                             bytes[part->args[j].operand]) != dnnl_success)
                return no_memory(build);
    }
    for (int i = 0; status == CM_BACKEND_OK && i < built->n_operands; i++)
        if (built->operands[i].model_desc != NULL && is_output(&built->operands[i]))
            status = add_reorder(build, step, i, bytes[i]);
    return status;
}

/* Returns the summands per element of the result if inputs[operand] is weights; else 1. */
static int64_t count_summands(const struct cm_primitive *primitive, int operand) {
    const struct cm_tensor *weights = &primitive->inputs[operand];
    if (operand != 1 || weights->rank < 2) return 1;
    if (primitive->kind == CM_GEMM) return weights->dims[weights->rank - 2];
    if (primitive->kind != CM_CONV && primitive->kind != CM_DECONV) return 1;
    const int64_t results = weights->dims[primitive->kind == CM_DECONV ? 1 : 0];
    return primitive_elements(weights) / (results > 0 ? results : 1);
}

/* Fills both blocks with random numbers. Divides the weights of products by the number of
 * summands, so that activations neither vanish nor overflow fp32 over a hundred layers. */
static void fill_at_random(const struct network_build *build) {
    const struct cm_network *network = build->network;
    plan_fill(build->plan->blocks[NETWORK_ARENA], (size_t)network->arena_bytes, dnnl_f32, 1);
    plan_fill(build->plan->blocks[NETWORK_WEIGHTS], (size_t)network->weight_bytes, dnnl_f32, 1);
    for (uint32_t i = 0; i < network->n_steps; i++) {
        const struct cm_network_step *step = &network->steps[i];
        const struct cm_primitive *primitive = &network->primitives[step->primitive];
        for (int k = 0; k < primitive->n_inputs; k++) {
            const struct cm_tensor *tensor = &primitive->inputs[k];
            const struct cm_place *place = &step->inputs[k];
            const int64_t summands = count_summands(primitive, k);
            const size_t bytes =
                (size_t)(primitive_elements(tensor) * primitive_element_size(tensor->element));
            /* place_operands refuses an operand outside its block */
            if (place->block == CM_BLOCK_WEIGHTS && is_inside(build, place, bytes))
                plan_fill(address_at(build, place), bytes, build_type(tensor->element),
                          1.0 / (double)(summands > 0 ? summands : 1));
        }
    }
}

/* Allocates the blocks and the calls. Operands that the plan owns are allocated for each step:
 * steps of one primitive could share temporaries, but not reordered weights. */
static int allocate(struct network_build *build, const struct plan_limits *limits) {
    struct cm_plan *plan = build->plan;
    const struct cm_network *network = build->network;
    size_t own = 0;
    size_t n_calls = 1;
    for (uint32_t i = 0; i < network->n_steps; i++) {
        const struct cm_network_step *step = &network->steps[i];
        const struct built *built = built_of(build, step->primitive);
        n_calls += (size_t)(built->n_parts + built->n_operands);
        for (int j = 0; j < built->n_operands; j++)
            if (built->operands[j].model_desc != NULL ||
                place_of(step, &built->operands[j]) == NULL)
                own += plan_aligned(built->operands[j].bytes);
    }
    const int64_t all = network->arena_bytes + network->weight_bytes + (int64_t)own;
    if (limits->memory_bytes > 0 && all > limits->memory_bytes)
        return onednn_refuse(build->reason, CM_BACKEND_NO_MEMORY,
                             "needs %lld bytes, the limit is %lld", (long long)all,
                             (long long)limits->memory_bytes);
    plan->blocks[NETWORK_ARENA] = plan_memory((size_t)network->arena_bytes);
    plan->blocks[NETWORK_WEIGHTS] = plan_memory((size_t)network->weight_bytes);
    plan->blocks[NETWORK_PRIVATE] = plan_memory(own);
    for (int i = NETWORK_ARENA; i <= NETWORK_PRIVATE; i++)
        if (plan->blocks[i] == NULL) return no_memory(build);
    return plan_reserve(plan, n_calls) ? CM_BACKEND_OK : no_memory(build);
}

static int make(struct network_build *build, bool keep_layout, const struct plan_limits *limits,
                const struct network_filling *filling) {
    struct cm_plan *plan = build->plan;
    const struct cm_network *network = build->network;
    int status = CM_BACKEND_OK;
    for (uint32_t i = 0; status == CM_BACKEND_OK && i < network->n_primitives; i++)
        status = build_all_of(build, i, keep_layout);
    if (status == CM_BACKEND_OK) status = allocate(build, limits);
    if (status != CM_BACKEND_OK) return status;
    if (filling != NULL)
        filling->fill(filling->context, network, plan->blocks[NETWORK_ARENA],
                      plan->blocks[NETWORK_WEIGHTS]);
    else
        fill_at_random(build);
    for (uint32_t i = 0; status == CM_BACKEND_OK && i < network->n_steps; i++) {
        const struct cm_network_step *step = &network->steps[i];
        char *bytes[MAX_OPERANDS];
        status = place_operands(build, step, built_of(build, step->primitive), bytes);
        if (status == CM_BACKEND_OK) status = add_step(build, step, bytes);
    }
    plan->n_calls = build->n_calls;
    return status;
}

int network_make(const struct onednn *lib, const struct cm_network *network, bool keep_layout,
                 const struct plan_limits *limits, const struct network_filling *filling,
                 struct cm_plan **ret, struct cm_reason *reason) {
    struct network_build build = {.network = network, .reason = reason};
    for (uint32_t i = 0; i < network->n_steps; i++)
        if (network->steps[i].primitive >= network->n_primitives)
            return onednn_refuse(reason, CM_BACKEND_REFUSED,
                                 "step %u of the network has no primitive", (unsigned)i);
    if (network->n_steps == 0 || network->arena_bytes < 0 || network->weight_bytes < 0)
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "the network has no steps");
    build.plan = plan_new(lib, (size_t)network->n_primitives * BUILT_A_PRIMITIVE);
    if (build.plan == NULL) return no_memory(&build);
    build.plan->cold = true; /* a network is run warm only */
    build.plan->algorithm = "steps of oneDNN in their order";
    const int status = make(&build, keep_layout, limits, filling);
    if (status == CM_BACKEND_OK)
        *ret = build.plan;
    else
        plan_drop(build.plan);
    return status;
}
