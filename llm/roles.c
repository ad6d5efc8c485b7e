/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/roles.h"

#include "ops/op.h"
#include "passes/walk/bind.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#define MAX_VIEWS 4         /* nodes between the token ids and the lookup */
#define MAX_DIMS  4096      /* symbols; a dim of a further one has no role */
#define MAX_PAIRS (1 << 24) /* of inputs and outputs that are compared */

struct finding {
    const struct model *model;
    const struct graph *graph;
    const struct bind_table *bind;
    struct arena *arena;
    struct llm_roles *roles;
    struct llm_dim *dims;
    size_t capacity;
    uint32_t source;   /* token ids of an encoder; ID_NONE */
    bool *taken;       /* by output: an input extends to it */
    size_t first_free; /* outputs before it are taken */
    int64_t left;      /* pairs of inputs and outputs that may still be compared */
};

static bool is_data(const struct value *value) {
    return !value->constant && value->type->kind == CM_TYPE_TENSOR;
}

static const char *symbol_at(const struct type *type, int axis) {
    return type->symbols ? type->symbols[axis] : NULL;
}

static bool is_stored(const struct model *model, uint32_t id) {
    return id != ID_NONE && model->values[id].constant &&
           model->values[id].type->shape.rank != 1;
}

/* Returns the stored table in which the value is looked up, directly or as a view; ID_NONE. */
static uint32_t table_of(const struct finding *finding, uint32_t id, int depth) {
    const struct value *value = &finding->model->values[id];
    for (size_t i = 0; i < value->n_uses; i++) {
        const struct use *use = &value->uses[i];
        const struct node *node = &finding->model->nodes[use->node];
        const struct op *op = finding->bind->ops[use->node];
        if (use->slot == 1 && op_looks_up(op) && is_stored(finding->model, node->inputs[0]))
            return node->inputs[0];
        const bool is_view = op->memory == MEMORY_VIEW || op->algebra == ALGEBRA_IDENTITY;
        const uint32_t found = use->slot == 0 && is_view && depth > 0
                                   ? table_of(finding, node->outputs[0], depth - 1)
                                   : ID_NONE;
        if (found != ID_NONE) return found;
    }
    return ID_NONE;
}

/* Returns the table of token ids or of other integers; ID_NONE. */
static uint32_t table_of_input(const struct finding *finding, uint32_t id) {
    const struct value *value = &finding->model->values[id];
    const int rank = value->type->shape.rank;
    return is_data(value) && dtype_is_integer(value->type->dtype) && (rank == 1 || rank == 2)
               ? table_of(finding, id, MAX_VIEWS)
               : ID_NONE;
}

/* Finds the token ids; without any, the first floats [batch, sequence, columns]. Of several
 * integers that are looked up, in tables of the same shape, the last are the tokens of the
 * decoder; the dims of the others are the source. */
static uint32_t find_tokens(struct finding *finding) {
    const struct graph *graph = finding->graph;
    const struct value *values = finding->model->values;
    uint32_t found = ID_NONE, table = ID_NONE;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t at = table_of_input(finding, graph->inputs[i]);
        if (at == ID_NONE || (table != ID_NONE && !shape_equal(&values[at].type->shape,
                                                               &values[table].type->shape)))
            continue;
        finding->source = found;
        found = graph->inputs[i];
        table = at;
    }
    for (size_t i = 0; i < graph->n_inputs && found == ID_NONE; i++) {
        const struct value *value = &values[graph->inputs[i]];
        if (is_data(value) && dtype_is_float(value->type->dtype) &&
            value->type->shape.rank == 3 && is_known(value->type->shape.dims[2]))
            found = graph->inputs[i];
    }
    return found;
}

static enum llm_role role_of(const struct finding *finding, const char *symbol) {
    for (size_t i = 0; i < finding->roles->n_dims; i++)
        if (text_equal(finding->dims[i].symbol, symbol)) return finding->dims[i].role;
    return ROLE_NONE;
}

static int set_role(struct finding *finding, const char *symbol, enum llm_role role) {
    struct llm_roles *roles = finding->roles;
    if (!symbol || roles->n_dims >= MAX_DIMS || role_of(finding, symbol) != ROLE_NONE)
        return CM_OK;
    finding->dims = arena_grow(finding->arena, finding->dims, roles->n_dims, &finding->capacity,
                               sizeof *finding->dims);
    if (!finding->dims) return CM_NO_MEMORY;
    finding->dims[roles->n_dims++] = (struct llm_dim){symbol, role};
    roles->dims = finding->dims;
    roles->has_past = roles->has_past || role == ROLE_PAST;
    return CM_OK;
}

/* Returns true if the output may be the input after a step: equal ranks and fixed dims, except
 * for one that grows by the tokens of the step. */
static bool may_extend(const struct type *input, const struct type *output, int64_t tokens) {
    int n_grown = 0;
    if (output->kind != CM_TYPE_TENSOR || output->shape.rank != input->shape.rank ||
        output->dtype != input->dtype)
        return false;
    for (int axis = 0; axis < input->shape.rank; axis++)
        if (is_known(input->shape.dims[axis]) && is_known(output->shape.dims[axis]) &&
            input->shape.dims[axis] != output->shape.dims[axis] &&
            (axis == 0 || n_grown++ > 0 || !is_known(tokens) ||
             output->shape.dims[axis] - tokens != input->shape.dims[axis]))
            return false;
    return true;
}

/* Finds the first output that may extend the input, which counts once; ID_NONE. */
static uint32_t find_extension(struct finding *finding, const struct type *input) {
    const struct graph *graph = finding->graph;
    bool *taken = finding->taken;
    while (finding->first_free < graph->n_outputs && taken[finding->first_free])
        finding->first_free++;
    for (size_t i = finding->first_free; i < graph->n_outputs && finding->left-- > 0; i++) {
        const struct value *value = &finding->model->values[graph->outputs[i]];
        if (taken[i] || !may_extend(input, value->type, finding->roles->sequence)) continue;
        taken[i] = true;
        return graph->outputs[i];
    }
    return ID_NONE;
}

/* Finds what an input of floats keeps between steps, and the roles of its dims. */
static int read_cache(struct finding *finding, uint32_t id) {
    const struct type *type = finding->model->values[id].type;
    const int rank = type->shape.rank;
    if (!dtype_is_float(type->dtype) || rank < 2 || id == finding->roles->tokens) return CM_OK;
    int grows = 0;
    for (int axis = 1; axis < rank && grows == 0; axis++)
        if (!is_known(type->shape.dims[axis]) &&
            role_of(finding, symbol_at(type, axis)) != ROLE_SEQUENCE &&
            role_of(finding, symbol_at(type, axis)) != ROLE_BATCH)
            grows = axis;
    const uint32_t output = rank < 3 && grows > 0 ? ID_NONE : find_extension(finding, type);
    if (output == ID_NONE) {
        if (grows == 0 || grows == rank - 1) return CM_OK;
        finding->roles->cache[id] = CACHE_SOURCE;
        return set_role(finding, symbol_at(type, grows), ROLE_SOURCE);
    }
    const struct type *after = finding->model->values[output].type;
    if (grows == 0) { /* a state may be a buffer: see llm_describe */
        finding->roles->cache[id] =
            shape_equal(&type->shape, &after->shape) ? CACHE_STATE : CACHE_GROWS;
        return CM_OK;
    }
    const char *symbol = symbol_at(type, grows);
    const bool is_fixed = symbol && text_equal(symbol, symbol_at(after, grows));
    finding->roles->cache[id] = is_fixed ? CACHE_BUFFER : CACHE_GROWS;
    return set_role(finding, symbol, is_fixed ? ROLE_TOTAL : ROLE_PAST);
}

/* The other dims of integers and masks are the sum of past and new tokens. */
static int read_mask(struct finding *finding, uint32_t id) {
    const struct type *type = finding->model->values[id].type;
    const int rank = type->shape.rank;
    if (finding->roles->cache[id] != CACHE_NONE || rank < 1) return CM_OK;
    if (dtype_is_float(type->dtype) && rank == 3) return CM_OK;
    return set_role(finding, symbol_at(type, rank - 1), ROLE_TOTAL);
}

int llm_roles_find(const struct analysis *analysis, struct llm_roles *ret) {
    const struct model *model = analysis->model;
    const struct graph *graph = &model->graphs[0];
    struct finding finding = {.model = model,
                              .graph = graph,
                              .bind = analysis->bind,
                              .arena = analysis->arena,
                              .roles = ret,
                              .source = ID_NONE,
                              .left = MAX_PAIRS};
    finding.taken = arena_array(analysis->arena, graph->n_outputs + 1, sizeof *finding.taken);
    *ret = (struct llm_roles){.batch = DIM_UNKNOWN, .sequence = DIM_UNKNOWN};
    ret->cache = arena_array(analysis->arena, model->n_values, sizeof *ret->cache);
    if (!finding.taken || !ret->cache) return diag_no_memory(analysis->diag);
    ret->tokens = find_tokens(&finding);
    if (ret->tokens == ID_NONE) return CM_OK;
    const struct type *type = model->values[ret->tokens].type;
    const int rank = type->shape.rank;
    const int at = dtype_is_float(type->dtype) ? 1 : rank - 1;
    int status = CM_OK;
    ret->sequence = type->shape.dims[at];
    ret->batch = at > 0 ? type->shape.dims[0] : 1;
    if (at > 0) status = set_role(&finding, symbol_at(type, 0), ROLE_BATCH);
    if (status == CM_OK) status = set_role(&finding, symbol_at(type, at), ROLE_SEQUENCE);
    if (finding.source != ID_NONE && status == CM_OK) {
        const struct type *source = model->values[finding.source].type;
        status = set_role(&finding, symbol_at(source, source->shape.rank - 1), ROLE_SOURCE);
    }
    for (size_t i = 0; i < graph->n_inputs && status == CM_OK; i++)
        if (is_data(&model->values[graph->inputs[i]]))
            status = read_cache(&finding, graph->inputs[i]);
    for (size_t i = 0; i < graph->n_inputs && status == CM_OK; i++)
        if (is_data(&model->values[graph->inputs[i]]))
            status = read_mask(&finding, graph->inputs[i]);
    return status < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}

struct cm_dim_option *llm_roles_bind(const struct llm_roles *roles, struct arena *arena,
                                     int64_t batch, int64_t sequence, int64_t past,
                                     int64_t source, size_t *ret_n) {
    struct cm_dim_option *dims = arena_array(arena, roles->n_dims + 1, sizeof *dims);
    *ret_n = 0;
    for (size_t i = 0; dims && i < roles->n_dims; i++) {
        const int64_t sizes[] = {[ROLE_NONE] = DIM_UNKNOWN,
                                 [ROLE_BATCH] = batch,
                                 [ROLE_SEQUENCE] = sequence,
                                 [ROLE_PAST] = past,
                                 [ROLE_TOTAL] = checked_add(past, sequence),
                                 [ROLE_SOURCE] = source};
        const int64_t size = sizes[roles->dims[i].role];
        if (is_known(size))
            dims[(*ret_n)++] = (struct cm_dim_option){roles->dims[i].symbol, size};
    }
    return dims;
}
