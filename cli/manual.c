/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel man`: the manual page costmodel(1) in roff (man(7)), from the command table. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/text.h"

/* Prints text for roff: escapes "\", "-", and "." or "'" at the start of a line. */
static void print_text(const char *text, size_t length) {
    bool at_start = true;
    for (size_t i = 0; i < length; i++) {
        if (at_start && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
        at_start = text[i] == '\n';
    }
}

static void print_string(const char *text) {
    print_text(text, strlen(text));
}

/* Prints paragraphs, which are separated by empty lines. */
static void print_paragraphs(const char *text) {
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (length == 0)
            puts(".PP");
        else {
            print_text(text, length);
            putchar('\n');
        }
        text += length + (text[length] == '\n');
    }
}

static void print_option(const struct option *option, const void *context) {
    (void)context;
    if (option->hidden) return;
    fputs(".TP\n", stdout);
    if (option->letter != '\0') printf("\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stdout);
    print_string(option->name);
    fputs("\\fR", stdout);
    if (option->value != NULL) {
        fputs(option->alone != NULL ? "[=\\fI" : " \\fI", stdout);
        print_string(option->value);
        fputs(option->alone != NULL ? "\\fR]" : "\\fR", stdout);
    }
    putchar('\n');
    print_string(option->help);
    putchar('\n');
    char item[OPTION_ITEM];
    for (size_t i = 0; options_describe_name(option, i, item, sizeof item); i++) {
        print_string(item);
        putchar('\n');
    }
}

/* Prints lines as they are. */
static void print_example(const char *text) {
    puts(".nf");
    for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
        print_text(text, strcspn(text, "\n"));
        putchar('\n');
    }
    puts(".fi");
}

static void print_command(const struct command *command) {
    fputs(".SS ", stdout);
    print_string(command->name);
    fputs("\n\\fBcostmodel\\fR ", stdout);
    print_string(command->usage);
    puts("\n.PP");
    print_paragraphs(command->about);
    options_visit(command->options, print_option, NULL);
    if (command->exit_statuses == NULL) return;
    puts(".PP\nExit status:");
    print_example(command->exit_statuses);
}

int command_man(const struct invocation *call) {
    const struct command_table *table = call->table;
    struct option_list operands = {0, NULL};
    char nothing = 0;
    int status = options_parse(command_no_options, call, &nothing, &operands);
    if (status == CM_OK && operands.n > 0)
        status = options_fault(call, "man takes no argument, got '%s'", operands.values[0]);
    if (status != CM_OK) return command_exit(status);
    printf(".TH COSTMODEL 1 \"\" \"costmodel %s\"\n"
           ".SH NAME\ncostmodel \\- static cost analyser for ONNX models\n"
           ".SH SYNOPSIS\n",
           cm_version());
    const struct command *command = table->commands;
    for (; command->summary != NULL; command++) {
        fputs(command > table->commands ? ".br\n\\fBcostmodel\\fR " : "\\fBcostmodel\\fR ",
              stdout);
        print_string(command->usage);
        putchar('\n');
    }
    puts(".SH DESCRIPTION");
    print_paragraphs(table->commands[0].about);
    puts(".SH EXAMPLES");
    print_example(table->examples);
    puts(".SH COMMANDS");
    for (command = table->commands; command->summary != NULL; command++) print_command(command);
    puts(".SH OPTIONS OF ALL COMMANDS");
    options_visit(table->options, print_option, NULL);
    puts(".SH EXIT STATUS");
    print_example(table->exit_statuses);
    return command_finish(call, EXIT_DONE);
}
