/* SPDX-License-Identifier: Apache-2.0 */
/* From skimmed bytes to protobuf-c's structures, in an arena. */
#ifndef FRONTEND_DECODE_H
#define FRONTEND_DECODE_H

#include "frontend/skim.h"
#include "onnx.pb-c.h"

/* *ret lives in `arena`. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int decode(const struct skimmed *bytes, struct arena *arena, struct cm_diagnostics *diag,
           Onnx__ModelProto **ret) __attribute__((warn_unused_result));

#endif
