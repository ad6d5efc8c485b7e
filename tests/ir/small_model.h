/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a few nodes, built as the frontend builds them. */
#ifndef TESTS_IR_SMALL_MODEL_H
#define TESTS_IR_SMALL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "ir/graph.h"

struct small_model {
    struct arena *arena;
    struct graph_builder *builder;
    struct model model;
};

void small_model_begin(struct small_model *small);
void small_model_free(struct small_model *small);

/* Each gives the new id. A graph: ID_NONE owner for the main one. */
uint32_t small_graph(struct small_model *small, const char *name, uint32_t owner);
uint32_t small_input(struct small_model *small, uint32_t graph, const char *name,
                     enum dtype dtype, int rank, const int64_t *dims);
uint32_t small_weight(struct small_model *small, uint32_t graph, const char *name, int rank,
                      const int64_t *dims);
/* A node with up to n inputs, and one output of that name that is its own value id. */
uint32_t small_node(struct small_model *small, uint32_t graph, const char *type,
                    const uint32_t *inputs, uint32_t n_inputs, const char *output);
uint32_t small_output_of(struct small_model *small, uint32_t node);
/* Its nodes in the order of ids, its inputs, and one output. */
void small_graph_end(struct small_model *small, uint32_t graph, uint32_t output);
void small_attrs(struct small_model *small, uint32_t node, const struct attr *attrs, size_t n);

/* main: %x, %w -> Conv -> %y -> Relu -> %z; If(%c) with a body that reads %y. */
void small_model_with_body(struct small_model *small);

#endif
