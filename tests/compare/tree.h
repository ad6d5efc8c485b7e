/* SPDX-License-Identifier: Apache-2.0 */
/* Results with nothing but modules, from a few lines of text. */
#ifndef TESTS_COMPARE_TREE_H
#define TESTS_COMPARE_TREE_H

#include "costmodel/compare.h"

/*
 * A line a module, parents first: "PATH CLASS(ARGUMENTS) PARAMS MACS", the figures its own,
 * without those of its children; CLASS "?" is not known. The root's path is ".".
 */
struct cm_result *tree_make(const char *lines);
void tree_free(struct cm_result *result);

/* The diff of both; *ret_old and *ret_new are to be freed after it. */
struct cm_diff *tree_diff(const char *old_lines, const char *new_lines,
                          struct cm_result **ret_old, struct cm_result **ret_new);

/* Fails unless that is the description of the diff. */
void tree_expect(const char *old_lines, const char *new_lines, const char *description);

#endif
