/* SPDX-License-Identifier: Apache-2.0 */
/* Parses table rows and runs operators on them: see op_harness.h. A row that does not parse
 * fails its test. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "ops/flops/conventions.h"
#include "ops/lowering/lowering.h"
#include "ops/product.h"
#include "ops/registry/registry.h"
#include "support/arena.h"
#include "support/text.h"

#define MAX_OPERANDS 33
#define MAX_ATTRS    16
#define MAX_NUMBERS  256

/* The next word of *at (split at blanks outside of brackets), or NULL. */
static char *next_word(struct arena *arena, const char **at) {
    const char *from = *at ? *at + strspn(*at, " ") : "";
    const char *to = from;
    int depth = 0;
    for (; *to && (depth > 0 || *to != ' '); to++) {
        if (strchr("[{", *to)) depth++;
        if (strchr("]}", *to)) depth--;
    }
    *at = to;
    return to == from ? NULL : arena_strndup(arena, from, (size_t)(to - from));
}

static bool is_number(const char *text) {
    char *end = NULL;
    (void)strtod(text, &end);
    return *text && *end == '\0';
}

/* Splits "1,2.5,x" at the commas; returns the number of items. */
static size_t split_items(struct arena *arena, const char *text, char **items) {
    size_t n = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        assert_true(n < MAX_NUMBERS);
        items[n++] = arena_strndup(arena, text, length);
        text += length + (text[length] == ',');
    }
    return n;
}

/* Returns the text inside the bracket that opens at `text`; sets *ret_end after the closing
 * one. */
static char *bracketed(struct arena *arena, const char *text, char close,
                       const char **ret_end) {
    const char *end = strchr(text, close);
    assert_non_null(end);
    *ret_end = end + 1;
    return arena_strndup(arena, text + 1, (size_t)(end - text - 1));
}

static struct shape parse_shape(struct arena *arena, const char *text) {
    char *items[MAX_NUMBERS];
    int64_t dims[MAX_NUMBERS];
    struct shape shape = shape_unknown();
    if (text_equal(text, "*")) return shape;
    size_t n = split_items(arena, text, items);
    for (size_t i = 0; i < n; i++)
        dims[i] = text_equal(items[i], "?") ? DIM_UNKNOWN : strtoll(items[i], NULL, 10);
    assert_int_equal(shape_make(arena, (int)n, dims, &shape), CM_OK);
    return shape;
}

static const struct constant *parse_splat(struct arena *arena, const struct value_info *info,
                                          const char *text) {
    if (dtype_is_float(info->dtype))
        return constant_splat(arena, info->dtype, &info->shape,
                              (struct number){.real = true, .r = strtod(text, NULL)});
    return constant_splat(arena, info->dtype, &info->shape,
                          (struct number){.i = strtoll(text, NULL, 10)});
}

static const struct constant *parse_elements(struct arena *arena, const struct value_info *info,
                                             const char *text) {
    char *items[MAX_NUMBERS];
    int64_t ints[MAX_NUMBERS];
    double reals[MAX_NUMBERS];
    const char *end = NULL;
    size_t n = split_items(arena, bracketed(arena, text, '}', &end), items);
    assert_int_equal((int64_t)n, shape_elements(&info->shape));
    for (size_t i = 0; i < n; i++) {
        ints[i] = strtoll(items[i], NULL, 10);
        reals[i] = strtod(items[i], NULL);
    }
    if (dtype_is_float(info->dtype))
        return constant_reals(arena, info->dtype, &info->shape, reals);
    return constant_ints(arena, info->dtype, &info->shape, ints);
}

/* Parses "float[1,3]={..}!"; sets *ret_rest to the text after the shape. */
static struct value_info parse_info(struct arena *arena, const char *word,
                                    const char **ret_rest) {
    size_t length = strcspn(word, "[");
    *ret_rest = "";
    if (!word[length]) return value_info_unknown();
    const char *rest = NULL;
    enum dtype dtype = dtype_from_name(arena_strndup(arena, word, length));
    char *dims = bracketed(arena, word + length, ']', &rest);
    struct value_info info = value_info_tensor(dtype, parse_shape(arena, dims));
    *ret_rest = rest;
    return info;
}

static struct value_info parse_operand(struct arena *arena, const char *word) {
    const char *rest = NULL;
    struct value_info info = parse_info(arena, word, &rest);
    if (rest[0] == '=' && rest[1] == '*') info.value = parse_splat(arena, &info, rest + 2);
    if (rest[0] == '=' && rest[1] == '{') info.value = parse_elements(arena, &info, rest + 1);
    info.is_weight = rest[0] && rest[strlen(rest) - 1] == '!';
    info.is_constant = info.is_weight || info.value;
    return info;
}

static void parse_inputs(struct op_bench *bench, const char *text) {
    const struct value_info **inputs = arena_array(bench->arena, MAX_OPERANDS, sizeof(*inputs));
    struct value *values = arena_array(bench->arena, MAX_OPERANDS, sizeof(*values));
    uint32_t *ids = arena_array(bench->arena, MAX_OPERANDS, sizeof(*ids));
    size_t n = 0;
    for (char *word = NULL; (word = next_word(bench->arena, &text)); n++) {
        assert_true(n < MAX_OPERANDS);
        values[n].name = "x";
        ids[n] = ID_NONE;
        if (text_equal(word, "-")) continue;
        struct value_info info = parse_operand(bench->arena, word);
        inputs[n] = arena_copy(bench->arena, &info, sizeof(info));
        values[n].constant = info.is_weight ? info.value : NULL;
        ids[n] = (uint32_t)n;
    }
    bench->node.n_inputs = (uint32_t)n;
    bench->node.inputs = ids;
    bench->model.values = values;
    bench->model.n_values = n;
    bench->context.n_inputs = n;
    bench->context.inputs = inputs;
}

static void parse_outputs(struct op_bench *bench, const char *text) {
    uint32_t *ids = arena_array(bench->arena, MAX_OPERANDS, sizeof(*ids));
    size_t n = 0;
    for (char *word = NULL; (word = next_word(bench->arena, &text)); n++) {
        assert_true(n < MAX_OPERANDS);
        ids[n] = text_equal(word, "-") ? ID_NONE : (uint32_t)(MAX_OPERANDS + n);
    }
    bench->node.n_outputs = (uint32_t)n;
    bench->node.outputs = ids;
    bench->context.n_outputs = n;
    bench->context.outputs = arena_array(bench->arena, n, sizeof(*bench->context.outputs));
    for (size_t i = 0; i < n; i++) bench->context.outputs[i] = value_info_unknown();
}

static void parse_list(struct arena *arena, const char *text, struct attr *attr) {
    char **items = arena_array(arena, MAX_NUMBERS, sizeof(*items));
    int64_t *ints = arena_array(arena, MAX_NUMBERS, sizeof(*ints));
    double *reals = arena_array(arena, MAX_NUMBERS, sizeof(*reals));
    const char **strings = arena_array(arena, MAX_NUMBERS, sizeof(*strings));
    const char *end = NULL;
    attr->kind = ATTR_INTS;
    attr->n = split_items(arena, bracketed(arena, text, ']', &end), items);
    for (size_t i = 0; i < attr->n; i++) {
        if (strchr(items[i], '.')) attr->kind = ATTR_FLOATS;
        if (!is_number(items[i])) attr->kind = ATTR_STRINGS;
        ints[i] = strtoll(items[i], NULL, 10);
        reals[i] = strtod(items[i], NULL);
        strings[i] = items[i];
    }
    attr->ints = ints;
    attr->floats = reals;
    attr->strings = strings;
}

static void parse_scalar(const char *text, struct attr *attr) {
    attr->n = 1;
    attr->s = text;
    attr->i = strtoll(text, NULL, 10);
    attr->f = (float)strtod(text, NULL); /* the file holds a float32 */
    attr->kind = !is_number(text)         ? ATTR_STRING
                 : strpbrk(text, ".einf") ? ATTR_FLOAT
                                          : ATTR_INT;
}

static void parse_tensor(struct arena *arena, const char *text, struct attr *attr) {
    struct value_info info = parse_operand(arena, text);
    const struct constant **tensors = arena_array(arena, 1, sizeof(struct constant *));
    assert_non_null(info.value);
    tensors[0] = info.value;
    attr->n = 1;
    attr->kind = ATTR_TENSOR;
    attr->tensors = tensors;
}

static void parse_attrs(struct op_bench *bench, const char *text) {
    struct attr *attrs = arena_array(bench->arena, MAX_ATTRS, sizeof(*attrs));
    size_t n = 0;
    for (char *word = NULL; (word = next_word(bench->arena, &text)); n++) {
        char *value = strchr(word, '=');
        assert_true(n < MAX_ATTRS);
        assert_non_null(value);
        *value++ = '\0';
        attrs[n].name = word;
        if (value[0] == '[')
            parse_list(bench->arena, value, &attrs[n]);
        else if (strstr(value, "]="))
            parse_tensor(bench->arena, value, &attrs[n]);
        else
            parse_scalar(value, &attrs[n]);
    }
    bench->node.attrs = attrs;
    bench->node.n_attrs = (uint32_t)n;
}

static void parse_op(struct op_bench *bench, const char *text) {
    const char *colon = strchr(text, ':');
    const char *type = colon ? colon + 1 : text;
    const char *dash = strrchr(type, '-');
    assert_non_null(dash);
    struct node *node = &bench->node;
    node->name = "";
    node->domain = colon ? arena_strndup(bench->arena, text, (size_t)(colon - text)) : "";
    node->type = arena_strndup(bench->arena, type, (size_t)(dash - type));
    node->opset = strtoll(dash + 1, NULL, 10);
    bench->context.op = registry_find(node->domain, node->type, node->opset);
    if (!bench->context.op) fail_msg("no row for %s", text);
}

static bool all_inputs_have_values(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (context->inputs[i] && !context->inputs[i]->value) return false;
    return true;
}

static int run(struct op_context *context) {
    int status = context->op->infer(context);
    if (status < 0 || !context->op->fold) return status;
    if (!context->op->fold_partial && !all_inputs_have_values(context)) return status;
    return context->op->fold(context);
}

struct op_bench *op_bench_open(const struct op_case *row) {
    struct arena *arena = arena_new("test", 0);
    assert_non_null(arena);
    struct op_bench *bench = arena_alloc(arena, sizeof(*bench));
    assert_non_null(bench);
    bench->arena = arena;
    bench->diag.arena = arena;
    bench->model.arena = arena;
    bench->model.nodes = &bench->node;
    bench->model.n_nodes = 1;
    parse_op(bench, row->op);
    parse_attrs(bench, row->attrs ? row->attrs : "");
    parse_inputs(bench, row->inputs);
    parse_outputs(bench, row->outputs);
    bench->context.model = &bench->model;
    bench->context.node = &bench->node;
    bench->context.arena = arena;
    bench->context.diag = &bench->diag;
    bench->context.training =
        bench->context.op->trains && bench->context.op->trains(&bench->context);
    bench->status = run(&bench->context);
    return bench;
}

void op_bench_close(struct op_bench *bench) {
    arena_free(bench->arena);
}

int64_t op_bench_macs(const struct op_bench *bench) {
    return product_macs(&bench->context);
}

static int64_t op_bench_flops(const struct op_bench *bench, const char *convention) {
    const struct convention *by = convention_find(convention);
    assert_non_null(by);
    return convention_all_operations(by, &bench->context, op_bench_macs(bench));
}

/* Returns "" if the node has no primitive, with the reason in *ret_why. */
static const char *op_bench_primitive(const struct op_bench *bench, const char **ret_why) {
    struct cm_primitive primitive;
    struct cm_reason reason = {""};
    struct text text;
    text_init(&text, bench->arena);
    *ret_why = NULL;
    if (!lowering_apply(&bench->context, &primitive, ret_why)) return "";
    if (primitive_check(&primitive, &reason) != CM_BACKEND_OK) fail_msg("%s", reason.text);
    primitive_print(&primitive, &text);
    return text_string(&text);
}

static const char *op_bench_describe(const struct op_bench *bench) {
    struct text out;
    text_init(&out, bench->arena);
    if (bench->context.op->describe)
        assert_int_equal(bench->context.op->describe(&bench->context, &out), CM_OK);
    return text_string(&out);
}

const char *op_bench_message(const struct op_bench *bench) {
    size_t n = bench->diag.n_items;
    return n ? bench->diag.items[n - 1]->message : "";
}

static bool same_contents(const struct constant *a, const struct constant *b) {
    bool splats = a->place == CONSTANT_SPLAT && b->place == CONSTANT_SPLAT;
    int64_t n = splats ? 1 : b->n_elements;
    for (int64_t i = 0; i < n; i++) {
        if (constant_has_ints(b) ? constant_int_at(a, i) != constant_int_at(b, i)
                                 : constant_real_at(a, i) != constant_real_at(b, i))
            return false;
    }
    return true;
}

static void print_contents(const struct constant *value) {
    for (int64_t i = 0; i < value->n_elements && i < 16; i++) {
        if (constant_has_ints(value))
            print_message(" %lld", (long long)constant_int_at(value, i));
        else if (constant_has_reals(value))
            print_message(" %.17g", constant_real_at(value, i));
    }
    print_message("\n");
}

static bool value_info_fits(const struct op_bench *bench, const char *word,
                            const struct value_info *have) {
    const char *rest = NULL;
    struct value_info want = parse_info(bench->arena, word, &rest);
    if (want.kind != have->kind || want.dtype != have->dtype ||
        !shape_equal(&want.shape, &have->shape)) {
        print_message("have %s%s, want %s\n", dtype_name(have->dtype),
                      op_shape_text(&bench->context, &have->shape), word);
        return false;
    }
    if (rest[0] != '=') return true;
    if (rest[1] == '?') return !have->value;
    want = parse_operand(bench->arena, word);
    if (!have->value) return false;
    if (same_contents(have->value, want.value)) return true;
    print_contents(have->value);
    return false;
}

static bool outputs_fit(const struct op_bench *bench, const char *text) {
    for (size_t i = 0; i < bench->context.n_outputs; i++) {
        char *word = next_word(bench->arena, &text);
        if (text_equal(word, "-")) continue;
        if (!value_info_fits(bench, word, &bench->context.outputs[i])) {
            print_message("output %zu is not %s\n", i, word);
            return false;
        }
    }
    return true;
}

static bool number_fits(const char *what, int64_t have, int64_t want) {
    if (have == want) return true;
    print_message("%s: have %lld, want %lld\n", what, (long long)have, (long long)want);
    return false;
}

/* Compares a column in which 0 is "not compared" and -1 is 0. */
static bool cost_fits(const char *what, int64_t have, int64_t want) {
    return want == 0 || number_fits(what, have, want == -1 ? 0 : want);
}

static bool text_fits(const char *what, const char *have, const char *want) {
    if (!want || text_equal(have, want)) return true;
    print_message("%s: have \"%s\", want \"%s\"\n", what, have ? have : "", want);
    return false;
}

static bool row_holds(const struct op_bench *bench, const struct op_case *row) {
    const char *message = op_bench_message(bench);
    if (row->error) {
        if (bench->status < 0 && strstr(message, row->error)) return true;
        print_message("message: have \"%s\", want \"%s\"\n", message, row->error);
        return false;
    }
    if (bench->status < 0) {
        print_message("refused: %s\n", message);
        return false;
    }
    bool fits = outputs_fit(bench, row->outputs);
    fits = cost_fits("MACs", op_bench_macs(bench), row->macs) && fits;
    fits = cost_fits("FLOPs", op_bench_flops(bench, "deepspeed"), row->flops) && fits;
    for (const struct op_count *by = row->by; by->convention; by++)
        fits = number_fits(by->convention, op_bench_flops(bench, by->convention), by->flops) &&
               fits;
    const char *why = NULL;
    const char *primitive = row->primitive ? op_bench_primitive(bench, &why) : NULL;
    fits = text_fits("primitive", primitive, row->primitive) && fits;
    fits = text_fits("reason", why, row->unlowered) && fits;
    return text_fits("describe", op_bench_describe(bench), row->describe) && fits;
}

void op_cases_run(const struct op_case *rows) {
    size_t n_wrong = 0;
    size_t i = 0;
    for (; rows[i].op; i++) {
        struct op_bench *bench = op_bench_open(&rows[i]);
        if (!row_holds(bench, &rows[i])) {
            print_message("row %zu: %s(%s) %s -> %s\n\n", i, rows[i].op, rows[i].inputs,
                          rows[i].attrs ? rows[i].attrs : "", rows[i].outputs);
            n_wrong++;
        }
        op_bench_close(bench);
    }
    if (n_wrong) fail_msg("%zu of %zu rows do not hold", n_wrong, i);
}
