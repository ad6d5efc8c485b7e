/* SPDX-License-Identifier: Apache-2.0 */
/* Groups modules by a regular expression: see module_groups.h. */
#include "passes/modules/module_groups.h"

#include <regex.h>
#include <string.h>

#include "passes/params/params.h"
#include "support/arena.h"
#include "support/diag.h"

/* Longer paths are in no group: matching may take quadratic time. */
#define MAX_PATH_LENGTH 1024

#define MAX_EXPRESSION_LENGTH 1024

/* No path contains this separator, so that the name of a group is never split. */
#define NO_SEPARATOR '\0'

static int compile(const char *expression) {
    regex_t regex;
    int fault = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
    if (fault == 0) regfree(&regex);
    return fault;
}

/* Returns the length of the longest valid prefix of the expression; the error follows it. */
static size_t sound_length(const char *expression, struct arena *arena) {
    size_t length = strlen(expression);
    char *front = arena_strndup(arena, expression, length);
    while (front && length > 0) {
        front[--length] = '\0';
        const int fault = compile(front);
        if (fault == REG_ESPACE) arena_set_failed(arena);
        if (fault == 0) return length;
    }
    return 0;
}

int module_groups_check(const char *expression, struct arena *arena,
                        struct cm_diagnostics *diag) {
    char message[128];
    if (strlen(expression) > MAX_EXPRESSION_LENGTH)
        return diag_error(diag, DIAG_USAGE, "--group must be at most %d bytes long, got %zu",
                          MAX_EXPRESSION_LENGTH, strlen(expression));
    int fault = compile(expression);
    if (fault == 0) return CM_OK;
    if (fault == REG_ESPACE) return diag_no_memory(diag);
    regerror(fault, NULL, message, sizeof message);
    const size_t sound = sound_length(expression, arena);
    if (arena_failed(arena)) return diag_no_memory(diag);
    int status = diag_error(
        diag, DIAG_USAGE, "--group '%s' is not a valid regular expression at character %zu: %s",
        expression, sound + 1, message);
    diag_hint(diag, "use a POSIX extended regular expression, for example 'layer[0-9]+'");
    return status;
}

/* Sets of_path[module] to its group, which is added if new; 0 (the root) without a match. */
static void group_all(const char *expression, const struct paths *paths, struct paths *groups,
                      uint32_t *of_path) {
    regex_t regex;
    regmatch_t matches[2];
    if (regcomp(&regex, expression, REG_EXTENDED) != 0) {
        arena_set_failed(groups->arena);
        return;
    }
    const regmatch_t *name = &matches[regex.re_nsub > 0];
    for (uint32_t i = 1; i < paths->n; i++) {
        const char *text = paths_text(paths, i, groups->arena);
        if (text && strlen(text) <= MAX_PATH_LENGTH &&
            regexec(&regex, text, 2, matches, 0) == 0 && name->rm_so >= 0)
            of_path[i] =
                paths_enter(groups, text + name->rm_so, (size_t)(name->rm_eo - name->rm_so));
    }
    regfree(&regex);
}

/* Makes each group a scope and a module with one call. */
static void replace(const struct analysis *analysis, const struct paths *groups,
                    const uint32_t *of_path, struct scopes *scopes,
                    struct module_paths *paths) {
    size_t n_params = analysis->params->n_params;
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t node = scopes->nodes[i];
        scopes->of_node[node] = of_path[paths->of_scope[scopes->of_node[node]]];
    }
    for (size_t i = 0; i < n_params; i++)
        paths->of_param[i] = of_path[paths->of_param_module[paths->of_param[i]]];
    paths->paths = paths->of_params = scopes->paths = *groups;
    paths->of_scope = arena_array(analysis->arena, groups->n, sizeof *paths->of_scope);
    paths->repeat = arena_array(analysis->arena, groups->n, sizeof *paths->repeat);
    for (uint32_t i = 0; i < groups->n && paths->of_scope; i++) paths->of_scope[i] = i;
    paths->of_param_module = paths->of_scope;
}

int module_groups_make(const struct analysis *analysis, struct scopes *scopes,
                       struct module_paths *paths) {
    const char *expression = analysis->options->group;
    struct paths groups;
    const struct scope_notes root = {.class = scopes_notes(scopes, 0)->class};
    uint32_t *of_path = arena_array(analysis->arena, paths->paths.n, sizeof *of_path);
    if (!of_path || paths_init(&groups, analysis->arena, NO_SEPARATOR) < 0)
        return diag_no_memory(analysis->diag);
    group_all(expression, &paths->paths, &groups, of_path);
    replace(analysis, &groups, of_path, scopes, paths);
    scopes->n_notes = 0;
    struct scope_notes *notes = scopes_note(scopes, 0);
    if (!notes || arena_failed(analysis->arena)) return diag_no_memory(analysis->diag);
    *notes = root;
    if (groups.n == 1)
        diag_note(analysis->diag, DIAG_ASSUMPTION, "--group '%s' matches no module",
                  expression);
    return CM_OK;
}
