/* SPDX-License-Identifier: Apache-2.0 */
/* A modelled device as the costs of language models need it. */
#include "api/half.h"

#include "backends/device/collectives.h"
#include "backends/device/devices.h"
#include "backends/device/kernel_time.h"
#include "llm/machine.h"
#include "support/arena.h"
#include "support/diag.h"

/* Of 42 measured servers (docs/decisions/llm-times.md): seconds in which the host schedules a
 * step and samples tokens; and the measured times as multiples of the expected ones, eight of
 * ten of which are between. */
#define SERVING_STEP 0.7e-3
#define SERVING_LOW  0.8
#define SERVING_HIGH 1.8

struct machine {
    struct device_model model;
    struct device_calibration calibrations[N_WIDTHS];
};

static const struct device_efficiency *efficiency_of(const struct machine *machine,
                                                     enum cm_element element) {
    return &machine->calibrations[device_width_of(element, CM_PRECISION_AS_STORED)].efficiency;
}

static bool primitive_time(void *context, const struct cm_primitive *primitive, double *ret) {
    const struct machine *machine = context;
    if (primitive->flops > 0 &&
        kernel_rate(&machine->model, primitive, CM_PRECISION_AS_STORED) == RATE_NONE)
        return false;
    const enum cm_element element = (enum cm_element)primitive->inputs[0].element;
    *ret = kernel_time(&machine->model, efficiency_of(machine, element), primitive,
                       CM_PRECISION_AS_STORED)
               .expected;
    return true;
}

static double product_rate(void *context, enum cm_element element) {
    const struct machine *machine = context;
    const struct device_model *model = &machine->model;
    const enum device_rate rate = device_product_rate(model, element, CM_PRECISION_AS_STORED);
    const double headroom = model->clock_headroom > 1 ? model->clock_headroom : 1;
    return rate == RATE_NONE ? 0 : model->rates[rate] * headroom;
}

/* Returns the expected seconds. Collectives of experts are those of GPUs of one node. */
static double collective_time(void *context, enum llm_collective kind, int64_t gpus,
                              double bytes, double *ret_bound) {
    static const enum device_collective kinds[N_COLLECTIVES] = {
        DEVICE_ALL_REDUCE, DEVICE_ALL_GATHER, DEVICE_ALL_TO_ALL, DEVICE_SEND};
    const struct machine *machine = context;
    struct device_collective_time time = {.expected = 0};
    *ret_bound = 0;
    if (!device_collective_time(&machine->model, kinds[kind], (int)gpus, bytes, &time))
        return 0;
    *ret_bound = time.bound;
    return time.expected;
}

int half_machine(const char *device, enum cm_runtime runtime, struct arena *arena,
                 struct cm_diagnostics *diag, struct llm_machine *ret) {
    struct machine *machine = arena_alloc(arena, sizeof *machine);
    struct cm_reason reason = {""};
    *ret = (struct llm_machine){.name = NULL};
    if (!machine) return diag_no_memory(diag);
    const int found = device_find(device, arena, &machine->model, &reason);
    if (found == CM_BACKEND_NO_MEMORY) return diag_no_memory(diag);
    if (found != CM_BACKEND_OK) return diag_error(diag, DIAG_USAGE, "%s", reason.text);
    if (runtime == CM_RUNTIME_AUTO)
        runtime = CM_RUNTIME_TORCH_COMPILE; /* replays its kernels */
    for (int width = 0; width < N_WIDTHS; width++)
        machine->calibrations[width] =
            device_calibration_find(&machine->model, runtime, (enum device_width)width);
    const bool is_gpu = machine->model.host_link > 0;
    const struct device_calibration *usual = &machine->calibrations[WIDTH_FP16];
    *ret = (struct llm_machine){
        .context = machine,
        .name = machine->model.title,
        .basis = usual->basis ? usual->basis : "",
        .time = primitive_time,
        .rate = product_rate,
        .collective = collective_time,
        .bandwidth = machine->model.bandwidth,
        .run = is_gpu ? SERVING_STEP : usual->efficiency.run,
        .low = is_gpu ? SERVING_LOW : DEVICE_UNSEEN_LOW,
        .high = is_gpu ? SERVING_HIGH : DEVICE_UNSEEN_HIGH,
        .memory_bytes = machine->model.memory_bytes,
    };
    return CM_OK;
}
