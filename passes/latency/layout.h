/* SPDX-License-Identifier: Apache-2.0 */
/* --layout nhwc: which nodes work on images, and their tensors with channels last. */
#ifndef PASSES_LATENCY_LAYOUT_H
#define PASSES_LATENCY_LAYOUT_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct analysis;
struct cm_primitive;

/* *ret, by node, in the analysis' arena: whether it works on images. */
int layout_find(const struct analysis *analysis, const bool **ret) CM_MUST_CHECK;

/* Of such a node: images, and the weights of convolutions, get strides with channels last. */
void layout_apply(struct cm_primitive *primitive);

#endif
