/* SPDX-License-Identifier: Apache-2.0 */
/* An --op-costs file as read; its expressions are not parsed yet. */
#ifndef REPORT_JSON_OP_COSTS_H
#define REPORT_JSON_OP_COSTS_H

#include <stddef.h>

#include "costmodel/op_costs.h"

struct arena;

struct op_costs_file {
    size_t n_operators;
    const struct cm_op_description *operators;
    struct arena *arena; /* owns all of it */
};

/* Reads a file. `text` need not end in NUL; messages name it `name`. On CM_OK the caller frees
 * the arena of *ret. CM_OK, CM_REFUSED (reported), CM_NO_MEMORY. */
int op_costs_file_read(const char *text, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct op_costs_file **ret) CM_MUST_CHECK;

#endif
