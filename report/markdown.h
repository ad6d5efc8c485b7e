/* SPDX-License-Identifier: Apache-2.0 */
/* Words within GitHub's Markdown: none ends a table's cell, opens a tag or calls a user. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

struct text;

/* A comment of GitHub's takes 65,536. */
#define MARKDOWN_MOST_BYTES 60000

/* A name from a file as code: `layer1.0.conv1`, and <code>a&#124;b</code> where a span would
 * not do. Nothing where it is empty. */
void markdown_append_name(struct text *text, const char *name);
/* What the user wrote, as code, whatever is in it. */
void markdown_append_code(struct text *text, const char *code);
/* A sentence of our own with names of a file in it: punctuation is escaped. */
void markdown_append_words(struct text *text, const char *sentence);
/* Lines of code in a block of their own. */
void markdown_append_block(struct text *text, const char *language, const char *lines);

#endif
