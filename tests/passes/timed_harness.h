/* SPDX-License-Identifier: Apache-2.0 */
/* A model with the times of a table (backends/fake.c), and what passes make of them. */
#ifndef TESTS_PASSES_TIMED_HARNESS_H
#define TESTS_PASSES_TIMED_HARNESS_H

struct bench;

/* bench_open with these times; bench_close ends it. */
struct bench *timed_open(const char *lines, const char *table);
/* The passes that look at times, once more: after the test changed the device or a time. */
void timed_again(struct bench *bench);

#endif
