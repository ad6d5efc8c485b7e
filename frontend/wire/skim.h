/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First reading of a model file: keeps its structure and skips its weights.
 *
 * The result is the same protobuf message without the payloads of large tensors, without
 * documentation and without fields that are not read: a few KB for a model of any size. The
 * private fields skipped_* of onnx.proto record where a skipped payload is in the file, and its
 * fields `ordinal` the number of nodes before and inside a body.
 */
#ifndef FRONTEND_WIRE_SKIM_H
#define FRONTEND_WIRE_SKIM_H

#include "frontend/wire/message.h"

struct arena;
struct cm_diagnostics;
struct source;

/* Payloads up to this many bytes are kept: shapes and axes fit, weights do not. */
#define SKIM_KEPT_PAYLOAD 1024

/* The main graph is separate from the rest of the model, in pieces of moderate size, so that it
 * is never contiguous. All in the arena. */
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

/* Bytes; longer values are not read. */
#define MAX_METADATA  65536
#define MAX_SIGNATURE ((size_t)16 << 20) /* METADATA_SIGNATURE: a line per parameter */

/* Returns N_METADATA_KEYS if the key is not read. */
enum metadata_key skim_metadata_key(struct span key);

#endif
