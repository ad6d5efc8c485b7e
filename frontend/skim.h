/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the wire format of a model that keeps its structure and steps over its weights.
 *
 * What comes out is the same protobuf message without the payloads of large tensors, without
 * documentation and without fields that we do not read: a few KB for a model of any size. Each
 * payload left out is noted in its tensor by the private fields skipped_* of onnx.proto.
 */
#ifndef FRONTEND_SKIM_H
#define FRONTEND_SKIM_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_diagnostics;
struct source;

/* Payloads up to this many bytes stay: shapes and axes do, weights do not. */
#define SKIM_KEPT_PAYLOAD 1024

struct skimmed {
    const uint8_t *data; /* a ModelProto, in the arena */
    size_t size;
};

/* Reads `source` to its end. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) __attribute__((warn_unused_result));

#endif
