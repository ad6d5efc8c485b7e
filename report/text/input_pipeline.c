/* SPDX-License-Identifier: Apache-2.0 */
/* The report of --sample-bytes: the bytes per second that the samples require, and whether each
 * kind of storage and network delivers them. */
#include "costmodel/costmodel.h"
#include "report/text/labels.h"
#include "report/text/sections.h"
#include "support/checked.h"

static void write_link(struct page *page, const char *name, int64_t bytes_per_s,
                       int64_t demand) {
    const bool suffices = bytes_per_s >= demand;
    page_print(page, STYLE_PLAIN, "%s", name);
    label_list(page, "", " ", 0);
    page_item_number(page, STYLE_PLAIN, NUMBER_TRAFFIC, bytes_per_s);
    if (is_known(bytes_per_s) && is_known(demand))
        page_item_print(page, suffices ? STYLE_PLAIN : STYLE_WARNING,
                        suffices ? "suffices" : "too slow");
    page_end_line(page);
}

void input_pipeline_write(struct page *page, const struct cm_result *result) {
    const struct cm_input_pipeline *pipeline = result->input_pipeline;
    if (pipeline == NULL) return;
    const size_t label_width = page->label_width;
    page_end_line(page);
    page_line(page, STYLE_TITLE, "input pipeline");
    page->label_width = 28;
    label_list(page, "demand", " ", 0); /* `5.90 GB/s = 256 samples of 500 kB in 21.7 ms` */
    page_item_number(page, STYLE_PLAIN, NUMBER_TRAFFIC, pipeline->bytes_per_s);
    page_add(page, "= %s of %s in %s", page_count(page, pipeline->samples, "sample"),
             page_number(page, NUMBER_BYTES, pipeline->sample_bytes),
             page_time(page, pipeline->step_ps));
    page_end_line(page);
    const int64_t demand = pipeline->bytes_per_s;
    write_link(page, "host to device", pipeline->host_link, demand);
    for (size_t i = 0; i < pipeline->n_links; i++)
        write_link(page, pipeline->links[i].name, pipeline->links[i].bytes_per_s, demand);
    page_paragraph(page, pipeline->advice);
    page->label_width = label_width;
}
