/* SPDX-License-Identifier: Apache-2.0 */
/* Workflow commands of GitHub Actions: "::error file=F,title=T::message". A runner executes
 * every line that starts with "::", so text from a file must never start a line. %, CR and LF
 * are escaped in messages, ':' and ',' also in properties (actions/toolkit,
 * packages/core/src/command.ts). */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/text.h"

static void put_escaped(const char *text, const char *which, FILE *out) {
    for (; *text != '\0'; text++) {
        if (strchr(which, *text) != NULL)
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc(*text, out);
    }
}

static void put_model(const struct cm_verdict *verdict, struct arena *arena, FILE *out) {
    const char *file = text_name(arena, verdict->model);
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        const struct check_look *look = check_look(verdict, case_->state);
        if (look->github == NULL) continue;
        fprintf(out, "::%s file=", look->github);
        put_escaped(file, "%\r\n:,", out);
        fprintf(out, ",title=costmodel %s%%3A ", case_->state);
        put_escaped(check_title(arena, case_), "%\r\n:,", out);
        fputs("::", out);
        put_escaped(check_lines(arena, case_), "%\r\n", out);
        fputs("\n", out);
    }
}

int cm_verdict_write_github(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct arena *arena = arena_new("commands", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < check_n_models(verdict); i++)
        put_model(check_model(verdict, i), arena, out);
    fputs("::notice title=costmodel check::", out);
    put_escaped(check_counts(arena, verdict), "%\r\n", out);
    fputs("\n", out);
    return arena_end(arena, output_flush(out));
}
