/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in lines (model_harness.h) as an exporter would write it at any batch: "{N}" is the
 * batch and "{8N}" 8 times the batch, wherever the exporter stores it. Re-batching the export
 * at one batch must give the types and costs of the export at the other batch.
 */
#pragma once

#include <stdint.h>

#include "model_harness.h"

/* Returns the lines at that batch; malloc'ed. */
char *template_at(const char *lines, int64_t batch);
/* Runs the passes over the export at `from`, with --batch `to`. */
struct bench *template_rebatch(const char *lines, int64_t from, int64_t to);
/*
 * Returns the first difference between two analyses of one template, in `have`'s arena: in the
 * type of a value that depends on the inputs, or in a cost of a node (bytes read only if
 * `reads`); NULL if there is none.
 */
const char *template_difference(const struct bench *have, const struct bench *want, bool reads);
