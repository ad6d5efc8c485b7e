/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a model file into the IR: skim, decode, import. The entry point of the frontend. */
#pragma once

struct arena;
struct cm_diagnostics;
struct model;
struct source;

/* Reads a model into `arena`. The model refers to `source`, from which constant folding reads,
 * and must not outlive it. Returns CM_OK, CM_REFUSED, CM_IO or CM_NO_MEMORY; on failure *ret is
 * unchanged. */
int load_model(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
               struct model **ret) __attribute__((warn_unused_result));
