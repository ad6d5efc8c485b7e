/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML for Jenkins, GitLab and GitHub: one suite with a test case per limit and batch.
 * Limits that could not be decided are errors, not failures. */
#include "costmodel/check.h"

#include <inttypes.h>

#include "report/check/check_report.h"
#include "report/markup.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/text.h"

/* Control characters of `text` must already be escaped (text_append_name). */
static void put_attribute(FILE *out, const char *key, const char *text) {
    fprintf(out, " %s=\"", key);
    markup_write(out, text);
    fputs("\"", out);
}

static void put_counts(const struct cm_verdict *verdict, FILE *out) {
    const int64_t as_failures = verdict->fail_ambiguous ? verdict->ambiguous : 0;
    fprintf(out,
            " tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" errors=\"%" PRId64
            "\" skipped=\"%" PRId64 "\" time=\"0\"",
            verdict->passed + verdict->waived + verdict->regressions + verdict->ambiguous +
                verdict->not_compared,
            verdict->regressions + as_failures,
            verdict->not_compared + verdict->ambiguous - as_failures, verdict->waived);
}

static void put_suite(const struct cm_verdict *verdict, struct arena *arena, FILE *out) {
    fputs("  <testsuite", out);
    put_attribute(out, "name", text_name(arena, verdict->model));
    put_counts(verdict, out);
    fputs(">\n", out);
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        const struct check_look *look = check_look(verdict, case_->state);
        fputs("    <testcase classname=\"costmodel\"", out);
        put_attribute(out, "name", check_title(arena, case_));
        fputs(" time=\"0\"", out);
        if (look->junit == NULL || case_->n_findings == 0) {
            fputs("/>\n", out);
            continue;
        }
        fprintf(out, ">\n      <%s", look->junit);
        put_attribute(out, "message", check_sentence(arena, case_, &case_->findings[0]));
        put_attribute(out, "type", text_name(arena, case_->state));
        fputs(">", out);
        markup_write(out, check_lines(arena, case_));
        fprintf(out, "</%s>\n    </testcase>\n", look->junit);
    }
    if (verdict->n_unchecked > 0) {
        fputs("    <system-out>", out);
        markup_write(out, check_unchecked(arena, verdict));
        fputs("</system-out>\n", out);
    }
    fputs("  </testsuite>\n", out);
}

int cm_verdict_write_junit(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct arena *arena = arena_new("xml", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"costmodel check\"",
          out);
    put_counts(verdict, out);
    fputs(">\n", out);
    for (size_t i = 0; i < check_n_models(verdict); i++)
        put_suite(check_model(verdict, i), arena, out);
    fputs("</testsuites>\n", out);
    return arena_end(arena, output_flush(out));
}
