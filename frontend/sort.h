/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which nodes can be run. */
#ifndef FRONTEND_SORT_H
#define FRONTEND_SORT_H

#include "frontend/importer.h"

/*
 * *ret: indices of the nodes, each after those that make its operands (and what its bodies take
 * from around them). The file's own order where that is one. A cycle is an error that names a
 * node.
 */
int sort_nodes(struct importer *importer, const Onnx__NodeProto *const *nodes, size_t n,
               const uint32_t **ret) CM_MUST_CHECK;

#endif
