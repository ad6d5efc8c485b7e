/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/reading.h"

#include <stdlib.h>
#include <string.h>

#include "passes/cost/count.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/sort.h"

#define MIN_POSITIONS 64  /* rows of a table of positions; one of token types has fewer */
#define MAX_DEPTH     256 /* nodes that one walk to the operands of an item may nest */

/* Returns the node that looks up a stored table with one matrix of each expert, of which the
 * value is a view; ID_NONE. */
static uint32_t expert_lookup(const struct llm_reading *reading, uint32_t value) {
    const uint32_t id = llm_producer(reading, llm_origin(reading, value));
    if (id == ID_NONE || !op_looks_up(llm_op(reading, id))) return ID_NONE;
    const uint32_t weight = llm_weight_of(reading, id);
    return weight != ID_NONE && llm_rank(reading, weight) >= 3 ? id : ID_NONE;
}

/* Returns true if a node with bodies may read any value of the graphs around them. */
static bool has_bodies(const struct node *node) {
    for (size_t i = 0; i < node->n_attrs; i++)
        if (node->attrs[i].kind == ATTR_GRAPH || node->attrs[i].kind == ATTR_GRAPHS)
            return true;
    return false;
}

static void mark_tokens(struct llm_reading *reading) {
    const struct model *model = reading->core->model;
    const struct llm_roles *roles = reading->roles;
    if (roles->tokens != ID_NONE)
        reading->of_tokens[roles->tokens] = reading->of_step[roles->tokens] = true;
    for (size_t g = 0; g < model->n_graphs; g++) {
        for (size_t i = 0; i < model->graphs[g].n_inputs; i++) {
            const uint32_t id = model->graphs[g].inputs[i];
            if (g > 0) reading->of_tokens[id] = true; /* of a body */
            if (g > 0 || roles->is_whole ||
                (roles->cache[id] != CACHE_NONE && roles->cache[id] != CACHE_SOURCE))
                reading->of_step[id] = true;
        }
        for (size_t i = 0; i < model->graphs[g].n_nodes; i++) {
            const uint32_t id = model->graphs[g].nodes[i];
            const struct node *node = llm_node(reading, id);
            bool of_tokens = has_bodies(node), of_step = of_tokens;
            if (llm_op(reading, id)->memory == MEMORY_SHAPE_ONLY) continue;
            for (uint32_t k = 0; k < node->n_inputs; k++) {
                if (node->inputs[k] == ID_NONE) continue;
                of_tokens = of_tokens || reading->of_tokens[node->inputs[k]];
                of_step = of_step || reading->of_step[node->inputs[k]];
            }
            for (uint32_t k = 0; k < node->n_outputs; k++) {
                if (node->outputs[k] == ID_NONE) continue;
                reading->of_tokens[node->outputs[k]] = of_tokens;
                reading->of_step[node->outputs[k]] = of_step;
            }
        }
    }
}

/* Marks the results of products from which nodes choose. */
static void mark_scores(struct llm_reading *reading) {
    const struct model *model = reading->core->model;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = model->graphs[g].n_nodes; i-- > 0;) {
            const uint32_t id = model->graphs[g].nodes[i];
            const struct op *op = llm_op(reading, id);
            const struct node *node = llm_node(reading, id);
            const uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
            const bool chooses = op->facets && op->facets->chooses;
            if (output == ID_NONE || llm_is_product(reading, id) ||
                !(chooses || reading->chosen_from[output]))
                continue;
            for (uint32_t k = 0; k < (chooses ? 1 : node->n_inputs); k++)
                if (node->inputs[k] != ID_NONE && llm_is_data(reading, node->inputs[k]) &&
                    dtype_is_float(llm_info(reading, node->inputs[k])->dtype))
                    reading->chosen_from[node->inputs[k]] = true;
        }
}

static int by_experts(const void *a, const void *b) {
    const struct llm_choice *left = a, *right = b;
    if (left->experts != right->experts) return left->experts < right->experts ? -1 : 1;
    return left->chosen < right->chosen ? -1 : left->chosen > right->chosen;
}

/* Lists the nodes that choose some of several: experts of a token. */
static int list_choices(struct llm_reading *reading) {
    const struct model *model = reading->core->model;
    size_t capacity = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct op *op = llm_op(reading, id);
        const struct node *node = llm_node(reading, id);
        if (!op->facets || !op->facets->chooses || node->n_outputs == 0) continue;
        const struct shape *from = &llm_info(reading, node->inputs[0])->shape;
        const struct shape *to = &llm_info(reading, node->outputs[0])->shape;
        for (int axis = 0; axis < from->rank && axis < to->rank; axis++) {
            if (!is_known(to->dims[axis]) || from->dims[axis] == to->dims[axis]) continue;
            reading->choices =
                arena_grow(reading->core->arena, reading->choices, reading->n_choices,
                           &capacity, sizeof *reading->choices);
            if (!reading->choices) return diag_no_memory(reading->core->diag);
            reading->choices[reading->n_choices++] =
                (struct llm_choice){from->dims[axis], to->dims[axis]};
        }
    }
    if (reading->n_choices > 1)
        sort_stable(reading->choices, reading->n_choices, sizeof *reading->choices, by_experts);
    return CM_OK;
}

/* Returns how many of `experts` a token chooses; 0 if no node chooses from so many. */
static int64_t chosen_of(const struct llm_reading *reading, int64_t experts) {
    size_t low = 0, high = reading->n_choices;
    while (low < high) { /* the first with more experts */
        const size_t middle = low + (high - low) / 2;
        if (reading->choices[middle].experts <= experts)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && reading->choices[low - 1].experts == experts
               ? reading->choices[low - 1].chosen
               : 0;
}

/* --- Kernels between products. --- */

/* Returns the number of the item that computes the value of a product or attention; 0. */
static uint32_t item_at(const struct llm_reading *reading, uint32_t id) {
    if (reading->attention[id]) /* with a projection of its own, too */
        return reading->item_of_attention[reading->attention[id] - 1];
    return reading->product[id] ? reading->item_of_product[reading->product[id] - 1] : 0;
}

static void add_edge(struct llm_reading *reading, uint32_t from, uint32_t to, bool across) {
    const struct llm_edge edge = {from, to, across};
    (void)arena_push(reading->core->arena, &reading->edges, &reading->n_edges,
                     &reading->edges_capacity, &edge, sizeof edge); /* else the arena failed */
}

/* Returns the length of the axis that the node reduces or chooses from; 0. */
static int64_t reduced_by(const struct llm_reading *reading, uint32_t id) {
    const struct op *op = llm_op(reading, id);
    const int32_t kind = op_primitive_kind(op);
    if (kind != CM_REDUCE && kind != CM_NORM && kind != CM_SOFTMAX &&
        !(op->facets && op->facets->chooses))
        return 0;
    const struct shape *shape = &llm_info(reading, llm_node(reading, id)->inputs[0])->shape;
    return shape->rank > 0 && is_known(shape->dims[shape->rank - 1])
               ? shape->dims[shape->rank - 1]
               : 0;
}

struct region {
    uint32_t number; /* of the item */
    bool computes;   /* a node is more than a view */
    bool chooses;    /* what is being read chooses experts: it is not an operand */
    int64_t moved;   /* bytes that one elementwise kernel reads, and writes for later items */
};

/* Assigns the nodes that compute `value` to an item, unless they belong to an earlier one. An
 * intermediate result of an earlier item (the residual stream) is written by its kernel.
 * `reduced`: length of the axis that a node on the way to the item reduces. */
static void take_region(struct llm_reading *reading, uint32_t value, int64_t reduced, int depth,
                        struct region *region) {
    const uint32_t id = value == ID_NONE ? ID_NONE : llm_producer(reading, value);
    if (id == ID_NONE || !llm_is_data(reading, value) || depth <= 0) return;
    const uint32_t owner = reading->region[id];
    uint32_t item = item_at(reading, id);
    if (item == region->number) { /* scores of this attention */
        item = 0;
        reduced = 0;
    }
    if (item != 0 && !region->chooses) {
        const struct shape *shape = &llm_info(reading, value)->shape;
        const int64_t columns = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
        const bool within = reduced > 0 && columns % reduced == 0 && columns / reduced >= 2;
        add_edge(reading, item, region->number,
                 reduced > 0 && !within && !reading->items[region->number].is_attention);
    }
    if (item != 0 || (owner != 0 && owner != region->number)) {
        if (reading->charged[value] == region->number) return;
        reading->charged[value] = region->number;
        checked_add_to(&region->moved, llm_bytes(reading, value));
        if (item == 0 && !reading->stored[value]) {
            reading->stored[value] = true;
            checked_add_to(&region->moved, llm_bytes(reading, value));
        }
        return;
    }
    uint32_t *visited = reduced > 0 ? &reading->reduced[id] : &reading->region[id];
    if (*visited == region->number) return;
    *visited = reading->region[id] = region->number;
    const struct node *node = llm_node(reading, id);
    const int64_t length = reduced_by(reading, id);
    if (llm_passed(reading, id) == ID_NONE && dtype_is_float(llm_info(reading, value)->dtype))
        region->computes = true;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        take_region(reading, node->inputs[i], length > 0 ? length : reduced, depth - 1, region);
}

/* Numbers a new item. */
static uint32_t add_item(struct llm_reading *reading, bool is_attention, uint32_t index) {
    const uint32_t number = ++reading->n_items;
    reading->items[number] = (struct llm_item){is_attention, index};
    (is_attention ? reading->item_of_attention : reading->item_of_product)[index] = number;
    return number;
}

/* --- Products. --- */

static struct llm_product *add_product(struct llm_reading *reading, uint32_t id) {
    struct language *language = reading->language;
    struct llm_product *product = &language->products[language->n_products++];
    *product = (struct llm_product){.node = id, .share = 1, .rows = 1};
    reading->product[id] = (uint32_t)language->n_products;
    (void)add_item(reading, false, (uint32_t)language->n_products - 1);
    return product;
}

/* Returns the name of the parameter; if generated, that of the node that uses it. */
static const char *weight_name(const struct llm_reading *reading, uint32_t id,
                               const struct param *param) {
    const char *node = llm_node(reading, id)->name;
    return strpbrk(param->name, "./") || node[0] == '\0' ? param->name : node;
}

/* Returns true for stored tensors that are neither learned nor named like a buffer, but are
 * data of the model: scales and zero points. */
static bool is_unlisted(const struct llm_reading *reading, uint32_t value) {
    const struct value *at = &reading->core->model->values[value];
    const enum dtype dtype = llm_info(reading, value)->dtype;
    return at->constant && at->n_uses > 0 &&
           reading->core->params->of_value[value] == ID_NONE &&
           (dtype_is_float(dtype) || (dtype_is_integer(dtype) && dtype_bits(dtype) <= 8));
}

static void add_weight(struct llm_reading *reading, uint32_t id, uint32_t index,
                       int64_t columns) {
    const struct params_table *params = reading->core->params;
    struct language *language = reading->language;
    const struct param *param = &params->params[index];
    int64_t bytes = param->bytes, learned = bytes;
    for (uint32_t i = 0; i < params->n_used[id]; i++) { /* scales, zero points, biases */
        const struct param *other = &params->params[params->used[id][i]];
        if (params->used[id][i] == index) continue;
        checked_add_to(&bytes, other->bytes);
        if (other->kind == PARAM_LEARNED) checked_add_to(&learned, other->bytes);
    }
    const struct node *node = llm_node(reading, id);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != ID_NONE && is_unlisted(reading, node->inputs[i]))
            checked_add_to(&bytes, llm_bytes(reading, node->inputs[i]));
    language->weights[language->n_weights++] =
        (struct llm_weight){.name = weight_name(reading, id, param),
                            .value = param->value,
                            .node = id,
                            .product = (uint32_t)language->n_products - 1,
                            .elements = param->elements,
                            .bytes = bytes,
                            .learned_bytes = learned,
                            .columns = columns,
                            .dtype = llm_info(reading, param->value)->dtype,
                            .is_first = !reading->counted[param->value]};
    reading->counted[param->value] = true;
}

/* Returns true for the scores of a choice and for a few factors of whole rows: GPUs that divide
 * the products of the same operand each compute them. */
static bool stands_apart(const struct llm_reading *reading, uint32_t value, int64_t columns) {
    return reading->chosen_from[value] || columns < LLM_MIN_DIVIDED;
}

static int64_t last_dim(const struct llm_reading *reading, uint32_t value) {
    const struct shape *shape = &llm_info(reading, value)->shape;
    return shape->rank > 0 && is_known(shape->dims[shape->rank - 1])
               ? shape->dims[shape->rank - 1]
               : 1;
}

/* Returns index + 1 of the last product with the weight; 0. */
static uint32_t find_product(const struct language *language, uint32_t value) {
    for (size_t i = language->n_weights; i-- > 0 && i + 64 > language->n_weights;)
        if (language->weights[i].value == value) return language->weights[i].product + 1;
    return 0;
}

/* Returns one of the last products that has the same operand and rows: they run as one. NULL if
 * there is none. */
static struct llm_product *joined_product(const struct llm_reading *reading, uint32_t operand,
                                          double rows) {
    enum { NEAR = 4 };
    struct language *language = reading->language;
    const uint32_t origin = llm_origin(reading, operand);
    struct llm_product *found = NULL;
    for (size_t i = language->n_products; i > 0 && i + NEAR > language->n_products; i--) {
        struct llm_product *other = &language->products[i - 1];
        const struct node *node = llm_node(reading, other->node);
        if (other->experts == 0 && other->rows == rows &&
            !stands_apart(reading, node->outputs[0], other->columns) &&
            llm_origin(reading, node->inputs[0]) == origin)
            found = other;
    }
    return found;
}

static void count_experts(struct language *language, int64_t elements, int64_t experts,
                          int64_t chosen) {
    checked_add_to(&language->expert_params, elements);
    checked_add_to(&language->chosen_params, checked_mul(elements / experts, chosen));
}

/* Adds a matrix product with the weight; `lookup` is the node that looks up its experts. */
static void read_product(struct llm_reading *reading, uint32_t id, uint32_t lookup) {
    struct language *language = reading->language;
    const struct params_table *params = reading->core->params;
    const uint32_t index = llm_largest_param(reading, lookup != ID_NONE ? lookup : id);
    const struct param *param = &params->params[index];
    const struct node *node = llm_node(reading, id);
    const struct shape *shape = &llm_info(reading, param->value)->shape;
    const int64_t macs = reading->core->count->nodes[id].costs.macs;
    const bool is_stack = op_primitive_kind(llm_op(reading, id)) == CM_GEMM && shape->rank >= 3;
    const int64_t chosen = is_stack ? chosen_of(reading, shape->dims[0]) : 0;
    const int64_t experts = chosen > 0 ? shape->dims[0] : 0;
    const int64_t matrix = experts > 0 ? param->elements / experts : param->elements;
    const uint32_t operand =
        node->inputs[lookup != ID_NONE && expert_lookup(reading, node->inputs[0]) == lookup];
    const uint32_t factor = node->inputs[operand == node->inputs[0] && node->n_inputs > 1];
    const bool is_one = experts > 1 && llm_elements(reading, factor) == matrix;
    if (is_one && reading->counted[param->value]) { /* a further expert of the stack */
        reading->product[id] = find_product(language, param->value);
        return;
    }
    int64_t columns = llm_elements(reading, node->outputs[0]) / reading->tokens;
    double rows = matrix > 0 && macs > 0 ? (double)macs / (double)matrix : 0;
    if (experts > 0) {
        columns = is_one ? last_dim(reading, node->outputs[0])
                         : columns / (lookup != ID_NONE ? chosen : experts);
        rows = (double)(chosen * reading->tokens);
    } else if (rows > 0) {
        columns = (int64_t)((double)llm_elements(reading, node->outputs[0]) / rows);
    }
    if (columns < 1) columns = 1;
    const double per_token = rows / (double)reading->tokens;
    struct llm_product *product =
        experts > 0 || lookup != ID_NONE || stands_apart(reading, node->outputs[0], columns)
            ? NULL
            : joined_product(reading, operand, per_token);
    const bool is_new = product == NULL;
    if (is_new) {
        product = add_product(reading, id);
        product->rows = per_token;
        product->experts = experts;
        product->chosen = chosen;
        product->dtype =
            llm_info(reading, llm_is_data(reading, operand) ? operand : node->outputs[0])
                ->dtype;
        product->inner = matrix / columns;
        if (rows <= 1 && reading->tokens > 1) product->rows = 0;
    }
    reading->product[id] = (uint32_t)(product - language->products) + 1;
    checked_add_to(&product->columns, columns);
    checked_add_to(&product->elements, param->elements);
    add_weight(reading, id, index, columns);
    language->weights[language->n_weights - 1].product = reading->product[id] - 1;
    struct region region = {.number = reading->item_of_product[reading->product[id] - 1]};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const bool is_weight =
            lookup != ID_NONE && expert_lookup(reading, node->inputs[i]) == lookup;
        if (!is_weight && (i == 0 || lookup != ID_NONE))
            take_region(reading, node->inputs[i], 0, MAX_DEPTH, &region);
    }
    region.chooses = true;
    if (lookup != ID_NONE)
        take_region(reading, llm_node(reading, lookup)->inputs[1], 0, MAX_DEPTH, &region);
    if (region.computes && is_new)
        product->moved =
            checked_add(region.moved, llm_bytes(reading, operand)) / reading->tokens;
    if (experts > 0) {
        count_experts(language, param->elements, experts, chosen);
        if (language->n_experts == 0) {
            language->n_experts = (size_t)experts;
            language->n_chosen = (size_t)chosen;
        }
    }
}

/* Adds the product with the stack of matrices in a slot. `first` is the item of the first
 * product of the operator: the last reads the results of the others. */
static void add_experts(struct llm_reading *reading, uint32_t id, uint32_t slot, uint32_t first,
                        bool is_last) {
    struct language *language = reading->language;
    const struct node *node = llm_node(reading, id);
    const uint32_t index = reading->core->params->of_value[node->inputs[slot]];
    const struct param *param = &reading->core->params->params[index];
    const struct shape *shape = &llm_info(reading, node->inputs[slot])->shape;
    const struct attr *attr = node_attr(node, "k");
    const int64_t experts = shape->dims[0];
    const int64_t chosen = attr && attr->i < experts ? attr->i : attr ? experts : 1;
    struct region region = {.number = reading->n_items + 1};
    struct llm_product *product = add_product(reading, id);
    product->experts = experts;
    product->chosen = chosen;
    product->rows = (double)chosen;
    product->columns = shape->dims[1];
    product->inner = param->elements / experts / shape->dims[1];
    product->elements = param->elements;
    product->dtype = llm_info(reading, node->inputs[0])->dtype;
    if (region.number == first || !is_last) {
        take_region(reading, node->inputs[0], 0, MAX_DEPTH, &region);
        take_region(reading, node->inputs[1], experts, MAX_DEPTH, &region); /* of the choice */
    } else {
        int64_t columns = product->inner;
        for (uint32_t item = first; item < region.number; item++) {
            add_edge(reading, item, region.number, false);
            checked_add_to(&columns, language->products[reading->items[item].index].columns);
        }
        const int64_t bytes = dtype_bytes(product->dtype, checked_mul(columns, chosen));
        product->moved = is_known(bytes) ? bytes : 0; /* activation */
    }
    add_weight(reading, id, index, product->columns);
    language->weights[language->n_weights - 1].bytes = param->bytes;
    language->weights[language->n_weights - 1].learned_bytes = param->bytes;
    count_experts(language, param->elements, experts, chosen);
    language->n_experts = (size_t)experts;
    language->n_chosen = (size_t)chosen;
}

/* An operator with experts: a product for each stack of matrices. Scales, zero points and
 * biases follow their matrices. */
static void read_experts(struct llm_reading *reading, uint32_t id) {
    enum { MOST = 3 };
    struct language *language = reading->language;
    const struct params_table *params = reading->core->params;
    const struct node *node = llm_node(reading, id);
    const uint32_t slots = llm_op(reading, id)->facets->experts;
    const uint32_t first = reading->n_items + 1;
    const size_t first_weight = language->n_weights;
    uint32_t stacks[MOST], n = 0;
    bool is_stack[32] = {false};
    for (uint32_t slot = 0; slot < node->n_inputs && slot < 32 && n < MOST; slot++) {
        const uint32_t value = (slots & (1U << slot)) ? node->inputs[slot] : ID_NONE;
        const uint32_t index = value == ID_NONE ? ID_NONE : params->of_value[value];
        if (index == ID_NONE || params->params[index].kind != PARAM_LEARNED) continue;
        const struct shape *shape = &llm_info(reading, value)->shape;
        is_stack[slot] = shape->rank >= 3 && shape->dims[0] > 0 && shape->dims[1] > 0;
        if (is_stack[slot]) stacks[n++] = slot;
    }
    /* the second is multiplied last */
    if (n > 0) add_experts(reading, id, stacks[0], first, n == 1);
    if (n > 2) add_experts(reading, id, stacks[2], first, false);
    if (n > 1) add_experts(reading, id, stacks[1], first, true);
    struct llm_weight *weight = NULL;
    for (uint32_t slot = 0; slot < node->n_inputs && slot < 32 && n > 0; slot++) {
        if (is_stack[slot]) {
            const size_t place = slot == stacks[0] ? 0 : slot == stacks[1] ? n - 1 : 1;
            weight = &language->weights[first_weight + place];
        }
        const uint32_t value = (slots & (1U << slot)) ? node->inputs[slot] : ID_NONE;
        const uint32_t index = value == ID_NONE ? ID_NONE : params->of_value[value];
        if (is_stack[slot] || index == ID_NONE || !weight) continue;
        const struct param *param = &params->params[index];
        const struct shape *shape = &llm_info(reading, value)->shape;
        const struct llm_product *product = &language->products[weight->product];
        if (shape->rank < 2 || shape->dims[0] != product->experts) continue;
        checked_add_to(&weight->bytes, param->bytes);
        if (param->kind != PARAM_LEARNED) continue;
        checked_add_to(&weight->learned_bytes, param->bytes);
        count_experts(language, param->elements, product->experts, product->chosen);
    }
}

/* Marks the product whose result is an output of the model with the most columns. */
static int mark_logits(struct llm_reading *reading) {
    enum { FAR = 8 }; /* nodes after the product */
    const struct model *model = reading->core->model;
    const struct graph *graph = &model->graphs[0];
    struct language *language = reading->language;
    struct llm_product *found = NULL;
    /* By value: FAR less the elementwise nodes up to an output. */
    uint8_t *near = arena_array(reading->core->arena, model->n_values, sizeof *near);
    if (!near) return diag_no_memory(reading->core->diag);
    for (size_t i = 0; i < graph->n_outputs; i++) near[graph->outputs[i]] = FAR;
    for (size_t i = graph->n_nodes; i-- > 0;) {
        const struct node *node = llm_node(reading, graph->nodes[i]);
        const uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
        if (output == ID_NONE || near[output] == 0 || llm_is_product(reading, graph->nodes[i]))
            continue;
        const int64_t elements = llm_elements(reading, output);
        for (uint32_t k = 0; k < node->n_inputs; k++)
            if (node->inputs[k] != ID_NONE && near[node->inputs[k]] < near[output] &&
                llm_elements(reading, node->inputs[k]) == elements)
                near[node->inputs[k]] = (uint8_t)(near[output] - 1);
    }
    for (size_t i = 0; i < language->n_products; i++) {
        struct llm_product *product = &language->products[i];
        const uint32_t output = llm_node(reading, product->node)->outputs[0];
        if ((!found || product->columns >= found->columns) && output != ID_NONE &&
            near[output] > 0)
            found = product;
    }
    if (found) found->is_logits = true;
    return CM_OK;
}

/* --- Tables, states, totals. --- */

/* Tables of positions limit the context: a stored matrix of which rows are looked up by
 * something else than the token ids. */
static void read_positions(struct llm_reading *reading, uint32_t id) {
    struct language *language = reading->language;
    const struct node *node = llm_node(reading, id);
    const struct op_facets *facets = llm_op(reading, id)->facets;
    const uint32_t slots = facets ? facets->parts | facets->lookups : 0;
    for (uint32_t slot = 0; slot < node->n_inputs && slot < 32; slot++) {
        const uint32_t value = node->inputs[slot];
        if (!(slots & (1U << slot)) || value == ID_NONE || llm_is_data(reading, value) ||
            llm_rank(reading, value) != 2)
            continue;
        const int64_t rows = llm_info(reading, value)->shape.dims[0];
        if (rows >= MIN_POSITIONS &&
            (language->max_context == 0 || rows < language->max_context))
            language->max_context = rows;
    }
}

/* Inputs whose size does not depend on the number of tokens: states, or buffers of a cache that
 * has room for a fixed number of tokens. */
static void read_lookup(struct llm_reading *reading, uint32_t id) {
    struct language *language = reading->language;
    const uint32_t index = llm_largest_param(reading, id);
    if (index == ID_NONE) return;
    const struct param *param = &reading->core->params->params[index];
    const struct node *node = llm_node(reading, id);
    if (llm_rank(reading, param->value) != 2 || node->n_inputs < 2) return;
    const uint32_t ids = llm_origin(reading, node->inputs[1]);
    const int64_t experts = llm_info(reading, param->value)->shape.dims[0];
    if (ids != reading->roles->tokens) {
        if (language->hidden > 0 && !reading->of_tokens[ids] &&
            llm_info(reading, param->value)->shape.dims[1] == language->hidden)
            read_positions(reading, id);
        if (chosen_of(reading, experts) == 0 || reading->counted[param->value]) return;
        reading->counted[param->value] = true; /* biases of experts */
        checked_add_to(&language->expert_params, param->elements);
        checked_add_to(&language->chosen_params,
                       param->elements / experts * chosen_of(reading, experts));
        return;
    }
    if (language->embedding == 0) {
        const struct shape *shape = &llm_info(reading, node->outputs[0])->shape;
        language->hidden = shape->rank > 0 ? shape->dims[shape->rank - 1] : 0;
        language->activations = llm_info(reading, node->outputs[0])->dtype;
    }
    checked_add_to(&language->embedding, param->elements);
    add_weight(reading, id, index, llm_info(reading, param->value)->shape.dims[0]);
    language->weights[language->n_weights - 1].product = LLM_TABLE;
    checked_add_to(&language->embedding_bytes,
                   llm_bytes(reading, node->outputs[0]) / reading->tokens);
}

static void read_params(struct llm_reading *reading) {
    struct language *language = reading->language;
    const struct params_table *params = reading->core->params;
    int64_t largest = 0;
    for (size_t i = 0; i < params->n_params; i++) {
        const struct param *param = &params->params[i];
        checked_add_to(&language->stored_elements, param->elements);
        if (param->kind == PARAM_LEARNED) {
            checked_add_to(&language->params, param->elements);
            checked_add_to(&language->weight_bytes, param->bytes);
            if (param->elements > largest) {
                largest = param->elements;
                language->dtype = llm_info(reading, param->value)->dtype;
            }
        } else if (param->kind == PARAM_BUFFER) {
            checked_add_to(&language->buffer_bytes, param->bytes);
        }
    }
    for (uint32_t value = 0; value < reading->core->model->n_values; value++)
        if (is_unlisted(reading, value))
            checked_add_to(&language->buffer_bytes, llm_bytes(reading, value));
}

/* Returns by value the first attention that depends on it, without one between them; 0. */
static uint32_t *first_attentions(const struct llm_reading *reading) {
    const struct graph *graph = &reading->core->model->graphs[0];
    uint32_t *first =
        arena_array(reading->core->arena, reading->core->model->n_values, sizeof *first);
    for (size_t i = first ? graph->n_nodes : 0; i-- > 0;) {
        const uint32_t id = graph->nodes[i];
        const struct node *node = llm_node(reading, id);
        uint32_t found = reading->attention[id];
        if (llm_op(reading, id)->memory == MEMORY_SHAPE_ONLY) continue;
        for (uint32_t k = 0; k < node->n_outputs && reading->attention[id] == 0; k++) {
            const uint32_t of = node->outputs[k] == ID_NONE ? 0 : first[node->outputs[k]];
            if (of != 0 && (found == 0 || of < found)) found = of;
        }
        for (uint32_t k = 0; k < node->n_inputs && found != 0; k++) {
            const uint32_t input = node->inputs[k];
            if (input != ID_NONE && (first[input] == 0 || found < first[input]))
                first[input] = found;
        }
    }
    return first;
}

/* Caches from which products compute keys and values: latent vectors. */
static int read_latent_caches(struct llm_reading *reading) {
    struct language *language = reading->language;
    const struct graph *graph = &reading->core->model->graphs[0];
    const uint32_t *first = first_attentions(reading);
    if (!first) return diag_no_memory(reading->core->diag);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t id = graph->inputs[i];
        if (reading->roles->cache[id] != CACHE_GROWS || reading->counted[id] ||
            reading->past <= 0)
            continue;
        const uint32_t found = first[id];
        if (!found) continue;
        struct llm_attention *attention = &language->attentions[found - 1];
        if (attention->cache == CACHE_NONE) {
            attention->expanded =
                attention->expanded > 0 ? attention->expanded : attention->cached;
            attention->cached = 0;
            attention->cache = CACHE_GROWS;
            attention->dtype = llm_info(reading, id)->dtype;
        }
        reading->counted[id] = true;
        checked_add_to(&attention->cached, llm_elements(reading, id) / reading->past);
        attention->latent = attention->cached;
    }
    return CM_OK;
}

static void read_states(struct llm_reading *reading) {
    struct language *language = reading->language;
    const struct graph *graph = &reading->core->model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t id = graph->inputs[i];
        if (reading->roles->cache[id] != CACHE_STATE || reading->counted[id]) continue;
        checked_add_to(&language->state_elements, llm_elements(reading, id));
        checked_add_to(&language->state_bytes, llm_bytes(reading, id));
    }
    for (size_t i = 0; i < language->n_attentions; i++) { /* static caches */
        struct llm_attention *attention = &language->attentions[i];
        if (attention->cache == CACHE_STATE) attention->cache = CACHE_BUFFER;
    }
}

static int by_product(const void *a, const void *b) {
    const struct llm_weight *left = a, *right = b;
    if (left->product != right->product) return left->product < right->product ? -1 : 1;
    return left->node < right->node ? -1 : left->node > right->node;
}

/* Adds the weight of a product that no step computes: an encoder's, or keys of the source. */
static void read_stored(struct llm_reading *reading, uint32_t id) {
    const uint32_t index = llm_largest_param(reading, id);
    const struct shape *shape = &llm_info(reading, llm_node(reading, id)->outputs[0])->shape;
    if (index == ID_NONE || llm_weight_of(reading, id) == ID_NONE || shape->rank < 1) return;
    add_weight(reading, id, index, shape->dims[shape->rank - 1]);
    reading->language->weights[reading->language->n_weights - 1].product = LLM_TABLE;
}

/* Returns true if each new token needs what the node computed from earlier ones: a convolution
 * over several tokens, a recurrence. */
static bool keeps_state(const struct llm_reading *reading, uint32_t id) {
    const struct op *op = llm_op(reading, id);
    const int32_t kind = op_primitive_kind(op);
    const struct node *node = llm_node(reading, id);
    if (kind == CM_RNN) return true;
    if (kind != CM_CONV || op->weight >= node->n_inputs) return false;
    const struct shape *weight = &llm_info(reading, node->inputs[op->weight])->shape;
    return reading->of_tokens[node->inputs[0]] && shape_product(weight, 2, weight->rank) > 1;
}

static void read_node(struct llm_reading *reading, uint32_t id) {
    const struct op *op = llm_op(reading, id);
    const struct node *node = llm_node(reading, id);
    const int64_t macs = reading->core->count->nodes[id].costs.macs;
    if (op->facets && op->facets->attends) read_positions(reading, id);
    if (reading->attention[id]) {
        const uint32_t index = reading->attention[id] - 1;
        if (reading->language->attentions[index].node != id) return; /* its scores */
        if (llm_weight_of(reading, id) != ID_NONE && op->facets->attends)
            read_product(reading, id, ID_NONE); /* its projection */
        const uint32_t own = reading->product[id];
        struct region region = {.number = add_item(reading, true, index)};
        if (own) add_edge(reading, reading->item_of_product[own - 1], region.number, false);
        for (uint32_t i = 0; i < node->n_inputs; i++)
            take_region(reading, node->inputs[i], 0, MAX_DEPTH, &region);
        return;
    }
    if (op->facets && op->facets->experts) {
        read_experts(reading, id);
        return;
    }
    if (op_looks_up(op)) {
        read_lookup(reading, id);
        return;
    }
    if (!llm_is_product(reading, id) || node->n_outputs == 0 || node->outputs[0] == ID_NONE ||
        !llm_is_data(reading, node->outputs[0]))
        return;
    if (!reading->of_step[node->outputs[0]]) {
        read_stored(reading, id);
        return;
    }
    if (keeps_state(reading, id)) reading->language->lacks_state = true;
    uint32_t lookup = ID_NONE;
    for (uint32_t i = 0; i < node->n_inputs && i < 2 && lookup == ID_NONE; i++)
        lookup = expert_lookup(reading, node->inputs[i]);
    if (lookup != ID_NONE || llm_weight_of(reading, id) != ID_NONE)
        read_product(reading, id, lookup);
    else if (macs > 0)
        reading->language->other_macs += (double)macs / (double)reading->tokens;
}

int llm_describe(const struct analysis *core, const struct llm_roles *roles, int64_t tokens,
                 int64_t past, struct language *ret) {
    const struct model *model = core->model;
    struct arena *arena = core->arena;
    struct llm_reading reading = {
        .core = core, .roles = roles, .language = ret, .tokens = tokens, .past = past};
    *ret = (struct language){.core = core, .roles = roles};
    reading.product = arena_array(arena, model->n_nodes, sizeof *reading.product);
    reading.attention = arena_array(arena, model->n_nodes, sizeof *reading.attention);
    reading.region = arena_array(arena, model->n_nodes, sizeof *reading.region);
    reading.reduced = arena_array(arena, model->n_nodes, sizeof *reading.reduced);
    reading.of_tokens = arena_array(arena, model->n_values, sizeof *reading.of_tokens);
    reading.chosen_from = arena_array(arena, model->n_values, sizeof *reading.chosen_from);
    reading.of_step = arena_array(arena, model->n_values, sizeof *reading.of_step);
    reading.counted = arena_array(arena, model->n_values, sizeof *reading.counted);
    reading.cached_by = arena_array(arena, model->n_values, sizeof *reading.cached_by);
    reading.stored = arena_array(arena, model->n_values, sizeof *reading.stored);
    reading.charged = arena_array(arena, model->n_values, sizeof *reading.charged);
    reading.items = arena_array(arena, 4 * model->n_nodes + 2, sizeof *reading.items);
    reading.item_of_product =
        arena_array(arena, 3 * model->n_nodes + 1, sizeof *reading.item_of_product);
    reading.item_of_attention =
        arena_array(arena, model->n_nodes + 1, sizeof *reading.item_of_attention);
    ret->products = arena_array(arena, 3 * model->n_nodes + 1, sizeof *ret->products);
    ret->weights = arena_array(arena, 3 * model->n_nodes + 1, sizeof *ret->weights);
    if (arena_failed(arena)) return diag_no_memory(core->diag);
    mark_tokens(&reading);
    mark_scores(&reading);
    int status = list_choices(&reading);
    if (status == CM_OK) status = llm_find_attention(&reading);
    if (status < 0) return status;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].n_nodes; i++)
            read_node(&reading, model->graphs[g].nodes[i]);
    if (ret->n_weights > 0)
        sort_stable(ret->weights, ret->n_weights, sizeof *ret->weights, by_product);
    status = llm_divide(&reading);
    if (status == CM_OK) status = mark_logits(&reading);
    if (status == CM_OK) status = read_latent_caches(&reading);
    if (status < 0) return status;
    read_states(&reading);
    if (ret->state_bytes > 0 || ret->is_bidirectional) ret->lacks_state = false;
    read_params(&reading);
    return arena_failed(arena) ? diag_no_memory(core->diag) : CM_OK;
}
