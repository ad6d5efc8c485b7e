/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML and XML. */
#include "report/markup.h"

#include <stdbool.h>
#include <string.h>

#include "support/banned.h"

static const char *entity(char c) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    const char *at = c == '\0' ? NULL : strchr(special, c);
    return at == NULL ? NULL : entities[at - special];
}

/* Returns true for U+FFFE and U+FFFF: valid UTF-8, but not XML characters (XML 1.0, 2.2). */
static bool is_no_character(const char *at) {
    return strncmp(at, "\xEF\xBF\xBE", 3) == 0 || strncmp(at, "\xEF\xBF\xBF", 3) == 0;
}

void markup_write(FILE *out, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\xEF' && is_no_character(c)) {
            fputs(c[2] == '\xBE' ? "\\xef\\xbf\\xbe" : "\\xef\\xbf\\xbf", out);
            c += 2;
        } else if (entity(*c) != NULL) {
            fputs(entity(*c), out);
        } else {
            fputc(*c, out);
        }
    }
}
