/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of DeepSpeed, compared with goldens; assertions cover the rest. */
#include "fixture.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static struct cm_text_options defaults(void) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    return options;
}

static void expect(const struct cm_result *result, struct cm_text_options options,
                   const char *golden) {
    char *text = fixture_text(result, &options);
    fixture_expect_golden(golden, text);
    free(text);
}

static size_t longest_line(const char *text) {
    size_t longest = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (length > longest) longest = length;
        text += length;
        if (*text == '\n') text++;
    }
    return longest;
}

static void a_known_model_has_three_sections(void **state) {
    (void)state;
    expect(&fixture_pointnet, defaults(), "pointnet.txt");
}

static void a_plan_has_no_times(void **state) {
    (void)state;
    struct cm_measure measure = *fixture_hostile.measure;
    struct cm_result result = fixture_hostile;
    struct cm_text_options options = defaults();
    measure.planned = true;
    result.measure = &measure;
    options.detailed = false;
    assert_false(cm_result_timed(&result));
    expect(&result, options, "hostile_plan.txt");
}

static void all_modules_are_ranked_when_top_is_0(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.top = 0;
    options.detailed = false;
    expect(&fixture_pointnet, options, "pointnet_top_all.txt");
}

static void depth_limits_the_aggregated_section_alone(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.depth = 0;
    options.top = 2;
    expect(&fixture_pointnet, options, "pointnet_depth_0.txt");
}

static void wraps_narrow_pages_between_items(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.width = 50;
    options.top = 0;
    expect(&fixture_pointnet, options, "pointnet_narrow.txt");
}

static void width_0_never_wraps(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.width = 0;
    expect(&fixture_hostile, options, "hostile_unfolded.txt");
}

static void colours_add_escape_sequences_only(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.color = true;
    expect(&fixture_pointnet, options, "pointnet_color.txt");
}

static void draws_curves_in_block_elements_if_the_locale_has_them(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.unicode = true;
    options.detailed = false;
    options.depth = 0;
    expect(&fixture_pointnet, options, "pointnet_unicode.txt");
}

struct fit_case {
    struct cm_fit fit;
    const char *words;
};

static void reports_what_fits(void **state) {
    static const struct fit_case rows[] = {
        {{1000, true, 7, 990, 1010, CM_UNKNOWN, "exact", ""},
         "limit:              1.0 kB          (1,000), fits\n"
         "largest batch:      7               7 takes 990, 8 would take 1,010\n"},
        {{1000, false, 0, CM_UNKNOWN, 1010, CM_UNKNOWN, "none", ""},
         "limit:              1.0 kB          (1,000), does not fit\n"
         "largest batch:      0               1 would take 1,010\n"},
        {{1000, true, 7, 990, 1010, CM_UNKNOWN, "uneven", ""},
         "largest batch:      7               7 takes 990, 8 would take 1,010, but a larger\n"
         "                      batch needed less than a smaller one, so that one may fit "
         "again\n"},
        {{1000, true, 7, 990, 1010, 6, "exact", ""}, "6 fits with 90 % confidence\n"},
        {{1000, true, 7, 990, CM_UNKNOWN, CM_UNKNOWN, "exhausted", ""},
         "largest batch:      7               7 takes 990, a larger one may fit\n"},
        {{1000, false, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, "exhausted", ""},
         "largest batch:      unknown: the work budget is exhausted\n"},
        {{1000, true, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, "unbounded", ""},
         "largest batch:      any: 2147483647 fits\n"},
        {{1000, true, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, "no-batch", ""},
         "largest batch:      none: no input axis is the batch\n"},
        {{1000, false, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, "fixed", "it is 3"},
         "largest batch:      unknown, because no other batch can be profiled: it is 3\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cm_text_options options = defaults();
        struct cm_result result = fixture_pointnet;
        result.memory.fit = &rows[i].fit;
        char *text = fixture_text(&result, &options);
        if (strstr(text, rows[i].words) == NULL) fail_msg("row %zu: %s", i, text);
        free(text);
    }
}

static void explains_the_difference_to_the_framework(void **state) {
    static const char *const names[] = {"cls_token", "a.weight", "b", "c"};
    static const char *const forged[] = {"a\nfc9: 1 G"};
    static const struct {
        struct cm_framework framework;
        const char *words;
    } rows[] = {
        {{3464000, 12, 0, NULL, "", 0},
         "framework params:   3.46 M          (3,464,000), 12 tensors folded or merged\n"},
        {{3464000, 1, 0, NULL, "a.weight", 2},
         "framework params:   3.46 M          (3,464,000), 1 tensor folded or merged,\n"
         "                      a.weight is shared by 2 modules\n"},
        {{CM_UNKNOWN, 5, 1, names, "", 0},
         "framework params:   unknown, 5 tensors folded or merged, not in the file: the size "
         "of "
         "cls_token\n"},
        {{CM_UNKNOWN, 5, 1, forged, "", 0}, "the size of a\\x0afc9: 1 G\n"},
        {{CM_UNKNOWN, 5, 3, names, "", 0}, "cls_token,\n                      a.weight, b\n"},
        {{CM_UNKNOWN, 5, 4, names, "", 0},
         "cls_token,\n                      a.weight, b, and 1 other\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cm_text_options options = defaults();
        struct cm_result result = fixture_pointnet;
        result.framework = rows[i].framework;
        char *text = fixture_text(&result, &options);
        if (strstr(text, rows[i].words) == NULL) fail_msg("row %zu: %s", i, text);
        free(text);
    }
}

static void compares_no_link_with_an_unknown_demand(void **state) {
    (void)state;
    const struct cm_input_link links[] = {
        {.name = "SATA SSD", .bytes_per_s = 560000000, .suffices = false, .source = ""}};
    const struct cm_input_pipeline pipeline = {.sample_bytes = 1000,
                                               .samples = 1,
                                               .bytes_per_s = CM_UNKNOWN,
                                               .host_link = 32000000000,
                                               .n_links = 1,
                                               .links = links,
                                               .advice = ""};
    struct cm_text_options options = defaults();
    struct cm_result result = fixture_pointnet;
    result.input_pipeline = &pipeline;
    char *text = fixture_text(&result, &options);
    assert_non_null(strstr(text, "host to device              32.0 GB/s\n"
                                 "SATA SSD                    560.0 MB/s\n"));
    free(text);
}

static void omits_the_framework_if_it_agrees(void **state) {
    static const struct cm_framework rows[] = {
        {CM_UNKNOWN, 0, 0, NULL, "", 0},
        {3463763, 0, 0, NULL, "", 0},
        {3463763, 3, 0, NULL, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cm_text_options options = defaults();
        struct cm_result result = fixture_pointnet;
        result.framework = rows[i];
        char *text = fixture_text(&result, &options);
        assert_null(strstr(text, "framework"));
        free(text);
    }
}

static void reports_what_is_unknown(void **state) {
    (void)state;
    expect(&fixture_hostile, defaults(), "hostile.txt");
}

static void prints_requested_sections_after_the_tree(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    options.detailed = false;
    options.operators = true;
    options.layers = true;
    options.kernels = true;
    options.width = 250; /* no column is omitted */
    expect(&fixture_hostile, options, "hostile_breakdown.txt");
}

static void kernels_have_the_columns_of_their_grid(void **state) {
    (void)state;
    static const struct cm_kernel_row row = {.name = "sgemm",
                                             .primitive = CM_NO_INDEX,
                                             .tensor_cores = "no",
                                             .rule = "",
                                             .calls = 1,
                                             .blocks_per_unit = 750000,
                                             .occupancy = 187500,
                                             .theoretical_occupancy = 250000,
                                             .unit_efficiency = 750000};
    struct cm_text_options options = defaults();
    struct cm_measure measure = *fixture_hostile.measure;
    struct cm_result result = fixture_hostile;
    options.kernels = true;
    options.width = 250; /* no column is omitted */
    measure.n_kernels = 1;
    measure.kernels = &row;
    result.measure = &measure;
    char *text = fixture_text(&result, &options);
    assert_non_null(strstr(text, "  blocks/unit  SM efficiency  occupancy  theoretical  tensor "
                                 "cores  kernel\n"));
    assert_non_null(strstr(
        text, "         0.75         75.00%     18.75%       25.00%            no  sgemm\n"));
    free(text);
}

static void prints_no_question_mark_for_a_known_model(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    char *text = fixture_text(&fixture_pointnet, &options);
    assert_null(strchr(text, '?'));
    free(text);
}

static void escapes_names_for_the_terminal(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    char *text = fixture_text(&fixture_hostile, &options);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\xe9'));
    assert_null(strstr(text, "\nfc9"));
    free(text);
}

static void the_default_page_has_100_columns(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    char *text = fixture_text(&fixture_pointnet, &options);
    assert_in_range(longest_line(text), 78, 100);
    free(text);
}

static void defaults_equal_those_of_deepspeed(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    assert_int_equal(options.depth, -1);
    assert_int_equal(options.top, 1);
    assert_true(options.detailed);
    assert_false(options.color);
    assert_int_equal(options.width, 100);
}

static void reports_a_full_disk(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) skip();
    assert_int_equal(report_write_text(&(struct report){
                         .result = &fixture_pointnet, .text = &options, .out = out}),
                     CM_IO);
    assert_int_equal(report_write_deepspeed(&(struct report){
                         .result = &fixture_pointnet, .text = &options, .out = out}),
                     CM_IO);
    fclose(out);
}

/* A chain of 20000 modules: no writer recurses, and lines stay short. */
#define DEEP 20000

static void prints_a_tree_of_any_depth(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    struct cm_module *modules = calloc(DEEP, sizeof(*modules));
    size_t *children = calloc(DEEP, sizeof(*children));
    assert_non_null(modules);
    assert_non_null(children);
    for (size_t i = 0; i < DEEP; i++) {
        children[i] = i + 1;
        modules[i] = (struct cm_module){.path = "p",
                                        .name = "n",
                                        .type = "T",
                                        .arguments = "",
                                        .depth = (int)i,
                                        .parent = i == 0 ? CM_NO_INDEX : i - 1,
                                        .n_children = i + 1 < DEEP,
                                        .children = &children[i]};
    }
    struct cm_result deep = fixture_pointnet;
    deep.n_modules = DEEP;
    deep.modules = modules;
    char *text = fixture_text(&deep, &options);
    assert_in_range(longest_line(text), 78, 160);
    free(text);
    text = fixture_screen(&deep, &options);
    assert_in_range(longest_line(text), 40, 160);
    free(text);
    free(children);
    free(modules);
}

/* A JSON file may contain any index. */
static void explains_a_node_that_is_not_in_the_report(void **state) {
    (void)state;
    const struct cm_explained_node lost = {.node = 4294967295, .runs = 1};
    const struct cm_explanation explanations[] = {
        {"conv1", false, CM_NO_INDEX, 1, &lost, 0, 0, NULL}};
    struct cm_text_options options = defaults();
    struct cm_result result = fixture_hostile;
    result.n_explanations = 1;
    result.explanations = explanations;
    char *text = fixture_explanations(&result, &options);
    assert_non_null(strstr(text, "conv1\nnode 4294967295 is not in this report\n"));
    free(text);
}

static void explains_a_count_by_its_terms(void **state) {
    (void)state;
    struct cm_text_options options = defaults();
    char *text = fixture_explanations(&fixture_hostile, &options);
    assert_null(strchr(text, '\033'));
    fixture_expect_golden("hostile_explanations.txt", text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_model_has_three_sections),
        cmocka_unit_test(a_plan_has_no_times),
        cmocka_unit_test(all_modules_are_ranked_when_top_is_0),
        cmocka_unit_test(depth_limits_the_aggregated_section_alone),
        cmocka_unit_test(wraps_narrow_pages_between_items),
        cmocka_unit_test(width_0_never_wraps),
        cmocka_unit_test(colours_add_escape_sequences_only),
        cmocka_unit_test(draws_curves_in_block_elements_if_the_locale_has_them),
        cmocka_unit_test(reports_what_fits),
        cmocka_unit_test(explains_the_difference_to_the_framework),
        cmocka_unit_test(compares_no_link_with_an_unknown_demand),
        cmocka_unit_test(omits_the_framework_if_it_agrees),
        cmocka_unit_test(reports_what_is_unknown),
        cmocka_unit_test(prints_requested_sections_after_the_tree),
        cmocka_unit_test(kernels_have_the_columns_of_their_grid),
        cmocka_unit_test(prints_no_question_mark_for_a_known_model),
        cmocka_unit_test(escapes_names_for_the_terminal),
        cmocka_unit_test(the_default_page_has_100_columns),
        cmocka_unit_test(defaults_equal_those_of_deepspeed),
        cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(prints_a_tree_of_any_depth),
        cmocka_unit_test(explains_a_node_that_is_not_in_the_report),
        cmocka_unit_test(explains_a_count_by_its_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
