/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a label and what belongs to it, in two columns. */
#ifndef REPORT_TEXT_LABELS_H
#define REPORT_TEXT_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "report/number.h"
#include "report/style.h"

struct cm_diagnostic;
struct cm_name_count;
struct page;

/* Before operators whose figures rest on what somebody says of them. */
#define LABEL_DESCRIBED "as described"

#define LABEL_WIDTH 20 /* "unknown operators: " and the like */

/* An empty label is the continuation of the one above. */
void label_write(struct page *page, const char *label);
/* `as described:       com.acme::Foo x 2, com.acme::Bar x 1`; nothing of none. */
void label_operators(struct page *page, const char *label, enum style style,
                     const struct cm_name_count *operators, size_t n);
/* `warning:            the message (node "conv1")`, and the hint below. */
void label_diagnostic(struct page *page, const struct cm_diagnostic *diagnostic);
/* From a figure to what is said about it. */
void label_pad(struct page *page);
/* After `shown` lines of `n`. */
void label_rest(struct page *page, size_t n, size_t shown);
/* `fwd MACs:           14.07 GMACs     (14,068,146,176)`, the line left open. */
void label_figure(struct page *page, const char *label, enum number_unit unit, int64_t value);

#endif
