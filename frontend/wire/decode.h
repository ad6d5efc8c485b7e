/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From skimmed bytes to the structures that protoc-c made of onnx.proto, in an arena.
 *
 * By the tables of protobuf-c, and not by its own reader: that one allocates every string and
 * list by itself and keeps what it does not know, which took four times as long and as much
 * memory.
 */
#ifndef FRONTEND_WIRE_DECODE_H
#define FRONTEND_WIRE_DECODE_H

#include "frontend/wire/message.h"
#include "onnx.pb-c.h"

struct arena;
struct cm_diagnostics;

/* One message, of all its pieces. *ret lives in `arena`; what it holds as `bytes` is borrowed
 * from the pieces. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int decode(const ProtobufCMessageDescriptor *type, const struct fields *fields,
           struct arena *arena, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

#endif
