/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel schema NAME`: prints a JSON Schema, for validators and documentation. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/text.h"

static int require_name(const struct invocation *call, const struct option_list *operands) {
    const char *name = NULL;
    struct text known = {.arena = call->arena};
    for (size_t i = 0; (name = cm_schema_at(i)) != NULL; i++)
        text_printf(&known, "%s%s", i > 0 ? " or " : "", name);
    if (operands->n == 0)
        return options_fault(call, "schema requires a name: %s", text_string(&known));
    if (operands->n > 1)
        return options_fault(call, "schema requires one name, got '%s' and '%s'",
                             operands->values[0], operands->values[1]);
    return options_fault(call, "unknown schema '%s', must be %s", operands->values[0],
                         text_string(&known));
}

int command_schema(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    char nothing = 0;
    int status = options_parse(command_no_options, call, &nothing, &operands);
    if (status != CM_OK) return command_exit(status);
    if (operands.n != 1) return command_exit(require_name(call, &operands));
    status = cm_schema_write(operands.values[0], stdout);
    if (status == CM_USAGE) return command_exit(require_name(call, &operands));
    return command_finish(call, status == CM_OK ? EXIT_DONE : EXIT_REFUSED);
}
