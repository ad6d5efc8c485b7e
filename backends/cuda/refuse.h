/* SPDX-License-Identifier: Apache-2.0 */
/* Why not, of every part of the module. */
#ifndef BACKENDS_CUDA_REFUSE_H
#define BACKENDS_CUDA_REFUSE_H

#include "costmodel/backend.h"

/* Sets the reason and gives `status` back. */
int cuda_refuse(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
