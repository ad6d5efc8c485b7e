/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads checked values for the schema tables. Messages name the location:
 * "modules[3].outputs[0].shape[1]: expected an integer, have a string".
 */
#ifndef REPORT_JSON_JSON_READER_H
#define REPORT_JSON_JSON_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/map.h"

struct arena;
struct json_value;
struct cm_diagnostics;
struct cm_result;
struct json_field;
struct json_record;

struct json_reader {
    struct cm_diagnostics *diag;
    struct arena *arena; /* of the result */
    struct cm_result *result;
    struct map modules; /* path -> index; filled for the first node */
    int type_depth;
};

/* A location in the file: a member or an element of `outer`. NULL: the whole file. */
struct json_place {
    const struct json_place *outer;
    const char *key; /* NULL: an element */
    size_t index;
};

/* Stores a scalar or pointer at an offset. */
#define STORE(base, offset, value) memcpy((base) + (offset), &(value), sizeof(value))

/* CM_REFUSED, with "place: expected …, have …". */
int reader_fault(struct json_reader *reader, const struct json_place *place,
                 const char *expected, const char *have) __attribute__((warn_unused_result));
int reader_wrong_kind(struct json_reader *reader, const struct json_place *place,
                      const char *expected, const struct json_value *item)
    __attribute__((warn_unused_result));

/* CM_OK, CM_REFUSED (reported), CM_NO_MEMORY; *ret is unchanged on failure. */
int reader_integer(struct json_reader *reader, const struct json_place *place,
                   const struct json_value *item, int64_t *ret)
    __attribute__((warn_unused_result));
/* null is CM_UNKNOWN. */
int reader_count(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, int64_t *ret)
    __attribute__((warn_unused_result));
/* A decimal of at most six places, in millionths. */
int reader_ratio(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, int64_t *ret)
    __attribute__((warn_unused_result));
int reader_index(struct json_reader *reader, const struct json_place *place,
                 const struct json_value *item, size_t *ret)
    __attribute__((warn_unused_result));
/* Copy a string into the arena of the result. */
int reader_string(struct json_reader *reader, const struct json_place *place,
                  const struct json_value *item, const char **ret)
    __attribute__((warn_unused_result));
int reader_copy(struct json_reader *reader, const char *text, const char **ret)
    __attribute__((warn_unused_result));

/* A reader of one kind of value (json_schema.h). `item` is NULL if an optional key is missing.
 */
typedef int read_kind(struct json_reader *reader, const struct json_field *field,
                      const struct json_place *place, const struct json_value *item,
                      char *base);

/* Reads an object into the struct at `base` (json_read.c). */
int reader_record(struct json_reader *reader, const struct json_record *record,
                  const struct json_place *place, const struct json_value *item, char *base)
    __attribute__((warn_unused_result));

/* Fill one struct cm_type, the dtype first (json_read_type.c). */
read_kind json_read_dtype;
read_kind json_read_shape;
read_kind json_read_most;

#endif
