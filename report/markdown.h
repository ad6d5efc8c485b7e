/* SPDX-License-Identifier: Apache-2.0 */
/* Names from files in GitHub's Markdown: none ends a table's cell, opens a tag or calls a user.
 */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

struct text;

/* As code, inside of which only the fence and a table's '|' mean anything. */
void markdown_append_code(struct text *text, const char *name);
/* A sentence of our own with names of a file in it: punctuation is escaped. */
void markdown_append_words(struct text *text, const char *sentence);
/* Lines of code in a block of their own. */
void markdown_append_block(struct text *text, const char *language, const char *lines);

#endif
