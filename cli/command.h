/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the commands. Each command has a row in main.c and a file of its own. */
#pragma once

#include "cli/options.h"

struct arena;
struct cm_diagnostics;

/* Exit statuses: docs/errors.md. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,       /* the model is refused, or a file cannot be read or written */
    EXIT_USAGE = 2,         /* invalid command line */
    EXIT_INCOMPLETE = 3,    /* unknown operators or missing times */
    EXIT_DIFFERENT = 1,     /* diff --exit-code: the two differ */
    EXIT_INCOMPARABLE = 3,  /* diff: profiled with different options */
    EXIT_INTERRUPTED = 130, /* Ctrl-C: the report has the times measured by then */
};

struct command_table;

/* One run of the program. */
struct invocation {
    const char *name;            /* of the command; NULL: default command */
    int argc;                    /* arguments after the name of the command */
    const char *const *argv;     /* `argc` arguments */
    struct arena *arena;         /* freed at exit */
    struct cm_diagnostics *diag; /* errors of command line and output; printed by main */
    const struct command_table *table;
};

/* A row of the command table in main.c. */
struct command {
    const char *name;
    int (*run)(const struct invocation *call);
    const struct option *options;
    const char *usage;
    const char *summary;           /* NULL: the help omits this command and those after it */
    const char *about;             /* description in its help */
    const char *exit_statuses;     /* NULL: the common ones */
    int exhausted;                 /* exit status if out of memory */
    const struct option *operands; /* its arguments that are not options; NULL: none */
};

/* The commands, and texts about all of them. */
struct command_table {
    const struct command
        *commands; /* the default command first, those without a summary last, then NULL */
    const char *examples;
    const char *exit_statuses;    /* of commands without their own */
    const struct option *options; /* of all commands: --help, --version */
};

/* The scripts of cli/shells/, by shell; `name` NULL ends the array. */
struct completion_script {
    const char *name, *text;
};
extern const struct completion_script completion_scripts[];

/* Each command returns an exit status; its option table is also used for the help. */
int command_profile(const struct invocation *call);
int command_diff(const struct invocation *call);
int command_check(const struct invocation *call);
int command_history(const struct invocation *call);
int command_conventions(const struct invocation *call);
int command_backends(const struct invocation *call);
int command_ops(const struct invocation *call);
int command_passes(const struct invocation *call);
int command_schema(const struct invocation *call);
int command_guide(const struct invocation *call);
int command_sweep(const struct invocation *call);
int command_merge(const struct invocation *call);
int command_llm(const struct invocation *call);
int command_quantize(const struct invocation *call);
int command_fit(const struct invocation *call);
int command_man(const struct invocation *call);
int command_completion(const struct invocation *call);
int command_complete(const struct invocation *call);
extern const struct option profile_options[];
extern const struct option diff_options[];
extern const struct option check_options[];
extern const struct option history_options[];
extern const struct option conventions_options[];
extern const struct option backends_options[];
extern const struct option ops_options[];
extern const struct option fit_options[];
extern const struct option llm_options[];
extern const struct option quantize_options[];
extern const struct option sweep_options[];
extern const struct option merge_options[];
extern const struct option command_no_options[];
extern const struct option completion_operands[]; /* as in struct command */
extern const struct option ops_operands[];
extern const struct option schema_operands[];
extern const struct option guide_operands[];

/* Returns the exit status for an enum cm_status. */
int command_exit(int status);
/* Flushes standard output. Returns `status`, or EXIT_REFUSED if writing failed. */
int command_finish(const struct invocation *call, int status);
