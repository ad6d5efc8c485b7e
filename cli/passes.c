/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel passes`: lists the passes in execution order. */
#include "cli/command.h"

#include <stdio.h>

#include "api/half.h"
#include "cli/options.h"
#include "passes/pipeline/pipeline.h"

static void list_passes(const struct pipeline *pipeline) {
    if (pipeline->before) list_passes(pipeline->before);
    for (size_t i = 0; i < pipeline->n; i++)
        printf("%-10s  %s\n", pipeline->passes[i].name, pipeline->passes[i].summary);
}

int command_passes(const struct invocation *call) {
    if (call->argc > 0)
        return command_exit(
            options_fault(call, "passes takes no arguments, got '%s'", call->argv[0]));
    list_passes(half_pipeline() ? half_pipeline() : &core_pipeline);
    return command_finish(call, EXIT_DONE);
}
