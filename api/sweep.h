/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rows of a sweep. */
#ifndef API_SWEEP_H
#define API_SWEEP_H

#include "costmodel/result.h"

struct cm_diagnostics;

/* Returns a row without figures, in state "done". `batch`: 0 for that of the file. */
struct cm_sweep_row sweep_empty_row(int64_t batch);

/* Returns the state of a row with this status: "done", "usage", "refused", "failed". */
const char *sweep_state(int status);

/* Returns the first error, else the first warning, else "". */
const char *sweep_first_message(const struct cm_diagnostics *diag);

#endif
