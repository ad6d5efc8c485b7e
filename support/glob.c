/* SPDX-License-Identifier: Apache-2.0 */
/* See glob.h. A mismatch backtracks only to the last '*' and lets it match one more byte. */
#include "support/glob.h"

#include <stddef.h>

bool glob_matches(const char *pattern, const char *text) {
    const char *star = NULL; /* pattern after the last '*'; NULL: none so far */
    const char *from = NULL; /* end of the text that this '*' matches */
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == '?') {
            pattern++;
            text++;
            while (((unsigned char)*text & 0xC0U) == 0x80U) text++; /* one UTF-8 character */
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}
