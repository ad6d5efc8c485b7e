/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel completion SHELL`: completions for bash, zsh and fish, from the command table. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/text.h"

/* Prints the known values of an option, separated by spaces. Returns false if it has none. */
static bool print_values(const struct option *option) {
    size_t n = 0;
    for (const struct option_choice *choice = option->choices; choice && choice->name; choice++)
        printf("%s%s", n++ > 0 ? " " : "", choice->name);
    const bool is_device = text_equal(option->name, "device");
    for (size_t i = 0; is_device && backends_device_at(i) != NULL; i++)
        printf("%s%s", n++ > 0 ? " " : "", backends_device_at(i));
    for (size_t i = 0; option->name_at != NULL && option->name_at(i) != NULL; i++)
        printf("%s%s", n++ > 0 ? " " : "", option->name_at(i));
    return n > 0;
}

static bool has_values(const struct option *option) {
    return option->choices != NULL || option->name_at != NULL ||
           text_equal(option->name, "device");
}

/* Prints the first clause of the help, without characters that a shell would interpret. */
static void print_summary(const struct option *option) {
    for (const char *at = option->help; *at != '\0' && *at != ';'; at++)
        putchar(*at == '\n' ? ' ' : strchr("'`[]:\\\"$", *at) != NULL ? ' ' : *at);
}

static void print_commands(const struct command_table *table) {
    for (const struct command *command = table->commands; command->summary != NULL; command++)
        printf("%s ", command->name);
    fputs("help", stdout);
}

static void print_command_cases(const struct command_table *table) {
    const struct command *command = table->commands + 1; /* without the default */
    for (; command->summary != NULL; command++)
        printf("        %s) command=%s ;;\n", command->name, command->name);
}

static void bash_name(const struct option *option, const void *context) {
    (void)context;
    if (option->hidden) return;
    printf(" --%s", option->name);
    if (option->letter != '\0') printf(" -%c", option->letter);
}

static void bash_values(const struct option *option, const void *context) {
    if (option->hidden || !has_values(option)) return;
    printf("        %s:--%s", (const char *)context, option->name);
    if (option->letter != '\0') printf("|%s:-%c", (const char *)context, option->letter);
    fputs(") values='", stdout);
    (void)print_values(option);
    fputs("' ;;\n", stdout);
}

static void print_bash(const struct command_table *table) {
    fputs("# bash completion of costmodel\n"
          "_costmodel() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=profile options= values=\n"
          "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    [[ $word == = ]] && { before=${COMP_WORDS[COMP_CWORD-1]}; word=; }\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    print_command_cases(table);
    fputs("    esac\n"
          "    case $command:$before in\n",
          stdout);
    const struct command *command = table->commands;
    for (; command->summary != NULL; command++)
        options_visit(command->options, bash_values, command->name);
    fputs("    esac\n"
          "    case $command in\n",
          stdout);
    for (command = table->commands; command->summary != NULL; command++) {
        printf("        %s) options='", command->name);
        options_visit(command->options, bash_name, NULL);
        options_visit(table->options, bash_name, NULL);
        fputs("' ;;\n", stdout);
    }
    fputs(
        "    esac\n"
        "    if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
        "    elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "        [[ $COMP_CWORD == 1 ]] && COMPREPLY+=($(compgen -W '",
        stdout);
    print_commands(table);
    fputs("' -- \"$word\"))\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _costmodel costmodel\n",
          stdout);
}

static void zsh_option(const struct option *option, const void *context) {
    (void)context;
    if (option->hidden) return;
    for (int form = option->letter != '\0' ? 0 : 1; form < 2; form++) {
        if (form == 0)
            printf("            '*-%c", option->letter);
        else
            printf("            '*--%s", option->name);
        if (option->value != NULL && form == 1) fputs(option->alone ? "=-" : "=", stdout);
        fputs("[", stdout);
        print_summary(option);
        fputs("]", stdout);
        if (option->value != NULL) {
            fputs(option->alone ? "::value:" : ":value:", stdout);
            if (has_values(option)) {
                fputs("(", stdout);
                (void)print_values(option);
                fputs(")", stdout);
            } else {
                fputs("_files", stdout);
            }
        }
        fputs("' \\\n", stdout);
    }
}

static void print_zsh(const struct command_table *table) {
    fputs("#compdef costmodel\n"
          "# zsh completion of costmodel\n"
          "_costmodel() {\n"
          "    local command=profile\n"
          "    case $words[2] in\n",
          stdout);
    print_command_cases(table);
    fputs("    esac\n"
          "    if (( CURRENT == 2 )); then compadd ",
          stdout);
    print_commands(table);
    fputs("; fi\n"
          "    case $command in\n",
          stdout);
    const struct command *command = table->commands;
    for (; command->summary != NULL; command++) {
        printf("        %s) _arguments \\\n", command->name);
        options_visit(command->options, zsh_option, NULL);
        options_visit(table->options, zsh_option, NULL);
        fputs("            '*:file:_files' ;;\n", stdout);
    }
    fputs("    esac\n"
          "}\n"
          "_costmodel \"$@\"\n",
          stdout);
}

static void fish_option(const struct option *option, const void *context) {
    const char *command = context;
    if (option->hidden) return;
    fputs("complete -c costmodel", stdout);
    if (command != NULL) printf(" -n '__costmodel_command %s'", command);
    printf(" -l %s", option->name);
    if (option->letter != '\0') printf(" -s %c", option->letter);
    if (option->value != NULL && option->alone == NULL) fputs(" -r", stdout);
    if (has_values(option)) {
        fputs(" -f -a '", stdout);
        (void)print_values(option);
        fputs("'", stdout);
    }
    fputs(" -d '", stdout);
    print_summary(option);
    fputs("'\n", stdout);
}

static void print_fish(const struct command_table *table) {
    fputs("# fish completion of costmodel\n"
          "function __costmodel_command\n"
          "    set -l words (commandline -opc)\n"
          "    set -l command profile\n"
          "    if contains -- \"$words[2]\" ",
          stdout);
    print_commands(table);
    fputs("\n"
          "        set command $words[2]\n"
          "    end\n"
          "    test $command = $argv[1]\n"
          "end\n"
          "complete -c costmodel -n 'test (count (commandline -opc)) -eq 1' -a '",
          stdout);
    print_commands(table);
    fputs("'\n", stdout);
    const struct command *command = table->commands;
    for (; command->summary != NULL; command++)
        options_visit(command->options, fish_option, command->name);
    options_visit(table->options, fish_option, NULL);
}

static const struct {
    const char *name;
    void (*print)(const struct command_table *table);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

int command_completion(const struct invocation *call) {
    struct option_list operands = {0, NULL};
    char nothing = 0;
    const int status = options_parse(command_no_options, call, &nothing, &operands);
    if (status != CM_OK) return command_exit(status);
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (operands.n != 1 || !text_equal(shells[i].name, operands.values[0])) continue;
        shells[i].print(call->table);
        return command_finish(call, EXIT_DONE);
    }
    return command_exit(options_fault(call, "completion requires bash, zsh or fish, got '%s'",
                                      operands.n > 0 ? operands.values[0] : ""));
}
