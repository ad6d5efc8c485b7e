/* SPDX-License-Identifier: Apache-2.0 */
/* What has no time, and why: a part of pass breakdown. */
#ifndef PASSES_LATENCY_UNTIMED_H
#define PASSES_LATENCY_UNTIMED_H

#include "passes/pass.h"

/* "Conv", "com.microsoft::Gelu"; NULL: no memory. */
const char *operator_name(const struct analysis *analysis, const struct node *node);

/* Fills table->untimed. CM_OK or CM_NO_MEMORY. */
int untimed_list(const struct analysis *analysis, struct breakdown_table *table)
    __attribute__((warn_unused_result));

#endif
