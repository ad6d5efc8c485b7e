/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the IR as text: a node is one line. */
#pragma once

#include <stdint.h>

struct value_info;
struct model;
struct text;

/* Prints a node:
 *     %y = Conv[group=2, pads=1](%x: f32[1,64,56,56], %w: f32[64,32,3,3])
 * `infos`, indexed by value id, has the types to print; NULL: prints declared types. Names are
 * escaped for a terminal; long attribute lists are shortened. */
void print_node(const struct model *model, uint32_t node, const struct value_info *infos,
                struct text *out);
/* Prints every graph, for --dump-after. Bodies are indented below their node. */
void print_model(const struct model *model, const struct value_info *infos, struct text *out);
/* Prints a node for messages: `17 "layer1.0/conv1", Conv`. */
void print_node_label(uint32_t index, const char *name, const char *type, struct text *out);
/* Prints a type: "f32[1,64,56,56]", "seq(i64[?])". */
void print_value_info(const struct value_info *info, struct text *out);
