/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a shard: a struct shard_header, then a struct cm_sweep_row per line. */
#ifndef REPORT_JSON_JSON_CAMPAIGN_H
#define REPORT_JSON_JSON_CAMPAIGN_H

#include <stdint.h>

struct json_record;

#define SHARD_SCHEMA "costmodel/shard/1"

struct shard_header {
    const char *schema;
    const char *version;
    const char *campaign; /* hash of the manifest */
    int64_t shard;        /* 1 .. n_shards */
    int64_t n_shards;
    int64_t n; /* combinations of the shard */
};

extern const struct json_record json_shard; /* struct shard_header */

#endif
