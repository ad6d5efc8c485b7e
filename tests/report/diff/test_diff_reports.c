/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of a diff, with hostile names and with more rows than a report holds. */
#include "costmodel/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tree.h"

typedef int writer(const struct cm_diff *diff, const struct cm_diff_options *options,
                   FILE *out);

static char *write_with(writer *write, const struct cm_diff *diff,
                        const struct cm_diff_options *options) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(write(diff, options, out), CM_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Escape sequence, code span, cell separator, markup, mention, entity, quote, bidi override,
 * invalid UTF-8. */
#define HOSTILE "a\033[31m`|<script>@all&\"\\\342\200\256\377"

static void escapes_names_in_every_format(void **state) {
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(". Net 0 0\n" HOSTILE " A(1,`|<b>) 5 5\n",
                                     ". Net 0 0\n" HOSTILE " A(2,`|<b>) 9 9\nb|b ? 1 1\n",
                                     &old_result, &new_result);
    struct cm_diff_options options;
    cm_diff_options_init(&options);
    (void)state;
    new_result->model.path = "new\n| # \033]0;owned\007";

    char *text = write_with(cm_diff_write_text, diff, &options);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\007'));
    assert_null(strchr(text, '\377'));
    assert_null(strstr(text, "\342\200\256"));
    free(text);

    char *markdown = write_with(cm_diff_write_markdown, diff, &options);
    assert_null(strchr(markdown, '\033'));
    assert_null(strstr(markdown, "<script>"));
    assert_null(strstr(markdown, "<b>"));
    assert_null(strstr(markdown, "b|b"));
    assert_null(strstr(markdown, "\n| #"));
    free(markdown);

    char *json = write_with(cm_diff_write_json, diff, &options);
    for (const char *c = json; *c != '\0'; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    assert_null(strchr(json, '\377'));
    assert_non_null(strstr(json, "new\\n| # \\u001b]0;owned\\u0007"));
    free(json);

    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

static char *many_modules(int factor) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs(". Net 0 0\n", out);
    for (int i = 0; i < 3000; i++)
        fprintf(out, "module_with_a_name_%d A 5 %d\n", i, i * factor);
    fclose(out);
    return text;
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what)) n++;
    return n;
}

/* GitHub accepts comments of at most 65,536 characters. */
static void truncates_a_comment_to_the_limit(void **state) {
    char *was = many_modules(1);
    char *is = many_modules(2);
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(was, is, &old_result, &new_result);
    struct cm_diff_options options;
    char left[40];
    (void)state;
    cm_diff_options_init(&options);
    options.top = 0;
    char *markdown = write_with(cm_diff_write_markdown, diff, &options);
    assert_true(strlen(markdown) <= 60000);
    const size_t n = count(markdown, "\n| `module_with");
    assert_true(n > 100);
    snprintf(left, sizeof(left), "\nand %zu more\n", 2999 - n);
    assert_non_null(strstr(markdown, left));
    assert_int_equal(count(markdown, "<details>"), count(markdown, "</details>"));
    free(markdown);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
    free(was);
    free(is);
}

static void reports_a_shift_in_one_line(void **state) {
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff =
        tree_diff(". Net 0 0\nf Sequential 0 0\nf.0 A 1 1\nf.1 B 2 2\nf.2 C 3 3\n",
                  ". Net 0 0\nf Sequential 0 0\nf.0 N 9 9\nf.1 A 1 1\nf.2 B 2 2\nf.3 C 3 3\n",
                  &old_result, &new_result);
    struct cm_diff_options options;
    (void)state;
    cm_diff_options_init(&options);
    char *text = write_with(cm_diff_write_text, diff, &options);
    assert_non_null(strstr(text, "  f.0 -> f.1 A, and so on for 2 more behind it\n"));
    assert_null(strstr(text, "f.2 ->"));
    assert_non_null(strstr(text, "added f.0 N\n"));
    free(text);
    char *markdown = write_with(cm_diff_write_markdown, diff, &options);
    assert_non_null(strstr(markdown, "- `f.0 → f.1 A`, and so on for 2 more behind it\n"));
    free(markdown);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

static void reports_a_failing_stream(void **state) {
    writer *const writers[] = {cm_diff_write_text, cm_diff_write_json, cm_diff_write_markdown};
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(". Net 0 0\n", ". Net 1 1\n", &old_result, &new_result);
    struct cm_diff_options options;
    (void)state;
    cm_diff_options_init(&options);
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        FILE *full = fopen("/dev/full", "w");
        if (!full) skip();
        assert_int_equal(writers[i](diff, &options, full), CM_IO);
        fclose(full);
    }
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_names_in_every_format),
        cmocka_unit_test(truncates_a_comment_to_the_limit),
        cmocka_unit_test(reports_a_shift_in_one_line),
        cmocka_unit_test(reports_a_failing_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
