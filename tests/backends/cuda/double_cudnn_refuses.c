/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of cuDNN that the module wants and double_cudnn.c has not. */
#include "backends/cuda/api.h"

int double_refuses(void);

int double_refuses(void) {
    return CUDNN_STATUS_NOT_SUPPORTED;
}

#define REFUSES(name) __asm__(".weak " #name "\n.set " #name ", double_refuses");
CUDA_CUDNN_FUNCTIONS(REFUSES)
