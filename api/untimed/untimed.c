/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of api/timing in a build without times: what requests them is refused. */
#include "api/half.h"
#include "costmodel/fit.h"
#include "costmodel/times.h"
#include "passes/pass.h"
#include "support/diag.h"

static int refuse(struct cm_diagnostics *diag) {
    int status = diag_error(diag, DIAG_USAGE, "this build has no times");
    diag_hint(diag, "configure with -DCOSTMODEL_TIMING=ON");
    return status;
}

const struct pipeline *half_pipeline(void) {
    return NULL;
}

int half_run(const struct analysis *core, bool with_changes, const struct timing **ret) {
    (void)with_changes;
    const struct cm_options *options = core->options;
    *ret = NULL;
    return options->backend || options->n_times > 0 ? refuse(core->diag) : CM_OK;
}

int64_t half_device_bytes(const struct timing *timing) {
    (void)timing;
    return 0;
}

void half_assemble(struct assembly *assembly, const struct timing *timing) {
    (void)assembly;
    (void)timing;
}

const char *half_device_name(size_t index) {
    (void)index;
    return NULL;
}

/* A campaign that another build has run can be merged; a run of its combinations is refused. */
int half_check_device(const char *name, struct arena *arena, struct cm_diagnostics *diag) {
    (void)name;
    (void)arena;
    (void)diag;
    return CM_OK;
}

int half_machine(const char *device, enum cm_runtime runtime, struct arena *arena,
                 struct cm_diagnostics *diag, struct llm_machine *ret) {
    (void)device;
    (void)runtime;
    (void)arena;
    (void)ret;
    return refuse(diag);
}

int cm_calibrate(const struct cm_options *options, struct cm_diagnostics *diagnostics,
                 FILE *out) {
    return options && out ? refuse(diagnostics) : diag_null(diagnostics);
}

int cm_device_resolve(const char *name, struct cm_diagnostics *diagnostics, const char **ret) {
    return name && ret ? refuse(diagnostics) : diag_null(diagnostics);
}

int cm_device_fit(const char *device, enum cm_runtime runtime, const char *basis,
                  struct cm_measured_time *times, size_t n_times,
                  struct cm_diagnostics *diagnostics, FILE *out) {
    (void)runtime;
    (void)n_times;
    return device && basis && times && out ? refuse(diagnostics) : diag_null(diagnostics);
}

int cm_times_load_memory(const char *text, size_t size, const char *name,
                         struct cm_diagnostics *diagnostics, struct cm_times **ret_times) {
    (void)size;
    return text && name && ret_times ? refuse(diagnostics) : diag_null(diagnostics);
}

int cm_times_load_file(const char *path, struct cm_diagnostics *diagnostics,
                       struct cm_times **ret_times) {
    return path && ret_times ? refuse(diagnostics) : diag_null(diagnostics);
}

void cm_times_free(struct cm_times *times) {
    (void)times; /* there is none */
}
