/* SPDX-License-Identifier: Apache-2.0 */
/* See print.h. Strings of the file are written by text_append_label or text_append_name, and
 * long lists are cut, so that a node is always one readable line. */
#include "ir/print.h"

#include <inttypes.h>
#include <string.h>

#include "ir/graph.h"
#include "ir/value_info.h"
#include "support/text.h"

#define MAX_LIST      8  /* elements of an attribute that are shown */
#define MAX_VALUES    32 /* operands, outputs and attributes of a node that are shown */
#define MAX_STRING    64 /* bytes of a text attribute that are shown */
#define MAX_TYPE_NEST 16 /* sequences of sequences ... */
#define MAX_BODY_NEST 64 /* bodies of bodies ... */

void print_value_info(const struct value_info *info, struct text *out) {
    const struct value_info unknown = value_info_unknown();
    int n = 0; /* open parentheses */
    for (; info != NULL && n < MAX_TYPE_NEST; info = info->element, n++) {
        if (info->kind == CM_TYPE_SEQUENCE)
            text_append(out, "seq(");
        else if (info->kind == CM_TYPE_OPTIONAL)
            text_append(out, "opt(");
        else if (info->kind == CM_TYPE_MAP)
            text_printf(out, "map(%s, ", dtype_short_name(info->dtype));
        else
            break;
    }
    if (info == NULL) info = &unknown;
    if (info->kind == CM_TYPE_TENSOR || info->kind == CM_TYPE_SPARSE_TENSOR) {
        const bool is_sparse = info->kind == CM_TYPE_SPARSE_TENSOR;
        text_append(out, is_sparse ? "sparse(" : "");
        text_append(out, dtype_short_name(info->dtype));
        shape_print(&info->shape, out);
        text_append(out, is_sparse ? ")" : "");
    } else {
        text_append(out, "?");
    }
    if (info->is_upper_bound) text_append(out, " at most");
    while (n-- > 0) text_append(out, ")");
}

static void print_type(const struct type *type, struct text *out) {
    struct value_info levels[MAX_TYPE_NEST + 1];
    int n = 0;
    for (; type != NULL && n <= MAX_TYPE_NEST; type = type->element, n++) {
        levels[n] =
            (struct value_info){.kind = type->kind, .dtype = type->dtype, .shape = type->shape};
        if (n > 0) levels[n - 1].element = &levels[n];
    }
    print_value_info(n > 0 ? levels : NULL, out);
}

static void print_name(const struct model *model, uint32_t value, struct text *out) {
    text_append(out, value == ID_NONE ? "_" : "%");
    if (value != ID_NONE) text_append_label(out, value_name(model, value));
}

/* Prints values with their types: "(%x: f32[2], _)". */
static void print_values(const struct model *model, const uint32_t *values, size_t n,
                         const struct value_info *infos, struct text *out) {
    text_append(out, "(");
    for (size_t i = 0; i < n && i < MAX_VALUES; i++) {
        if (i > 0) text_append(out, ", ");
        print_name(model, values[i], out);
        if (values[i] == ID_NONE) continue;
        text_append(out, ": ");
        if (infos != NULL)
            print_value_info(&infos[values[i]], out);
        else
            print_type(model->values[values[i]].type, out);
    }
    text_append(out, n > MAX_VALUES ? ", ...)" : ")");
}

/* Prints a string in quotes. Cuts it to MAX_STRING bytes, between two characters. */
static void print_string(const char *string, struct text *out) {
    char shown[MAX_STRING + 1];
    const size_t n = text_cut_length(string, MAX_STRING);
    const bool is_cut = string[n] != '\0';
    memcpy(shown, string, n);
    shown[n] = '\0';
    text_append(out, "\"");
    text_append_name(out, shown);
    text_append(out, is_cut ? "...\"" : "\"");
}

/* Prints the value of a singular kind, or element i of a plural one. */
static void print_element(const struct attr *attr, size_t i, struct text *out) {
    switch (attr->kind) {
    case ATTR_INT:
    case ATTR_INTS:
        text_printf(out, "%" PRId64, attr->kind == ATTR_INT ? attr->i : attr->ints[i]);
        break;
    case ATTR_FLOAT:
    case ATTR_FLOATS:
        text_printf(out, "%g", attr->kind == ATTR_FLOAT ? attr->f : attr->floats[i]);
        break;
    case ATTR_STRING:
    case ATTR_STRINGS:
        print_string(attr->kind == ATTR_STRING ? attr->s : attr->strings[i], out);
        break;
    case ATTR_TENSOR:
    case ATTR_TENSORS:
        text_append(out, "<tensor>");
        break;
    case ATTR_GRAPH:
    case ATTR_GRAPHS:
        text_append(out, "<graph>");
        break;
    case ATTR_NONE:
    case ATTR_OTHER:
        text_printf(out, "<%s>", attr_kind_name(attr->kind));
        break;
    }
}

static bool element_equal(const struct attr *attr, size_t a, size_t b) {
    switch (attr->kind) {
    case ATTR_INTS:
        return attr->ints[a] == attr->ints[b];
    case ATTR_FLOATS:
        return memcmp(&attr->floats[a], &attr->floats[b], sizeof attr->floats[a]) == 0;
    case ATTR_STRINGS:
        return strcmp(attr->strings[a], attr->strings[b]) == 0;
    default:
        return false;
    }
}

static void print_attr(const struct attr *attr, struct text *out) {
    const bool is_list = attr->kind == ATTR_INTS || attr->kind == ATTR_FLOATS ||
                         attr->kind == ATTR_STRINGS || attr->kind == ATTR_TENSORS ||
                         attr->kind == ATTR_GRAPHS;
    size_t n_equal = 1; /* a list of equal elements prints as one: pads=1 */
    while (is_list && n_equal < attr->n && element_equal(attr, 0, n_equal)) n_equal++;
    text_append_label(out, attr->name);
    text_append(out, "=");
    if (!is_list || n_equal == attr->n) {
        print_element(attr, 0, out);
        return;
    }
    text_append(out, "[");
    for (size_t i = 0; i < attr->n && i < MAX_LIST; i++) {
        if (i > 0) text_append(out, ",");
        print_element(attr, i, out);
    }
    text_append(out, attr->n > MAX_LIST ? ",...]" : "]");
}

void print_node(const struct model *model, uint32_t node, const struct value_info *infos,
                struct text *out) {
    const struct node *n = &model->nodes[node];
    for (size_t i = 0; i < n->n_outputs && i < MAX_VALUES; i++) {
        if (i > 0) text_append(out, ", ");
        print_name(model, n->outputs[i], out);
    }
    if (n->n_outputs > MAX_VALUES) text_append(out, ", ...");
    if (n->n_outputs > 0) text_append(out, " = ");
    if (n->domain[0] && strcmp(n->domain, "ai.onnx") != 0) {
        text_append_label(out, n->domain);
        text_append(out, ".");
    }
    text_append_label(out, n->type);
    for (size_t i = 0; i < n->n_attrs && i < MAX_VALUES; i++) {
        text_append(out, i == 0 ? "[" : ", ");
        print_attr(&n->attrs[i], out);
    }
    if (n->n_attrs > 0) text_append(out, n->n_attrs > MAX_VALUES ? ", ...]" : "]");
    print_values(model, n->inputs, n->n_inputs, infos, out);
}

struct printer {
    const struct model *model;
    const struct value_info *infos;
    struct text *out;
    int depth; /* number of enclosing graphs */
};

static void print_indent(const struct printer *printer) {
    for (int i = 0; i < printer->depth; i++) text_append(printer->out, "    ");
}

/* Prints a graph. The bodies of a node follow its line, labelled with their attribute. */
static void print_graph(struct printer *printer, const char *label, uint32_t graph) {
    const struct graph *g = &printer->model->graphs[graph];
    struct text *out = printer->out;
    print_indent(printer);
    text_append_label(out, label);
    text_append(out, " ");
    text_append_label(out, g->name);
    print_values(printer->model, g->inputs, g->n_inputs, printer->infos, out);
    text_append(out, " -> ");
    print_values(printer->model, g->outputs, g->n_outputs, printer->infos, out);
    text_append(out, printer->depth < MAX_BODY_NEST ? " {\n" : " {...}\n");
    if (printer->depth >= MAX_BODY_NEST) return;
    printer->depth++;
    for (size_t i = 0; i < g->n_nodes; i++) {
        print_indent(printer);
        print_node(printer->model, g->nodes[i], printer->infos, out);
        text_append(out, "\n");
        const struct node *node = &printer->model->nodes[g->nodes[i]];
        for (size_t k = 0; k < node->n_attrs; k++) {
            const struct attr *attr = &node->attrs[k];
            if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
            for (size_t j = 0; j < attr->n; j++)
                print_graph(printer, attr->name, attr->graphs[j]);
        }
    }
    printer->depth--;
    print_indent(printer);
    text_append(out, "}\n");
}

void print_model(const struct model *model, const struct value_info *infos, struct text *out) {
    struct printer printer = {model, infos, out, 0};
    if (model->n_graphs > 0) print_graph(&printer, "graph", 0);
}

void print_node_label(uint32_t index, const char *name, const char *type, struct text *out) {
    text_printf(out, "%u", index);
    if (name[0]) {
        text_append(out, " \"");
        text_append_label(out, name);
        text_append(out, "\"");
    }
    text_append(out, ", ");
    text_append_label(out, type);
}
