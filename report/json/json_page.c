/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the data of a page by the tags that report/html/ writes; HTML is not parsed. The data
 * do not contain '<', so the next end tag ends them. */
#include "report/json/json_page.h"

#include <string.h>

#include "support/diag.h"

#include "support/banned.h"

bool json_page_is(const char *text, size_t size) {
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    size_t i = 0;
    while (i < size && memchr(blanks, text[i], sizeof blanks) != NULL) i++;
    return i < size && text[i] == '<';
}

/* Returns the first occurrence of a tag, which begins with '<'; NULL: none. */
static const char *find_tag(const char *text, size_t size, const char *tag) {
    const size_t length = strlen(tag);
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        if ((size_t)(end - at) >= length && memcmp(at, tag, length) == 0) return at;
    return NULL;
}

static size_t line_of(const char *text, const char *at) {
    size_t line = 1;
    for (; (text = memchr(text, '\n', (size_t)(at - text))) != NULL; text++) line++;
    return line;
}

int json_page_profile(const char *text, size_t size, struct cm_diagnostics *diag,
                      struct json_page_part *ret) {
    static const char begin[] = JSON_PAGE_BEGIN JSON_PAGE_PROFILE JSON_PAGE_OPEN;
    const char *tag = find_tag(text, size, begin);
    if (tag == NULL) {
        const int status = diag_error(diag, DIAG_FORMAT, "the page has no script element '%s'",
                                      JSON_PAGE_PROFILE);
        diag_hint(diag, "pages of --format html have one; those of diff and of a failed "
                        "download have none");
        return status;
    }
    const char *data = tag + strlen(begin);
    const char *end = find_tag(data, size - (size_t)(data - text), JSON_PAGE_END);
    ret->line = line_of(text, tag);
    if (end == NULL)
        return diag_error(diag, DIAG_FORMAT,
                          "the page ends inside script element '%s' of line %zu",
                          JSON_PAGE_PROFILE, ret->line);
    ret->text = data;
    ret->size = (size_t)(end - data);
    return CM_OK;
}
