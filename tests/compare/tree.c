/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"
#include "support/map.h"

#define LONGEST_LINE 400

static size_t count_lines(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++) n += *text == '\n';
    return n;
}

/* Returns the path of the parent: "layer1" for "layer1.0"; the root if there is no dot. */
static const char *parent_path(struct arena *arena, const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? arena_strndup(arena, path, (size_t)(dot - path)) : "";
}

static void read_line(struct arena *arena, const char *line, struct cm_module *module) {
    char path[LONGEST_LINE];
    char class_name[LONGEST_LINE];
    long long params = 0;
    long long macs = 0;
    assert_int_equal(sscanf(line, "%399s %399s %lld %lld", path, class_name, &params, &macs),
                     4);
    char *open = strchr(class_name, '(');
    module->arguments = "";
    if (open) {
        *open = '\0';
        module->arguments = arena_strndup(arena, open + 1, strlen(open + 1) - 1);
    }
    module->path = strcmp(path, ".") == 0 ? "" : arena_strdup(arena, path);
    const char *dot = strrchr(module->path, '.');
    module->name = dot ? dot + 1 : module->path;
    module->type_known = strcmp(class_name, "?") != 0;
    module->type = module->type_known ? arena_strdup(arena, class_name) : module->name;
    module->costs = (struct cm_costs){.params = params, .macs = macs};
    module->calls = 1;
}

/* Counts the children of each module, then fills its list; parents are set already. */
static void link_children(struct arena *arena, struct cm_module *modules, size_t n) {
    size_t **lists = arena_array(arena, n, sizeof(*lists));
    for (size_t i = 1; i < n; i++) modules[modules[i].parent].n_children++;
    for (size_t i = 0; i < n; i++) {
        lists[i] = arena_array(arena, modules[i].n_children, sizeof(**lists));
        modules[i].children = lists[i];
        modules[i].n_children = 0;
    }
    for (size_t i = 1; i < n; i++) {
        const size_t parent = modules[i].parent;
        lists[parent][modules[parent].n_children++] = i;
    }
}

struct cm_result *tree_make(const char *lines) {
    struct arena *arena = arena_new("tree", 0);
    struct cm_result *result = arena_alloc(arena, sizeof(*result));
    const size_t n = count_lines(lines);
    struct cm_module *modules = arena_array(arena, n, sizeof(*modules));
    struct map paths;
    map_init(&paths, arena);
    for (size_t i = 0; i < n; i++) {
        const size_t length = strcspn(lines, "\n");
        read_line(arena, arena_strndup(arena, lines, length), &modules[i]);
        lines += length + 1;
        modules[i].parent = CM_NO_INDEX;
        assert_int_equal(map_set(&paths, modules[i].path, (uint32_t)i), CM_OK);
        if (i == 0) continue;
        modules[i].parent = map_get(&paths, parent_path(arena, modules[i].path));
        modules[i].depth = modules[modules[i].parent].depth + 1;
    }
    link_children(arena, modules, n);
    for (size_t i = n; i-- > 1;) {
        modules[modules[i].parent].costs.params += modules[i].costs.params;
        modules[modules[i].parent].costs.macs += modules[i].costs.macs;
    }
    *result = (struct cm_result){
        .model = {.path = "model.onnx", .producer = ""},
        .options = {.batch = 1,
                    .precision = "fp32",
                    .file_precision = "fp32",
                    .convention = "deepspeed",
                    .mode = "model",
                    .module_source = "",
                    .group = "",
                    .schedule = "file"},
        .totals = modules[0].costs,
        .n_modules = n,
        .modules = modules,
        .arena = arena,
    };
    return result;
}

void tree_free(struct cm_result *result) {
    arena_free(result->arena);
}

struct cm_diff *tree_diff(const char *old_lines, const char *new_lines,
                          struct cm_result **ret_old, struct cm_result **ret_new) {
    struct cm_diff *diff = NULL;
    *ret_old = tree_make(old_lines);
    *ret_new = tree_make(new_lines);
    assert_int_equal(cm_diff_make(*ret_old, *ret_new, NULL, &diff), CM_OK);
    return diff;
}

/* Returns the differences, one per line: "renamed a.b -> a.c", "added a.d". Free with free. */
static char *tree_describe(const struct cm_diff *diff) {
    static const char *const names[] = {
        [CM_DIFF_SAME] = "same",   [CM_DIFF_CHANGED] = "changed", [CM_DIFF_RENAMED] = "renamed",
        [CM_DIFF_ADDED] = "added", [CM_DIFF_REMOVED] = "removed",
    };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < diff->n_modules; i++) {
        const struct cm_diff_module *row = &diff->modules[i];
        const bool in_old = row->old_module != CM_NO_INDEX;
        const bool in_new = row->new_module != CM_NO_INDEX;
        if (row->status == CM_DIFF_SAME || row->is_part) continue;
        fputs(names[row->status], out);
        if (in_old) fprintf(out, " %s", diff->old_result->modules[row->old_module].path);
        if (row->status == CM_DIFF_RENAMED) fputs(" ->", out);
        if (in_new && row->status != CM_DIFF_CHANGED)
            fprintf(out, " %s", diff->new_result->modules[row->new_module].path);
        fputs("\n", out);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

void tree_expect(const char *old_lines, const char *new_lines, const char *description) {
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(old_lines, new_lines, &old_result, &new_result);
    char *have = tree_describe(diff);
    assert_string_equal(have, description);
    free(have);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}
