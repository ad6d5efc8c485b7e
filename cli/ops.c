/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel ops`: every operator that has a row, and from which opsets on. */
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/options.h"
#include "ops/registry.h"
#include "support/text.h"

#include "support/banned.h"

static bool same_operator(const struct op *a, const struct op *b) {
    return text_equal(a->domain, b->domain) && text_equal(a->type, b->type);
}

/* Prints the operator that begins at row `first`; gives the row after its last version. */
static size_t print_operator(const struct op_family *family, size_t first) {
    const struct op *op = &family->rows[first];
    const char *domain = op->domain[0] == '\0' ? "ai.onnx" : op->domain;
    printf("%-12s  %-16s  %-28s ", family->name, domain, op->type);
    size_t i = first;
    for (; i < family->n_rows && same_operator(op, &family->rows[i]); i++) {
        printf(" %" PRId32, family->rows[i].since);
    }
    printf("\n");
    return i;
}

int command_ops(const struct invocation *call) {
    if (call->argc > 0) {
        return command_exit(
            options_fault(call, "ops takes no arguments, got '%s'", call->argv[0]));
    }
    printf("%-12s  %-16s  %-28s  %s\n", "family", "domain", "operator", "since opset");
    for (size_t i = 0; i < registry_n_families(); i++) {
        const struct op_family *family = registry_family(i);
        for (size_t row = 0; row < family->n_rows;) row = print_operator(family, row);
    }
    return command_finish(call, EXIT_DONE);
}
