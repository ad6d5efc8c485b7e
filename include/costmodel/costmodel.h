/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcostmodel: a static cost analyser for ONNX models. It computes parameters, MACs, FLOPs,
 * memory traffic and activation memory from the model file alone.
 *
 *     struct cm_model *model = NULL;
 *     struct cm_result *result = NULL;
 *     struct cm_diagnostics *diagnostics = cm_diagnostics_new();
 *     struct cm_options options;
 *
 *     cm_options_init(&options);
 *     options.batch = 32;
 *     if (cm_model_load_file("resnet50.onnx", diagnostics, &model) == CM_OK &&
 *         cm_model_profile(model, &options, diagnostics, &result) == CM_OK)
 *         printf("%lld MACs\n", (long long)result->totals.macs);
 *     cm_result_free(result);
 *     cm_model_free(model);
 *     cm_diagnostics_free(diagnostics);
 *
 * The library prints nothing, never exits, keeps no global state and never reads a weight.
 * Different models may be used from different threads at the same time; one model may be used
 * by one thread at a time.
 *
 * `diagnostics` may be NULL in every function. If another required pointer is NULL, functions
 * with a status return CM_USAGE, and others return NULL, 0 or false. *_free and *_init accept
 * NULL. A struct of the caller with an enumerator out of range, or with a list that is NULL and
 * not empty, also returns CM_USAGE.
 *
 * A struct whose first member is `size` may grow at its end in later versions
 * (docs/library.md). Its *_init sets `size` and the defaults; *_init_sized is for languages
 * without this header.
 */
#ifndef COSTMODEL_COSTMODEL_H
#define COSTMODEL_COSTMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "costmodel/backend.h"
#include "costmodel/formula.h"
#include "costmodel/result.h"
#include "costmodel/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CM_VERSION_MAJOR  0
#define CM_VERSION_MINOR  1
#define CM_VERSION_PATCH  0
#define CM_VERSION_STRING "0.1.0"

/*
 * Returns the version of the running library; static storage. CM_VERSION_STRING if it was built
 * from a release, else in the form of PEP 440 with the commit: "0.2.0.dev12+g1a2b3c4d".
 */
CM_API const char *cm_version(void);

/* Returns one English sentence for a status; static storage. */
CM_API const char *cm_status_message(int status);

/* A list of at most 32 messages (struct cm_diagnostic in result.h). If it is full, an error
 * replaces the newest note or warning; other messages are dropped. */
struct cm_diagnostics;

/* Returns an empty list, to be freed with cm_diagnostics_free; NULL if out of memory. */
CM_API struct cm_diagnostics *cm_diagnostics_new(void);
CM_API void cm_diagnostics_free(struct cm_diagnostics *diagnostics);

/* Returns the number of messages. */
CM_API size_t cm_diagnostics_count(const struct cm_diagnostics *diagnostics);
/* Returns the message at `index`, NULL past the last; borrowed, valid until the list is freed.
 */
CM_API const struct cm_diagnostic *cm_diagnostics_get(const struct cm_diagnostics *diagnostics,
                                                      size_t index);

/* One `--dim NAME=N`: sets every symbolic dim of that name, in all inputs, to `size` (>= 0). */
struct cm_dim_option {
    const char *name;
    int64_t size;
};

/* One `--input NAME=1x3x224x224`: the full shape of one input; overrides the file. */
struct cm_input_option {
    const char *name;
    size_t n_dims;
    const int64_t *dims; /* each >= 0 */
};

/*
 * One `--value NAME=2,3,4`: the elements of one integer, bool, float or string input, in
 * row-major order and as text ("3", "true", "0.5", "a word"). Needed if shapes depend on the
 * value: the target of a Reshape, the scales of a Resize. The number of elements also sets a
 * symbolic dim of a rank-1 input.
 */
struct cm_value_option {
    const char *name;
    size_t n;
    const char *const *elements;
};

/* Mode of the operators that behave differently in training: BatchNormalization, Dropout. */
enum cm_mode {
    CM_MODE_MODEL, /* as each node's attributes and inputs specify */
    CM_MODE_TRAINING,
    CM_MODE_INFERENCE,
};

/* A part of a training step on several GPUs that the host keeps. */
enum cm_offload {
    CM_OFFLOAD_NONE,
    CM_OFFLOAD_OPTIMIZER, /* states, and gradients once they are complete */
    CM_OFFLOAD_ALL,       /* the weights, too; stage 3 of ZeRO */
};

/* Execution order of the nodes; peak memory depends on it. */
enum cm_schedule {
    CM_SCHEDULE_FILE,
    CM_SCHEDULE_MIN_MEMORY, /* an order with a lower peak, if a bounded search finds one */
};

/* Custom operators: costmodel/op_costs.h. */
struct cm_op_costs;

/* Times measured by another tool: costmodel/times.h. */
struct cm_times;

/* Progress of a measurement. */
struct cm_progress {
    const char *what; /* phase: "batches" (rows of a sweep), "device", "layers", "network";
                         static text */
    int round;        /* measurement round of the layers: 1, 2, 3 */
    size_t done;      /* finished measurements out of `total` */
    size_t total;     /* may grow; 0 if unknown */
};

/*
 * Options of a profile. cm_options_init sets the defaults. All pointers are borrowed for the
 * duration of the call.
 */
struct cm_options {
    size_t size;   /* sizeof(struct cm_options), set by cm_options_init */
    int64_t batch; /* 0: the file's batch (1 if its batch dim is symbolic) */
    size_t n_dims;
    const struct cm_dim_option *dims;
    size_t n_inputs;
    const struct cm_input_option *inputs;
    size_t n_values;
    const struct cm_value_option *values;
    /* Trip counts of Loop nodes with a data-dependent exit. `name` is the node's name, its
     * number, or one of its outputs; `size` is the trip count. */
    size_t n_trip_counts;
    const struct cm_dim_option *trip_counts;
    size_t n_op_costs;
    const struct cm_op_costs *const *op_costs; /* the last description of an operator wins */
    enum cm_mode mode;
    const char *convention; /* FLOP-counting convention: a name of cm_convention_at */
    /*
     * "sgd", "adamw" or another name of docs/training.md: also profile a training step
     * (result->training); CM_MODE_MODEL then means CM_MODE_TRAINING. NULL: no training step.
     */
    const char *optimizer;
    /* Profile the step of the file as it is: do not restore the BatchNormalizations that its
     * exporter folded into other layers. */
    bool as_exported;
    size_t n_freeze;
    const char *const *freeze; /* patterns of parameters or modules that are not trained */
    size_t n_checkpoint;
    const char *const *checkpoint; /* patterns of modules with activation checkpointing */
    /* Nodes (by name, by number as "17" or "#17", by output) and modules. */
    size_t n_explain;
    const char *const *explain;
    enum cm_schedule schedule;
    int64_t memory_limit;      /* bytes; fills result->memory.fit; 0: no limit */
    int64_t sample_bytes;      /* bytes: stored size of one input sample; fills
                                  result->input_pipeline, which requires a backend; 0: unset */
    bool fit_device;           /* if memory_limit is 0, use the device's memory, if reported */
    int64_t memory_alignment;  /* bytes, a power of two: alignment of arena offsets */
    bool memory_curve;         /* fill result->memory.curve: live bytes at each node */
    bool memory_plan;          /* fill result->memory.placed: arena offset of each value */
    const char *module_source; /* the only source of the module hierarchy to use
                                  (docs/modules.md); NULL: the best source for each node */
    const char *group; /* POSIX extended regular expression: merge the modules whose path it
                          matches into one group per matched text; NULL: none */
    bool strict;       /* refuse models with unknown operators, opsets or shapes */
    const char *dump_after; /* write the IR to `dump` after this pass; NULL: never */
    FILE *dump;
    /* Source of times, for example "roofline:device=h200"; NULL: no times. A backend that
     * measures runs in a forked child process, which ends before the call returns. */
    const char *backend;
    /* Measured times of another tool, attached to the nodes that its layers name. `backend`
     * must then be NULL or model a device, for the expected time of each layer. */
    size_t n_times;
    const struct cm_times *const *times;
    enum cm_precision precision; /* of weights, activations, gradients, states and times */
    enum cm_runtime runtime;     /* of a modelled device */
    bool fuse; /* backends that measure or plan: run a convolution or matrix product and the
                  elementwise nodes that follow it as one primitive, if the backend can */
    bool plan_only;  /* only report how the backend would run each layer */
    bool end_to_end; /* also run all measured layers once as one network */
    /* Directory that caches measured times between calls; created if missing. NULL: none. */
    const char *cache;
    enum cm_layout layout; /* image layout of the timed layers */
    int autotune;          /* algorithms to try per layer; 0 or 1: do not autotune */
    bool sweep_layers;     /* of a sweep: list the layers with their times in each row */
    /* Called before each measurement; may be NULL. */
    void (*progress)(void *context, const struct cm_progress *at);
    void *progress_context;
    /* File descriptor; measuring ends when it becomes readable. The result then keeps the times
     * so far and has a warning with the code "interrupted". NULL: none. */
    const int *stop;
    /* Forward and backward passes of a training step, whose gradients are accumulated. They
     * divide `batch`, which is that of the step. 0: 1. */
    int64_t micro_batches;
    size_t n_trainable;
    const char *const *trainable; /* as `freeze`: only these are trained; none: all */
    /* Weights, gradients and states of a training step are divided over this many GPUs, by
     * stage 1, 2 or 3 of ZeRO. The figures are those of one GPU. 0: not. */
    enum cm_offload offload;
    int64_t zero_stage;
    int64_t shard_gpus;
    /* Of the device, for result->price: per hour, and drawn. 0: unknown. */
    double price;
    double watts;
    /* Of a sweep: keep the results of the first rows that have figures in sweep->results, at
     * most this many, with at most 30,000 nodes after the first. */
    size_t sweep_results;
};

CM_API void cm_options_init_sized(struct cm_options *options, size_t size);
static inline void cm_options_init(struct cm_options *options) {
    cm_options_init_sized(options, sizeof(*options));
}

/* A FLOP-counting convention: the rules and the terminology of one tool. */
struct cm_convention {
    const char *name;    /* "fvcore" */
    const char *unit;    /* the tool's own unit: "FLOPs", "MACs", "flops", "MAC" */
    const char *meaning; /* one line */
    /* True: FLOPs cover floating-point operations only; integer operations are counted
     * separately. False: the tool ignores types, so FLOPs include integer operations. */
    bool separates_integers;
};

/* Returns a convention by index, the default first; NULL past the last. */
CM_API const struct cm_convention *cm_convention_at(size_t index);

/* A loaded model: its structure, never its weights. */
struct cm_model;

/*
 * Reads the structure of an ONNX file. `path` "-" reads standard input. On CM_OK the caller
 * owns *ret_model and frees it with cm_model_free; the file stays open until then, because the
 * analysis may read small constants. On failure *ret_model is unchanged.
 */
CM_API int cm_model_load_file(const char *path, struct cm_diagnostics *diagnostics,
                              struct cm_model **ret_model) CM_MUST_CHECK;

/* As cm_model_load_file, from `size` bytes in memory, which must outlive the model. `name`
 * replaces the path in messages. */
CM_API int cm_model_load_memory(const void *data, size_t size, const char *name,
                                struct cm_diagnostics *diagnostics,
                                struct cm_model **ret_model) CM_MUST_CHECK;

CM_API void cm_model_free(struct cm_model *model);

/*
 * As cm_model_load_file, for a file that is an ONNX model or a profile (formats "json" and
 * "html"). A file whose first non-blank byte is '{' or '<' is read as a profile. On CM_OK one
 * of *ret_model and *ret_result is set and owned by the caller; the other is unchanged.
 */
CM_API int cm_load_file(const char *path, struct cm_diagnostics *diagnostics,
                        struct cm_model **ret_model,
                        struct cm_result **ret_result) CM_MUST_CHECK;

/* Returns the path (or name) the model was loaded with; borrowed. */
CM_API const char *cm_model_path(const struct cm_model *model);

/*
 * Sets *ret to true if `path` is the model file or one of its external weight files, by any
 * name; writing there would destroy the model. CM_OK, CM_NO_MEMORY.
 */
CM_API int cm_model_reads_file(const struct cm_model *model, const char *path,
                               struct cm_diagnostics *diagnostics, bool *ret) CM_MUST_CHECK;

/* The symbolic dims of a model's inputs and the sizes that options bind them to. */
struct cm_dims {
    size_t n;
    const struct cm_named_size *dims; /* each name once, in the order of the inputs; CM_UNKNOWN:
                                         unbound, cm_model_profile would return CM_USAGE */
    void *arena;                      /* private; names belong to the model */
};

/*
 * Lists the symbolic dims and what `options` (including the batch) bind them to, without
 * profiling. CM_OK, CM_NO_MEMORY. Free *ret_dims with cm_dims_free before the model.
 */
CM_API int cm_model_dims(struct cm_model *model, const struct cm_options *options,
                         struct cm_diagnostics *diagnostics,
                         struct cm_dims **ret_dims) CM_MUST_CHECK;
CM_API void cm_dims_free(struct cm_dims *dims);

/*
 * Profiles the model. The result is plain data that does not point into the model; the caller
 * frees it with cm_result_free. A model may be profiled many times with different options.
 */
CM_API int cm_model_profile(struct cm_model *model, const struct cm_options *options,
                            struct cm_diagnostics *diagnostics,
                            struct cm_result **ret_result) CM_MUST_CHECK;

CM_API void cm_result_free(struct cm_result *result);

/*
 * Writes a copy of the model with the costs of each node as metadata_props entries
 * (docs/annotate.md), which model viewers display. `result` must be a profile of this model.
 * Entries of an earlier call are replaced; everything else, including weights, is copied byte
 * for byte. The caller flushes the stream. CM_OK, CM_USAGE (the result belongs to another
 * model, or the model was read from a pipe), CM_REFUSED (the output would be too large, or the
 * file has changed), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_model_annotate(struct cm_model *model, const struct cm_result *result,
                             struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/*
 * Writes a figure, by its key in JSON ("macs"), of each node of the main graph as node data for
 * Google's Model Explorer (docs/annotate.md). Status as for cm_model_annotate; CM_USAGE also if
 * nodes do not have the figure.
 */
CM_API int cm_model_node_data(struct cm_model *model, const struct cm_result *result,
                              const char *figure, struct cm_diagnostics *diagnostics,
                              FILE *out) CM_MUST_CHECK;

/*
 * Profiles the model at each of `n` batches; options->batch is ignored. Times are measured
 * separately at each batch. A batch that cannot be profiled becomes a row with its problem;
 * notes and warnings of the others go to `diagnostics`, each once. CM_OK, CM_USAGE (a batch
 * below 1, or imported times with several batches), CM_NO_MEMORY. Free with cm_sweep_free.
 */
CM_API int cm_model_sweep(struct cm_model *model, const struct cm_options *options,
                          const int64_t *batches, size_t n, struct cm_diagnostics *diagnostics,
                          struct cm_sweep **ret_sweep) CM_MUST_CHECK;
CM_API void cm_sweep_free(struct cm_sweep *sweep);

/* The conditions of one row of a sweep; they replace these members of the options. */
struct cm_sweep_point {
    int64_t batch; /* as in cm_options */
    size_t n_dims;
    const struct cm_dim_option *dims;
    enum cm_precision precision;
    const char *backend;
};

/*
 * As cm_model_sweep, at `n` points. Consecutive points that differ only in the backend share
 * one analysis of the model.
 */
CM_API int cm_model_sweep_points(struct cm_model *model, const struct cm_options *options,
                                 const struct cm_sweep_point *points, size_t n,
                                 struct cm_diagnostics *diagnostics,
                                 struct cm_sweep **ret_sweep) CM_MUST_CHECK;

/*
 * Computes the costs as formulas in the batch (unless options->batch sets it) and in every
 * symbolic dim that options do not bind (docs/formula.md). options->backend and ->memory_limit
 * are ignored. CM_OK, CM_USAGE, CM_REFUSED (no valid sizes found, or too many profiles needed),
 * CM_NO_MEMORY. Free with cm_formula_free.
 */
CM_API int cm_model_formula(struct cm_model *model, const struct cm_options *options,
                            struct cm_diagnostics *diagnostics,
                            struct cm_formula **ret_formula) CM_MUST_CHECK;
CM_API void cm_formula_free(struct cm_formula *formula);

/*
 * Measures the peak rates of the device of options->backend and writes a device description
 * that `roofline:device=FILE.json` reads. The caller flushes the stream. CM_OK, CM_REFUSED (the
 * device is unusable or the measurement failed), CM_NO_MEMORY.
 */
CM_API int cm_calibrate(const struct cm_options *options, struct cm_diagnostics *diagnostics,
                        FILE *out) CM_MUST_CHECK;

/*
 * Sets *ret to the name of the built-in device that `name` abbreviates ("RTX4090" is
 * "rtx-4090"), or to `name` if it is the path of a device description (.json). CM_OK, CM_USAGE
 * with a message (unknown or ambiguous, or the file cannot be read), CM_NO_MEMORY.
 */
CM_API int cm_device_resolve(const char *name, struct cm_diagnostics *diagnostics,
                             const char **ret) CM_MUST_CHECK;

/* The rows of a table. For a sweep: CM_ROWS_LAYERS gives one row per layer and batch, any other
 * value one row per batch. CM_ROWS_LAYERS is not valid for a result. */
enum cm_rows { CM_ROWS_MODULES, CM_ROWS_NODES, CM_ROWS_OPERATORS, CM_ROWS_LAYERS };

/* Number format. */
enum cm_units {
    CM_UNITS_AUTO,   /* CSV: exact; DeepSpeed listing: rounded as DeepSpeed does; else SI */
    CM_UNITS_EXACT,  /* integers (bytes, picoseconds); ratios as decimals */
    CM_UNITS_SI,     /* three significant digits: "14.1 GMACs", "1.35 GB" */
    CM_UNITS_BINARY, /* as SI, but bytes in powers of 1024: "1.26 GiB" */
};

struct cm_llm;

/* Options of the text reports. cm_text_options_init sets the defaults. */
struct cm_text_options {
    size_t size;    /* sizeof(struct cm_text_options), set by cm_text_options_init */
    int depth;      /* largest module depth, except in the module tree; -1: all */
    int top;        /* DeepSpeed listing: modules per metric and depth; 0: all */
    int rows;       /* largest number of rows of modules; 0: as many as `height` allows */
    int height;     /* largest number of lines, for the default sections; 0: no limit */
    bool tree;      /* add the module tree */
    bool detailed;  /* DeepSpeed listing: print the module tree */
    bool operators; /* print the costs by operator */
    bool layers;    /* print each distinct primitive with its time, if there are times */
    bool kernels;   /* print the time by kernel, if there are times */
    bool curve;     /* draw the memory curve, if the result has one */
    bool color;     /* use ANSI colours */
    bool unicode;   /* draw charts with UTF-8 block elements instead of ASCII */
    int width;      /* columns at which long lines wrap; 0: never */
    enum cm_units units;
    int table_width; /* largest width of a table, in characters; 0: no limit. If the columns
                        are the default or "all", the least important ones are omitted */
    /* DeepSpeed listing: the model divided over GPUs (costmodel/llm.h); NULL: it is not */
    const struct cm_llm *llm;
};

CM_API void cm_text_options_init_sized(struct cm_text_options *options, size_t size);
static inline void cm_text_options_init(struct cm_text_options *options) {
    cm_text_options_init_sized(options, sizeof(*options));
}

/*
 * Rows and columns of tables (docs/formats.md lists the columns). cm_table_options_init sets
 * the defaults.
 */
struct cm_table_options {
    size_t size; /* sizeof(struct cm_table_options), set by cm_table_options_init */
    enum cm_rows rows;
    const char *columns; /* comma-separated keys, or "all"; NULL: the default columns */
    const char *sort;    /* "KEY", "KEY:asc", "KEY:desc"; NULL: the order of the result */
    size_t n_filters;
    const char *const
        *filters;       /* all must match: "type=Conv*", "macs>=1.5M", "macs_share<1%" */
    const char *metric; /* for folded stacks: a summable column; NULL: "macs" */
    int depth;          /* largest depth of modules and of nodes in them; -1: all */
    size_t top;         /* largest number of rows; 0: all */
    enum cm_units units;
};

CM_API void cm_table_options_init_sized(struct cm_table_options *options, size_t size);
static inline void cm_table_options_init(struct cm_table_options *options) {
    cm_table_options_init_sized(options, sizeof(*options));
}

/* Checks column names and filters before profiling, for the table of a sweep or of a result.
 * CM_OK, CM_USAGE, CM_NO_MEMORY. */
CM_API int cm_table_options_check(const struct cm_table_options *options, bool of_sweep,
                                  struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

/* Returns the name of a JSON schema by index, "profile" first; NULL past the last. */
CM_API const char *cm_schema_at(size_t index);

/* Writes a schema as JSON Schema (draft 2020-12). CM_OK, CM_USAGE (unknown name), CM_IO. */
CM_API int cm_schema_write(const char *name, FILE *out) CM_MUST_CHECK;

/* Checks that the library was built with d3, which HTML pages embed. CM_OK, CM_USAGE. */
CM_API int cm_html_check(struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

/* Options of cm_result_write, cm_sweep_write and cm_result_render; a format ignores the options
 * that it does not use (docs/formats.md). NULL: the defaults. */
struct cm_report_options {
    const struct cm_text_options *text;
    const struct cm_table_options *table;
};

/* Bits of cm_format.uses: what a format shows. It ignores other options. */
enum cm_format_use {
    CM_USES_SECTIONS = 1,       /* sections of cm_text_options */
    CM_USES_ROWS = 2,           /* rows, sort and filters of cm_table_options */
    CM_USES_COLUMNS = 4,        /* columns */
    CM_USES_DEPTH = 8,          /* depth */
    CM_USES_TOP = 16,           /* top */
    CM_USES_UNITS = 32,         /* units */
    CM_USES_METRIC = 64,        /* metric */
    CM_USES_CURVE = 128,        /* cm_options.memory_curve */
    CM_USES_EXPLANATIONS = 256, /* cm_options.explain */
    CM_USES_WIDTH = 512,        /* width of cm_text_options */
    CM_USES_PLAN = 1024,        /* cm_options.memory_plan */
    CM_USES_LAYERS = 2048,      /* layers of cm_text_options */
    CM_USES_LLM = 4096,         /* llm of cm_text_options */
    CM_USES_TABLE =
        CM_USES_ROWS | CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS,
};

/* A report format: one row of the table in api/render.c. */
struct cm_format {
    const char *name;    /* "text" */
    const char *summary; /* a clause: "page for a browser"; "": none */
    unsigned uses;       /* set of enum cm_format_use */
    int depth;           /* default depth of the modules; 0: all */
    bool requires_times; /* the result must have times */
    bool is_page;        /* requires cm_html_check; shows the memory curve and plan */
    bool of_sweeps;      /* also of cm_sweep_write */
};

/* Returns the name of a report format by index, "text" first; NULL past the last. */
CM_API const char *cm_format_at(size_t index);

/* Returns the format with this name; NULL: none. */
CM_API const struct cm_format *cm_format_find(const char *name);

/*
 * Writes a report in a format of cm_format_at (docs/formats.md); "text" writes the explanations
 * alone if the result has some. `options` NULL: the defaults. CM_OK, CM_USAGE (unknown format;
 * the profile lacks a requested column, or the times of "trace"; cm_html_check), CM_REFUSED
 * (a sum of "folded" exceeds 2^63), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_result_write(const struct cm_result *result, const char *format,
                           const struct cm_report_options *options,
                           struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/*
 * As cm_result_write, into memory, for languages without FILE. On CM_OK the caller owns
 * *ret_text and frees it with cm_report_free: *ret_size bytes, then a NUL that is not counted.
 * On failure (CM_USAGE, CM_NO_MEMORY) both are unchanged.
 */
CM_API int cm_result_render(const struct cm_result *result, const char *format,
                            const struct cm_report_options *options,
                            struct cm_diagnostics *diagnostics, char **ret_text,
                            size_t *ret_size) CM_MUST_CHECK;
CM_API void cm_report_free(char *text);

/*
 * Reads a profile of format "json" or "html", or that a page of cm_verdict_write_html embeds;
 * writing it again gives the same bytes. `text` need not be NUL-terminated; `name` identifies
 * the source in messages.
 */
CM_API int cm_result_read_json(const char *text, size_t size, const char *name,
                               struct cm_diagnostics *diagnostics,
                               struct cm_result **ret_result) CM_MUST_CHECK;

/* As cm_result_write, with a row per batch or combination; "html" is a page that opens without
 * network access: if the sweep has results, the views of each of them, else a heat map of
 * models by devices, the fastest device of each model, all rows. CM_USAGE also if the format is
 * not of sweeps. */
CM_API int cm_sweep_write(const struct cm_sweep *sweep, const char *format,
                          const struct cm_report_options *options,
                          struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/* Reads what format "json" wrote, schema "costmodel/sweep/2" (docs/json.md). */
CM_API int cm_sweep_read_json(const char *text, size_t size, const char *name,
                              struct cm_diagnostics *diagnostics,
                              struct cm_sweep **ret_sweep) CM_MUST_CHECK;

/* Writes the formulas of the totals and, if options->detailed, of the modules with the most
 * MACs at each depth (options->depth, ->top). CM_OK, CM_IO. */
CM_API int cm_formula_write_text(const struct cm_formula *formula,
                                 const struct cm_text_options *options,
                                 FILE *out) CM_MUST_CHECK;

/* Write and read one JSON object, schema "costmodel/formula/1" (docs/json.md). */
CM_API int cm_formula_write_json(const struct cm_formula *formula, FILE *out) CM_MUST_CHECK;
CM_API int cm_formula_read_json(const char *text, size_t size, const char *name,
                                struct cm_diagnostics *diagnostics,
                                struct cm_formula **ret_formula) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
