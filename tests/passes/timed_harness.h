/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a model with the times of a table (backends/fake.c). */
#ifndef TESTS_PASSES_TIMED_HARNESS_H
#define TESTS_PASSES_TIMED_HARNESS_H

struct analysis;
struct bench;
struct cm_options;
struct estimate_table;

/* bench_open with these times; close with bench_close. */
struct bench *timed_open(const char *lines, const char *table);
/* The same with options; their backend is replaced. */
struct bench *timed_open_with(const char *lines, const char *table,
                              const struct cm_options *options);
/* Returns the table of times, to change it. */
struct estimate_table *timed_estimate(const struct analysis *analysis);
/* Runs the passes that use times again, after the test changed the device or a time. */
void timed_again(struct bench *bench);

#endif
