/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of cuDNN's double. */
#pragma once

#include <cudnn.h>

#include "double.h"

struct cudnnContext {
    CUstream stream; /* NULL until cudnnSetStream */
};

/* Returns the element size of a data type. */
size_t handle_size_of(cudnnDataType_t type);
/* Sets the text of cudnnGetLastErrorString and returns the status. */
cudnnStatus_t handle_refuse(cudnnStatus_t status, const char *text);
