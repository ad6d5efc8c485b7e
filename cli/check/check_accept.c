/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the command that accepts an intended regression: the same command line without the
 * report options, plus the options that update the baseline.
 */
#include "cli/check/check_command.h"

#include <string.h>

#include "support/text.h"

#include "support/banned.h"

/* Options without a meaning for an update. */
static const struct {
    const char *name;
    bool takes_value;
} dropped[] = {
    {"--format", true}, {"--output", true}, {"-o", true},         {"--report", true},
    {"--color", true},  {"--top", true},    {"--ratchet", false}, {"--fail-ambiguous", false},
};

/* Returns how many arguments to drop from here: 0, 1 or 2. */
static int n_dropped(const char *const *argv, int left) {
    const size_t length = strcspn(argv[0], "=");
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
        const char *name = dropped[i].name;
        const bool is_letter = name[1] != '-';
        if (is_letter && text_starts_with(argv[0], name) && argv[0][2] != '\0') return 1;
        if (strlen(name) != length || memcmp(name, argv[0], length) != 0) continue;
        return dropped[i].takes_value && argv[0][length] == '\0' && left > 1 ? 2 : 1;
    }
    return 0;
}

static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./=,:@%+";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

/* Appends a word quoted for a POSIX shell. */
static void append_word(struct text *text, const char *word) {
    text_append(text, " ");
    if (is_plain(word)) {
        text_append(text, word);
        return;
    }
    text_append(text, "'");
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'')
            text_append(text, "'\\''");
        else
            text_append_n(text, c, 1);
    }
    text_append(text, "'");
}

const char *check_accept_command(const struct invocation *call) {
    struct text text;
    bool ended = false; /* `--` was seen */
    text_init(&text, call->arena);
    text_append(&text, "costmodel check --update-baseline --reason 'why the costs increase'");
    for (int i = 0; i < call->argc; i++) {
        const int n = ended ? 0 : n_dropped(call->argv + i, call->argc - i);
        ended |= text_equal(call->argv[i], "--");
        if (n == 0) append_word(&text, call->argv[i]);
        if (n == 2) i++;
    }
    return text.failed ? NULL : text_string(&text);
}
