/* SPDX-License-Identifier: Apache-2.0 */
/* --layout nhwc: finds the nodes that work on images, and makes their tensors channels-last. */
#ifndef PASSES_LATENCY_LAYOUT_H
#define PASSES_LATENCY_LAYOUT_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct analysis;
struct cm_primitive;

/* Sets *ret, by node: true if it works on images. Allocated in the arena of the analysis. */
int layout_find(const struct analysis *analysis, const bool **ret) CM_MUST_CHECK;

/* Sets channels-last strides for the images and the convolution weights of such a node. */
void layout_apply(struct cm_primitive *primitive);

#endif
