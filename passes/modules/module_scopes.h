/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: the places, as the file spells them, in which nodes stand. "/net/net.0_1/Conv" stands
 * in the scope net/net.0_1, which is the second entry of module net.0 (module_paths.h). Who
 * knows a node's scope is a source: module_sources.h has them in order.
 */
#ifndef PASSES_MODULES_MODULE_SCOPES_H
#define PASSES_MODULES_MODULE_SCOPES_H

#include "passes/modules/path_table.h"
#include "passes/pass.h"

/* What a source knows of a scope besides its text. */
struct scope_notes {
    const char *path;  /* of the module that it is an entry of; NULL: as its text says */
    const char *class; /* of that module; NULL: not told */
    uint32_t entries;  /* of that module under this scope's name, where a source counts them */
    bool again;        /* a further entry of it, where `path` is told */
    bool distinct;     /* a number at the end of its name is part of it: "conv2d_1" */
};

struct scopes {
    struct paths paths;        /* written with '/' */
    struct scope_notes *notes; /* by scope, of the first n_notes; none of the others */
    size_t n_notes;
    bool foreign;      /* what parameters are called is not what its modules are */
    uint32_t *of_node; /* by node */
    size_t n_nodes;
    const uint32_t *nodes; /* in order */
};

/* Also says in the table which sources were used, and for how many nodes. */
int scopes_find(const struct analysis *analysis, struct scopes *ret,
                struct modules_table *table) CM_MUST_CHECK;
/* Whether the node makes a parameter, an Identity of one that is equal to it (params.c): it
 * uses none itself. */
bool scopes_makes_param(const struct analysis *analysis, uint32_t node);
const struct scope_notes *scopes_notes(const struct scopes *scopes, uint32_t scope);
/* To be written; until the next scope is noted. NULL: no memory. */
struct scope_notes *scopes_note(struct scopes *scopes, uint32_t scope);

#endif
