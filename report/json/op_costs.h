/* SPDX-License-Identifier: Apache-2.0 */
/* A file of operator descriptions as it was read: nobody has looked yet at what its texts say.
 */
#ifndef REPORT_JSON_OP_COSTS_H
#define REPORT_JSON_OP_COSTS_H

#include <stddef.h>

#include "costmodel/op_costs.h"

struct arena;

struct op_costs_file {
    size_t n_operators;
    const struct cm_op_description *operators;
    struct arena *arena; /* that all of it lives in */
};

/* `text` need not end in NUL; `name` is its place in messages. On CM_OK *ret is the caller's,
 * to be freed with its arena. CM_REFUSED (told), CM_NO_MEMORY. */
int op_costs_file_read(const char *text, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct op_costs_file **ret) CM_MUST_CHECK;

#endif
