/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS, 2020): one rule per state, one result per finding of a case that did not
 * pass. Code scanning requires a line number; a model has no lines, so results point to line 1.
 */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/json/json_writer.h"
#include "support/text.h"

#include "support/banned.h"

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

/* Writes the file, percent-encoded except for unreserved characters (RFC 3986) and slashes, and
 * the module. */
static void put_location(struct json_writer *json, struct arena *arena, const char *path,
                         const char *module) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    struct text uri = {.arena = arena};
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            text_append_n(&uri, path, 1);
        else
            text_printf(&uri, "%%%02X", (unsigned)(unsigned char)*path);
    }
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
        struct text name = {.arena = arena};
        text_append_name(&name, module);
        json_open(json, "logicalLocations", '[');
        json_begin(json, '{');
        json_key_string(json, "kind", "module");
        json_key_string(json, "fullyQualifiedName", text_string(&name));
        json_end(json, '}');
        json_end(json, ']');
    }
    json_end(json, '}');
    json_end(json, ']');
}

/* Writes a result; viewers match results of two runs by their fingerprint. */
static void put_result(struct json_writer *json, struct arena *arena,
                       const struct cm_verdict *verdict, const struct cm_check_case *case_,
                       const struct cm_check_finding *finding) {
    const struct check_look *look = check_look(verdict, finding->state);
    if (look->level == NULL) return;
    const char *title = check_title(arena, case_);
    struct text message = {.arena = arena};
    struct text fingerprint = {.arena = arena};
    text_printf(&message, "%s: %s", title, check_sentence(arena, case_, finding));
    for (size_t i = 0; i < case_->n_blame; i++)
        text_printf(&message, "\n%s", check_blame(arena, &case_->blame[i]));
    text_printf(&fingerprint, "%s ", title);
    text_append_name(&fingerprint, finding->path);
    json_break_line(json, 8, false);
    json_begin(json, '{');
    json_key_string(json, "ruleId", look->state);
    json_key_integer(json, "ruleIndex", look - check_looks);
    json_key_string(json, "level", look->level);
    json_break_line(json, 9, false);
    put_text(json, "message", text_string(&message));
    json_break_line(json, 9, false);
    put_location(json, arena, verdict->model, finding->path);
    json_break_line(json, 9, false);
    json_open(json, "partialFingerprints", '{');
    json_key_string(json, "limit/v1", text_string(&fingerprint));
    json_end(json, '}');
    json_end(json, '}');
}

/* Notifications about the run, without a location (SARIF 2.1.0, 3.20.21). */
static void put_unchecked(struct json_writer *json, const char *text) {
    json_break_line(json, 6, false);
    json_open(json, "invocations", '[');
    json_begin(json, '{');
    json_key_bool(json, "executionSuccessful", true);
    json_open(json, "toolExecutionNotifications", '[');
    json_begin(json, '{');
    json_key_string(json, "level", "note");
    put_text(json, "message", text);
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
    struct json_writer writer = {.out = out, .spaced = true};
    struct json_writer *json = &writer;
    struct arena *arena = arena_new("sarif", 0);
    if (arena == NULL) return CM_NO_MEMORY;
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
    if (verdict->n_unchecked > 0) put_unchecked(json, check_unchecked(arena, verdict));
    json_break_line(json, 6, false);
    json_open(json, "results", '[');
    for (size_t i = 0; i < verdict->n_cases; i++)
        for (size_t k = 0; k < verdict->cases[i].n_findings; k++)
            put_result(json, arena, verdict, &verdict->cases[i],
                       &verdict->cases[i].findings[k]);
    if (json->needs_comma) json_break_line(json, 6, true);
    json_end(json, ']');
    json_break_line(json, 4, true);
    json_end(json, '}');
    json_break_line(json, 2, true);
    json_end(json, ']');
    json_break_line(json, 0, true);
    json_end(json, '}');
    fputc('\n', out);
    return arena_end(arena, output_flush(out));
}
