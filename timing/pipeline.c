/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the timing half in order. */
#include "timing/pipeline.h"

#include "support/arena.h"
#include "support/diag.h"
#include "timing/advice.h"
#include "timing/breakdown.h"
#include "timing/estimate.h"
#include "timing/gradient_kernels.h"
#include "timing/input_pipeline.h"
#include "timing/kernels.h"
#include "timing/primitives.h"
#include "timing/roofline_bounds.h"
#include "timing/runtime.h"
#include "timing/times.h"

#define PASS(...) PASS_ROW(timing, __VA_ARGS__)

/* The header of each pass names the tables that it reads. Their tables are empty unless a
 * backend is selected or times are imported. */
/* clang-format off */
static const struct pass passes[] = {
    PASS(kernels, kernels, KERNELS, "map nodes to the kernels of a runtime, if a device is modelled"),
    PASS(primitives, primitives, PRIMITIVES, "lower nodes to the distinct primitives that a backend could run"),
    PASS(estimate, estimate, ESTIMATE, "get the latency of each primitive from the backend"),
    PASS(times, times, TIMES, "compute the times of nodes and modules"),
    PASS(gradient_kernels, gradient_kernels, GRADIENT_KERNELS, "model the kernels of backward and of the optimizer on a modelled device"),
    PASS(roofline_bounds, roofline_bounds, ROOFLINE_BOUNDS, "find the resource that limits each latency"),
    PASS(breakdown, breakdown, BREAKDOWN, "sum the latency by operator and by kernel"),
    PASS(advice, advice, ADVICE, "suggest optimizations, if latencies are available"),
    PASS(input_pipeline, input_pipeline, INPUT_PIPELINE, "compare the demand for input samples with links; requires times"),
};
/* clang-format on */

const struct pipeline timing_pipeline = {passes, sizeof passes / sizeof *passes,
                                         sizeof(struct timing), &core_pipeline};

static int run(const struct analysis *core, unsigned wanted, bool is_float,
               struct timing *timing) {
    struct cm_options *options = arena_alloc(core->arena, sizeof(*options));
    if (!options) return diag_no_memory(core->diag);
    *options = *core->options;
    *timing = (struct timing){.core = *core, .is_float = is_float};
    timing->core.options = options;
    int status = runtime_resolve(core, options);
    if (status == CM_OK) status = runner_start(&timing_pipeline, &timing->core);
    return status < 0 ? status : runner_run(&timing_pipeline, &timing->core, 0, wanted);
}

int timing_passes_run(const struct analysis *core, unsigned wanted, struct timing *timing) {
    return run(core, wanted, false, timing);
}

int timing_passes_run_float(const struct analysis *core, unsigned wanted,
                            struct timing *timing) {
    return run(core, wanted, true, timing);
}
