/* SPDX-License-Identifier: Apache-2.0 */
/* Parses lines into models: see model_harness.h. */
#include "model_harness.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pipeline/pipeline.h"
#include "support/arena.h"
#include "support/map.h"
#include "support/text.h"
#include "tests/ir/verify.h"

#define MAX_WORDS  128
#define MAX_DIMS   8
#define MAX_LISTED 32
#define MAX_DEPTH  8
#define MAX_PARAMS 8

/* The graph or body whose lines are being read. */
struct level {
    uint32_t graph;
    const char *attr; /* attribute of the node that owns it; NULL: the main graph */
    uint32_t *inputs;
    size_t n_inputs;
    uint32_t *outputs;
    size_t n_outputs;
    uint32_t *nodes;
    size_t n_nodes;
    struct attr bodies[4]; /* closed bodies, for the next node */
    size_t n_bodies;
};

struct parser {
    struct arena *arena;
    struct graph_builder *builder;
    struct map values;
    uint32_t call; /* call that contains the lines, or ID_NONE */
    const struct module_stack *module_stack;
    bool fused;
    int64_t opset;
    size_t n_lines;
    struct level levels[MAX_DEPTH];
    size_t depth;
    struct level *level; /* levels[depth] */
    size_t n_params;
    const char *params[MAX_PARAMS];
    int64_t param_elements[MAX_PARAMS];
    size_t n_derived;
    struct derived_param derived[MAX_PARAMS];
};

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

static struct type parse_type(struct parser *parser, const char *word) {
    struct type type = {.kind = CM_TYPE_TENSOR, .shape = shape_unknown()};
    size_t name = strcspn(word, "[");
    const char *open = word + name;
    type.dtype = dtype_from_name(arena_strndup(parser->arena, word, name));
    assert_int_not_equal(type.dtype, DTYPE_UNDEFINED);
    if (!*open) return type;
    int64_t dims[MAX_DIMS];
    const char **symbols = arena_array(parser->arena, MAX_DIMS, sizeof *symbols);
    int rank = 0;
    for (const char *at = open + 1; *at != ']'; at += *at == ',') {
        size_t length = strcspn(at, ",]");
        assert_true(rank < MAX_DIMS);
        dims[rank] = *at == '?' ? DIM_UNKNOWN : strtoll(at, NULL, 10);
        bool named = *at == '?' && length > 1;
        symbols[rank++] = named ? arena_strndup(parser->arena, at + 1, length - 1) : NULL;
        at += length;
    }
    assert_int_equal(shape_make(parser->arena, rank, dims, &type.shape), CM_OK);
    type.symbols = symbols;
    return type;
}

static const struct type *declared_type(struct parser *parser, const char *word) {
    const struct type type = parse_type(parser, word);
    return arena_copy(parser->arena, &type, sizeof type);
}

static struct constant *list_constant(struct parser *parser, const struct type *type,
                                      const char *list) {
    int64_t ints[MAX_LISTED];
    double reals[MAX_LISTED];
    int64_t n = 0;
    for (const char *at = list; *at; at += *at == ',') {
        assert_true(n < MAX_LISTED);
        ints[n] = strtoll(at, NULL, 10);
        reals[n++] = strtod(at, NULL);
        at += strcspn(at, ",");
    }
    assert_int_equal(n, shape_elements(&type->shape));
    return dtype_is_float(type->dtype)
               ? constant_reals(parser->arena, type->dtype, &type->shape, reals)
               : constant_ints(parser->arena, type->dtype, &type->shape, ints);
}

/* Reader of external data whose file is missing. */
static int read_missing(void *context, const struct constant *constant, void *buffer,
                        size_t size, struct cm_diagnostics *diag, const char **ret_reason) {
    (void)context, (void)constant, (void)buffer, (void)size, (void)diag;
    *ret_reason = "was not found";
    return CM_OK;
}

static struct constant *external_constant(struct parser *parser, const struct type *type) {
    struct constant *constant = constant_new(parser->arena, type->dtype, &type->shape);
    constant->place = CONSTANT_EXTERNAL;
    constant->location = "w.data";
    return constant;
}

static struct constant *make_constant(struct parser *parser, const struct type *type,
                                      const char *value) {
    if (value && strcmp(value, "=@") == 0) return external_constant(parser, type);
    if (value && strchr(value, ',')) return list_constant(parser, type, value + 1);
    if (!value) {
        struct constant *absent = constant_new(parser->arena, type->dtype, &type->shape);
        absent->place = CONSTANT_ABSENT;
        return absent;
    }
    if (dtype_is_float(type->dtype))
        return constant_splat(parser->arena, type->dtype, &type->shape,
                              (struct number){.real = true, .r = strtod(value + 1, NULL)});
    return constant_splat(parser->arena, type->dtype, &type->shape,
                          (struct number){.i = strtoll(value + 1, NULL, 10)});
}

/* Encodes an int64 constant as raw bytes that are loaded on demand, like an initializer. */
static void store(struct parser *parser, struct constant *constant) {
    const bool is_float = constant->dtype == DTYPE_FLOAT;
    const size_t width = is_float ? sizeof(float) : sizeof(int64_t);
    const size_t size = (size_t)constant->n_elements * width;
    if ((!is_float && constant->dtype != DTYPE_INT64) || constant->place != CONSTANT_IN_MEMORY)
        return;
    uint8_t *raw = arena_array(parser->arena, size, 1);
    for (size_t i = 0; i < size; i++) {
        uint64_t bits = 0;
        if (is_float) {
            const float real = (float)constant->reals[i / width];
            memcpy(&bits, &real, sizeof(real));
        } else {
            bits = (uint64_t)constant->ints[i / width];
        }
        raw[i] = (uint8_t)(bits >> 8 * (i % width));
    }
    constant->place = CONSTANT_RAW;
    constant->raw = raw;
    constant->length = size;
    constant->ints = NULL;
    constant->reals = NULL;
}

static uint32_t add_value(struct parser *parser, struct value *value) {
    uint32_t id;
    value->graph = parser->level->graph;
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

static void add_input(struct parser *parser, char **words, size_t n) {
    struct level *level = parser->level;
    struct value value = {.name = words[1], .origin = VALUE_INPUT, .node = ID_NONE};
    value.type = declared_type(parser, words[2]);
    if (n > 3) value.constant = make_constant(parser, value.type, words[3]);
    level->inputs[level->n_inputs++] = add_value(parser, &value);
}

static void add_initializer(struct parser *parser, char **words, size_t n) {
    struct value value = {.name = words[1], .origin = VALUE_INITIALIZER, .node = ID_NONE};
    value.type = declared_type(parser, words[2]);
    struct constant *constant = make_constant(parser, value.type, n > 3 ? words[3] : NULL);
    store(parser, constant);
    value.constant = constant;
    (void)add_value(parser, &value);
}

static void add_node(struct parser *parser, struct node *node, char **outputs) {
    uint32_t id;
    uint32_t *ids = arena_array(parser->arena, node->n_outputs, sizeof *ids);
    node->domain = node->domain ? node->domain : "";
    node->opset = parser->opset;
    node->graph = parser->level->graph;
    node->call = parser->call;
    node->module_stack = parser->module_stack;
    node->fused = node->folds_norm = parser->fused;
    node->outputs = ids;
    assert_int_equal(graph_add_node(parser->builder, node, &id), CM_OK);
    for (size_t i = 0; i < node->n_outputs; i++) {
        struct value value = {.name = outputs[i], .origin = VALUE_OUTPUT, .node = id};
        value.slot = (uint32_t)i;
        ids[i] = strcmp(outputs[i], "-") == 0 ? ID_NONE : add_value(parser, &value);
    }
    parser->level->nodes[parser->level->n_nodes++] = id;
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

/* "[Mon,Tue]" */
static struct attr text_list(struct parser *parser, struct attr attr, const char *value) {
    const char **texts = arena_array(parser->arena, MAX_DIMS, sizeof *texts);
    attr.kind = ATTR_STRINGS;
    attr.strings = texts;
    attr.n = 0;
    for (value++; *value && *value != ']'; value += *value == ',') {
        const size_t length = strcspn(value, ",]");
        texts[attr.n++] = arena_strndup(parser->arena, value, length);
        value += length;
    }
    return attr;
}

/* "transB=1", "pads=[0,0]", "mode=linear", "stopwords=[a,b]". */
static struct attr parse_attr(struct parser *parser, const char *word) {
    size_t length = strcspn(word, "=");
    const char *value = word + length + 1;
    struct attr attr = {.name = arena_strndup(parser->arena, word, length), .n = 1};
    int64_t *ints = arena_array(parser->arena, MAX_DIMS, sizeof *ints);
    attr.kind = *value == '[' ? ATTR_INTS : strchr(value, '.') ? ATTR_FLOAT : ATTR_INT;
    if (isalpha((unsigned char)*value)) attr.kind = ATTR_STRING;
    attr.s = value;
    attr.i = strtoll(value, NULL, 10);
    attr.f = strtod(value, NULL);
    attr.ints = ints;
    if (attr.kind == ATTR_INTS && isalpha((unsigned char)value[1]))
        return text_list(parser, attr, value);
    if (attr.kind != ATTR_INTS) return attr;
    char *at = arena_strdup(parser->arena, value + 1);
    for (attr.n = 0; *at != ']'; at += *at == ',') ints[attr.n++] = strtoll(at, &at, 10);
    return attr;
}

/* "Conv", "com.me::Conv". */
static void set_operator(struct parser *parser, struct node *node, const char *word) {
    const char *colons = strstr(word, "::");
    node->type = colons ? colons + 2 : word;
    if (colons) node->domain = arena_strndup(parser->arena, word, (size_t)(colons - word));
}

/* Makes the preceding bodies attributes of the node. */
static size_t take_bodies(struct parser *parser, struct attr *attrs) {
    struct level *level = parser->level;
    size_t n = level->n_bodies;
    for (size_t i = 0; i < n; i++) {
        attrs[i] = level->bodies[i];
        graph_at(parser->builder, attrs[i].graphs[0])->owner = graph_n_nodes(parser->builder);
    }
    level->n_bodies = 0;
    return n;
}

static void add_operator(struct parser *parser, char **words, size_t n) {
    struct node node = {.name = name_of(words[1])};
    for (char *at = words[1]; *at; at++)
        if (*at == '~') *at = ' ';
    uint32_t *inputs = arena_array(parser->arena, n, sizeof *inputs);
    struct attr *attrs = arena_array(parser->arena, n + 4, sizeof *attrs);
    size_t at = 3;
    set_operator(parser, &node, words[2]);
    node.n_attrs = (uint32_t)take_bodies(parser, attrs);
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
                        .module_stack = parser->module_stack,
                        .inputs = inputs};
    for (size_t at = 3; at < n; at++) inputs[call.n_inputs++] = value_named(parser, words[at]);
    assert_int_equal(graph_add_call(parser->builder, &call, &parser->call), CM_OK);
}

/* "layer1:Block": path and class. */
static void set_place(struct parser *parser, char **words, size_t n) {
    struct module_stack *stack = arena_alloc(parser->arena, sizeof *stack);
    struct module_stack_entry *parts = arena_array(parser->arena, n, sizeof *parts);
    for (size_t i = 1; i < n; i++) {
        size_t length = strcspn(words[i], ":");
        const char *class = words[i] + length + (words[i][length] == ':');
        parts[i - 1].path = arena_strndup(parser->arena, words[i], length);
        parts[i - 1].class = class;
    }
    *stack = (struct module_stack){.n = n - 1, .entries = parts};
    parser->module_stack = n > 1 ? stack : NULL;
    parser->fused = strcmp(words[0], "fused") == 0;
}

static void add_output(struct parser *parser, char **words) {
    uint32_t id = value_named(parser, words[1]);
    graph_value_at(parser->builder, id)->is_graph_output = true;
    parser->level->outputs[parser->level->n_outputs++] = id;
}

static void declare_type(struct parser *parser, char **words) {
    const struct type *type = declared_type(parser, words[2]);
    graph_value_at(parser->builder, value_named(parser, words[1]))->type = type;
}

static void mark_constant(struct parser *parser, char **words) {
    static const char *const marks[] = {[MARK_PARAMETER] = "parameter",
                                        [MARK_DERIVED] = "derived",
                                        [MARK_CONSTANT] = "constant"};
    struct value *value = graph_value_at(parser->builder, value_named(parser, words[1]));
    uint8_t mark = MARK_CONSTANT;
    value->is_repeated = strcmp(words[2], "repeated") == 0;
    if (value->is_repeated) return;
    while (mark > MARK_NONE && strcmp(marks[mark], words[2]) != 0) mark--;
    assert_int_not_equal(mark, MARK_NONE);
    value->mark = mark;
}

/* Appends the words, "name" or "name=ELEMENTS", to the list of the framework's parameters. */
static void list_params(struct parser *parser, char **words, size_t n) {
    for (size_t i = 1; i < n; i++) {
        assert_true(parser->n_params < MAX_PARAMS);
        const size_t length = strcspn(words[i], "=");
        parser->param_elements[parser->n_params] =
            words[i][length] == '=' ? strtoll(words[i] + length + 1, NULL, 10) : DIM_UNKNOWN;
        parser->params[parser->n_params++] = arena_strndup(parser->arena, words[i], length);
    }
}

static void derive_constant(struct parser *parser, char **words) {
    uint32_t param = 0;
    while (param < parser->n_params && strcmp(parser->params[param], words[2]) != 0) param++;
    assert_true(param < parser->n_params && parser->n_derived < MAX_PARAMS);
    parser->derived[parser->n_derived++] =
        (struct derived_param){value_named(parser, words[1]), param};
}

static void open_level(struct parser *parser, const char *attr) {
    struct graph graph = {.name = attr ? attr : "torch_jit",
                          .parent = attr ? parser->level->graph : ID_NONE,
                          .owner = ID_NONE};
    parser->depth += attr != NULL;
    assert_true(parser->depth < MAX_DEPTH);
    struct level *level = parser->level = &parser->levels[parser->depth];
    *level = (struct level){.attr = attr};
    level->inputs = arena_array(parser->arena, parser->n_lines, sizeof *level->inputs);
    level->outputs = arena_array(parser->arena, parser->n_lines, sizeof *level->outputs);
    level->nodes = arena_array(parser->arena, parser->n_lines, sizeof *level->nodes);
    assert_int_equal(graph_add_graph(parser->builder, &graph, &level->graph), CM_OK);
}

static void finish_level(struct parser *parser) {
    const struct level *level = parser->level;
    struct graph *graph = graph_at(parser->builder, level->graph);
    graph->n_nodes = level->n_nodes;
    graph->nodes = level->nodes;
    graph->n_inputs = level->n_inputs;
    graph->inputs = level->inputs;
    graph->n_outputs = level->n_outputs;
    graph->outputs = level->outputs;
}

static void close_body(struct parser *parser) {
    uint32_t *graph = arena_copy(parser->arena, &parser->level->graph, sizeof *graph);
    struct attr body = {.name = parser->level->attr, .kind = ATTR_GRAPH, .n = 1};
    body.graphs = graph;
    finish_level(parser);
    assert_true(parser->depth > 0);
    parser->level = &parser->levels[--parser->depth];
    assert_true(parser->level->n_bodies < 4);
    parser->level->bodies[parser->level->n_bodies++] = body;
}

static void add_line(struct parser *parser, const char *line, size_t length) {
    char *words[MAX_WORDS];
    size_t n = split(parser->arena, line, length, words);
    if (n == 0) return;
    if (strcmp(words[0], "in") == 0)
        add_input(parser, words, n);
    else if (strcmp(words[0], "init") == 0)
        add_initializer(parser, words, n);
    else if (strcmp(words[0], "const") == 0)
        add_constant(parser, words, n);
    else if (strcmp(words[0], "node") == 0)
        add_operator(parser, words, n);
    else if (strcmp(words[0], "at") == 0 || strcmp(words[0], "fused") == 0)
        set_place(parser, words, n);
    else if (strcmp(words[0], "call") == 0)
        add_call(parser, words, n);
    else if (strcmp(words[0], "end") == 0)
        parser->call = graph_call_at(parser->builder, parser->call)->outer;
    else if (strcmp(words[0], "out") == 0)
        add_output(parser, words);
    else if (strcmp(words[0], "type") == 0)
        declare_type(parser, words);
    else if (strcmp(words[0], "mark") == 0)
        mark_constant(parser, words);
    else if (strcmp(words[0], "params") == 0)
        list_params(parser, words, n);
    else if (strcmp(words[0], "derived") == 0)
        derive_constant(parser, words);
    else if (strcmp(words[0], "body") == 0)
        open_level(parser, words[1]);
    else if (strcmp(words[0], "close") == 0)
        close_body(parser);
    else if (strcmp(words[0], "opset") == 0)
        parser->opset = strtoll(words[1], NULL, 10);
    else
        fail_msg("unknown keyword '%s'", words[0]);
}

static void parse(struct parser *parser, const char *lines) {
    parser->n_lines = 1;
    for (const char *at = lines; *at; at++) parser->n_lines += *at == '\n';
    open_level(parser, NULL);
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        add_line(parser, lines, length);
        lines += length + (lines[length] == '\n');
    }
    assert_int_equal(parser->depth, 0);
    finish_level(parser);
}

static void build(struct bench *bench, const char *lines) {
    struct parser parser = {.arena = bench->arena, .call = ID_NONE, .opset = 13};
    parser.builder = graph_builder_new(bench->arena);
    map_init(&parser.values, bench->arena);
    parse(&parser, lines);
    bench->model.arena = bench->arena;
    bench->model.path = "folder/small.onnx";
    bench->model.producer = "";
    bench->model.framework_params =
        arena_copy(bench->arena, parser.params, sizeof parser.params);
    bench->model.framework_elements =
        arena_copy(bench->arena, parser.param_elements, sizeof parser.param_elements);
    bench->model.n_framework_params = parser.n_params;
    bench->model.derived_params =
        arena_copy(bench->arena, parser.derived, sizeof parser.derived);
    bench->model.n_derived_params = parser.n_derived;
    assert_int_equal(graph_finish(parser.builder, &bench->model), CM_OK);
}

struct bench *bench_open(const char *lines) {
    const struct cm_options options = {0};
    return bench_open_with(lines, &options);
}

struct bench *bench_open_with(const char *lines, const struct cm_options *options) {
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->arena = arena_new("test", 0);
    bench->diag = cm_diagnostics_new();
    bench->options = *options;
    if (!bench->options.convention) bench->options.convention = "deepspeed";
    build(bench, lines);
    bench->model.reader = (struct constant_reader){.read = read_missing};
    bench->analysis = (struct analysis){.model = &bench->model,
                                        .options = &bench->options,
                                        .arena = bench->arena,
                                        .diag = bench->diag};
    verify_model(&bench->model);
    bench->status = pipeline_run_to(&bench->analysis, 0);
    return bench;
}

void bench_close(struct bench *bench) {
    cm_diagnostics_free(bench->diag);
    arena_free(bench->arena);
    free(bench);
}
