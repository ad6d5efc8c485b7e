/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the parts of llm_describe fill, and queries about nodes and values. */
#pragma once

#include "llm/language.h"
#include "ops/op.h"
#include "passes/infer/infer.h"
#include "passes/params/params.h"
#include "passes/walk/bind.h"

#define LLM_MIN_DIVIDED 8 /* columns of a product that GPUs divide */

struct llm_reading {
    const struct analysis *core;
    const struct llm_roles *roles;
    struct language *language;
    int64_t tokens, past;
    /* By node: */
    uint32_t *product;   /* index + 1 of the product that it is; 0 */
    uint32_t *attention; /* index + 1 of the attention that it is or belongs to; 0 */
    uint32_t *region;    /* number of the item whose operands it computes; 0: none yet */
    uint32_t *reduced;   /* likewise, if reached through a node that reduces */
    /* By value: */
    bool *of_tokens;     /* depends on the token ids */
    bool *of_step;       /* depends on them or on a cache; the rest is computed per request */
    bool *chosen_from;   /* a node chooses from it: scores of experts */
    bool *counted;       /* its weight, or its cache, has been counted */
    uint32_t *cached_by; /* index + 1 of the attention that stores it as keys or values; 0 */
    bool *stored;        /* written by its region and counted */
    uint32_t *charged;   /* number of the item that last read it */
    /* Products and attention, numbered from 1 in execution order. */
    uint32_t n_items;
    struct llm_item {
        bool is_attention;
        uint32_t index;
    } * items;
    uint32_t *item_of_product, *item_of_attention; /* numbers by index */
    /* An item reads the result of another through elementwise nodes. `across`: a node between
     * them reduces all columns of the result. */
    size_t n_edges, edges_capacity;
    struct llm_edge {
        uint32_t from, to;
        bool across;
    } * edges;
    size_t n_choices; /* TopK nodes */
    struct llm_choice {
        int64_t experts, chosen;
    } * choices;
};

static inline const struct value_info *llm_info(const struct llm_reading *reading,
                                                uint32_t value) {
    return &reading->core->infer->infos[value];
}

/* Returns the elements of a value; 0 if they are unknown. */
int64_t llm_elements(const struct llm_reading *reading, uint32_t value);
int64_t llm_bytes(const struct llm_reading *reading, uint32_t value);
/* Returns true if the value depends on an input of the model. */
bool llm_is_data(const struct llm_reading *reading, uint32_t value);
/* Returns the operand whose elements the output of the node has, in another order, dtype, shape
 * or scale, in part or repeated; ID_NONE. */
uint32_t llm_passed(const struct llm_reading *reading, uint32_t node);
/* Returns the value that `value` passes on, directly or through other nodes. */
uint32_t llm_origin(const struct llm_reading *reading, uint32_t value);
/* Returns true for matrix products, convolutions, attention and recurrences. */
bool llm_is_product(const struct llm_reading *reading, uint32_t node);
/* Returns the index in params of the largest learned tensor that the node uses; ID_NONE. */
uint32_t llm_largest_param(const struct llm_reading *reading, uint32_t node);
/* Returns the largest learned tensor that the node uses as a weight; ID_NONE. */
uint32_t llm_weight_of(const struct llm_reading *reading, uint32_t node);

/* Decides how tensor parallelism divides products and attention: llm_product.split,
 * llm_attention.is_split. */
int llm_divide(struct llm_reading *reading) CM_MUST_CHECK;

/* Finds attention: language->attentions, reading->attention. */
int llm_find_attention(struct llm_reading *reading) CM_MUST_CHECK;

static inline const struct node *llm_node(const struct llm_reading *reading, uint32_t id) {
    return &reading->core->model->nodes[id];
}

static inline const struct op *llm_op(const struct llm_reading *reading, uint32_t id) {
    return reading->core->bind->ops[id];
}

/* Returns the node that computes the value; ID_NONE. */
static inline uint32_t llm_producer(const struct llm_reading *reading, uint32_t value) {
    return value == ID_NONE ? ID_NONE : reading->core->model->values[value].node;
}

static inline int llm_rank(const struct llm_reading *reading, uint32_t value) {
    return llm_info(reading, value)->shape.rank;
}
