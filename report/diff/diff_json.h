/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a JSON document, for a file or a page. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct cm_diff;
struct cm_diff_options;

/* Writes the document. Uses only the options metric and depth; in_html as in
 * json_document_write. Returns CM_OK, CM_IO or CM_NO_MEMORY. */
int diff_json_write(const struct cm_diff *diff, const struct cm_diff_options *options,
                    bool in_html, FILE *out) __attribute__((warn_unused_result));
