/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes names from a file for Markdown: they cannot break tables or add markup, mentions or
 * HTML. */
#pragma once

#include <stddef.h>

struct arena;
struct cm_name_count;
struct text;

/* GitHub limits a comment to 65,536 characters. */
#define MARKDOWN_MAX_BYTES 60000

/* Appends a name as code: `layer1.0.conv1`; <code>a&#124;b</code> if a span cannot hold it. */
void markdown_append_name(struct text *text, const char *name, struct arena *arena);

/* Label before custom operators. */
#define MARKDOWN_DESCRIBED "As described"

/* Appends "`com.acme::Foo` x 2, `com.acme::Bar` x 1"; of many the first, then "and 3 more". */
void markdown_append_operators(struct text *text, const struct cm_name_count *operators,
                               size_t n, struct arena *arena);
