/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in devices: the files of devices/. */
#include "backends/device/devices.h"

#include "backends/plugin/reason.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

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

int device_built_in(const char *name, struct arena *arena, struct device_model *ret,
                    struct cm_reason *reason) {
    const struct device_text *found = find_text(name);
    if (found == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "there is no device '%s', want one of the built-in names or a file "
                           "that ends in .json",
                           name);
    const char *path = arena_printf(arena, "%s.json", name);
    if (path == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const int status = device_parse(path, found->text, arena, ret, reason);
    if (status == CM_BACKEND_OK) ret->name = found->name;
    return status;
}

int device_find(const char *name, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) {
    if (!device_is_built_in(name) && text_ends_with(name, ".json"))
        return device_read(name, arena, ret, reason);
    return device_built_in(name, arena, ret, reason);
}
