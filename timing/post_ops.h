/* SPDX-License-Identifier: Apache-2.0 */
/* Operator fusion of convolutions and matrix products with the elementwise nodes that follow,
 * as runtimes with post-ops or epilogues do. */
#pragma once

#include "timing/primitive_index.h"
#include "timing/primitives.h"
#include "timing/timing.h"

/* Fills table->group and table->fused. A group is a product and the chain of nodes that follow
 * it, each the only reader of the previous result. For example Conv, BatchNormalization, Add
 * and Relu are one primitive: the normalization is folded into the weights, Add and Relu are
 * steps. A constant vector added to a matrix product is its bias. Each node of a group also
 * keeps its own primitive, which is measured separately: the time of the group is divided among
 * its nodes in proportion to these times, and the separate primitives are used if the backend
 * does not support the fusion. Returns CM_OK or CM_NO_MEMORY. */
int post_ops_find(const struct timing *timing, struct primitives_table *table,
                  struct primitive_index *index) CM_MUST_CHECK;
