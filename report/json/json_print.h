/* SPDX-License-Identifier: Apache-2.0 */
/* Values of JSON as the bytes that are written. */
#ifndef REPORT_JSON_JSON_PRINT_H
#define REPORT_JSON_JSON_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

/*
 * Prints the value on one line, without a newline, and frees it (NULL: nothing is printed).
 * Characters that would drive a terminal or forge a line (text_append_name) are written \uXXXX,
 * those too that JSON would allow as they are. False: memory ran out, nothing was printed.
 */
bool json_print(cJSON *item, FILE *out) __attribute__((warn_unused_result));

#endif
