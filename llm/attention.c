/* SPDX-License-Identifier: Apache-2.0 */
/* Finds attention, its caches and its windows. Attention is an operator, or two products of
 * activations with a softmax between them. Keys and values are followed through views, repeated
 * heads and casts to the tensor that a cache stores: one that extends an input, or what the
 * model computes per token. */
#include "llm/reading.h"

#include "passes/fusion/fuse_patterns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_PATH   64   /* nodes from a product to a softmax, or to a stored tensor */
#define MAX_WALK   256  /* operands that one search visits */
#define MAX_MASKS  4    /* of one attention */
#define MAX_MASK   2048 /* operands of nodes that compute a mask */
#define MAX_PARTS  32   /* values that are put together, visited by one search */
#define MAX_LEAVES 8    /* parts of which keys are put together */

static bool is_activation_product(const struct llm_reading *reading, uint32_t id) {
    const struct node *node = llm_node(reading, id);
    return op_primitive_kind(llm_op(reading, id)) == CM_GEMM && node->n_inputs >= 2 &&
           llm_is_data(reading, node->inputs[0]) && llm_is_data(reading, node->inputs[1]) &&
           llm_weight_of(reading, id) == ID_NONE;
}

/* Returns the operand of the softmax that the node computes, alone or as a pattern; ID_NONE. */
static uint32_t softmax_operand(const struct llm_reading *reading, uint32_t id) {
    const struct fused_patterns_table *patterns = reading->core->fused_patterns;
    const uint32_t index = patterns->of_node[id];
    const struct fused_pattern *pattern = index == ID_NONE ? NULL : &patterns->items[index];
    if (op_primitive_kind(llm_op(reading, id)) == CM_SOFTMAX)
        return llm_node(reading, id)->inputs[0];
    return pattern && pattern->last == id && op_primitive_kind(pattern->op) == CM_SOFTMAX
               ? pattern->node->inputs[0]
               : ID_NONE;
}

struct path {
    uint32_t masks[MAX_MASKS]; /* other operands of the nodes on the path */
    size_t n_masks;
    int left; /* operands that may still be visited */
};

/* Walks from `value` to its sources up to a softmax (`scores` false), whose operand is
 * returned, or to a product of activations, whose node is returned; ID_NONE. */
static uint32_t walk_up(const struct llm_reading *reading, uint32_t value, bool scores,
                        struct path *path) {
    const uint32_t id = path->left-- > 0 ? llm_producer(reading, value) : ID_NONE;
    if (id == ID_NONE || !llm_is_data(reading, value)) return ID_NONE;
    if (scores && is_activation_product(reading, id)) return id;
    const uint32_t operand = scores ? ID_NONE : softmax_operand(reading, id);
    if (operand != ID_NONE) return operand;
    if (llm_is_product(reading, id)) return ID_NONE;
    const struct node *node = llm_node(reading, id);
    uint32_t found = ID_NONE, at = 0;
    for (; at < node->n_inputs && found == ID_NONE && path->left > 0; at++)
        found = walk_up(reading, node->inputs[at], scores, path);
    for (uint32_t i = 0; scores && found != ID_NONE && i < node->n_inputs && i < MAX_WALK; i++)
        if (i + 1 != at && node->inputs[i] != ID_NONE && path->n_masks < MAX_MASKS &&
            llm_elements(reading, node->inputs[i]) > 1)
            path->masks[path->n_masks++] = node->inputs[i];
    return found;
}

/* --- Windows. --- */

/* Returns true for initializers and nodes without operands; sizes of dims are constants of one
 * analysis, but are not stored. */
static bool is_stored(const struct llm_reading *reading, uint32_t value) {
    const uint32_t origin = llm_origin(reading, value);
    const uint32_t id = llm_producer(reading, origin);
    return reading->core->model->values[origin].constant ||
           (id != ID_NONE && llm_node(reading, id)->n_inputs == 0);
}

/* Returns the stored integer n of `x + n`, `x - n`, `x / n` or `x / n - remainder` (of a floor
 * division); 0 if there is none. */
static int64_t offset_of(const struct llm_reading *reading, uint32_t value, int depth) {
    const uint32_t id = llm_producer(reading, value);
    if (id == ID_NONE) return 0;
    const struct node *node = llm_node(reading, id);
    const enum op_algebra algebra = llm_op(reading, id)->algebra;
    const uint32_t passed = algebra == ALGEBRA_QUOTIENT ? ID_NONE : llm_passed(reading, id);
    if (depth <= 0) return 0;
    if (passed != ID_NONE) return offset_of(reading, passed, depth - 1);
    if ((algebra != ALGEBRA_SUM && algebra != ALGEBRA_DIFFERENCE &&
         algebra != ALGEBRA_QUOTIENT) ||
        node->n_inputs != 2)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t operand = node->inputs[i];
        const struct value_info *info = llm_info(reading, operand);
        if (!is_stored(reading, operand) || !info->value || shape_elements(&info->shape) != 1)
            continue;
        const struct constant *constant =
            constant_loaded(info->value, &reading->core->model->reader, reading->core->arena);
        if (!constant || !constant_has_ints(constant)) continue;
        const int64_t n = constant_int_at(constant, 0);
        return n < 0 ? -n : n;
    }
    const uint32_t from = llm_producer(reading, node->inputs[0]);
    return algebra == ALGEBRA_DIFFERENCE && from != ID_NONE &&
                   llm_op(reading, from)->algebra == ALGEBRA_QUOTIENT
               ? offset_of(reading, node->inputs[0], depth - 1)
               : 0;
}

/* Returns the rows of the matrices in the tensor. */
static int64_t n_rows(const struct llm_reading *reading, uint32_t value) {
    const struct shape *shape = &llm_info(reading, value)->shape;
    return shape->rank > 1 ? shape->dims[shape->rank - 2] : 0;
}

/* Returns true if the node compares positions of queries and keys, or makes a triangle. */
static bool orders(const struct llm_reading *reading, uint32_t id) {
    const struct node *node = llm_node(reading, id);
    const struct op_facets *facets = llm_op(reading, id)->facets;
    const uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    if (facets && facets->triangle) return true;
    if (output == ID_NONE || node->n_inputs != 2 || n_rows(reading, output) < 2) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (node->inputs[i] == ID_NONE || llm_elements(reading, node->inputs[i]) < 2 ||
            llm_elements(reading, node->inputs[i]) >= llm_elements(reading, output) ||
            !dtype_is_integer(llm_info(reading, node->inputs[i])->dtype))
            return false;
    return true;
}

struct mask_search {
    uint32_t *visited; /* by node: number of the search */
    uint32_t number;
    int left;
    int64_t window; /* smallest so far; 0: none */
    bool is_causal; /* positions are compared, or the mask is stored or an input */
};

/* Searches the nodes that compute a mask for comparisons of positions with an offset. */
static void search_mask(const struct llm_reading *reading, uint32_t value,
                        struct mask_search *search) {
    const uint32_t id = search->left-- > 0 ? llm_producer(reading, value) : ID_NONE;
    const int rank = llm_rank(reading, value);
    /* padding has one row */
    if (id == ID_NONE && (rank > 2 || !llm_is_data(reading, value)) &&
        n_rows(reading, value) > 1)
        search->is_causal = true;
    if (id == ID_NONE || search->visited[id] == search->number || llm_is_product(reading, id) ||
        llm_op(reading, id)->memory == MEMORY_SHAPE_ONLY)
        return;
    const struct node *node = llm_node(reading, id);
    const struct op *op = llm_op(reading, id);
    search->visited[id] = search->number;
    const bool compares = op->facets && op->facets->lowering.kind == CM_ELTWISE &&
                          op->facets->lowering.which == CM_COMPARE;
    if ((compares || (op->facets && op->facets->triangle)) && orders(reading, id))
        search->is_causal = true;
    if (compares)
        for (uint32_t i = 0; i < node->n_inputs && i < 2; i++) {
            const int64_t n = offset_of(reading, node->inputs[i], MAX_PATH);
            if (n > 1 && (search->window == 0 || n < search->window)) search->window = n;
        }
    for (uint32_t i = 0; i < node->n_inputs && search->left > 0; i++)
        if (node->inputs[i] != ID_NONE) search_mask(reading, node->inputs[i], search);
}

/* --- Keys and values. --- */

struct stored {
    uint32_t value;   /* what a cache would store */
    uint32_t input;   /* the input that it extends; ID_NONE */
    int64_t elements; /* of the value, or of the part that is read */
};

static bool is_concat(const struct op *op) {
    return op->facets && op->facets->qdq.joins;
}

/* Returns the cache that the value is or extends; ID_NONE. `left`: values that may still be
 * visited. */
static uint32_t search_cache(const struct llm_reading *reading, uint32_t value, int *left) {
    if ((*left)-- <= 0) return ID_NONE;
    const uint32_t origin = llm_origin(reading, value);
    if (reading->roles->cache[origin] != CACHE_NONE) return origin;
    const uint32_t id = llm_producer(reading, origin);
    if (id == ID_NONE) return ID_NONE;
    const struct node *node = llm_node(reading, id);
    const struct op *op = llm_op(reading, id);
    if (op_primitive_kind(op) == CM_SCATTER)
        return search_cache(reading, node->inputs[0], left);
    uint32_t found = ID_NONE;
    for (uint32_t i = 0; is_concat(op) && i < node->n_inputs && found == ID_NONE && *left > 0;
         i++)
        if (node->inputs[i] != ID_NONE) found = search_cache(reading, node->inputs[i], left);
    return found;
}

static uint32_t cache_of(const struct llm_reading *reading, uint32_t value) {
    int left = MAX_PARTS;
    return search_cache(reading, value, &left);
}

static struct stored stored_of(const struct llm_reading *reading, uint32_t value) {
    struct stored ret = {value, ID_NONE, llm_elements(reading, value)};
    for (int left = MAX_PATH; left > 0; left--) {
        const uint32_t id = llm_producer(reading, ret.value);
        const uint32_t passed = id == ID_NONE ? ID_NONE : llm_passed(reading, id);
        if (passed == ID_NONE) break;
        ret.value = passed;
        const int64_t elements = llm_elements(reading, passed);
        if (elements > 0 && elements < ret.elements) ret.elements = elements;
    }
    ret.input = cache_of(reading, ret.value);
    return ret;
}

/* --- Latent vectors. --- */

struct leaves {
    uint32_t values[MAX_LEAVES]; /* products, or what else the keys are put together from */
    int64_t elements[MAX_LEAVES];
    size_t n;
    int left; /* values that may still be visited */
};

/* Lists the parts of a tensor that is put together by Concat or written in parts. */
static void list_leaves(const struct llm_reading *reading, uint32_t value, int64_t elements,
                        struct leaves *ret) {
    for (;;) {
        const uint32_t id = llm_producer(reading, value);
        const int64_t own = llm_elements(reading, value);
        if (own > 0 && own < elements) elements = own;
        const uint32_t passed = id == ID_NONE ? ID_NONE : llm_passed(reading, id);
        if (passed != ID_NONE && ret->left-- > 0) {
            value = passed;
            continue;
        }
        const bool joins = id != ID_NONE && ret->left > 0 &&
                           (is_concat(llm_op(reading, id)) ||
                            op_primitive_kind(llm_op(reading, id)) == CM_SCATTER);
        if (!joins) break;
        const struct node *node = llm_node(reading, id);
        for (uint32_t i = 0; i < node->n_inputs && ret->left-- > 0; i++)
            if (node->inputs[i] != ID_NONE && llm_is_data(reading, node->inputs[i]) &&
                dtype_is_float(llm_info(reading, node->inputs[i])->dtype) &&
                reading->of_tokens[node->inputs[i]])
                list_leaves(reading, node->inputs[i], llm_elements(reading, node->inputs[i]),
                            ret);
        return;
    }
    if (ret->n == MAX_LEAVES || !reading->of_tokens[value]) return;
    ret->values[ret->n] = value;
    ret->elements[ret->n++] = elements;
}

/* Returns the product with weights that alone determines the value; ID_NONE if there are
 * several: the sum of a residual connection. */
static uint32_t sole_product(const struct llm_reading *reading, uint32_t value, int *left) {
    const uint32_t id = llm_producer(reading, value);
    if (id == ID_NONE) return ID_NONE;
    if (llm_is_product(reading, id)) return id;
    uint32_t found = ID_NONE;
    const struct node *node = llm_node(reading, id);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if ((*left)-- <= 0) return ID_NONE;
        if (node->inputs[i] == ID_NONE || !reading->of_tokens[node->inputs[i]]) continue;
        const uint32_t product = sole_product(reading, node->inputs[i], left);
        if (product == ID_NONE || (found != ID_NONE && product != found)) return ID_NONE;
        found = product;
    }
    return found;
}

/* Returns the elements per token of the vector from which keys and values are products: values
 * and a part of the keys are one product of a vector that a narrower product made. The other
 * parts of the keys are kept as they are. 0 if there is none. */
static int64_t latent_of(const struct llm_reading *reading, uint32_t keys, uint32_t values) {
    struct leaves of_keys = {.left = MAX_WALK}, of_values = {.left = MAX_WALK};
    list_leaves(reading, keys, llm_elements(reading, keys), &of_keys);
    list_leaves(reading, values, llm_elements(reading, values), &of_values);
    if (of_values.n != 1 || of_keys.n < 1) return 0;
    const uint32_t up = llm_producer(reading, of_values.values[0]);
    if (up == ID_NONE || llm_weight_of(reading, up) == ID_NONE) return 0;
    int64_t total = 0;
    bool is_shared = false;
    for (size_t i = 0; i < of_keys.n; i++) {
        const bool same = of_keys.values[i] == of_values.values[0];
        is_shared = is_shared || same;
        if (!same) checked_add_to(&total, of_keys.elements[i]);
    }
    int left = MAX_WALK;
    const uint32_t vector = llm_node(reading, up)->inputs[0];
    if (!is_shared || sole_product(reading, vector, &left) == ID_NONE) return 0;
    return checked_add(total, llm_elements(reading, vector)) / reading->tokens;
}

/* --- Attention. --- */

/* Notes that caches or tables have room for `tokens` only. */
static void limit_context(const struct llm_reading *reading, int64_t tokens) {
    struct language *language = reading->language;
    if (tokens > 0 && (language->max_context == 0 || tokens < language->max_context))
        language->max_context = tokens;
}

/* Counts what the cache of keys and values stores, unless an earlier attention did. */
static void read_cache(const struct llm_reading *reading, const uint32_t *operands,
                       int64_t n_keys, struct llm_attention *ret) {
    int64_t elements = 0;
    ret->dtype = llm_info(reading, operands[0])->dtype;
    for (int i = 0; i < 2; i++) {
        const struct stored stored = stored_of(reading, operands[i]);
        const uint32_t value = stored.input != ID_NONE ? stored.input : stored.value;
        if (stored.input != ID_NONE) {
            ret->cache = (enum llm_cache)reading->roles->cache[stored.input];
            ret->dtype = llm_info(reading, stored.input)->dtype;
        }
        ret->is_cross = ret->cache == CACHE_SOURCE ||
                        (stored.input == ID_NONE && !reading->of_tokens[stored.value]);
        const uint32_t number = (uint32_t)reading->language->n_attentions + 1;
        const uint32_t owner = reading->cached_by[value];
        if (owner != 0 && (owner != number || stored.input != ID_NONE)) continue;
        reading->cached_by[value] = number;
        reading->counted[value] = true;
        checked_add_to(&elements, stored.elements);
    }
    ret->cached = n_keys > 0 ? elements / n_keys : 0;
    if (ret->cache == CACHE_STATE) limit_context(reading, n_keys);
    ret->kv_heads = ret->heads;
    const int64_t columns = checked_add(ret->key_columns, ret->value_columns);
    if (ret->cached > 0 && columns > 0 && ret->cached % columns == 0)
        ret->kv_heads = ret->cached / columns;
    if (ret->cached > 0 && !ret->is_cross) {
        const int64_t latent = latent_of(reading, operands[0], operands[1]);
        if (latent > 0 && latent < ret->cached) {
            ret->expanded = ret->cached;
            ret->latent = latent;
            if (ret->cache == CACHE_NONE) ret->cached = latent;
        }
    }
}

static int64_t last_dim(const struct llm_reading *reading, uint32_t value) {
    const struct shape *shape = &llm_info(reading, value)->shape;
    return shape->rank > 0 ? shape->dims[shape->rank - 1] : DIM_UNKNOWN;
}

/* Sets window and is_causal from the tensors that are added to the scores. */
static void search_masks(const struct llm_reading *reading, const uint32_t *masks, size_t n,
                         struct mask_search *search, struct llm_attention *ret) {
    search->window = 0;
    search->is_causal = false;
    for (size_t i = 0; i < n; i++) {
        search->number++;
        search->left = MAX_MASK;
        search_mask(reading, masks[i], search);
    }
    if (search->window > 0) ret->window = search->window;
    ret->is_causal = ret->is_causal || ret->window > 0 || search->is_causal;
}

/* Describes attention of the products `scores` and `result`. False if sizes are unknown. */
static bool read_decomposed(const struct llm_reading *reading, uint32_t scores, uint32_t result,
                            const struct path *path, struct mask_search *search,
                            struct llm_attention *ret) {
    const struct node *first = llm_node(reading, scores), *last = llm_node(reading, result);
    const int64_t n_scores = llm_elements(reading, first->outputs[0]);
    const int64_t n_keys = last_dim(reading, first->outputs[0]);
    const int64_t key_columns = last_dim(reading, first->inputs[0]);
    const int64_t value_columns = last_dim(reading, last->outputs[0]);
    if (n_scores <= 0 || n_keys <= 0 || key_columns <= 0 || value_columns <= 0) return false;
    *ret = (struct llm_attention){.node = result,
                                  .heads = n_scores / n_keys / reading->tokens,
                                  .key_columns = key_columns,
                                  .value_columns = value_columns};
    const uint32_t operands[] = {first->inputs[1], last->inputs[1]};
    read_cache(reading, operands, n_keys, ret);
    search_masks(reading, path->masks, path->n_masks, search, ret);
    return ret->heads > 0;
}

/* Describes attention of one operator. */
static int read_operator(const struct llm_reading *reading, uint32_t id,
                         struct mask_search *search, struct llm_attention *ret,
                         bool *ret_found) {
    const struct op_source source = infer_source(reading->core);
    const struct op_facets *facets = llm_op(reading, id)->facets;
    const struct node *node = llm_node(reading, id);
    struct op_context context;
    struct op_attention sizes = {.keys = -1, .values = -1, .mask = -1};
    const int status = context_make_inferred(&source, id, &context);
    *ret_found = status == CM_OK && facets->attends(&context, &sizes) && sizes.heads > 0 &&
                 sizes.key_columns > 0 && sizes.value_columns > 0;
    if (status < 0 || !*ret_found) return status;
    *ret = (struct llm_attention){.node = id,
                                  .heads = sizes.heads,
                                  .kv_heads = sizes.kv_heads,
                                  .key_columns = sizes.key_columns,
                                  .value_columns = sizes.value_columns,
                                  .window = sizes.window,
                                  .is_causal = sizes.is_causal,
                                  .dtype = llm_info(reading, node->inputs[0])->dtype};
    ret->cached =
        checked_mul(sizes.kv_heads, checked_add(sizes.key_columns, sizes.value_columns));
    if (sizes.mask >= 0 && (uint32_t)sizes.mask < node->n_inputs &&
        node->inputs[sizes.mask] != ID_NONE)
        search_masks(reading, &node->inputs[sizes.mask], 1, search, ret);
    const uint32_t past = facets->extends.n > 0 && facets->extends.operand < node->n_inputs
                              ? node->inputs[facets->extends.operand]
                              : ID_NONE;
    const uint32_t stored = past != ID_NONE ? cache_of(reading, past) : ID_NONE;
    if (stored == ID_NONE && sizes.keys >= 0 && (uint32_t)sizes.keys < node->n_inputs &&
        node->inputs[sizes.keys] != ID_NONE) {
        const uint32_t operands[] = {
            node->inputs[sizes.keys],
            node->inputs[sizes.values < 0 ? sizes.keys : sizes.values]};
        const struct shape *shape = &llm_info(reading, operands[0])->shape;
        const int64_t length = shape->rank == 4   ? shape->dims[2]
                               : shape->rank == 3 ? shape->dims[1]
                                                  : 0;
        if (sizes.values >= 0 && length > 0) {
            read_cache(reading, operands, length, ret);
            if (ret->cached == 0) ret->kv_heads = sizes.kv_heads;
            return CM_OK;
        }
    }
    if (stored == ID_NONE) return CM_OK;
    ret->cache = (enum llm_cache)reading->roles->cache[stored];
    ret->dtype = llm_info(reading, stored)->dtype;
    if (reading->counted[stored]) ret->cached = 0;
    const struct shape *cache = &llm_info(reading, stored)->shape;
    /* [batch, heads, tokens, columns], not pages; keys and values may be stacked */
    if (ret->cache == CACHE_STATE && cache->rank >= 4 &&
        cache->dims[cache->rank - 3] == ret->kv_heads)
        limit_context(reading, cache->dims[cache->rank - 2]);
    for (uint32_t i = facets->extends.operand, k = 0; k < facets->extends.n; i++, k++) {
        const uint32_t other = i < node->n_inputs && node->inputs[i] != ID_NONE
                                   ? cache_of(reading, node->inputs[i])
                                   : ID_NONE;
        if (other != ID_NONE) reading->counted[other] = true;
    }
    return CM_OK;
}

static void add(struct llm_reading *reading, const struct llm_attention *attention) {
    struct language *language = reading->language;
    language->attentions[language->n_attentions++] = *attention;
    reading->attention[attention->node] = (uint32_t)language->n_attentions;
}

int llm_find_attention(struct llm_reading *reading) {
    const struct model *model = reading->core->model;
    struct language *language = reading->language;
    struct mask_search search = {
        .visited = arena_array(reading->core->arena, model->n_nodes + 1, sizeof(uint32_t))};
    language->attentions =
        arena_array(reading->core->arena, model->n_nodes + 1, sizeof *language->attentions);
    if (!language->attentions || !search.visited) return diag_no_memory(reading->core->diag);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].n_nodes; i++) {
            const uint32_t id = model->graphs[g].nodes[i];
            const struct op *op = llm_op(reading, id);
            struct llm_attention attention;
            bool found = false;
            const struct node *node = llm_node(reading, id);
            if (node->n_outputs == 0 || node->outputs[0] == ID_NONE ||
                !reading->of_step[node->outputs[0]])
                continue; /* of an encoder */
            if (op->facets && op->facets->attends) {
                const int status = read_operator(reading, id, &search, &attention, &found);
                if (status < 0) return status;
            } else if (is_activation_product(reading, id)) {
                struct path path = {.left = MAX_WALK};
                const uint32_t operand =
                    walk_up(reading, llm_node(reading, id)->inputs[0], false, &path);
                path.left = MAX_WALK;
                const uint32_t scores =
                    operand == ID_NONE ? ID_NONE : walk_up(reading, operand, true, &path);
                found = scores != ID_NONE &&
                        read_decomposed(reading, scores, id, &path, &search, &attention);
                if (found) reading->attention[scores] = (uint32_t)language->n_attentions + 1;
            }
            if (found) add(reading, &attention);
        }
    language->is_bidirectional = language->n_attentions > 0;
    for (size_t i = 0; i < language->n_attentions; i++)
        if (language->attentions[i].is_causal || language->attentions[i].is_cross ||
            language->attentions[i].cache != CACHE_NONE)
            language->is_bidirectional = false;
    return CM_OK;
}
