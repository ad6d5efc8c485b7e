/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the options that affect the costs of a model. A command that profiles includes them
 * in its own table:
 *
 *     struct request { struct binding binding; ... };
 *     {.rows = binding_model, .offset = OPTION_AT(struct request, struct binding, binding)}, */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"

struct binding {
    struct option_integers batches; /* of binding_batches; one of them becomes options.batch */
    struct option_list dims;
    struct option_list inputs;
    struct option_list values;
    struct option_list trip_counts;
    struct option_list op_costs;    /* paths */
    struct cm_op_costs **described; /* contents of the files, set by binding_read */
    size_t n_described;
    int mode;     /* enum cm_mode */
    int schedule; /* enum cm_schedule */
    struct option_list freeze;
    struct option_list trainable;
    const char *shard;
    struct option_list checkpoint;
    struct cm_options options; /* members that the command line sets directly */
};

/* Each table except binding_model begins a group of the help. A command may append its own
 * options to the group. */
extern const struct option binding_batch[];   /* --batch with one batch */
extern const struct option binding_batches[]; /* --batch with several batches */
extern const struct option binding_model[];   /* other options for shapes */
extern const struct option binding_counting[];
extern const struct option binding_rest[]; /* training step, modules and memory */

/* Values of options that several commands have. */
extern const struct option_choice choices_units[]; /* enum cm_units */
extern const struct option_choice choices_modes[]; /* enum cm_mode */
/* --output sets a const char *, --color an int (enum color_choice). */
extern const struct option option_output[];
extern const struct option option_color[];

/* Sets the defaults of the library. */
void binding_defaults(struct binding *binding);

/* Sets *options to binding->options, completed from the other members. CM_OK, CM_USAGE,
 * CM_REFUSED or CM_IO (a file of --op-costs), CM_NO_MEMORY. */
int binding_read(const struct invocation *call, struct binding *binding,
                 struct cm_options *options) CM_MUST_CHECK;

/* Sets *ret to the sizes of a list of NAME=N; messages name `option` ("dim", "trip-count").
 * CM_OK, CM_USAGE, CM_NO_MEMORY. */
int binding_read_dims(const struct invocation *call, const char *option,
                      const struct option_list *given,
                      const struct cm_dim_option **ret) CM_MUST_CHECK;

/* Reads "tp=2,pp=1,ep=1"; parts that are missing are 1. Does nothing if `text` is NULL.
 * `ret_ep` NULL: there is no ep. CM_OK, CM_USAGE. */
int binding_read_parallel(const struct invocation *call, const char *text, int64_t *ret_tp,
                          int64_t *ret_pp, int64_t *ret_ep) CM_MUST_CHECK;

/* Frees what binding_read allocated, also if it failed. */
void binding_free(struct binding *binding);

/* Refuses an output `path` (NULL: none) that is a file of --op-costs. CM_OK, CM_USAGE. */
int binding_check_output(const struct invocation *call, const struct binding *binding,
                         const char *path) CM_MUST_CHECK;

/* Returns the name of an option that is not at its default; NULL: none. */
const char *binding_given(const struct binding *binding);
