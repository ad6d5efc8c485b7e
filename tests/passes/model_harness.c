/* SPDX-License-Identifier: Apache-2.0 */
/* Lines into models: see model_harness.h. */
#include "model_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pipeline.h"
#include "support/arena.h"
#include "support/map.h"
#include "support/text.h"

#define MAX_WORDS 64
#define MAX_DIMS  8
#define OPSET     13

struct parser {
    struct arena *arena;
    struct graph_builder *builder;
    struct map values;
    uint32_t call; /* around the lines, or ID_NONE */
    uint32_t *inputs;
    size_t n_inputs;
    uint32_t *outputs;
    size_t n_outputs;
    uint32_t *nodes;
    size_t n_nodes;
};

/* ---- words ------------------------------------------------------------------------------- */

static size_t split(struct arena *arena, const char *line, size_t length, char **words) {
    size_t n = 0;
    const char *end = line + length;
    while (line < end) {
        size_t skip = strspn(line, " ");
        line += skip;
        size_t word = strcspn(line, " \n");
        if (line + word > end) word = (size_t)(end - line);
        if (word == 0) break;
        assert_true(n < MAX_WORDS);
        words[n++] = arena_strndup(arena, line, word);
        line += word;
    }
    return n;
}

static const char *name_of(const char *word) {
    return strcmp(word, "-") == 0 ? "" : word;
}

/* ---- types ------------------------------------------------------------------------------- */

static struct type parse_type(struct parser *parser, const char *word) {
    struct type type = {.kind = CM_TYPE_TENSOR};
    const char *open = strchr(word, '[');
    assert_non_null(open);
    type.dtype = dtype_from_name(arena_strndup(parser->arena, word, (size_t)(open - word)));
    assert_int_not_equal(type.dtype, DTYPE_UNDEFINED);
    int64_t dims[MAX_DIMS];
    const char **symbols = arena_array(parser->arena, MAX_DIMS, sizeof *symbols);
    int rank = 0;
    for (const char *at = open + 1; *at != ']'; at += *at == ',') {
        size_t length = strcspn(at, ",]");
        assert_true(rank < MAX_DIMS);
        dims[rank] = *at == '?' ? DIM_UNKNOWN : strtoll(at, NULL, 10);
        symbols[rank++] = *at == '?' ? arena_strndup(parser->arena, at + 1, length - 1) : NULL;
        at += length;
    }
    assert_int_equal(shape_make(parser->arena, rank, dims, &type.shape), CM_OK);
    type.symbols = symbols;
    return type;
}

static struct constant *make_constant(struct parser *parser, const struct type *type,
                                      const char *value) {
    double number = value ? strtod(value + 1, NULL) : 0;
    if (!value) {
        struct constant *absent = constant_new(parser->arena, type->dtype, &type->shape);
        absent->place = CONSTANT_ABSENT;
        return absent;
    }
    if (dtype_is_float(type->dtype))
        return constant_splat_real(parser->arena, type->dtype, &type->shape, number);
    return constant_splat_int(parser->arena, type->dtype, &type->shape, (int64_t)number);
}

/* ---- lines ------------------------------------------------------------------------------- */

static uint32_t add_value(struct parser *parser, const struct value *value) {
    uint32_t id;
    assert_int_equal(graph_add_value(parser->builder, value, &id), CM_OK);
    assert_int_equal(map_set(&parser->values, value->name, id), CM_OK);
    return id;
}

static uint32_t value_named(const struct parser *parser, const char *name) {
    if (strcmp(name, "-") == 0) return ID_NONE;
    uint32_t id = map_get(&parser->values, name);
    if (id == MAP_NONE) fail_msg("no value '%s'", name);
    return id;
}

static void add_input(struct parser *parser, char **words) {
    struct value value = {.name = words[1], .origin = VALUE_INPUT, .node = ID_NONE};
    value.type = parse_type(parser, words[2]);
    parser->inputs[parser->n_inputs++] = add_value(parser, &value);
}

static void add_initializer(struct parser *parser, char **words, size_t n) {
    struct value value = {.name = words[1], .origin = VALUE_INITIALIZER, .node = ID_NONE};
    value.type = parse_type(parser, words[2]);
    value.constant = make_constant(parser, &value.type, n > 3 ? words[3] : NULL);
    (void)add_value(parser, &value);
}

static void add_node(struct parser *parser, struct node *node, char **outputs) {
    uint32_t id;
    uint32_t *ids = arena_array(parser->arena, node->n_outputs, sizeof *ids);
    node->domain = "";
    node->opset = OPSET;
    node->call = parser->call;
    node->outputs = ids;
    assert_int_equal(graph_add_node(parser->builder, node, &id), CM_OK);
    for (size_t i = 0; i < node->n_outputs; i++) {
        struct value value = {.name = outputs[i], .origin = VALUE_OUTPUT, .node = id};
        value.slot = (uint32_t)i;
        ids[i] = strcmp(outputs[i], "-") == 0 ? ID_NONE : add_value(parser, &value);
    }
    parser->nodes[parser->n_nodes++] = id;
}

static void add_constant(struct parser *parser, char **words, size_t n) {
    struct attr *attr = arena_alloc(parser->arena, sizeof *attr);
    const struct constant **tensor = arena_alloc(parser->arena, sizeof *tensor);
    struct type type = parse_type(parser, words[2]);
    *tensor = make_constant(parser, &type, n > 3 ? words[3] : NULL);
    *attr = (struct attr){.name = "value", .kind = ATTR_TENSOR, .n = 1, .tensors = tensor};
    struct node node = {.name = "", .type = "Constant", .n_outputs = 1};
    node.n_attrs = 1;
    node.attrs = attr;
    add_node(parser, &node, words + 1);
}

/* "transB=1", "pads=[0,0]". */
static struct attr parse_attr(struct parser *parser, const char *word) {
    size_t length = strcspn(word, "=");
    const char *value = word + length + 1;
    struct attr attr = {.name = arena_strndup(parser->arena, word, length), .n = 1};
    int64_t *ints = arena_array(parser->arena, MAX_DIMS, sizeof *ints);
    attr.kind = *value == '[' ? ATTR_INTS : strchr(value, '.') ? ATTR_FLOAT : ATTR_INT;
    attr.i = strtoll(value, NULL, 10);
    attr.f = strtod(value, NULL);
    attr.ints = ints;
    if (attr.kind != ATTR_INTS) return attr;
    char *at = arena_strdup(parser->arena, value + 1);
    for (attr.n = 0; *at != ']'; at += *at == ',') ints[attr.n++] = strtoll(at, &at, 10);
    return attr;
}

static void add_operator(struct parser *parser, char **words, size_t n) {
    struct node node = {.name = name_of(words[1]), .type = words[2]};
    uint32_t *inputs = arena_array(parser->arena, n, sizeof *inputs);
    struct attr *attrs = arena_array(parser->arena, n, sizeof *attrs);
    size_t at = 3;
    for (; at < n && strcmp(words[at], "->") != 0; at++)
        inputs[node.n_inputs++] = value_named(parser, words[at]);
    char **outputs = words + ++at;
    for (; at < n && !strchr(words[at], '='); at++) node.n_outputs++;
    for (; at < n; at++) attrs[node.n_attrs++] = parse_attr(parser, words[at]);
    node.inputs = inputs;
    node.attrs = attrs;
    add_node(parser, &node, outputs);
}

static void add_call(struct parser *parser, char **words, size_t n) {
    uint32_t *inputs = arena_array(parser->arena, n, sizeof *inputs);
    struct call call = {.outer = parser->call,
                        .name = name_of(words[1]),
                        .domain = "local",
                        .function = words[2],
                        .inputs = inputs};
    for (size_t at = 3; at < n; at++) inputs[call.n_inputs++] = value_named(parser, words[at]);
    assert_int_equal(graph_add_call(parser->builder, &call, &parser->call), CM_OK);
}

static void add_output(struct parser *parser, char **words) {
    uint32_t id = value_named(parser, words[1]);
    graph_value_at(parser->builder, id)->is_graph_output = true;
    parser->outputs[parser->n_outputs++] = id;
}

static void add_line(struct parser *parser, const char *line, size_t length) {
    char *words[MAX_WORDS];
    size_t n = split(parser->arena, line, length, words);
    if (n == 0) return;
    if (strcmp(words[0], "in") == 0)
        add_input(parser, words);
    else if (strcmp(words[0], "init") == 0)
        add_initializer(parser, words, n);
    else if (strcmp(words[0], "const") == 0)
        add_constant(parser, words, n);
    else if (strcmp(words[0], "node") == 0)
        add_operator(parser, words, n);
    else if (strcmp(words[0], "call") == 0)
        add_call(parser, words, n);
    else if (strcmp(words[0], "end") == 0)
        parser->call = graph_call_at(parser->builder, parser->call)->outer;
    else if (strcmp(words[0], "out") == 0)
        add_output(parser, words);
    else
        fail_msg("a line begins with '%s'", words[0]);
}

static void parse(struct parser *parser, const char *lines) {
    size_t n_lines = 1;
    for (const char *at = lines; *at; at++) n_lines += *at == '\n';
    parser->inputs = arena_array(parser->arena, n_lines, sizeof *parser->inputs);
    parser->outputs = arena_array(parser->arena, n_lines, sizeof *parser->outputs);
    parser->nodes = arena_array(parser->arena, n_lines, sizeof *parser->nodes);
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        add_line(parser, lines, length);
        lines += length + (lines[length] == '\n');
    }
}

/* ---- the bench --------------------------------------------------------------------------- */

static void build(struct bench *bench, const char *lines) {
    uint32_t id;
    struct graph graph = {.name = "torch_jit", .parent = ID_NONE, .owner = ID_NONE};
    struct parser parser = {.arena = bench->arena, .call = ID_NONE};
    parser.builder = graph_builder_new(bench->arena);
    map_init(&parser.values, bench->arena);
    assert_int_equal(graph_add_graph(parser.builder, &graph, &id), CM_OK);
    parse(&parser, lines);
    struct graph *main = graph_at(parser.builder, id);
    main->n_nodes = parser.n_nodes;
    main->nodes = parser.nodes;
    main->n_inputs = parser.n_inputs;
    main->inputs = parser.inputs;
    main->n_outputs = parser.n_outputs;
    main->outputs = parser.outputs;
    bench->model.arena = bench->arena;
    bench->model.path = "folder/small.onnx";
    bench->model.producer = "";
    assert_int_equal(graph_finish(parser.builder, &bench->model), CM_OK);
}

struct bench *bench_open(const char *lines) {
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->arena = arena_new("test", 0);
    bench->diag = cm_diagnostics_new();
    bench->options.convention = "deepspeed";
    build(bench, lines);
    bench->analysis = (struct analysis){.model = &bench->model,
                                        .options = &bench->options,
                                        .arena = bench->arena,
                                        .diag = bench->diag};
    bench->status = pipeline_run(&bench->analysis);
    for (size_t i = 0; i < cm_diagnostics_count(bench->diag); i++)
        print_message("%s\n", cm_diagnostics_get(bench->diag, i)->message);
    return bench;
}

void bench_close(struct bench *bench) {
    cm_diagnostics_free(bench->diag);
    arena_free(bench->arena);
    free(bench);
}

/* ---- looking ----------------------------------------------------------------------------- */

const struct module *bench_module(const struct bench *bench, const char *path) {
    const struct modules_table *table = &bench->analysis.modules;
    for (size_t i = 0; i < table->n_modules; i++)
        if (strcmp(table->modules[i].path, path) == 0) return &table->modules[i];
    return NULL;
}

enum param_kind bench_kind(const struct bench *bench, const char *name) {
    for (uint32_t id = 0; id < bench->model.n_values; id++) {
        if (strcmp(bench->model.values[id].name, name) != 0) continue;
        uint32_t param = bench->analysis.params.of_value[id];
        return param == ID_NONE ? PARAM_NONE : bench->analysis.params.params[param].kind;
    }
    fail_msg("no value '%s'", name);
    return PARAM_NONE;
}

static uint32_t node_named(const struct bench *bench, const char *name) {
    for (uint32_t id = 0; id < bench->model.n_nodes; id++)
        if (strcmp(bench->model.nodes[id].name, name) == 0) return id;
    fail_msg("no node '%s'", name);
    return ID_NONE;
}

const char *bench_node_module(const struct bench *bench, const char *name) {
    const struct modules_table *table = &bench->analysis.modules;
    return table->modules[table->of_node[node_named(bench, name)]].path;
}

const char *bench_used(const struct bench *bench, const char *name) {
    const struct params_table *params = &bench->analysis.params;
    uint32_t node = node_named(bench, name);
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < params->n_used[node]; i++)
        text_printf(&text, "%s%s", i ? " " : "", params->params[params->used[node][i]].name);
    return text_string(&text);
}

const char *bench_paths(const struct bench *bench) {
    const struct modules_table *table = &bench->analysis.modules;
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < table->n_modules; i++)
        text_printf(&text, "%s%s", i ? " " : "", i ? table->modules[i].path : "()");
    return text_string(&text);
}

const char *bench_outputs(const struct bench *bench, const char *path) {
    const struct module *module = bench_module(bench, path);
    struct text text;
    assert_non_null(module);
    text_init(&text, bench->arena);
    for (size_t i = 0; i < module->n_outputs; i++)
        text_printf(&text, "%s%s", i ? " " : "", value_name(&bench->model, module->outputs[i]));
    return text_string(&text);
}
