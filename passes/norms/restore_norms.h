/* SPDX-License-Identifier: Apache-2.0 */
/* Restores the BatchNormalizations that an exporter folded into the layers before them. A step
 * of training needs them: the framework trains both layers. */
#pragma once

struct arena;
struct cm_options;
struct model;

/* Sets *ret to a copy of the model, in `arena`, with a BatchNormalization behind each layer
 * that has a folded one; to `model` itself if there is none, or if the options ask for no
 * training step or for the file as exported. The copy shares names, types and constants with
 * `model`, and has its value ids; a restored node has the id after its layer's. Returns CM_OK
 * or CM_NO_MEMORY. */
int restore_norms(const struct model *model, const struct cm_options *options,
                  struct arena *arena, const struct model **ret)
    __attribute__((warn_unused_result));
