/* SPDX-License-Identifier: Apache-2.0 */
/* Parses JSON (RFC 8259) into a tree. Integers are exact: a number keeps its digits until it is
 * read as an int64_t or a double.
 *
 *     struct json_value *root = NULL;
 *     int status = json_parse(text, size, diag, &root);
 *     if (status < 0) return status;
 *     json_each(item, json_get(root, "nodes")) ...
 *     json_free(root);
 *
 * Accessors treat a NULL pointer, which json_get returns for a missing member, like the JSON
 * value `null`. Only json_next, json_key and json_is_first_of_key require a value. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/status.h"

struct cm_diagnostics;
struct json_value;

/* Limits the tree to about 1.2 GiB: a value typically takes at most 150 bytes, more with a long
 * string. A profile has 65 values per node. */
#define JSON_MAX_VALUES ((size_t)1 << 23)

/* Parses `text`, which need not end in NUL. Rejects, besides syntax errors, text that is not
 * UTF-8, control bytes in strings, \u0000, more than JSON_MAX_VALUES values, and nesting deeper
 * than 1000. Returns CM_OK (free *ret with json_free), CM_REFUSED or CM_NO_MEMORY. */
int json_parse(const char *text, size_t size, struct cm_diagnostics *diag,
               struct json_value **ret) CM_MUST_CHECK;
void json_free(struct json_value *root);

bool json_is_null(const struct json_value *value);
bool json_is_array(const struct json_value *value);
bool json_is_object(const struct json_value *value);
/* Returns false if the value is neither true nor false. */
bool json_to_bool(const struct json_value *value, bool *ret);
/* Return false if the value is not a number; json_to_int64 also if it has a fraction or an
 * exponent or is out of range, json_to_double also if the exponent is not in -9999 .. 9999. */
bool json_to_int64(const struct json_value *value, int64_t *ret);
bool json_to_double(const struct json_value *value, double *ret);
/* Returns the digits of a number as in the file; NULL if the value is not a number. */
const char *json_digits(const struct json_value *value);
/* Returns the UTF-8 text of a string; NULL if the value is not a string. */
const char *json_string(const struct json_value *value);
/* Describes the value for messages: "an array"; a number by its digits. */
const char *json_describe(const struct json_value *value);

/* Count and iterate over the elements of an array or the members of an object. */
size_t json_count(const struct json_value *value);
const struct json_value *json_first(const struct json_value *value);
const struct json_value *json_next(const struct json_value *element);
#define json_each(item, parent)                                                                \
    for (const struct json_value *item = json_first(parent); (item) != NULL;                   \
         (item) = json_next(item))

/* Returns the key of a member of an object. */
const char *json_key(const struct json_value *member);
/* Returns the first member with this key; NULL if `object` has none or is not an object. */
const struct json_value *json_get(const struct json_value *object, const char *key);
/* Returns false if an earlier member of `object` has the same key. */
bool json_is_first_of_key(const struct json_value *object, const struct json_value *member);
