/* SPDX-License-Identifier: Apache-2.0 */
#include "api/half.h"

#include "backends/device/devices.h"
#include "support/arena.h"
#include "support/diag.h"
#include "timing/changes.h"
#include "timing/estimate.h"
#include "timing/pipeline.h"
#include "timing/quantization.h"

const struct pipeline *half_pipeline(void) {
    return &timing_pipeline;
}

int half_run(const struct analysis *core, bool with_changes, const struct timing **ret) {
    struct timing *timing = arena_alloc(core->arena, sizeof *timing);
    if (!timing) return diag_no_memory(core->diag);
    *ret = timing;
    int status = timing_passes_run(core, 0, timing);
    if (status == CM_OK && with_changes) status = changes_evaluate(timing);
    return status == CM_OK && with_changes ? quantization_find(timing) : status;
}

int64_t half_device_bytes(const struct timing *timing) {
    return timing->estimate->done ? timing->estimate->facts.memory_bytes : 0;
}

const char *half_device_name(size_t index) {
    return device_name_at(index);
}

int half_check_device(const char *name, struct arena *arena, struct cm_diagnostics *diag) {
    struct device_model model;
    struct cm_reason reason = {""};
    const int found = device_find(name, arena, &model, &reason);
    if (found == CM_BACKEND_NO_MEMORY) return diag_no_memory(diag);
    return found == CM_BACKEND_OK ? CM_OK : diag_error(diag, DIAG_USAGE, "%s", reason.text);
}
