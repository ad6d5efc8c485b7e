/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a few nodes, built as the frontend builds them. */
#pragma once

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

/* main: %x, %w -> Conv -> %y; If(%c) -> %z, with a body that computes %sum = %y + %y. */
void small_model_with_body(struct small_model *small);
