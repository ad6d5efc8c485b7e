/* SPDX-License-Identifier: Apache-2.0 */
/* The models of one run of `costmodel check`: those of the command line, or those of
 * .costmodel.toml (docs/config.md). A key of the file is the option of the same name: it
 * becomes an argument before those of the command line. */
#include "cli/check/check_command.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/glob.h"
#include "support/sort.h"
#include "support/suggest.h"
#include "support/system.h"
#include "support/text.h"
#include "support/toml.h"

#define CONFIG_NAME   ".costmodel.toml"
#define MAX_ITEMS_RUN 1000 /* models of a run */
#define MAX_PARENTS   64   /* folders above the working folder that are searched */

struct waiver {
    const char *models; /* pattern of paths, as in the file */
    bool is_used;
    struct cm_check_waiver of;
};

struct config {
    const struct invocation *call;
    const char *path;       /* of the file; NULL: none */
    const char *folder;     /* its folder, "" or "../" and the like: paths are relative to it */
    struct invocation rest; /* the options of the command line */
    const struct option_list *wanted; /* models of the command line; none: all */
    bool *found;                      /* the file has the model, by index of `wanted` */
    size_t n_waivers;
    struct waiver *waivers;
    struct check_items *ret;
};

/* Adds an error at a place of the file. Returns CM_USAGE. */
__attribute__((format(printf, 3, 4))) static int config_fault(const struct config *config,
                                                              const struct toml_value *value,
                                                              const char *format, ...) {
    struct diag_frame frame = {.label = "at", .what = value->at};
    va_list args;
    va_start(args, format);
    diag_push(config->call->diag, &frame);
    const int status = diag_verror(config->call->diag, DIAG_USAGE, format, args);
    diag_pop(config->call->diag, &frame);
    va_end(args);
    return status;
}

/* Arguments that grow. */
struct arguments {
    size_t n;
    size_t capacity;
    const char **values;
};

static int add_argument(const struct config *config, struct arguments *list,
                        const char *value) {
    return value != NULL && arena_push(config->call->arena, &list->values, &list->n,
                                       &list->capacity, &value, sizeof(value))
               ? CM_OK
               : diag_no_memory(config->call->diag);
}

/* Prefixes a path of the file with its folder. */
static const char *resolve(const struct config *config, const char *path) {
    if (path[0] == '/' || text_equal(path, "-")) return path;
    return arena_printf(config->call->arena, "%s%s", config->folder, path);
}

/* Returns the text of a scalar as the value of an option; NULL, with a message, if it is none.
 */
static const char *option_text(const struct config *config, const struct option *row,
                               const struct toml_value *value) {
    const bool is_path =
        text_starts_with(row->value, "FILE") || text_equal(row->name, "device");
    if (value->kind != TOML_STRING && value->kind != TOML_INTEGER) {
        (void)config_fault(config, value, "%s requires %s: a string or an integer", row->name,
                           row->value);
        return NULL;
    }
    if (is_path && (row->name[0] != 'd' || text_ends_with(value->text, ".json")))
        return resolve(config, value->text);
    return value->text;
}

/* Adds the arguments of a key: --limit=A --limit=B for limit = ["A", "B"], --dim=seq=128 for
 * dim = {seq = 128}, --batch=1,8 for batch = [1, 8], --strict for strict = true. */
static int add_values(const struct config *config, const struct option *row,
                      const struct toml_value *value, struct arguments *ret) {
    struct arena *arena = config->call->arena;
    const bool is_list = row->kind == OPTION_LIST;
    struct text joined = {.arena = arena};
    if (row->value == NULL) {
        if (value->kind != TOML_BOOL)
            return config_fault(config, value, "%s requires true or false", row->name);
        return value->flag ? add_argument(config, ret, arena_printf(arena, "--%s", row->name))
                           : CM_OK;
    }
    if (value->kind != TOML_ARRAY && (value->kind != TOML_TABLE || !is_list)) {
        const char *text = option_text(config, row, value);
        return text == NULL
                   ? CM_USAGE
                   : add_argument(config, ret, arena_printf(arena, "--%s=%s", row->name, text));
    }
    toml_each(item, value) {
        const char *text = option_text(config, row, item);
        int status = text == NULL ? CM_USAGE : CM_OK;
        text_printf(&joined, "%s%s", joined.length > 0 ? "," : "", text == NULL ? "" : text);
        if (status == CM_OK && is_list)
            status = add_argument(config, ret,
                                  arena_printf(arena, "--%s=%s%s%s", row->name,
                                               item->key == NULL ? "" : item->key,
                                               item->key == NULL ? "" : "=", text));
        if (status < 0) return status;
    }
    if (is_list || value->first == NULL) return CM_OK;
    return add_argument(config, ret,
                        arena_printf(arena, "--%s=%s", row->name, text_string(&joined)));
}

/* Adds the arguments of a key, and parses them alone, so that an error names its place. */
static int add_key(const struct config *config, const struct toml_value *value,
                   struct arguments *ret) {
    const char *near = NULL;
    const struct option *row =
        options_find(check_options, value->key, strlen(value->key), '\0', &near);
    if (row == NULL)
        return near == NULL
                   ? config_fault(config, value, "unknown key '%s'", value->key)
                   : config_fault(config, value, "unknown key '%s', did you mean '%s'?",
                                  value->key, near);
    if (row->rules & OPTION_OF_COMMAND_LINE)
        return config_fault(config, value, "%s is an option of the command line only",
                            row->name);
    const size_t before = ret->n;
    int status = add_values(config, row, value, ret);
    if (status < 0) return status;
    struct diag_frame frame = {.label = "at", .what = value->at};
    diag_push(config->call->diag, &frame);
    struct invocation alone = *config->call;
    alone.argc = (int)(ret->n - before);
    alone.argv = ret->values + before;
    status = check_request_try(&alone);
    diag_pop(config->call->diag, &frame);
    return status;
}

static int add_item(const struct config *config, const char *path, const char *at,
                    const struct arguments *of_file) {
    struct check_items *ret = config->ret;
    struct arena *arena = config->call->arena;
    struct arguments all = {0};
    struct arguments shown = {0};
    bool is_wanted = config->wanted->n == 0;
    const char *model = at == NULL ? path : resolve(config, path);
    int status = model == NULL ? diag_no_memory(config->call->diag) : CM_OK;
    for (size_t i = 0; i < config->n_waivers; i++)
        config->waivers[i].is_used |= glob_matches(config->waivers[i].models, path);
    for (size_t i = 0; i < config->wanted->n && at != NULL; i++) {
        const char *wanted = config->wanted->values[i];
        const bool is_same = text_equal(wanted, model) || outputs_is_file(wanted, model);
        is_wanted |= is_same;
        config->found[i] |= is_same;
    }
    if (!is_wanted && at != NULL) return CM_OK;
    if (ret->n == MAX_ITEMS_RUN)
        return options_fault(config->call, "at most %d models are supported", MAX_ITEMS_RUN);
    struct check_item *item = &ret->items[ret->n++];
    *item = (struct check_item){.call = *config->call, .shown = *config->call, .at = at};
    struct cm_check_waiver *waivers = arena_array(arena, config->n_waivers, sizeof(*waivers));
    if (waivers == NULL) return diag_no_memory(config->call->diag);
    for (size_t i = 0; i < config->n_waivers; i++)
        if (glob_matches(config->waivers[i].models, path))
            waivers[item->n_waivers++] = config->waivers[i].of;
    item->waivers = waivers;
    for (size_t i = 0; of_file != NULL && i < of_file->n && status == CM_OK; i++)
        status = add_argument(config, &all, of_file->values[i]);
    if (status == CM_OK && at != NULL) status = add_argument(config, &shown, "--config");
    if (status == CM_OK && at != NULL) status = add_argument(config, &shown, config->path);
    for (int i = 0; i < config->rest.argc && status == CM_OK; i++) {
        status = add_argument(config, &all, config->rest.argv[i]);
        if (status == CM_OK) status = add_argument(config, &shown, config->rest.argv[i]);
    }
    if (status == CM_OK) status = add_argument(config, &all, "--");
    if (status == CM_OK) status = add_argument(config, &all, model);
    if (status == CM_OK && model[0] == '-') status = add_argument(config, &shown, "--");
    if (status == CM_OK) status = add_argument(config, &shown, model);
    item->call.argc = (int)all.n;
    item->call.argv = all.values;
    item->shown.argc = (int)shown.n;
    item->shown.argv = shown.values;
    return status;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Adds the files that a pattern matches, in the order of their names. Only the last part of the
 * path may have '*' or '?'. */
static int add_pattern(const struct config *config, const struct toml_value *value,
                       const struct arguments *of_file) {
    const size_t length = system_folder_length(value->text);
    const char *const pattern = value->text + length;
    struct arena *arena = config->call->arena;
    struct arguments found = {0};
    int status = CM_OK;
    if (strpbrk(value->text, "*?") == NULL)
        return add_item(config, value->text, value->at, of_file);
    const char *folder = arena_strndup(arena, value->text, length);
    const char *opened = folder == NULL ? NULL : resolve(config, folder);
    if (opened == NULL) return diag_no_memory(config->call->diag);
    if (strpbrk(folder, "*?") != NULL)
        return config_fault(config, value, "only the file name may have * or ?, got '%s'",
                            value->text);
    DIR *list = opendir(opened[0] == '\0' ? "." : opened);
    const struct dirent *entry = NULL;
    while (list != NULL && status == CM_OK && (entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.' && glob_matches(pattern, entry->d_name))
            status = add_argument(config, &found,
                                  arena_printf(arena, "%s%s", folder, entry->d_name));
    if (list != NULL) (void)closedir(list);
    if (status == CM_OK && found.n == 0)
        return config_fault(config, value, "no file matches '%s'", value->text);
    if (found.n > 0) sort_stable(found.values, found.n, sizeof(char *), compare_names);
    for (size_t i = 0; i < found.n && status == CM_OK; i++)
        status = add_item(config, found.values[i], value->at, of_file);
    return status;
}

/* Reads a [[model]]. Its keys replace those at the head of the file. */
static int read_model(const struct config *config, const struct toml_value *root,
                      const struct toml_value *model) {
    const struct toml_value *path = toml_get(model, "path");
    struct arguments of_file = {0};
    int status = CM_OK;
    toml_each(value, root) {
        if (value->kind == TOML_TABLES || toml_get(model, value->key) != NULL) continue;
        if (status == CM_OK) status = add_key(config, value, &of_file);
    }
    toml_each(value, model) if (value != path && status == CM_OK) status =
        add_key(config, value, &of_file);
    if (status < 0) return status;
    if (path == NULL || (path->kind != TOML_STRING && path->kind != TOML_ARRAY))
        return config_fault(config, model,
                            "a [[model]] requires path: a file, a pattern or a list");
    if (path->kind == TOML_STRING) return add_pattern(config, path, &of_file);
    toml_each(item, path) {
        if (item->kind != TOML_STRING)
            return config_fault(config, item, "path requires strings");
        status = add_pattern(config, item, &of_file);
        if (status < 0) return status;
    }
    return CM_OK;
}

/* Reads a [[waiver]]; `today` is "2026-11-28". */
static int read_waiver(const struct config *config, const struct toml_value *table,
                       const char *today, struct waiver *ret) {
    struct {
        const char *key;
        enum toml_kind kind;
        const char **to;
    } const rows[] = {
        {"model", TOML_STRING, &ret->models},
        {"limit", TOML_STRING, &ret->of.limit},
        {"reason", TOML_STRING, &ret->of.reason},
        {"until", TOML_DATE, &ret->of.until},
    };
    const size_t n_rows = sizeof rows / sizeof *rows;
    toml_each(value, table) {
        struct suggestion suggestion;
        size_t i = 0;
        suggest_init(&suggestion, value->key, strlen(value->key));
        while (i < n_rows && !text_equal(rows[i].key, value->key))
            suggest_offer(&suggestion, rows[i++].key);
        if (i == n_rows)
            return config_fault(config, value, "unknown key '%s' of a waiver%s%s%s", value->key,
                                suggestion.best == NULL ? "" : ", did you mean '",
                                suggestion.best == NULL ? "" : suggestion.best,
                                suggestion.best == NULL ? "" : "'?");
        if (value->kind != rows[i].kind || value->text[0] == '\0')
            return config_fault(config, value, "%s requires %s", value->key,
                                rows[i].kind == TOML_DATE ? "a date without quotes: 2026-12-31"
                                                          : "a string");
        *rows[i].to = value->text;
    }
    for (size_t i = 0; i < n_rows; i++)
        if (*rows[i].to == NULL)
            return config_fault(config, table, "a [[waiver]] requires %s", rows[i].key);
    ret->of.is_expired = strcmp(ret->of.until, today) < 0;
    if (!ret->of.is_expired) return CM_OK;
    struct diag_frame frame = {.label = "at", .what = table->at};
    diag_push(config->call->diag, &frame);
    diag_warn(config->call->diag, DIAG_COMPARE, "the waiver of '%s' expired on %s: remove it",
              ret->of.limit, ret->of.until);
    diag_pop(config->call->diag, &frame);
    return CM_OK;
}

static int read_waivers(struct config *config, const struct toml_value *list) {
    char today[UTC_SIZE];
    size_t n = 0;
    if (list->kind != TOML_TABLES)
        return config_fault(config, list, "waivers are [[waiver]] tables");
    if (!text_utc((int64_t)time(NULL), today))
        return config_fault(config, list, "the date of today is not known");
    today[UTC_DAY] = '\0';
    toml_each(table, list) n++;
    config->waivers = arena_array(config->call->arena, n, sizeof(*config->waivers));
    if (config->waivers == NULL) return diag_no_memory(config->call->diag);
    toml_each(table, list) {
        const int status =
            read_waiver(config, table, today, &config->waivers[config->n_waivers++]);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int read_file(struct config *config) {
    const struct invocation *call = config->call;
    const struct toml_value *root = NULL;
    char *text = NULL;
    size_t size = 0;
    int status =
        source_read_file(config->path, TOML_MAX_BYTES, call->arena, call->diag, &text, &size);
    if (status == CM_OK)
        status = toml_parse(text, size, config->path, call->arena, call->diag, &root);
    if (status < 0) return status == CM_REFUSED || status == CM_IO ? CM_USAGE : status;
    const struct toml_value *models = toml_get(root, "model");
    const struct toml_value *waivers = toml_get(root, "waiver");
    if (models == NULL || models->kind != TOML_TABLES)
        return config_fault(config, models == NULL ? root : models, "no [[model]] table");
    toml_each(value, root) {
        if (value->kind != TOML_TABLES || value == models || value == waivers) continue;
        return config_fault(config, value,
                            "unknown table [[%s]], only [[model]] and [[waiver]]", value->key);
    }
    if (waivers != NULL) status = read_waivers(config, waivers);
    toml_each(model, models) if (status == CM_OK) status = read_model(config, root, model);
    if (status < 0) return status;
    size_t i = 0;
    if (waivers != NULL) {
        toml_each(table, waivers) if (!config->waivers[i++].is_used) return config_fault(
            config, table, "no model matches '%s'", config->waivers[i - 1].models);
    }
    for (i = 0; i < config->wanted->n; i++)
        if (!config->found[i])
            return options_fault(call, "%s has no model '%s'", config->path,
                                 config->wanted->values[i]);
    return CM_OK;
}

/* Finds the file in the working folder, or in its parents up to the root of the repository, the
 * folder that contains .git. *ret is NULL if there is none. */
static int find_file(const struct invocation *call, const char **ret) {
    struct text folder = {.arena = call->arena};
    const char *found = NULL;
    *ret = access(CONFIG_NAME, R_OK) == 0 ? CONFIG_NAME : NULL;
    for (int i = 0; *ret == NULL && i < MAX_PARENTS; i++) {
        const char *here = text_string(&folder);
        const char *file = arena_printf(call->arena, "%s" CONFIG_NAME, here);
        const char *git = arena_printf(call->arena, "%s.git", here);
        if (file == NULL || git == NULL) return diag_no_memory(call->diag);
        if (found == NULL && access(file, F_OK) == 0) found = file;
        if (access(git, F_OK) == 0) {
            *ret = found;
            return CM_OK;
        }
        text_append(&folder, "../");
    }
    return folder.failed ? diag_no_memory(call->diag) : CM_OK;
}

/* Copies the arguments without the operands and the `--` before them. */
static int copy_options(struct config *config, const struct option_list *operands) {
    const struct invocation *call = config->call;
    struct arguments options = {0};
    size_t k = 0;
    int status = CM_OK;
    for (int i = 0; i < call->argc && status == CM_OK; i++) {
        if (k < operands->n && call->argv[i] == operands->values[k])
            k++;
        else if (!text_equal(call->argv[i], "--"))
            status = add_argument(config, &options, call->argv[i]);
    }
    config->rest = *call;
    config->rest.argc = (int)options.n;
    config->rest.argv = options.values;
    return status;
}

int check_items_read(const struct invocation *call, const char *given_config,
                     const struct option_list *operands, struct check_items *ret) {
    struct config config = {
        .call = call, .path = given_config, .folder = "", .wanted = operands, .ret = ret};
    int status = CM_OK;
    if (config.path == NULL && operands->n == 0) status = find_file(call, &config.path);
    if (status == CM_OK && config.path == NULL && operands->n == 0)
        return options_fault(call, "check requires a model, or a file " CONFIG_NAME);
    ret->items = arena_array(call->arena, config.path ? MAX_ITEMS_RUN : operands->n,
                             sizeof(*ret->items));
    config.found = arena_array(call->arena, operands->n + 1, sizeof(*config.found));
    if (ret->items == NULL || config.found == NULL) return diag_no_memory(call->diag);
    if (status == CM_OK) status = copy_options(&config, operands);
    if (status < 0) return status;
    if (config.path == NULL) {
        for (size_t i = 0; i < operands->n && status == CM_OK; i++)
            status = add_item(&config, operands->values[i], NULL, NULL);
        if (operands->n == 1) ret->items[0].shown = *call; /* in the order of the user */
        return status;
    }
    const char *slash = strrchr(config.path, '/');
    if (slash != NULL)
        config.folder =
            arena_strndup(call->arena, config.path, (size_t)(slash - config.path) + 1);
    return config.folder == NULL ? diag_no_memory(call->diag) : read_file(&config);
}
