/* SPDX-License-Identifier: Apache-2.0 */
/* --layout nhwc: which nodes work on images, and their tensors with channels last. */
#ifndef PASSES_LATENCY_LAYOUT_H
#define PASSES_LATENCY_LAYOUT_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct analysis;
struct cm_primitive;

/* Computes, by node, whether it works on images; in the analysis' arena. */
int layout_find(const struct analysis *analysis, const bool **ret) CM_MUST_CHECK;

/* Sets channels-last strides for the images and the convolution weights of such a node. */
void layout_apply(struct cm_primitive *primitive);

#endif
