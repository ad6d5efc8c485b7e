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
#include "support/json/json_writer.h"
#include "support/text.h"

#include "support/banned.h"

struct sarif {
    const struct cm_verdict *verdict;
    struct arena *arena;
    struct json_writer json;
};

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

/* Writes {"text": "..."} under a key. */
static void put_text(struct json_writer *json, const char *key, const char *text) {
    json_open(json, key, '{');
    json_key_string(json, "text", text);
    json_end(json, '}');
}

static void put_rules(struct json_writer *json) {
    json_open(json, "rules", '[');
    for (size_t i = 0; i < check_n_looks; i++) {
        const struct check_look *look = &check_looks[i];
        if (look->level == NULL) continue;
        json_break_line(json, 12, false);
        json_begin(json, '{');
        json_key_string(json, "id", look->state);
        put_text(json, "shortDescription", look->what);
        json_open(json, "defaultConfiguration", '{');
        json_key_string(json, "level", look->level);
        json_end(json, '}');
        json_end(json, '}');
    }
    json_break_line(json, 10, true);
    json_end(json, ']');
}

static void put_location(struct sarif *sarif, const char *module) {
    struct json_writer *json = &sarif->json;
    struct text uri = {.arena = sarif->arena};
    struct text path = {.arena = sarif->arena};
    append_uri(&uri, sarif->verdict->model);
    text_append_name(&path, module);
    json_open(json, "locations", '[');
    json_begin(json, '{');
    json_open(json, "physicalLocation", '{');
    json_open(json, "artifactLocation", '{');
    json_key_string(json, "uri", text_string(&uri));
    json_end(json, '}');
    json_open(json, "region", '{');
    json_key_integer(json, "startLine", 1);
    json_end(json, '}');
    json_end(json, '}');
    if (module[0] != '\0') {
        json_open(json, "logicalLocations", '[');
        json_begin(json, '{');
        json_key_string(json, "kind", "module");
        json_key_string(json, "fullyQualifiedName", text_string(&path));
        json_end(json, '}');
        json_end(json, ']');
    }
    json_end(json, '}');
    json_end(json, ']');
}

/* Writes a result; viewers match results of two runs by their fingerprint. */
static void put_result(struct sarif *sarif, const struct cm_check_case *case_,
                       const struct cm_check_finding *finding) {
    const struct check_look *look = check_look(sarif->verdict, finding->state);
    struct json_writer *json = &sarif->json;
    if (look->level == NULL) return;
    struct text message = {.arena = sarif->arena};
    struct text fingerprint = {.arena = sarif->arena};
    check_append_title(&message, case_);
    text_append(&message, ": ");
    check_append_sentence(&message, case_, finding);
    for (size_t i = 0; i < case_->n_blame; i++) {
        text_append(&message, "\n");
        check_append_blame(&message, &case_->blame[i]);
    }
    check_append_title(&fingerprint, case_);
    text_append(&fingerprint, " ");
    text_append_name(&fingerprint, finding->path);
    json_break_line(json, 8, false);
    json_begin(json, '{');
    json_key_string(json, "ruleId", look->state);
    json_key_integer(json, "ruleIndex", look - check_looks);
    json_key_string(json, "level", look->level);
    json_break_line(json, 9, false);
    put_text(json, "message", text_string(&message));
    json_break_line(json, 9, false);
    put_location(sarif, finding->path);
    json_break_line(json, 9, false);
    json_open(json, "partialFingerprints", '{');
    json_key_string(json, "limit/v1", text_string(&fingerprint));
    json_end(json, '}');
    json_end(json, '}');
}

static void put_results(struct sarif *sarif) {
    struct json_writer *json = &sarif->json;
    json_open(json, "results", '[');
    for (size_t i = 0; i < sarif->verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &sarif->verdict->cases[i];
        for (size_t k = 0; k < case_->n_findings; k++)
            put_result(sarif, case_, &case_->findings[k]);
    }
    if (json->needs_comma) json_break_line(json, 6, true);
    json_end(json, ']');
}

/* Notifications about the run, without a location (SARIF 2.1.0, 3.20.21). */
static void put_unchecked(struct sarif *sarif) {
    struct json_writer *json = &sarif->json;
    if (sarif->verdict->n_unchecked == 0) return;
    struct text text = {.arena = sarif->arena};
    check_append_unchecked(&text, sarif->verdict);
    json_break_line(json, 6, false);
    json_open(json, "invocations", '[');
    json_begin(json, '{');
    json_key_bool(json, "executionSuccessful", true);
    json_open(json, "toolExecutionNotifications", '[');
    json_begin(json, '{');
    json_key_string(json, "level", "note");
    put_text(json, "message", text_string(&text));
    json_end(json, '}');
    json_end(json, ']');
    json_end(json, '}');
    json_end(json, ']');
}

static void put_tool(struct json_writer *json) {
    json_break_line(json, 6, false);
    json_open(json, "tool", '{');
    json_break_line(json, 8, false);
    json_open(json, "driver", '{');
    json_break_line(json, 10, false);
    json_key_string(json, "name", "costmodel");
    json_break_line(json, 10, false);
    json_key_string(json, "version", CM_VERSION_STRING);
    json_break_line(json, 10, false);
    put_rules(json);
    json_break_line(json, 8, true);
    json_end(json, '}');
    json_break_line(json, 6, true);
    json_end(json, '}');
}

int cm_verdict_write_sarif(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct sarif sarif = {.verdict = verdict, .json = {.out = out, .spaced = true}};
    struct json_writer *json = &sarif.json;
    sarif.arena = arena_new("sarif", 0);
    if (sarif.arena == NULL) return CM_NO_MEMORY;
    json_begin(json, '{');
    json_break_line(json, 2, false);
    json_key_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_break_line(json, 2, false);
    json_key_string(json, "version", "2.1.0");
    json_break_line(json, 2, false);
    json_open(json, "runs", '[');
    json_break_line(json, 4, false);
    json_begin(json, '{');
    put_tool(json);
    put_unchecked(&sarif);
    json_break_line(json, 6, false);
    put_results(&sarif);
    json_break_line(json, 4, true);
    json_end(json, '}');
    json_break_line(json, 2, true);
    json_end(json, ']');
    json_break_line(json, 0, true);
    json_end(json, '}');
    fputc('\n', out);
    return arena_end(sarif.arena, output_flush(out));
}
