/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which nodes can be run. */
#ifndef FRONTEND_SORT_H
#define FRONTEND_SORT_H

#include "frontend/importer.h"

/*
 * *ret: the *ret_n nodes, each after those that make its operands (and what its bodies take
 * from around them); in the importer's scopes. The file's own order where that is one. A cycle
 * is an error that names a node.
 */
int sort_nodes(struct importer *importer, struct node_walk nodes, const struct node_bytes **ret,
               size_t *ret_n) CM_MUST_CHECK;

#endif
