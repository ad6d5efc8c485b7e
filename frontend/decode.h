/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From skimmed bytes to the structures that protoc-c made of onnx.proto, in an arena.
 *
 * By the tables of protobuf-c, and not by its own reader: that one allocates every string and
 * list by itself and keeps what it does not know, which took four times as long and as much
 * memory.
 */
#ifndef FRONTEND_DECODE_H
#define FRONTEND_DECODE_H

#include "frontend/skim.h"
#include "onnx.pb-c.h"

/* One message, of all its pieces. *ret lives in `arena`. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int decode(const ProtobufCMessageDescriptor *type, const struct fields *fields,
           struct arena *arena, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

/* The fields of one number of a message, in order; those that are messages or texts. */
struct fields_walk {
    struct fields_of left;
    uint32_t number;
};

/* The bytes of the next one, borrowed; false: there is none. */
bool fields_next(struct fields_walk *walk, struct fields *ret);

#endif
