/* SPDX-License-Identifier: Apache-2.0 */
/* One primitive of the result: what it is, how it ran, and its time. */
#include "api/assembly.h"

#include "backends/primitive.h"
#include "passes/latency/roofline_bounds.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

static const char *primitive_text(struct assembly *assembly,
                                  const struct cm_primitive *primitive) {
    struct text text;
    text_init(&text, assembly->arena);
    primitive_print(primitive, &text);
    if (text.failed) assembly->failed = true;
    return text_string(&text);
}

static const char *const tensor_cores[] = {[CM_TENSOR_CORES_UNKNOWN] = "unknown",
                                           [CM_TENSOR_CORES_NO] = "no",
                                           [CM_TENSOR_CORES_YES] = "yes"};

/* A module may say anything. */
const char *assembly_tensor_cores(int32_t said) {
    return said == CM_TENSOR_CORES_NO || said == CM_TENSOR_CORES_YES ? tensor_cores[said]
                                                                     : tensor_cores[0];
}

const struct cm_achieved *assembly_achieved(struct assembly *assembly,
                                            const struct achieved *from) {
    if (!from->present) return NULL;
    struct cm_achieved *achieved = assembly_array(assembly, 1, sizeof(*achieved));
    if (!achieved) return NULL;
    *achieved = (struct cm_achieved){.flops_per_s = assembly_rounded(from->flops_per_s),
                                     .bytes_per_s = assembly_rounded(from->bytes_per_s),
                                     .roofline = assembly_ratio(from->roofline),
                                     .limited_by = roofline_bounds_name(from->bound)};
    return achieved;
}

static void take_kernel(struct assembly *assembly, const struct cm_kernel *from,
                        struct cm_kernel_run *ret) {
    *ret = (struct cm_kernel_run){
        .name = assembly_text(assembly, from->name),
        .calls = from->calls,
        .registers = from->registers,
        .shared_bytes = from->shared_bytes,
        .tensor_cores = assembly_tensor_cores(from->tensor_cores),
        .rule = assembly_text(assembly, from->rule),
        .blocks_per_unit = assembly_ratio(from->blocks_per_unit),
        .occupancy = assembly_ratio(from->occupancy),
    };
    for (int i = 0; i < 3; i++) {
        ret->grid[i] = from->grid[i];
        ret->block[i] = from->block[i];
    }
}

static void take_how(struct assembly *assembly, const struct cm_how *how,
                     struct cm_timed *ret) {
    const int32_t n = how->n_kernels < CM_MAX_KERNELS ? how->n_kernels : CM_MAX_KERNELS;
    ret->provider = assembly_text(assembly, how->provider);
    ret->algorithm = assembly_text(assembly, how->algorithm);
    ret->tensor_cores = assembly_tensor_cores(how->tensor_cores);
    ret->plans_tried = how->plans_tried;
    ret->sets = how->n_sets;
    ret->workspace_bytes = how->workspace_bytes;
    ret->plan_ps = assembly_ps(how->plan_seconds);
    if (n <= 0) return;
    struct cm_kernel_run *kernels = assembly_array(assembly, (size_t)n, sizeof(*kernels));
    for (int32_t i = 0; kernels && i < n; i++)
        take_kernel(assembly, &how->kernels[i], &kernels[i]);
    ret->n_kernels = (size_t)n;
    ret->kernels = kernels;
    ret->more_kernels = how->n_kernels - n;
}

static struct cm_clock_state take_clocks(struct assembly *assembly,
                                         const struct cm_clocks *from) {
    const struct cm_clock_state none = {.present = false, .throttle = ""};
    if (from->unit_mhz <= 0 && from->temperature_c <= 0 && !(from->power_w > 0)) return none;
    return (struct cm_clock_state){
        .present = true,
        .unit_mhz = from->unit_mhz,
        .unit_most_mhz = from->unit_most_mhz,
        .memory_mhz = from->memory_mhz,
        .temperature_c = from->temperature_c,
        .power_mw = assembly_rounded(from->power_w * 1000),
        .throttle = assembly_text(assembly, from->throttle),
    };
}

static void take_figures(const struct cm_measurement *from, struct cm_timed *ret) {
    const bool has_time = from->cold.median > 0;
    const bool is_warm = from->warm.median > 0;
    ret->median_ps = assembly_ps(from->cold.median);
    ret->q1_ps = has_time ? assembly_ps(from->cold.q1) : CM_UNKNOWN;
    ret->q3_ps = has_time ? assembly_ps(from->cold.q3) : CM_UNKNOWN;
    ret->min_ps = has_time ? assembly_ps(from->cold.min) : CM_UNKNOWN;
    ret->max_ps = has_time ? assembly_ps(from->cold.max) : CM_UNKNOWN;
    ret->warm_ps = assembly_ps(from->warm.median);
    ret->warm_q1_ps = is_warm ? assembly_ps(from->warm.q1) : CM_UNKNOWN;
    ret->warm_q3_ps = is_warm ? assembly_ps(from->warm.q3) : CM_UNKNOWN;
    ret->samples = from->cold.n_samples;
    ret->drift = assembly_ratio(from->drift);
}

void assemble_timed(struct assembly *assembly, size_t index, struct cm_timed *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_primitive *primitive = &analysis->primitives.items[index];
    const struct cm_measurement *from = &analysis->estimate.items[index];
    *ret = (struct cm_timed){
        .primitive = primitive_text(assembly, primitive),
        .state = primitive_state_name(from->state),
        .reason = assembly_text(assembly, from->reason.text),
        .unstable = (from->flags & CM_FLAG_UNSTABLE) != 0,
        .few_samples = (from->flags & CM_FLAG_FEW_SAMPLES) != 0,
        .not_cold = (from->flags & CM_FLAG_NOT_COLD) != 0,
        .throttled = (from->flags & CM_FLAG_THROTTLED) != 0,
        .launches = (from->flags & CM_FLAG_LAUNCHES) != 0,
        .cached = (from->flags & CM_FLAG_CACHED) != 0,
        .flops = assembly_count(primitive->flops),
        .bytes = assembly_count(checked_add(primitive->bytes_read, primitive->bytes_written)),
        .achieved = assembly_achieved(assembly, &analysis->bounds.of_primitive[index]),
        .clocks = take_clocks(assembly, &from->clocks),
    };
    take_figures(from, ret);
    take_how(assembly, &from->how, ret);
}
