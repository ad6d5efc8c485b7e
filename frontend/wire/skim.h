/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the wire format of a model that keeps its structure and steps over its weights.
 *
 * What comes out is the same protobuf message without the payloads of large tensors, without
 * documentation and without fields that we do not read: a few KB for a model of any size. Each
 * payload left out is noted in its tensor by the private fields skipped_* of onnx.proto, and
 * how nodes are counted by its fields `ordinal`.
 */
#ifndef FRONTEND_WIRE_SKIM_H
#define FRONTEND_WIRE_SKIM_H

#include "frontend/wire/message.h"

struct arena;
struct cm_diagnostics;
struct source;

/* Payloads up to this many bytes stay: shapes and axes do, weights do not. */
#define SKIM_KEPT_PAYLOAD 1024

/* In the arena. The main graph stands apart from the model around it, in pieces of moderate
 * size, so that it is never in one piece. */
struct skimmed {
    const struct fields *model; /* of ModelProto, all but the graph */
    struct message graph;       /* GraphProto */
    bool has_graph;
    size_t size; /* of both */
};

/* Reads `source` to its end. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) __attribute__((warn_unused_result));

#endif
