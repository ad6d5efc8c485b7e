/* SPDX-License-Identifier: Apache-2.0 */
/* cm_options.times: fills the times of nodes from measurements of another tool. */
#pragma once

#include "timing/estimate.h"
#include "timing/timing.h"

struct cm_times;
struct map;

/* Replaces the times of ret->items, one per node, which are modelled or empty, and sets
 * ret->imported. The time of a layer is split over its nodes by their modelled times. Returns
 * CM_OK, CM_USAGE (two files have times of the same layer), CM_REFUSED (the sum of all times
 * overflows) or CM_NO_MEMORY; errors are reported. */
int times_import(const struct timing *timing, struct estimate_table *ret) CM_MUST_CHECK;

/* Sets imported->other_shape if the times belong to other shapes than those of the model. The
 * maps have the ids of nodes and of values by name. CM_OK or CM_NO_MEMORY (not reported). */
int times_compare_shapes(const struct timing *timing, const struct map *nodes,
                         const struct map *values, struct imported *imported) CM_MUST_CHECK;

/* Aligns the layers that have operators of ONNX with the nodes in execution order. Sets
 * *ret_layer, by node: the layer that runs it; ID_NONE if none. `owner`, by node: the layer
 * that is known to run it; ID_NONE. Returns CM_OK or CM_NO_MEMORY (not reported). */
int times_align(const struct timing *timing, const struct imported *imported,
                const uint32_t *owner, uint32_t *ret_layer) CM_MUST_CHECK;

/* Sets nodes, places, inside and state of each layer, and imported->other_shape; the caller
 * sets `from`. The arrays are in the arena of the timing. A file without times only names the
 * nodes of layers in other files. Returns CM_OK or CM_NO_MEMORY (reported). */
int times_match(const struct timing *timing, const struct cm_times *const *files,
                size_t n_files, struct imported *imported) CM_MUST_CHECK;
