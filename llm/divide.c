/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor parallelism (Megatron-LM): a product divides its columns, and the product that reads
 * its result divides its rows, after which an all-reduce sums the partial results. What reduces
 * all columns in between (a norm, the choice of experts) requires the whole result, and so does
 * a sum with a result that is not divided: such products are computed by every GPU. The norm
 * of all queries or keys exchanges one number per token, which is neglected. */
#include "llm/reading.h"

#include <stdlib.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/sort.h"

#define MAX_ROUNDS 8

/* Decides all items in execution order. Returns false if a product divides its columns although
 * a reader requires them all: it is marked as whole for the next round. */
static bool decide(struct llm_reading *reading, bool *whole, bool *divided) {
    struct language *language = reading->language;
    bool is_valid = true;
    size_t edge = 0;
    for (uint32_t number = 1; number <= reading->n_items; number++) {
        const struct llm_item *item = &reading->items[number];
        const size_t first = edge;
        size_t n_divided = 0;
        for (; edge < reading->n_edges && reading->edges[edge].to == number; edge++)
            n_divided += divided[reading->edges[edge].from];
        const size_t n = edge - first;
        if (item->is_attention) {
            language->attentions[item->index].is_split = divided[number] = n_divided > 0;
            continue;
        }
        struct llm_product *product = &language->products[item->index];
        product->split = SPLIT_NONE;
        if (n_divided > 0 && n_divided == n)
            product->split = SPLIT_ROWS;
        else if (n_divided == 0 && !whole[number])
            product->split = SPLIT_COLUMNS;
        divided[number] = product->split == SPLIT_COLUMNS;
        for (size_t i = first; n_divided > 0 && n_divided < n && i < edge; i++) {
            const uint32_t from = reading->edges[i].from;
            if (!divided[from] || reading->items[from].is_attention) continue;
            whole[from] = true;
            is_valid = false;
        }
    }
    return is_valid;
}

static int by_reader(const void *a, const void *b) {
    const struct llm_edge *left = a, *right = b;
    if (left->to != right->to) return left->to < right->to ? -1 : 1;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Partial results that the same item reads first are added before their all-reduce. */
static void mark_reductions(struct llm_reading *reading) {
    struct language *language = reading->language;
    uint32_t reader = 0;
    bool has_one = false;
    for (size_t i = 0; i < language->n_products; i++)
        language->products[i].reduces = language->products[i].split == SPLIT_ROWS;
    for (size_t i = 0; i < reading->n_edges; i++) {
        const struct llm_edge *edge = &reading->edges[i];
        const struct llm_item *item = &reading->items[edge->from];
        if (edge->to != reader) has_one = false;
        if (edge->to == reader && edge->from == edge[-1].from) continue;
        reader = edge->to;
        if (item->is_attention || language->products[item->index].split != SPLIT_ROWS) continue;
        if (has_one) language->products[item->index].reduces = false;
        has_one = has_one || language->products[item->index].reduces;
    }
}

int llm_divide(struct llm_reading *reading) {
    struct arena *arena = reading->core->arena;
    bool *whole = arena_array(arena, reading->n_items + 1, sizeof *whole);
    bool *divided = arena_array(arena, reading->n_items + 1, sizeof *divided);
    if (!whole || !divided) return diag_no_memory(reading->core->diag);
    if (reading->n_edges > 0)
        sort_stable(reading->edges, reading->n_edges, sizeof *reading->edges, by_reader);
    for (size_t i = 0; i < reading->n_edges; i++)
        if (reading->edges[i].across) whole[reading->edges[i].from] = true;
    for (size_t i = 1; i <= reading->n_items; i++)
        if (!reading->items[i].is_attention &&
            reading->language->products[reading->items[i].index].columns < LLM_MIN_DIVIDED)
            whole[i] = true;
    for (int round = 0; round < MAX_ROUNDS && !decide(reading, whole, divided); round++) {}
    mark_reductions(reading);
    return CM_OK;
}
