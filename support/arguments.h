/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a caller of the public API passes: required pointers, and the structs that it
 * fills in. Each of these is a row of arguments.c, with its defaults, its enumerators and its
 * lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/status.h"

struct cm_diagnostics;

/* Kinds of items: anything, pointers, int64_t >= 0; structs whose first member is their size in
 * the caller's version, and structs of a fixed size. */
/* clang-format off */
enum argument {
    ARGUMENT_ANY, ARGUMENT_POINTER, ARGUMENT_SIZE,
    ARGUMENT_cm_options, ARGUMENT_cm_text_options, ARGUMENT_cm_table_options,
    ARGUMENT_cm_diff_options, ARGUMENT_cm_check_options, ARGUMENT_cm_campaign_run,
    ARGUMENT_cm_dim_option, ARGUMENT_cm_input_option, ARGUMENT_cm_value_option,
    ARGUMENT_cm_sweep_point, ARGUMENT_cm_check_limit, ARGUMENT_cm_check_waiver, ARGUMENT_cm_named_size,
    ARGUMENT_cm_campaign_dim, ARGUMENT_cm_campaign_model, ARGUMENT_cm_campaign,
    ARGUMENT_cm_llm_options, ARGUMENT_cm_measured_time, ARGUMENT_cm_op_output, ARGUMENT_cm_op_description,
    ARGUMENT_N_KINDS
};
/* clang-format on */

/* Checks a struct with a size and copies it to `ret_own`; members that the caller's version
 * lacks get their defaults. `others`: the other required pointers are not NULL. Returns
 * `ret_own`; NULL with a message if an argument is NULL or invalid, or sets a member that this
 * version lacks. */
const void *arguments_take(enum argument kind, const void *given, void *ret_own, bool others,
                           struct cm_diagnostics *diag);
/* The same, with a copy that is valid until the end of the block. For example:
 *
 *     options = ARGUMENTS_TAKE(cm_table_options, options, result && out, diagnostics);
 *     if (options == NULL) return CM_USAGE;
 */
#define ARGUMENTS_TAKE(type, given, others, diag)                                              \
    arguments_take(ARGUMENT_##type, given, &(struct type){0}, others, diag)

/* Checks `n` items. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int arguments_check(enum argument kind, const void *items, size_t n, bool others,
                    struct cm_diagnostics *diag) CM_MUST_CHECK;
