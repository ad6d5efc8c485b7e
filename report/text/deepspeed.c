/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of DeepSpeed's flops profiler: the order of its sections. */
#include "costmodel/costmodel.h"

#include "report/page.h"
#include "report/text/sections.h"
#include "support/arena.h"

#include "support/banned.h"

int cm_result_write_deepspeed(const struct cm_result *result,
                              const struct cm_text_options *options, FILE *out) {
    if (result == NULL || options == NULL || out == NULL) return CM_USAGE;
    struct arena *arena = arena_new("report", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    struct page page;
    page_init(&page, options, arena, out);
    if (options->units == CM_UNITS_AUTO) page.units = NUMBERS_DEEPSPEED;
    summary_write(&page, result);
    if (options->curve) curve_write(&page, result);
    plan_write(&page, result);
    aggregated_write(&page, result);
    if (options->detailed) detailed_write(&page, result);
    if (options->operators) operators_write(&page, result);
    if (options->layers && cm_result_timed(result)) layers_write(&page, result);
    if (options->kernels && cm_result_timed(result)) kernels_write(&page, result);
    input_pipeline_write(&page, result);
    advice_write(&page, result);
    page_rule(&page, NULL);
    return arena_end(arena, page_finish(&page));
}
