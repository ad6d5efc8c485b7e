/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the text reports. Each writes whole lines to the page. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cm_result;
struct cm_sweep;
struct page;

/* The default report: the main figures, then the table of the most expensive modules. The table
 * has at most max_rows rows (0: no limit) and a row that sums up all other modules. */
void overview_write(struct page *page, const struct cm_result *result);
void hotspots_write(struct page *page, const struct cm_result *result, size_t max_rows);

/* The listing of DeepSpeed's flops profiler. */

void summary_write(struct page *page, const struct cm_result *result);
void memory_write(struct page *page, const struct cm_result *result); /* part of the summary */
void memory_write_device(struct page *page,
                         const struct cm_result *result); /* part of the summary */
/* Parts of the summary that the default report has too. */
void memory_write_schedule(struct page *page, const struct cm_result *result);
void memory_write_fit(struct page *page, const struct cm_result *result);
void curve_write(struct page *page, const struct cm_result *result);
void aggregated_write(struct page *page, const struct cm_result *result);
void detailed_write(struct page *page, const struct cm_result *result);

/* Writes the cuDNN plan of each distinct primitive; nothing without --cudnn-plan. */
void plan_write(struct page *page, const struct cm_result *result);
/* Writes the latency part of the summary. */
void measured_write(struct page *page, const struct cm_result *result);
/* Writes the source of imported times and the share of them that is placed on nodes. */
void measured_write_import(struct page *page, const struct cm_result *result);

/* Optional tables; layers and kernels require times. */
void breakdown_write_operators(struct page *page, const struct cm_result *result);
void breakdown_write_layers(struct page *page, const struct cm_result *result);
void breakdown_write_kernels(struct page *page, const struct cm_result *result);
/* Writes nothing without --sample-bytes. */
void input_pipeline_write(struct page *page, const struct cm_result *result);
/* Writes nothing if there is no advice. */
void advice_write(struct page *page, const struct cm_result *result);

/* Returns true if the rows of the sweep differ in precision. */
bool sweep_is_by_precision(const struct cm_sweep *sweep);
/* Writes the layers of a sweep; nothing if it does not list them. */
void sweep_layers_write(struct page *page, const struct cm_sweep *sweep);
