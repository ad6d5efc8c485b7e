/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a campaign, and its conversion to the options of a profile. */
#pragma once

#include "costmodel/campaign.h"

struct arena;

#define CAMPAIGN_MAX_COMBINATIONS 10000000

/* Checks a campaign, its devices and texts. CM_OK, CM_USAGE, CM_REFUSED, CM_NO_MEMORY. */
int campaign_check(const struct cm_campaign *campaign,
                   struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Refuses equal values in a list. `what` is the kind of value: "device". */
int campaign_check_texts(const char *what, const char *const *texts, size_t n,
                         struct arena *arena, struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Returns the bytes of a regular file; CM_UNKNOWN if the path is not one. */
int64_t campaign_file_bytes(const char *path);

/* Returns the hash of what was read of a model (model_load): its structure, not its weights.
 * NULL if out of memory. */
const char *campaign_digest(const struct cm_model *model, struct arena *arena);

/* Copies a campaign, and records the files of the models: what is not recorded, or all if
 * `again`. *ret has the other lists and texts of `campaign`. CM_OK, CM_NO_MEMORY. */
int campaign_record(const struct cm_campaign *campaign, bool again, struct arena *arena,
                    struct cm_campaign *ret) CM_MUST_CHECK;

/* Names the first option that differs between two campaigns; returns NULL if none differs. */
const char *campaign_difference(const struct cm_options *a, const struct cm_options *b);

/* Sets the options that all combinations share; checks all names. CM_USAGE, CM_NO_MEMORY. */
int campaign_options(const struct cm_campaign *campaign, struct arena *arena,
                     struct cm_diagnostics *diag, struct cm_options *ret) CM_MUST_CHECK;

/* Sets *ret to the point of a combination; its texts and lists are in `arena`. CM_OK,
 * CM_NO_MEMORY (also if an earlier allocation in `arena` failed). */
int campaign_point(const struct cm_campaign *campaign, const struct cm_combination *at,
                   struct arena *arena, struct cm_sweep_point *ret) CM_MUST_CHECK;
