/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for HTML and XML. */
#include "report/markup.h"

#include <stdbool.h>
#include <string.h>

void markup_write(FILE *out, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (const char *c = text; *c != '\0'; c++) {
        const char *at = strchr(special, *c);
        /* U+FFFE and U+FFFF are valid UTF-8, but not XML characters (XML 1.0, 2.2) */
        const bool is_fffe = strncmp(c, "\xEF\xBF\xBE", 3) == 0;
        if (is_fffe || strncmp(c, "\xEF\xBF\xBF", 3) == 0) {
            fputs(is_fffe ? "\\xef\\xbf\\xbe" : "\\xef\\xbf\\xbf", out);
            c += 2;
        } else if (at != NULL) {
            fputs(entities[at - special], out);
        } else {
            fputc(*c, out);
        }
    }
}
