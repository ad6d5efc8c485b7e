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

#define PASS(name, table) PASS_ROW(timing, name, table)

/* The header of each pass names the tables that it reads. Their tables are empty unless a
 * backend is selected or times are imported. */
/* clang-format off */
static const struct pass passes[] = {
    {PASS(kernels, kernels), "map nodes to the kernels of a runtime, if a device is modelled",
     KERNELS_READS, TABLE_KERNELS},
    {PASS(primitives, primitives), "lower nodes to the distinct primitives that a backend could run",
     PRIMITIVES_READS, TABLE_PRIMITIVES},
    {PASS(estimate, estimate), "get the latency of each primitive from the backend",
     ESTIMATE_READS, TABLE_ESTIMATE},
    {PASS(times, times), "compute the times of nodes and modules",
     TIMES_READS, TABLE_TIMES},
    {PASS(gradient_kernels, gradient_kernels), "model the kernels of backward and of the optimizer on a modelled device",
     GRADIENT_KERNELS_READS, TABLE_GRADIENT_KERNELS},
    {PASS(roofline_bounds, roofline_bounds), "find the resource that limits each latency",
     ROOFLINE_BOUNDS_READS, TABLE_ROOFLINE_BOUNDS},
    {PASS(breakdown, breakdown), "sum the latency by operator and by kernel",
     BREAKDOWN_READS, TABLE_BREAKDOWN},
    {PASS(advice, advice), "suggest optimizations, if latencies are available",
     ADVICE_READS, TABLE_ADVICE},
    {PASS(input_pipeline, input_pipeline), "compare the demand for input samples with links; requires times",
     INPUT_PIPELINE_READS, TABLE_INPUT_PIPELINE},
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
