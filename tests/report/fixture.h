/* SPDX-License-Identifier: Apache-2.0 */
/* Results made by hand, and what the tests of the reports do with them. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include <stddef.h>

struct cm_result;
struct cm_text_options;

/* A PointNet cut short: figures of the reference listing, everything known. */
extern const struct cm_result fixture_pointnet;

/* Extreme values: unknowns, 2^63 - 1, sequences, maps, names that attack a terminal. */
extern const struct cm_result fixture_hostile;

/* Returns the output of the writer; the caller frees it. Fails the test on a status that is not
 * CM_OK. */
char *fixture_text(const struct cm_result *result, const struct cm_text_options *options);
/* The same for the default report, fixture_text for the listing of DeepSpeed. */
char *fixture_screen(const struct cm_result *result, const struct cm_text_options *options);
char *fixture_json(const struct cm_result *result);

/* Returns the text of a file of the source tree, "" if it does not exist; the caller frees it.
 */
char *fixture_file(const char *path);

char *fixture_explanations(const struct cm_result *result,
                           const struct cm_text_options *options);

/*
 * Fails unless tests/report/golden/NAME holds exactly this text. With UPDATE_GOLDEN=1 in the
 * environment the file is rewritten instead.
 */
void fixture_expect_golden(const char *name, const char *actual);

#endif
