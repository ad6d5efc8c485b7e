/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflow commands of GitHub Actions: "::error file=F,title=T::message". A runner executes
 * every line that starts with "::", so text from a file must never start a line. %, CR and LF
 * are escaped in messages, ':' and ',' also in properties (actions/toolkit,
 * packages/core/src/command.ts).
 */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

struct commands {
    const struct cm_verdict *verdict;
    struct arena *arena;
    FILE *out;
};

static void put_escaped(struct commands *commands, const struct text *text, const char *which) {
    for (const char *c = text_string(text); *c != '\0'; c++) {
        if (strchr(which, *c) != NULL)
            fprintf(commands->out, "%%%02X", (unsigned)(unsigned char)*c);
        else
            fputc(*c, commands->out);
    }
}

static void put_case(struct commands *commands, const struct cm_check_case *case_,
                     const struct check_look *look) {
    struct text file = {.arena = commands->arena};
    struct text title = {.arena = commands->arena};
    struct text message = {.arena = commands->arena};
    text_append_name(&file, commands->verdict->model);
    check_append_title(&title, case_);
    check_append_lines(&message, case_);
    fprintf(commands->out, "::%s file=", look->github);
    put_escaped(commands, &file, "%\r\n:,");
    fprintf(commands->out, ",title=costmodel %s%%3A ", case_->state);
    put_escaped(commands, &title, "%\r\n:,");
    fputs("::", commands->out);
    put_escaped(commands, &message, "%\r\n");
    fputs("\n", commands->out);
}

int cm_verdict_write_github(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct commands commands = {.verdict = verdict, .out = out};
    commands.arena = arena_new("commands", 0);
    if (commands.arena == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct check_look *look = check_look(verdict, verdict->cases[i].state);
        if (look->github != NULL) put_case(&commands, &verdict->cases[i], look);
    }
    struct text text = {.arena = commands.arena};
    check_append_counts(&text, commands.verdict);
    fputs("::notice title=costmodel check::", commands.out);
    put_escaped(&commands, &text, "%\r\n");
    fputs("\n", commands.out);
    return arena_end(commands.arena, output_flush(out));
}
