/* SPDX-License-Identifier: Apache-2.0 */
/* Names from a file within Markdown: no table breaks, no markup, no mention and no HTML. */
#ifndef REPORT_TABLE_MARKDOWN_H
#define REPORT_TABLE_MARKDOWN_H

#include <stddef.h>

struct arena;
struct cm_name_count;
struct text;

/* A comment of GitHub's takes 65,536. */
#define MARKDOWN_MOST_BYTES 60000

/* The name as code: `layer1.0.conv1`, and <code>a&#124;b</code> where a span would not do. */
void markdown_append_name(struct text *text, const char *name, struct arena *arena);

/* Before operators whose figures rest on what somebody says of them. */
#define MARKDOWN_DESCRIBED "As described"

/* "`com.acme::Foo` x 2, `com.acme::Bar` x 1", the first of many. */
void markdown_append_operators(struct text *text, const struct cm_name_count *operators,
                               size_t n, struct arena *arena);

#endif
