/* SPDX-License-Identifier: Apache-2.0 */
/* Reads budgets and baselines, writes baselines. */
#include "cli/check/check_command.h"

#include <string.h>
#include <unistd.h>

#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_BUDGET ((size_t)1 << 20) /* bytes */

static int read_file(const char *path, size_t most, struct arena *arena,
                     struct cm_diagnostics *diag, char **ret_text, size_t *ret_size) {
    struct source *source = NULL;
    int status = source_open(path, diag, &source);
    if (status != CM_OK) return status;
    status = source_read_all(source, most, arena, diag, ret_text, ret_size);
    source_close(source);
    return status;
}

int check_budget_read(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                      struct cm_budget **ret) {
    char *text = NULL;
    size_t size = 0;
    const int status = read_file(path, MAX_BUDGET, arena, diag, &text, &size);
    return status == CM_OK ? cm_budget_read_json(text, size, path, diag, ret) : status;
}

#define SCHEMA_WITHIN 200 /* bytes: "schema" is the first key of a profile */

/* Returns true if the head names the schema of a profile. */
static bool is_profile(const char *text, size_t size) {
    static const char schema[] = "\"costmodel/profile/";
    const size_t within = size < SCHEMA_WITHIN ? size : SCHEMA_WITHIN;
    for (size_t i = 0; i + sizeof(schema) - 1 <= within; i++)
        if (memcmp(text + i, schema, sizeof(schema) - 1) == 0) return true;
    return false;
}

static int read_profile(const char *text, size_t size, const char *path,
                        struct cm_diagnostics *diag, struct check_baseline *ret) {
    const int status = cm_result_read_json(text, size, path, diag, &ret->profile);
    if (status != CM_OK) return status;
    const struct cm_result *const results[] = {ret->profile};
    return cm_baseline_make(results, 1, NULL, "", diag, &ret->baseline);
}

int check_baseline_read(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                        struct check_baseline *ret) {
    char *text = NULL;
    size_t size = 0;
    *ret = (struct check_baseline){.missing = "no baseline was given"};
    if (path == NULL) return CM_OK;
    if (!text_equal(path, "-") && access(path, F_OK) != 0) {
        ret->missing = arena_printf(arena, "baseline file '%s' not found", path);
        return ret->missing == NULL ? diag_no_memory(diag) : CM_OK;
    }
    const int status = read_file(path, FILE_MOST_JSON, arena, diag, &text, &size);
    if (status != CM_OK) return status;
    if (is_profile(text, size)) return read_profile(text, size, path, diag, ret);
    return cm_baseline_read_json(text, size, path, diag, &ret->baseline);
}

void check_baseline_free(struct check_baseline *baseline) {
    cm_baseline_free(baseline->baseline);
    cm_result_free(baseline->profile);
}

static int write_baseline(const void *baseline, FILE *out) {
    return cm_baseline_write_json(baseline, out);
}

int check_baseline_write(const char *path, const struct cm_baseline *baseline,
                         struct cm_diagnostics *diag) {
    return streams_write(path, write_baseline, baseline, diag);
}
