/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches --freeze patterns with parameters and modules, and --checkpoint patterns with
 * modules. A pattern without a match is an error.
 */
#include "passes/training/training.h"

#include "support/arena.h"
#include "support/diag.h"
#include "support/glob.h"

#include "support/banned.h"

static int refuse(const struct training *training, const char *what, const char *pattern) {
    struct cm_diagnostics *diag = training->analysis->diag;
    int status = diag_error(diag, DIAG_USAGE, "no %s matches '%s'", what, pattern);
    diag_hint(diag, "names are dotted, as in the file; * matches any text");
    return status;
}

/* Freezes parameters with a matching name, or used by a node of a matching module. matches[m]:
 * the pattern matches the path of module m or of one of its parents. */
static int freeze(struct training *training, const char *pattern, bool *matches) {
    const struct params_table *params = &training->analysis->params;
    const struct modules_table *modules = &training->analysis->modules;
    bool any = false;
    for (uint32_t id = 0; id < modules->n_modules; id++) {
        const uint32_t parent = modules->parents[id];
        matches[id] = (parent != ID_NONE && matches[parent]) ||
                      glob_matches(pattern, modules->modules[id].path);
    }
    for (size_t i = 0; i < params->n_params; i++)
        if (glob_matches(pattern, params->params[i].name)) training->frozen[i] = any = true;
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        for (size_t i = 0; i < params->n_used[id]; i++)
            if (matches[modules->of_node[id]])
                training->frozen[params->used[id][i]] = any = true;
    return any ? CM_OK : refuse(training, "parameter or module", pattern);
}

/* Marks the matching modules; training_choose then keeps the outermost. */
static int checkpoint(struct training *training, const char *pattern) {
    const struct modules_table *table = &training->analysis->modules;
    bool any = false;
    for (uint32_t id = 1; id < table->n_modules; id++)
        if (glob_matches(pattern, table->modules[id].path)) {
            training->checkpoint[id] = id;
            any = true;
        }
    return any ? CM_OK : refuse(training, "module", pattern);
}

int training_choose(struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct cm_options *options = analysis->options;
    size_t n_modules = analysis->modules.n_modules;
    bool *matches = arena_array(analysis->arena, n_modules, sizeof(*matches));
    int status = CM_OK;
    training->frozen =
        arena_array(analysis->arena, analysis->params.n_params, sizeof(*training->frozen));
    training->checkpoint =
        arena_array(analysis->arena, n_modules, sizeof(*training->checkpoint));
    if (!matches || !training->frozen || !training->checkpoint)
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n_modules; i++) training->checkpoint[i] = ID_NONE;
    for (size_t i = 0; i < analysis->params.n_params; i++) /* integers have no gradients */
        training->frozen[i] =
            !dtype_is_float(analysis->infer.infos[analysis->params.params[i].value].dtype);
    for (size_t i = 0; i < options->n_freeze && status == CM_OK; i++)
        status = freeze(training, options->freeze[i], matches);
    for (size_t i = 0; i < options->n_checkpoint && status == CM_OK; i++)
        status = checkpoint(training, options->checkpoint[i]);
    for (uint32_t id = 1; id < n_modules && status == CM_OK; id++) {
        const uint32_t outer = training->checkpoint[analysis->modules.parents[id]];
        if (outer != ID_NONE) training->checkpoint[id] = outer;
    }
    return status;
}
