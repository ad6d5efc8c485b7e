/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML for Jenkins, GitLab and GitHub: one suite with a test case per limit and batch.
 * Limits that could not be compared are errors, not failures.
 */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "report/markup.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

struct xml {
    const struct cm_verdict *verdict;
    struct arena *arena;
    FILE *out;
};

static void put_attribute(struct xml *xml, const char *key, const struct text *value) {
    fprintf(xml->out, " %s=\"", key);
    markup_write(xml->out, text_string(value));
    fputs("\"", xml->out);
}

static void put_name(struct xml *xml, const char *key, const char *name) {
    struct text text = {.arena = xml->arena};
    text_append_name(&text, name);
    put_attribute(xml, key, &text);
}

static void put_counts(struct xml *xml) {
    const struct cm_verdict *verdict = xml->verdict;
    const int64_t as_failures = verdict->fail_ambiguous ? verdict->ambiguous : 0;
    const int64_t failures = verdict->regressions + as_failures;
    const int64_t skipped = verdict->ambiguous - as_failures;
    fprintf(xml->out,
            " tests=\"%zu\" failures=\"%lld\" errors=\"%lld\" skipped=\"%lld\" time=\"0\"",
            verdict->n_cases, (long long)failures, (long long)verdict->not_compared,
            (long long)skipped);
}

static void put_case(struct xml *xml, const struct cm_check_case *case_) {
    const struct check_look *look = check_look(xml->verdict, case_->state);
    struct text name = {.arena = xml->arena};
    check_append_title(&name, case_);
    fputs("    <testcase classname=\"costmodel\"", xml->out);
    put_attribute(xml, "name", &name);
    fputs(" time=\"0\"", xml->out);
    if (look->junit == NULL || case_->n_findings == 0) {
        fputs("/>\n", xml->out);
        return;
    }
    struct text message = {.arena = xml->arena};
    check_append_sentence(&message, case_, &case_->findings[0]);
    fprintf(xml->out, ">\n      <%s", look->junit);
    put_attribute(xml, "message", &message);
    put_name(xml, "type", case_->state);
    fputs(">", xml->out);
    struct text lines = {.arena = xml->arena};
    check_append_lines(&lines, case_);
    markup_write(xml->out, text_string(&lines));
    fprintf(xml->out, "</%s>\n    </testcase>\n", look->junit);
}

static void put_unchecked(struct xml *xml) {
    if (xml->verdict->n_unchecked == 0) return;
    struct text text = {.arena = xml->arena};
    check_append_unchecked(&text, xml->verdict);
    fputs("    <system-out>", xml->out);
    markup_write(xml->out, text_string(&text));
    fputs("</system-out>\n", xml->out);
}

int cm_verdict_write_junit(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct xml xml = {.verdict = verdict, .out = out};
    xml.arena = arena_new("xml", 0);
    if (xml.arena == NULL) return CM_NO_MEMORY;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"costmodel check\"",
          out);
    put_counts(&xml);
    fputs(">\n  <testsuite", out);
    put_name(&xml, "name", verdict->model);
    put_counts(&xml);
    fputs(">\n", out);
    for (size_t i = 0; i < verdict->n_cases; i++) put_case(&xml, &verdict->cases[i]);
    put_unchecked(&xml);
    fputs("  </testsuite>\n</testsuites>\n", out);
    return arena_end(xml.arena, output_flush(out));
}
