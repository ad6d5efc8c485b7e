/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the class of each module and its arguments. In order of preference, the class is the
 * one that the exporter recorded, the name of the called function, or the class of the only
 * operator or fused pattern in the module (member `module` of its row). A container of numbered
 * children is a Sequential, or a ModuleList if it is never called. A module without a class has
 * its instance name instead. */
#include <string.h>

#include "ops/describe.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/modules/module_tree.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

struct classifier {
    const struct module_tree *tree;
    struct arena *result_arena; /* lifetime of the result */
    struct map classes;         /* the interned class names */
    const char *last;           /* most recently used class */
    uint32_t *from;             /* by module: its nodes are nodes[from[i] .. from[i + 1]) */
    uint32_t *nodes;            /* computing nodes in the first call of each leaf module */
};

/* Returns the leaf module in whose first call the node computes a result, or ID_NONE. */
static uint32_t leaf_of(const struct module_tree *tree, uint32_t id) {
    const struct node *node = &tree->analysis->model->nodes[id];
    uint32_t module = tree->table->of_node[id];
    if (tree->table->modules[module].n_children > 0 ||
        tree->first_scope[module] != tree->scopes->of_node[id])
        return ID_NONE;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && module_is_result(tree->analysis, node->outputs[i]))
            return module;
    return ID_NONE;
}

static int list_leaves(struct classifier *classifier) {
    const struct module_tree *tree = classifier->tree;
    const size_t n_modules = tree->table->n_modules;
    const size_t n_nodes = tree->scopes->n_nodes;
    struct arena *arena = tree->analysis->arena;
    uint32_t *leaves = arena_array(arena, n_nodes, sizeof *leaves);
    uint32_t *from = classifier->from = arena_array(arena, n_modules + 1, sizeof *from);
    classifier->nodes = arena_array(arena, n_nodes, sizeof *classifier->nodes);
    if (!leaves || !from || !classifier->nodes) return CM_NO_MEMORY;
    for (size_t i = 0; i < n_nodes; i++) {
        leaves[i] = leaf_of(tree, tree->scopes->nodes[i]);
        if (leaves[i] != ID_NONE) from[leaves[i]]++;
    }
    for (size_t i = 0; i < n_modules; i++) from[i + 1] += from[i]; /* where each ends */
    for (size_t i = n_nodes; i-- > 0;)
        if (leaves[i] != ID_NONE) classifier->nodes[--from[leaves[i]]] = tree->scopes->nodes[i];
    return CM_OK;
}

/* Returns "Conv2d" for "Conv{n}d": n is the number of spatial dims of input 0, 1 to 3. */
static const char *class_of(const struct op_context *context) {
    const char *name = context->op->module;
    const char *mark = strstr(name, "{n}");
    int n = op_rank(context, 0) - 2;
    struct text text;
    if (!mark) return name;
    text_init(&text, context->arena);
    text_append_n(&text, name, (size_t)(mark - name));
    text_append(&text, n <= 1 ? "1" : n == 2 ? "2" : "3");
    text_append(&text, mark + strlen("{n}"));
    return text.failed ? NULL : text_string(&text);
}

/* Class and arguments of a node; `class` is NULL if the node has none. */
struct description {
    const char *class;
    const char *arguments;
};

/* Returns the fused pattern of the node if one module contains all of it, else NULL. */
static const struct fused_pattern *pattern_within(const struct module_tree *tree,
                                                  uint32_t node) {
    const struct fused_patterns_table *fused_patterns = tree->analysis->fused_patterns;
    const uint32_t *of_node = tree->table->of_node;
    if (fused_patterns->of_node[node] == ID_NONE) return NULL;
    const struct fused_pattern *fused = &fused_patterns->items[fused_patterns->of_node[node]];
    for (size_t i = 0; i < fused->n_nodes; i++)
        if (of_node[fused->nodes[i]] != of_node[node]) return NULL;
    return fused;
}

/* Makes the context of a node or pattern; errors were reported by pass infer. */
static int make_context(const struct module_tree *tree, uint32_t node,
                        const struct fused_pattern *fused, struct op_context *ret) {
    struct op_source source = infer_source(tree->analysis);
    source.diag = NULL;
    return fused ? context_make_fused(&source, fused, ret)
                 : context_make_inferred(&source, node, ret);
}

/* Returns the class and arguments that the row of the node or pattern gives. If the row's
 * `describe` writes nothing, the node has no class: a Gather of activations is no Embedding. */
static struct description describe(const struct module_tree *tree, uint32_t node,
                                   const struct fused_pattern *fused) {
    const struct op *op = fused ? fused->op : tree->analysis->bind->ops[node];
    struct op_context context;
    struct text text;
    if (!op->module || (!op->describe && !strchr(op->module, '{')))
        return (struct description){op->module, ""};
    text_init(&text, tree->analysis->arena);
    int status = make_context(tree, node, fused, &context);
    if (status == CM_OK && op->describe) status = op->describe(&context, &text);
    if (status < 0 || (op->describe && text.length == 0)) return (struct description){NULL, ""};
    return (struct description){class_of(&context), text_string(&text)};
}

/* The nodes of a leaf that have a class. */
struct main_node {
    uint32_t node; /* the first of them; ID_NONE if there are none, or several classes */
    size_t n;
    bool alone; /* all other nodes are views and copies */
    struct description is;
};

static struct main_node find_main(const struct module_tree *tree, const uint32_t *nodes,
                                  size_t n) {
    struct main_node main = {.node = ID_NONE, .alone = true};
    for (size_t i = 0; i < n; i++) {
        const struct fused_pattern *fused = pattern_within(tree, nodes[i]);
        if (fused && fused->last != nodes[i]) continue; /* described at its last node */
        const struct description found = describe(tree, nodes[i], fused);
        if (!found.class) {
            main.alone = main.alone && op_role(tree->analysis->bind->ops[nodes[i]], 0) == 'p';
            continue;
        }
        if (main.n > 0 && !text_equal(main.is.class, found.class)) {
            main.node = ID_NONE;
            break;
        }
        if (main.n++ > 0) continue;
        main.node = nodes[i];
        main.is = found;
    }
    return main;
}

/* Describes a leaf by its nodes; the class is NULL if the nodes do not determine it. */
static struct description describe_leaf(const struct module_tree *tree, const uint32_t *nodes,
                                        size_t n) {
    const struct description none = {NULL, ""};
    struct main_node main = find_main(tree, nodes, n);
    if (main.node == ID_NONE) return none;
    /* a MatMul with a weight, then an Add of a bias: Linear of rank > 2 */
    const struct params_table *params = tree->analysis->params;
    const bool biased = n == 2 && main.n == 1 && nodes[0] == main.node &&
                        text_equal(main.is.class, "Linear") && params->n_used[nodes[0]] > 0 &&
                        op_role(tree->analysis->bind->ops[nodes[1]], 0) == 'e' &&
                        params->n_used[nodes[1]] > 0;
    if (!main.alone && !biased) return none;
    if (main.n > 1) main.is.arguments = "";
    if (!biased) return main.is;
    struct op_context context;
    struct text text;
    text_init(&text, tree->analysis->arena);
    if (make_context(tree, main.node, pattern_within(tree, main.node), &context) < 0)
        return none;
    (void)describe_linear(op_dim(&context, 1, 0), op_dim(&context, 1, 1), true, &text);
    return (struct description){main.is.class, text_string(&text)};
}

/* Sets the module's class to an interned copy. If memory runs out, the arena has failed. */
static void set_class(struct classifier *classifier, const char *class,
                      struct cm_module *module) {
    if (strcmp(classifier->last, class) != 0) {
        const char *known = map_key_n(&classifier->classes, class, strlen(class));
        const char *stored = known ? known : arena_strdup(classifier->result_arena, class);
        if (!stored || (!known && map_set(&classifier->classes, stored, 0) < 0)) return;
        classifier->last = stored;
    }
    module->type = classifier->last;
    module->type_known = true;
}

static void classify_leaf(struct classifier *classifier, size_t index) {
    struct cm_module *module = &classifier->tree->table->modules[index];
    const uint32_t *from = &classifier->from[index];
    const struct description found =
        describe_leaf(classifier->tree, classifier->nodes + from[0], from[1] - from[0]);
    if (!found.class || (module->type_known && !text_ends_with(module->type, found.class)))
        return;
    if (found.arguments[0])
        module->arguments = arena_strdup(classifier->result_arena, found.arguments);
    if (!module->type_known) set_class(classifier, found.class, module);
}

static void classify_container(const struct module_tree *tree, size_t index) {
    struct cm_module *module = &tree->table->modules[index];
    if (module->type_known || tree->has_nodes[index]) return;
    for (size_t i = 0; i < module->n_children; i++) {
        const char *name = tree->table->modules[module->children[i]].name;
        if (name[strspn(name, "0123456789")] != '\0') return;
    }
    module->type = module->calls > 0 ? "Sequential" : "ModuleList";
    module->type_known = true;
}

/* Names the root after the graph, or after the file if the graph's name is generic. */
static void name_root(const struct module_tree *tree) {
    static const char *const generic[] = {
        "", "torch_jit", "torch-jit-export", "main_graph", "main", "graph", "Graph", "tf2onnx"};
    const struct model *model = tree->analysis->model;
    struct cm_module *root = &tree->table->modules[0];
    const char *name = model->graphs[0].name;
    bool is_generic = !name;
    for (size_t i = 0; i < sizeof generic / sizeof *generic && !is_generic; i++)
        is_generic = text_equal(name, generic[i]);
    if (is_generic) {
        const char *slash = strrchr(model->path, '/');
        name = slash ? slash + 1 : model->path;
    }
    size_t length = strlen(name);
    if (is_generic && length > strlen(".onnx") && text_ends_with(name, ".onnx"))
        length -= strlen(".onnx");
    root->name = arena_strndup(tree->analysis->result_arena, name, length);
    if (!root->type_known) root->type = root->name;
}

int module_classes(const struct module_tree *tree) {
    struct classifier classifier = {
        .tree = tree, .result_arena = tree->analysis->result_arena, .last = ""};
    const struct scopes *scopes = tree->scopes;
    const struct modules_table *table = tree->table;
    struct arena *arena = tree->analysis->arena;
    map_init(&classifier.classes, tree->table_arena); /* `arena` is restored after each leaf */
    if (list_leaves(&classifier) < 0) return diag_no_memory(tree->analysis->diag);
    for (uint32_t scope = 0; scope < scopes->n_notes && scope < scopes->paths.n; scope++) {
        struct cm_module *module = &table->modules[tree->of_scope[scope]];
        const char *class = scopes_notes(scopes, scope)->class;
        if (class && !module->type_known) set_class(&classifier, class, module);
    }
    const struct arena_mark mark = arena_save(arena);
    for (size_t i = 1; i < table->n_modules; i++) {
        if (table->modules[i].n_children > 0)
            classify_container(tree, i);
        else
            classify_leaf(&classifier, i);
        if (arena_used(arena) > mark.total) arena_restore(arena, mark);
    }
    name_root(tree);
    return arena_failed(arena) || arena_failed(classifier.result_arena) ||
                   arena_failed(tree->table_arena)
               ? diag_no_memory(tree->analysis->diag)
               : CM_OK;
}
