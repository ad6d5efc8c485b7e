/* SPDX-License-Identifier: Apache-2.0 */
/* How a file stores a weight, for reports. */
#ifndef PASSES_MEMORY_MEMORY_REQUIRED_H
#define PASSES_MEMORY_MEMORY_REQUIRED_H

#include "passes/pass.h"

/* "raw", "typed", "external", "computed", "input", "absent"; static text. */
const char *memory_required_storage_name(enum weight_storage storage);

#endif
