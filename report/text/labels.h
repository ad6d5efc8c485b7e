/* SPDX-License-Identifier: Apache-2.0 */
/* Summary lines in two columns: a label and its value. */
#pragma once

#include "report/page.h"

struct cm_diagnostic;
struct cm_framework;
struct cm_name_count;

/* Label of the operators whose costs come from --op-costs. */
#define LABEL_DESCRIBED "as described"

/* Writes a label and indents to the column of values; an empty label only indents. */
void label_write(struct page *page, const char *label);
/* The same, and begins a list; its further lines start `hang` columns after the values. */
void label_list(struct page *page, const char *label, const char *separator, size_t hang);
/* Writes `label: text`. */
void label_line(struct page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes `label: text`; nothing if the text is empty. */
void label_name(struct page *page, const char *label, const char *text);
/* Writes `label: sentence`, folded at the page width; nothing if the sentence is empty. */
void label_sentence(struct page *page, const char *label, const char *sentence);
/* Writes `as described:       com.acme::Foo x 2, com.acme::Bar x 1`; nothing if n is 0. */
void label_operators(struct page *page, const char *label, enum style style,
                     const struct cm_name_count *operators, size_t n);
/* Writes `warning:            the message (node "conv1")`, and the hint below. */
void label_diagnostic(struct page *page, const struct cm_diagnostic *diagnostic);
/* Writes `12 tensors folded or merged, not in the file: the size of a, b, c, and 2 others` as
 * items of a list with the separator ", ". */
void label_absent_params(struct page *page, const struct cm_framework *framework);
/* Indents to the column after the value. */
void label_pad(struct page *page);
/* Writes `and 3 more: see --format json`, if n > shown. */
void label_rest(struct page *page, size_t n, size_t shown);
/* Writes `fwd MACs:           14.07 GMACs     (14,068,146,176)`; the line stays open. */
void label_figure(struct page *page, const char *label, enum number_unit unit, int64_t value);
