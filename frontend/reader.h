/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the few constants that a fold asks for, from the model's file or one beside it. */
#ifndef FRONTEND_READER_H
#define FRONTEND_READER_H

#include "ir/constant.h"

struct source;

/* *ret reads through `source`, which must outlive it. CM_OK, CM_NO_MEMORY. */
int reader_make(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
                struct constant_reader *ret) __attribute__((warn_unused_result));

#endif
