/* SPDX-License-Identifier: Apache-2.0 */
/* JSON documents that an HTML page embeds, each in a script element with an id. */
#ifndef REPORT_JSON_JSON_PAGE_H
#define REPORT_JSON_JSON_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct cm_diagnostics;

#define JSON_PAGE_BEGIN "<script type=\"application/json\" id=\""
#define JSON_PAGE_OPEN  "\">"
#define JSON_PAGE_END   "</script>"

#define JSON_PAGE_PROFILE "costmodel-profile"

/* Returns true for HTML: after blanks the text begins with '<', which neither JSON nor ONNX
 * does. */
bool json_page_is(const char *text, size_t size);

/* A document inside a page. */
struct json_page_part {
    const char *text;
    size_t size;
    size_t line; /* line of the page in which it begins, from 1 */
};

/* Finds the profile of a page. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int json_page_profile(const char *text, size_t size, struct cm_diagnostics *diag,
                      struct json_page_part *ret) __attribute__((warn_unused_result));

#endif
