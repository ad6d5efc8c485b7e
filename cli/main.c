/* SPDX-License-Identifier: Apache-2.0 */
/* The command table and main. Each command is implemented in its own file. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_writer.h"
#include "support/suggest.h"
#include "support/system.h"
#include "support/text.h"

static const char exit_statuses[] =
    "  0  success\n"
    "  1  the model is refused or does not fit, or a file cannot be read or written\n"
    "  2  invalid command line, or a symbolic dim is unbound\n"
    "  3  success, but totals leave something out, or the backend is unusable\n"
    "  130  Ctrl-C ended a measurement, the report has the times measured by then\n";

static const struct option of_models[] = {{.name = "MODEL", .files = "onnx"}, {.name = NULL}};
static const struct option of_profiles[] = {{.name = "MODEL", .files = "onnx|json"},
                                            {.name = NULL}};
static const struct option of_checks[] = {{.name = "MODEL", .files = "onnx|json", .list = true},
                                          {.name = NULL}};
static const struct option of_pairs[] = {{.name = "OLD", .files = "onnx|json"},
                                         {.name = "NEW", .files = "onnx|json"},
                                         {.name = NULL}};
static const struct option of_sweeps[] = {{.name = "MODEL", .files = "onnx", .list = true},
                                          {.name = NULL}};
static const struct option of_histories[] = {{.name = "FILE", .files = "jsonl"},
                                             {.name = NULL}};
static const struct option of_campaigns[] = {{.name = "FOLDER", .files = "/", .list = true},
                                             {.name = NULL}};
static const struct option of_backends[] = {{.name = "NAME", .parts = parts_backend},
                                            {.name = NULL}};
static const struct option of_fits[] = {
    {.name = "DEVICE", .names = names_of_devices, .files = "json"},
    {.name = "TIMES.csv", .files = "csv"},
    {.name = NULL}};

/* clang-format off */
/* The first is the default command. */
static const struct command commands[] = {
    {"profile", command_profile, profile_options, "[profile] MODEL.onnx [options]",
     "profile a model (default)",
     "Computes the costs of an ONNX model from its file alone: parameters, MACs, FLOPs, memory\n"
     "traffic and activation memory, per node and per module, at any batch size. MODEL.onnx is\n"
     "an ONNX file, - for standard input, or a profile in JSON. Weights are never read.\n",
     NULL, EXIT_REFUSED, of_profiles},
    {"diff", command_diff, diff_options, "diff OLD NEW [options]", "compare two models",
     "Compares the costs of two models: totals, the modules and operators that cause the change,\n"
     "largest first, and renamed, moved, added and removed modules. OLD and NEW are ONNX files\n"
     "or profiles in JSON; one of them may be - for standard input. The options apply to both\n"
     "models; profiles keep the options they were made with.\n",
     "  0  compared\n"
     "  1  a model is refused, or a file cannot be read or written; with --exit-code also: the\n"
     "     two differ\n"
     "  2  invalid command line, or a symbolic dim is unbound\n"
     "  3  not comparable: different batch, convention or other options; or the backend is\n"
     "     unusable (the difference is written)\n"
     "  130  Ctrl-C ended a measurement, nothing is compared\n", EXIT_REFUSED, of_pairs},
    {"check", command_check, check_options, "check [MODEL...] [options]",
     "regression gate: check costs against limits",
     "Regression gate: checks the costs of a model against absolute limits and against a\n"
     "baseline, and reports the modules that cause a regression. MODEL is an ONNX file, - for\n"
     "standard input, or a profile in JSON; without it, the models of .costmodel.toml.\n",
     "  0  pass: every limit is met, or its excess is waived\n"
     "  1  regression: a limit is exceeded\n"
     "  2  invalid command line or budget, or a symbolic dim is unbound\n"
     "  3  undecided: the baseline is missing or has another batch, convention or device; a value\n"
     "     is unknown, or measured and not clearly within the limit; the backend is unusable; the\n"
     "     model is refused; a file cannot be read or written\n"
     "  130  Ctrl-C ended a measurement, nothing is compared\n", EXIT_INCOMPLETE, of_checks},
    {"history", command_history, history_options, "history FILE [options]",
     "trend of the costs in the history of check",
     "Prints the trend of each metric of each model from the file that 'costmodel check --history\n"
     "FILE' appends to. A later run of the same commit replaces the earlier one.\n",
     NULL, EXIT_REFUSED, of_histories},
    {"llm", command_llm, llm_options, "llm MODEL.onnx [options]",
     "costs of serving a language model",
     "Computes what serving a language model costs: KV cache, prefill and decode, sequences that\n"
     "fit, quantization and parallel inference. The dims of batch and tokens follow from the\n"
     "graph.\n",
     NULL, EXIT_REFUSED, of_models},
    {"quantize", command_quantize, quantize_options, "quantize MODEL.onnx [options]",
     "what smaller formats of weights save",
     "Ranks the weights of any model by the time and bytes that a smaller format saves, with its\n"
     "scales and zero points, and lists what stays as it is.\n",
     NULL, EXIT_REFUSED, of_models},
    {"conventions", command_conventions, conventions_options, "conventions MODEL.onnx [options]",
     "count FLOPs by each convention",
     "Counts the FLOPs of a model by every convention, and lists the operators that cause the\n"
     "largest differences from plain MACs.\n", NULL, EXIT_REFUSED, of_models},
    {"ops", command_ops, ops_options, "ops [OPERATOR...] [options]", "list the supported operators",
     "Lists the supported operators, or the given ones, and the opsets since which each version\n"
     "applies.\n", NULL, EXIT_REFUSED, ops_operands},
    {"backends", command_backends, backends_options, "backends [NAME[:key=value,...]|DEVICE]",
     "list backends and devices",
     "Lists the backends that can measure or model a device on this machine (or why they\n"
     "cannot), the built-in devices, and the search path of backend modules. With NAME: opens\n"
     "that backend with these settings. With DEVICE: what its expected times were fitted to, and\n"
     "their errors.\n", NULL, EXIT_REFUSED, of_backends},
    {"passes", command_passes, command_no_options, "passes", "list the passes in order",
     "Lists the passes in execution order.\n", NULL, EXIT_REFUSED, NULL},
    {"fit", command_fit, fit_options, "fit DEVICE TIMES.csv [options]",
     "fit a modelled device to measured times",
     "Fits the efficiencies of a device (a built-in name or a .json file) to measured times, and\n"
     "prints the value of \"calibration\" for its file. TIMES.csv has the columns\n"
     "model,node,batch,precision,layout,seconds; all but model and seconds may be empty. In a\n"
     "seventh column, optimizer makes it the time of a training step; in an eighth, dims has\n"
     "sizes of symbolic dims, as in \"seq=128 past=0\".\n", NULL, EXIT_REFUSED, of_fits},
    {"sweep", command_sweep, sweep_options, "sweep MODEL... -o FOLDER",
     "profile models for many batches and devices",
     "Profiles models at several batches and precisions on several devices: all combinations. The\n"
     "results go to a folder, one line of JSON per combination; 'costmodel merge' prints them.\n"
     "A run that was killed continues where it ended. --shard divides the work between machines\n"
     "(docs/cluster.md).\n",
     "  0  the shard is complete; combinations that failed are recorded with their message\n"
     "  1  a file cannot be read or written\n"
     "  2  invalid command line or manifest\n", EXIT_REFUSED, of_sweeps},
    {"merge", command_merge, merge_options, "merge FOLDER...", "print the results of sweep",
     "Prints the results of 'costmodel sweep' as one table, whatever the shards. Each FOLDER is a\n"
     "complete campaign, for example one per kind of machine.\n",
     "  0  success\n"
     "  1  a file cannot be read or written\n"
     "  2  invalid command line\n"
     "  3  a shard is missing, duplicate, of another campaign or of another version (nothing is\n"
     "     printed); or success, but a combination failed\n", EXIT_REFUSED, of_campaigns},
    {"guide", command_guide, command_no_options, "guide [NAME...]",
     "how to answer a question, with commands",
     "Lists the guides, or prints them as Markdown: one page for each question, with commands and\n"
     "their output.\n",
     NULL, EXIT_REFUSED, guide_operands},
    {"schema", command_schema, command_no_options, "schema NAME", "print a JSON schema",
     "Prints the JSON Schema (draft 2020-12) of what the program writes (profile, sweep, formula,\n"
     "diff, check) or reads (budget, baseline, op-costs, campaign).\n", NULL, EXIT_REFUSED, schema_operands},
    /* The build installs the output of the first two. Without a summary, the help omits them. */
    {"man", command_man, command_no_options, "man", NULL, "Prints the manual page costmodel(1).\n",
     NULL, EXIT_REFUSED, NULL},
    {"completion", command_completion, command_no_options, "completion bash|zsh|fish", NULL,
     "Prints the completion of a shell.\n", NULL, EXIT_REFUSED, completion_operands},
    {"complete", command_complete, command_no_options, "complete -- WORD...", NULL,
     "Prints the candidates of the last word, for the completion of a shell.\n", NULL, EXIT_REFUSED, NULL},
    {.name = NULL},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0] - 1)

/* For the help only: run() handles these before the command parses its arguments. */
static const struct option general_options[] = {
    {.heading = "General", .name = "help", .letter = 'h', .kind = OPTION_SET,
     .help = "print this help"},
    {.name = "version", .letter = 'V', .kind = OPTION_SET,
     .help = "print the version; with --json also formats, schemas and conventions"},
    {.name = NULL},
};
/* clang-format on */

static int print_command_help(const struct invocation *call, const struct command *command) {
    printf("usage: costmodel %-32s %s\n\n%s", command->usage,
           command->summary ? command->summary : "", command->about);
    options_help(command->options, stdout);
    options_help(general_options, stdout);
    printf("\nExit status:\n%s",
           command->exit_statuses ? command->exit_statuses : exit_statuses);
    return command_finish(call, EXIT_DONE);
}

static const char examples[] =
    "  costmodel model.onnx --batch 32                      what it costs, on one screen\n"
    "  costmodel model.onnx --batch 1,8,32 --device h200    modelled times at several batches\n"
    "  costmodel check model.onnx --baseline base.json      fail if the costs increase\n";

static const struct command_table table = {commands, examples, exit_statuses, general_options};

static int print_help(const struct invocation *call) {
    fputs("costmodel: what an ONNX model costs, from its file alone\n\nExamples:\n", stdout);
    fputs(examples, stdout);
    fputs("\nCommands:\n", stdout);
    for (size_t i = 0; commands[i].summary != NULL; i++)
        printf("  costmodel %-32s %s\n", commands[i].usage, commands[i].summary);
    fputs("\nCommon options:\n", stdout);
    options_help_common(profile_options, stdout);
    fputs("\n\"costmodel help profile\" lists all options, \"costmodel help COMMAND\" those of "
          "another\ncommand.\n",
          stdout);
    return command_finish(call, EXIT_DONE);
}

/* Returns true if an argument before `--` is `word` or `letter`, even if others are invalid. */
static bool has_argument(const struct invocation *call, const char *word, const char *letter) {
    for (int i = 0; i < call->argc && !text_equal(call->argv[i], "--"); i++)
        if (text_equal(call->argv[i], word) || text_equal(call->argv[i], letter)) return true;
    return false;
}

static void print_names(struct json_writer *json, const char *key, const char *(*at)(size_t)) {
    json_open(json, key, '[');
    for (size_t i = 0; at(i) != NULL; i++) json_write_string(json, at(i));
    json_end(json, ']');
}

static const char *convention_name(size_t index) {
    const struct cm_convention *convention = cm_convention_at(index);
    return convention ? convention->name : NULL;
}

static int print_version(const struct invocation *call) {
    struct json_writer json = {.out = stdout, .spaced = true};
    if (!has_argument(call, "--json", NULL)) {
        printf("costmodel %s (counting version %d)\n", cm_version(), CM_COUNTING_VERSION);
        return command_finish(call, EXIT_DONE);
    }
    json_begin(&json, '{');
    json_key_string(&json, "name", "costmodel");
    json_key_string(&json, "version", cm_version());
    json_key_integer(&json, "counting", CM_COUNTING_VERSION);
    print_names(&json, "formats", cm_format_at);
    print_names(&json, "schemas", cm_schema_at);
    print_names(&json, "conventions", convention_name);
    json_end(&json, '}');
    putchar('\n');
    return command_finish(call, EXIT_DONE);
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (text_equal(commands[i].name, name)) return &commands[i];
    return NULL;
}

/* Returns the command that `word` may be a misspelling of; NULL: none, or `word` is a file. */
static const char *mistyped_command(const char *word) {
    struct suggestion suggestion;
    if (word[0] == '-' || access(word, F_OK) == 0) return NULL;
    suggest_init(&suggestion, word, strlen(word));
    for (size_t i = 0; commands[i].summary != NULL; i++)
        suggest_offer(&suggestion, commands[i].name);
    return suggestion.best;
}

/* Returns the exit status of the command; command->exhausted if any allocation failed, because
 * the result is then unreliable. */
static int run_command(const struct command *command, const struct invocation *call) {
    const int status = command->run(call);
    if (!arena_failed(call->arena) && !diag_starved(call->diag)) return status;
    (void)diag_no_memory(call->diag);
    return command->exhausted;
}

static int unknown_command(const struct invocation *call, const char *word, const char *near) {
    return command_exit(
        near ? options_fault(call, "unknown command '%s', did you mean '%s'?", word, near)
             : options_fault(call, "unknown command '%s'", word));
}

/* `costmodel help [COMMAND]` */
static int run_help(const struct invocation *call) {
    if (call->argc == 1) return print_help(call);
    const struct command *command = find_command(call->argv[1]);
    if (command != NULL) return print_command_help(call, command);
    if (text_equal(call->argv[1], "help")) return print_help(call);
    return unknown_command(call, call->argv[1], mistyped_command(call->argv[1]));
}

static int run(struct invocation *call) {
    const struct command *command = call->argc > 0 ? find_command(call->argv[0]) : NULL;
    if (has_argument(call, "--help", "-h"))
        return command ? print_command_help(call, command) : print_help(call);
    if (has_argument(call, "--version", "-V") || has_argument(call, "-v", "-v"))
        return print_version(call);
    if (call->argc > 0 && text_equal(call->argv[0], "help")) return run_help(call);
    if (call->argc == 0) return run_command(&commands[0], call);
    const char *word = call->argv[0];
    const char *near = command == NULL ? mistyped_command(word) : NULL;
    if (near != NULL) return unknown_command(call, word, near);
    if (command == NULL) return run_command(&commands[0], call);
    call->name = command->name;
    call->argc--;
    call->argv++;
    return run_command(command, call);
}

int main(int argc, char **argv) {
    system_prepare_streams();
    struct arena *arena = arena_new("program", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (arena == NULL || diag == NULL) {
        const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;
        fputs("costmodel: error[memory]: out of memory\n", stderr);
        arena_free(arena);
        cm_diagnostics_free(diag);
        return (command ? command : &commands[0])->exhausted;
    }
    const int n_arguments = argc > 0 ? argc - 1 : 0;
    struct invocation call = {
        .argc = n_arguments,
        .argv = (const char *const *)(argv + (argc - n_arguments)),
        .arena = arena,
        .diag = diag,
        .table = &table,
    };
    const int status = run(&call);
    messages_print(diag, "costmodel", COLOR_AUTO, NULL);
    cm_diagnostics_free(diag);
    arena_free(arena);
    return status;
}
