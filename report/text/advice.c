/* SPDX-License-Identifier: Apache-2.0 */
/* The section of advice: possible optimizations, each on top of those before it. */
#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/text/sections.h"
#include "report/times.h"
#include "support/checked.h"

#define HANG        4
#define MAX_MODULES 3

/* Writes `in layer1.0.conv1, layer1.0.conv2, layer1.1.conv1, and 40 more: see --format json` */
static void write_modules(struct page *page, const struct cm_result *result,
                          const struct cm_advice *advice) {
    page_indent(page, HANG);
    page_list(page, " ", HANG);
    page_words(page, STYLE_PLAIN, "in");
    for (size_t i = 0; i < advice->n_modules && i < MAX_MODULES; i++) {
        if (advice->modules[i] >= result->n_modules) continue;
        const struct cm_module *module = &result->modules[advice->modules[i]];
        page_item_print(page, STYLE_NAME, "%s%s",
                        module->path[0] == '\0' ? module->name : module->path,
                        i + 1 < advice->n_modules ? "," : "");
    }
    if (advice->n_modules > MAX_MODULES)
        page_add(page, "and %zu more: see --format json", advice->n_modules - MAX_MODULES);
    page_end_line(page);
}

void advice_write(struct page *page, const struct cm_result *result) {
    const char *kind = times_kind(result);
    if (result->n_advice == 0) return;
    page_end_line(page);
    page_rule(page, "Advice");
    for (size_t i = 0; i < result->n_advice; i++) {
        const struct cm_advice *advice = &result->advice[i];
        /* `R3 channels-last: gain at most 1.2 ms modelled (4.32% of latency)` */
        page_print(page, STYLE_TITLE, "%s", advice->rule);
        page_print(page, STYLE_TITLE, " ");
        page_print(page, STYLE_TITLE, "%s", advice->name);
        page_list(page, "", HANG);
        if (is_known(advice->gain_ps))
            page_add(page, ": gain %s%s%s%s (%s of latency)",
                     cm_result_modelled(result) ? "" : "at most ",
                     page_time(page, advice->gain_ps), *kind == '\0' ? "" : " ", kind,
                     page_percent(page, advice->gain_ps, result->totals.latency_ps));
        else
            page_add(page, ": gain not known");
        page_end_line(page);
        page_indent(page, HANG);
        page_list(page, " ", HANG);
        page_words(page, STYLE_PLAIN, advice->text);
        page_end_line(page);
        if (advice->n_modules > 0) write_modules(page, result, advice);
    }
}
