/* SPDX-License-Identifier: Apache-2.0 */
/* Settings are texts until the backend parses them. */
#include "backends/plugin/settings.h"

#include <string.h>

#include "backends/plugin/reason.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

static int no_memory(struct cm_reason *reason) {
    return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

static size_t count_settings(const char *list) {
    size_t n = 1;
    for (; *list != '\0'; list++) n += *list == ',';
    return n;
}

/* Parses one `name=value` of `length` bytes. */
static int parse_one(const char *text, size_t length, struct arena *arena,
                     struct cm_setting *ret, struct cm_reason *reason) {
    const char *equals = memchr(text, '=', length);
    if (equals == NULL || equals == text)
        return reason_fail(reason, CM_BACKEND_REFUSED, "expected name=value, got '%.*s'",
                           (int)length, text);
    const size_t n_name = (size_t)(equals - text);
    ret->name = arena_strndup(arena, text, n_name);
    ret->value = arena_strndup(arena, equals + 1, length - n_name - 1);
    return ret->name && ret->value ? CM_BACKEND_OK : no_memory(reason);
}

int settings_parse(const char *text, struct arena *arena, const char **ret_name,
                   struct cm_settings *ret, struct cm_reason *reason) {
    const size_t n_name = strcspn(text, ":");
    const char *name = arena_strndup(arena, text, n_name);
    if (name == NULL) return no_memory(reason);
    const char *at = text[n_name] == ':' ? text + n_name + 1 : "";
    struct cm_setting *items = arena_array(arena, count_settings(at), sizeof(*items));
    if (items == NULL) return no_memory(reason);
    size_t n = 0;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        const int status = parse_one(at, length, arena, &items[n], reason);
        if (status != CM_BACKEND_OK) return status;
        n++;
        at += length + (at[length] == ',');
    }
    *ret_name = name;
    *ret = (struct cm_settings){.n = n, .items = items};
    return CM_BACKEND_OK;
}

bool settings_name(const char *text, const struct cm_backend *backend) {
    const size_t n_name = strcspn(text, ":");
    return strlen(backend->name) == n_name && memcmp(text, backend->name, n_name) == 0;
}

const char *settings_get(const struct cm_settings *settings, const char *name) {
    for (size_t i = settings->n; i > 0; i--)
        if (text_equal(settings->items[i - 1].name, name)) return settings->items[i - 1].value;
    return NULL;
}

static int has_option(const struct cm_backend *backend, const char *name) {
    const struct cm_backend_option *option = backend->options;
    for (; option != NULL && option->name != NULL; option++)
        if (text_equal(option->name, name)) return 1;
    return 0;
}

int settings_check(const struct cm_settings *settings, const struct cm_backend *backend,
                   struct cm_reason *reason) {
    for (size_t i = 0; i < settings->n; i++)
        if (!has_option(backend, settings->items[i].name))
            return reason_fail(reason, CM_BACKEND_REFUSED, "%s has no option '%s'",
                               backend->name, settings->items[i].name);
    return CM_BACKEND_OK;
}
