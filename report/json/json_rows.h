/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the rows of the schema tables, and the records that several tables share. */
#pragma once

#include "report/json/json_schema.h"

/* A record: its struct, its name and description in the published schema, then its rows. */
#define RECORD_AS(closed, type, name, about, ...)                                              \
    {                                                                                          \
        sizeof(type),                                                                          \
            sizeof((const struct json_field[]){__VA_ARGS__}) / sizeof(struct json_field),      \
            (const struct json_field[]){__VA_ARGS__}, name, about, closed                      \
    }
#define RECORD(...)        RECORD_AS(false, __VA_ARGS__)
#define CLOSED_RECORD(...) RECORD_AS(true, __VA_ARGS__)

/* A row: a key, the member of struct `type` with its value, and that with a list's length. */
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
/* The metrics of struct cm_costs, a key each: JSON_FIRST for the metrics named in `first`,
 * JSON_OTHERS for all others. */
#define COSTS(kind, type, member, first)                                                       \
    { NULL, kind, (kind) == JSON_OTHERS, offsetof(type, member), 0, NULL, first, NULL }
/* The same for the metrics whose member `chosen` of struct column is true. */
#define COSTS_IF(kind, type, member, first, chosen)                                            \
    {                                                                                          \
        NULL, kind, false, offsetof(type, member), offsetof(struct column, chosen), NULL,      \
            first, NULL                                                                        \
    }
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

extern const struct json_record json_options;        /* struct cm_result: its options */
extern const struct json_record json_totals;         /* struct cm_result: its totals */
extern const struct json_record json_value;          /* struct cm_value */
extern const struct json_record json_coverage;       /* struct cm_coverage */
extern const struct json_record json_device_memory;  /* struct cm_device_memory */
extern const struct json_record json_losses;         /* struct cm_losses */
extern const struct json_record json_time_error;     /* struct cm_time_error */
extern const struct json_record json_training;       /* struct cm_training */
extern const struct json_record json_step;           /* struct cm_step */
extern const struct json_record json_achieved;       /* struct cm_achieved */
extern const struct json_record json_measure;        /* struct cm_measure */
extern const struct json_record json_operator;       /* struct cm_operator */
extern const struct json_record json_input_pipeline; /* struct cm_input_pipeline */
extern const struct json_record json_advice;         /* struct cm_advice */
