/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "passes/pass.h"

/* Replaces CM_RUNTIME_AUTO by the runtime that the device was calibrated with. Returns CM_OK;
 * CM_USAGE if a training step of a runtime that only infers is requested; CM_NO_MEMORY. Both
 * are reported. */
int runtime_resolve(const struct analysis *core, struct cm_options *options) CM_MUST_CHECK;
