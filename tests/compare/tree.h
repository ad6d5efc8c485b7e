/* SPDX-License-Identifier: Apache-2.0 */
/* Results that have only modules, made from lines of text. */
#pragma once

#include "costmodel/compare.h"

/*
 * Each line is a module, parents first: "PATH CLASS(ARGUMENTS) PARAMS MACS". Values exclude the
 * children; CLASS "?" means unknown. The root's path is ".".
 */
struct cm_result *tree_make(const char *lines);
void tree_free(struct cm_result *result);

/* Returns the diff of both; free *ret_old and *ret_new after the diff. */
struct cm_diff *tree_diff(const char *old_lines, const char *new_lines,
                          struct cm_result **ret_old, struct cm_result **ret_new);

/* Fails unless the diff has this description. */
void tree_expect(const char *old_lines, const char *new_lines, const char *description);
