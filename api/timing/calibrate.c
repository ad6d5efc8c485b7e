/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves device names; for --calibrate, measures a device and writes its description. */
#include "backends/device/calibrate.h"

#include "backends/backend_registry.h"
#include "backends/device/devices.h"
#include "backends/plugin/settings.h"
#include "backends/process/subprocess.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"

static int report(int status, const char *name, const struct cm_reason *reason,
                  struct cm_diagnostics *diag) {
    if (status == CM_BACKEND_OK) return CM_OK;
    if (status == CM_BACKEND_NO_MEMORY && reason->text[0] == '\0') return diag_no_memory(diag);
    status = diag_error(diag, DIAG_BACKEND, "backend %s cannot be calibrated: %s", name,
                        reason->text);
    diag_hint(diag, "costmodel backends lists the backends");
    return status;
}

static int calibrate(const struct cm_options *options, struct arena *arena,
                     struct cm_diagnostics *diag, FILE *out) {
    const char *name = options->backend;
    struct places places;
    struct subprocess_setup setup;
    struct device_model model;
    struct cm_settings settings = {.n = 0};
    struct cm_reason reason = {""};
    const struct cm_backend *backend = NULL;
    if (loader_places(arena, &places) != CM_OK) return diag_no_memory(diag);
    int status = settings_parse(options->backend, arena, &name, &settings, &reason);
    if (status == CM_BACKEND_OK)
        status = backends_find(&places, name, arena, &backend, &reason);
    if (status != CM_BACKEND_OK) return report(status, name, &reason, diag);
    subprocess_setup_init(&setup, backend);
    setup.settings = settings;
    status = calibrate_run(&setup, arena, &model, &reason);
    if (status != CM_BACKEND_OK) return report(status, name, &reason, diag);
    calibrate_write(&model, out);
    return CM_OK;
}

int cm_calibrate(const struct cm_options *options, struct cm_diagnostics *diagnostics,
                 FILE *out) {
    options = ARGUMENTS_TAKE(cm_options, options, out, diagnostics);
    if (options == NULL) return CM_USAGE;
    if (options->backend == NULL)
        return diag_error(diagnostics, DIAG_USAGE, "cm_options.backend must not be NULL");
    struct arena *arena = arena_new("calibration", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    int status = calibrate(options, arena, diagnostics, out);
    status = arena_end(arena, status);
    return diag_finish(diagnostics, status);
}

int cm_device_resolve(const char *name, struct cm_diagnostics *diagnostics, const char **ret) {
    struct cm_reason reason = {""};
    struct device_model model;
    const char *found = NULL;
    if (name == NULL || ret == NULL) return diag_null(diagnostics);
    struct arena *arena = arena_new("device", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    int status = device_resolve(name, &found, &reason);
    if (status == CM_BACKEND_OK && !device_is_built_in(found))
        status = device_read(found, arena, &model, &reason);
    arena_free(arena);
    if (status == CM_BACKEND_NO_MEMORY) return diag_no_memory(diagnostics);
    if (status != CM_BACKEND_OK) return diag_error(diagnostics, DIAG_USAGE, "%s", reason.text);
    *ret = found;
    return CM_OK;
}
