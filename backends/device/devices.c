/* SPDX-License-Identifier: Apache-2.0 */
/* Finds devices by name: the built-in ones, which are the files of devices/, and files. */
#include "backends/device/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backends/plugin/reason.h"
#include "support/arena.h"
#include "support/suggest.h"
#include "support/text.h"

const char *device_name_at(size_t index) {
    size_t n = 0;
    while (n < index && device_texts[n].name != NULL) n++;
    return device_texts[n].name;
}

static const struct device_text *find_text(const char *name) {
    const struct device_text *found = device_texts;
    while (found->name != NULL && !text_equal(found->name, name)) found++;
    return found->name != NULL ? found : NULL;
}

bool device_is_built_in(const char *name) {
    return find_text(name) != NULL;
}

/* Returns true if `name` matches the name of a device or, if `is_part`, the part of it before a
 * "-". Ignores case and punctuation. */
static bool name_matches(const char *name, const char *device, bool is_part) {
    for (;;) {
        while (*name == '-' || *name == '_' || *name == ' ') name++;
        if (*name == '\0' && is_part && *device == '-') return true;
        while (*device == '-') device++;
        if (*name == '\0') return *device == '\0';
        if (tolower((unsigned char)*name) != *device) return false;
        name++;
        device++;
    }
}

/* Returns the number of devices that match, and sets *ret to the first of them. */
static size_t count_matches(const char *name, bool is_part, const char **ret) {
    size_t n = 0;
    for (const struct device_text *device = device_texts; device->name != NULL; device++)
        if (name_matches(name, device->name, is_part) && n++ == 0) *ret = device->name;
    return n;
}

#define MAX_LISTED 4

/* "device 'a100' is ambiguous: a100-40gb or a100-80gb?" */
static int refuse_ambiguous(const char *name, size_t n, struct cm_reason *reason) {
    char meant[CM_REASON_SIZE] = "";
    size_t i = 0;
    for (const struct device_text *device = device_texts; device->name != NULL; device++) {
        if (i == MAX_LISTED || !name_matches(name, device->name, true)) continue;
        i++;
        const size_t length = strlen(meant);
        (void)snprintf(meant + length, sizeof(meant) - length, "%s%s",
                       i == 1   ? ""
                       : i == n ? " or "
                                : ", ",
                       device->name);
    }
    return reason_fail(reason, CM_BACKEND_REFUSED, "device '%s' is ambiguous: %s%s?", name,
                       meant, n > MAX_LISTED ? ", ..." : "");
}

static int refuse_unknown(const char *name, struct cm_reason *reason) {
    char lower[CM_NAME_SIZE] = "";
    struct suggestion suggestion;
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof(lower); i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    suggest_init(&suggestion, lower, strlen(lower));
    for (const struct device_text *device = device_texts; device->name != NULL; device++)
        suggest_offer(&suggestion, device->name);
    if (suggestion.best == NULL)
        return reason_fail(
            reason, CM_BACKEND_REFUSED,
            "unknown device '%s': want one of `costmodel backends` or a file that "
            "ends in .json",
            name);
    return reason_fail(reason, CM_BACKEND_REFUSED, "unknown device '%s', did you mean '%s'?",
                       name, suggestion.best);
}

int device_resolve(const char *name, const char **ret, struct cm_reason *reason) {
    *ret = name;
    if (device_is_built_in(name) || text_ends_with(name, ".json")) return CM_BACKEND_OK;
    if (count_matches(name, false, ret) == 1) return CM_BACKEND_OK;
    const size_t n = name[0] == '\0' ? 0 : count_matches(name, true, ret);
    if (n == 1) return CM_BACKEND_OK;
    return n == 0 ? refuse_unknown(name, reason) : refuse_ambiguous(name, n, reason);
}

int device_built_in(const char *name, struct arena *arena, struct device_model *ret,
                    struct cm_reason *reason) {
    const struct device_text *found = find_text(name);
    if (found == NULL) return refuse_unknown(name, reason);
    const char *path = arena_printf(arena, "%s.json", name);
    if (path == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const int status = device_parse(path, found->text, arena, ret, reason);
    if (status == CM_BACKEND_OK) ret->name = found->name;
    return status;
}

int device_find(const char *name, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) {
    const char *resolved = NULL;
    const int status = device_resolve(name, &resolved, reason);
    if (status != CM_BACKEND_OK) return status;
    return device_is_built_in(resolved) ? device_built_in(resolved, arena, ret, reason)
                                        : device_read(resolved, arena, ret, reason);
}
