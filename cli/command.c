/* SPDX-License-Identifier: Apache-2.0 */
/* Options and exit statuses that commands share. */
#include "cli/command.h"

#include <stdio.h>

#include "cli/streams.h"
#include "costmodel/costmodel.h"

const struct option command_no_options[] = {{.name = NULL}};

int command_exit(int status) {
    if (status == CM_OK) return EXIT_DONE;
    return status == CM_USAGE ? EXIT_USAGE : EXIT_REFUSED;
}

int command_finish(const struct invocation *call, int status) {
    if (streams_flush(stdout, "standard output", call->diag) == CM_OK) return status;
    return EXIT_REFUSED;
}
