/* SPDX-License-Identifier: Apache-2.0 */
/* A model written anew with entries in the metadata_props of its nodes, and of itself. */
#ifndef FRONTEND_ANNOTATE_H
#define FRONTEND_ANNOTATE_H

#include <stdint.h>
#include <stdio.h>

struct cm_diagnostics;
struct source;
struct text;

/* Stands for the model itself where a node's ordinal is wanted. */
#define ANNOTATE_MODEL UINT32_MAX

/* The entries of one node, or of the model, as they are collected. */
struct annotation {
    uint32_t field; /* of metadata_props, in the message that they go into */
    struct text *bytes;
};

void annotation_add(struct annotation *annotation, const char *key, const char *value);

/* Who knows what is to be written. */
struct annotator {
    const char *prefix; /* of the keys: entries that begin with it are replaced */
    uint32_t n_nodes;   /* there are at least so many */
    /* Adds the entries of the node with that ordinal (ir/graph.h), the same at each call. */
    void (*annotate)(void *context, uint32_t ordinal, struct annotation *annotation);
    void *context;
};

/*
 * Copies the model to `out`. What is no entry of a node or of the model stays byte for byte,
 * but for the lengths of the messages around them. `source` is read twice, and must be able to
 * seek. CM_OK, CM_REFUSED (not the model that was read before, or too large), CM_IO,
 * CM_NO_MEMORY; `out` is for the caller to flush.
 */
int annotate_write(struct source *source, const struct annotator *annotator,
                   struct cm_diagnostics *diag, FILE *out) __attribute__((warn_unused_result));

#endif
