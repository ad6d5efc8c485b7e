/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the rows of the schema tables, and the records that several tables share. */
#ifndef REPORT_JSON_JSON_ROWS_H
#define REPORT_JSON_JSON_ROWS_H

#include "report/json/json_schema.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define RECORD(type, rows, name, about)                                                        \
    { sizeof(type), N(rows), rows, name, about, false }
#define CLOSED_RECORD(type, rows, name, about)                                                 \
    { sizeof(type), N(rows), rows, name, about, true }

/* A row: a key and the member of struct `type` that holds its value, with the count of a list.
 */
#define VALUE(key, kind, type, member, about)                                                  \
    { key, kind, false, offsetof(type, member), 0, NULL, NULL, about }
#define OPTIONAL(key, kind, type, member, about)                                               \
    { key, kind, true, offsetof(type, member), 0, NULL, NULL, about }
#define GIVEN(key, type, member, flag, about)                                                  \
    { key, JSON_GIVEN, true, offsetof(type, member), offsetof(type, flag), NULL, NULL, about }
#define KEYED(key, type, member, count, record, about)                                         \
    {                                                                                          \
        key, JSON_KEYED, false, offsetof(type, member), offsetof(type, count), &(record),      \
            NULL, about                                                                        \
    }
#define COSTS(kind, type, member, first)                                                       \
    { NULL, kind, (kind) == JSON_OTHERS, offsetof(type, member), 0, NULL, first, NULL }
#define MANY(key, kind, type, member, count, about)                                            \
    { key, kind, false, offsetof(type, member), offsetof(type, count), NULL, NULL, about }
#define OPTIONAL_MANY(key, kind, type, member, count, record, about)                           \
    { key, kind, true, offsetof(type, member), offsetof(type, count), record, NULL, about }
#define OBJECT(key, type, member, record, about)                                               \
    { key, JSON_OBJECT, false, offsetof(type, member), 0, &(record), NULL, about }
#define PART(key, type, member, record, about)                                                 \
    {                                                                                          \
        key, JSON_PART, true, offsetof(type, member), offsetof(type, member.present),          \
            &(record), NULL, about                                                             \
    }
#define POINTER(key, type, member, record, about)                                              \
    { key, JSON_POINTER, true, offsetof(type, member), 0, &(record), NULL, about }
#define LIST(key, type, member, count, record, about)                                          \
    {                                                                                          \
        key, JSON_LIST, false, offsetof(type, member), offsetof(type, count), &(record), NULL, \
            about                                                                              \
    }

extern const struct json_record json_options;  /* struct cm_result: its options */
extern const struct json_record json_totals;   /* struct cm_result: its totals */
extern const struct json_record json_value;    /* struct cm_value */
extern const struct json_record json_coverage; /* struct cm_coverage */
extern const struct json_record json_training; /* struct cm_training */
extern const struct json_record json_step;     /* struct cm_step */
extern const struct json_record json_achieved; /* struct cm_achieved */
extern const struct json_record json_measure;  /* struct cm_measure */
extern const struct json_record json_operator; /* struct cm_operator */
extern const struct json_record json_advice;   /* struct cm_advice */

#endif
