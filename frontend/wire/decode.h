/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes skimmed bytes into the structures that protoc-c generates from onnx.proto, in an
 * arena.
 *
 * Uses the descriptors of protobuf-c but not its unpacker, which allocates every string and
 * list separately and keeps unknown fields: it takes four times as long and four times the
 * memory. */
#pragma once

#include "frontend/wire/message.h"
#include "onnx.pb-c.h"
#include "support/arena.h"

struct cm_diagnostics;

/* Decodes one message, given as pieces. *ret is in `arena`; fields of type `bytes` point into
 * the pieces. Returns CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int decode(const ProtobufCMessageDescriptor *type, const struct fields *fields,
           struct arena *arena, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

/* Iterates over the repeated submessages of one field and decodes them one at a time, so that
 * at most one of each list is in memory. */
struct decode_walk {
    const ProtobufCMessageDescriptor *type;
    struct fields_walk fields; /* the submessages that are left */
    struct arena *arena;
    struct arena_mark mark; /* of the arena before the first submessage */
    struct cm_diagnostics *diag;
};

/* Returns a walk over field `number` of the message; submessages are decoded in `arena`. */
struct decode_walk decode_each(const struct message *message, uint32_t number,
                               const ProtobufCMessageDescriptor *type, struct arena *arena,
                               struct cm_diagnostics *diag);

/* Sets *ret to the next message, or to NULL at the end; it is valid until the next call. Walks
 * nest in one arena: the walk over a submessage ends before the outer walk continues. */
int decode_next(struct decode_walk *walk, void *ret) __attribute__((warn_unused_result));
