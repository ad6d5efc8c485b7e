/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that survive cJSON, which parses every number into a double and so loses integers
 * past 2^53. Before it parses, each number in the text is turned into a string that begins with
 * a byte that no other string can hold; after it, these strings are read exactly.
 */
#ifndef REPORT_JSON_JSON_NUMBERS_H
#define REPORT_JSON_JSON_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cJSON;
struct cm_diagnostics;

/*
 * A copy of the JSON text, NUL-terminated, its numbers turned into marked strings. Refuses what
 * cJSON would let pass: text that is not UTF-8, control bytes in strings, \u0000, numbers that
 * are not JSON's. *ret_size does not count the NUL. CM_OK, CM_REFUSED, CM_NO_MEMORY.
 */
int numbers_mark(const char *text, size_t size, struct arena *arena,
                 struct cm_diagnostics *diag, char **ret_text, size_t *ret_size)
    __attribute__((warn_unused_result));

/* The digits of a marked number; NULL for anything else. */
const char *number_digits(const struct cJSON *item);

/* A string that is no number. */
bool is_string(const struct cJSON *item);

/* The 1-based line of `at`. */
size_t line_number(const char *text, const char *at);

#endif
