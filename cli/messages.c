/* SPDX-License-Identifier: Apache-2.0 */
/* Prints diagnostics. */
#include "cli/messages.h"

#include <stdio.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

static const struct {
    const char *name;
    const char *color;
} looks[] = {
    [CM_NOTE] = {"note", "\033[1;36m"},
    [CM_WARNING] = {"warning", "\033[1;35m"},
    [CM_ERROR] = {"error", "\033[1;31m"},
};

#define HANG 4 /* indentation of continuation lines, columns */

/* Prints a line that begins at `column`, folded between words at `width` (0: not folded). */
static void print_folded(const char *line, size_t column, size_t width) {
    while (*line != '\0') {
        const size_t word = strcspn(line, " ");
        const size_t spaces = strspn(line + word, " ");
        fprintf(stderr, "%.*s", (int)word, line);
        column += word;
        line += word + spaces;
        const size_t next = strcspn(line, " ");
        if (*line == '\0') break;
        if (width > 0 && column + spaces + next > width) {
            fprintf(stderr, "\n%*s", HANG, "");
            column = HANG;
        } else {
            fprintf(stderr, "%*s", (int)spaces, "");
            column += spaces;
        }
    }
    fputc('\n', stderr);
}

static void print_one(const struct cm_diagnostic *message, const char *subject, bool color) {
    const char *name = looks[message->severity].name;
    const bool is_terminal = system_is_terminal(stderr);
    const size_t width = is_terminal ? (size_t)streams_columns(stderr, -1, 0) : 0;
    fprintf(stderr, "%s: %s%s[%s]:%s ", subject, color ? looks[message->severity].color : "",
            name, message->code, color ? "\033[0m" : "");
    print_folded(message->message,
                 strlen(subject) + strlen(name) + strlen(message->code) + strlen(": []: "),
                 width);
    for (const char *line = message->place; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        fprintf(stderr, "  %.*s\n", (int)length, line);
        line += line[length] == '\n' ? length + 1 : length;
    }
    if (message->hint == NULL) return;
    fputs("  hint: ", stderr);
    print_folded(message->hint, strlen("  hint: "), width);
}

void messages_print(struct cm_diagnostics *diag, const char *subject, enum color_choice color,
                    struct cm_diagnostics *rest) {
    const bool colored = streams_color(stderr, color);
    const char *safe =
        text_name(diag->arena, text_equal(subject, "-") ? "standard input" : subject);
    if (*safe == '\0') safe = "costmodel"; /* out of memory */
    for (size_t i = 0; i < cm_diagnostics_count(diag); i++) {
        const struct cm_diagnostic *message = cm_diagnostics_get(diag, i);
        if (message->severity != CM_NOTE) print_one(message, safe, colored);
    }
    if (diag->n_dropped > 0)
        fprintf(stderr, "%s: %zu more messages not shown\n", safe, diag->n_dropped);
    if (rest != NULL) rest->starved |= diag_starved(diag);
}
