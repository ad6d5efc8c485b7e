/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of suggestions for mistyped names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/suggest.h"

/* The distances of the two names to the mistyped one are in comments. */
static void suggests_the_name_with_the_fewest_edits(void **state) {
    static const struct {
        const char *wanted, *names[2], *best;
    } cases[] = {
        {"abcdef", {"abcdxy", "abcdefg"}, "abcdefg"}, /* 2 replaced, 1 inserted */
        {"abcdef", {"abcdxy", "abcde"}, "abcde"},     /* 2 replaced, 1 omitted */
        {"abcdef", {"abcdxy", "abcdfe"}, "abcdfe"},   /* 2 replaced, 1 swap */
        {"abcdef", {"abcdxf", "xabcdefy"}, "abcdxf"}, /* 1 replaced, 2 inserted */
        {"abcdef", {"abcdxf", "abcdyf"}, "abcdxf"},   /* equal: the first */
        {"abcdef", {"abuvxf", "abcuvwx"}, NULL},      /* 3 replaced, 4 */
        {"abc", {"xbc", "xyc"}, "xbc"},               /* 1 of 3 letters, 2 of 3 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct suggestion suggestion;
        suggest_init(&suggestion, cases[i].wanted, strlen(cases[i].wanted));
        for (size_t k = 0; k < 2; k++) suggest_offer(&suggestion, cases[i].names[k]);
        if (cases[i].best == NULL)
            assert_null(suggestion.best);
        else
            assert_string_equal(suggestion.best, cases[i].best);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_the_name_with_the_fewest_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
