/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of operators that are one module: see module_chains.h. A new one is a row. */
#include "passes/module_chains.h"

#include <string.h>

#include "ops/describe.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* The nodes at work in a module. */
struct chain {
    const struct analysis *analysis;
    const uint32_t *nodes;
    size_t n;
};

static const struct node *node_at(const struct chain *chain, size_t i) {
    return &chain->analysis->model->nodes[chain->nodes[i]];
}

/* The fact of operand `slot` of node i; NULL where there is none. */
static const struct fact *operand(const struct chain *chain, size_t i, size_t slot) {
    const struct node *node = node_at(chain, i);
    if (slot >= node->n_inputs || node->inputs[slot] == ID_NONE) return NULL;
    return &chain->analysis->infer.facts[node->inputs[slot]];
}

static const struct fact *output(const struct chain *chain, size_t i) {
    const struct node *node = node_at(chain, i);
    if (node->n_outputs == 0 || node->outputs[0] == ID_NONE) return NULL;
    return &chain->analysis->infer.facts[node->outputs[0]];
}

static int64_t dim_of(const struct fact *fact, int axis) {
    return fact && fact->shape.rank > axis ? fact->shape.dims[axis] : DIM_UNKNOWN;
}

/* The operand of node i that does not depend on the model's input. */
static const struct fact *constant_operand(const struct chain *chain, size_t i) {
    const struct fact *first = operand(chain, i, 0);
    return first && first->is_constant ? first : operand(chain, i, 1);
}

/* ReduceMean Sub Pow ReduceMean Add Sqrt Div [Mul Add]: the Add at 4 holds eps, the Mul at 7
 * the scale, whose shape is the normalized one. */
static void describe_layer_norm(const struct chain *chain, struct text *out) {
    const struct fact *eps = constant_operand(chain, 4);
    const struct fact *scale = chain->n > 7 ? constant_operand(chain, 7) : NULL;
    if (!scale || !fact_is_complete(scale) || !eps || !eps->value ||
        !constant_has_reals(eps->value) || eps->value->n_elements != 1)
        return;
    describe_tuple(out, (size_t)scale->shape.rank, scale->shape.dims);
    text_append(out, ", eps=");
    describe_real(out, constant_real_at(eps->value, 0));
    text_append(out, ", elementwise_affine=True");
}

static void describe_gelu(const struct chain *chain, struct text *out) {
    (void)chain;
    text_append(out, "approximate='none'");
}

/* Reshape to [batch, groups, -1], InstanceNormalization, Reshape back, Mul, Add. */
static void describe_group_norm(const struct chain *chain, struct text *out) {
    const struct attr *eps = node_attr(node_at(chain, 1), "epsilon");
    describe_int(out, dim_of(output(chain, 0), 1));
    text_append(out, ", ");
    describe_int(out, dim_of(output(chain, 2), 1));
    text_append(out, ", eps=");
    describe_real(out, eps && eps->kind == ATTR_FLOAT ? eps->f : 1e-5);
    text_append(out, ", affine=True");
}

/* A bound of Clip: operand `slot` from opset 11 on, before it an attribute. */
static bool is_bound(const struct chain *chain, size_t slot, const char *name, double bound) {
    const struct attr *attr = node_attr(node_at(chain, 0), name);
    const struct fact *fact = operand(chain, 0, slot);
    if (attr) return attr->kind == ATTR_FLOAT && attr->f == bound;
    return fact && fact->value && constant_has_reals(fact->value) &&
           fact->value->n_elements == 1 && constant_real_at(fact->value, 0) == bound;
}

static bool is_relu6(const struct chain *chain) {
    return is_bound(chain, 1, "min", 0) && is_bound(chain, 2, "max", 6);
}

static const struct {
    const char *class;
    const char *types; /* of the nodes at work, in order */
    void (*describe)(const struct chain *chain, struct text *out);
    bool (*fits)(const struct chain *chain); /* NULL: the types are enough */
} rows[] = {
    {"LayerNorm", "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add", describe_layer_norm,
     NULL},
    {"LayerNorm", "ReduceMean Sub Pow ReduceMean Add Sqrt Div", NULL, NULL},
    {"GELU", "Div Erf Add Mul Mul", describe_gelu, NULL},
    {"SiLU", "Sigmoid Mul", NULL, NULL},
    {"Hardswish", "HardSigmoid Mul", NULL, NULL},
    {"ReLU6", "Clip", NULL, is_relu6},
    {"GroupNorm", "Reshape InstanceNormalization Reshape Mul Add", describe_group_norm, NULL},
};

/* Whether the nodes are of these types, in this order. */
static bool match_types(const struct analysis *analysis, const uint32_t *nodes, size_t n,
                        const char *types) {
    for (size_t i = 0; i < n; i++) {
        const char *type = analysis->model->nodes[nodes[i]].type;
        size_t length = strcspn(types, " ");
        if (length == 0 || strlen(type) != length || strncmp(type, types, length) != 0)
            return false;
        types += length + (types[length] == ' ');
    }
    return n > 0 && *types == '\0';
}

int chains_type(const struct analysis *analysis, const uint32_t *nodes, size_t n,
                struct module *module) {
    const struct chain chain = {analysis, nodes, n};
    struct text text;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!match_types(analysis, nodes, n, rows[i].types)) continue;
        if (rows[i].fits && !rows[i].fits(&chain)) continue;
        text_init(&text, analysis->arena);
        if (rows[i].describe) rows[i].describe(&chain, &text);
        module->type = rows[i].class;
        module->arguments = text_string(&text);
        module->type_known = true;
        return text.failed ? CM_NO_MEMORY : CM_OK;
    }
    return CM_OK;
}
