/* SPDX-License-Identifier: Apache-2.0 */
/* Opens models in lines (model_harness.h) and runs the passes of times too. */
#pragma once

#include "timing/timing.h"

struct bench;
struct cm_options;
struct estimate_table;
struct node_time;

/* The backend is that of the options; close with bench_close. */
struct bench *timed_run(const char *lines, const struct cm_options *options);
/* With the times of a table (tests/backends/fake.c). */
struct bench *timed_open(const char *lines, const char *table);
/* The same with options; their backend is replaced. */
struct bench *timed_open_with(const char *lines, const char *table,
                              const struct cm_options *options);
/* Returns the table of times of primitives, to change it. */
struct estimate_table *timed_estimate(const struct timing *timing);
/* Returns the time of a node. */
const struct node_time *timed_node(const struct bench *bench, const char *node);
/* Runs the passes that use times again, after the test changed the device or a time. */
void timed_again(struct bench *bench);
