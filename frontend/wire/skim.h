/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First reading of a model file: keeps its structure and skips its weights.
 *
 * The result is the same protobuf message without the payloads of large tensors, without
 * documentation and without fields that are not read: a few KB for a model of any size. Private
 * fields of onnx.proto record where a skipped payload is in the file (skipped_*), how many
 * nodes of the file are before a graph, and how many are in the bodies of a node (ordinal).
 */
#ifndef FRONTEND_WIRE_SKIM_H
#define FRONTEND_WIRE_SKIM_H

#include "frontend/wire/message.h"

struct arena;
struct cm_diagnostics;
struct source;

/* Payloads up to this many bytes are kept: shapes and axes fit, weights do not. */
#define SKIM_KEPT_PAYLOAD 1024

/* The result, in the arena. The main graph is separate from the rest of the model. Both are in
 * pieces of moderate size, so that no large buffer is needed. */
struct skimmed {
    const struct fields *model; /* ModelProto without its graph */
    struct message graph;       /* GraphProto */
    bool has_graph;
    size_t size; /* bytes of both */
};

/* Reads `source` to its end. Returns CM_OK, CM_REFUSED, CM_IO or CM_NO_MEMORY. */
int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) __attribute__((warn_unused_result));

/* The entries of metadata_props that are read: of nodes (frontend/metadata.c), and of values
 * and the main graph (frontend/param_marks.c). */
enum metadata_key {
    METADATA_SCOPES,
    METADATA_CLASSES,
    METADATA_NAMESPACE,
    METADATA_REWRITTEN,
    METADATA_KIND,
    METADATA_FOLDED_FROM,
    METADATA_SIGNATURE,
    N_METADATA_KEYS
};

/* Limits in bytes; longer values are not read. */
#define MAX_METADATA  65536
#define MAX_SIGNATURE ((size_t)16 << 20) /* METADATA_SIGNATURE: a line per parameter */

/* Returns N_METADATA_KEYS if the key is not read. */
enum metadata_key skim_metadata_key(struct span key);

#endif
