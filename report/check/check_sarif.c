/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS, 2020): one rule per state, one result per finding of a case that did not
 * pass. Code scanning requires a line number; a model has no lines, so results point to line 1.
 */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

struct sarif {
    const struct cm_verdict *verdict;
    struct arena *arena;
    FILE *out;
    size_t n_results;
};

/* Writes escaped text; its only control character is the newline. */
static void put_string(struct sarif *sarif, const struct text *text) {
    fputc('"', sarif->out);
    for (const char *c = text_string(text); *c != '\0'; c++) {
        if (*c == '\n')
            fputs("\\n", sarif->out);
        else if (*c == '"' || *c == '\\')
            fprintf(sarif->out, "\\%c", *c);
        else
            fputc(*c, sarif->out);
    }
    fputc('"', sarif->out);
}

/* Percent-encodes all but unreserved characters (RFC 3986) and the slashes of a path. */
static void append_uri(struct text *text, const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            text_append_n(text, path, 1);
        else
            text_printf(text, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

static void put_rules(struct sarif *sarif) {
    bool first = true;
    for (size_t i = 0; i < check_n_looks; i++) {
        const struct check_look *look = &check_looks[i];
        if (look->level == NULL) continue;
        fprintf(sarif->out,
                "%s\n            {\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"}, "
                "\"defaultConfiguration\": {\"level\": \"%s\"}}",
                first ? "" : ",", look->state, look->what, look->level);
        first = false;
    }
}

static void put_location(struct sarif *sarif, const struct cm_check_finding *finding) {
    struct text uri;
    struct text path;
    text_init(&uri, sarif->arena);
    text_init(&path, sarif->arena);
    append_uri(&uri, sarif->verdict->model);
    text_append_name(&path, finding->path);
    fputs("\"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ",
          sarif->out);
    put_string(sarif, &uri);
    fputs("}, \"region\": {\"startLine\": 1}}", sarif->out);
    if (finding->path[0] != '\0') {
        fputs(", \"logicalLocations\": [{\"kind\": \"module\", \"fullyQualifiedName\": ",
              sarif->out);
        put_string(sarif, &path);
        fputs("}]", sarif->out);
    }
    fputs("}]", sarif->out);
}

/* The fingerprint by which a viewer matches results of two runs. */
static void put_fingerprint(struct sarif *sarif, const struct cm_check_case *case_,
                            const struct cm_check_finding *finding) {
    struct text text;
    text_init(&text, sarif->arena);
    check_append_title(&text, case_);
    text_append(&text, " ");
    text_append_name(&text, finding->path);
    fputs("\"partialFingerprints\": {\"limit/v1\": ", sarif->out);
    put_string(sarif, &text);
    fputs("}", sarif->out);
}

static void put_result(struct sarif *sarif, const struct cm_check_case *case_,
                       const struct cm_check_finding *finding) {
    const struct check_look *look = check_look(sarif->verdict, finding->state);
    struct text message;
    if (look->level == NULL) return;
    text_init(&message, sarif->arena);
    check_append_title(&message, case_);
    text_append(&message, ": ");
    check_append_sentence(&message, case_, finding);
    for (size_t i = 0; i < case_->n_blame; i++) {
        text_append(&message, "\n");
        check_append_blame(&message, &case_->blame[i]);
    }
    fprintf(sarif->out,
            "%s\n        {\"ruleId\": \"%s\", \"ruleIndex\": %zu, \"level\": \"%s\",\n"
            "         \"message\": {\"text\": ",
            sarif->n_results++ == 0 ? "" : ",", look->state, (size_t)(look - check_looks),
            look->level);
    put_string(sarif, &message);
    fputs("},\n         ", sarif->out);
    put_location(sarif, finding);
    fputs(",\n         ", sarif->out);
    put_fingerprint(sarif, case_, finding);
    fputs("}", sarif->out);
}

static void put_results(struct sarif *sarif) {
    for (size_t i = 0; i < sarif->verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &sarif->verdict->cases[i];
        for (size_t k = 0; k < case_->n_findings; k++)
            put_result(sarif, case_, &case_->findings[k]);
    }
}

/* Notifications about the run, without a location (SARIF 2.1.0, 3.20.21). */
static void put_unchecked(struct sarif *sarif) {
    struct text text;
    if (sarif->verdict->n_unchecked == 0) return;
    text_init(&text, sarif->arena);
    check_append_unchecked(&text, sarif->verdict);
    fputs("\"invocations\": [{\"executionSuccessful\": true, \"toolExecutionNotifications\": "
          "[{\"level\": \"note\", \"message\": {\"text\": ",
          sarif->out);
    put_string(sarif, &text);
    fputs("}}]}],\n      ", sarif->out);
}

int cm_verdict_write_sarif(const struct cm_verdict *verdict, FILE *out) {
    struct sarif sarif = {.verdict = verdict, .out = out};
    sarif.arena = arena_new("sarif", 0);
    if (sarif.arena == NULL) return CM_NO_MEMORY;
    fprintf(out,
            "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
            "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"tool\": {\n"
            "        \"driver\": {\n          \"name\": \"costmodel\",\n"
            "          \"version\": \"%s\",\n          \"rules\": [",
            CM_VERSION_STRING);
    put_rules(&sarif);
    fputs("\n          ]\n        }\n      },\n      ", out);
    put_unchecked(&sarif);
    fputs("\"results\": [", out);
    put_results(&sarif);
    fputs(sarif.n_results == 0 ? "]\n    }\n  ]\n}\n" : "\n      ]\n    }\n  ]\n}\n", out);
    return arena_end(sarif.arena, output_flush(out));
}
