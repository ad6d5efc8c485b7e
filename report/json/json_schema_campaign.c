/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of campaigns: the manifest, and the first line of a shard. */
#include "costmodel/campaign.h"
#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "support/arena.h"
#include "support/arguments.h"

/* clang-format off */
static const struct json_record dim_record = CLOSED_RECORD(struct cm_campaign_dim, "campaign_dim", "Sizes of a symbolic dim",
    VALUE("name", JSON_TEXT, struct cm_campaign_dim, name, "name of the dim in the model"),
    MANY("sizes", JSON_INDICES, struct cm_campaign_dim, sizes, n, "sizes"));

static const struct json_record model_record = CLOSED_RECORD(struct cm_campaign_model, "campaign_model", "A model",
    VALUE("path", JSON_TEXT, struct cm_campaign_model, path, "path, relative to the working directory"),
    OPTIONAL("bytes", JSON_COUNT, struct cm_campaign_model, bytes, "size of the file; `null`: not recorded"),
    OPTIONAL("digest", JSON_NULLABLE, struct cm_campaign_model, digest, "hash of the file without its weights; `null`: not recorded"),
    OPTIONAL_MANY("dims", JSON_LIST, struct cm_campaign_model, dims, n_dims, &dim_record, "symbolic dims to vary, at most 8"));

static const struct json_record campaign_record = CLOSED_RECORD(struct cm_campaign, "campaign", "Models, and the batches, precisions and devices to profile each of them for (docs/cluster.md)",
    LIST("models", struct cm_campaign, models, n_models, model_record, "the models"),
    OPTIONAL_MANY("batches", JSON_INDICES, struct cm_campaign, batches, n_batches, NULL, "batches; none: the batch of each file"),
    OPTIONAL_MANY("precisions", JSON_TEXTS, struct cm_campaign, precisions, n_precisions, NULL, "values of --precision; none: file"),
    OPTIONAL_MANY("devices", JSON_TEXTS, struct cm_campaign, devices, n_devices, NULL, "devices to model, values of --device"),
    OPTIONAL("measure", JSON_TEXT, struct cm_campaign, measure, "backend to measure with, besides the modelled devices; a value of --backend; empty: none"),
    OPTIONAL("runtime", JSON_TEXT, struct cm_campaign, runtime, "value of --runtime; empty: the default"),
    OPTIONAL("convention", JSON_TEXT, struct cm_campaign, convention, "value of --convention; empty: the default"),
    OPTIONAL("mode", JSON_TEXT, struct cm_campaign, mode, "value of --mode; empty: the default"),
    OPTIONAL("optimizer", JSON_TEXT, struct cm_campaign, optimizer, "value of --optimizer; empty: no training step"),
    OPTIONAL("amp", JSON_FLAG, struct cm_campaign, amp, "must be `false`: `amp` is a value of `precisions`"));

const struct json_record json_shard = RECORD(struct shard_header, "shard", "The first line of a shard, before the lines of sweep_row (docs/cluster.md)",
    VALUE("schema", JSON_TEXT, struct shard_header, schema, "`costmodel/shard/1`"),
    OPTIONAL("counting", JSON_COUNT, struct shard_header, counting, "version of the counting rules"),
    VALUE("campaign", JSON_TEXT, struct shard_header, campaign, "hash of the manifest, without `schema` and `tool`"),
    VALUE("shard", JSON_COUNT, struct shard_header, shard, "number of the shard, from 1"),
    VALUE("shards", JSON_COUNT, struct shard_header, n_shards, "number of shards"),
    VALUE("combinations", JSON_COUNT, struct shard_header, n, "number of lines that follow"));

const struct json_document json_campaign = {"costmodel/campaign/1", NULL, "campaign", &campaign_record, offsetof(struct cm_campaign, arena)};
/* clang-format on */

int cm_campaign_write_json(const struct cm_campaign *campaign, FILE *out) {
    const int status = arguments_check(ARGUMENT_cm_campaign, campaign, 1, out, NULL);
    return status < 0 ? status : json_document_write(&json_campaign, campaign, false, out);
}

void cm_campaign_free(struct cm_campaign *campaign) {
    if (campaign != NULL) arena_free(campaign->arena);
}
