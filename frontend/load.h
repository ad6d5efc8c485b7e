/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to the IR: skim, decode, import. The only door into the frontend. */
#ifndef FRONTEND_LOAD_H
#define FRONTEND_LOAD_H

struct arena;
struct cm_diagnostics;
struct model;
struct source;

/*
 * Reads a model. `arena` gets the model, which refers to `source` (for constants that a fold
 * may ask for) and so must not outlive it. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY; *ret
 * untouched on failure.
 */
int load_model(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
               struct model **ret) __attribute__((warn_unused_result));

#endif
