/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as rows of a const table: the parser fills a struct through typed offsets, and the
 * help is printed from the same rows.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct invocation;

enum option_kind {
    OPTION_SET,    /* bool: true */
    OPTION_UNSET,  /* bool: false */
    OPTION_INT,    /* int, min .. max */
    OPTION_INT64,  /* int64_t, min .. max */
    OPTION_BYTES,  /* int64_t, 1 .. INT64_MAX: "16GiB" */
    OPTION_CHOICE, /* int: the value of one of `choices` */
    OPTION_TEXT,   /* const char *, not empty */
    OPTION_LIST,   /* struct option_list: may be given many times */
};

struct option_list {
    size_t n;
    const char **values;
};

struct option_choice {
    const char *name; /* NULL ends the array */
    int value;
};

struct option {
    const char *heading; /* of the group that begins with this row, or NULL */
    const char *name;    /* without the dashes; NULL, and no `rows`: ends the table */
    char letter;         /* '\0': none */
    enum option_kind kind;
    size_t offset;     /* in the struct to fill: OPTION_AT */
    const char *value; /* how the help calls the value; NULL: takes none */
    const char *alone; /* what --name without a value means; one then stands behind a '='.
                          NULL: a value is wanted */
    const char *help;  /* a line each */
    int64_t min, max;
    const struct option_choice *choices;
    const struct option *rows; /* instead of a row of its own: those of another table, which
                                  fill the struct at `offset` and include no third table */
};

/* Where `member` stands in `type`; does not compile unless it is a `want`. */
#define OPTION_AT(type, want, member)                                                          \
    (offsetof(type, member) + 0 * sizeof((want *)0 == &((type *)0)->member))

/*
 * Fills `target` and `operands` (what is no option). `--name value` and `--name=value` are the
 * same; `--` ends options; of an option given twice the last counts. CM_OK, CM_USAGE,
 * CM_NO_MEMORY, with a message.
 */
int options_parse(const struct option *table, const struct invocation *call, void *target,
                  struct option_list *operands) __attribute__((warn_unused_result));

/* The name of the first option of which `target` holds something else than `defaults`; NULL:
 * all are as they were. */
const char *options_changed(const struct option *table, const void *target,
                            const void *defaults);

/* Prints the rows, aligned, group by group. */
void options_help(const struct option *table, FILE *out);

/* A usage error, with the hint where help is to be found. Gives CM_USAGE. */
int options_fault(const struct invocation *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
