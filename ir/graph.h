/* SPDX-License-Identifier: Apache-2.0 */
/* The IR: a model as flat arrays with dense ids.
 *
 * All nodes of all graphs (the main graph, and the bodies of If, Loop and Scan) are in one
 * array, as are all values, so that a pass keeps its results in a side table indexed by node or
 * value id. A graph is a list of node ids in execution order. A body refers to values of
 * enclosing graphs by their ids; names are for messages only. Model-local functions are
 * inlined; `call` records where a node came from.
 *
 * Only the frontend and tests build models, with the functions below; passes read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"
#include "ir/constant.h"
#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct cm_diagnostics;
struct text;

#define ID_NONE UINT32_MAX

enum attr_kind {
    ATTR_NONE,
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_STRING,
    ATTR_INTS,
    ATTR_FLOATS,
    ATTR_STRINGS,
    ATTR_TENSOR,
    ATTR_TENSORS,
    ATTR_GRAPH, /* graphs[0] is an id into the model's graphs */
    ATTR_GRAPHS,
    ATTR_OTHER, /* sparse tensors, type protos: only the name is kept */
};

/* A decoded attribute of a node. Names and strings end in NUL and live in the model's arena. */
struct attr {
    const char *name;
    enum attr_kind kind;
    size_t n; /* elements of the plural kinds; 1 otherwise */
    int64_t i;
    double f;
    const char *s;
    const int64_t *ints;
    const double *floats;
    const char *const *strings;
    const struct constant *const *tensors;
    const uint32_t *graphs;
};

/* Returns "int", "floats", … for messages. */
const char *attr_kind_name(enum attr_kind kind);

/* A declared or inferred type. */
struct type {
    enum cm_type_kind kind;
    enum dtype dtype;   /* element type of a tensor; key type of a map */
    struct shape shape; /* of tensors */
    const char *const
        *symbols; /* per axis the name of a symbolic dim or NULL; NULL: no symbolic dims */
    const struct type *element; /* of sequences, optionals and maps */
};

/* A type of kind CM_TYPE_UNKNOWN. */
extern const struct type type_undeclared;

enum value_origin {
    VALUE_INPUT,       /* input of a graph or body; may have a default: `constant` */
    VALUE_INITIALIZER, /* its data is `constant` */
    VALUE_OUTPUT,      /* output `slot` of `node` */
};

/* Origin of a constant, as recorded by the exporter. */
enum param_mark {
    MARK_NONE, /* not recorded */
    MARK_PARAMETER,
    MARK_DERIVED,  /* computed at export from at least one parameter */
    MARK_CONSTANT, /* a buffer or a constant, or computed only from these */
    N_MARKS
};

/* A node that reads a value. */
struct use {
    uint32_t node;
    uint32_t slot; /* which input of the node */
};

/* There are many nodes and values: fields are ordered to avoid padding, and the type, which few
 * values declare, is separate. */
struct value {
    const char *name; /* as in the file (of an inlined function: "call/name"); never NULL */
    const struct type *type;         /* as declared, or &type_undeclared */
    const struct constant *constant; /* initializers, and inputs with a default */
    const struct use *uses;          /* set by graph_finish */
    uint32_t n_uses;                 /* set by graph_finish */
    uint32_t graph;                  /* graph that it belongs to */
    uint32_t node;                   /* producer; ID_NONE if it has none */
    uint32_t slot;                   /* index in the producer's outputs */
    enum value_origin origin;
    bool is_graph_output; /* of any graph; set by graph_finish */
    uint8_t mark;         /* enum param_mark */
    bool is_repeated; /* by the exporter's record, a parameter that it repeated or expanded */
};

/* A module that encloses a node. */
struct module_stack_entry {
    const char
        *path; /* as written by the exporter: "layer1.0.conv1"; "" for the model itself */
    const char *class; /* "Conv2d"; "" if unknown */
};

/* The modules around a node, outermost first, as exported. Shared by nodes of one module. */
struct module_stack {
    size_t n;
    const struct module_stack_entry *entries;
};

/* A constant that the exporter computed from one parameter alone: in one step, or by repeating
 * it, in several (value.is_repeated). */
struct derived_param {
    uint32_t value; /* id of the constant */
    uint32_t param; /* index into model.framework_params */
};

/* A call of a model-local function that was inlined. */
struct call {
    uint32_t outer;     /* the call around this one, or ID_NONE */
    uint32_t ordinal;   /* of the calling node, see struct node */
    const char *name;   /* of the calling node, or "" */
    const char *domain; /* of the function */
    const char *function;
    size_t n_inputs;
    const uint32_t *inputs; /* actual values, ID_NONE if omitted */
    size_t n_outputs;
    const uint32_t *outputs;
    size_t n_attrs;
    const struct attr *attrs;                /* of the calling node */
    const struct module_stack *module_stack; /* of the calling node; NULL if not recorded */
};

struct node {
    const char *name;   /* "" if it has none */
    const char *domain; /* "" for ai.onnx */
    const char *type;
    int64_t opset; /* version of its domain that applies */
    uint32_t graph;
    uint32_t call;           /* call that it was inlined from, or ID_NONE */
    uint32_t ordinal;        /* number of nodes that begin before it in the file, bodies
                                included; an inlined node has the ordinal of the function's
                                node that it copies */
    const uint32_t *inputs;  /* value ids, ID_NONE if omitted */
    const uint32_t *outputs; /* value ids, ID_NONE if omitted */
    const struct attr *attrs;
    const struct module_stack
        *module_stack; /* its own, or that of the enclosing call; NULL if not recorded */
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint32_t n_attrs;
    bool fused;      /* according to metadata, an optimizer fused several nodes into it */
    bool folds_norm; /* one of these was a BatchNormalization */
};

struct graph {
    const char *name;
    uint32_t parent; /* enclosing graph, ID_NONE for the main graph */
    uint32_t owner;  /* node whose body it is, ID_NONE for the main graph */
    size_t n_nodes;
    const uint32_t *nodes; /* in execution order */
    size_t n_inputs;
    const uint32_t *inputs; /* including those with a default */
    size_t n_outputs;
    const uint32_t *outputs;
};

struct opset {
    const char *domain;
    int64_t version;
};

struct model {
    struct arena *arena;
    const char *path;
    const char *producer; /* name and version */
    int64_t ir_version;
    size_t n_opsets;
    const struct opset *opsets;
    /* Names of the parameters of the framework's model, in its order, if the exporter listed
     * them. Some have no tensor of their own in the file. */
    size_t n_framework_params;
    const char *const *framework_params;
    const int64_t *framework_elements; /* DIM_UNKNOWN if not recorded */
    size_t n_derived_params;
    const struct derived_param *derived_params;
    size_t n_restored_norms; /* BatchNormalizations that restore_norms added */
    size_t n_nodes;
    struct node *nodes;
    size_t n_values;
    struct value *values;
    size_t n_graphs;
    struct graph *graphs; /* graphs[0] is the main graph */
    size_t n_calls;
    struct call *calls;
    struct constant_reader reader;
};

struct graph_builder; /* lives in the model's arena */

/* Returns NULL if out of memory. */
struct graph_builder *graph_builder_new(struct arena *arena);
/* Each adds a shallow copy of *from, whose pointers must point into the arena, and sets *ret_id
 * to its id. A value without a type gets &type_undeclared. Returns CM_OK, CM_NO_MEMORY, or
 * CM_REFUSED if there are 2^31 entries. */
int graph_add_graph(struct graph_builder *builder, const struct graph *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_value(struct graph_builder *builder, const struct value *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_node(struct graph_builder *builder, const struct node *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_call(struct graph_builder *builder, const struct call *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
/* Allocates room for additional nodes and values. Returns as above. */
int graph_reserve(struct graph_builder *builder, size_t n_nodes, size_t n_values)
    __attribute__((warn_unused_result));
/* Returns the number of nodes added so far. */
uint32_t graph_n_nodes(const struct graph_builder *builder);
/* Each returns an entry for the caller to complete; it is valid until the next addition. */
struct graph *graph_at(struct graph_builder *builder, uint32_t id);
struct value *graph_value_at(struct graph_builder *builder, uint32_t id);
struct node *graph_node_at(struct graph_builder *builder, uint32_t id);
struct call *graph_call_at(struct graph_builder *builder, uint32_t id);
/* Moves the arrays into `model`, whose other fields the caller sets, and builds the use lists.
 * Returns CM_OK or CM_NO_MEMORY. */
int graph_finish(struct graph_builder *builder, struct model *model)
    __attribute__((warn_unused_result));

/* Returns the attribute of that name, or NULL. */
const struct attr *node_attr(const struct node *node, const char *name);
/* Returns the name of the value, "" for ID_NONE. */
const char *value_name(const struct model *model, uint32_t value);
/* Returns true for an initializer and for an input with a default. */
bool value_is_constant(const struct model *model, uint32_t value);
