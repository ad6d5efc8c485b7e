/* SPDX-License-Identifier: Apache-2.0 */
/* Pass kernels: maps nodes to the kernels of a runtime, and computes what each node moves
 * through memory as part of its kernel. Does nothing unless the backend is roofline (--device).
 *
 *   views       transposes, slices and reshapes are read with strides: no kernel
 *   products    convolutions, matrix products, attention and recurrences: one kernel each, with
 *               the bias
 *   the rest    one kernel per operator; if the runtime fuses chains, connected nodes of one
 *               graph and equal `stage` (a group) are one kernel, which reads each operand once
 *               (a view of it once per use) and writes only outputs and what another kernel
 *               reads; if it fuses epilogues, a group of elementwise nodes is part of the
 * kernel of a product whose result only the group reads */
#include <stdint.h>

#include "backends/backend_registry.h"
#include "backends/device/runtimes.h"
#include "backends/plugin/settings.h"
#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/cost/dequantized.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/memory/liveness.h"
#include "passes/precision/precision.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"
#include "timing/kernels.h"
#include "timing/timing.h"

enum role {
    ROLE_NONE,
    ROLE_VIEW,
    ROLE_PRODUCT,
    ROLE_FUSIBLE, /* neither view nor product */
};

struct mapping {
    const struct timing *timing;
    struct kernels_table *table;
    enum cm_runtime runtime;
    bool keeps_products;           /* no product is fused with the nodes around it */
    int64_t product_operand_bytes; /* per float element; 0: as in memory */
    /* By node: */
    uint8_t *role;
    uint32_t *stage;  /* number of products on the longest path to the node */
    uint32_t *group;  /* union-find: parent node; the root identifies the nodes that a compiler
                         can fuse */
    uint32_t *first;  /* of a kernel: its first node in execution order; ID_NONE */
    uint32_t *last;   /* of a kernel: its last node */
    uint32_t *next;   /* the next node of the same kernel, ID_NONE */
    int64_t *largest; /* of a group's root: bytes of its largest operand */
    bool *is_mixed;   /* of a group's root: a node of it is not elementwise */
    int64_t *widest;  /* of a group's root: elements of its largest result */
    uint32_t *epilogue_of; /* of a group's root: the product whose kernel runs it; ID_NONE */
    /* By value: */
    uint8_t *readers;     /* enum readers */
    uint32_t *level;      /* products on the longest path to the value, its producer included */
    uint32_t *charged;    /* kernel that was last charged for reading it, plus 1 */
    uint32_t *counted_by; /* group that last counted it as an operand, plus 1 */
    bool *is_output;      /* it or a view of it is an output of a graph */
    int64_t *read_once;   /* of an input or a constant: bytes that a run reads of it */
    uint32_t *reader;     /* group of the only reader of a product's result; NO_READER; ID_NONE:
                             none,     or several */
};

#define NO_READER (ID_NONE - 1)

static bool rule(const struct mapping *mapping, enum runtime_rule wanted) {
    return runtime_rule(mapping->runtime, wanted);
}

static const struct value_info *info_of(const struct mapping *mapping, uint32_t value) {
    return &mapping->timing->core.infer->infos[value];
}

static int64_t elements_of(const struct mapping *mapping, uint32_t value) {
    return shape_elements(&info_of(mapping, value)->shape);
}

static bool is_float(const struct mapping *mapping, uint32_t value) {
    return precision_changes(info_of(mapping, value)->dtype);
}

static const struct fused_pattern *pattern_of(const struct mapping *mapping, uint32_t id) {
    const struct fused_patterns_table *patterns = mapping->timing->core.fused_patterns;
    const uint32_t index = patterns->of_node[id];
    return index == ID_NONE ? NULL : &patterns->items[index];
}

/* Returns the node; in a fused pattern, the one node that stands for the pattern. */
static const struct node *whole_node(const struct mapping *mapping, uint32_t id) {
    const struct fused_pattern *pattern = pattern_of(mapping, id);
    return pattern ? pattern->node : &mapping->timing->core.model->nodes[id];
}

static const struct op *op_of(const struct mapping *mapping, uint32_t id) {
    const struct fused_pattern *pattern = pattern_of(mapping, id);
    return pattern ? pattern->op : mapping->timing->core.bind->ops[id];
}

static const struct op_lowering *lowering_of(const struct mapping *mapping, uint32_t id) {
    static const struct op_lowering none;
    const struct op *op = op_of(mapping, id);
    return op->facets ? &op->facets->lowering : &none;
}

/* Finds the parts of a QDQ graph. Kernels of integers scale what they read and write, so that a
 * DequantizeLinear is a view of its operand. In a float model, a QuantizeLinear is one too. */
static int find_qdq(const struct mapping *mapping) {
    const struct analysis *core = &mapping->timing->core;
    const struct op_source source = infer_source(core);
    uint8_t *roles = mapping->table->qdq;
    if (!core->count->dequantized ||
        (rule(mapping, RUNTIME_RUNS_MODULES) && !rule(mapping, RUNTIME_FUSES_CHAINS)))
        return CM_OK; /* a framework computes on floats, as written */
    for (uint32_t id = 0; id < core->model->n_nodes; id++) {
        const struct arena_mark mark = arena_save(core->arena);
        struct op_context context;
        bool rest = false;
        const int status = context_make_inferred(&source, id, &context);
        if (status < 0) return status;
        if (infer_dequantizes(core, id)) {
            const uint32_t from = core->model->values[context.node->inputs[0]].node;
            roles[id] = QDQ_DEQUANTIZES;
            if (from != ID_NONE && op_primitive_kind(core->bind->ops[from]) == CM_ELTWISE)
                roles[from] = QDQ_QUANTIZES;
        } else if (!mapping->timing->is_float && dequantized_product(core, &context, &rest)) {
            roles[id] = QDQ_PRODUCT;
        }
        arena_restore(core->arena, mark);
    }
    return CM_OK;
}

/* Returns true if the output can be read from the memory of the input. */
static bool is_strided_view(const struct mapping *mapping, const struct op_lowering *lowering) {
    return lowering->kind == CM_COPY &&
           (lowering->which == COPY_STRIDED ||
            (lowering->which == COPY_REPEATED && rule(mapping, RUNTIME_FUSES_CHAINS)));
}

/* Returns true if other kernels do the work of a DequantizeLinear, or of a QuantizeLinear whose
 * operand was quantized before. */
static bool is_scaled_view(const struct mapping *mapping, uint32_t id) {
    const struct timing *timing = mapping->timing;
    const enum qdq_role role = (enum qdq_role)mapping->table->qdq[id];
    const struct node *node = &timing->core.model->nodes[id];
    if (role == QDQ_QUANTIZES)
        return timing->is_float || !is_float(mapping, mapping->table->source[node->inputs[0]]);
    return role == QDQ_DEQUANTIZES &&
           (timing->is_float || !timing->core.model->values[node->outputs[0]].is_graph_output);
}

/* Returns the role of the node; for a view, sets *ret_source to the viewed operand. The
 * kernel of a product adds the bias, so the Add of a bias has no kernel of its own: it is a
 * view of the product. */
static enum role find_role(const struct mapping *mapping, uint32_t id, uint32_t *ret_source) {
    const struct timing *timing = mapping->timing;
    const struct fused_pattern *pattern = pattern_of(mapping, id);
    const struct node *node = whole_node(mapping, id);
    const struct op_lowering *lowering = lowering_of(mapping, id);
    if (pattern && pattern->last != id) return ROLE_NONE;
    if (node->n_outputs == 0 || !kernels_depends_on_input(mapping->timing, node->outputs[0]) ||
        timing->core.bind->ops[id]->memory == MEMORY_CONTROL)
        return ROLE_NONE;
    *ret_source = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    if (*ret_source != ID_NONE && kernels_depends_on_input(mapping->timing, *ret_source) &&
        (timing->core.liveness->storage[node->outputs[0]] == STORAGE_VIEW ||
         is_strided_view(mapping, lowering) || is_scaled_view(mapping, id)))
        return ROLE_VIEW;
    if (primitive_kind_is_product(lowering->kind)) return ROLE_PRODUCT;
    *ret_source = precision_biased_product(&timing->core, op_of(mapping, id), node);
    return *ret_source == ID_NONE ||
                   mapping->role[timing->core.model->values[*ret_source].node] != ROLE_PRODUCT
               ? ROLE_FUSIBLE
               : ROLE_VIEW;
}

static uint32_t group_of(const struct mapping *mapping, uint32_t id) {
    while (mapping->group[id] != id) {
        mapping->group[id] = mapping->group[mapping->group[id]];
        id = mapping->group[id];
    }
    return id;
}

/* Returns the product whose kernel runs the node as its epilogue; else the node. */
static uint32_t owner_of(const struct mapping *mapping, uint32_t id) {
    const uint32_t product = mapping->epilogue_of[group_of(mapping, id)];
    return mapping->role[id] == ROLE_FUSIBLE && product != ID_NONE ? product : id;
}

/* Returns the node that identifies the kernel of the node. */
static uint32_t kernel_of(const struct mapping *mapping, uint32_t id) {
    const uint32_t owner = owner_of(mapping, id);
    return owner != id || !rule(mapping, RUNTIME_FUSES_CHAINS) ? owner : group_of(mapping, id);
}

/* Runtimes that fuse epilogues keep quantized tensors in memory. */
static bool ends_group(const struct mapping *mapping, uint32_t id) {
    return mapping->table->qdq[id] == QDQ_QUANTIZES && rule(mapping, RUNTIME_FUSES_EPILOGUES);
}

/* A fusible node joins the groups of those whose outputs it reads, of its stage and graph. */
static void map_node(const struct mapping *mapping, uint32_t id) {
    const struct model *model = mapping->timing->core.model;
    const struct node *node = whole_node(mapping, id);
    uint32_t *sources = mapping->table->source;
    uint32_t viewed = ID_NONE;
    uint32_t stage = 0;
    const enum role role = find_role(mapping, id, &viewed);
    mapping->role[id] = (uint8_t)role;
    if (role == ROLE_NONE) return;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (kernels_depends_on_input(mapping->timing, node->inputs[i]) &&
            mapping->level[sources[node->inputs[i]]] > stage)
            stage = mapping->level[sources[node->inputs[i]]];
    mapping->stage[id] = stage;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        if (role == ROLE_VIEW) sources[value] = sources[viewed];
        mapping->level[value] = role == ROLE_PRODUCT ? stage + 1 : stage;
    }
    for (size_t i = 0; role == ROLE_FUSIBLE && i < node->n_inputs; i++) {
        if (!kernels_depends_on_input(mapping->timing, node->inputs[i])) continue;
        const uint32_t from = model->values[sources[node->inputs[i]]].node;
        if (from != ID_NONE && mapping->role[from] == ROLE_FUSIBLE &&
            !ends_group(mapping, from) && mapping->stage[from] == stage &&
            model->nodes[from].graph == model->nodes[id].graph)
            mapping->group[group_of(mapping, from)] = group_of(mapping, id);
    }
}

/* Finds the group that reads each result of a product, if only one does. */
static void find_reader(const struct mapping *mapping, uint32_t id) {
    const struct node *node = whole_node(mapping, id);
    if (mapping->role[id] != ROLE_PRODUCT && mapping->role[id] != ROLE_FUSIBLE) return;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        uint32_t *reader = &mapping->reader[mapping->table->source[node->inputs[i]]];
        const uint32_t group =
            mapping->role[id] == ROLE_FUSIBLE ? group_of(mapping, id) : ID_NONE;
        *reader = *reader == NO_READER || *reader == group ? group : ID_NONE;
    }
}

/* Returns true if the kernel of a product can compute the node on each element it writes. */
static bool is_elementwise(const struct mapping *mapping, uint32_t id) {
    const struct op_lowering *lowering = lowering_of(mapping, id);
    return lowering->kind == CM_ELTWISE ||
           (lowering->kind == CM_NORM && lowering->which == CM_NORM_BATCH &&
            !kernels_norms_use_batch(mapping->timing->core.options));
}

/* Makes the group that alone reads the product's result its epilogue, if all nodes of the group
 * are elementwise. A group that reads several products is run by the last. */
static void find_epilogue(const struct mapping *mapping, uint32_t id) {
    const int32_t kind = lowering_of(mapping, id)->kind;
    if (mapping->role[id] != ROLE_PRODUCT ||
        (kind != CM_CONV && kind != CM_DECONV && kind != CM_GEMM))
        return;
    const uint32_t value = whole_node(mapping, id)->outputs[0];
    const uint32_t group = mapping->reader[value];
    if (group == NO_READER || group == ID_NONE || mapping->is_output[value] ||
        mapping->is_mixed[group] || elements_of(mapping, value) < mapping->widest[group])
        return;
    mapping->epilogue_of[group] = id;
}

static void find_epilogues(const struct mapping *mapping) {
    const size_t n_nodes = mapping->timing->core.model->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        find_reader(mapping, id);
        if (mapping->role[id] != ROLE_FUSIBLE) continue;
        const uint32_t group = group_of(mapping, id);
        const int64_t elements = elements_of(mapping, whole_node(mapping, id)->outputs[0]);
        if (!is_elementwise(mapping, id)) mapping->is_mixed[group] = true;
        if (elements > mapping->widest[group]) mapping->widest[group] = elements;
    }
    for (uint32_t id = 0; id < n_nodes; id++) find_epilogue(mapping, id);
}

/* Marks the value behind each operand as read by a product or by others, unless the node's own
 * kernel computes it. */
static void mark_readers(const struct mapping *mapping, uint32_t id) {
    const struct node *node = whole_node(mapping, id);
    const bool is_product = mapping->role[id] == ROLE_PRODUCT;
    if (!is_product && mapping->role[id] != ROLE_FUSIBLE) return;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!kernels_depends_on_input(mapping->timing, node->inputs[i])) continue;
        const uint32_t value = mapping->table->source[node->inputs[i]];
        const uint32_t from = mapping->timing->core.model->values[value].node;
        const uint8_t reader = is_product ? READ_BY_PRODUCT : READ_BY_OTHERS;
        if (from != ID_NONE && group_of(mapping, from) != group_of(mapping, id))
            mapping->table->outside[value] |= reader;
        if (from != ID_NONE && kernel_of(mapping, from) == kernel_of(mapping, id)) continue;
        mapping->readers[value] |= reader;
    }
}

/* Returns the bytes of `elements` of the value: `width` each if it is a float and `width` is
 * not 0, else the size of its dtype. */
static int64_t bytes_at(const struct mapping *mapping, uint32_t value, int64_t elements,
                        int64_t width) {
    return width > 0 && is_float(mapping, value)
               ? checked_mul(elements, width)
               : dtype_bytes(info_of(mapping, value)->dtype, elements);
}

/* Returns the bytes that a node reads of an operand, whose elements have the width `width`: for
 * a slice those of its elements, for an expanded value those of the original, for a table those
 * that it looks up. */
static int64_t operand_bytes(const struct mapping *mapping, uint32_t id, size_t slot,
                             int64_t width) {
    const struct node *node = whole_node(mapping, id);
    const uint32_t value = node->inputs[slot];
    const uint32_t source = mapping->table->source[value];
    const int64_t whole = elements_of(mapping, source);
    const struct shape *shape = &info_of(mapping, value)->shape;
    const int64_t part = op_elements_of_part(op_of(mapping, id), node, slot, shape,
                                             &info_of(mapping, node->outputs[0])->shape);
    const int64_t read = is_known(part) ? part : shape_elements(shape);
    return bytes_at(mapping, source, is_known(whole) && whole < read ? whole : read, width);
}

static bool is_model_input(const struct mapping *mapping, uint32_t value) {
    const struct value *source = &mapping->timing->core.model->values[value];
    return source->origin == VALUE_INPUT && source->graph == 0;
}

/* Returns false for nodes of branches and loops, which may not run. */
static bool is_in_main_graph(const struct mapping *mapping, uint32_t id) {
    return mapping->timing->core.model->nodes[id].graph == 0;
}

/* If an implementation can keep the output in the memory of an operand, a cache that is an
 * input of the model, and writes only new rows, returns its value; else ID_NONE. */
static uint32_t cache_of(const struct mapping *mapping, uint32_t id, size_t output) {
    const struct op *op = op_of(mapping, id);
    const struct node *node = whole_node(mapping, id);
    if (!op->facets || output < op->facets->extends.output ||
        output - op->facets->extends.output >= op->facets->extends.n ||
        !mapping->is_output[node->outputs[output]])
        return ID_NONE;
    const size_t at = op->facets->extends.operand + output - op->facets->extends.output;
    if (at >= node->n_inputs || node->inputs[at] == ID_NONE) return ID_NONE;
    const uint32_t source = mapping->table->source[node->inputs[at]];
    return is_model_input(mapping, source) ? source : ID_NONE;
}

/* Returns the bytes of a table whose rows the node looks up; DIM_UNKNOWN: not a lookup. */
static int64_t table_bytes(const struct mapping *mapping, uint32_t id) {
    const struct op *op = id == ID_NONE ? NULL : op_of(mapping, id);
    if (!op || !op_looks_up(op)) return DIM_UNKNOWN;
    const uint32_t table = whole_node(mapping, id)->inputs[0];
    return bytes_at(mapping, table, elements_of(mapping, table),
                    mapping->product_operand_bytes);
}

/* Adds the `bytes` of an operand to the lower bound, if any implementation reads them. One that
 * extends a cache in place does not read it; a product that reads gathered rows, as of the
 * weights of experts, can read each row of their table once. */
static void charge_compulsory(const struct mapping *mapping, uint32_t id, uint32_t source,
                              int64_t bytes) {
    struct cm_fusion *fusion = &mapping->table->fusion[owner_of(mapping, id)];
    const uint32_t from = mapping->timing->core.model->values[source].node;
    if (mapping->role[id] == ROLE_PRODUCT) {
        const int64_t table = table_bytes(mapping, from);
        if (is_known(table) && table < bytes) bytes = table;
    } else if (!is_model_input(mapping, source) || cache_of(mapping, id, 0) == source) {
        return;
    }
    checked_add_to(&fusion->compulsory_bytes, bytes);
}

/* Returns the constant that a constant is computed from before the run: weights that are
 * transposed or dequantized. */
static uint32_t stored_constant(const struct mapping *mapping, uint32_t value) {
    const struct model *model = mapping->timing->core.model;
    while (model->values[value].node != ID_NONE) {
        const struct node *node = &model->nodes[model->values[value].node];
        if (node->n_inputs == 0 || node->inputs[0] == ID_NONE) break;
        value = node->inputs[0];
    }
    return value;
}

/* Returns the cache that the node extended to the value; else the value. */
static uint32_t extended_cache(const struct mapping *mapping, uint32_t value) {
    const uint32_t from = mapping->timing->core.model->values[value].node;
    const struct node *node = from == ID_NONE ? NULL : whole_node(mapping, from);
    for (size_t i = 0; node && i < node->n_outputs; i++)
        if (node->outputs[i] == value && cache_of(mapping, from, i) != ID_NONE)
            return cache_of(mapping, from, i);
    return value;
}

/* Adds the bytes of a weight or an input of the model to those that a run reads, once for all
 * nodes that read it. */
static void charge_run(const struct mapping *mapping, uint32_t id, uint32_t source,
                       int64_t bytes) {
    int64_t *run_bytes = &mapping->table->run_bytes;
    if (!is_in_main_graph(mapping, id) || cache_of(mapping, id, 0) == source) return;
    source = kernels_depends_on_input(mapping->timing, source)
                 ? extended_cache(mapping, source)
                 : stored_constant(mapping, source);
    if (mapping->timing->core.model->values[source].node != ID_NONE) return;
    const int64_t stored =
        bytes_at(mapping, source, elements_of(mapping, source), mapping->product_operand_bytes);
    if (is_known(stored) && stored < bytes) bytes = stored;
    if (!is_known(bytes) || bytes <= mapping->read_once[source]) return;
    checked_add_to(run_bytes, bytes - mapping->read_once[source]);
    mapping->read_once[source] = bytes;
}

/* Adds the bytes that the node reads. Operands that are not tensors, or that are known int64
 * constants (shape, axes), are not read. */
static void charge_reads(const struct mapping *mapping, uint32_t id, uint32_t kernel) {
    const struct node *node = whole_node(mapping, id);
    const uint32_t owner = owner_of(mapping, id);
    for (size_t i = 0; i < node->n_inputs; i++) {
        const uint32_t operand = node->inputs[i];
        if (operand == ID_NONE) continue;
        const struct value_info *info = info_of(mapping, operand);
        if (info->kind != CM_TYPE_TENSOR ||
            (!kernels_depends_on_input(mapping->timing, operand) && info->value != NULL &&
             info->dtype == DTYPE_INT64))
            continue;
        const uint32_t source = mapping->table->source[operand];
        const struct value *value = &mapping->timing->core.model->values[source];
        const bool is_inside = value->node != ID_NONE &&
                               mapping->role[value->node] != ROLE_NONE &&
                               kernel_of(mapping, value->node) == kernel;
        if (is_inside || mapping->charged[source] == kernel + 1) continue;
        if (mapping->role[id] != ROLE_PRODUCT && cache_of(mapping, id, 0) == source)
            continue; /* extended in place */
        const int64_t width = mapping->table->qdq[id] == QDQ_PRODUCT ? 1
                              : mapping->role[id] == ROLE_PRODUCT
                                  ? mapping->product_operand_bytes
                                  : 0;
        const int64_t bytes = operand_bytes(mapping, id, i, width);
        if (operand == source) mapping->charged[source] = kernel + 1; /* not a view */
        checked_add_to(&mapping->table->read[owner], bytes);
        charge_compulsory(mapping, id, source, bytes);
        charge_run(mapping, id, source, bytes);
    }
}

/* Returns true if the kernels around the node can do without it, even those of products: they
 * write into the result of a Concat, and read repeated or gathered rows where they are. */
static bool only_moves(const struct mapping *mapping, uint32_t id) {
    return lowering_of(mapping, id)->kind == CM_COPY || is_known(table_bytes(mapping, id));
}

/* Adds the operands of a group to the bytes of its lower bound. If the runtime can fuse the
 * group into the kernel of one product, Add(x, Conv(y)) is one kernel that reads x from memory,
 * but not the result of Conv: all operands of the group count but the largest. */
static void charge_operands_of_group(const struct mapping *mapping, uint32_t id) {
    const struct node *node = whole_node(mapping, id);
    const uint32_t group = group_of(mapping, id);
    if (mapping->role[id] != ROLE_FUSIBLE || only_moves(mapping, id)) return;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!kernels_depends_on_input(mapping->timing, node->inputs[i])) continue;
        const uint32_t value = mapping->table->source[node->inputs[i]];
        const uint32_t from = mapping->timing->core.model->values[value].node;
        if (from == ID_NONE || mapping->counted_by[value] == group + 1 ||
            group_of(mapping, from) == group)
            continue;
        mapping->counted_by[value] = group + 1;
        const int64_t bytes = operand_bytes(
            mapping, id, i, mapping->keeps_products ? 0 : mapping->product_operand_bytes);
        const int64_t smaller =
            bytes < mapping->largest[group] ? bytes : mapping->largest[group];
        if (bytes > mapping->largest[group]) mapping->largest[group] = bytes;
        struct cm_fusion *fusion = &mapping->table->fusion[owner_of(mapping, id)];
        checked_add_to(&fusion->compulsory_bytes, mapping->keeps_products ? bytes : smaller);
    }
}

/* Sets the compulsory bytes of each node's group. */
static void sum_groups(const struct mapping *mapping, size_t n_nodes) {
    struct cm_fusion *fusion = mapping->table->fusion;
    for (uint32_t id = 0; id < n_nodes; id++) {
        int64_t *sum = &fusion[group_of(mapping, id)].group_bytes;
        checked_add_to(sum, fusion[id].compulsory_bytes);
    }
    for (uint32_t id = 0; id < n_nodes; id++) {
        mapping->table->group[id] = group_of(mapping, id);
        fusion[id].group_bytes = fusion[mapping->table->group[id]].group_bytes;
    }
}

/* Returns the elements of an output that are new: a cache is extended in its memory. */
static int64_t new_elements(const struct mapping *mapping, uint32_t id, size_t output) {
    const uint32_t cache = cache_of(mapping, id, output);
    int64_t new = elements_of(mapping, whole_node(mapping, id)->outputs[output]);
    if (cache != ID_NONE) new = checked_sub(new, elements_of(mapping, cache));
    return is_known(new) && new < 0 ? 0 : new;
}

/* Returns the bytes of an output that any implementation writes. */
static int64_t compulsory_writes(const struct mapping *mapping, uint32_t id, size_t output) {
    const uint32_t value = whole_node(mapping, id)->outputs[output];
    const bool is_narrow =
        mapping->role[id] == ROLE_PRODUCT || mapping->table->outside[value] == READ_BY_PRODUCT;
    const int64_t new = new_elements(mapping, id, output);
    return bytes_at(mapping, value, new, is_narrow ? mapping->product_operand_bytes : 0);
}

/* Adds the bytes that the node writes. A result that products and others read may be written
 * twice, in the width of products and in its own. */
static void charge_writes(const struct mapping *mapping, uint32_t id) {
    const struct node *node = whole_node(mapping, id);
    const uint32_t owner = owner_of(mapping, id);
    struct cm_fusion *fusion = &mapping->table->fusion[owner];
    const bool is_product = mapping->role[id] == ROLE_PRODUCT;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (!kernels_depends_on_input(mapping->timing, value)) continue;
        const int64_t elements = new_elements(mapping, id, i);
        const unsigned readers = mapping->readers[value];
        const bool is_output = mapping->is_output[value];
        const int64_t stored = bytes_at(mapping, value, elements, 0);
        const int64_t for_product =
            bytes_at(mapping, value, elements, mapping->product_operand_bytes);
        int64_t written = 0;
        const bool chains = rule(mapping, RUNTIME_FUSES_CHAINS);
        const bool is_inside = readers == 0 && mapping->reader[value] != NO_READER &&
                               mapping->reader[value] != ID_NONE &&
                               mapping->epilogue_of[mapping->reader[value]] == owner;
        if (is_output || (readers & READ_BY_OTHERS) ||
            (!is_inside && (is_product || (!chains && owner == id))))
            written = stored;
        if (!is_product && (readers & READ_BY_PRODUCT) && (chains || owner != id) &&
            (written == 0 || for_product != stored))
            checked_add_to(&written, for_product);
        checked_add_to(&mapping->table->written[owner], written);
        const int64_t compulsory = compulsory_writes(mapping, id, i);
        if (is_product || is_output ||
            (mapping->keeps_products && mapping->table->outside[value] &&
             !only_moves(mapping, id)))
            checked_add_to(&fusion->compulsory_bytes, compulsory);
        if (is_output && is_known(compulsory) && is_in_main_graph(mapping, id))
            checked_add_to(&mapping->table->run_bytes, compulsory);
        if (!chains && rule(mapping, RUNTIME_RUNS_MODULES) && (readers & READ_BY_PRODUCT) &&
            for_product != stored)
            kernels_add_extra(fusion, 1, checked_add(stored, for_product)); /* a cast */
    }
}

/* Adds the kernel that quantizes each row of the float operand 0 of an 8-bit matrix product. It
 * runs if operand 0 is an input of the graph or, in a compiled runtime, the result of a
 * product. charge_writes counts the other conversions. */
static void charge_quantization(const struct mapping *mapping, uint32_t id) {
    const struct node *node = whole_node(mapping, id);
    struct cm_fusion *fusion = &mapping->table->fusion[id];
    if (mapping->product_operand_bytes != 1 || mapping->role[id] != ROLE_PRODUCT ||
        lowering_of(mapping, id)->kind != CM_GEMM || node->n_inputs == 0 ||
        !kernels_depends_on_input(mapping->timing, node->inputs[0]) ||
        !is_float(mapping, node->inputs[0]))
        return;
    const uint32_t source = mapping->table->source[node->inputs[0]];
    const uint32_t from = mapping->timing->core.model->values[source].node;
    if (from != ID_NONE &&
        (mapping->role[from] != ROLE_PRODUCT || !rule(mapping, RUNTIME_FUSES_CHAINS)))
        return;
    fusion->extra_kernels++;
    fusion->quantizes = 1;
}

/* Adds the BatchNormalization that was folded into this convolution at export: the framework
 * runs it. A compiled runtime fuses it into the next kernel unless only products read the
 * result. If it uses the statistics of the batch, it reads the result once more and is never
 * fused. In a training step it is a node of its own, see restore_norms. */
static void charge_folded_norm(const struct mapping *mapping, uint32_t id) {
    const struct cm_options *options = mapping->timing->core.options;
    const struct node *node = &mapping->timing->core.model->nodes[id];
    if (!node->folds_norm || options->optimizer || lowering_of(mapping, id)->kind != CM_CONV ||
        !rule(mapping, RUNTIME_RUNS_MODULES))
        return;
    const uint32_t value = node->outputs[0];
    if (rule(mapping, RUNTIME_FUSES_CHAINS) && mapping->readers[value] != READ_BY_PRODUCT &&
        !kernels_norms_use_batch(options))
        return;
    const int64_t bytes = bytes_at(mapping, value, elements_of(mapping, value), 0);
    const int64_t passes = kernels_norms_use_batch(options) ? 3 : 2;
    kernels_add_extra(&mapping->table->fusion[id], 1, checked_mul(passes, bytes));
}

/* Eager only: adds the conversions of NCHW images before and after a convolution in 16 or 8
 * bits, since matrix units compute in channels-last layout. */
static void charge_layout(const struct mapping *mapping, uint32_t id) {
    const struct cm_options *options = mapping->timing->core.options;
    if (rule(mapping, RUNTIME_FUSES_CHAINS) || !rule(mapping, RUNTIME_RUNS_MODULES) ||
        options->layout != CM_LAYOUT_NCHW || lowering_of(mapping, id)->kind != CM_CONV ||
        bytes_at(mapping, mapping->timing->core.model->nodes[id].outputs[0], 1, 0) == 4)
        return;
    const int64_t moved = checked_add(mapping->table->read[id], mapping->table->written[id]);
    kernels_add_extra(&mapping->table->fusion[id], 2, checked_mul(2, moved));
}

/* Computes the traffic of all nodes of a kernel; only `first`, its first node, is launched. */
static void charge_kernel(const struct mapping *mapping, uint32_t first) {
    uint32_t launched = ID_NONE;
    for (uint32_t id = first; id != ID_NONE; id = mapping->next[id]) {
        if (owner_of(mapping, id) != id) continue;
        mapping->table->fusion[id] =
            (struct cm_fusion){.in_graph = 1, .no_launch = launched != ID_NONE};
        if (launched == ID_NONE) launched = id;
    }
    for (uint32_t id = first; id != ID_NONE; id = mapping->next[id]) {
        mapping->table->kernel[id] = launched;
        charge_reads(mapping, id, kernel_of(mapping, id));
        charge_writes(mapping, id);
        charge_quantization(mapping, id);
        charge_folded_norm(mapping, id);
        charge_layout(mapping, id);
    }
}

static int make_tables(struct mapping *mapping) {
    const struct model *model = mapping->timing->core.model;
    struct arena *scratch = mapping->timing->core.scratch;
    struct arena *arena = mapping->timing->core.arena;
    struct kernels_table *table = mapping->table;
    table->read = arena_array(arena, model->n_nodes, sizeof(*table->read));
    table->written = arena_array(arena, model->n_nodes, sizeof(*table->written));
    table->fusion = arena_array(arena, model->n_nodes, sizeof(*table->fusion));
    table->qdq = arena_array(arena, model->n_nodes, sizeof(*table->qdq));
    table->kernel = arena_array(arena, model->n_nodes, sizeof(*table->kernel));
    table->source = arena_array(arena, model->n_values, sizeof(*table->source));
    table->stored = arena_array(arena, model->n_values, sizeof(*table->stored));
    table->outside = arena_array(arena, model->n_values, sizeof(*table->outside));
    table->group = arena_array(arena, model->n_nodes, sizeof(*table->group));
    mapping->role = arena_array(scratch, model->n_nodes, sizeof(*mapping->role));
    mapping->stage = arena_array(scratch, model->n_nodes, sizeof(*mapping->stage));
    mapping->group = arena_array(scratch, model->n_nodes, sizeof(*mapping->group));
    mapping->first = arena_array(scratch, model->n_nodes, sizeof(*mapping->first));
    mapping->last = arena_array(scratch, model->n_nodes, sizeof(*mapping->last));
    mapping->next = arena_array(scratch, model->n_nodes, sizeof(*mapping->next));
    mapping->readers = arena_array(scratch, model->n_values, sizeof(*mapping->readers));
    mapping->level = arena_array(scratch, model->n_values, sizeof(*mapping->level));
    mapping->charged = arena_array(scratch, model->n_values, sizeof(*mapping->charged));
    mapping->counted_by = arena_array(scratch, model->n_values, sizeof(*mapping->counted_by));
    mapping->largest = arena_array(scratch, model->n_nodes, sizeof(*mapping->largest));
    mapping->is_output = arena_array(scratch, model->n_values, sizeof(*mapping->is_output));
    mapping->read_once = arena_array(scratch, model->n_values, sizeof(*mapping->read_once));
    mapping->reader = arena_array(scratch, model->n_values, sizeof(*mapping->reader));
    mapping->epilogue_of = arena_array(scratch, model->n_nodes, sizeof(*mapping->epilogue_of));
    mapping->widest = arena_array(scratch, model->n_nodes, sizeof(*mapping->widest));
    mapping->is_mixed = arena_array(scratch, model->n_nodes, sizeof(*mapping->is_mixed));
    if (arena_failed(arena) || arena_failed(scratch))
        return diag_no_memory(mapping->timing->core.diag);
    for (uint32_t value = 0; value < model->n_values; value++) {
        table->source[value] = value;
        mapping->reader[value] = NO_READER;
    }
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        mapping->group[id] = id;
        mapping->first[id] = mapping->next[id] = mapping->epilogue_of[id] = ID_NONE;
    }
    return CM_OK;
}

int pass_kernels(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    static const uint8_t product_bytes[CM_N_PRECISIONS] = {
        [CM_PRECISION_INT8] = 1, [CM_PRECISION_FP8] = 1, [CM_PRECISION_AMP] = 2};
    const struct model *model = timing->core.model;
    const enum cm_precision precision = timing->core.options->precision;
    const char *backend = timing->core.options->backend;
    struct kernels_table *table = own;
    struct mapping mapping = {.timing = timing,
                              .table = table,
                              .runtime = timing->core.options->runtime,
                              .product_operand_bytes = product_bytes[precision]};
    mapping.keeps_products = !rule(&mapping, RUNTIME_FUSES_EPILOGUES);
    if (backend == NULL || !settings_name(backend, &roofline_backend)) return CM_OK;
    int status = make_tables(&mapping);
    if (status == CM_OK) status = find_qdq(&mapping);
    if (status < 0) return status;
    for (size_t i = 0; i < model->n_graphs; i++)
        for (size_t k = 0; k < model->graphs[i].n_nodes; k++)
            map_node(&mapping, model->graphs[i].nodes[k]);
    for (uint32_t value = 0; value < model->n_values; value++)
        if (model->values[value].is_graph_output)
            mapping.is_output[table->source[value]] = true;
    for (uint32_t value = 0; value < model->n_values; value++)
        if (is_model_input(&mapping, value) ||
            (model->values[value].is_graph_output && model->values[value].graph == 0))
            checked_add_to(&table->moved_bytes,
                           bytes_at(&mapping, value, elements_of(&mapping, value), 0));
    if (rule(&mapping, RUNTIME_FUSES_EPILOGUES)) find_epilogues(&mapping);
    for (uint32_t id = 0; id < model->n_nodes; id++) mark_readers(&mapping, id);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const uint32_t kernel = table->kernel[id] = kernel_of(&mapping, id);
        if (mapping.role[id] != ROLE_PRODUCT && mapping.role[id] != ROLE_FUSIBLE) continue;
        if (mapping.first[kernel] == ID_NONE)
            mapping.first[kernel] = id;
        else
            mapping.next[mapping.last[kernel]] = id;
        mapping.last[kernel] = id;
    }
    for (uint32_t id = 0; id < model->n_nodes; id++)
        if (mapping.first[id] != ID_NONE) charge_kernel(&mapping, mapping.first[id]);
    for (uint32_t id = 0; id < model->n_nodes; id++) charge_operands_of_group(&mapping, id);
    sum_groups(&mapping, model->n_nodes);
    for (uint32_t value = 0; value < model->n_values; value++) {
        const uint32_t node = model->values[value].node;
        table->stored[value] = !rule(&mapping, RUNTIME_FUSES_CHAINS) || node == ID_NONE ||
                               mapping.role[node] == ROLE_PRODUCT || mapping.readers[value] ||
                               mapping.is_output[value];
    }
    return CM_OK;
}
