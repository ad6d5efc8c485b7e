/* SPDX-License-Identifier: Apache-2.0 */
/* First reading of a model file: keeps its structure and skips its weights.
 *
 * The result is the same protobuf message without the payloads of large tensors, without
 * documentation and without fields that are not read. Its size depends on the number of nodes
 * and tensors, not on the size of the weights; the main graph and the rest are limited to 1 GiB
 * each. Private fields of onnx.proto record where a skipped payload is in the file (skipped_*).
 * The private field `ordinal` is, for a graph or function, the number of nodes that begin
 * before it in the file; for a node, the number of nodes in its bodies. */
#pragma once

#include "frontend/wire/message.h"

struct arena;
struct cm_diagnostics;
struct source;

/* Payloads of tensors up to this many bytes are kept: shapes, axes and small weights such as
 * biases. */
#define SKIM_KEPT_PAYLOAD 1024

/* The result, in the arena. The main graph is separate from the rest of the model. Both are
 * lists of pieces of moderate size, so that no large buffer is needed. */
struct skimmed {
    const struct fields *model; /* ModelProto without its graph */
    struct message graph;       /* GraphProto */
    bool has_graph;
    size_t size; /* bytes of both */
};

/* Reads `source` to its end. Returns CM_OK, CM_REFUSED, CM_IO or CM_NO_MEMORY. */
int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) __attribute__((warn_unused_result));

/* Replaces the newest message, and its hint, if the file begins like a well-known format. */
void sniff_explain(struct source *source, struct cm_diagnostics *diag);

/* The entries of metadata_props that are read: those of nodes (frontend/metadata.c), and those
 * of values and the main graph (frontend/param_marks.c). */
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

/* Limits of metadata values, in bytes; longer values are not read. */
#define MAX_METADATA  65536
#define MAX_SIGNATURE ((size_t)16 << 20) /* METADATA_SIGNATURE: a line per parameter */

/* Returns the enum value of a key; N_METADATA_KEYS if the key is not read. */
enum metadata_key skim_metadata_key(struct span key);
