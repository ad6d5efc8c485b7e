/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the reason of a failure, a text that accompanies its status. */
#ifndef BACKENDS_PLUGIN_REASON_H
#define BACKENDS_PLUGIN_REASON_H

#include "costmodel/backend.h"

/* Sets reason->text, truncated to its size, and returns `status`. */
int reason_fail(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
