/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest module that contains several nodes. */
#ifndef PASSES_MODULES_MODULE_COMMON_H
#define PASSES_MODULES_MODULE_COMMON_H

#include "passes/pass.h"

/* Returns the smallest module that contains all of the nodes; the root if there are none. */
uint32_t module_common(const struct modules_table *table, const uint32_t *nodes, size_t n);

#endif
