/* SPDX-License-Identifier: Apache-2.0 */
/* The TOML reader: values are complete, and a refusal has a message with its place. */
#include <string.h>

#include "costmodel/costmodel.h"
#include "fuzz.h"
#include "support/arena.h"
#include "support/toml.h"

static void require_value(const struct toml_value *value, int depth) {
    const bool is_list = value->kind >= TOML_ARRAY;
    FUZZ_REQUIRE(value->at != NULL && (is_list || value->text != NULL));
    FUZZ_REQUIRE(depth <= TOML_MAX_DEPTH + 2);
    toml_each(item, value) {
        FUZZ_REQUIRE((item->key != NULL) == (value->kind == TOML_TABLE));
        FUZZ_REQUIRE(item->key == NULL || toml_get(value, item->key) == item);
        require_value(item, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const double since = fuzz_now();
    const struct toml_value *root = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct arena *arena = arena_new("toml", 0);
    FUZZ_REQUIRE(arena != NULL && diag != NULL);
    char *text = arena_strndup(arena, (const char *)data, size);
    FUZZ_REQUIRE(text != NULL);
    const int status = toml_parse(text, size, "file", arena, diag, &root);
    fuzz_require_status(status, diag);
    if (status == CM_OK) require_value(root, 0);
    if (status < 0)
        FUZZ_REQUIRE(strncmp(cm_diagnostics_get(diag, 0)->message, "file:", 5) == 0);
    cm_diagnostics_free(diag);
    arena_free(arena);
    fuzz_require_fast(since);
    return 0;
}
