/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the constants that constant folding needs, from the model's file or external data. */
#pragma once

#include "ir/constant.h"

struct source;

/* Sets *ret to a reader of `source`, which must outlive it. Returns CM_OK or CM_NO_MEMORY. */
int reader_make(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
                struct constant_reader *ret) __attribute__((warn_unused_result));
