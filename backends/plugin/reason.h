/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the reason of a failure, a text that accompanies its status. */
#pragma once

#include "costmodel/backend.h"

/* Sets reason->text, truncated to its size, and returns `status`. */
int reason_fail(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
