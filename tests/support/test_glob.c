/* SPDX-License-Identifier: Apache-2.0 */
#include "support/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void matches_stars_and_question_marks(void **state) {
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"layer1", "layer1", true},
        {"layer1", "layer10", false},
        {"layer1", "layer", false},
        {"layer1.*", "layer1.0.conv1.weight", true},
        {"layer1.*", "layer1", false},
        {"*.weight", "fc.weight", true},
        {"*.weight", "fc.weight.scale", false},
        {"*", "", true},
        {"", "", true},
        {"", "x", false},
        {"?", "", false},
        {"?", "\xc3\xa9", true},
        {"*?", "\xc3\xa9", true},
        {"a*b*c", "a.b.b.c", true},
        {"a*b*c", "a.b.b.d", false},
        {"**", "a", true},
        {"a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
        {"[ab]", "a", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (glob_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("pattern '%s', text '%s': expected %s", cases[i].pattern, cases[i].text,
                     cases[i].matches ? "a match" : "no match");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_stars_and_question_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
