/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the import share: the builder, and the names that are in scope. Names are
 * resolved to ids as nodes are added, so that the IR never needs a name again.
 */
#ifndef FRONTEND_IMPORTER_H
#define FRONTEND_IMPORTER_H

#include "frontend/nodes.h"
#include "frontend/wire/decode.h"
#include "frontend/wire/skim.h"
#include "ir/graph.h"
#include "onnx.pb-c.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

/* Graphs inside graphs and functions inside functions: each level is a C call. */
#define MAX_GRAPH_DEPTH 64

/* Lists that are searched from the front. */
#define MAX_ATTRIBUTES 1024
#define MAX_OPSETS     1024

/* Nodes after inlining: what a hostile tower of functions may cost. */
#define MIN_NODE_LIMIT 100000
#define NODES_PER_NODE 64
/* And the memory, for each byte of structure: names grow with every call around them. As much
 * may be read: functions, each as often as it is called. */
#define MIN_INLINED_BYTES ((size_t)64 << 20)
#define INLINED_PER_BYTE  64

/* What a name of a function stands for whose operand the caller left out. */
#define ID_OMITTED (ID_NONE - 1)

struct importer {
    const Onnx__ModelProto *proto; /* without its graph */
    struct skimmed bytes;
    struct arena *arena;    /* the model's */
    struct arena *scratch;  /* until the import ends */
    struct arena *scopes;   /* names and orders of nodes; a call gives back what it took */
    struct arena *decoding; /* messages that are being imported just now */
    struct cm_diagnostics *diag;
    struct graph_builder *builder;
    struct map functions; /* domain, name and overload -> index into function_list */
    struct function *function_list;
    size_t n_functions;
    uint64_t n_nodes;
    uint64_t node_limit;
    size_t byte_limit;   /* of memory while a function is inlined, and of n_bytes_read */
    size_t n_bytes_read; /* of functions, each as often as it is called */
    bool sorted;         /* a graph was out of order and has been sorted */
    bool takes_order;    /* of the main graph as it stands in the file */
    bool out_of_order;   /* it could not be taken: something is used before it is made */
    struct map shared;   /* texts that many nodes have; the values mean nothing */
    struct map places;   /* what the file says of a place -> index into place_list */
    const struct place **place_list;
    size_t n_places;
    size_t place_capacity;
};

/* Names of one graph or function body, and what lies around it. */
struct scope {
    const struct scope *outer; /* graph around a body; NULL for the main graph and functions */
    struct map names;          /* -> value id */
    struct span newest;        /* of these names */
    uint32_t newest_id;
    uint32_t graph;
    uint32_t call;                /* innermost call, ID_NONE */
    const char *prefix;           /* of names that are made in here: "call/", "" */
    const struct frame *function; /* whose body this is, or NULL */
    const struct place *place;    /* of the innermost call that has one, or NULL */
    int depth;
};

/* A function of the model. */
struct function {
    const Onnx__FunctionProto *proto;
    struct message parts; /* of the same; its nodes are read from here */
};

/* The function that is being inlined, for attribute references and cycles. */
struct frame {
    const struct frame *outer;
    const struct function *function;
    const struct attr *attrs; /* of the call */
    size_t n_attrs;
};

/* A node that is being imported. */
struct file_node {
    struct message parts;  /* NodeProto */
    uint32_t index;        /* in its graph or function */
    uint32_t ordinal;      /* as a node's */
    const char *full_name; /* behind the prefix of its scope; "" where it has none */
    const char *name;      /* the same without the prefix */
    const char *type;
};

/* Strings of the file, copied; never NULL unless memory is out. */
const char *import_text(struct importer *importer, const char *text);
const char *import_span(struct importer *importer, struct span text);
/* The same for a text that comes again and again: the copies are one. */
const char *import_shared(struct importer *importer, struct span text);
const char *import_bytes(struct importer *importer, const ProtobufCBinaryData *bytes);
struct span span_of_bytes(const ProtobufCBinaryData *bytes);

/* Opset version of `domain` among the imports: 1 for a domain that is not imported, 0: ai.onnx
 * is missing. */
int64_t import_opset(Onnx__OperatorSetIdProto *const *imports, size_t n, const char *domain);

/* tensors.c */
int import_tensor(struct importer *importer, const Onnx__TensorProto *proto,
                  const struct constant **ret) CM_MUST_CHECK;
int import_sparse(struct importer *importer, const Onnx__SparseTensorProto *proto,
                  const struct constant **ret) CM_MUST_CHECK;

/* types.c */
int import_type(struct importer *importer, const Onnx__TypeProto *proto, int depth,
                struct type *ret) CM_MUST_CHECK;
/* The same of a value, in the model's arena. */
int import_declared(struct importer *importer, const Onnx__TypeProto *proto,
                    const struct type **ret) CM_MUST_CHECK;

/* attributes.c: bodies become graphs under `scope`. */
int import_attributes(struct importer *importer, const struct file_node *node,
                      const struct scope *scope, uint32_t node_id, const struct attr **ret,
                      size_t *ret_n) CM_MUST_CHECK;
/* One by itself: the default of a function's attribute. */
int import_attribute(struct importer *importer, const Onnx__AttributeProto *proto,
                     const struct scope *scope, uint32_t node_id,
                     struct attr *ret) CM_MUST_CHECK;

/* graphs.c: the main graph, or a body. */
int import_graph(struct importer *importer, const struct message *parts,
                 const struct scope *outer, uint32_t owner, uint32_t *ret_id) CM_MUST_CHECK;

/* scope.c */
/* The value of that name in the scope or around it; ID_NONE: none, ID_OMITTED. */
uint32_t scope_find(const struct scope *scope, struct span name);
/* The value of that name in this scope, or MAP_NONE. */
uint32_t scope_get(const struct scope *scope, struct span name);
/* A new name of this scope, which it borrows; a second definition is an error. */
int scope_define(struct importer *importer, struct scope *scope, struct span name,
                 uint32_t value) CM_MUST_CHECK;
/* What is called so in this scope as others see it: behind its prefix; NULL: no memory. */
const char *scope_full_name(struct importer *importer, const struct scope *scope,
                            struct span name);
/* Adds the value, whose name and graph are set here, and defines its name. */
int scope_add_value(struct importer *importer, struct scope *scope, struct span name,
                    struct value *value, uint32_t *ret_id) CM_MUST_CHECK;
/* What is used has no definition, not yet or not at all. */
int import_undefined(struct importer *importer, const char *what, struct span name);

/* nodes.c: adds the nodes to the scope's graph. */
int import_nodes(struct importer *importer, struct node_walk nodes,
                 struct scope *scope) CM_MUST_CHECK;

/* metadata.c: sets the place and what else is noted of the node; one that cannot be read is as
 * one that is not there. */
int import_metadata(struct importer *importer, const struct file_node *node,
                    const struct place **ret_place, bool *ret_fused) CM_MUST_CHECK;

/* functions.c */
int import_functions(struct importer *importer) CM_MUST_CHECK;
/* *ret: the function that the node calls, or NULL. */
int find_function(struct importer *importer, const struct file_node *node,
                  const struct function **ret) CM_MUST_CHECK;
/* Whether there is still room for what functions unfold into. */
int check_unfolded(struct importer *importer) CM_MUST_CHECK;
/* Puts the function's body in place of the node. */
int inline_call(struct importer *importer, const struct file_node *node,
                const struct function *function, struct scope *scope) CM_MUST_CHECK;

#endif
