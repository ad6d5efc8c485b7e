/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel passes`: lists the passes in execution order. */
#include "cli/command.h"

#include <stdio.h>

#include "cli/options.h"
#include "passes/pipeline/pipeline.h"

int command_passes(const struct invocation *call) {
    if (call->argc > 0)
        return command_exit(
            options_fault(call, "passes takes no arguments, got '%s'", call->argv[0]));
    for (size_t i = 0; i < pipeline_length(); i++) {
        const struct pass *pass = pipeline_pass(i);
        printf("%-10s  %s\n", pass->name, pass->summary);
    }
    return command_finish(call, EXIT_DONE);
}
