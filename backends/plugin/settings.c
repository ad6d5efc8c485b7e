/* SPDX-License-Identifier: Apache-2.0 */
/* Parses `NAME:key=value,...` and looks up settings. The backend parses the values. */
#include "backends/plugin/settings.h"

#include <string.h>

#include "backends/plugin/reason.h"
#include "support/arena.h"
#include "support/text.h"

static int no_memory(struct cm_reason *reason) {
    return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
}

int settings_parse(const char *text, struct arena *arena, const char **ret_name,
                   struct cm_settings *ret, struct cm_reason *reason) {
    const size_t n_name = strcspn(text, ":");
    const char *at = text[n_name] == ':' ? text + n_name + 1 : "";
    size_t n = 1;
    for (const char *comma = at; *comma != '\0'; comma++) n += *comma == ',';
    *ret_name = arena_strndup(arena, text, n_name);
    struct cm_setting *items = arena_array(arena, n, sizeof(*items));
    if (*ret_name == NULL || items == NULL) return no_memory(reason);
    n = 0;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        if (equals == NULL || equals == at)
            return reason_fail(reason, CM_BACKEND_REFUSED, "expected name=value, got '%.*s'",
                               (int)length, at);
        const size_t before = (size_t)(equals - at);
        items[n].name = arena_strndup(arena, at, before);
        items[n].value = arena_strndup(arena, equals + 1, length - before - 1);
        if (items[n].name == NULL || items[n].value == NULL) return no_memory(reason);
        n++;
        at += length + (at[length] == ',');
    }
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

int settings_check(const struct cm_settings *settings, const struct cm_backend *backend,
                   struct cm_reason *reason) {
    for (size_t i = 0; i < settings->n; i++) {
        const char *name = settings->items[i].name;
        const struct cm_backend_option *option = backend->options;
        while (option != NULL && option->name != NULL && !text_equal(option->name, name))
            option++;
        if (option == NULL || option->name == NULL)
            return reason_fail(reason, CM_BACKEND_REFUSED, "%s has no option '%s'",
                               backend->name, name);
    }
    return CM_BACKEND_OK;
}
