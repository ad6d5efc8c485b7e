/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the structs that a caller of the public API fills in. Each is a row of arguments.c,
 * with its defaults, its enumerators and its lists.
 *
 *     struct cm_table_options own;
 *     options = arguments_take(ARGUMENT_TABLE, options, &own, result && out, diagnostics);
 *     if (options == NULL) return CM_USAGE;
 */
#ifndef SUPPORT_ARGUMENTS_H
#define SUPPORT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/status.h"

struct cm_diagnostics;

/* Kinds of structs, and of the items of a list. */
enum argument {
    ARGUMENT_ANY, /* items without a check: numbers */
    ARGUMENT_POINTER,
    ARGUMENT_SIZE, /* int64_t >= 0 */
    /* Structs whose first member is their size in the caller's version. */
    ARGUMENT_OPTIONS,
    ARGUMENT_TEXT,
    ARGUMENT_TABLE,
    ARGUMENT_DIFF,
    ARGUMENT_CHECK,
    ARGUMENT_CAMPAIGN_RUN,
    /* Structs of a fixed size. */
    ARGUMENT_DIM,
    ARGUMENT_INPUT,
    ARGUMENT_VALUE,
    ARGUMENT_SWEEP_POINT,
    ARGUMENT_CHECK_LIMIT,
    ARGUMENT_NAMED_SIZE,
    ARGUMENT_CAMPAIGN_DIM,
    ARGUMENT_CAMPAIGN_MODEL,
    ARGUMENT_CAMPAIGN,
    ARGUMENT_MEASURED_TIME,
    ARGUMENT_OP_OUTPUT,
    ARGUMENT_OP_DESCRIPTION,
    ARGUMENT_N_KINDS
};

/*
 * Checks a struct with a size and copies it to `ret_own`; members that the caller's version
 * lacks get their defaults. `others`: the other required pointers are not NULL. Returns
 * `ret_own`; NULL with a message if an argument is NULL or invalid, or sets a member that this
 * version lacks.
 */
const void *arguments_take(enum argument kind, const void *given, void *ret_own, bool others,
                           struct cm_diagnostics *diag);

/* Checks `n` structs of a fixed size, or pointers. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int arguments_check(enum argument kind, const void *items, size_t n,
                    struct cm_diagnostics *diag) CM_MUST_CHECK;

#endif
