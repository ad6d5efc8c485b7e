/* SPDX-License-Identifier: Apache-2.0 */
/* Formats reasons. They are data: the caller decides where to print them. */
#include "backends/plugin/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/text.h"

int reason_fail(struct cm_reason *reason, int status, const char *format, ...) {
    char whole[4 * CM_REASON_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(whole, sizeof(whole), format, args);
    va_end(args);
    const size_t length = text_cut_length(whole, sizeof(reason->text) - 1);
    memset(reason, 0, sizeof(*reason));
    memcpy(reason->text, whole, length);
    return status;
}
