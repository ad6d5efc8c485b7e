/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel completion SHELL`: prints a script of cli/shells/. Each script runs `costmodel
 * complete -- WORD...` with the words up to the cursor, and reads lines: the start of the last
 * word that all candidates keep, then CANDIDATE<tab>DESCRIPTION. ":files<tab>onnx|json" adds
 * the files with these endings ("*": all, "/": none) and all folders. No space follows a
 * candidate that ends with "=" or ":". */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/text.h"

/* Prints a candidate that begins with `word`, and the first clause of a description. Omits
 * names with control characters, which a model may have. */
static void print_candidate(const char *word, const char *name, const char *about) {
    if (!text_starts_with(name, word)) return;
    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == '\x7f') return;
    printf("%s\t", name);
    for (const char *at = about ? about : ""; *at != '\0' && *at != ';'; at++)
        if (*at != ':' || at[1] != '\0') putchar(*at == '\n' ? ' ' : *at);
    putchar('\n');
}

/* Prints candidates for the value of an option or operand, which begins at word[offset]. */
static void print_values(const struct invocation *call, const struct option *row,
                         const char *word, size_t offset) {
    const struct option_query query = {call, word + offset};
    const bool list = row->list || row->kind == OPTION_CHOICES || row->kind == OPTION_INT64S;
    const struct option_part own[] = {{"", row->choices, row->names, row->files},
                                      {list ? "," : NULL, row->choices, row->names, row->files},
                                      {.after = NULL}};
    const struct option_part *part = row->parts ? row->parts : own; /* begins the value */
    const char *start = query.value;
    for (const struct option_part *at = part; at->after != NULL; at++) {
        const char *found = at->after[0] == '\0' ? NULL : strstr(query.value, at->after);
        for (; found != NULL; found = strstr(found + 1, at->after)) {
            if (found + strlen(at->after) <= start) continue;
            start = found + strlen(at->after);
            part = at;
        }
    }
    start += strspn(start, " ");
    printf("%.*s\n", (int)(start - word), word);
    struct option_choice choice;
    for (size_t i = 0; options_name_at(part->choices, NULL, &query, i, &choice); i++)
        print_candidate(start, choice.name, choice.about);
    for (size_t i = 0; part->names != NULL && part->names(&query, i, &choice); i++)
        print_candidate(start, choice.name, choice.about);
    if (part->files != NULL) printf(":files\t%s\n", part->files);
}

static void print_option(const struct option *option, const void *context) {
    char name[64];
    if (option->hidden) return;
    snprintf(name, sizeof name, "--%s", option->name);
    print_candidate(context, name, option->help);
    snprintf(name, sizeof name, "-%c", option->letter);
    if (option->letter != '\0') print_candidate(context, name, option->help);
}

/* Returns the option of an argument, and sets *ret_value to the offset of its value in the
 * argument; 0: none. */
static const struct option *find(const struct command *command, const char *argument,
                                 size_t *ret_value) {
    const bool is_long = argument[1] == '-';
    const size_t length = is_long ? strcspn(argument + 2, "=") : 0;
    *ret_value =
        !is_long ? (argument[2] != '\0') * 2U : (argument[2 + length] == '=') * (length + 3);
    const char *near = NULL;
    return options_find(command->options, argument + 2, length, is_long ? '\0' : argument[1],
                        &near);
}

/* Prints candidates for the last argument of a command. */
static void print_arguments(const struct invocation *call, const struct command *command) {
    const int last = call->argc - 1;
    const char *word = call->argv[last];
    const bool is_option = text_starts_with(word, "--");
    const struct option *option = NULL;
    size_t value = 0;
    size_t n_operands = 0;
    bool ended = false; /* `--` was seen */
    for (int i = 0; i < last; i++) {
        const char *argument = call->argv[i];
        if (ended || argument[0] != '-' || argument[1] == '\0') {
            n_operands++;
        } else if (text_equal(argument, "--")) {
            ended = true;
        } else {
            option = find(command, argument, &value);
            if (option == NULL || option->value == NULL || option->alone != NULL || value > 0)
                continue;
            if (i + 1 == last && !is_option) {
                print_values(call, option, word, 0);
                return;
            }
            i += !text_starts_with(call->argv[i + 1], "--");
        }
    }
    if (!ended && word[0] == '-') {
        option = word[1] != '\0' ? find(command, word, &value) : NULL;
        if (option != NULL && option->value != NULL && value > 0) {
            print_values(call, option, word, value);
            return;
        }
        puts("");
        options_visit(command->options, print_option, word);
        options_visit(call->table->options, print_option, word);
        return;
    }
    const struct option *operand = command->operands;
    for (size_t i = 0; operand && operand->name && i < n_operands; i++)
        operand += !operand->list;
    if (operand && operand->name) print_values(call, operand, word, 0);
}

static void print_commands(const struct command_table *table, const char *word) {
    for (const struct command *command = table->commands; command->summary != NULL; command++)
        print_candidate(word, command->name, command->summary);
    print_candidate(word, "help", "print the help of a command");
}

int command_complete(const struct invocation *call) {
    struct invocation words = *call;
    const struct command *command = call->table->commands;
    const bool skips = words.argc > 0 && text_equal(words.argv[0], "--");
    words.argc -= skips;
    words.argv += skips;
    words.name = command->name;
    if (words.argc == 0) return command_finish(call, EXIT_DONE);
    if (words.argc == 2 && text_equal(words.argv[0], "help")) {
        puts("");
        print_commands(call->table, words.argv[1]);
        return command_finish(call, EXIT_DONE);
    }
    for (const struct command *at = command; words.argc > 1 && at->name != NULL; at++) {
        if (!text_equal(at->name, words.argv[0])) continue;
        command = at;
        words.name = at->name;
        words.argc--;
        words.argv++;
        break;
    }
    print_arguments(&words, command);
    if (words.argc == call->argc - skips && words.argc == 1 && words.argv[0][0] != '-')
        print_commands(call->table, words.argv[0]);
    return command_finish(call, EXIT_DONE);
}

static bool names_of_shells(const struct option_query *query, size_t index,
                            struct option_choice *ret) {
    (void)query;
    *ret = (struct option_choice){.name = completion_scripts[index].name};
    return ret->name != NULL;
}

const struct option completion_operands[] = {{.name = "SHELL", .names = names_of_shells},
                                             {.name = NULL}};

int command_completion(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    char nothing = 0;
    const int status = options_parse(command_no_options, call, &nothing, &operands);
    if (status != CM_OK) return command_exit(status);
    for (const struct completion_script *at = completion_scripts; at->name != NULL; at++) {
        if (operands.n != 1 || !text_equal(at->name, operands.values[0])) continue;
        fputs(at->text, stdout);
        return command_finish(call, EXIT_DONE);
    }
    return command_exit(options_fault(call, "completion requires %s, got '%s'",
                                      options_list_names(call, completion_operands),
                                      operands.n > 0 ? operands.values[0] : ""));
}
