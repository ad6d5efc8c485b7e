/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-written results, and helpers of the report tests. */
#pragma once

#include <stddef.h>

struct cm_result;
struct cm_text_options;

/* An abridged PointNet with the numbers of the reference listing; no value is unknown. */
extern const struct cm_result fixture_pointnet;

/* Extreme values: unknowns, 2^63 - 1, sequences, maps, names with terminal escapes. */
extern const struct cm_result fixture_hostile;

/* Returns the output of the writer; the caller frees it. Fails the test if the status is not
 * CM_OK. */
char *fixture_text(const struct cm_result *result, const struct cm_text_options *options);
/* The same for the default report; fixture_text writes the listing of DeepSpeed. */
char *fixture_screen(const struct cm_result *result, const struct cm_text_options *options);
char *fixture_json(const struct cm_result *result);

/* Returns the contents of a file of the source tree, "" if it does not exist; the caller frees
 * it. */
char *fixture_file(const char *path);

char *fixture_explanations(const struct cm_result *result,
                           const struct cm_text_options *options);

/*
 * Fails unless tests/report/golden/NAME holds exactly this text. With UPDATE_GOLDEN=1 in the
 * environment the file is rewritten instead.
 */
void fixture_expect_golden(const char *name, const char *actual);
