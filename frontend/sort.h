/* SPDX-License-Identifier: Apache-2.0 */
/* Topological sort of nodes. */
#ifndef FRONTEND_SORT_H
#define FRONTEND_SORT_H

#include "frontend/importer.h"

/*
 * Sets *ret to the *ret_n nodes, each after the producers of its operands and of the outer
 * values that its bodies use; allocated in importer->scopes. Keeps the file's order if it is
 * topological. A cycle is an error that names a node.
 */
int sort_nodes(struct importer *importer, struct node_walk nodes, const struct node_bytes **ret,
               size_t *ret_n) CM_MUST_CHECK;

#endif
