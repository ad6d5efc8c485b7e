/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See framework_params.h. PyTorch's exporter lists the names of all parameters, but not their
 * sizes. A listed parameter has a tensor in the file, or its size follows from a node:
 *
 *   fc.weight         stored only transposed, as the operand of a MatMul
 *   bn1.weight        BatchNorm bn1 was fused into a Conv: one element per output channel
 *   conv1.bias        the Conv that uses conv1.weight lost a bias of zeros: one element per
 *                     output channel
 *   norm2.weight      a node of module norm2 reads the equal tensor norm1.weight instead
 *   embedding.weight  tied: a node of module embedding reads head.weight, which is the same
 *                     parameter and does not count twice
 *
 * The total is unknown if a size is unknown: that of a parameter that forward does not use, or
 * of an operand that the exporter computed in several steps.
 */
#include "passes/params/framework_params.h"

#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

#include "support/banned.h"

/* The exporter merges equal tensors of at most this many elements, and keeps the name that is
 * first in the list. Of tied parameters, which may have any size, it keeps the last name. */
#define MAX_MERGED 1024

/* Bytes; parameters with longer names are not looked for. */
#define MAX_NAME 1024

struct listed {
    int64_t elements; /* DIM_UNKNOWN until found; DIM_OVERFLOW if nodes imply different sizes */
    bool stored;
    uint32_t n_sharing; /* modules that use it instead of an equal parameter of their own */
};

struct framework_search {
    const struct analysis *analysis;
    const struct model *model;
    struct map index; /* name -> listed parameter */
    struct listed *listed;
    uint32_t *of_value; /* by value: the listed parameter that it holds, ID_NONE */
};

/* Returns the length of the module's path in a parameter's name: 3 for "bn1.weight"; 0 for the
 * root. */
static size_t module_length(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static const char *leaf_of(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Returns the listed parameter `leaf` of a module, or NULL. */
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

/* Sets the number of elements of a parameter without a tensor; NULL is ignored. */
static void set_elements(struct listed *listed, int64_t elements) {
    if (!listed || listed->stored || listed->elements == elements) return;
    listed->elements = listed->elements == DIM_UNKNOWN ? elements : DIM_OVERFLOW;
}

static int start_search(struct framework_search *search) {
    const struct model *model = search->model;
    struct arena *scratch = search->analysis->scratch;
    map_init(&search->index, scratch);
    search->listed = arena_array(scratch, model->n_framework_params, sizeof *search->listed);
    search->of_value = arena_array_raw(scratch, model->n_values, sizeof *search->of_value);
    if (!search->listed || !search->of_value ||
        map_reserve(&search->index, model->n_framework_params) < 0)
        return diag_no_memory(search->analysis->diag);
    for (uint32_t i = 0; i < model->n_framework_params; i++) {
        search->listed[i].elements = DIM_UNKNOWN;
        if (map_set(&search->index, model->framework_params[i], i) < 0)
            return diag_no_memory(search->analysis->diag);
    }
    return CM_OK;
}

/* Returns true if the value is the weight matrix of a product. */
static bool is_matrix(const struct framework_search *search, uint32_t id) {
    const struct value *value = &search->model->values[id];
    if (value->constant->shape.rank != 2) return false;
    for (uint32_t i = 0; i < value->n_uses; i++) {
        const struct op *op = search->analysis->bind.ops[value->uses[i].node];
        if (op->weight > 0 && value->uses[i].slot == op->weight) return true;
    }
    return false;
}

static void add_stored(struct framework_search *search, uint32_t value, uint32_t param) {
    const struct constant *constant = search->model->values[value].constant;
    struct listed *listed = &search->listed[param];
    if (!dtype_is_float(constant->dtype) || listed->stored) return;
    listed->stored = true;
    listed->elements = constant->n_elements;
    search->of_value[value] = param;
}

static void find_stored(struct framework_search *search) {
    const struct model *model = search->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        search->of_value[id] = ID_NONE;
        if (!model->values[id].constant) continue;
        const uint32_t param = map_get(&search->index, model->values[id].name);
        if (param != MAP_NONE) add_stored(search, id, param);
    }
    for (size_t i = 0; i < model->n_derived_params; i++) {
        const struct derived_param *derived = &model->derived_params[i];
        if (is_matrix(search, derived->value))
            add_stored(search, derived->value, derived->param);
    }
}

static const struct module_stack_entry *module_of(const struct node *node) {
    return node->module_stack && node->module_stack->n > 0
               ? &node->module_stack->entries[node->module_stack->n - 1]
               : NULL;
}

static bool is_fused_batchnorm(const struct node *node) {
    const struct module_stack_entry *module = module_of(node);
    return node->fused && module && strstr(module->class, "BatchNorm");
}

/* Sets the sizes of absent parameters of a layer with a weight: its bias, and the parameters of
 * a fused BatchNorm. */
static void find_layer(struct framework_search *search, uint32_t id) {
    const struct node *node = &search->model->nodes[id];
    const uint8_t slot = search->analysis->bind.ops[id]->weight;
    if (slot == 0 || slot >= node->n_inputs || node->inputs[slot] == ID_NONE ||
        node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return;
    const uint32_t weight = node->inputs[slot];
    const int rank = search->analysis->infer.infos[weight].shape.rank;
    const struct shape *out = &search->analysis->infer.infos[node->outputs[0]].shape;
    const int axis = rank == 2 ? out->rank - 1 : 1; /* of the output channels */
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

/* If the operand is a parameter of another module, sets the size of the absent parameter of the
 * node's own module that it replaces. */
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
    const bool tied = replaced < used;
    const bool small = used->elements <= MAX_MERGED;
    if (!tied && small) used->n_sharing += replaced->elements == DIM_UNKNOWN;
    set_elements(replaced, tied == small ? DIM_OVERFLOW : tied ? 0 : used->elements);
}

static void sum_up(const struct framework_search *search, struct framework_table *ret) {
    const struct model *model = search->model;
    for (size_t i = 0; i < model->n_framework_params; i++) {
        const struct listed *listed = &search->listed[i];
        const bool known = is_known(listed->elements);
        ret->n_absent += !listed->stored;
        if (!known && ret->n_unknown++ == 0) ret->unknown = model->framework_params[i];
        if (known) ret->elements = checked_add(ret->elements, listed->elements);
        if (listed->n_sharing == 0 || listed->n_sharing + 1 <= ret->n_sharing) continue;
        ret->n_sharing = (size_t)listed->n_sharing + 1;
        ret->shared = model->framework_params[i];
    }
    if (ret->n_unknown > 0) ret->elements = DIM_UNKNOWN;
}

int framework_params_find(const struct analysis *analysis, struct framework_table *ret) {
    struct framework_search search = {.analysis = analysis, .model = analysis->model};
    *ret = (struct framework_table){.elements = DIM_UNKNOWN};
    if (analysis->model->n_framework_params == 0) return CM_OK;
    const int status = start_search(&search);
    if (status < 0) return status;
    ret->elements = 0;
    find_stored(&search);
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const struct node *node = &analysis->model->nodes[id];
        find_layer(&search, id);
        for (size_t i = 0; module_of(node) && !is_fused_batchnorm(node) && i < node->n_inputs;
             i++)
            find_replaced(&search, node, node->inputs[i]);
    }
    sum_up(&search, ret);
    return CM_OK;
}
