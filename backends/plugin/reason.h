/* SPDX-License-Identifier: Apache-2.0 */
/* Why not: the sentence that a slot leaves behind with its status. */
#ifndef BACKENDS_PLUGIN_REASON_H
#define BACKENDS_PLUGIN_REASON_H

#include "costmodel/backend.h"

/* Sets the sentence, cut to its place, and gives `status` back. */
int reason_fail(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The state of a primitive whose measuring ended with this status. */
enum cm_measure_state reason_state(int status);

#endif
