/* SPDX-License-Identifier: Apache-2.0 */
/* Names of built-in devices. */
#include "backends/device/devices.h"
#include "costmodel/costmodel.h"
#include "support/diag.h"

#include "support/banned.h"

int cm_device_resolve(const char *name, struct cm_diagnostics *diagnostics, const char **ret) {
    struct cm_reason reason = {""};
    if (name == NULL || ret == NULL) return diag_null(diagnostics);
    if (device_resolve(name, ret, &reason) == CM_BACKEND_OK) return CM_OK;
    return diag_error(diagnostics, DIAG_USAGE, "%s", reason.text);
}
