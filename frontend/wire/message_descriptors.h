/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of one kind that a message holds, decoded one after the other: no more than one
 * of each list is ever in memory. */
#ifndef FRONTEND_WIRE_MESSAGE_DESCRIPTORS_H
#define FRONTEND_WIRE_MESSAGE_DESCRIPTORS_H

#include "frontend/wire/decode.h"
#include "support/arena.h"

struct importer;

struct messages {
    const ProtobufCMessageDescriptor *type;
    struct fields_walk walk; /* what is left of them */
    struct arena_mark mark;  /* of the arena that they are decoded in */
};

/* The fields of that number, which are messages of that type. */
struct messages messages_of(const struct importer *importer, const struct message *message,
                            uint32_t number, const ProtobufCMessageDescriptor *type);

/* *ret: the next one, or NULL; it lives until the next is asked for. Lists nest: those of a
 * message end before the next message of the list that it stands in. */
int messages_next(struct importer *importer, struct messages *messages, void *ret)
    __attribute__((warn_unused_result));

#endif
