/* SPDX-License-Identifier: Apache-2.0 */
/* The text report and the listing of DeepSpeed's flops profiler: options, and sections. */
#include "report/report.h"

#include "report/page.h"
#include "report/text/sections.h"
#include "support/arena.h"

#define LINES_OF_TABLE 3 /* an empty line, the headings, the row of all other modules */

int report_write_text(const struct report *report) {
    const struct cm_result *result = report->result;
    const struct cm_text_options *options = report->text;
    struct arena *arena = arena_new("report", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    struct page page;
    page_init(&page, options, arena, report->out);
    page.units = number_style_of(options->units, NUMBERS_SI);
    overview_write(&page, result);
    if (options->depth != 0)
        hotspots_write(&page, result, page_rows_left(&page, LINES_OF_TABLE));
    if (options->curve) curve_write(&page, result);
    plan_write(&page, result);
    if (options->tree) detailed_write(&page, result);
    if (options->operators) breakdown_write_operators(&page, result);
    if (options->layers && cm_result_timed(result)) breakdown_write_layers(&page, result);
    if (options->kernels && cm_result_timed(result)) breakdown_write_kernels(&page, result);
    input_pipeline_write(&page, result);
    return arena_end(arena, page_finish(&page));
}

int report_write_deepspeed(const struct report *report) {
    const struct cm_result *result = report->result;
    const struct cm_text_options *options = report->text;
    struct arena *arena = arena_new("report", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    struct page page;
    page_init(&page, options, arena, report->out);
    page.units = number_style_of(options->units, NUMBERS_DEEPSPEED);
    summary_write(&page, result);
    if (options->curve) curve_write(&page, result);
    plan_write(&page, result);
    aggregated_write(&page, result);
    if (options->detailed) detailed_write(&page, result);
    if (options->operators) breakdown_write_operators(&page, result);
    if (options->layers && cm_result_timed(result)) breakdown_write_layers(&page, result);
    if (options->kernels && cm_result_timed(result)) breakdown_write_kernels(&page, result);
    input_pipeline_write(&page, result);
    advice_write(&page, result);
    page_rule(&page, NULL);
    return arena_end(arena, page_finish(&page));
}
