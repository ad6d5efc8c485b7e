/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by the parts of the import: the graph builder and the names in scope. Names are
 * resolved to ids as nodes are added, so that the IR does not need them.
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

/* Limit of nested graphs, and of nested function calls: each level recurses in C. */
#define MAX_GRAPH_DEPTH 64

/* Limits of the lengths of lists that are searched linearly. */
#define MAX_ATTRIBUTES 1024
#define MAX_OPSETS     1024

/* Limit of nodes after inlining, since nested calls may multiply them: the larger of
 * MIN_NODE_LIMIT and NODES_PER_NODE per node of the file. */
#define MIN_NODE_LIMIT 100000
#define NODES_PER_NODE 64
/* Limit of the memory taken while inlining, since names grow with every enclosing call, and of
 * the bytes of function bodies read: the larger of MIN_INLINED_BYTES and INLINED_PER_BYTE per
 * byte of the model's structure. */
#define MIN_INLINED_BYTES ((size_t)64 << 20)
#define INLINED_PER_BYTE  64

/* Id of a formal input that the caller omits. */
#define ID_OMITTED (ID_NONE - 1)

struct importer {
    const Onnx__ModelProto *proto; /* without its graph */
    struct skimmed bytes;
    struct arena *arena;    /* the model's */
    struct arena *scratch;  /* until the import ends */
    struct arena *scopes;   /* names and orders of nodes; freed at the end of each call */
    struct arena *decoding; /* messages that are being imported */
    struct cm_diagnostics *diag;
    struct graph_builder *builder;
    struct map functions; /* domain, name and overload -> index into function_list */
    struct function *function_list;
    size_t n_functions;
    uint64_t n_nodes;
    uint64_t node_limit;
    size_t byte_limit;        /* of memory while inlining, and of n_bytes_read */
    size_t n_bytes_read;      /* of function bodies, once per call */
    bool sorted;              /* a graph was not in topological order and has been sorted */
    bool keeps_order;         /* this attempt imports the main graph in file order */
    bool out_of_order;        /* the attempt failed: a value is used before it is defined */
    struct map shared;        /* set of strings that many nodes share */
    struct map module_stacks; /* text of a module stack -> index into module_stack_list */
    struct map marks;         /* name in the exporter's signature -> enum param_mark; of a
                                 parameter, + N_MARKS * its index */
    size_t n_params;          /* parameters in `marks` */
    struct derived_param *derived_params;
    size_t n_derived_params;
    size_t derived_capacity;
    const struct module_stack **module_stack_list;
    size_t n_module_stacks;
    size_t module_stack_capacity;
};

/* The names of one graph or function body. */
struct scope {
    const struct scope *outer; /* enclosing graph; NULL for the main graph and functions */
    struct map names;          /* -> value id */
    struct span newest;        /* the last name that was defined */
    uint32_t newest_id;
    uint32_t graph;
    uint32_t call;                           /* innermost call, ID_NONE */
    const char *prefix;                      /* of names defined here: "call/", or "" */
    const struct frame *function;            /* whose body contains this scope, or NULL */
    const struct module_stack *module_stack; /* of the innermost call that has one, or NULL */
    int depth;
};

/* A function of the model. */
struct function {
    const Onnx__FunctionProto *proto;
    struct message parts; /* the same message; its nodes are read from here */
};

/* A function that is being inlined, for attribute references and cycles. */
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
    uint32_t ordinal;      /* see struct node */
    const char *full_name; /* with the prefix of its scope; "" if it has no name */
    const char *name;      /* without the prefix */
    const char *type;
};

/* Return a copy of a string of the file; NULL only if memory ran out. */
const char *import_text(struct importer *importer, const char *text);
const char *import_span(struct importer *importer, struct span text);
/* The same for a string that occurs often: equal strings share one copy. */
const char *import_shared(struct importer *importer, struct span text);
const char *import_bytes(struct importer *importer, const ProtobufCBinaryData *bytes);
struct span span_of_bytes(const ProtobufCBinaryData *bytes);

/* Returns the opset version of `domain`. If it is not imported: 0 for ai.onnx, else 1. */
int64_t import_opset(Onnx__OperatorSetIdProto *const *imports, size_t n, const char *domain);

/* tensors.c */
int import_tensor(struct importer *importer, const Onnx__TensorProto *proto,
                  const struct constant **ret) CM_MUST_CHECK;
int import_sparse(struct importer *importer, const Onnx__SparseTensorProto *proto,
                  const struct constant **ret) CM_MUST_CHECK;

/* types.c */
int import_type(struct importer *importer, const Onnx__TypeProto *proto, int depth,
                struct type *ret) CM_MUST_CHECK;
/* Sets *ret to the declared type of a value, in the model's arena. */
int import_declared(struct importer *importer, const Onnx__TypeProto *proto,
                    const struct type **ret) CM_MUST_CHECK;

/* attributes.c: bodies become graphs under `scope`. */
int import_attributes(struct importer *importer, const struct file_node *node,
                      const struct scope *scope, uint32_t node_id, const struct attr **ret,
                      size_t *ret_n) CM_MUST_CHECK;

/* graphs.c: the main graph, or a body. */
int import_graph(struct importer *importer, const struct message *parts,
                 const struct scope *outer, uint32_t owner, uint32_t *ret_id) CM_MUST_CHECK;

/* scope.c */
/* Returns the value of that name in the scope or an enclosing one, ID_NONE or ID_OMITTED. */
uint32_t scope_find(const struct scope *scope, struct span name);
/* Returns the value of that name in this scope, or MAP_NONE. */
uint32_t scope_get(const struct scope *scope, struct span name);
/* Defines a name in this scope, which borrows it; a second definition is an error. */
int scope_define(struct importer *importer, struct scope *scope, struct span name,
                 uint32_t value) CM_MUST_CHECK;
/* Returns the name with the prefix of the scope; NULL if memory ran out. */
const char *scope_full_name(struct importer *importer, const struct scope *scope,
                            struct span name);
/* Adds the value, sets its name and graph, and defines the name. */
int scope_add_value(struct importer *importer, struct scope *scope, struct span name,
                    struct value *value, uint32_t *ret_id) CM_MUST_CHECK;
/* Reports a name that is not defined, or not yet. */
int import_undefined(struct importer *importer, const char *what, struct span name);

/* nodes.c: adds the nodes to the scope's graph. */
int import_nodes(struct importer *importer, struct node_walk nodes,
                 struct scope *scope) CM_MUST_CHECK;

/* metadata.c: reads the modules that enclose the node, and whether an optimizer fused
 * it. Malformed metadata is ignored. */
int import_metadata(struct importer *importer, const struct file_node *node,
                    const struct module_stack **ret_module_stack,
                    bool *ret_fused) CM_MUST_CHECK;

/* Sets values[k] to the value of key k (enum metadata_key), NULL if missing, in the arena
 * `decoding`. If a key occurs twice, the first counts. */
int metadata_read(struct importer *importer, struct span entry,
                  const char *values[N_METADATA_KEYS]) CM_MUST_CHECK;
/* Returns the end of the quoted Python string at `at`; NULL if there is none or it has no end.
 */
const char *metadata_skip_quoted(const char *at);

/* param_marks.c: what the exporter recorded about parameters. Malformed metadata is ignored. */
/* Reads the signature of the main graph. */
int import_signature(struct importer *importer, const struct message *graph) CM_MUST_CHECK;
/* Returns the mark of the constant by its name alone. */
enum param_mark import_named_mark(const struct importer *importer, struct span name);
/* Sets `mark` and `is_repeated` of the value if its metadata has them. */
int import_mark(struct importer *importer, const Onnx__ValueInfoProto *info, uint32_t id,
                struct value *value) CM_MUST_CHECK;
/* Moves the list of parameters to the model. */
int import_framework_params(struct importer *importer, struct model *model) CM_MUST_CHECK;

/* functions.c */
int import_functions(struct importer *importer) CM_MUST_CHECK;
/* Sets *ret to the function that the node calls, or NULL. */
int find_function(struct importer *importer, const struct file_node *node,
                  const struct function **ret) CM_MUST_CHECK;
/* Refuses if inlined functions take too much memory. */
int check_inlined_size(struct importer *importer) CM_MUST_CHECK;
/* Replaces the node by the function's body. */
int inline_call(struct importer *importer, const struct file_node *node,
                const struct function *function, struct scope *scope) CM_MUST_CHECK;

#endif
