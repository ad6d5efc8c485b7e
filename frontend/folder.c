/* SPDX-License-Identifier: Apache-2.0 */
/* Hints for folders with a well-known model file. */
#include "frontend/folder.h"

#include <stddef.h>
#include <unistd.h>

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* The hint is `before`, then the path of the folder, then `after`. */
static const struct known {
    const char *file;
    const char *before;
    const char *after;
} known[] = {
    {"model.onnx", "give the model in it: ", "/model.onnx"},
    {"saved_model.pb",
     "a TensorFlow SavedModel, export it: python -m tf2onnx.convert --output model.onnx "
     "--saved-model ",
     ""},
};

void folder_explain(const char *path, struct cm_diagnostics *diag) {
    struct arena *arena = arena_new("folder", 0);
    bool is_found = arena == NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !is_found; i++) {
        const char *file = arena_printf(arena, "%s/%s", path, known[i].file);
        is_found = file != NULL && access(file, F_OK) == 0;
        if (is_found) diag_hint(diag, "%s%s%s", known[i].before, path, known[i].after);
    }
    arena_free(arena);
}
