/* SPDX-License-Identifier: Apache-2.0 */
/* A model with the times of a table (backends/fake.c), and what passes make of them. */
#ifndef TESTS_PASSES_TIMED_HARNESS_H
#define TESTS_PASSES_TIMED_HARNESS_H

struct bench;
struct cm_options;

/* bench_open with these times; bench_close ends it. */
struct bench *timed_open(const char *lines, const char *table);
/* The same with those options, their backend aside. */
struct bench *timed_open_with(const char *lines, const char *table,
                              const struct cm_options *options);
/* The passes that look at times, once more: after the test changed the device or a time. */
void timed_again(struct bench *bench);

#endif
