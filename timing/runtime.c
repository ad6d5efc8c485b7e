/* SPDX-License-Identifier: Apache-2.0 */
#include "timing/runtime.h"

#include "backends/backend_registry.h"
#include "backends/device/devices.h"
#include "backends/device/runtimes.h"
#include "backends/plugin/settings.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/option_names.h"

int runtime_resolve(const struct analysis *core, struct cm_options *options) {
    struct cm_settings settings;
    struct device_model model;
    struct cm_reason reason = {""};
    const char *name = NULL;
    const bool is_model =
        options->backend != NULL && settings_name(options->backend, &roofline_backend);
    if (options->runtime == CM_RUNTIME_AUTO) {
        options->runtime = CM_RUNTIME_TORCH_COMPILE;
        /* An unknown device is reported by pass estimate. */
        if (is_model &&
            settings_parse(options->backend, core->arena, &name, &settings, &reason) ==
                CM_BACKEND_OK &&
            settings_get(&settings, "device") != NULL &&
            device_find(settings_get(&settings, "device"), core->arena, &model, &reason) ==
                CM_BACKEND_OK)
            options->runtime = device_default_runtime(&model);
        if (options->optimizer && !runtime_rule(options->runtime, RUNTIME_RUNS_MODULES))
            options->runtime = CM_RUNTIME_TORCH_COMPILE;
    }
    if (arena_failed(core->arena)) return diag_no_memory(core->diag);
    if (is_model && options->optimizer && !runtime_rule(options->runtime, RUNTIME_RUNS_MODULES))
        return diag_error(core->diag, DIAG_USAGE, "runtime %s does not train",
                          option_runtime_name((int32_t)options->runtime));
    return CM_OK;
}
