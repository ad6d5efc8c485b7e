/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of cli/backends.c in a build without times. */
#include "cli/command.h"

#include "cli/options.h"

const struct option backends_options[] = {{.name = NULL}};

const char *backends_device_at(size_t index) {
    (void)index;
    return NULL;
}

int command_backends(const struct invocation *call) {
    return command_exit(options_fault(call, "this build has no times"));
}
