/* SPDX-License-Identifier: Apache-2.0 */
/* Returns error statuses with a reason for the user; appends to lists in text buffers. */
#pragma once

#include <stddef.h>

#include <cuda.h>

#include "costmodel/backend.h"

/* Sets the reason and returns `status`. */
int cuda_refuse(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to a list in a buffer of `size` bytes: `between` if the list is not empty, then the
 * item. */
void cuda_append(char *list, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the driver's name of an error, for example "CUDA_ERROR_NO_DEVICE". */
const char *cuda_error_name(const struct cm_device *device, CUresult result);

/* Converts a status of the driver: CM_BACKEND_OK, CM_BACKEND_NO_MEMORY, CM_BACKEND_BROKEN after
 * an error that is sticky in the context, else CM_BACKEND_REFUSED. `doing` follows "cannot" in
 * the reason: "launch a kernel". */
int cuda_check(const struct cm_device *device, CUresult result, const char *doing,
               struct cm_reason *reason);
