/* SPDX-License-Identifier: Apache-2.0 */
/* Folded norms are known from two exporters of PyTorch:
 *
 * - The dynamo exporter records the rule that fused a node, its modules (those of the norm) and
 *   the names of all parameters of the framework's model.
 * - The TorchScript exporter keeps the names of parameters, but folding computes a weight and
 *   a bias anew, so both get generated names. Only convolutions are folded. */
#include "passes/norms/restore_norms.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "ops/onnx/patterns.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/map.h"

enum { WEIGHT = 1, BIAS, N_LAYER_INPUTS }; /* of a layer */
enum { MEAN = 3, N_NORM_INPUTS = 5 };      /* of a BatchNormalization */

#define NORM_OPSET   9 /* the first without attributes of earlier versions */
#define ADDED_VALUES 6 /* most for one norm: its input, 4 operands, the bias of the layer */

struct restoring {
    const struct model *from;
    struct arena *arena;
    struct graph_builder *builder;
    struct map params;       /* names in framework_params */
    struct map initializers; /* name -> value, in the main graph */
    int64_t *channels;       /* by node: of the folded norm; 0: none */
    uint32_t *moved_to;      /* by node: id in the copy */
};

/* Returns true if the TorchScript exporter computed the operand. */
static bool is_computed(const struct model *model, const struct node *node, uint32_t slot) {
    return patterns_constant(model, node, slot) &&
           names_generated(value_name(model, node->inputs[slot]));
}

/* Returns true if the exporter kept names of parameters and recorded nothing else. */
static bool has_names_only(const struct model *model) {
    for (size_t i = 0; i < model->n_values && model->n_framework_params == 0; i++)
        if (model->values[i].constant && names_parameter(model->values[i].name)) return true;
    return false;
}

/* Returns the number of channels of the norm that was folded into the node; 0 if none was. */
static int64_t folded_channels(const struct model *model, const struct node *node,
                               bool names_only) {
    const struct constant *weight = patterns_constant(model, node, WEIGHT);
    if (!weight || !dtype_is_float(weight->dtype) || node->n_outputs != 1 ||
        node->outputs[0] == ID_NONE)
        return 0;
    const bool folded = node->folds_norm ||
                        (names_only && weight->shape.rank > 2 &&
                         is_computed(model, node, WEIGHT) && is_computed(model, node, BIAS));
    return folded ? patterns_foldable_channels(node, &weight->shape) : 0;
}

static int find_folded(struct restoring *restoring, size_t *ret_n) {
    const struct model *from = restoring->from;
    const bool names_only = has_names_only(from);
    restoring->channels = arena_array(restoring->arena, from->n_nodes, sizeof(int64_t));
    restoring->moved_to = arena_array(restoring->arena, from->n_nodes, sizeof(uint32_t));
    if (!restoring->channels || !restoring->moved_to) return CM_NO_MEMORY;
    *ret_n = 0;
    for (uint32_t id = 0; id < from->n_nodes; id++) {
        restoring->channels[id] = folded_channels(from, &from->nodes[id], names_only);
        restoring->moved_to[id] = id + (uint32_t)*ret_n;
        *ret_n += restoring->channels[id] > 0;
    }
    return CM_OK;
}

/* Returns true if the value is a vector of that length. */
static bool is_vector(const struct restoring *restoring, uint32_t id, int64_t length) {
    if (id == MAP_NONE) return false;
    const struct constant *constant = graph_value_at(restoring->builder, id)->constant;
    return constant->shape.rank == 1 && constant->shape.dims[0] == length;
}

/* Sets *ret to the initializer of that name; adds one without data, of the layer's dtype. */
static int add_vector(struct restoring *restoring, const struct node *layer, int64_t length,
                      const char *name, enum param_mark mark, uint32_t *ret) {
    if (!name) return CM_NO_MEMORY;
    *ret = map_get(&restoring->initializers, name);
    if (is_vector(restoring, *ret, length)) return CM_OK;
    struct constant *constant = arena_alloc(restoring->arena, sizeof *constant);
    int64_t *dims = arena_copy(restoring->arena, &length, sizeof length);
    if (!constant || !dims) return CM_NO_MEMORY;
    *constant =
        (struct constant){.dtype = patterns_constant(restoring->from, layer, WEIGHT)->dtype,
                          .shape = {.rank = 1, .dims = dims},
                          .n_elements = length,
                          .place = CONSTANT_ABSENT};
    const struct value value = {.name = name,
                                .constant = constant,
                                .node = ID_NONE,
                                .origin = VALUE_INITIALIZER,
                                .mark = (uint8_t)mark};
    const int status = graph_add_value(restoring->builder, &value, ret);
    return status < 0 ? status : map_set(&restoring->initializers, name, *ret);
}

/* Returns the module of the norm that was folded into the node; NULL if it is not recorded. */
static const char *norm_module(const struct node *node) {
    const struct module_stack *stack = node->module_stack;
    if (!node->folds_norm || !stack || stack->n == 0) return NULL;
    const struct module_stack_entry *last = &stack->entries[stack->n - 1];
    return strstr(last->class, "BatchNorm") ? last->path : NULL;
}

/* Sets inputs[1..] to the parameters and statistics of the norm. If its module is recorded and
 * has no parameters, they are constants without a name in the framework. */
static int add_norm_inputs(struct restoring *restoring, const struct node *layer,
                           int64_t channels, uint32_t *inputs) {
    static const char *const leaves[N_NORM_INPUTS] = {NULL, "weight", "bias", "running_mean",
                                                      "running_var"};
    const char *module = norm_module(layer);
    const char *unnamed = value_name(restoring->from, layer->inputs[WEIGHT]);
    int status = CM_OK;
    for (size_t i = 1; i < N_NORM_INPUTS && status == CM_OK; i++) {
        const char *name = module ? arena_printf(restoring->arena, "%s%s%s", module,
                                                 *module ? "." : "", leaves[i])
                                  : NULL;
        const bool is_listed = name && map_get(&restoring->params, name) != MAP_NONE;
        const bool learned = i < MEAN && (is_listed || !module);
        if (!module || (i < MEAN && !learned))
            name = arena_printf(restoring->arena, "%s::norm.%s", unnamed, leaves[i]);
        status = add_vector(restoring, layer, channels, name,
                            learned ? MARK_PARAMETER : MARK_CONSTANT, &inputs[i]);
    }
    return status;
}

/* Removes the bias that is the norm's, unless the layer has one by the list of parameters. */
static int set_bias(struct restoring *restoring, int64_t channels, struct node *layer) {
    const char *name = value_name(restoring->from, layer->inputs[WEIGHT]);
    const char *leaf = strrchr(name, '.');
    uint32_t *inputs = arena_array_raw(restoring->arena, N_LAYER_INPUTS, sizeof *inputs);
    if (!inputs) return CM_NO_MEMORY;
    memcpy(inputs, layer->inputs, BIAS * sizeof *inputs);
    layer->inputs = inputs;
    layer->n_inputs = BIAS;
    if (!leaf || strcmp(leaf, ".weight") != 0) return CM_OK;
    name = arena_printf(restoring->arena, "%.*s.bias", (int)(leaf - name), name);
    if (name && map_get(&restoring->params, name) == MAP_NONE) return CM_OK;
    layer->n_inputs = N_LAYER_INPUTS;
    return add_vector(restoring, layer, channels, name, MARK_PARAMETER, &inputs[BIAS]);
}

/* Adds the layer without the norm, and the norm, which computes the layer's old output. */
static int add_both(struct restoring *restoring, uint32_t id) {
    const struct node *from = &restoring->from->nodes[id];
    const int64_t channels = restoring->channels[id];
    struct arena *arena = restoring->arena;
    struct node layer = *from;
    uint32_t *between = arena_array(arena, 1, sizeof *between); /* the layer's new output */
    uint32_t *inputs = arena_array(arena, N_NORM_INPUTS, sizeof *inputs);
    const struct value *output = &restoring->from->values[from->outputs[0]];
    const struct value value = {
        .name = arena_printf(arena, "%s_without_norm", output->name),
        .graph = from->graph,
        .node = restoring->moved_to[id],
        .origin = VALUE_OUTPUT,
    };
    struct node norm = {
        .name = from->name[0] ? arena_printf(arena, "%s_norm", from->name) : "",
        .domain = "",
        .type = "BatchNormalization",
        .opset = from->opset < NORM_OPSET ? NORM_OPSET : from->opset,
        .graph = from->graph,
        .call = from->call,
        .ordinal = from->ordinal,
        .inputs = inputs,
        .outputs = from->outputs,
        .module_stack = from->module_stack,
        .n_inputs = N_NORM_INPUTS,
        .n_outputs = 1,
    };
    if (!between || !inputs || !value.name || !norm.name) return CM_NO_MEMORY;
    layer.folds_norm = false;
    layer.outputs = between;
    int status = graph_add_value(restoring->builder, &value, between);
    if (status == CM_OK) status = set_bias(restoring, channels, &layer);
    if (status == CM_OK) status = add_norm_inputs(restoring, from, channels, inputs);
    inputs[0] = between[0];
    if (status == CM_OK) status = graph_add_node(restoring->builder, &layer, &id);
    return status == CM_OK ? graph_add_node(restoring->builder, &norm, &id) : status;
}

/* Copies the values, which keep their ids, and collects the names of initializers. */
static int copy_values(struct restoring *restoring) {
    const struct model *from = restoring->from;
    int status = CM_OK;
    for (uint32_t i = 0; i < from->n_values && status == CM_OK; i++) {
        struct value value = from->values[i];
        uint32_t id = value.node;
        if (id != ID_NONE) value.node = restoring->moved_to[id] + (restoring->channels[id] > 0);
        status = graph_add_value(restoring->builder, &value, &id);
        if (status == CM_OK && value.constant && value.graph == 0)
            status = map_set(&restoring->initializers, value.name, id);
    }
    return status;
}

static int copy_graph(struct restoring *restoring, const struct graph *from) {
    struct graph graph = *from;
    uint32_t id = 0;
    uint32_t *nodes = arena_array(restoring->arena, 2 * from->n_nodes, sizeof *nodes);
    if (!nodes) return CM_NO_MEMORY;
    graph.nodes = nodes;
    graph.n_nodes = 0;
    if (graph.owner != ID_NONE) graph.owner = restoring->moved_to[graph.owner];
    for (size_t i = 0; i < from->n_nodes; i++) {
        nodes[graph.n_nodes++] = id = restoring->moved_to[from->nodes[i]];
        if (restoring->channels[from->nodes[i]] > 0) nodes[graph.n_nodes++] = id + 1;
    }
    return graph_add_graph(restoring->builder, &graph, &id);
}

static int copy_all(struct restoring *restoring, struct model *copy) {
    const struct model *from = restoring->from;
    uint32_t id;
    int status = graph_reserve(restoring->builder, from->n_nodes + copy->n_restored_norms,
                               from->n_values + ADDED_VALUES * copy->n_restored_norms);
    if (status == CM_OK) status = copy_values(restoring);
    for (size_t i = 0; i < from->n_framework_params && status == CM_OK; i++)
        status = map_set(&restoring->params, from->framework_params[i], 0);
    for (size_t i = 0; i < from->n_graphs && status == CM_OK; i++)
        status = copy_graph(restoring, &from->graphs[i]);
    for (size_t i = 0; i < from->n_calls && status == CM_OK; i++)
        status = graph_add_call(restoring->builder, &from->calls[i], &id);
    for (uint32_t i = 0; i < from->n_nodes && status == CM_OK; i++)
        status = restoring->channels[i] > 0
                     ? add_both(restoring, i)
                     : graph_add_node(restoring->builder, &from->nodes[i], &id);
    return status == CM_OK ? graph_finish(restoring->builder, copy) : status;
}

int restore_norms(const struct model *model, const struct cm_options *options,
                  struct arena *arena, const struct model **ret) {
    struct restoring restoring = {.from = model, .arena = arena};
    size_t n = 0;
    *ret = model;
    if (!options->optimizer || options->as_exported) return CM_OK;
    const int status = find_folded(&restoring, &n);
    if (status < 0 || n == 0) return status;
    struct model *copy = arena_copy(arena, model, sizeof *model);
    restoring.builder = graph_builder_new(arena);
    if (!copy || !restoring.builder) return CM_NO_MEMORY;
    map_init(&restoring.params, arena);
    map_init(&restoring.initializers, arena);
    copy->n_restored_norms = n;
    *ret = copy;
    return copy_all(&restoring, copy) == CM_OK ? CM_OK : CM_NO_MEMORY; /* or 2^31 values */
}
