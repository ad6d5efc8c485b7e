/* SPDX-License-Identifier: Apache-2.0 */
/* SARIF 2.1.0 (OASIS, 2020): one rule per state and one result per finding, except those that
 * passed. Code scanning requires a line number; a model has no lines, so results point to
 * line 1. */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/json/json_writer.h"
#include "support/text.h"

/* Writes a string with escapes, in quotes. */
static void put_string(FILE *out, const char *text) {
    struct json_writer json = {.out = out};
    json_write_string(&json, text);
}

static void put_rules(FILE *out) {
    const char *comma = "";
    for (size_t i = 0; i < check_n_looks; i++) {
        const struct check_look *look = &check_looks[i];
        if (look->level == NULL) continue;
        fprintf(out,
                "%s\n            {\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"}, "
                "\"defaultConfiguration\": {\"level\": \"%s\"}}",
                comma, look->state, look->what, look->level);
        comma = ",";
    }
}

/* Writes the file and the module. The file is percent-encoded, except for slashes and the
 * unreserved characters of RFC 3986. */
static void put_location(FILE *out, struct arena *arena, const char *path, const char *module) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    fputs("\"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"", out);
    for (; *path != '\0'; path++)
        fprintf(out, strchr(plain, *path) != NULL ? "%c" : "%%%02X", (unsigned char)*path);
    fputs("\"}, \"region\": {\"startLine\": 1}}", out);
    if (module[0] != '\0') {
        fputs(", \"logicalLocations\": [{\"kind\": \"module\", \"fullyQualifiedName\": ", out);
        put_string(out, text_name(arena, module));
        fputs("}]", out);
    }
    fputs("}]", out);
}

/* Writes a result; viewers match results of two runs by their fingerprint. */
static void put_result(FILE *out, struct arena *arena, const struct cm_verdict *verdict,
                       const struct cm_check_case *case_,
                       const struct cm_check_finding *finding) {
    const struct check_look *look = check_look(verdict, finding->state);
    const char *title = check_title(arena, case_);
    struct text message = {.arena = arena};
    struct text fingerprint = {.arena = arena};
    text_printf(&message, "%s: %s", title, check_sentence(arena, case_, finding));
    for (size_t i = 0; i < case_->n_blame; i++)
        text_printf(&message, "\n%s", check_blame(arena, &case_->blame[i]));
    text_printf(&fingerprint, "%s ", title);
    text_append_name(&fingerprint, finding->path);
    fprintf(out,
            "\n        {\"ruleId\": \"%s\", \"ruleIndex\": %zu, \"level\": \"%s\",\n"
            "         \"message\": {\"text\": ",
            look->state, (size_t)(look - check_looks), look->level);
    put_string(out, text_string(&message));
    fputs("},\n         ", out);
    put_location(out, arena, verdict->model, finding->path);
    fputs(",\n         \"partialFingerprints\": {\"limit/v1\": ", out);
    put_string(out, text_string(&fingerprint));
    fputs("}", out);
    if (text_equal(finding->state, "waived")) {
        fputs(",\n         \"suppressions\": [{\"kind\": \"external\", \"justification\": ",
              out);
        put_string(out, text_name(arena, finding->because));
        fputs("}]", out);
    }
    fputs("}", out);
}

/* Writes the batches of the baselines that were not checked. They concern the run and have no
 * location (SARIF 2.1.0, 3.20.21). */
static void put_notifications(FILE *out, struct arena *arena,
                              const struct cm_verdict *verdict) {
    const char *before = "      \"invocations\": [{\"executionSuccessful\": true, "
                         "\"toolExecutionNotifications\": [";
    const char *after = "";
    for (size_t i = 0; i < check_n_models(verdict); i++) {
        const struct cm_verdict *one = check_model(verdict, i);
        struct text message = {.arena = arena};
        if (one->n_unchecked == 0) continue;
        if (verdict->n_models > 0) text_printf(&message, "%s: ", text_name(arena, one->model));
        text_append(&message, check_unchecked(arena, one));
        fprintf(out, "%s{\"level\": \"note\", \"message\": {\"text\": ", before);
        put_string(out, text_string(&message));
        fputs("}}", out);
        before = ", ";
        after = "]}],\n";
    }
    fputs(after, out);
}

/* Writes the results of one model; *comma precedes the next result. */
static void put_results(FILE *out, struct arena *arena, const struct cm_verdict *verdict,
                        const char **comma) {
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        for (size_t k = 0; k < case_->n_findings; k++) {
            if (check_look(verdict, case_->findings[k].state)->level == NULL) continue;
            fputs(*comma, out);
            put_result(out, arena, verdict, case_, &case_->findings[k]);
            *comma = ",";
        }
    }
}

int cm_verdict_write_sarif(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct arena *arena = arena_new("sarif", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    fprintf(out,
            "{\n"
            "  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
            "  \"version\": \"2.1.0\",\n"
            "  \"runs\": [\n"
            "    {\n"
            "      \"tool\": {\n"
            "        \"driver\": {\n"
            "          \"name\": \"costmodel\",\n"
            "          \"version\": \"%s\",\n"
            "          \"rules\": [",
            cm_version());
    put_rules(out);
    fputs("\n          ]\n        }\n      },\n", out);
    put_notifications(out, arena, verdict);
    fputs("      \"results\": [", out);
    const char *comma = "";
    for (size_t i = 0; i < check_n_models(verdict); i++)
        put_results(out, arena, check_model(verdict, i), &comma);
    fputs(*comma == '\0' ? "]\n    }\n  ]\n}\n" : "\n      ]\n    }\n  ]\n}\n", out);
    return arena_end(arena, output_flush(out));
}
