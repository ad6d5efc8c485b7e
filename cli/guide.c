/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel guide [NAME]`: lists the guides, or prints one. */
#include "cli/guide.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/suggest.h"
#include "support/text.h"

static bool names_of_guides(const struct option_query *query, size_t index,
                            struct option_choice *ret) {
    (void)query;
    *ret = (struct option_choice){.name = guides[index].name};
    return ret->name != NULL;
}

const struct option guide_operands[] = {
    {.name = "NAME", .names = names_of_guides, .list = true}, {.name = NULL}};

static void list_guides(void) {
    for (const struct guide *guide = guides; guide->name != NULL; guide++) {
        const char *title = guide->text + strspn(guide->text, "# ");
        printf("%-30s %.*s\n", guide->name, (int)strcspn(title, "\n"), title);
    }
}

static int unknown_guide(const struct invocation *call, const char *name) {
    struct suggestion near;
    suggest_init(&near, name, strlen(name));
    for (const struct guide *guide = guides; guide->name != NULL; guide++)
        suggest_offer(&near, guide->name);
    return options_fault(call, "unknown guide '%s'%s%s%s", name,
                         near.best ? ", did you mean '" : "", near.best ? near.best : "",
                         near.best ? "'?" : "");
}

int command_guide(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    char nothing = 0;
    const int status = options_parse(command_no_options, call, &nothing, &operands);
    if (status != CM_OK) return command_exit(status);
    if (operands.n == 0) list_guides();
    for (size_t i = 0; i < operands.n; i++) {
        const struct guide *guide = guides;
        while (guide->name != NULL && !text_equal(guide->name, operands.values[i])) guide++;
        if (guide->name == NULL) return command_exit(unknown_guide(call, operands.values[i]));
        fputs(guide->text, stdout);
    }
    return command_finish(call, EXIT_DONE);
}
