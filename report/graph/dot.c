/* SPDX-License-Identifier: Apache-2.0 */
/* Graphviz: its strings end at a quote, take \ for an escape and & for an entity. */
#include "costmodel/costmodel.h"
#include "report/graph/diagram.h"
#include "support/text.h"

#include "support/banned.h"

static void append(struct text *label, const char *words) {
    for (; *words != '\0'; words++) {
        if (*words == '"' || *words == '\\') text_append(label, "\\");
        if (*words == '&')
            text_append(label, "&amp;");
        else
            text_append_n(label, words, 1);
    }
}

static const struct diagram_language dot = {
    .begin = "digraph model {\n"
             "  rankdir=LR;\n"
             "  node [shape=box, fontname=\"sans-serif\"];\n",
    .label = " [label=\"",
    .label_end = "\"];\n",
    .arrow = " -> ",
    .arrow_end = ";\n",
    .end = "}\n",
    .line_end = "\\n",
    .append = append,
};

int cm_result_write_dot(const struct cm_result *result, const struct cm_table_options *options,
                        struct cm_diagnostics *diagnostics, FILE *out) {
    return diagram_write(&dot, result, options, diagnostics, out);
}
