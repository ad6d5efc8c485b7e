/* SPDX-License-Identifier: Apache-2.0 */
/* Mermaid: its labels are HTML, and #35; is its way to write an entity. */
#include "costmodel/costmodel.h"
#include "report/graph/diagram.h"
#include "support/text.h"

#include "support/banned.h"

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == ' ' || c == '.' || c == '_' || c == '-' || c == ',' || c == '/' ||
           (unsigned char)c >= 0x80;
}

static void append(struct text *label, const char *words) {
    for (; *words != '\0'; words++) {
        if (is_plain(*words))
            text_append_n(label, words, 1);
        else
            text_printf(label, "#%d;", *words);
    }
}

static const struct diagram_language mermaid = {
    .begin = "flowchart LR\n",
    .label = "[\"",
    .label_end = "\"]\n",
    .arrow = " --> ",
    .arrow_end = "\n",
    .end = "",
    .line_end = "<br>",
    .append = append,
};

int cm_result_write_mermaid(const struct cm_result *result,
                            const struct cm_table_options *options,
                            struct cm_diagnostics *diagnostics, FILE *out) {
    return diagram_write(&mermaid, result, options, diagnostics, out);
}
