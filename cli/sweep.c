/* SPDX-License-Identifier: Apache-2.0 */
/* Parses --batch, and derives the exit status of a sweep from its worst batch. */
#include "cli/sweep.h"

#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

int sweep_read(const struct invocation *call, const char *text, struct batches *ret) {
    *ret = (struct batches){0, NULL};
    if (text == NULL) return CM_OK;
    int64_t *items = arena_array(call->arena, BATCHES_MOST, sizeof(*items));
    if (items == NULL) return diag_no_memory(call->diag);
    size_t n = 0;
    for (const char *at = text; at != NULL; n++) {
        const size_t length = strcspn(at, ",");
        if (n == BATCHES_MOST)
            return options_fault(call, "option --batch takes at most %d batches", BATCHES_MOST);
        if (!text_to_int64(at, length, &items[n]) || items[n] < 1)
            return options_fault(call,
                                 "option --batch requires integers from 1 to %" PRId64
                                 ", separated by commas, got '%s'",
                                 INT64_MAX, text);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *ret = (struct batches){n, items};
    return CM_OK;
}

/* States, best first. */
static const struct {
    const char *state;
    int exit_status;
} ends[] = {
    {"done", EXIT_DONE},      {"incomplete", EXIT_INCOMPLETE}, {"usage", EXIT_USAGE},
    {"misfit", EXIT_REFUSED}, {"refused", EXIT_REFUSED},       {"failed", EXIT_REFUSED},
};

int sweep_exit(const struct cm_sweep *sweep) {
    size_t worst = 0;
    for (size_t i = 0; i < sweep->n_rows; i++)
        for (size_t k = worst; k < sizeof(ends) / sizeof(ends[0]); k++)
            if (text_equal(ends[k].state, sweep->rows[i].state)) worst = k;
    return ends[worst].exit_status;
}
