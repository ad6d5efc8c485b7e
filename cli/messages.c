/* SPDX-License-Identifier: Apache-2.0 */
/* Prints diagnostics. */
#include "cli/messages.h"

#include <stdio.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const struct {
    const char *name;
    const char *color;
} looks[] = {
    [CM_NOTE] = {"note", "\033[1;36m"},
    [CM_WARNING] = {"warning", "\033[1;35m"},
    [CM_ERROR] = {"error", "\033[1;31m"},
};

static void print_one(const struct cm_diagnostic *message, const char *subject, bool color) {
    const char *name = looks[message->severity].name;
    fprintf(stderr, "%s: %s%s[%s]:%s %s\n", subject,
            color ? looks[message->severity].color : "", name, message->code,
            color ? "\033[0m" : "", message->message);
    for (const char *line = message->place; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        fprintf(stderr, "  %.*s\n", (int)length, line);
        line += line[length] == '\n' ? length + 1 : length;
    }
    if (message->hint != NULL) fprintf(stderr, "  hint: %s\n", message->hint);
}

/* Escapes control characters of the subject, which may be a path. */
static const char *safe_subject(const struct cm_diagnostics *diag, const char *subject) {
    struct text safe = {.arena = diag->arena};
    text_append_name(&safe, subject);
    return safe.failed ? "costmodel" : text_string(&safe);
}

void messages_print(const struct cm_diagnostics *diag, const char *subject,
                    enum color_choice color) {
    const bool colored = streams_color(stderr, color);
    const char *safe = safe_subject(diag, subject);
    for (size_t i = 0; i < cm_diagnostics_count(diag); i++) {
        const struct cm_diagnostic *message = cm_diagnostics_get(diag, i);
        if (message->severity != CM_NOTE) print_one(message, safe, colored);
    }
    if (diag->n_dropped > 0) {
        fprintf(stderr, "%s: %zu more messages not shown\n", safe, diag->n_dropped);
    }
}
