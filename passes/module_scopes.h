/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: the places, as the file spells them, in which nodes stand. "/net/net.0_1/Conv" stands
 * in the scope net/net.0_1, which is the second entry of module net.0 (module_paths.h). A scope
 * comes from the node's name, from the call of the function that it was inlined from, or, where
 * a file has neither, from the names of its outputs and parameters.
 */
#ifndef PASSES_MODULE_SCOPES_H
#define PASSES_MODULE_SCOPES_H

#include "passes/pass.h"
#include "passes/paths.h"

struct scopes {
    struct paths paths;   /* written with '/' */
    uint32_t *of_node;    /* by node */
    const char **classes; /* by scope: the function that was called there, or NULL */
    size_t n_nodes;
    const uint32_t *nodes; /* in order */
};

int scopes_find(const struct analysis *analysis, struct scopes *ret) CM_MUST_CHECK;

#endif
