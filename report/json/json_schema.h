/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of all documents, such as "costmodel/profile/2", as tables: each struct is a
 * record, each key a row with the offset and kind of its value. Writer, reader, the published
 * JSON Schema and the tables of docs/json-reference.md all use these rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/check.h"
#include "costmodel/formula.h"
#include "costmodel/llm.h"
#include "costmodel/op_costs.h"
#include "costmodel/result.h"

#include "report/table/columns.h"

#define JSON_RATIO_PLACES   6
#define JSON_DEFAULT_DOMAIN "ai.onnx" /* ONNX writes it as "" */

enum json_kind {
    JSON_COUNT,        /* int64_t; null is CM_UNKNOWN */
    JSON_GIVEN,        /* as JSON_COUNT, but omitted unless the bool at `count_offset` is set */
    JSON_RATIO,        /* as JSON_COUNT, but in millionths, written as a decimal: 0.25 */
    JSON_TRIPLE,       /* int64_t[3], an array */
    JSON_INDEX,        /* size_t; null is CM_NO_INDEX */
    JSON_DEPTH,        /* int, >= 0 */
    JSON_FLAG,         /* bool */
    JSON_TEXT,         /* const char *, never null */
    JSON_NULLABLE,     /* const char *; null is NULL; an optional key is omitted if NULL */
    JSON_PRESENT,      /* as JSON_NULLABLE, but always written; earlier versions may lack it */
    JSON_SEVERITY,     /* enum cm_severity by name */
    JSON_DTYPE,        /* struct cm_type: all but the shape; {"sequence": {…}} and the like */
    JSON_SHAPE,        /* struct cm_type: rank and dims */
    JSON_UPPER_BOUNDS, /* struct cm_type: dims_upper_bound; omitted if NULL */
    JSON_BOUNDS,       /* uint32_t, bits of columns: an array of their keys; omitted if 0 */
    JSON_MODULE,       /* size_t index of a module, written as its path */
    JSON_FIRST,   /* struct cm_costs: the columns named in `first`, in that order, a key each */
    JSON_OTHERS,  /* struct cm_costs: the columns not named in `first`, a key each */
    JSON_OBJECT,  /* a struct in place, of `record` */
    JSON_PART,    /* as JSON_OBJECT, but omitted unless the bool at `count_offset` is set */
    JSON_POINTER, /* a pointer to one struct of `record`; omitted if NULL */
    JSON_LIST,    /* n and a pointer to as many structs of `record` */
    JSON_TEXTS,   /* n and a pointer to const char * */
    JSON_INDICES, /* n and a pointer to size_t */
    JSON_KEYED,   /* as JSON_LIST, but an object: the first member of `record` is the key */
    JSON_SIZES,   /* n and a pointer to struct cm_named_size or cm_name_count: an object */
    JSON_OPSETS,  /* as JSON_SIZES, but the name "" is written as JSON_DEFAULT_DOMAIN */
    JSON_N_KINDS
};

struct json_field {
    const char *key; /* NULL for JSON_FIRST and JSON_OTHERS, which have one for each column */
    enum json_kind kind;
    bool optional;       /* may be missing; read as CM_UNKNOWN, "", false or an empty list */
    size_t offset;       /* of the value in the struct of the record */
    size_t count_offset; /* of the length of a list (size_t) or the bool of a part. JSON_FIRST
                            and JSON_OTHERS: of the bool in struct column that is true for the
                            columns to write; 0: writes all columns that the result has */
    const struct json_record *record;
    const char *const *first; /* NULL-terminated keys of columns */
    const char *about; /* for the published schema and docs/json-reference.md; columns have
                          their own */
};

struct json_record {
    size_t size; /* of the struct, bytes */
    size_t n_fields;
    const struct json_field *fields;
    const char *name; /* in the published schema */
    const char *about;
    bool closed; /* unknown keys are rejected, because users write this file and may mistype
                    keys */
};

/* A document: `schema` and `tool`, then the keys of the record. */
struct json_document {
    const char *schema;     /* schema that is written and read */
    const char *old_schema; /* older schema that is read too; NULL: none */
    const char *what;       /* name of the schema, also for messages */
    const struct json_record *record;
    size_t arena_offset; /* of the struct's arena; unused if the document is never read */
};

/* All documents; NULL-terminated. */
extern const struct json_document *const json_documents[];

/* An --op-costs file as read; its expressions are not parsed yet. */
struct op_costs_file {
    size_t n_operators;
    const struct cm_op_description *operators;
    struct arena *arena; /* owns the struct and its texts */
};

#define SHARD_SCHEMA "costmodel/shard/1"

/* The first line of a shard; a struct cm_sweep_row per line follows. */
struct shard_header {
    const char *schema;
    int64_t counting;     /* CM_COUNTING_VERSION of the program; CM_UNKNOWN: not recorded */
    const char *campaign; /* hash of the manifest */
    int64_t shard;        /* 1 .. n_shards */
    int64_t n_shards;
    int64_t n; /* combinations of the shard */
};

extern const struct json_document json_profile;   /* struct cm_result */
extern const struct json_document json_sweep;     /* struct cm_sweep */
extern const struct json_document json_llm;       /* struct cm_llm */
extern const struct json_document json_llm_sweep; /* struct cm_llm_sweep */
extern const struct json_document json_formula;   /* struct cm_formula */
extern const struct json_document json_budget;    /* struct cm_budget */
extern const struct json_document json_baseline;  /* struct cm_baseline */
extern const struct json_document json_campaign;  /* struct cm_campaign */
extern const struct json_document json_op_costs;  /* struct op_costs_file */
extern const struct json_document json_verdict;   /* struct cm_verdict */
extern const struct json_document json_diff;      /* struct diff_document; never read */
extern const struct json_record json_result;    /* struct cm_result, without schema and tool */
extern const struct json_record json_sweep_row; /* struct cm_sweep_row */
extern const struct json_record json_type;      /* struct cm_type: dtype and shape */
extern const struct json_record json_shard;     /* struct shard_header */

/* By enum cm_type_kind: "sequence", "optional", "map", "sparse_tensor"; NULL: plain dtype. */
extern const char *const json_type_wrappers[];

/* "note", "warning", "error", NULL */
extern const char *const json_severities[];

/* Returns the i-th column of a JSON_FIRST or JSON_OTHERS row; NULL if there are no more. */
const struct column *json_column(const struct json_field *field, size_t i);
/* Returns true if every document has the key of a column of a JSON_FIRST or JSON_OTHERS row. */
bool json_column_is_required(const struct json_field *field, const struct column *column);

/* Checks guarantees of result.h that involve several keys: the modules are a tree, and figures
 * can be compared. Returns CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int json_check(const struct cm_result *result, struct arena *arena,
               struct cm_diagnostics *diag) CM_MUST_CHECK;
/* Rejects negative totals and equal batches. Returns CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int json_check_baseline(const struct cm_baseline *baseline, struct arena *arena,
                        struct cm_diagnostics *diag) CM_MUST_CHECK;
