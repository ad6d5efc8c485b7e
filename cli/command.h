/* SPDX-License-Identifier: Apache-2.0 */
/* What a command is to the program: a row in main.c, a file of its own, one call. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/options.h"

struct arena;
struct cm_diagnostics;

/* Exit statuses; docs/errors.md explains them. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,      /* the model was refused, or a file cannot be read or written */
    EXIT_USAGE = 2,        /* the command line is at fault */
    EXIT_INCOMPLETE = 3,   /* done, but not everything was understood */
    EXIT_DIFFERENT = 1,    /* diff --exit-code: the two differ */
    EXIT_INCOMPARABLE = 3, /* the two were not profiled alike */
};

/* One run of the program. */
struct invocation {
    const char *name;            /* of the command; NULL: none was named */
    int argc;                    /* arguments after the command's name */
    const char *const *argv;     /* argc of them */
    struct arena *arena;         /* ends with the program */
    struct cm_diagnostics *diag; /* faults of the command line and of the output; main prints */
};

/* Each gives an exit status, and has the rows of its options for the help. */
int command_profile(const struct invocation *call);
int command_diff(const struct invocation *call);
int command_check(const struct invocation *call);
int command_conventions(const struct invocation *call);
int command_backends(const struct invocation *call);
int command_ops(const struct invocation *call);
int command_passes(const struct invocation *call);
int command_schema(const struct invocation *call);
extern const struct option profile_options[];
extern const struct option diff_options[];
extern const struct option check_options[];
extern const struct option conventions_options[];
extern const struct option backends_options[];
extern const struct option ops_options[];
extern const struct option passes_options[]; /* none */
extern const struct option schema_options[];

/* The exit status that belongs to an enum cm_status. */
int command_exit(int status);
/*
 * Ends a command that wrote to standard output: `status`, or EXIT_REFUSED when the text did not
 * get there.
 */
int command_finish(const struct invocation *call, int status);

#endif
