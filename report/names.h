/* SPDX-License-Identifier: Apache-2.0 */
/* Former names of JSON keys, columns and metrics. Readers accept them; writers use the current
 * names only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the i-th former name of `name`; NULL if there are no more. */
const char *names_former(const char *name, size_t i);

/* Returns true if the first `length` bytes of `given` are `name` or one of its former names. */
bool names_match(const char *name, const char *given, size_t length);

/* Returns the length of the first constructor argument, up to ", " outside brackets. */
size_t names_argument_length(const char *arguments);
