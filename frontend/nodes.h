/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a graph or function as they stand in the file. */
#ifndef FRONTEND_NODES_H
#define FRONTEND_NODES_H

#include "frontend/wire/message.h"

/* Where a node stands. */
struct node_bytes {
    struct span bytes; /* NodeProto */
    uint32_t index;    /* in its list */
    uint32_t ordinal;  /* how many nodes of the file begin before it */
};

/* A list of them, in order. */
struct node_walk {
    struct fields_walk left;
    uint32_t index; /* of the next */
    uint32_t ordinal;
};

/* Of a graph or a function, whose field `number` its nodes are. */
struct node_walk nodes_of(const struct message *message, uint32_t number);

/* *ret: where the next one stands, *ret_parts: its fields; false: there is none. */
bool nodes_next(struct node_walk *walk, struct node_bytes *ret, struct message *ret_parts);

#endif
