/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a copy of a model with new metadata_props entries for its nodes and for the model. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct cm_diagnostics;
struct source;
struct text;

/* Used as the ordinal of the model itself. */
#define ANNOTATE_MODEL UINT32_MAX

/* Collects the entries of one node or of the model. */
struct annotation {
    uint32_t field; /* field number of metadata_props in the message */
    struct text *bytes;
};

void annotation_add(struct annotation *annotation, const char *key, const char *value);

struct annotator {
    const char *prefix; /* existing entries whose key begins with it are removed */
    uint32_t n_nodes;   /* minimum number of nodes in the file */
    /* Adds the new entries of a node (ordinal: ir/graph.h) or of the model. May be called again
     * for the same node, and must then add the same entries. */
    void (*annotate)(void *context, uint32_t ordinal, struct annotation *annotation);
    void *context;
};

/* Copies the model to `out` with the new entries. All other bytes are unchanged, except for the
 * lengths of messages that contain an edited entry. `source` is read twice and must be able to
 * seek. Returns CM_OK, CM_REFUSED (the file has changed, or would become too large), CM_IO or
 * CM_NO_MEMORY; the caller flushes `out`. */
int annotate_write(struct source *source, const struct annotator *annotator,
                   struct cm_diagnostics *diag, FILE *out) __attribute__((warn_unused_result));
