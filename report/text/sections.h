/* SPDX-License-Identifier: Apache-2.0 */
/* The three sections of the text report. Each writes whole lines to the page. */
#ifndef REPORT_TEXT_SECTIONS_H
#define REPORT_TEXT_SECTIONS_H

struct cm_result;
struct page;

void summary_write(struct page *page, const struct cm_result *result);
void memory_write(struct page *page, const struct cm_result *result);   /* inside of it */
void training_write(struct page *page, const struct cm_result *result); /* and below that */
void curve_write(struct page *page, const struct cm_result *result);
void aggregated_write(struct page *page, const struct cm_result *result);
void detailed_write(struct page *page, const struct cm_result *result);

/* How each distinct piece of work would run; nothing unless that is what was asked. */
void plan_write(struct page *page, const struct cm_result *result);
void measured_write(struct page *page, const struct cm_result *result);

/* Those that are asked for; the last two of a result with times. */
void operators_write(struct page *page, const struct cm_result *result);
void layers_write(struct page *page, const struct cm_result *result);
void kernels_write(struct page *page, const struct cm_result *result);
/* Nothing where there is none. */
void advice_write(struct page *page, const struct cm_result *result);

#endif
