/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a verdict in several formats. All files are written before the first is renamed. */
#include "cli/check/check_command.h"

#include <string.h>

#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

static int write_text(const struct cm_verdict *verdict, enum color_choice color, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    options.color = streams_color(out, color);
    return cm_verdict_write_text(verdict, &options, out);
}

typedef int writer(const struct cm_verdict *verdict, FILE *out);

/* By index of check_format_name; the first, text, has another signature. */
static writer *const writers[] = {
    NULL,
    cm_verdict_write_json,
    cm_verdict_write_markdown,
    cm_verdict_write_junit,
    cm_verdict_write_sarif,
    cm_verdict_write_github,
};

static int write_to(const struct check_report *report, const struct cm_verdict *verdict,
                    enum color_choice color, FILE *out) {
    writer *write = writers[report->format];
    return write == NULL ? write_text(verdict, color, out) : write(verdict, out);
}

int check_report_read(const struct invocation *call, const char *text,
                      struct check_report *ret) {
    const char *equals = strchr(text, '=');
    const size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    for (size_t i = 0; equals != NULL && check_format_name(i) != NULL; i++) {
        const char *name = check_format_name(i);
        if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
        *ret = (struct check_report){i, equals + 1};
        return equals[1] != '\0'
                   ? CM_OK
                   : options_fault(call, "option --report requires a file name, got '%s'",
                                   text);
    }
    return options_fault(call,
                         "option --report requires FORMAT=FILE such as junit=check.xml, with "
                         "text, json, markdown, junit, sarif or github, got '%s'",
                         text);
}

static int write_one(const struct invocation *call, const struct check_report *report,
                     const struct cm_verdict *verdict, enum color_choice color,
                     struct output **ret) {
    FILE *out = stdout;
    const char *name = "standard output";
    if (report->path != NULL) {
        const int status = output_open(report->path, call->diag, ret);
        if (status != CM_OK) return status;
        out = output_stream(*ret);
        name = report->path;
    }
    const int status = write_to(report, verdict, color, out);
    if (status == CM_NO_MEMORY) return diag_no_memory(call->diag);
    return streams_finish(out, name, call->diag);
}

int check_reports_write(const struct invocation *call, const struct check_report *reports,
                        size_t n, const struct cm_verdict *verdict, enum color_choice color) {
    struct output **outputs = arena_array(call->arena, n, sizeof(struct output *));
    int status = outputs == NULL ? diag_no_memory(call->diag) : CM_OK;
    for (size_t i = 0; i < n && status == CM_OK; i++)
        status = write_one(call, &reports[i], verdict, color, &outputs[i]);
    for (size_t i = 0; outputs != NULL && i < n; i++) {
        if (outputs[i] == NULL) continue;
        if (status == CM_OK)
            status = output_commit(outputs[i], call->diag);
        else
            output_abandon(outputs[i]);
    }
    return status;
}
