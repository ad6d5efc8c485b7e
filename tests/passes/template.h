/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in lines (model_harness.h) that an exporter could have written at any batch: "{N}"
 * stands for the batch and "{8N}" for 8 times the batch, wherever it is baked in. Taking the
 * export at one batch to another must give what the export at that other batch is.
 */
#ifndef TESTS_PASSES_TEMPLATE_H
#define TESTS_PASSES_TEMPLATE_H

#include <stdint.h>

#include "model_harness.h"

/* The lines at that batch; malloc'ed. */
char *template_at(const char *lines, int64_t batch);
/* The passes over the export at `from`, asked for `to`. */
struct bench *template_rebatch(const char *lines, int64_t from, int64_t to);
/*
 * The first difference between two analyses of one template, in `have`'s arena: a type of a
 * value that depends on the inputs, or a cost of a node (`reads`: the bytes that it reads too).
 * NULL: none.
 */
const char *template_difference(const struct bench *have, const struct bench *want, bool reads);

#endif
