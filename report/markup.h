/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML and XML. */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include <stdio.h>

/* Writes text with entities for & < > " and ', in an element or an attribute. Its control
 * characters must already be escaped (text_append_name). */
void markup_write(FILE *out, const char *text);

#endif
