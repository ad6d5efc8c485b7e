/* SPDX-License-Identifier: Apache-2.0 */
/* The command table. What a command does stands in its own file. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/suggest.h"
#include "support/text.h"

#include "support/banned.h"

struct command {
    const char *name;
    int (*run)(const struct invocation *call);
    const struct option *options;
    const char *usage;
    const char *summary;
    const char *about;         /* for its own help */
    const char *exit_statuses; /* of its own; NULL: as every command's */
    int exhausted;             /* the exit status where memory ended */
};

static const char exit_statuses[] =
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  the model was refused or does not fit, or a file cannot be read or written\n"
    "  2  the command line is at fault, or leaves a free dim unbound\n"
    "  3  done, but the model has operators that are not known, or the backend that was asked\n"
    "     for cannot be used\n";

static const char about[] =
    "\n"
    "Says what an ONNX model costs, from its file alone: parameters, "
    "MACs, FLOPs, bytes moved and\n"
    "activation memory, of every node and every module, at any batch "
    "size. MODEL.onnx may be - for\n"
    "standard input, or a profile that was written as JSON. Weights are "
    "never read.\n";

static const char about_diff[] =
    "\n"
    "Compares two models, or two versions of one: the totals, then the modules and operators\n"
    "that account for the change, the largest first, and what was renamed, moved, added and\n"
    "removed. OLD and NEW are ONNX files, or profiles that were written as JSON; the options\n"
    "hold for both models, profiles keep theirs. One of the two may be - for standard input.\n";

static const char exit_statuses_diff[] =
    "\n"
    "Exit status:\n"
    "  0  compared\n"
    "  1  one of the two was refused, or a file cannot be read or written; with --exit-code\n"
    "     also: they differ\n"
    "  2  the command line is at fault, or leaves a free dim unbound\n"
    "  3  not compared: the two were profiled at another batch, by another convention or with\n"
    "     other options\n";

static const char about_check[] =
    "\n"
    "Holds what a model costs against limits, absolute ones and those from a baseline on, and\n"
    "names the modules that a regression comes from. MODEL is an ONNX file, - for standard\n"
    "input, or a profile that was written as JSON.\n";

static const char exit_statuses_check[] =
    "\n"
    "Exit status:\n"
    "  0  it keeps within every limit\n"
    "  1  a regression: it costs more than a limit allows\n"
    "  2  the command line or the budget is at fault, or leaves a free dim unbound\n"
    "  3  it could not be compared: there is no baseline, or one of another batch, convention "
    "or\n"
    "     device; a figure is not known; the model was refused, a file cannot be read or "
    "written\n";

static const char about_conventions[] = "\n"
                                        "Counts the FLOPs of one model by every convention, "
                                        "and names the operators that part each\n"
                                        "of them from plain MACs.\n";

static const char about_ops[] = "\n"
                                "Lists the operators that are known, each with the opsets from "
                                "which on it has a row.\n";

static const char about_backends[] =
    "\n"
    "Lists what can measure or model a device here, or why it cannot, the devices of which\n"
    "figures are built in, and where modules are searched; of one backend alone what it makes\n"
    "of these settings.\n";

static const char about_passes[] = "\n"
                                   "Lists the passes from a graph to its costs, in the order "
                                   "in which they run.\n";

static const char about_schema[] =
    "\n"
    "Prints the JSON Schema (draft 2020-12) of what --format json writes: profile, of several\n"
    "batches sweep, of check check; and of what check reads: budget, baseline.\n";

/* The first is the one that runs when none is named. */
static const struct command commands[] = {
    {"profile", command_profile, profile_options, "[profile] MODEL.onnx [options]",
     "what a model costs", about, NULL, EXIT_REFUSED},
    {"diff", command_diff, diff_options, "diff OLD NEW [options]", "what changed between two",
     about_diff, exit_statuses_diff, EXIT_REFUSED},
    {"check", command_check, check_options, "check MODEL [options]",
     "whether it costs more than it may", about_check, exit_statuses_check, EXIT_INCOMPLETE},
    {"conventions", command_conventions, conventions_options,
     "conventions MODEL.onnx [options]", "what it costs by each tool's rules",
     about_conventions, NULL, EXIT_REFUSED},
    {"ops", command_ops, ops_options, "ops [--markdown]", "list the operators that are known",
     about_ops, NULL, EXIT_REFUSED},
    {"backends", command_backends, backends_options, "backends [NAME[:key=value,...]]",
     "list what can measure or model a device", about_backends, NULL, EXIT_REFUSED},
    {"passes", command_passes, passes_options, "passes", "list the passes in order",
     about_passes, NULL, EXIT_REFUSED},
    {"schema", command_schema, schema_options, "schema NAME [--markdown]",
     "print the schema of JSON output", about_schema, NULL, EXIT_REFUSED},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

/* Rows for the help alone: they end the run before any command sees its arguments. */
static const struct option general_options[] = {
    {.heading = "General",
     .name = "help",
     .letter = 'h',
     .kind = OPTION_SET,
     .help = "print this and end"},
    {.name = "version", .kind = OPTION_SET, .help = "print the version and end"},
    {.name = NULL},
};

static void print_usage(const char *before, const struct command *command) {
    printf("%s costmodel %-32s %s\n", before, command->usage, command->summary);
}

static int print_command_help(const struct invocation *call, const struct command *command) {
    print_usage("usage:", command);
    fputs(command->about, stdout);
    options_help(command->options, stdout);
    options_help(general_options, stdout);
    fputs(command->exit_statuses ? command->exit_statuses : exit_statuses, stdout);
    return command_finish(call, EXIT_DONE);
}

static int print_help(const struct invocation *call) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        print_usage(i == 0 ? "usage:" : "      ", &commands[i]);
    }
    fputs("\n\"costmodel COMMAND --help\" explains a command; these are the options of "
          "profile.\n",
          stdout);
    fputs(about, stdout);
    options_help(profile_options, stdout);
    options_help(general_options, stdout);
    fputs(exit_statuses, stdout);
    return command_finish(call, EXIT_DONE);
}

static int print_version(const struct invocation *call) {
    printf("costmodel %s\n", cm_version());
    return command_finish(call, EXIT_DONE);
}

/* Whether one of the words stands before `--`. Help is given whatever else is wrong. */
static bool asks_for(const struct invocation *call, const char *word, const char *letter) {
    for (int i = 0; i < call->argc && !text_equal(call->argv[i], "--"); i++) {
        if (text_equal(call->argv[i], word) || text_equal(call->argv[i], letter)) return true;
    }
    return false;
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (text_equal(commands[i].name, name)) return &commands[i];
    }
    return NULL;
}

static const struct command *command_of(int argc, char **argv) {
    const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;
    return command ? command : &commands[0];
}

/* A word that is no file but nearly a command is a mistyped command, not a missing model. */
static const char *mistyped_command(const char *word) {
    struct suggestion suggestion;
    if (word[0] == '-' || access(word, F_OK) == 0) return NULL;
    suggest_init(&suggestion, word, strlen(word));
    for (size_t i = 0; i < N_COMMANDS; i++) suggest_offer(&suggestion, commands[i].name);
    return suggestion.best;
}

/*
 * Where memory was short for an argument, a message or a word of the output, what the command
 * says of it is not so, whatever it ends with.
 */
static int run_command(const struct command *command, const struct invocation *call) {
    const int status = command->run(call);
    if (!arena_failed(call->arena) && !diag_starved(call->diag)) return status;
    (void)diag_no_memory(call->diag);
    return command->exhausted;
}

static int run(struct invocation *call) {
    const struct command *command = call->argc > 0 ? find_command(call->argv[0]) : NULL;
    if (asks_for(call, "--help", "-h"))
        return command ? print_command_help(call, command) : print_help(call);
    if (asks_for(call, "--version", NULL)) return print_version(call);
    if (call->argc == 0) return run_command(&commands[0], call);
    const char *word = call->argv[0];
    const char *near = command == NULL ? mistyped_command(word) : NULL;
    if (near != NULL) {
        return command_exit(
            options_fault(call, "unknown command '%s', did you mean '%s'?", word, near));
    }
    if (command == NULL) return run_command(&commands[0], call);
    call->name = command->name;
    call->argc--;
    call->argv++;
    return run_command(command, call);
}

int main(int argc, char **argv) {
    streams_prepare();
    struct arena *arena = arena_new("program", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (arena == NULL || diag == NULL) {
        fputs("costmodel: error[memory]: out of memory\n", stderr);
        arena_free(arena);
        cm_diagnostics_free(diag);
        return command_of(argc, argv)->exhausted;
    }
    const int n_arguments = argc > 0 ? argc - 1 : 0;
    struct invocation call = {
        .argc = n_arguments,
        .argv = (const char *const *)(argv + (argc - n_arguments)),
        .arena = arena,
        .diag = diag,
    };
    const int status = run(&call);
    messages_print(diag, "costmodel", COLOR_AUTO);
    cm_diagnostics_free(diag);
    arena_free(arena);
    return status;
}
