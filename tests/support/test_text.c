/* SPDX-License-Identifier: Apache-2.0 */
/* Growing texts, and names escaped for terminals. */
#include "support/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void empty_text_is_an_empty_string(void **state) {
    struct text text;
    text_init(&text, *state);
    assert_string_equal(text_string(&text), "");
    text_append(&text, "");
    assert_string_equal(text_string(&text), "");
}

static void appends_every_kind_of_item(void **state) {
    struct text text;
    text_init(&text, *state);
    for (int i = 0; i < 1000; i++) {
        text_append(&text, "ab");
        text_append_n(&text, "cdX", 2);
        text_printf(&text, "%03d", i);
    }
    assert_int_equal(text.length, 7000);
    assert_int_equal(strlen(text_string(&text)), 7000);
    assert_memory_equal(text_string(&text), "abcd000abcd001", 14);
    assert_string_equal(text_string(&text) + 6993, "abcd999");
    assert_false(text.failed);
}

static void ignores_appends_after_a_failed_allocation(void **state) {
    (void)state;
    struct arena *arena = arena_new("small", 100);
    struct text text;
    text_init(&text, arena);
    text_append(&text, "kept");
    for (int i = 0; i < 50; i++) text_printf(&text, "%d,", i);
    assert_true(text.failed);
    const size_t length = text.length;
    text_append(&text, "x");
    text_append_name(&text, "\n");
    assert_int_equal(text.length, length);
    assert_true(text_starts_with(text_string(&text), "kept0,1,"));
    arena_free(arena);
}

static const struct {
    const char *name;
    const char *shown;
} names[] = {
    {"", ""},
    {"layer1.0/conv1", "layer1.0/conv1"},
    {"h\xc3\xa4user \xe6\xa8\xa1 \xf0\x9f\x98\x80",
     "h\xc3\xa4user \xe6\xa8\xa1 \xf0\x9f\x98\x80"},
    {"a\nerror: forged", "a\\x0aerror: forged"},
    {"::error::x", "\\x3a:error::x"}, /* a command in the log of a CI job */
    {" ::error::x ::y", " \\x3a:error::x ::y"},
    {"\xc2\xa0::error::x", "\xc2\xa0\\x3a:error::x"}, /* no-break space */
    {"a\n::error::x", "a\\x0a::error::x"},
    {"com.acme::Foo a: b :c ::. ::", "com.acme::Foo a: b :c ::. ::"},
    {"##[error]x", "\\x23#[error]x"},
    {"eight by ##vso[x]", "eight by \\x23#vso[x]"},
    {"node #1, ## 2##", "node #1, ## 2##"},
    {"\xef\xbb\xbf"
     "a\xe2\x80\x8b"
     "b\xe2\x81\xa0",
     "\\xef\\xbb\\xbfa\\xe2\\x80\\x8bb\\xe2\\x81\\xa0"}, /* invisible */
    {"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
    {"tab\tbell\a\x7f", "tab\\x09bell\\x07\\x7f"},
    {"\xc2\x9b"
     "2J",
     "\\xc2\\x9b2J"}, /* CSI as a C1 control */
    {"a\xe2\x80\xae"
     "b",
     "a\\xe2\\x80\\xaeb"}, /* right-to-left override */
    {"a\xe2\x80\xa8"
     "b\xe2\x80\xa9",
     "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9"},                             /* separators */
    {"\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"}, /* isolates */
    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c"},
    {"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"}, /* not escaped */
    {"\xc2\xad", "\\xc2\\xad"},                               /* soft hyphen */
    {"\xcd\x8f", "\\xcd\\x8f"},                               /* combining grapheme joiner */
    {"\xcd\xb8", "\\xcd\\xb8"},                               /* unassigned */
    {"\xe1\x85\x9f", "\\xe1\\x85\\x9f"},                      /* Hangul filler */
    {"\xe2\x80\x8d", "\\xe2\\x80\\x8d"},                      /* zero-width joiner */
    {"\xe2\x81\xa5", "\\xe2\\x81\\xa5"},                      /* unassigned, ignorable */
    {"\xee\x80\x80", "\\xee\\x80\\x80"},                      /* first private one */
    {"\xef\xb8\x8f", "\\xef\\xb8\\x8f"},                      /* variation selector */
    {"\xef\xbf\xb9\xef\xbf\xbb",
     "\\xef\\xbf\\xb9\\xef\\xbf\\xbb"},  /* interlinear annotation anchor, terminator */
    {"\xef\xbf\xbe", "\\xef\\xbf\\xbe"}, /* noncharacter */
    {"\xf0\x9d\x85\xb3", "\\xf0\\x9d\\x85\\xb3"}, /* musical format */
    {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"}, /* tag A */
    {"\xf3\xb0\x80\x80", "\\xf3\\xb0\\x80\\x80"}, /* supplementary private */
    {"\xf4\x8f\xbf\xbd", "\\xf4\\x8f\\xbf\\xbd"}, /* last one */
    {"\xc2\xa0"
     "\xc3\xa9"
     "\xe4\xb8\xad"
     "\xe2\x86\x92"
     "\xe2\x96\x88"
     "\xef\xbf\xbc"
     "\xef\xbf\xbd"
     "\xf0\x90\x80\x80"
     "\xf0\x9f\x98\x80",
     "\xc2\xa0"
     "\xc3\xa9"
     "\xe4\xb8\xad"
     "\xe2\x86\x92"
     "\xe2\x96\x88"
     "\xef\xbf\xbc"
     "\xef\xbf\xbd"
     "\xf0\x90\x80\x80"
     "\xf0\x9f\x98\x80"},
    {"bad \xff\xfe end", "bad \\xff\\xfe end"},
    {"cut \xe6\xa8", "cut \\xe6\\xa8"},
    {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
    {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* past the last code point */
};

static void escapes_names_for_terminals(void **state) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct text text;
        text_init(&text, *state);
        text_append_name(&text, names[i].name);
        assert_string_equal(text_string(&text), names[i].shown);
    }
}

static void recognizes_valid_utf8(void **state) {
    (void)state;
    assert_true(text_is_utf8("", 0));
    assert_true(text_is_utf8("plain \x1b", 7));
    assert_true(text_is_utf8("\xc3\xa4\xe6\xa8\xa1\xf0\x9f\x98\x80", 9));
    assert_false(text_is_utf8("a\0b", 3));
    assert_true(text_is_utf8("sixteen letters!", 16));
    assert_true(text_is_utf8("eight by\xc3\xa4 and some more", 24));
    for (size_t i = 0; i < 16; i++) {
        char text[16];
        memset(text, '\x01', sizeof(text));
        text[i] = '\0';
        assert_false(text_is_utf8(text, sizeof(text)));
        text[i] = '\x80';
        assert_false(text_is_utf8(text, sizeof(text)));
    }
    assert_false(text_is_utf8("\xc3", 1));
    assert_false(text_is_utf8("\xc3\xa4", 1));
    assert_false(text_is_utf8("\xed\xbf\xbf", 3));
    assert_false(text_is_utf8("\xf0\x80\x80\x80", 4));
    assert_false(text_is_utf8("\x80", 1));
}

static const struct {
    const char *text;
    bool ok;
    int64_t value;
} numbers[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"007", true, 7},
    {"-12", true, -12},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0},
    {"-9223372036854775809", false, 0},
    {"99999999999999999999", false, 0},
    {"", false, 0},
    {"-", false, 0},
    {"+1", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"1x", false, 0},
    {"0x10", false, 0},
    {"--1", false, 0},
};

static const struct {
    const char *text;
    bool ok;
    double value;
} reals[] = {
    {"0", true, 0},
    {"-1.5", true, -1.5},
    {"0.1", true, 0.1},
    {".5", true, 0.5},
    {"2.", true, 2},
    {"1e-05", true, 1e-05},
    {"12345678901234567890", true, 12345678901234567890.0},
    {"1E3", true, 1000},
    {"1e400", true, INFINITY},
    {"-inf", true, -INFINITY},
    {"", false, 0},
    {"-", false, 0},
    {".", false, 0},
    {"1e", false, 0},
    {"1.5.2", false, 0},
    {"1,5", false, 0},
    {"0x1p3", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"infinity", false, 0},
};

static void parses_reals_in_every_locale(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        double value = 77;
        const bool ok = text_to_real(reals[i].text, &value);
        if (ok != reals[i].ok) fail_msg("\"%s\"", reals[i].text);
        if (!(value == (ok ? reals[i].value : 77)))
            fail_msg("\"%s\" is %.17g", reals[i].text, value);
    }
    double value = 0;
    assert_true(text_to_real("nan", &value) && isnan(value));
}

static void parses_whole_decimal_numbers_only(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int64_t value = 77;
        const bool ok = text_to_int64(numbers[i].text, strlen(numbers[i].text), &value);
        if (ok != numbers[i].ok) fail_msg("\"%s\"", numbers[i].text);
        assert_true(value == (ok ? numbers[i].value : 77));
    }
    int64_t part = 0;
    assert_true(text_to_int64("123abc", 2, &part));
    assert_int_equal(part, 12);
}

static const struct {
    const char *text;
    int64_t bytes; /* -1: refused */
} sizes[] = {
    {"0", 0},
    {"17179869184", 17179869184},
    {"17179869184B", 17179869184},
    {"16GiB", 17179869184},
    {"16GB", 16000000000},
    {"512MiB", 536870912},
    {"1.5GiB", 1610612736},
    {"1.50GB", 1500000000},
    {"0.001kB", 1},
    {"1.0009kB", 1000},
    {"1.1GiB", 1181116006}, /* 1181116006.4 */
    {"0.3333333333333333333333333TiB", 366503875925},
    {"7KiB", 7168},
    {"7KB", 7000},
    {"2TB", 2000000000000},
    {"8388607TiB", 9223370937343148032},
    {"8388608TiB", -1},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775808", -1},
    {"", -1},
    {"GiB", -1},
    {"-1GiB", -1},
    {"+1GiB", -1},
    {"1.GiB", -1},
    {".5GiB", -1},
    {"1.5", -1},
    {"1.5B", -1},
    {"1,5GiB", -1},
    {"16 GiB", -1},
    {" 16GiB", -1},
    {"16GiB ", -1},
    {"16G", -1},
    {"16Gi", -1},
    {"16gib", -1},
    {"16GiBs", -1},
    {"0x10GiB", -1},
    {"1e9", -1},
};

static void parses_sizes_with_byte_units(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t bytes = -1;
        const bool ok = text_to_bytes(sizes[i].text, &bytes);
        if (ok != (sizes[i].bytes >= 0) || (ok && bytes != sizes[i].bytes))
            fail_msg("\"%s\" gives %lld", sizes[i].text, (long long)bytes);
    }
}

static void compares_strings(void **state) {
    (void)state;
    assert_true(text_equal(NULL, NULL));
    assert_false(text_equal(NULL, ""));
    assert_false(text_equal("", NULL));
    assert_true(text_equal("a", "a"));
    assert_false(text_equal("a", "b"));
    assert_true(text_starts_with("abc", ""));
    assert_true(text_starts_with("abc", "abc"));
    assert_false(text_starts_with("ab", "abc"));
    assert_true(text_ends_with("abc", "bc"));
    assert_true(text_ends_with("abc", ""));
    assert_false(text_ends_with("bc", "abc"));
    assert_true(text_is_digits("0"));
    assert_true(text_is_digits("129"));
    assert_false(text_is_digits(""));
    assert_false(text_is_digits("1a"));
    assert_false(text_is_digits("-1"));
}

static void truncates_labels_between_characters(void **state) {
    char name[TEXT_LONGEST_LABEL + 16];
    struct text text;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name + TEXT_LONGEST_LABEL - 1, "\xc3\xa4", 2);
    assert_int_equal(text_cut_length(name, TEXT_LONGEST_LABEL), TEXT_LONGEST_LABEL - 1);
    assert_int_equal(text_cut_length(name, sizeof name), sizeof name - 1);
    text_init(&text, *state);
    text_append_label(&text, name);
    assert_int_equal(text.length, TEXT_LONGEST_LABEL - 1 + strlen("..."));
    assert_true(text_ends_with(text_string(&text), "a..."));
    text_init(&text, *state);
    text_append_label(&text, "short\n");
    assert_string_equal(text_string(&text), "short\\x0a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(empty_text_is_an_empty_string, make, end),
        cmocka_unit_test_setup_teardown(appends_every_kind_of_item, make, end),
        cmocka_unit_test(ignores_appends_after_a_failed_allocation),
        cmocka_unit_test_setup_teardown(escapes_names_for_terminals, make, end),
        cmocka_unit_test_setup_teardown(truncates_labels_between_characters, make, end),
        cmocka_unit_test(recognizes_valid_utf8),
        cmocka_unit_test(parses_whole_decimal_numbers_only),
        cmocka_unit_test(parses_reals_in_every_locale),
        cmocka_unit_test(parses_sizes_with_byte_units),
        cmocka_unit_test(compares_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
