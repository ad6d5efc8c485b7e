/* SPDX-License-Identifier: Apache-2.0 */
/* The default report: rows of the pruned module tree, size, character set. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "report/text/hotspots.h"
#include "support/arena.h"

#define MAX_MODULES 64
#define N(array)    (sizeof(array) / sizeof((array)[0]))

/* A model of modules that are given by path, the root first; parents precede children. */
struct model {
    struct cm_module modules[MAX_MODULES];
    size_t children[MAX_MODULES][MAX_MODULES];
    char paths[MAX_MODULES][64];
    struct cm_result result;
};

struct row {
    const char *path;
    const char *type; /* NULL: unknown */
    int64_t macs;
    int64_t params;
};

static size_t find(const struct model *model, const char *path, size_t length) {
    for (size_t i = 0; i < model->result.n_modules; i++)
        if (strlen(model->paths[i]) == length && memcmp(model->paths[i], path, length) == 0)
            return i;
    fail_msg("no module %s", path);
    return 0;
}

static void add(struct model *model, const struct row *row) {
    const size_t i = model->result.n_modules;
    struct cm_module *module = &model->modules[i];
    snprintf(model->paths[i], sizeof(model->paths[i]), "%s", row->path);
    const char *dot = strrchr(row->path, '.');
    *module = (struct cm_module){
        .path = model->paths[i],
        .name = dot == NULL ? row->path : dot + 1,
        .type = row->type == NULL ? row->path : row->type,
        .type_known = row->type != NULL,
        .arguments = "",
        .calls = 1,
        .parent =
            i == 0 ? CM_NO_INDEX : find(model, row->path, dot ? (size_t)(dot - row->path) : 0),
        .costs = {.macs = row->macs, .params = row->params, .flops = 2 * row->macs},
        .children = model->children[i],
    };
    if (i > 0) {
        struct cm_module *parent = &model->modules[module->parent];
        module->depth = parent->depth + 1;
        model->children[module->parent][parent->n_children++] = i;
    }
    model->result.n_modules++;
}

static void make(struct model *model, const struct row *rows, size_t n) {
    memset(model, 0, sizeof(*model));
    model->result = fixture_pointnet;
    model->result.n_modules = 0;
    model->result.memory.n_curve = 0;
    model->result.modules = model->modules;
    for (size_t i = 0; i < n; i++) add(model, &rows[i]);
    model->result.totals = model->modules[0].costs;
}

/* Fails unless the rows are `wanted`: "  label macs" for each, then "rest macs". */
static void expect_rows(const struct model *model, int depth, size_t max_rows,
                        const char *wanted) {
    char have[4096] = "";
    size_t length = 0;
    struct hotspots found;
    struct arena *arena = arena_new("test", 0);
    assert_true(hotspots_find(&model->result, depth, max_rows, arena, &found));
    for (const struct hotspot *row = found.first; row != NULL; row = row->next)
        length += (size_t)snprintf(have + length, sizeof(have) - length, "%*s%s %lld\n",
                                   2 * row->indent, "", row->label, (long long)row->costs.macs);
    snprintf(have + length, sizeof(have) - length, "rest %zu: %lld\n", found.n_rest,
             (long long)found.rest.macs);
    assert_string_equal(have, wanted);
    arena_free(arena);
}

static const struct row transformer[] = {
    {"", "Model", 1000, 1000},          {"embed", "Embedding", 0, 300},
    {"layers", "ModuleList", 900, 600}, {"layers.0", "Block", 300, 200},
    {"layers.0.attn", "Attn", 100, 80}, {"layers.0.mlp", "Mlp", 180, 120},
    {"layers.0.norm", "Norm", 1, 0},    {"layers.1", "Block", 300, 200},
    {"layers.1.attn", "Attn", 100, 80}, {"layers.1.mlp", "Mlp", 180, 120},
    {"layers.1.norm", "Norm", 1, 0},    {"layers.2", "Block", 300, 200},
    {"layers.2.attn", "Attn", 100, 80}, {"layers.2.mlp", "Mlp", 180, 120},
    {"layers.2.norm", "Norm", 1, 0},    {"head", "Linear", 100, 100},
};

static void joins_repeated_modules_and_sums_the_rest(void **state) {
    struct model model;
    (void)state;
    make(&model, transformer, N(transformer));
    expect_rows(&model, -1, 0,
                "embed 0\n"
                "layers.0-2 900\n"
                "  attn 300\n"
                "  mlp 540\n"
                "  (own operators) 57\n"
                "head 100\n"
                "rest 3: 3\n");
}

static void keeps_a_row_whole_if_its_children_have_no_room(void **state) {
    struct model model;
    (void)state;
    make(&model, transformer, N(transformer));
    expect_rows(&model, -1, 4,
                "embed 0\n"
                "layers 900\n"
                "head 100\n"
                "rest 0: 0\n");
    expect_rows(&model, 1, 0,
                "embed 0\n"
                "layers 900\n"
                "head 100\n"
                "rest 0: 0\n");
}

/* Rows that are expanded, at the limit of depth, too small or without children do not stop the
 * expansion of the rows below them. */
static void expands_rows_below_rows_that_stay_whole(void **state) {
    static const struct row tree[] = {
        {"", "Model", 200, 0},     {"first", "A", 100, 0},    {"first.a", "B", 50, 0},
        {"first.a.p", "C", 25, 0}, {"first.a.q", "D", 25, 0}, {"first.b", "E", 50, 0},
        {"small", "F", 5, 0},      {"small.s", "G", 3, 0},    {"small.t", "H", 2, 0},
        {"last", "I", 95, 0},      {"last.c", "J", 50, 0},    {"last.d", "K", 45, 0},
    };
    struct model model;
    (void)state;
    make(&model, tree, N(tree));
    expect_rows(&model, 2, 0,
                "first 100\n"
                "  a 50\n"
                "  b 50\n"
                "small 5\n"
                "last 95\n"
                "  c 50\n"
                "  d 45\n"
                "rest 0: 0\n");
}

static void keeps_the_largest_of_too_many_modules(void **state) {
    static const struct row flat[] = {
        {"", "Model", 100, 4}, {"a", "Conv", 20, 1}, {"b", "Conv", 10, 1},
        {"c", "Conv", 60, 1},  {"d", "Conv", 10, 1},
    };
    struct model model;
    (void)state;
    make(&model, flat, N(flat));
    expect_rows(&model, -1, 2,
                "a 20\n"
                "c 60\n"
                "rest 2: 20\n");
}

/* Stages of a ResNet have consecutive numbers and one class, and are not repetitions. */
static void keeps_stages_of_different_size_apart(void **state) {
    static const struct row stages[] = {
        {"", "Model", 100, 100},
        {"layer1", "Sequential", 30, 10},
        {"layer2", "Sequential", 30, 30},
        {"layer3", "Sequential", 40, 60},
    };
    static const struct row layers[] = {
        {"", "Model", 90, 90},
        {"layer_0", "Sequential", 30, 30},
        {"layer_1", "Sequential", 30, 30},
        {"layer_2", "Sequential", 30, 30},
    };
    struct model model;
    (void)state;
    make(&model, stages, N(stages));
    expect_rows(&model, -1, 0, "layer1 30\nlayer2 30\nlayer3 40\nrest 0: 0\n");
    make(&model, layers, N(layers));
    expect_rows(&model, -1, 0, "layer_0-2 90\nrest 0: 0\n");
}

static void lists_operators_of_a_model_without_modules(void **state) {
    static const struct row root[] = {{"", "Model", 100, 10}};
    static const struct cm_operator operators[] = {
        {.op = "Conv", .nodes = 2, .costs = {.macs = 99}},
        {.op = "Gemm", .nodes = 1, .costs = {.macs = 1}},
        {.op = "Relu", .nodes = 1}};
    struct model model;
    (void)state;
    make(&model, root, N(root));
    model.result.n_operators = N(operators);
    model.result.operators = operators;
    expect_rows(&model, -1, 0, "Conv 99\nGemm 1\nrest 0: 0\n");
}

static size_t count_lines(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++) n += *text == '\n';
    return n;
}

static size_t longest_line(const char *text) {
    size_t longest = 0;
    for (size_t width = 0; *text != '\0'; text++) {
        width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xC0) != 0x80);
        if (width > longest) longest = width;
    }
    return longest;
}

static void fits_any_screen(void **state) {
    struct cm_text_options options;
    struct model model;
    (void)state;
    make(&model, transformer, N(transformer));
    cm_text_options_init(&options);
    for (options.width = 60; options.width <= 200; options.width += 7) {
        for (options.height = 22; options.height <= 60; options.height++) {
            options.unicode = options.height % 2 == 0;
            char *text = fixture_screen(&model.result, &options);
            assert_in_range(count_lines(text), 10, options.height);
            assert_in_range(longest_line(text), 40, options.width);
            free(text);
        }
    }
}

static void prints_ascii_without_unicode(void **state) {
    struct cm_text_options options;
    struct model model;
    (void)state;
    make(&model, transformer, N(transformer));
    cm_text_options_init(&options);
    char *text = fixture_screen(&model.result, &options);
    for (const char *at = text; *at != '\0'; at++) assert_in_range(*at, '\n', '~');
    assert_non_null(strstr(text, "#####"));
    free(text);
    options.unicode = true;
    text = fixture_screen(&model.result, &options);
    assert_non_null(strstr(text, "█"));
    assert_null(strstr(text, "##"));
    free(text);
}

static void bar_length_is_proportional_to_the_share(void **state) {
    struct cm_text_options options;
    struct model model;
    static const struct row halves[] = {
        {"", "Model", 100, 2}, {"a", "Conv", 50, 1}, {"b", "Gemm", 50, 1}};
    (void)state;
    make(&model, halves, N(halves));
    cm_text_options_init(&options);
    options.width = 200; /* bars of at most 60 columns */
    char *text = fixture_screen(&model.result, &options);
    assert_non_null(strstr(text, "50%  ##############################\n"));
    free(text);
}

static void uses_colours_only_if_requested(void **state) {
    struct cm_text_options options;
    (void)state;
    cm_text_options_init(&options);
    char *text = fixture_screen(&fixture_pointnet, &options);
    assert_null(strchr(text, '\033'));
    free(text);
    options.color = true;
    text = fixture_screen(&fixture_pointnet, &options);
    assert_non_null(strstr(text, "\033[36m#"));
    free(text);
}

static void a_group_that_shares_a_weight_counts_it_once(void **state) {
    static const struct row rows[] = {{"", NULL, 300, 100},
                                      {"layer0", "Linear", 100, 100},
                                      {"layer1", "Linear", 100, 100},
                                      {"layer2", "Linear", 100, 100}};
    struct arena *arena = arena_new("test", 0);
    struct model *model = arena_alloc(arena, sizeof(*model));
    struct hotspots found;
    (void)state;
    make(model, rows, sizeof(rows) / sizeof(rows[0]));
    assert_true(hotspots_find(&model->result, -1, 0, arena, &found));
    assert_string_equal(found.first->label, "layer0-2");
    assert_int_equal(found.first->costs.params, 100);
    assert_int_equal(found.first->costs.macs, 300);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_that_shares_a_weight_counts_it_once),
        cmocka_unit_test(joins_repeated_modules_and_sums_the_rest),
        cmocka_unit_test(keeps_a_row_whole_if_its_children_have_no_room),
        cmocka_unit_test(expands_rows_below_rows_that_stay_whole),
        cmocka_unit_test(keeps_the_largest_of_too_many_modules),
        cmocka_unit_test(keeps_stages_of_different_size_apart),
        cmocka_unit_test(lists_operators_of_a_model_without_modules),
        cmocka_unit_test(fits_any_screen),
        cmocka_unit_test(prints_ascii_without_unicode),
        cmocka_unit_test(bar_length_is_proportional_to_the_share),
        cmocka_unit_test(uses_colours_only_if_requested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
