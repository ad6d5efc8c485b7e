/* SPDX-License-Identifier: Apache-2.0 */
/* Pass params: classifies constants as learned parameters, buffers or neither, and lists the
 * nodes that use each parameter or buffer.
 *
 * PyTorch's exporter records which tensors were learned (frontend/param_marks.c). For other
 * files the pass decides by the uses of a constant (the `param_roles` of operator rows), also
 * through views, slices and casts, and if the uses are ambiguous, by whether a person named the
 * constant. docs/counting.md has the rules. */

#include "passes/params/params.h"

#include <string.h>

#include "ops/packed.h"
#include "passes/infer/infer.h"
#include "passes/memory/liveness.h"
#include "passes/params/names.h"
#include "passes/params/param_uses.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

/* Real models have a few uses per parameter. A hostile model could concatenate all constants
 * and use the result as each operand, which makes parameters * operands uses. */
#define MAX_USES ((size_t)1 << 22)

/* Returns true if several dims differ from 1, as in a mask or a table of angles. A learned
 * operand of an elementwise node is usually a vector along channels. */
static bool is_table(const struct shape *shape) {
    int n = 0;
    for (int axis = 0; axis < shape->rank; axis++) n += shape->dims[axis] != 1;
    return n > 1;
}

static bool is_narrow(enum dtype dtype) {
    return dtype_is_integer(dtype) && dtype_bits(dtype) <= 8;
}

/* Returns true if integers may be a quantized weight. Most integers are shapes and indices, of
 * 64 bits; a single one that is used elementwise is a zero point. */
static bool may_be_quantized(const struct param_study *study, uint32_t value) {
    const struct value_info *info = &study->analysis->infer->infos[value];
    const unsigned purposes = study->purposes[value];
    if (!dtype_is_integer(info->dtype)) return false;
    if (purposes & FOR_WEIGHT) return true;
    if ((purposes & FOR_REAL) == 0 && !is_narrow(info->dtype)) return false;
    return (purposes & (FOR_FACTOR | FOR_TABLE)) || shape_elements(&info->shape) != 1;
}

/* Returns true if the value is a learned parameter. The exporter's record takes precedence,
 * except for integers recorded as constants, which may be quantized weights. An input may be an
 * activation or a state: it is learned only if it is used as a weight or, in a file without
 * weights, has a parameter's name. */
static bool is_learned(const struct param_study *study, uint32_t value) {
    const unsigned purposes = study->purposes[value];
    const char *name = value_name(study->model, value);
    const struct value_info *info = &study->analysis->infer->infos[value];
    const bool is_float = dtype_is_float(info->dtype);
    const enum param_mark mark = study->model->values[value].mark;
    if (mark == MARK_PARAMETER)
        return study->model->values[value].n_uses > 0 ||
               study->model->values[value].is_graph_output;
    if (!is_float && !may_be_quantized(study, value)) return false;
    if (mark == MARK_DERIVED) return purposes != 0;
    if (mark == MARK_CONSTANT && is_float) return false;
    /* the framework's parameters are initializers; an input is a state */
    if ((study->sources[value] == SOURCE_NODE || study->sources[value] == SOURCE_INPUT) &&
        study->model->n_framework_params > 0)
        return false;
    if (purposes & FOR_WEIGHT) return study->sources[value] != SOURCE_NONE;
    switch ((enum param_source)study->sources[value]) {
    case SOURCE_INITIALIZER:
    case SOURCE_RENAMED:
        if (purposes & (FOR_FACTOR | FOR_TABLE)) return true;
        if (purposes & FOR_ELEMENT)
            return !(names_traced(name) && is_table(&info->shape)) &&
                   (!names_generated(name) || shape_elements(&info->shape) != 1);
        return (purposes & FOR_DATA) && names_parameter(name);
    case SOURCE_NODE:
        if (purposes & FOR_FACTOR) return true;
        return (purposes & (FOR_TABLE | FOR_ELEMENT)) && !names_generated(name);
    case SOURCE_INPUT:
        return !study->stores_weights && (purposes & (FOR_FACTOR | FOR_TABLE | FOR_ELEMENT)) &&
               names_parameter(name);
    default:
        return false;
    }
}

/* Returns true for statistics, and for masks and index tables that a person named; false for
 * constants of shape arithmetic. */
static bool is_buffer(const struct param_study *study, uint32_t value) {
    unsigned purposes = study->purposes[value];
    const char *name = value_name(study->model, value);
    bool stored =
        study->sources[value] == SOURCE_INITIALIZER || study->sources[value] == SOURCE_RENAMED;
    const enum dtype dtype = study->analysis->infer->infos[value].dtype;
    bool is_float = dtype_is_float(dtype);
    if (purposes == 0) return false;
    if (purposes & FOR_STAT) return is_float;
    return stored && (names_parameter(name) ||
                      ((is_float || is_narrow(dtype)) && !names_generated(name)));
}

/* Returns how many numbers a tensor has: an operator may unpack several from each element. */
static int64_t count_numbers(const struct param_study *study, uint32_t id) {
    const struct op_source source = infer_source(study->analysis);
    const struct value *value = &study->model->values[id];
    const struct value_info *info = &study->analysis->infer->infos[id];
    const int64_t elements = shape_elements(&info->shape);
    int64_t numbers = elements;
    for (size_t i = 0; i < value->n_uses && numbers == elements && is_narrow(info->dtype);
         i++) {
        const struct arena_mark mark = arena_save(study->analysis->arena);
        const struct use *use = &value->uses[i];
        struct op_context context;
        if (context_make_inferred(&source, use->node, &context) < 0) break;
        numbers = packed_numbers(&context, use->slot);
        arena_restore(study->analysis->arena, mark);
    }
    return numbers;
}

static int list_params(const struct param_study *study, struct params_table *table) {
    const struct analysis *analysis = study->analysis;
    const size_t n_values = study->model->n_values;
    size_t capacity = 0;
    table->of_value = arena_array_raw(analysis->arena, n_values, sizeof *table->of_value);
    if (!table->of_value) return diag_no_memory(analysis->diag);
    for (uint32_t value = 0; value < n_values; value++) {
        table->of_value[value] = ID_NONE;
        if (study->sources[value] == SOURCE_NONE) continue;
        const bool is_param = is_learned(study, value);
        if (!is_param && !is_buffer(study, value)) continue;
        const struct param param = {
            .value = value,
            .kind = is_param ? PARAM_LEARNED : PARAM_BUFFER,
            .name = value_name(study->model, value),
            .elements = count_numbers(study, value),
            .bytes = liveness_bytes(&analysis->infer->infos[value]),
        };
        table->of_value[value] = (uint32_t)table->n_params;
        if (!arena_push(analysis->arena, &table->params, &table->n_params, &capacity, &param,
                        sizeof param))
            return diag_no_memory(analysis->diag);
    }
    return CM_OK;
}

/* --- Users: a walk from each parameter through views, slices and casts to the nodes. --- */

/* A node that uses a parameter. */
struct pair {
    uint32_t node;
    uint32_t param;
};

struct walker {
    const struct param_study *study;
    const struct analysis *analysis;
    struct params_table *table;
    uint32_t *node_stamp;  /* by node: 1 + the last parameter that it uses */
    uint32_t *value_stamp; /* by value: 1 + the last parameter of which it is a view or cast */
    uint32_t *pending;     /* values whose users are still to be visited */
    size_t n_pending;
    struct pair *pairs;
    size_t n_pairs;
    size_t capacity;
    size_t n_uses; /* visited */
};

static int add_pair(struct walker *walker, uint32_t node, uint32_t param) {
    if (walker->n_uses++ >= MAX_USES)
        return diag_error(walker->analysis->diag, DIAG_LIMIT,
                          "parameters must have at most %zu uses", MAX_USES);
    if (walker->node_stamp[node] == param + 1) return CM_OK;
    const struct pair pair = {node, param};
    walker->node_stamp[node] = param + 1;
    return arena_push(walker->analysis->scratch, &walker->pairs, &walker->n_pairs,
                      &walker->capacity, &pair, sizeof pair)
               ? CM_OK
               : diag_no_memory(walker->analysis->diag);
}

/* Appends the value to `pending` if it is a view or cast of the parameter, not another. */
static void follow(struct walker *walker, uint32_t value, uint32_t param) {
    if (value == ID_NONE || !walker->study->is_from_source[value]) return;
    const uint32_t other = walker->table->of_value[value];
    if (walker->value_stamp[value] == param + 1 || (other != ID_NONE && other != param)) return;
    walker->value_stamp[value] = param + 1;
    walker->pending[walker->n_pending++] = value;
}

/* Appends the values that are views or casts of the parameter after one use: outputs of the
 * node, and for an unchanging Loop state the input of the body. */
static void follow_use(struct walker *walker, const struct use *use, uint32_t param) {
    const struct node *node = &walker->analysis->model->nodes[use->node];
    const char role = op_role(walker->analysis->bind->ops[use->node], use->slot);
    struct loop_state state;
    for (size_t i = 0; role == 'p' && i < node->n_outputs; i++)
        follow(walker, node->outputs[i], param);
    if (role == 'c' && loop_state_find(walker->analysis, use->node, use->slot, &state)) {
        follow(walker, state.inside, param);
        follow(walker, state.after, param);
    }
}

/* Visits all nodes that use the parameter, directly or through views and casts. */
static int find_users(struct walker *walker, uint32_t param) {
    const struct model *model = walker->analysis->model;
    walker->n_pending = 0;
    walker->pending[walker->n_pending++] = walker->table->params[param].value;
    while (walker->n_pending > 0) {
        const struct value *value = &model->values[walker->pending[--walker->n_pending]];
        for (uint32_t i = 0; i < value->n_uses; i++) {
            const struct use *use = &value->uses[i];
            int status = add_pair(walker, use->node, param);
            if (status < 0) return status;
            follow_use(walker, use, param);
        }
    }
    return CM_OK;
}

/* Sorts the pairs by node, then by parameter. */
static int sort_pairs(const struct walker *walker, struct params_table *table) {
    const size_t n_nodes = walker->analysis->model->n_nodes;
    struct arena *arena = walker->analysis->arena;
    uint32_t *sorted = arena_array_raw(arena, walker->n_pairs, sizeof *sorted);
    table->n_used = arena_array(arena, n_nodes, sizeof *table->n_used);
    table->used = arena_array_raw(arena, n_nodes, sizeof *table->used);
    uint32_t **next = arena_array_raw(walker->analysis->scratch, n_nodes, sizeof *next);
    if (!sorted || !next || !table->n_used || !table->used)
        return diag_no_memory(walker->analysis->diag);
    for (size_t i = 0; i < walker->n_pairs; i++) table->n_used[walker->pairs[i].node]++;
    uint32_t *end = sorted;
    for (size_t node = 0; node < n_nodes; node++) {
        table->used[node] = next[node] = end;
        end += table->n_used[node];
    }
    for (size_t i = 0; i < walker->n_pairs; i++)
        *next[walker->pairs[i].node]++ = walker->pairs[i].param;
    return CM_OK;
}

static int list_users(const struct param_study *study, struct params_table *table) {
    const struct analysis *analysis = study->analysis;
    const struct model *model = analysis->model;
    struct arena *scratch = analysis->scratch;
    struct walker walker = {.study = study, .analysis = analysis, .table = table};
    walker.node_stamp = arena_array(scratch, model->n_nodes, sizeof *walker.node_stamp);
    walker.value_stamp = arena_array(scratch, model->n_values, sizeof *walker.value_stamp);
    walker.pending = arena_array_raw(scratch, model->n_values, sizeof *walker.pending);
    if (!walker.node_stamp || !walker.value_stamp || !walker.pending)
        return diag_no_memory(analysis->diag);
    for (uint32_t param = 0; param < table->n_params; param++) {
        int status = find_users(&walker, param);
        if (status < 0) return status;
    }
    return sort_pairs(&walker, table);
}

/* --- The parameters of the framework's model. ---
 *
 * The file may have fewer or more parameters: the exporter folds a BatchNorm into the layer
 * before it, drops biases that are zero, stores equal tensors once and stores transposed copies
 * of weights. PyTorch's exporter lists the names of all parameters, but not their sizes. A
 * listed parameter has a tensor in the file, or its size follows from a node:
 *
 *   fc.weight         stored only transposed, as the operand of a MatMul
 *   cls_token         repeated for the batch: [1, 1, 768] as [2, 1, 768]
 *   bn1.weight        BatchNorm bn1 was fused into a Conv: one element per output channel
 *   conv1.bias        the Conv that uses conv1.weight lost a bias of zeros: one element per
 *                     output channel
 *   norm2.weight      a node of module norm2 reads the equal tensor norm1.weight instead
 *   embedding.weight  tied: a node of module embedding reads head.weight, which is the same
 *                     parameter and does not count twice
 *
 * The total is unknown if one size is unknown: the size of a parameter that forward does not
 * use, or of an operand that the exporter computed in several steps. Files of the package
 * onnx_costmodel have all sizes. */

/* The exporter merges equal tensors of at most this many elements, and keeps the name that is
 * first in the list. Of tied parameters, which may have any size, it keeps the last name. */
#define MAX_MERGED 1024

/* Bytes; parameters with longer names are not looked for. */
#define MAX_NAME 1024

struct listed {
    int64_t elements; /* DIM_UNKNOWN until found; DIM_OVERFLOW if the nodes are ambiguous */
    bool stored;
    uint32_t n_sharing; /* modules that use it instead of an equal parameter of their own */
};

struct framework_search {
    const struct analysis *analysis;
    const struct model *model;
    struct map index; /* name -> listed parameter */
    struct listed *listed;
    uint32_t *of_value;   /* by value: the listed parameter that it holds, ID_NONE */
    const char **unknown; /* names of parameters */
};

/* Returns the length of the module's path: 3 for "bn1.weight"; 0 for the root. */
static size_t module_length(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static const char *leaf_of(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Returns the listed parameter "module.leaf", or NULL. */
static struct listed *find_listed(const struct framework_search *search, const char *module,
                                  size_t length, const char *leaf) {
    char name[MAX_NAME];
    const size_t n_leaf = strlen(leaf);
    const size_t prefix = length > 0 ? length + 1 : 0;
    if (length >= MAX_NAME || n_leaf >= MAX_NAME - prefix) return NULL;
    memcpy(name, module, length);
    if (length > 0) name[length] = '.';
    memcpy(name + prefix, leaf, n_leaf + 1);
    const uint32_t found = map_get_n(&search->index, name, prefix + n_leaf);
    return found == MAP_NONE ? NULL : &search->listed[found];
}

/* Sets the number of elements of a listed parameter without a tensor; ignores NULL. */
static void set_elements(struct listed *listed, int64_t elements) {
    if (!listed || listed->stored || listed->elements == elements) return;
    listed->elements = listed->elements == DIM_UNKNOWN ? elements : DIM_OVERFLOW;
}

/* Sets the number of elements of a listed parameter that a tensor of its name holds. */
static void add_stored(struct framework_search *search, uint32_t value, uint32_t param) {
    const struct constant *constant = search->model->values[value].constant;
    struct listed *listed = &search->listed[param];
    if (!dtype_is_float(constant->dtype) || listed->stored) return;
    listed->stored = true;
    listed->elements = constant->n_elements;
    search->of_value[value] = param;
}

/* The same for a tensor that was computed from the parameter alone. A single operator without a
 * second operand changes the number of elements only if it reduces all to one. A class token
 * [1, 1, 768] that was repeated for a batch of 2 has the shape [2, 1, 768]; of other shapes it
 * is not known which axes were repeated. */
static void add_derived(struct framework_search *search, const struct derived_param *derived) {
    const struct value *value = &search->model->values[derived->value];
    const struct constant *constant = value->constant;
    struct listed *listed = &search->listed[derived->param];
    int64_t elements = constant->n_elements;
    if (!dtype_is_float(constant->dtype) || listed->stored || elements <= 1) return;
    if (value->is_repeated) {
        elements = constant->shape.dims[constant->shape.rank - 1];
        if (elements <= 1 || elements * constant->shape.dims[0] != constant->n_elements) return;
    }
    listed->elements = listed->elements == DIM_UNKNOWN ? elements : DIM_OVERFLOW;
    search->of_value[derived->value] = derived->param;
}

static void find_stored(struct framework_search *search) {
    const struct model *model = search->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        search->of_value[id] = ID_NONE;
        if (!model->values[id].constant) continue;
        const uint32_t param = map_get(&search->index, model->values[id].name);
        if (param != MAP_NONE) add_stored(search, id, param);
    }
    for (size_t i = 0; i < model->n_derived_params; i++)
        add_derived(search, &model->derived_params[i]);
    for (size_t i = 0; i < model->n_derived_params; i++) {
        struct listed *listed = &search->listed[model->derived_params[i].param];
        listed->stored = listed->stored || listed->elements != DIM_UNKNOWN;
    }
}

static const struct module_stack_entry *module_of(const struct node *node) {
    return node->module_stack && node->module_stack->n > 0
               ? &node->module_stack->entries[node->module_stack->n - 1]
               : NULL;
}

static bool is_fused_batchnorm(const struct node *node) {
    const struct module_stack_entry *module = module_of(node);
    return node->folds_norm && module && strstr(module->class, "BatchNorm");
}

/* Sets sizes of absent parameters of a layer with a weight: bias, and fused BatchNorm. */
static void find_layer(struct framework_search *search, uint32_t id) {
    const struct node *node = &search->model->nodes[id];
    const uint8_t slot = search->analysis->bind->ops[id]->weight;
    if (slot == 0 || slot >= node->n_inputs || node->inputs[slot] == ID_NONE ||
        node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return;
    const uint32_t weight = node->inputs[slot];
    const int rank = search->analysis->infer->infos[weight].shape.rank;
    const struct shape *out = &search->analysis->infer->infos[node->outputs[0]].shape;
    const int axis = rank == 2 ? out->rank - 1 : 1; /* axis of the output channels */
    const uint32_t param = search->of_value[weight];
    if (rank < 2 || axis < 0 || axis >= out->rank || !is_known(out->dims[axis])) return;
    const int64_t channels = out->dims[axis];
    if (param != ID_NONE) {
        const char *name = search->model->framework_params[param];
        if (text_equal(leaf_of(name), "weight"))
            set_elements(find_listed(search, name, module_length(name), "bias"), channels);
    }
    if (is_fused_batchnorm(node)) {
        const char *path = module_of(node)->path;
        set_elements(find_listed(search, path, strlen(path), "weight"), channels);
        set_elements(find_listed(search, path, strlen(path), "bias"), channels);
    }
}

/* If the operand is a parameter of another module that replaces an absent parameter of the
 * node's own module, sets the size of the absent parameter. */
static void find_replaced(struct framework_search *search, const struct node *node,
                          uint32_t operand) {
    const struct module_stack_entry *module = module_of(node);
    const uint32_t param = operand == ID_NONE ? ID_NONE : search->of_value[operand];
    if (param == ID_NONE || !module) return;
    struct listed *used = &search->listed[param];
    const char *name = search->model->framework_params[param];
    const size_t length = strlen(module->path);
    if (length == module_length(name) && memcmp(name, module->path, length) == 0) return;
    struct listed *replaced = find_listed(search, module->path, length, leaf_of(name));
    if (!replaced || replaced->stored) return;
    /* The order of the names tells tied from merged tensors (see MAX_MERGED). Small tied and
     * large merged tensors are unexpected: their number of elements is ambiguous. */
    const bool tied = replaced < used;
    const bool small = used->elements <= MAX_MERGED;
    if (!tied && small) used->n_sharing += replaced->elements == DIM_UNKNOWN;
    set_elements(replaced, tied == small ? DIM_OVERFLOW : tied ? 0 : used->elements);
}

static void sum_up(const struct framework_search *search, struct framework_table *ret) {
    const struct model *model = search->model;
    for (size_t i = 0; i < model->n_framework_params; i++) {
        const struct listed *listed = &search->listed[i];
        const int64_t recorded = model->framework_elements[i];
        const int64_t elements = is_known(recorded) ? recorded : listed->elements;
        ret->n_absent += !listed->stored;
        if (is_known(elements))
            checked_add_to(&ret->elements, elements);
        else
            search->unknown[ret->n_unknown++] = model->framework_params[i];
        if (listed->n_sharing == 0 || listed->n_sharing + 1 <= ret->n_sharing) continue;
        ret->n_sharing = (size_t)listed->n_sharing + 1;
        ret->shared = model->framework_params[i];
    }
    if (ret->n_unknown > 0) ret->elements = DIM_UNKNOWN;
    ret->unknown = search->unknown;
}

/* Sets *ret to the totals derived from the parameter names that PyTorch's dynamo exporter lists
 * in the file; elements are DIM_UNKNOWN without a list. */
static int find_framework_params(const struct analysis *analysis, struct framework_table *ret) {
    const struct model *model = analysis->model;
    struct arena *scratch = analysis->scratch;
    struct framework_search search = {.analysis = analysis, .model = model};
    *ret = (struct framework_table){.elements = DIM_UNKNOWN};
    if (model->n_framework_params == 0) return CM_OK;
    map_init(&search.index, scratch);
    search.listed = arena_array(scratch, model->n_framework_params, sizeof *search.listed);
    search.of_value = arena_array_raw(scratch, model->n_values, sizeof *search.of_value);
    search.unknown =
        arena_array(analysis->arena, model->n_framework_params, sizeof *search.unknown);
    if (!search.listed || !search.of_value || !search.unknown ||
        map_reserve(&search.index, model->n_framework_params) < 0)
        return diag_no_memory(analysis->diag);
    for (uint32_t i = 0; i < model->n_framework_params; i++) {
        search.listed[i].elements = DIM_UNKNOWN;
        if (map_set(&search.index, model->framework_params[i], i) < 0)
            return diag_no_memory(analysis->diag);
    }
    ret->elements = 0;
    find_stored(&search);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct node *node = &model->nodes[id];
        find_layer(&search, id);
        for (size_t i = 0; module_of(node) && !is_fused_batchnorm(node) && i < node->n_inputs;
             i++)
            find_replaced(&search, node, node->inputs[i]);
    }
    sum_up(&search, ret);
    return CM_OK;
}

int pass_params(const struct analysis *analysis, void *own) {
    struct param_study study = {0};
    int status = param_uses_find(analysis, &study);
    struct params_table *table = own;
    if (status == CM_OK) status = list_params(&study, own);
    if (status == CM_OK) status = find_framework_params(analysis, &table->framework);
    return status < 0 ? status : list_users(&study, own);
}
