/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all nodes of a model in file order, the nodes of a body right after its owner. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;
struct model;

/* Lists the nodes so that producers precede all uses of their values, also in bodies. */
int order_nodes(const struct model *model, struct arena *arena, size_t *ret_n,
                const uint32_t **ret_nodes) CM_MUST_CHECK;
