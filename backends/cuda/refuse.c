/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/refuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/banned.h"

int cuda_refuse(struct cm_reason *reason, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, args);
    va_end(args);
    return status;
}
