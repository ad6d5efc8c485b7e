/* SPDX-License-Identifier: Apache-2.0 */
/* The set of scopes. A scope is a call of a module as the file writes it: the scope of
 * "/net/net.0_1/Conv" is net/net.0_1, the second call of module net.0 (module_tree.h).
 * module_sources.h finds the scopes. */
#pragma once

#include "passes/modules/path_table.h"
#include "passes/pass.h"

/* The properties of a scope, besides its text, that a module source knows. */
struct scope_notes {
    const char *path;  /* path of the called module; NULL: derive it from the text */
    const char *class; /* of that module; NULL if unknown */
    uint32_t entries;  /* calls with this scope's name so far; 0 if the source does not count */
    bool is_repeat;    /* if `path` is set: not the first call of the module */
    bool distinct;     /* a number at the end is part of the module's name: "conv2d_1" */
};

struct scopes {
    struct paths paths;        /* separated by '/' */
    struct scope_notes *notes; /* by scope, for the first n_notes */
    size_t n_notes;
    bool foreign;      /* module names are unrelated to parameter names */
    uint32_t *of_node; /* by node: its scope */
    size_t n_nodes;
    const uint32_t *nodes; /* all nodes, in the order of order_nodes */
};

/* Returns the notes of a scope; notes without content if none were written. */
const struct scope_notes *scopes_notes(const struct scopes *scopes, uint32_t scope);
/* Returns the notes of a scope for writing, valid until the next call. NULL: out of memory. */
struct scope_notes *scopes_note(struct scopes *scopes, uint32_t scope);
/* Enters "a.b.c" as the scope a/b/c. This function and the next fail as paths_enter does. */
uint32_t scopes_enter_module(struct scopes *scopes, const char *path, size_t length);
/* Enters a scope whose parts are distinct modules: a number at the end is not a second call. */
uint32_t scopes_enter_distinct(struct scopes *scopes, const char *text, size_t length);
/* Returns true if an output of the node is a parameter: the node is an Identity of an equal
 * parameter (param_uses.c) and does not count as a user of parameters. */
bool scopes_makes_param(const struct analysis *analysis, uint32_t node);
