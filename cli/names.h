/* SPDX-License-Identifier: Apache-2.0 */
/* Names that options accept, from the tables of the layers that read them, and parts of values
 * that several commands have. */
#pragma once

#include "cli/options.h"

/* Each is an option_names function. */
bool names_of_backends(const struct option_query *query, size_t index,
                       struct option_choice *ret); /* cli/backends.c */
bool names_of_settings(const struct option_query *query, size_t index,
                       struct option_choice *ret); /* of the backend NAME: likewise */
bool names_of_columns(const struct option_query *query, size_t index,
                      struct option_choice *ret); /* of the rows that --rows selects */
bool names_of_conventions(const struct option_query *query, size_t index,
                          struct option_choice *ret);
bool names_of_dims(const struct option_query *query, size_t index,
                   struct option_choice *ret); /* "seq=", of the model of the command line */
bool names_of_devices(const struct option_query *query, size_t index,
                      struct option_choice *ret);
bool names_of_formats(const struct option_query *query, size_t index,
                      struct option_choice *ret); /* of reports */
bool names_of_metrics(const struct option_query *query, size_t index,
                      struct option_choice *ret); /* of `check` */
bool names_of_module_sources(const struct option_query *query, size_t index,
                             struct option_choice *ret);
bool names_of_optimizers(const struct option_query *query, size_t index,
                         struct option_choice *ret);
bool names_of_passes(const struct option_query *query, size_t index, struct option_choice *ret);
bool names_of_schemas(const struct option_query *query, size_t index,
                      struct option_choice *ret);
bool names_of_sums(const struct option_query *query, size_t index,
                   struct option_choice *ret); /* metrics of folded stacks */
bool names_of_tensor_formats(const struct option_query *query, size_t index,
                             struct option_choice *ret); /* "int4" */
bool names_of_unit_metrics(const struct option_query *query, size_t index,
                           struct option_choice *ret); /* of modules and operators */

extern const struct option_choice choices_batches[]; /* examples */

extern const struct option_part parts_backend[];      /* NAME[:key=value,...] */
extern const struct option_part parts_columns[];      /* A,B,... */
extern const struct option_part parts_dim[];          /* NAME=N */
extern const struct option_part parts_dims[];         /* NAME=N,N,... */
extern const struct option_part parts_filter[];       /* KEY=VALUE */
extern const struct option_part parts_parallel[];     /* tp=N,pp=N */
extern const struct option_part parts_parallel_llm[]; /* tp=N,pp=N,ep=N */
extern const struct option_part parts_quantized[];    /* [PATTERN=]FORMAT[:SUFFIX] */
extern const struct option_part parts_sort[];         /* KEY[:asc|desc] */
