/* SPDX-License-Identifier: Apache-2.0 */
/* Workspace: device memory that a kernel holds while it runs, besides its operands and outputs.
 * The libraries do not publish theirs; the rules are fitted to measured training processes
 * (docs/memory.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "passes/pass.h"

/* Workspace of the matrix product library, which keeps it: ":4096:2:16:8" of cuBLAS. */
#define WORKSPACE_PRODUCTS INT64_C(8519680)

/* The analysis has TABLE_INFER and the table of a training step. */

/* Returns true if the node runs in the convolution library. */
bool workspace_is_convolution(const struct analysis *analysis, uint32_t node);
/* Returns the bytes that the kernels of the node hold; 0 if none or unknown. */
int64_t workspace_of_node(const struct analysis *analysis, uint32_t node);
