/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IR: a model as flat arrays with dense ids.
 *
 * All nodes of all graphs (the main one, and the bodies of If, Loop and Scan) stand in one
 * array, and so do all values, so that any pass keeps its results in a side table indexed by
 * node or value id. A graph is a list of node ids in execution order. A body sees the values of
 * the graphs around it by their ids; names matter to messages only. Model-local functions are
 * already inlined: what a node came from is in its `call`.
 *
 * Only the frontend (and tests) build a model, with the functions below; passes read it.
 */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"
#include "ir/attr.h"
#include "ir/constant.h"
#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct cm_diagnostics;
struct text;

#define ID_NONE UINT32_MAX

/* A declared or inferred type. */
struct type {
    enum cm_type_kind kind;
    enum dtype dtype;   /* element type of a tensor; key type of a map */
    struct shape shape; /* of tensors */
    const char *const
        *symbols; /* per axis the file's name of a free dim, or NULL; NULL: none */
    const struct type *element; /* of sequences, optionals and maps */
};

/* Of kind CM_TYPE_UNKNOWN. */
extern const struct type type_undeclared;

enum value_origin {
    VALUE_INPUT,       /* of a graph or body; may also have `constant` as its default */
    VALUE_INITIALIZER, /* `constant` */
    VALUE_OUTPUT,      /* of `node`, at `slot` */
};

struct use {
    uint32_t node;
    uint32_t slot; /* which input of the node */
};

/* Nodes and values are many: small numbers stand together, and a type, which few values have
 * in a file, apart. */
struct value {
    const char *name; /* as in the file (of an inlined function: "call/name"); never NULL */
    const struct type *type;         /* as declared; type_undeclared where the file is silent */
    const struct constant *constant; /* initializers, and inputs with a default */
    const struct use *uses;          /* by graph_finish */
    uint32_t n_uses;                 /* likewise */
    uint32_t graph;                  /* that it belongs to */
    uint32_t node;                   /* producer, ID_NONE */
    uint32_t slot;
    enum value_origin origin;
    bool is_graph_output; /* of any graph; by graph_finish */
};

/* A module on the way to a node. */
struct place_part {
    const char *path;  /* as the exporter wrote it: "layer1.0.conv1"; "" the model itself */
    const char *class; /* "Conv2d"; "" where it told none */
};

/* Where a node was written, as an exporter noted it: modules from the outermost inwards. Nodes
 * that were written in one place share it. */
struct place {
    size_t n_parts;
    const struct place_part *parts;
};

/* One entry of a model's metadata_props. */
struct property {
    const char *key;
    const char *value;
};

/* A call of a model-local function that was inlined. */
struct call {
    uint32_t outer;     /* the call around this one, or ID_NONE */
    uint32_t ordinal;   /* of the calling node, as a node's */
    const char *name;   /* of the calling node; "" */
    const char *domain; /* of the function */
    const char *function;
    size_t n_inputs;
    const uint32_t *inputs; /* actual values, ID_NONE where omitted */
    size_t n_outputs;
    const uint32_t *outputs;
    size_t n_attrs;
    const struct attr *attrs;  /* as given by the calling node */
    const struct place *place; /* of the calling node; NULL: not noted */
};

struct node {
    const char *name;   /* "" where it has none */
    const char *domain; /* "" for ai.onnx (which may also be spelled out in files) */
    const char *type;
    int64_t opset; /* version of its domain that applies */
    uint32_t graph;
    uint32_t call;       /* that it was inlined from, or ID_NONE */
    uint32_t file_index; /* place in its graph or function in the file, for messages */
    uint32_t ordinal;    /* how many nodes of the file begin before it; of an inlined node, the
                            one in the function's body */
    const uint32_t *inputs;  /* value ids, ID_NONE where omitted */
    const uint32_t *outputs; /* value ids, ID_NONE where omitted */
    const struct attr *attrs;
    const struct place *place; /* its own, or that of the call around it; NULL: not noted */
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint32_t n_attrs;
    bool fused; /* an optimizer noted that it made one node of several */
};

struct graph {
    const char *name;
    uint32_t parent; /* graph around it, ID_NONE for the main graph */
    uint32_t owner;  /* node whose body it is, ID_NONE for the main graph */
    size_t n_nodes;
    const uint32_t *nodes; /* in execution order */
    size_t n_inputs;
    const uint32_t *inputs; /* inputs proper: with a default they count as initializers too */
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
    size_t n_properties;
    const struct property *properties;
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

struct graph_builder; /* arrays that grow; lives in the model's arena */

/* NULL: no memory. */
struct graph_builder *graph_builder_new(struct arena *arena);
/* Each adds one (a shallow copy of *from; what it points to must live in the arena) and gives
 * its id. A value without a type is of none that is declared. CM_OK, CM_NO_MEMORY, CM_REFUSED
 * past 2^31 entries. */
int graph_add_graph(struct graph_builder *builder, const struct graph *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_value(struct graph_builder *builder, const struct value *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_node(struct graph_builder *builder, const struct node *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
int graph_add_call(struct graph_builder *builder, const struct call *from, uint32_t *ret_id)
    __attribute__((warn_unused_result));
/* Room for so many more, so that a table which would grow by doubling does not; only a hint. */
int graph_reserve(struct graph_builder *builder, size_t n_nodes, size_t n_values)
    __attribute__((warn_unused_result));
/* How many nodes there are so far. */
uint32_t graph_n_nodes(const struct graph_builder *builder);
/* What was added, to be completed in place (pointers move when something is added). */
struct graph *graph_at(struct graph_builder *builder, uint32_t id);
struct value *graph_value_at(struct graph_builder *builder, uint32_t id);
struct node *graph_node_at(struct graph_builder *builder, uint32_t id);
struct call *graph_call_at(struct graph_builder *builder, uint32_t id);
/* Moves the arrays into `model` (whose other fields the caller sets) and builds the use lists.
 */
int graph_finish(struct graph_builder *builder, struct model *model)
    __attribute__((warn_unused_result));

/* The attribute of that name, or NULL. */
const struct attr *node_attr(const struct node *node, const char *name);
/* The value's name, "" for ID_NONE. */
const char *value_name(const struct model *model, uint32_t value);
/* Whether the value's contents stand in the file: an initializer, or an input with a default.
 */
bool value_is_constant(const struct model *model, uint32_t value);

#endif
