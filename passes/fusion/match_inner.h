/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the matcher share; match.h is for its callers. */
#ifndef PASSES_FUSION_MATCH_INNER_H
#define PASSES_FUSION_MATCH_INNER_H

#include "passes/fusion/match.h"

struct constant;

/* Nodes: match_nodes.c. */

const struct node *match_node(const struct match *match, uint32_t node);
const struct value_info *match_fact(const struct match *match, uint32_t value);
/* The node that makes the value as its first output, and that a match may take; or ID_NONE. */
uint32_t match_producer(const struct match *match, uint32_t value);
enum op_algebra match_algebra(const struct match *match, uint32_t node);
/* Makes the node part of the match; false past MATCH_MAX_NODES. */
bool match_take(struct match *match, uint32_t node);
/* Operand `slot`, ID_NONE where it is omitted. */
uint32_t match_input(const struct match *match, uint32_t node, size_t slot);
/* Whether the node hands its first operand on as it is, rows as rows. */
bool match_hands_on(const struct match *match, uint32_t node);
/* What the value is before its cast, which becomes part of the match; itself where it has none.
 */
uint32_t match_before(struct match *match, uint32_t value);
/* Nobody but the match reads what its inner nodes make. */
bool match_is_closed(const struct match *match, uint32_t result);

/* Numbers and names: match_names.c. */

/* With its elements in memory; NULL where they cannot be had. */
const struct constant *match_loaded(const struct match *match, const struct constant *constant);
bool match_is_close(double have, double want);
/* Every type holds whole numbers and halves as they are; others are rounded. */
bool match_is_number(double have, double want);
/* From here on the name stands for that; false past MATCH_MAX_NAMES. */
bool match_note(struct match *match, const char *name, uint32_t value, double number);
/* The value as what the formula's name stands for. */
bool match_bind(struct match *match, const struct pattern *formula, uint32_t value);

/* Attributes and axes: match_axes.c. */

/* The number that attribute `name` holds, or its default. */
bool match_attr_number(const struct match *match, uint32_t node, const char *name, double *ret);
/* Notes the axes of a reduction or a softmax; false where they are not those noted before. */
bool match_axes(struct match *match, uint32_t node);

/* Sizes: match_fits.c. */

/* As far as it can be told. */
bool match_keeps_last_dim(const struct shape *from, const struct shape *to);
/* As far as it can be told: where x is not known yet, match_parameters_fit tells at the end. */
bool match_may_be_parameter(const struct match *match, const struct value_info *info);
bool match_parameters_fit(const struct match *match);
/* Whether the axes are as the pattern wants them. */
bool match_axes_fit(const struct match *match);
/* What is computed of "x" element by element is as large: no operand makes more of it. */
bool match_result_fits(const struct match *match);

#endif
