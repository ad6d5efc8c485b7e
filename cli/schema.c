/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel schema NAME`: prints a JSON Schema, for validators and documentation. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/names.h"
#include "cli/options.h"
#include "costmodel/costmodel.h"

const struct option schema_operands[] = {{.name = "NAME", .names = names_of_schemas},
                                         {.name = NULL}};

static int require_name(const struct invocation *call, const struct option_list *operands) {
    const char *known = options_list_names(call, schema_operands);
    if (operands->n == 0) return options_fault(call, "schema requires a name: %s", known);
    if (operands->n > 1)
        return options_fault(call, "schema requires one name, got '%s' and '%s'",
                             operands->values[0], operands->values[1]);
    return options_fault(call, "unknown schema '%s', must be %s", operands->values[0], known);
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
