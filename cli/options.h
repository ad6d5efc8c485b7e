/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: the parser fills a struct through typed offsets, and the help is printed from
 * the same rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct invocation;

enum option_kind {
    OPTION_SET,     /* bool: true */
    OPTION_UNSET,   /* bool: false */
    OPTION_INT,     /* int, min .. max */
    OPTION_INT64,   /* int64_t, min .. max */
    OPTION_INT64S,  /* struct option_integers: some of min .. max, separated by commas */
    OPTION_BYTES,   /* int64_t, 1 .. INT64_MAX: "16GiB" */
    OPTION_REAL,    /* double, 0 .. max */
    OPTION_CHOICE,  /* int: the value of one of `choices` */
    OPTION_CHOICES, /* struct option_choices: some of `choices`, separated by commas */
    OPTION_NAME,    /* const char *: the name of one of `choices` or `names` */
    OPTION_TEXT,    /* const char *, not empty */
    OPTION_LIST,    /* struct option_list: repeatable */
};

struct option_list {
    size_t n;
    const char **values;
};

struct option_choice {
    const char *name; /* NULL ends the array */
    int value;
    const char *about; /* a clause for help and completions; NULL: none */
};

/* The command line up to the word that is completed. */
struct option_query {
    const struct invocation *call; /* its last argument is that word */
    const char *value;             /* value of the option or argument, to be completed */
};

/* Sets *ret to a name that an option accepts; returns false past the last. `query` is NULL for
 * messages and help, which list an OPTION_NAME. */
typedef bool option_names(const struct option_query *query, size_t index,
                          struct option_choice *ret);

/* A part of a value that has several, as "zero=3,gpus=8", for completions. It follows the text
 * `after`; of several parts, that whose text ends last is completed. */
struct option_part {
    const char *after; /* "": the value begins with the part; NULL ends the array */
    const struct option_choice *choices;
    option_names *names;
    const char *files; /* as in struct option */
};

#define MAX_INTEGERS 64

struct option_integers {
    size_t n; /* 0: not given */
    const int64_t *values;
    const char *text; /* as given */
};

/* Bit of option.rules: not a key of .costmodel.toml. */
#define OPTION_OF_COMMAND_LINE (1U << 31)

#define MAX_CHOICES 16
#define MAX_ITEMS   1024 /* of options_split */

struct option_choices {
    size_t n; /* >= 1, each once */
    int values[MAX_CHOICES];
    const char *text; /* as given; NULL: the default */
};

struct option {
    const char *heading; /* heading of the help group that begins here, or NULL */
    const char *name;    /* without dashes; NULL, and no `rows`: end of the table */
    char letter;         /* short option; '\0': none */
    enum option_kind kind;
    size_t offset;     /* in the struct to fill: OPTION_AT */
    const char *value; /* placeholder of the value; NULL: takes no value */
    const char *alone; /* value of --name without `=VALUE`; NULL: the value is required */
    const char *help;  /* lines separated by '\n' */
    bool hidden;       /* not in the help: an old spelling */
    bool common;       /* in the short help */
    unsigned rules;    /* set of bits that the command defines, for options_changed */
    int64_t min, max;
    const struct option_choice *choices; /* names of the values; of other kinds: examples */
    option_names *names;                 /* the same, if they are not in an array */
    const struct option_part *parts;     /* the same, of a value with several parts */
    const char *files; /* endings of a path, "onnx|json"; "*": any; "/": a folder; NULL: the
                          value is not a path */
    bool brief;        /* the help lists the names without descriptions */
    bool list;         /* several values are separated by commas, or several arguments */
    const struct option *rows; /* include this table, which fills the struct at `offset`;
                                  included tables cannot include others */
};

/* Offset of `member` in `target`; does not compile unless the type of `member` is `type`. */
#define OPTION_AT(target, type, member)                                                        \
    (offsetof(target, member) + 0 * sizeof((type *)0 == &((target *)0)->member))

/* Kind of an option, and the member that it sets: OPTION_INTO(TEXT, struct request, output). */
#define OPTION_INTO(kind_of, target, member)                                                   \
    .kind = OPTION_##kind_of, .offset = OPTION_AT(target, OPTION_##kind_of##_TYPE, member)
#define OPTION_SET_TYPE     bool
#define OPTION_UNSET_TYPE   bool
#define OPTION_INT_TYPE     int
#define OPTION_INT64_TYPE   int64_t
#define OPTION_INT64S_TYPE  struct option_integers
#define OPTION_BYTES_TYPE   int64_t
#define OPTION_REAL_TYPE    double
#define OPTION_CHOICE_TYPE  int
#define OPTION_CHOICES_TYPE struct option_choices
#define OPTION_NAME_TYPE    const char *
#define OPTION_TEXT_TYPE    const char *
#define OPTION_LIST_TYPE    struct option_list

/* Parses the arguments into `target` and `operands` (arguments that are not options). `--name
 * value` and `--name=value` are equivalent; `--` ends the options; the last of repeated options
 * wins. CM_OK, CM_USAGE, CM_NO_MEMORY, with a message. */
int options_parse(const struct option *table, const struct invocation *call, void *target,
                  struct option_list *operands) __attribute__((warn_unused_result));

/* Returns the name of the first option whose value in `target` differs from `defaults`; NULL:
 * none. Compares the options with one of these rules only (0: all options). */
const char *options_changed(const struct option *table, const void *target,
                            const void *defaults, unsigned rules);

/* Splits the value of `option` at commas into at most MAX_ITEMS copies; *ret_n must be 0.
 * `text` NULL: none. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int options_split(const struct invocation *call, const char *option, const char *text,
                  size_t *ret_n, const char *const **ret) __attribute__((warn_unused_result));

/* Sets *ret to name `index` of an option or part. Returns false past the last. */
bool options_name_at(const struct option_choice *choices, option_names *names,
                     const struct option_query *query, size_t index, struct option_choice *ret);

/* Returns the names of an option, "a, b or c"; "" if out of memory. */
const char *options_list_names(const struct invocation *call, const struct option *option);

/* Returns the option with the name of this length, or with the letter; NULL: none, then
 * *ret_near is a similar name or NULL. */
const struct option *options_find(const struct option *table, const char *name, size_t length,
                                  char letter, const char **ret_near);

/* Calls `visit` for each option of the table and of the tables that it includes, in order. */
void options_visit(const struct option *table,
                   void (*visit)(const struct option *option, const void *context),
                   const void *context);

/* Writes value `index` as the help lists it: "text (default: one screen)," or "html or".
 * Returns false past the last, and for an option without names. */
#define OPTION_ITEM 160 /* size of such a text */
bool options_describe_name(const struct option *option, size_t index, char *ret, size_t size);

/* Prints the help of the options, by group. */
void options_help(const struct option *table, FILE *out);
/* Prints the help of the common options. */
void options_help_common(const struct option *table, FILE *out);

/* Adds a usage error with a hint to --help. Returns CM_USAGE. */
int options_fault(const struct invocation *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
