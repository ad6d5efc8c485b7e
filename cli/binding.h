/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides the figures of a model on the command line: one table of options that every
 * command which profiles includes into its own, so that each is spelt and explained once.
 *
 *     struct request { struct binding binding; ... };
 *     {.rows = binding_model, .offset = OPTION_AT(struct request, struct binding, binding)},
 */
#ifndef CLI_BINDING_H
#define CLI_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/sweep.h"
#include "costmodel/costmodel.h"

struct binding {
    const char *batch;      /* as it was given; NULL: not */
    struct batches batches; /* binding_read */
    struct option_list dims;
    struct option_list inputs;
    struct option_list values;
    struct option_list trip_counts;
    struct option_list op_costs;    /* paths */
    struct cm_op_costs **described; /* what is in them: binding_read */
    size_t n_described;
    int mode; /* enum cm_mode */
    const char *convention;
    bool strict;
    const char *optimizer;
    bool amp;
    struct option_list freeze;
    struct option_list checkpoint;
    const char *module_source;
    const char *group;
    int schedule; /* enum cm_schedule */
    int64_t memory_alignment;
};

/* Each begins a group of the help; what a command has to add to the group follows it. */
extern const struct option binding_batch[];   /* of one batch; or */
extern const struct option binding_batches[]; /* of several; then */
extern const struct option binding_model[];   /* what else decides shapes */
extern const struct option binding_counting[];
extern const struct option binding_training[];
extern const struct option binding_modules[];
extern const struct option binding_memory[];

/* The library's own defaults, so that they are known in one place. */
void binding_defaults(struct binding *binding);

/*
 * Fills *options from its defaults on, and binding->batches; options->batch is set where one
 * batch was given. CM_OK, CM_USAGE, CM_NO_MEMORY.
 */
int binding_read(const struct invocation *call, struct binding *binding,
                 struct cm_options *options) CM_MUST_CHECK;

/* What binding_read made, whether or not it came to its end. */
void binding_free(struct binding *binding);

/* CM_USAGE where to write `path` (NULL: nothing) would destroy a file that it reads. */
int binding_check_output(const struct invocation *call, const struct binding *binding,
                         const char *path) CM_MUST_CHECK;

/* The name of an option that is not at its default; NULL: none. */
const char *binding_given(const struct binding *binding);

/* CM_USAGE where several batches were given to a command that takes one. */
int binding_check_one(const struct invocation *call,
                      const struct binding *binding) CM_MUST_CHECK;

#endif
