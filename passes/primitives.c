/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass primitives: what of the model a backend could run. Nodes that do the same work have one
 * primitive, so that it is measured once. Does nothing unless a backend is asked.
 */
#include <string.h>

#include "backends/primitive.h"
#include "ops/conventions.h"
#include "ops/lowering.h"
#include "ops/product.h"
#include "passes/count.h"
#include "passes/lifetime.h"
#include "passes/pass.h"
#include "passes/rules.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Primitives by their bytes: linear probing, at most half full. */
struct index {
    size_t capacity; /* a power of two */
    uint32_t *slots; /* index into the table's items, plus one; 0: free */
};

static uint64_t hash_of(const struct cm_primitive *primitive) {
    unsigned char bytes[sizeof(*primitive)];
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    memcpy(bytes, primitive, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* The one of equal bytes, or the place of a new one. */
static uint32_t add_primitive(struct primitives_table *table, struct index *index,
                              const struct cm_primitive *primitive) {
    size_t at = (size_t)hash_of(primitive) & (index->capacity - 1);
    while (index->slots[at] != 0) {
        const uint32_t found = index->slots[at] - 1;
        if (primitive_equal(&table->items[found], primitive)) return found;
        at = (at + 1) & (index->capacity - 1);
    }
    table->items[table->n] = *primitive;
    index->slots[at] = (uint32_t)++table->n;
    return (uint32_t)table->n - 1;
}

/* The arithmetic of one run, whatever convention the report counts by. */
static int64_t exact_flops(const struct convention *exact, const struct rule *rule) {
    return convention_flops(exact, rule, product_macs(rule));
}

/*
 * What is read of operands of which a part is taken: rows of a table, a slice. The count has
 * them whole, as tensors that the node uses; a device reads no more than it writes.
 */
static int64_t bytes_touched(const struct rule *rule, const struct cm_primitive *primitive,
                             int64_t read, int64_t written) {
    const bool takes_part = primitive->kind == CM_GATHER ||
                            (primitive->kind == CM_COPY && primitive->n_inputs == 1);
    if (!takes_part) return read;
    const int64_t whole = lifetime_bytes(rule_input(rule, 0));
    if (!is_known(whole) || !is_known(read) || whole <= written) return read;
    return checked_add(checked_sub(read, whole), written);
}

/* *ret_why NULL: it has one. */
static enum lowered lower(const struct analysis *analysis, const struct convention *exact,
                          const struct rule *rule, struct cm_primitive *ret,
                          const char **ret_why) {
    int64_t read = 0;
    int64_t written = 0;
    if (!count_traffic(analysis, rule, &read, &written)) {
        const bool is_body = rule->op->memory == MEMORY_CONTROL;
        *ret_why = is_body ? "its bodies are measured" : NULL;
        return LOWERED_NOTHING;
    }
    if (!lowering_apply(rule, ret, ret_why)) return LOWERED_NOT;
    ret->flops = exact_flops(exact, rule);
    ret->bytes_read = bytes_touched(rule, ret, read, written);
    ret->bytes_written = written;
    if (is_known(ret->flops) && is_known(ret->bytes_read) && is_known(written))
        return LOWERED_PRIMITIVE;
    *ret_why = "its work is not known";
    return LOWERED_NOT;
}

static int make_tables(const struct analysis *analysis, struct primitives_table *table,
                       struct index *index) {
    const size_t n = analysis->model->n_nodes;
    struct arena *arena = analysis->arena;
    index->capacity = 2;
    while (index->capacity < 2 * n) index->capacity *= 2;
    index->slots = arena_array(arena, index->capacity, sizeof(*index->slots));
    table->items = arena_array(arena, n, sizeof(*table->items));
    table->lowered = arena_array(arena, n, sizeof(*table->lowered));
    table->of_node = arena_array(arena, n, sizeof(*table->of_node));
    table->why_not = arena_array(arena, n, sizeof(*table->why_not));
    if (!index->slots || !table->items || !table->lowered || !table->of_node || !table->why_not)
        return diag_no_memory(analysis->diag);
    return CM_OK;
}

static int lower_nodes(const struct analysis *analysis, struct primitives_table *table,
                       struct index *index) {
    const struct rule_source source = rules_source(analysis);
    const struct convention *exact = convention_find("exact");
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        struct cm_primitive primitive;
        struct rule rule;
        table->of_node[id] = ID_NONE;
        int status = rules_make_done(&source, id, &rule);
        if (status < 0) return status;
        table->lowered[id] = lower(analysis, exact, &rule, &primitive, &table->why_not[id]);
        if (table->lowered[id] == LOWERED_PRIMITIVE)
            table->of_node[id] = add_primitive(table, index, &primitive);
    }
    return CM_OK;
}

static int run(const struct analysis *analysis, void *own) {
    struct index index;
    if (analysis->options->backend == NULL) return CM_OK;
    int status = make_tables(analysis, own, &index);
    return status < 0 ? status : lower_nodes(analysis, own, &index);
}

const struct pass pass_primitives = {
    .name = "primitives",
    .summary = "find the distinct pieces of work that a backend could run",
    .needs = HAS_OPERATORS | HAS_TYPES | HAS_STORAGE,
    .gives = HAS_PRIMITIVES,
    .run = run,
    .own = offsetof(struct analysis, primitives),
};
