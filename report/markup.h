/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML and XML. */
#pragma once

#include <stdio.h>

/* Writes text with entities for & < > " and ', in an element or an attribute. Its control
 * characters must already be escaped (text_append_name). */
void markup_write(FILE *out, const char *text);
