/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a shard, in JSON Lines: a header line, then one line per combination. An
 * unfinished shard is a file FOLDER/shard-1-of-4.part, to which rows are appended in any order;
 * a complete one is FOLDER/shard-1-of-4.jsonl, in the order of the combinations. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/campaign.h"
#include "report/json/json_schema.h"

struct arena;

#define CAMPAIGN_FILE "campaign.json"
#define SHARD_SUFFIX  ".jsonl"

#define CAMPAIGN_MAX_SHARDS 1000000

/* Returns the identity of a campaign: a hash of its manifest; NULL if out of memory.
 * `with_files`: including sizes and digests of the models. */
const char *shard_identity(const struct cm_campaign *campaign, bool with_files,
                           struct arena *arena);

/* Returns the key of a row: a hash of the combination, the options, the model's file as
 * recorded in the campaign, and `description`, the hash of the device's file ("": built in);
 * NULL if out of memory. A row with another key is of another combination or file. */
const char *shard_key(const struct cm_campaign *campaign, const struct cm_combination *at,
                      const char *description, struct arena *arena);

/* Checks that the path is a regular file or missing: reading a pipe, for example, may block. */
int shard_check_file(const char *path, struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Returns true if the combination of the row failed; --retry runs it again. */
bool shard_row_failed(const struct cm_sweep_row *row);

/* Contents of a shard file. */
struct shard_file {
    struct shard_header
        header; /* header.schema is NULL if the file is missing or its header is invalid */
    size_t n;
    struct cm_sweep_row *rows;
    const char **lines; /* text of each row, without the newline */
};

/* Reads a file of a shard; the contents are in `arena`. `is_part`: a missing file is empty, and
 * lines that are incomplete or invalid are skipped. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int shard_read(const char *path, bool is_part, struct arena *arena, struct cm_diagnostics *diag,
               struct shard_file *ret) CM_MUST_CHECK;
