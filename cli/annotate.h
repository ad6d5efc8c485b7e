/* SPDX-License-Identifier: Apache-2.0 */
/* --annotate OUT.onnx: the model, with what it costs in it. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include "costmodel/costmodel.h"

struct invocation;
struct request;

/* Whether the model can be read twice, and nothing of the user's is written over. CM_OK,
 * CM_USAGE. */
int annotate_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

/* Writes the file, whole or not at all. */
int annotate_file(const struct request *request, struct cm_model *model,
                  const struct cm_result *result, struct cm_diagnostics *diag) CM_MUST_CHECK;

#endif
