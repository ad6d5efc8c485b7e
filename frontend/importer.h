/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parts of the import: the graph builder and the names in scope. Names are
 * resolved as nodes are added, so that the IR refers to values by id. */
#pragma once

#include "frontend/wire/decode.h"
#include "frontend/wire/skim.h"
#include "ir/graph.h"
#include "onnx.pb-c.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

/* Limit of the depth of graphs, and of nested function calls: each level recurses in C. */
#define MAX_GRAPH_DEPTH 64

/* Limits of the lengths of lists that are searched linearly: attributes, opset imports. */
#define MAX_ATTRIBUTES 1024
#define MAX_OPSETS     1024

/* Nested calls may multiply the nodes, so the number of inlined nodes is limited to
 * NODES_PER_NODE times the nodes of the main graph and of the functions (without nodes in
 * bodies of If, Loop and Scan), or to MIN_NODE_LIMIT if that is larger. */
#define MIN_NODE_LIMIT 100000
#define NODES_PER_NODE 64
/* Names grow with every enclosing call, so the memory taken while inlining is limited to
 * INLINED_PER_BYTE times the bytes of the model's structure (struct skimmed), or to
 * MIN_INLINED_BYTES if that is larger. The same limit applies to the bytes of function bodies
 * that are read. */
#define MIN_INLINED_BYTES ((size_t)64 << 20)
#define INLINED_PER_BYTE  64

/* Value id of a formal input that the caller of a function omits. */
#define ID_OMITTED (ID_NONE - 1)

struct importer {
    const Onnx__ModelProto *proto; /* without its graph */
    struct skimmed bytes;
    struct arena *arena;    /* the model's */
    struct arena *scratch;  /* freed when the import ends */
    struct arena *scopes;   /* name maps and sorted nodes; restored after each inlined call */
    struct arena *decoding; /* messages that are being imported */
    struct cm_diagnostics *diag;
    struct graph_builder *builder;
    struct map functions; /* domain, name and overload -> index into function_list */
    struct function *function_list;
    size_t n_functions;
    uint64_t n_nodes; /* inlined so far, including calls */
    uint64_t node_limit;
    size_t byte_limit;        /* limit of the memory while inlining, and of n_bytes_read */
    size_t n_bytes_read;      /* bytes of function bodies, counted at each call */
    bool sorted;              /* a graph was not in topological order and has been sorted */
    bool keeps_order;         /* this attempt imports the main graph in file order */
    bool out_of_order;        /* the attempt failed: a value is used before it is defined */
    struct map shared;        /* set of strings that many nodes share */
    struct map module_stacks; /* text of a module stack -> index into module_stack_list */
    struct map marks;         /* name in the exporter's signature -> mark + N_MARKS * index:
                                 enum param_mark, and for a parameter its index, else 0 */
    size_t n_params;          /* parameters in `marks` */
    int64_t *param_elements;  /* DIM_UNKNOWN if the signature has no size */
    size_t params_capacity;
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
    struct map names;          /* name -> value id, ID_OMITTED */
    struct span newest;        /* the last name that was defined */
    uint32_t newest_id;
    uint32_t graph;
    uint32_t call;                           /* innermost inlined call, or ID_NONE */
    const char *prefix;                      /* of names defined here: "call/", or "" */
    const struct frame *function;            /* function that is being inlined, or NULL */
    const struct module_stack *module_stack; /* of the innermost call that has one, or NULL */
    int depth;                               /* of nested graphs; 0: main graph */
};

/* A function of the model. */
struct function {
    const Onnx__FunctionProto *proto;
    struct message parts; /* the same message, not decoded; its nodes are read from here */
};

/* A function that is being inlined. Frames resolve attribute references and detect cycles. */
struct frame {
    const struct frame *outer; /* function whose body contains the call, or NULL */
    const struct function *function;
    const struct attr *attrs; /* of the call */
    size_t n_attrs;
};

/* Position of a node in the file. */
struct node_bytes {
    struct span bytes; /* NodeProto */
    uint32_t index;    /* in its list */
    uint32_t ordinal;  /* number of nodes of the file that begin before it */
};

/* Iterates over nodes in file order. */
struct node_walk {
    struct fields_walk left;
    uint32_t index;   /* of the next node */
    uint32_t ordinal; /* of the next node */
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

/* Return a copy of a string of the file; NULL only if memory ran out. import_shared is for
 * strings that occur often: equal strings share one copy. */
const char *import_text(struct importer *importer, const char *text);
const char *import_span(struct importer *importer, struct span text);
const char *import_shared(struct importer *importer, struct span text);
const char *import_bytes(struct importer *importer, const ProtobufCBinaryData *bytes);
struct span import_span_of_bytes(const ProtobufCBinaryData *bytes);

/* Returns the opset version of `domain`; if it is not imported, 0 for ai.onnx, else 1. */
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

/* graphs.c: imports the main graph (no `outer`, no `owner`), or a body of node `owner`. */
int import_graph(struct importer *importer, const struct message *parts,
                 const struct scope *outer, uint32_t owner, uint32_t *ret_id) CM_MUST_CHECK;

/* scope.c */
/* Returns the id of the value with that name in the scope or the nearest enclosing one that has
 * it; ID_NONE if it is not defined; ID_OMITTED if it is an omitted formal input. */
uint32_t scope_find(const struct scope *scope, struct span name);
/* The same in this scope alone; MAP_NONE if it is not defined. */
uint32_t scope_get(const struct scope *scope, struct span name);
/* Defines a name, which is not copied, in this scope; a second definition is an error. */
int scope_define(struct importer *importer, struct scope *scope, struct span name,
                 uint32_t value) CM_MUST_CHECK;
/* Returns a copy of the name with the prefix of the scope; NULL if memory ran out. */
const char *scope_full_name(struct importer *importer, const struct scope *scope,
                            struct span name);
/* Adds the value, sets its name and graph, and defines the name. */
int scope_add_value(struct importer *importer, struct scope *scope, struct span name,
                    struct value *value, uint32_t *ret_id) CM_MUST_CHECK;
/* Reports that a name is not defined. In file order it may be defined later: then only sets
 * out_of_order, and returns CM_REFUSED without a message. `what`: "input" or "output". */
int import_undefined(struct importer *importer, const char *what, struct span name);

/* nodes.c: adds the nodes to the scope's graph, in topological order. */
int import_nodes(struct importer *importer, struct node_walk nodes,
                 struct scope *scope) CM_MUST_CHECK;

/* Returns an iterator at the first node. `number`: GRAPH_NODE or FUNCTION_NODE. */
struct node_walk nodes_of(const struct message *message, uint32_t number);

/* Sets *ret to the next node and *ret_parts to its fields; returns false at the end. */
bool nodes_next(struct node_walk *walk, struct node_bytes *ret, struct message *ret_parts);

/* sort.c */
/* Sets *ret to the *ret_n nodes, each after the producers of its operands and of the outer
 * values that its bodies use; allocated in importer->scopes. Keeps the file's order if it is
 * topological. A cycle is an error that names a node. */
int sort_nodes(struct importer *importer, struct node_walk nodes, const struct node_bytes **ret,
               size_t *ret_n) CM_MUST_CHECK;

/* metadata.c: sets `module_stack`, `fused` and `folds_norm` of *ret, which is zeroed. Malformed
 * metadata is ignored. */
int import_metadata(struct importer *importer, const struct file_node *node,
                    struct node *ret) CM_MUST_CHECK;

/* Reads one entry: if its key is k (enum metadata_key) and values[k] is NULL, sets values[k] to
 * a copy of its value in the arena `decoding`. The first entry of a key wins. */
int metadata_read(struct importer *importer, struct span entry,
                  const char *values[N_METADATA_KEYS]) CM_MUST_CHECK;
/* Returns the end of the quoted Python string at `at`; NULL if there is none or no end. */
const char *metadata_skip_quoted(const char *at);

/* param_marks.c: what the exporter recorded about parameters; ignores malformed metadata.
 * Reads the signature of the main graph into `marks`. */
int import_signature(struct importer *importer, const struct message *graph) CM_MUST_CHECK;
/* Returns the mark of that name in the signature; MARK_NONE if it has none. */
enum param_mark import_named_mark(const struct importer *importer, struct span name);
/* Sets the value's `mark` if its metadata have one, and `is_repeated`, which also depends on
 * the names of the value and of its sources. If it was computed from one parameter alone and
 * `id` is not ID_NONE, adds it to derived_params. */
int import_mark(struct importer *importer, const Onnx__ValueInfoProto *info, uint32_t id,
                struct value *value) CM_MUST_CHECK;
/* Copies the names of parameters and derived_params to the model. */
int import_framework_params(struct importer *importer, struct model *model) CM_MUST_CHECK;

/* functions.c */
int import_functions(struct importer *importer) CM_MUST_CHECK;
/* Sets *ret to the function that the node calls; NULL if the node is an operator. */
int import_find_function(struct importer *importer, const struct file_node *node,
                         const struct function **ret) CM_MUST_CHECK;
/* Refuses if inlined functions take more memory than byte_limit. */
int import_check_inlined_size(struct importer *importer) CM_MUST_CHECK;
/* Replaces the node by the function's body. */
int import_inline_call(struct importer *importer, const struct file_node *node,
                       const struct function *function, struct scope *scope) CM_MUST_CHECK;
