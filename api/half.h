/* SPDX-License-Identifier: Apache-2.0 */
/* The timing half as the rest of the API sees it: api/timing/half.c, or without
 * COSTMODEL_TIMING api/untimed/untimed.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;
struct llm_machine;
struct arena;
struct assembly;
struct pipeline;
struct timing;

/* Returns the passes of this half; NULL without it. */
const struct pipeline *half_pipeline(void);

/* Runs these passes after those of the core, and evaluates other ways to run the model
 * if `with_changes`. *ret is in the arena of the analysis; NULL without this half. Returns
 * CM_OK or the status of the first pass that fails; without this half CM_USAGE if the options
 * request times. */
int half_run(const struct analysis *core, bool with_changes,
             const struct timing **ret) CM_MUST_CHECK;

/* Returns the memory of the device in bytes; 0: unknown. */
int64_t half_device_bytes(const struct timing *timing);

/* Sets the members of the result that come from this half. */
void half_assemble(struct assembly *assembly, const struct timing *timing);

/* Returns the name of the built-in device at the index; NULL past the last. */
const char *half_device_name(size_t index);
/* Returns CM_OK if a device has that name or its description can be read; CM_USAGE,
 * CM_NO_MEMORY (both reported). */
int half_check_device(const char *name, struct arena *arena,
                      struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Fills *ret for the device, by name or file, and the runtime. CM_OK, CM_USAGE, CM_NO_MEMORY
 * (reported). */
int half_machine(const char *device, enum cm_runtime runtime, struct arena *arena,
                 struct cm_diagnostics *diag, struct llm_machine *ret) CM_MUST_CHECK;
