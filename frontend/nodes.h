/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a graph or function in the file. */
#ifndef FRONTEND_NODES_H
#define FRONTEND_NODES_H

#include "frontend/wire/message.h"

/* Position of a node in the file. */
struct node_bytes {
    struct span bytes; /* NodeProto */
    uint32_t index;    /* in its list */
    uint32_t ordinal;  /* number of nodes of the file that begin before it */
};

/* Iterates over nodes in file order. */
struct node_walk {
    struct fields_walk left;
    uint32_t index;   /* of the next node */
    uint32_t ordinal; /* of the next node */
};

/* Returns an iterator at the first node of a graph or function. `number`: GRAPH_NODE or
 * FUNCTION_NODE. */
struct node_walk nodes_of(const struct message *message, uint32_t number);

/* Returns the next node and the index of its fields; false at the end. */
bool nodes_next(struct node_walk *walk, struct node_bytes *ret, struct message *ret_parts);

#endif
