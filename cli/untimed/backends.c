/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of cli/backends.c in a build without times. */
#include "cli/command.h"

#include "cli/names.h"
#include "cli/options.h"

const struct option backends_options[] = {{.name = NULL}};

bool names_of_backends(const struct option_query *query, size_t index,
                       struct option_choice *ret) {
    (void)query, (void)index, (void)ret;
    return false;
}

bool names_of_settings(const struct option_query *query, size_t index,
                       struct option_choice *ret) {
    return names_of_backends(query, index, ret);
}

int command_backends(const struct invocation *call) {
    return command_exit(options_fault(call, "this build has no times"));
}
