/* SPDX-License-Identifier: Apache-2.0 */
/* The three sections of the text report. Each writes whole lines to the page. */
#ifndef REPORT_TEXT_SECTIONS_H
#define REPORT_TEXT_SECTIONS_H

struct cm_result;
struct page;

void summary_write(struct page *page, const struct cm_result *result);
void memory_write(struct page *page, const struct cm_result *result); /* part of the summary */
void training_write(struct page *page,
                    const struct cm_result *result); /* part of the summary */
void curve_write(struct page *page, const struct cm_result *result);
void aggregated_write(struct page *page, const struct cm_result *result);
void detailed_write(struct page *page, const struct cm_result *result);

/* The cuDNN plan of each distinct primitive; nothing without --cudnn-plan. */
void plan_write(struct page *page, const struct cm_result *result);
void measured_write(struct page *page, const struct cm_result *result);

/* Optional tables; layers and kernels require times. */
void operators_write(struct page *page, const struct cm_result *result);
void layers_write(struct page *page, const struct cm_result *result);
void kernels_write(struct page *page, const struct cm_result *result);
/* Nothing if there is no advice. */
void advice_write(struct page *page, const struct cm_result *result);

#endif
