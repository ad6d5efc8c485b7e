/* SPDX-License-Identifier: Apache-2.0 */
/* Plans a network: one graph launches all steps, and activations share one arena. A step reads
 * what earlier steps wrote, as in the network itself. */
#include "backends/cuda/plan.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

/* Plans each primitive alone and takes the part of this plan: the network then runs the same
 * algorithms as the layers. *ret_workspace: largest workspace, bytes. */
static int make_parts(struct cm_plan *plan, const struct cm_network *network,
                      int64_t *ret_workspace, struct cm_reason *reason) {
    for (uint32_t i = 0; i < network->n_primitives; i++) {
        struct cm_reason why = {""};
        struct cm_plan *alone = NULL;
        const int status = plan_make(plan->device, &network->primitives[i], &alone, &why);
        if (status != CM_BACKEND_OK)
            return cuda_refuse(reason, status, "primitive %u: %.200s", i, why.text);
        plan->parts[i] = alone->parts[0];
        alone->parts[0].step = (struct cuda_step){.own = NULL};
        plan_drop(alone);
        if (plan->parts[i].step.workspace_bytes > *ret_workspace)
            *ret_workspace = plan->parts[i].step.workspace_bytes;
    }
    return CM_BACKEND_OK;
}

/* Returns the address of an operand; 0 if it is outside its block or misaligned. */
static CUdeviceptr address(const struct cm_plan *plan, const struct cm_network *network,
                           const struct cm_place *place, const struct cm_tensor *tensor) {
    const bool weights = place->block == CM_BLOCK_WEIGHTS;
    const int64_t end = checked_add(place->offset, primitive_span(tensor));
    const int64_t room = weights ? network->weight_bytes : network->arena_bytes;
    const int64_t before = weights ? memory_align(network->arena_bytes) : 0;
    if (place->offset < 0 || place->offset % MEMORY_ALIGNMENT != 0 || !is_known(end) ||
        end > room || (!weights && place->block != CM_BLOCK_ARENA))
        return 0;
    return plan->sets.block.base + (CUdeviceptr)before + (CUdeviceptr)place->offset;
}

/* Sets the addresses of the operands of a step and fills its inputs. This may overwrite
 * operands of other steps that share the memory; their contents stay random. */
static int place_step(struct cm_plan *plan, const struct cm_network *network, uint32_t index,
                      struct cm_reason *reason) {
    const struct cm_network_step *step = &network->steps[index];
    struct plan_launch *launch = &plan->launches[index];
    if (step->primitive >= network->n_primitives)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "step %u has no primitive", index);
    const struct cm_primitive *primitive = &network->primitives[step->primitive];
    launch->part = step->primitive;
    for (int32_t i = 0; i < primitive->n_inputs; i++) {
        const struct fill fill = fill_for(primitive, i);
        const struct cm_tensor *tensor = &primitive->inputs[i];
        const CUdeviceptr at = address(plan, network, &step->inputs[i], tensor);
        if (at == 0)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "step %u reads outside its block",
                               index);
        launch->operands.inputs[i] = at;
        const int status = sets_fill(plan->device, &fill, at, primitive_span(tensor), reason);
        if (status != CM_BACKEND_OK) return status;
    }
    for (int32_t i = 0; i < primitive->n_outputs; i++) {
        launch->operands.outputs[i] =
            address(plan, network, &step->outputs[i], &primitive->outputs[i]);
        if (launch->operands.outputs[i] == 0)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "step %u writes outside its block",
                               index);
    }
    return CM_BACKEND_OK;
}

/* Allocates one block for the arena, the weights and the workspace, and places all steps. */
static int place_all(struct cm_plan *plan, const struct cm_network *network, int64_t workspace,
                     struct cm_reason *reason) {
    const int64_t operands =
        checked_add(memory_align(network->arena_bytes), memory_align(network->weight_bytes));
    const int64_t bytes = checked_add(operands, memory_align(workspace));
    int status = memory_take(plan->device, bytes, bytes, &plan->sets.block, reason);
    if (status != CM_BACKEND_OK) return status;
    plan->sets.n = 1;
    plan->sets.bytes = operands;
    plan->sets.workspace = plan->sets.block.base + (CUdeviceptr)operands;
    for (uint32_t i = 0; i < network->n_steps && status == CM_BACKEND_OK; i++)
        status = place_step(plan, network, i, reason);
    return status;
}

int plan_network(struct cm_device *device, const struct cm_network *network,
                 struct cm_plan **ret, struct cm_reason *reason) {
    int64_t workspace = 0;
    if (device->options.plan_only || network->n_steps == 0 || network->n_primitives == 0)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "the network is empty");
    struct cm_plan *plan = plan_new(device, network->n_primitives, network->n_steps);
    if (plan == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const double begin = warmup_now();
    plan->is_network = true;
    int status = make_parts(plan, network, &workspace, reason);
    if (status == CM_BACKEND_OK) status = place_all(plan, network, workspace, reason);
    if (status == CM_BACKEND_OK) status = plan_run_once(plan, reason);
    if (status == CM_BACKEND_OK) status = plan_read_kernels(plan, reason);
    plan->plan_seconds = warmup_now() - begin;
    if (status == CM_BACKEND_OK)
        *ret = plan;
    else
        plan_drop(plan);
    return status;
}
