/* SPDX-License-Identifier: Apache-2.0 */
/* --annotate OUT.onnx: a copy of the model with its costs. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "costmodel/costmodel.h"

struct invocation;
struct request;

/* Checks that the model can be read twice and that no input file would be overwritten. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int annotate_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

/* Writes the file atomically. */
int annotate_file(const struct request *request, struct cm_model *model,
                  const struct cm_result *result, struct cm_diagnostics *diag) CM_MUST_CHECK;

#endif
