/* SPDX-License-Identifier: Apache-2.0 */
/* A pass is a run function, one row in a pipeline, and a header that defines its table and
 * names the tables that it reads. Pointers to tables are const, and the runner gives a pass
 * NULL for those that its header does not name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "ir/value_info.h"

struct arena;
struct cm_diagnostics;
struct work;

/* The tables, as bits of a set; those of the timing half follow in timing/timing.h. */
enum pass_tables {
    TABLE_BIND = 1 << 0,
    TABLE_BATCH = 1 << 1,
    TABLE_INFER = 1 << 2,
    TABLE_FUSED_PATTERNS = 1 << 3,
    TABLE_PRECISION = 1 << 4, /* no table: that of infer, with the dtypes of --precision */
    TABLE_LIVENESS = 1 << 5,
    TABLE_IN_PLACE = 1 << 6,
    TABLE_ARENA_PLAN = 1 << 7,
    TABLE_PARAMS = 1 << 8,
    TABLE_COUNT = 1 << 9,
    TABLE_MODULES = 1 << 10,
    TABLE_PEAK_MEMORY = 1 << 11,
    TABLE_TRAINING = 1 << 12, /* empty unless options name an optimizer */
    TABLE_MEMORY_REQUIRED = 1 << 13,
    TABLE_EXPLAIN = 1 << 14,
    TABLE_OPERATORS = 1 << 15,
    TABLE_DEVICE_MEMORY = 1 << 16, /* empty unless options name an optimizer */
    /* The first of the timing half; stays the last line here. */
    TABLE_OF_TIMING = TABLE_DEVICE_MEMORY << 1,
};

/* Data that the passes of one profile share. A table is NULL until the passes are run. */
struct analysis {
    const struct model *model;
    const struct cm_options *options;
    struct arena *arena;        /* lifetime of the analysis */
    struct arena *result_arena; /* lifetime of the result, which becomes its owner */
    struct arena *scratch;      /* of the running pass; the runner empties it */
    struct cm_diagnostics *diag;
    struct work *work; /* budget of all runs for the profile; NULL: unlimited */
    const struct bind_table *bind;
    const struct batch_table *batch;
    const struct infer_table *infer;
    const struct fused_patterns_table *fused_patterns;
    const struct liveness_table *liveness;
    const struct in_place_table *in_place;
    const struct arena_plan_table *arena_plan;
    const struct params_table *params;
    const struct count_table *count;
    const struct modules_table *modules;
    const struct peak_memory_table *peak_memory;
    const struct memory_required_table *memory_required;
    const struct training_table *training;
    const struct device_memory_table *device_memory;
    const struct explain_table *explain;
    const struct operators_table *operators;
};

/* Returns the passes over the model in one step; 1 unless gradients are accumulated. */
static inline int64_t pass_micro_batches(const struct analysis *analysis) {
    return analysis->options->micro_batches > 1 ? analysis->options->micro_batches : 1;
}

/* Fills the pass's own table. */
typedef int pass_run(const struct analysis *analysis, void *own);

struct pass {
    const char *name;
    pass_run *run;
    size_t table;        /* offset of the pointer to its table in struct analysis or timing */
    size_t table_size;   /* bytes */
    const char *summary; /* one line, for `costmodel passes` */
    unsigned reads;      /* enum pass_tables, enum timing_tables */
    unsigned gives;      /* one of them */
};
